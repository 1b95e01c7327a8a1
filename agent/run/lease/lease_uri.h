/*
 * lease_uri - which object a lease is, in one spelling for all that mean it: bucket and key, with the first name of
 * the scheme (s3 for s3a and s3p), single slashes, and without credentials. It is in the claim, so that a
 * copy of the bucket shows (core/lease/lease.h).
 *
 * The server is not in it: one store has many addresses, inside and outside of a cluster. So a copy in a
 * bucket of the same name on another server is not told apart.
 */
#ifndef DREY_RUN_LEASE_URI_H
#define DREY_RUN_LEASE_URI_H

#include "base/err.h"
#include "core/lease/lease_claim.h"

/* ERR_CONFIG: not a URI of an object, or none that fits. No I/O. */
int lease_uri(const char *uri, char ret_uri[LEASE_URI_BYTES], struct err *err);

#endif
