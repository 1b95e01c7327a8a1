/*
 * store_object - one small object that several writers share. It is read whole with its entity tag, and
 * replaced only if it still has that tag, or created only if there is none: so of two writers one wins,
 * and knows it.
 *
 * The only thing besides deletions that drey writes to an object store. Blocks; one attempt within
 * timeout_ms, because whoever holds something by such an object has no time for more.
 *
 * Source: "Conditional requests" of Amazon S3 (If-None-Match: *, If-Match, for PutObject).
 */
#ifndef DREY_STORE_STORE_OBJECT_H
#define DREY_STORE_STORE_OBJECT_H

#include "base/buf.h"
#include "base/err.h"

#define STORE_ETAG_BYTES       128
#define STORE_OBJECT_MAX_BYTES 65536

struct store;

struct store_object {
	struct buf body;
	char etag[STORE_ETAG_BYTES]; /* with its quotes */
};

/* ERR_ABSENT: proven; ERR_CONFIG: this kind of store has no such objects; others: not known. The caller
 * releases ret->body. */
int store_object_read(struct store *store, const char *uri, int64_t timeout_ms,
		      struct store_object *ret, struct err *err);

/* Write object->body if the object still has object->etag, or, with "", if there is none. ERR_BUSY: it was
 * not as required, and nothing was written. After any other error it may have been written. */
int store_object_write(struct store *store, const char *uri, const struct store_object *object,
		       int64_t timeout_ms, char ret_etag[STORE_ETAG_BYTES], struct err *err);

/* Does the server really refuse what is not as required? One that ignores the conditions would let two
 * writers win. Tried with the object `uri`, which stays there. ERR_CONFIG: it does not. */
int store_object_check(struct store *store, const char *uri, int64_t timeout_ms, struct err *err);

#endif
