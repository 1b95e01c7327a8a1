/* swift_object - one small object as a whole (store/store_object.h); for store_swift.c. */
#ifndef DREY_STORE_SWIFT_OBJECT_H
#define DREY_STORE_SWIFT_OBJECT_H

#include "store/store_ops.h"

int swift_object_read(struct store *store, const struct uri *uri, int64_t timeout_ms,
		      struct store_object *ret, struct err *err);

/* Swift has no If-Match for PUT: without a condition. */
int swift_object_put(struct store *store, const struct uri *uri, size_t kept,
		     const struct store_object *object, int64_t timeout_ms,
		     char ret_etag[STORE_ETAG_BYTES], struct err *err);

#endif
