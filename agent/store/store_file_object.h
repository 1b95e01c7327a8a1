/* store_file_object - one small object as a local file (store/store_object.h); for store_file.c. */
#ifndef DREY_STORE_STORE_FILE_OBJECT_H
#define DREY_STORE_STORE_FILE_OBJECT_H

#include "store/store_ops.h"

int store_file_object_read(struct store *store, const struct uri *uri, int64_t timeout_ms,
			   struct store_object *ret, struct err *err);

/* Temporary file, fsync, rename. The condition is only as good as one look before the rename. */
int store_file_object_put(struct store *store, const struct uri *uri, size_t kept,
			  const struct store_object *object, int64_t timeout_ms,
			  char ret_etag[STORE_ETAG_BYTES], struct err *err);

#endif
