/*
 * store_object - one small object that several writers share. It is read whole with its entity tag, and
 * replaced only if it still has that tag, or created only if there is none: so of two writers one wins,
 * and knows it.
 *
 * The lease object needs that. The journal's copy does not: it has one writer, and is replaced where there
 * are no conditional writes, too (store_object_put()).
 *
 * The only things besides deletions that drey writes to storage. Blocks; one attempt within
 * timeout_ms, because whoever holds something by such an object has no time for more.
 *
 * Source: "Conditional requests" of Amazon S3 (If-None-Match: *, If-Match, for PutObject).
 */
#ifndef DREY_STORE_STORE_OBJECT_H
#define DREY_STORE_STORE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define STORE_ETAG_BYTES       128
#define STORE_OBJECT_MAX_BYTES (512 * 1024) /* a journal with what a copy says about it */

struct store;

struct store_object {
	struct buf body;
	char etag[STORE_ETAG_BYTES]; /* with its quotes; "": the store has none */
};

/* ERR_ABSENT: proven; ERR_CONFIG: this kind of store has no such objects; others: not known. A larger one
 * than STORE_OBJECT_MAX_BYTES: ERR_FORMAT. The caller releases ret->body. */
int store_object_read(struct store *store, const char *uri, int64_t timeout_ms,
		      struct store_object *ret, struct err *err);

/* Write object->body if the object still has object->etag, or, with "", if there is none. ERR_BUSY: it was
 * not as required, and nothing was written. After any other error it may have been written. */
int store_object_write(struct store *store, const char *uri, const struct store_object *object,
		       int64_t timeout_ms, char ret_etag[STORE_ETAG_BYTES], struct err *err);

/* Does drey itself write objects with this URI (no I/O)? Flink's own file systems are only read. */
bool store_object_is_writable(const char *uri);

/*
 * Replace it as a whole: a reader sees the old or the new one. As store_object_write() where the store has
 * conditional writes and knows an etag; elsewhere without a condition. The directories of a local file are
 * made, except for the first `kept` bytes of the URI: a volume that is not mounted is ERR_RETRY.
 */
int store_object_put(struct store *store, const char *uri, size_t kept,
		     const struct store_object *object, int64_t timeout_ms,
		     char ret_etag[STORE_ETAG_BYTES], struct err *err);

/* Does the server really refuse what is not as required? One that ignores the conditions would let two
 * writers win. Tried with the object `uri`, which stays there. ERR_CONFIG: it does not. */
int store_object_check(struct store *store, const char *uri, int64_t timeout_ms, struct err *err);

#endif
