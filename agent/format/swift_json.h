/*
 * swift_json - the two JSON documents of OpenStack Swift that drey reads: a page of a container's
 * listing, and Keystone's answer to a sign-in.
 *
 * Strict: a page is taken as a whole or refused. An invalid entry might be the newest savepoint, so
 * it is never skipped.
 *
 * Source: Object Storage API "Show container details and list objects" (format=json); Identity API
 * v3 "Password authentication with scoped authorization". What a listing says about large objects
 * was tested with Swift 2.30: a static one (SLO) has its whole size and a member "slo_etag"; a
 * dynamic one (DLO) has the size of its manifest, which is normally empty.
 */
#ifndef DREY_FORMAT_SWIFT_JSON_H
#define DREY_FORMAT_SWIFT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define SWIFT_JSON_PAGE           1000      /* entries that drey requests */
#define SWIFT_JSON_LIST_MAX_BYTES (8 << 20) /* of a page; names have up to 1024 bytes */
#define SWIFT_JSON_AUTH_MAX_BYTES (4 << 20) /* a catalog of many services and regions */

/* All texts are borrowed for the call. */
struct swift_json_entry {
	const char *name;  /* the whole name, never empty; of a subdir with its last slash */
	bool is_subdir;    /* only `name` is set */
	bool is_directory; /* an object that stands for a directory: application/directory, empty */
	bool size_in_doubt; /* an empty object: it may be the manifest of a DLO, HEAD tells */
	const char *hash; /* as the server calls it: MD5, of an SLO that of its manifest; or NULL */
	int64_t size_bytes, mtime_unix_ms;
};

/* Return 0 to continue, 1 to end (the page then succeeds), -1 with *err set to fail it. */
typedef int (*swift_json_entry_fn)(void *ctx, const struct swift_json_entry *entry,
				   struct err *err);

/* Each entry of one page, in order. Returns their number (even if fn has ended early), or -1:
 * ERR_FORMAT, or the error set by fn. */
int swift_json_listing(const char *text, size_t len_bytes, swift_json_entry_fn fn, void *ctx,
		       struct err *err);

/* Is this the content type of an object that stands for a directory? */
bool swift_json_is_directory(const char *content_type);

struct swift_json_token {
	char *storage_url;       /* caller frees; no slash at the end */
	int64_t expires_unix_ms; /* by the server's clock; -1: not said */
};

/*
 * The object store's public address in `region` (NULL: the only one) and the expiry. ERR_FORMAT:
 * not such an answer. ERR_CONFIG: no object store in the catalog, or not in that region, or in
 * several regions and none was named; the message names the regions.
 */
int swift_json_token(const char *text, size_t len_bytes, const char *region,
		     struct swift_json_token *ret, struct err *err);

#endif
