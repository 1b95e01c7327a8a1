/*
 * ca_bundle - where this system keeps the CAs that everybody trusts, for a libcurl that was built without knowing it: a static
 * drey runs in images of all distributions, and each has its own place.
 *
 * No life cycle. Reads nothing: libcurl reads the file that it is given, and rejects it if it is not PEM.
 */
#ifndef DREY_BASE_CA_BUNDLE_H
#define DREY_BASE_CA_BUNDLE_H

/* The first of the known places, below `root` ("" is this system), where a readable file is: the caller frees it. NULL: there is
 * none, so no public CA is trusted. */
char *ca_bundle_find(const char *root);

#endif
