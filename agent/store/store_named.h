/*
 * store_named - the second witness of an absence in an object store: a listing of the names that begin like a path. Used
 * by the object stores only.
 *
 * The directory above may have 50,000 entries, so it is not listed: one page shows the names that begin like the path.
 * Those are also "a/bc" and "a/b-1/c" where "a/b" is in question, and a directory "a/b/" comes after "a/b-1/": pages are
 * read until a name comes that is behind both, or the end.
 */
#ifndef DREY_STORE_STORE_NAMED_H
#define DREY_STORE_STORE_NAMED_H

#include "store/store_dirs.h"

/* Ask dirs->walk about the name `path` ("/a/b", not the root), as store_ops.named(). Of *dirs only `store`, and `walk` are used. */
int store_named_ask(const struct store_dirs *dirs, const struct uri *uri, bool deep,
		    struct store_named *ret, struct err *err);

#endif
