#include "store/stores.h"

#include <stdlib.h>

#include "base/mem.h"

struct store *stores_get(struct stores *stores, const char *uri, struct err *err)
{
	struct store *store;

	for (size_t i = 0; i < stores->count; i++)
		if (store_serves(stores->store[i], uri))
			return stores->store[i];
	if (store_open(stores->config, uri, &store, err))
		return NULL;
	stores->store = xreallocarray(stores->store, stores->count + 1, sizeof(*stores->store));
	stores->store[stores->count++] = store;
	return store;
}

void stores_release(struct stores *stores)
{
	for (size_t i = 0; i < stores->count; i++)
		store_close(stores->store[i]);
	free(stores->store);
	stores->store = NULL;
	stores->count = 0;
}
