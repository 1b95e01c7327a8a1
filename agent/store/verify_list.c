#include "store/verify_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/uri.h"

/* Length of the directory part, its slash included. */
static size_t dir_length(const char *uri)
{
	return (size_t)(uri_name(uri) - uri);
}

static int by_directory(const void *a, const void *b)
{
	const struct verify_item *left = a, *right = b;
	size_t left_len = dir_length(left->uri), right_len = dir_length(right->uri);
	size_t len = left_len < right_len ? left_len : right_len;
	int order = memcmp(left->uri, right->uri, len);

	if (order)
		return order;
	if (left_len != right_len)
		return left_len < right_len ? -1 : 1;
	return strcmp(left->uri + len, right->uri + len);
}

void verify_list_sort(struct verify_item *items, size_t count)
{
	if (count)
		qsort(items, count, sizeof(*items), by_directory);
}

/* The end of the run of items in the directory of items[start]. */
static size_t group_end(const struct verify_item *items, size_t start, size_t count)
{
	size_t len = dir_length(items[start].uri), end = start + 1;

	while (end < count && dir_length(items[end].uri) == len &&
	       !memcmp(items[end].uri, items[start].uri, len))
		end++;
	return end;
}

struct sizes {
	struct verify_item *items;
	size_t count, missing;
	int64_t *found; /* one per item, -1 not seen */
	int64_t budget; /* entries that may still come */
};

static struct verify_item *find_item(const struct sizes *sizes, const char *name)
{
	size_t low = 0, high = sizes->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, uri_name(sizes->items[middle].uri));

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
	struct verify_item *item = entry->is_prefix ? NULL : find_item(sizes, entry->name);

	(void)err;
	if (item) {
		int64_t *found = &sizes->found[item - sizes->items];

		sizes->missing -= *found < 0;
		*found = entry->stat.size_bytes;
	}
	return !sizes->missing || !--sizes->budget;
}

static void list_group(struct store *store, struct verify_item *items, size_t count)
{
	cleanup_free char *dir = uri_parent(items[0].uri);
	cleanup_free int64_t *found = xcalloc(count, sizeof(*found));
	struct sizes sizes = {
		.items = items,
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
		items[i].size_bytes = found[i];
}

void verify_list_sizes(struct store *store, struct verify_item *items, size_t count)
{
	if (store_list_page(store) <= VERIFY_LIST_COST)
		return;
	for (size_t i = 0, end; i < count; i = end) {
		end = group_end(items, i, count);
		if (end - i >= VERIFY_LIST_COST)
			list_group(store, items + i, end - i);
	}
}
