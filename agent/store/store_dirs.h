/*
 * store_dirs - store_list_dirs() for object stores, by the cheaper of two ways; used by the schemes
 * only.
 *
 * An object store has names, not directories. Listing all names shows the leaf of each directory
 * with its size and date, a thousand names per request; but a directory with ten thousand files
 * costs ten requests, where one for its leaf would do. So all names are listed as long as the
 * directories contain few files (STORE_DIRS_FEW on average); beyond that only the directories are
 * listed, and the leaf of each is requested. Memory does not grow with the listing.
 */
#ifndef DREY_STORE_STORE_DIRS_H
#define DREY_STORE_STORE_DIRS_H

#include <stdbool.h>

#include "store/store_ops.h"
#include "store/store_spans.h"

#define STORE_DIRS_FEW    16
#define STORE_DIRS_SAMPLE 900  /* names read before the way is chosen: less than a page */
#define STORE_DIRS_BATCH  4000 /* directories whose leaf is requested at a time */

struct store_dirs_name {
	const char *name; /* relative to the directory: "chk-1/_metadata"; of a prefix "chk-1/" */
	bool is_prefix;
	bool in_doubt;  /* the listing may be wrong about `stat`: request the leaf itself */
	bool is_hidden; /* it stands for a directory, and is not passed on */
	struct store_stat stat;
	size_t span; /* in which it was found */
};

typedef int (*store_dirs_fn)(void *ctx, const struct store_dirs_name *name, struct err *err);

struct store_dirs {
	struct store *store;   /* with look_many */
	const struct uri *dir; /* whose directories */
	const char *leaf;
	/* So many bytes of a leaf that is requested: with none, the answer that it is absent may lack the mark
	 * of the store. */
	size_t leaf_bytes;
	/* The listing may lack an existing name: request a leaf before treating it as absent. */
	bool listing_lags;
	/*
	 * Pass fn the names below `dir` that the spans contain, those of each span in ascending byte
	 * order. delimited: the content of a directory is folded into one prefix. fn returns 0 to
	 * continue, 1 to end (the walk then succeeds, and the spans say where they continue), -1 to
	 * fail. A lost page voids the walk; ERR_ABSENT if no name begins with `dir` and a slash
	 * (when it starts from the beginning only).
	 */
	int (*walk)(struct store *store, const struct uri *dir, struct store_spans *spans,
		    bool delimited, store_dirs_fn fn, void *ctx, struct err *err);
};

/* As store_list_tree(): `leaf` is not used. Sizes that are in doubt are passed on as listed. */
int store_dirs_leaves(const struct store_dirs *dirs, store_leaf_fn fn, void *ctx, struct err *err);

/* As store_list_dirs(). */
int store_dirs_list(const struct store_dirs *dirs, store_dir_fn fn, void *ctx, struct err *err);

#endif
