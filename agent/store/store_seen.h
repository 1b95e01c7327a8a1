/*
 * store_seen - how the functions of store.h remember and ask (sightings.h); used by store.c,
 * store_many.c and store_confirm.c only.
 */
#ifndef DREY_STORE_STORE_SEEN_H
#define DREY_STORE_STORE_SEEN_H

#include "base/buf.h"
#include "store/store_ops.h"

/* The canonical spelling of a parsed URI, and of what lies below it. Replaces what is in *ret. */
void store_seen_uri(const struct uri *uri, struct buf *ret);
void store_seen_below(const struct uri *uri, const char *name, struct buf *ret);

/* It has answered with this size (-1: it did not say). -1: ERR_CONTRADICTED, it was longer. */
int store_seen_size(struct store *store, const char *uri, int64_t size_bytes, struct err *err);

/* A stream that was opened at offset_bytes has left_bytes (-1: it did not say). One that has none proves only that the file
 * is not longer than that. -1: ERR_CONTRADICTED, it was longer. */
int store_seen_stream(struct store *store, const char *uri, int64_t offset_bytes,
		      int64_t left_bytes, struct err *err);

#endif
