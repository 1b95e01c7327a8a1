/*
 * packed - many paths in little memory: each directory is kept once, and a name that is a UUID, as Flink
 * draws them, takes 16 bytes. Exact: what comes out is what went in.
 *
 * Life cycle: a zeroed struct packed -> packed_add()... -> packed_release(). Nothing is removed. Each text
 * is rejected that does not fit in 4 GiB any more.
 */
#ifndef DREY_BASE_PACKED_H
#define DREY_BASE_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define PACKED_FULL UINT32_MAX

struct packed {
	uint64_t seed; /* of hashes; 0 = nothing was added yet */
	struct buf names;
	struct buf dirs; /* texts, each with its last slash and a NUL */
	uint32_t *dir_at;
	size_t dir_count, dir_cap;
	uint32_t dir_last; /* the one that was added to last */
	uint32_t *slots;   /* number + 1 of each directory, open addressing */
	size_t slot_count;
};

/* A name that is looked for; the text is borrowed. */
struct packed_name {
	const char *text; /* NULL = uuid */
	unsigned char uuid[16];
};

void packed_release(struct packed *packed);

/* Its number; PACKED_FULL: there is no room. */
uint32_t packed_add(struct packed *packed, const char *text);

/* The text with this number: replaces what is in *ret, and is borrowed from it. */
const char *packed_get(const struct packed *packed, uint32_t number, struct buf *ret);

/* Of the text with this number, up to its last slash, which is included; "" if it has none. Borrowed until the next one is added. */
const char *packed_dir(const struct packed *packed, uint32_t number);

/* An order in which the texts of one directory are neighbours; directories are in the order of their
 * texts. 0: the same text. */
int packed_compare(const struct packed *packed, uint32_t a, uint32_t b);
bool packed_same_dir(const struct packed *packed, uint32_t a, uint32_t b);

/* The same order between a name, and the name of a text after its last slash. */
void packed_name_of(const char *name, struct packed_name *ret);
int packed_compare_name(const struct packed *packed, const struct packed_name *name,
			uint32_t number);

/* Of the name of this text after its last slash; the same as packed_hash_name() of that. */
uint64_t packed_hash_of(const struct packed *packed, uint32_t number);
uint64_t packed_hash_name(const char *name);

/* Starts differently in each run, so that nobody can choose texts that all collide. */
uint64_t packed_hash(uint64_t seed, const char *text, size_t len_bytes);

#endif
