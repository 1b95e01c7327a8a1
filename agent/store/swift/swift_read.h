/*
 * swift_read - an object as a stream, in ranges of growing size; part of store_swift.c.
 *
 * Every range but the first has If-Match: if the object is replaced meanwhile, the read fails with
 * ERR_RETRY; two versions are never mixed.
 */
#ifndef DREY_STORE_SWIFT_READ_H
#define DREY_STORE_SWIFT_READ_H

#include "store/store_ops.h"

#define SWIFT_READ_FIRST_BYTES (64 << 10) /* enough to tell what an object is */
#define SWIFT_READ_MAX_BYTES   (1 << 20)

int swift_read_open(struct store *store, const struct uri *uri, int64_t offset,
		    struct store_stream **ret, struct err *err);
int swift_read(struct store_stream *stream, void *buf, size_t len_bytes, size_t *ret_len_bytes,
	       struct err *err);
void swift_read_close(struct store_stream *stream);

#endif
