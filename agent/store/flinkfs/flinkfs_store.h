/*
 * flinkfs_store - a store that Flink's own file system reads; what the files of the scheme share; used
 * by agent/store/flinkfs/ only.
 */
#ifndef DREY_STORE_FLINKFS_STORE_H
#define DREY_STORE_FLINKFS_STORE_H

#include "store/flinkfs/flinkfs.h"
#include "store/store_ops.h"

struct flinkfs_store {
	struct store base;
	struct flinkfs *flinkfs; /* borrowed */
};

static inline struct flinkfs *flinkfs_of(struct store *store)
{
	return ((struct flinkfs_store *)store)->flinkfs;
}

/* As Flink spells it. Caller frees. */
char *flinkfs_path(const struct uri *uri);

/* A request about one path, and its answer. */
int flinkfs_ask_path(struct store *store, char type, const struct uri *uri, const char *more,
		     enum flinkfs_names names, struct flinkfs_answer *ret_answer, struct err *err);

int flinkfs_look_many(struct store *store, store_uri_fn uri, size_t count, size_t head_bytes,
		      store_look_fn fn, void *ctx, struct err *err);
int flinkfs_delete_many(struct store *store, store_uri_fn uri, size_t count, store_deleted_fn fn,
			void *ctx, struct err *err);

int flinkfs_read_open(struct store *store, const struct uri *uri, int64_t offset,
		      struct store_stream **ret, struct err *err);
int flinkfs_read(struct store_stream *stream, void *buf, size_t len_bytes, size_t *ret_len_bytes,
		 struct err *err);
void flinkfs_read_close(struct store_stream *stream);

#endif
