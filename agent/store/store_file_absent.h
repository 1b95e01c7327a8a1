/*
 * store_file_absent - is a local file really absent? A part of store_file.c.
 *
 * ENOENT alone is one witness: a network file system answers it from a cache, for a file that another
 * machine has made, or while a server comes back. So the directory is read as well: a name that it lists is
 * not absent. A directory is read once for many files that are missing in it.
 *
 * Life cycle: a zeroed struct store_file_names -> store_file_absent()... -> store_file_names_release().
 */
#ifndef DREY_STORE_STORE_FILE_ABSENT_H
#define DREY_STORE_STORE_FILE_ABSENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The names of the directory that was read last. */
struct store_file_names {
	char *dir;
	uint64_t *hashes; /* sorted */
	size_t count, cap;
};

void store_file_names_release(struct store_file_names *names);

/*
 * `path` has answered ENOENT or ENOTDIR, which is still in errno, to `what` ("stat"). Always -1, with
 *   ERR_ABSENT        the nearest directory above it that exists does not list its name
 *   ERR_CONTRADICTED  it does; also of a symbolic link to nothing
 *   ERR_SYS           something above it is not a directory: that says nothing about the file
 *   others            that directory cannot be read
 */
int store_file_absent(struct store_file_names *names, const char *what, const char *path,
		      struct err *err);

/* Is the name among the first STORE_FILE_FEW of the directory `sub` ("." for itself) in `dir`? */
#define STORE_FILE_FEW 4096
bool store_file_lists(int dir, const char *sub, const char *name);

/* A name that `dir` has listed, and that has answered ENOENT since. 0: it was deleted meanwhile. 1: it is a
 * symbolic link to nothing, for example to a volume that is not mounted. -1: it is still listed,
 * ERR_CONTRADICTED. */
int store_file_vanished(int dir, const char *name, struct err *err);

#endif
