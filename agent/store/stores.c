#include "store/stores.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/sightings.h"

struct store *stores_get(struct stores *stores, const char *uri, struct err *err)
{
	struct store *store;

	for (size_t i = 0; i < stores->count; i++)
		if (store_serves(stores->store[i], uri))
			return stores->store[i];
	if (store_open(stores->config, uri, &store, err))
		return NULL;
	if (!stores->seen && !stores->own_seen)
		stores->own_seen = sightings_new();
	store_remember_in(store, stores->seen ? stores->seen : stores->own_seen);
	stores->store = xreallocarray(stores->store, stores->count + 1, sizeof(*stores->store));
	stores->store[stores->count++] = store;
	return store;
}

void stores_release(struct stores *stores)
{
	for (size_t i = 0; i < stores->count; i++)
		store_close(stores->store[i]);
	free(stores->store);
	sightings_free(stores->own_seen);
	stores->own_seen = NULL;
	stores->store = NULL;
	stores->count = 0;
}
