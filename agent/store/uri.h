/*
 * uri - names of files in a store, spelled as Flink spells them.
 *
 * Flink names a file by org.apache.flink.core.fs.Path: scheme, authority, path, never
 * percent-encoded ("file:/ck/a b", "s3://bucket/ck/chk-1"); a bare absolute path means `file`. The
 * only encoded URIs that Flink stores (the values of its HA maps) are decoded by format/ha_value.h.
 * So here '%' is an ordinary character.
 *
 * The canonical spelling, as Path.toString() gives it: scheme in lower case, no authority for local
 * files ("file:/a", not "file:///a"), no double and no trailing slashes.
 */
#ifndef DREY_STORE_URI_H
#define DREY_STORE_URI_H

#include "base/err.h"

struct uri {
	char *scheme;    /* lower case: "file", "s3" */
	char *authority; /* bucket or host; "" for none */
	char *path;      /* begins with '/'; "/" for the root */
};

/* ERR_CONFIG if text is neither scheme:... nor an absolute path. */
int uri_parse(const char *text, struct uri *ret, struct err *err);
void uri_release(struct uri *uri); /* NULL and zeroed are allowed */
#define cleanup_uri __attribute__((cleanup(uri_release)))

/* The canonical spelling; NULL if it is not a URI. Caller frees. */
char *uri_canonical(const char *text);

/* `base` and `name` with one slash between them. Caller frees. */
char *uri_join(const char *base, const char *name);

/* The parent directory ("s3://b/a/c" -> "s3://b/a"); the root is its own parent. Caller
 * frees. */
char *uri_parent(const char *text);

/* User input: a URI as it is, anything else as a path relative to the working directory. Caller
 * frees. */
char *uri_of_argument(const char *argument);

/* The last name of the path; borrowed from text; "" for the root or after a trailing slash. */
const char *uri_name(const char *text);

#endif
