/*
 * store_file_tree - whole directories of local files: list, delete; part of store_file.c.
 *
 * Symbolic links are never followed: what is behind one may belong to anyone.
 */
#ifndef DREY_STORE_STORE_FILE_TREE_H
#define DREY_STORE_STORE_FILE_TREE_H

#include "store/store_ops.h"

#define STORE_FILE_TREE_DEPTH 16 /* directories inside directories; deeper is an error */

int store_file_list_tree(struct store *store, const struct uri *uri, store_leaf_fn fn, void *ctx,
			 struct err *err);
/* The directory of the last file that was deleted: of many in one, not each path is looked up whole. Zeroed at first; close it. */
struct store_file_dir {
	char *path;
	int fd;
};

/* Absent: it is deleted. */
int store_file_delete(struct store_file_dir *dir, const char *path, struct err *err);
void store_file_dir_close(struct store_file_dir *dir);
int store_file_remove_empty(struct store *store, const struct uri *uri, struct err *err);

#endif
