/* swift_list - listings of a container; part of store_swift.c, contracts: store/store.h. */
#ifndef DREY_STORE_SWIFT_LIST_H
#define DREY_STORE_SWIFT_LIST_H

#include "store/store_ops.h"

int swift_list(struct store *store, const struct uri *uri, store_entry_fn fn, void *ctx,
	       struct err *err);
int swift_list_dirs(struct store *store, const struct uri *uri, const char *leaf, store_dir_fn fn,
		    void *ctx, struct err *err);

int swift_list_tree(struct store *store, const struct uri *uri, store_leaf_fn fn, void *ctx,
		    struct err *err);

int swift_named(struct store *store, const struct uri *uri, bool deep, struct store_named *ret,
		struct err *err);

#endif
