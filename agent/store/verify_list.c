#include "store/verify_list.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/uri.h"

static int by_directory(const void *a, const void *b, void *ctx)
{
	const struct verify_item *left = a, *right = b;

	return packed_compare(ctx, left->uri, right->uri);
}

void verify_list_sort(struct verify_list *list)
{
	if (list->count)
		qsort_r(list->items, list->count, sizeof(*list->items), by_directory, &list->uris);
}

/* The end of the run of items in the directory of item number `start`. */
static size_t group_end(const struct verify_list *list, size_t start, size_t end)
{
	size_t i = start + 1;

	while (i < end && packed_same_dir(&list->uris, list->items[i].uri, list->items[start].uri))
		i++;
	return i;
}

struct sizes {
	const struct packed *uris;
	struct verify_item *items;
	size_t count, missing;
	int64_t *found; /* one per item, -1 not seen */
	int64_t budget; /* entries that may still come */
};

static struct verify_item *find_item(const struct sizes *sizes, const char *name)
{
	size_t low = 0, high = sizes->count;
	struct packed_name key;

	packed_name_of(name, &key);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = packed_compare_name(sizes->uris, &key, sizes->items[middle].uri);

		if (!order)
			return &sizes->items[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static int on_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct sizes *sizes = ctx;
	/* whether an archived one was restored, only its own answer says */
	struct verify_item *item =
		entry->is_prefix || entry->stat.archived ? NULL : find_item(sizes, entry->name);

	(void)err;
	if (item) {
		int64_t *found = &sizes->found[item - sizes->items];

		sizes->missing -= *found < 0;
		*found = entry->stat.size_bytes;
	}
	return !sizes->missing || !--sizes->budget;
}

static void list_group(const struct verify_list *list, struct store *store, size_t first,
		       size_t count)
{
	cleanup_buf struct buf uri = BUF_INIT;
	cleanup_free char *dir = uri_parent(packed_get(&list->uris, list->items[first].uri, &uri));
	cleanup_free int64_t *found = xcalloc(count, sizeof(*found));
	struct sizes sizes = {
		.uris = &list->uris,
		.items = list->items + first,
		.count = count,
		.missing = count,
		.found = found,
		.budget = (int64_t)(count / VERIFY_LIST_COST) * store_list_page(store),
	};

	for (size_t i = 0; i < count; i++)
		found[i] = -1;
	if (store_list(store, dir, on_entry, &sizes, NULL))
		return;
	for (size_t i = 0; i < count; i++)
		sizes.items[i].size_bytes = found[i];
}

void verify_list_sizes(struct verify_list *list, struct store *store, size_t first, size_t count)
{
	if (store_list_page(store) <= VERIFY_LIST_COST)
		return;
	for (size_t i = first, end; i < first + count; i = end) {
		end = group_end(list, i, first + count);
		if (end - i >= VERIFY_LIST_COST)
			list_group(list, store, i, end - i);
	}
}
