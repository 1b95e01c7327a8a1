/*
 * store_identity - which directory a URI means, and how two of them lie to each other, whatever they are called:
 * links and bind mounts of a file system, the names of one scheme (s3, s3a, s3p), slashes and "..".
 *
 * A directory of a file system is known by device and inode, and so are all above it; what does not exist yet,
 * by its name below the last one that does. An object is known by its store, bucket and key: two endpoints
 * that serve one bucket are not recognised, nor is a bind mount of a directory inside the other one when only
 * the directory above it is compared.
 *
 * Life cycle: store_identity() -> store_relate() -> store_identity_release().
 */
#ifndef DREY_STORE_STORE_IDENTITY_H
#define DREY_STORE_STORE_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct store_place {
	uint64_t device, inode;
};

struct store_identity {
	char *uri; /* canonical; with the first name of its scheme */
	/* Of a file system: the deepest directory that exists, then those above it up to the root. */
	struct store_place *places;
	size_t place_count;
	char *rest; /* the names below it, "" or "/a/b"; NULL: not of a file system */
};

/* Only a local file system is asked. ERR_CONFIG: not a URI; else it cannot be read where it is. */
int store_identity(const char *uri, struct store_identity *ret, struct err *err);
void store_identity_release(struct store_identity *identity); /* zeroed is allowed */
#define cleanup_store_identity __attribute__((cleanup(store_identity_release)))

enum store_relation {
	STORE_APART,
	STORE_SAME,
	STORE_INSIDE, /* the first one lies in the second one, at any depth */
	STORE_AROUND, /* the other way round */
};

enum store_relation store_relate(const struct store_identity *a, const struct store_identity *b);

#endif
