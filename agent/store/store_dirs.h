/*
 * store_dirs - store_list_dirs() of an object store, by whichever way is cheaper; used by the
 * schemes only.
 *
 * An object store has names, not directories. Reading all names shows the leaf of each directory
 * with its size and date, a thousand names for one request; but a directory with ten thousand files
 * in it costs ten requests where one for its leaf would do. So all names are read as long as the
 * directories hold few files (STORE_DIRS_FEW on average); from there on the store is asked for the
 * directories alone, and for the leaf in each. Memory does not grow with the listing.
 */
#ifndef DREY_STORE_STORE_DIRS_H
#define DREY_STORE_STORE_DIRS_H

#include <stdbool.h>

#include "store/store_ops.h"

#define STORE_DIRS_FEW    16
#define STORE_DIRS_SAMPLE 1000 /* names that are read before anything is decided */
#define STORE_DIRS_BATCH  4000 /* directories whose leaf is asked for at a time */

struct store_dirs_name {
	const char *name; /* relative to the directory: "chk-1/_metadata"; of a prefix "chk-1/" */
	bool is_prefix;
	bool in_doubt; /* the listing may be wrong about `stat`: the leaf itself is asked */
	struct store_stat stat;
};

typedef int (*store_dirs_fn)(void *ctx, const struct store_dirs_name *name, struct err *err);

struct store_dirs {
	struct store *store;   /* with look_many */
	const struct uri *dir; /* whose directories */
	const char *leaf;
	/* The listing may lack a name that is there: ask for a leaf before it is called absent. */
	bool listing_lags;
	/*
	 * Hand fn the names below `dir`, in ascending order of their bytes, that come behind `after`
	 * (relative too; "": all). delimited: what lies in a directory is folded into one prefix. fn
	 * returns 0 to go on, 1 to end (the walk then succeeds), -1 to fail. A page that is lost voids
	 * the walk; ERR_ABSENT when no name at all begins with `dir` and a slash (with after "" only).
	 */
	int (*walk)(struct store *store, const struct uri *dir, const char *after, bool delimited,
		    store_dirs_fn fn, void *ctx, struct err *err);
};

/* As store_list_dirs(). */
int store_dirs_list(const struct store_dirs *dirs, store_dir_fn fn, void *ctx, struct err *err);

#endif
