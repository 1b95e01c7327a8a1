/*
 * store_file_dir - one directory of local files, and what its errors and dates are to a store; what
 * store_file.c and store_file_tree.c share.
 */
#ifndef DREY_STORE_STORE_FILE_DIR_H
#define DREY_STORE_STORE_FILE_DIR_H

#include <dirent.h>
#include <sys/stat.h>

#include "store/store_ops.h"

/* What a failed system call means: "list PATH: No such file or directory", ERR_ABSENT. Returns -1. */
int store_file_fail(struct err *err, const char *what, const char *path);

struct store_stat store_file_stat(const struct stat *st);

/* Calls `each` for all names but "." and ".." in the directory of this descriptor, which is taken over;
 * -1: it could not be opened, with errno set. The results of `each` but 0 end the walk, and are the
 * result. `name` is for errors. */
int store_file_each(int fd, const char *name,
		    int (*each)(void *ctx, int dir, const struct dirent *item, struct err *err),
		    void *ctx, struct err *err);

#endif
