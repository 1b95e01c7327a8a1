/*
 * stores - the open stores, one for each scheme and authority; a handful at most. Reading many
 * snapshots then signs in once and keeps its connections.
 *
 * Life cycle: struct stores s = {.config = c} -> stores_get() ... -> stores_release(). One thread
 * at a time, as for a store. What is opened for one decision shares one memory: a struct stores lives no
 * longer than that, or is released and used anew.
 */
#ifndef DREY_STORE_STORES_H
#define DREY_STORE_STORES_H

#include "store/store.h"

struct stores {
	const struct store_config *config; /* borrowed; NULL: a zeroed one */
	/* what they see together (store/sightings.h): borrowed, or NULL, then they have one of their own */
	struct sightings *seen;
	struct sightings *own_seen; /* that one */
	struct store **store;
	size_t count;
};

/* The store of uri, opened on first use; borrowed until stores_release(). NULL: as store_open(). */
struct store *stores_get(struct stores *stores, const char *uri, struct err *err);

void stores_release(struct stores *stores); /* zeroed is allowed */
#define cleanup_stores __attribute__((cleanup(stores_release)))

#endif
