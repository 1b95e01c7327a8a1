/*
 * s3_xml - the two documents of S3 that drey reads: a page of a listing (ListObjectsV2) and an
 * error.
 *
 * Read in one pass; of a page only the token and the echo of the request are kept. Names are matched regardless of the XML
 * namespace, unknown elements are skipped.
 *
 * Refused as ERR_FORMAT: another root, a document that ends early, a DTD (and with it every entity
 * that the sender defines), an element that is missing, repeated, empty or longer than
 * S3_XML_MAX_TEXT_BYTES, invalid numbers and dates, a truncated page without a token, a complete one
 * with a token, and one that has fewer names than its KeyCount.
 *
 * Source: "ListObjectsV2" and "Error responses", Amazon S3 API reference. With encoding-type=url
 * names come percent-encoded, a space as '+' as in forms; the token and the ETag do not. A server
 * that does not encode leaves EncodingType out, and some write it after the names.
 */
#ifndef DREY_FORMAT_S3_XML_H
#define DREY_FORMAT_S3_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define S3_XML_MAX_TEXT_BYTES 4096 /* a key has at most 1024 bytes, each as %XX */

struct s3_xml_entry {
	const char *key; /* decoded; borrowed for the call */
	bool is_prefix;  /* of CommonPrefixes: no size and no date */
	int64_t size_bytes;
	int64_t mtime_unix_ms;
	bool archived; /* its StorageClass cannot be read at once; whether it was restored is not said */
};

/* Return 0 to continue, 1 to get no more entries of this page (it is still read), -1 with *err set
 * to end. */
typedef int (*s3_xml_entry_fn)(void *ctx, const struct s3_xml_entry *entry, struct err *err);

struct s3_xml_page {
	bool truncated;
	char *next_token; /* if truncated */
	/* what the answer says it was asked for, as it is written and (..._decoded) decoded if the document
	 * is; NULL: it does not say. Servers do not agree on which of them they encode. */
	char *prefix, *prefix_decoded, *delimiter, *delimiter_decoded, *start_after,
		*start_after_decoded, *token;
	int64_t count; /* of Contents and Prefix in it */
};

/* NULL and zeroed are allowed. */
void s3_xml_page_release(struct s3_xml_page *page);

/* Is this what the answer says it was asked for? "" is as good as not said. */
bool s3_xml_says(const char *written, const char *decoded, const char *asked);

/* Read one page. Entries may have been passed on even if it fails later. ret_page may be NULL, and is
 * released by the caller. */
int s3_xml_list(const char *xml, size_t len_bytes, s3_xml_entry_fn fn, void *ctx,
		struct s3_xml_page *ret_page, struct err *err);

/* The server's description of a failure; missing values are "", long ones are cut. Control
 * characters become spaces. */
struct s3_xml_error {
	char code[64];      /* "NoSuchKey" */
	char message[256];  /* for people */
	char region[64];    /* of the bucket, with AuthorizationHeaderMalformed */
	char endpoint[128]; /* of the bucket, with PermanentRedirect */
	char key[1025];     /* with NoSuchKey, from servers that repeat it */
};

/* ERR_FORMAT if it is not a complete error document with a code. */
int s3_xml_error(const char *xml, size_t len_bytes, struct s3_xml_error *ret, struct err *err);

#endif
