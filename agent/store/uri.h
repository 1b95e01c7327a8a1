/*
 * uri - names of files in a store, spelled the way Flink spells them.
 *
 * Flink names a file by org.apache.flink.core.fs.Path: scheme, authority, path, never
 * percent-encoded ("file:/ck/a b", "s3://bucket/ck/chk-1"); a bare absolute path means `file`. The
 * one place where Flink stores an encoded URI (the values of its HA maps) is decoded by
 * format/ha_value.h. So here '%' is a character like any other.
 *
 * The canonical spelling, as Path.toString() gives it: scheme in lower case, no authority for local
 * files ("file:/a", not "file:///a"), no doubled and no trailing slashes.
 */
#ifndef DREY_STORE_URI_H
#define DREY_STORE_URI_H

#include "base/err.h"

struct uri {
	char *scheme;    /* lower case: "file", "s3" */
	char *authority; /* bucket or host; "" for none */
	char *path;      /* begins with '/'; "/" for the root */
};

/* ERR_CONFIG when text is neither scheme:... nor an absolute path. */
int uri_parse(const char *text, struct uri *ret, struct err *err);
void uri_release(struct uri *uri); /* NULL and zeroed are allowed */

/* The canonical spelling; NULL when it is no URI. Caller frees. */
char *uri_canonical(const char *text);

/* `base` and `name` with one slash between them. Caller frees. */
char *uri_join(const char *base, const char *name);

/* The directory that holds it ("s3://b/a/c" -> "s3://b/a"); the root is its own parent. Caller
 * frees. */
char *uri_parent(const char *text);

/* What a person typed: a URI as it is, anything else as a path from the working directory. Caller
 * frees. */
char *uri_of_argument(const char *argument);

/* The last name of the path; borrowed from text; "" for the root or after a trailing slash. */
const char *uri_name(const char *text);

#endif
