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

size_t verify_list_group(const struct verify_item *items, size_t start, size_t count)
{
	size_t len = dir_length(items[start].uri), end = start + 1;

	while (end < count && dir_length(items[end].uri) == len &&
	       !memcmp(items[end].uri, items[start].uri, len))
		end++;
	return end;
}

struct sizes {
	struct verify_item *items;
	size_t count;
	int64_t *found; /* one per item, -1 not seen */
	int64_t budget; /* entries that may still come */
};

static int on_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct sizes *sizes = ctx;
	size_t low = 0, high = sizes->count;

	(void)err;
	if (!sizes->budget--)
		return 1;
	while (low < high && !entry->is_prefix) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(entry->name, uri_name(sizes->items[middle].uri));

		if (!order) {
			sizes->found[middle] = entry->stat.size_bytes;
			return 0;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return 0;
}

void verify_list_sizes(struct store *store, struct verify_item *items, size_t count)
{
	cleanup_free char *dir = uri_parent(items[0].uri);
	cleanup_free int64_t *found = xcalloc(count, sizeof(*found));
	struct sizes sizes = {
		.items = items,
		.count = count,
		.found = found,
		/* Beyond this the requests for the pages outnumber one request per file. */
		.budget = (int64_t)count * store_list_page(store),
	};

	for (size_t i = 0; i < count; i++)
		found[i] = -1;
	if (store_list(store, dir, on_entry, &sizes, NULL))
		return;
	for (size_t i = 0; i < count; i++)
		items[i].size_bytes = found[i];
}
