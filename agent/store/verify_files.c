#include "store/verify_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/uri.h"
#include "store/verify_list.h"

void verify_add_problem(struct verify_report *report, enum verify_fault fault, enum err_kind kind,
			const char *path, const char *detail)
{
	if (fault != VERIFY_NOT_READ)
		report->verdict = VERIFY_DAMAGED;
	else if (report->verdict == VERIFY_COMPLETE)
		report->verdict = VERIFY_UNREADABLE;
	if (report->problem_count == VERIFY_MAX_PROBLEMS) {
		report->problems_left_out++;
		return;
	}
	report->problems = xreallocarray(report->problems, report->problem_count + 1,
					 sizeof(*report->problems));
	report->problems[report->problem_count++] =
		(struct verify_problem){fault, xstrdup(path), xstrdup(detail), kind};
}

void verify_add_failure(struct verify_report *report, const char *path, const struct err *err)
{
	if (err->kind == ERR_ABSENT)
		verify_add_problem(report, VERIFY_MISSING, err->kind, path, "is missing");
	else
		verify_add_problem(report, VERIFY_NOT_READ, err->kind, path, err->msg);
}

static bool is_right_size(const struct verify_item *item)
{
	const struct metadata_file *file = item->file;

	return file->size_bytes < 0 || item->size_bytes == file->size_bytes ||
	       (file->lower_bound && item->size_bytes > file->size_bytes);
}

static void check_size(struct verify_report *report, const struct verify_item *item)
{
	const struct metadata_file *file = item->file;
	cleanup_free char *detail = NULL;

	if (is_right_size(item)) {
		report->files_ok++;
		return;
	}
	detail = xasprintf("has %" PRId64 " bytes, expected %s%" PRId64, item->size_bytes,
			   file->lower_bound ? "at least " : "", file->size_bytes);
	verify_add_problem(report, VERIFY_WRONG_SIZE, ERR_NONE, item->uri, detail);
}

/* Files of one store that must be checked. */
struct looks {
	struct verify_report *report;
	struct verify_item **items;
	size_t count, looked, no_answers;
};

static const char *look_uri(void *ctx, size_t index)
{
	const struct looks *looks = ctx;

	return looks->items[index]->uri;
}

static int on_look(void *ctx, const struct store_look *look, struct err *err)
{
	struct looks *looks = ctx;
	struct verify_item *item = looks->items[look->index];

	looks->looked++;
	switch (look->state) {
	case STORE_LOOK_PRESENT:
		item->size_bytes = look->stat.size_bytes;
		check_size(looks->report, item);
		break;
	case STORE_LOOK_ABSENT:
		verify_add_failure(looks->report, item->uri, &(struct err){.kind = ERR_ABSENT});
		break;
	case STORE_LOOK_UNREADABLE:
		verify_add_failure(looks->report, item->uri, look->why);
		looks->no_answers += look->why->kind == ERR_RETRY;
		break;
	}
	if (looks->no_answers >= VERIFY_NO_ANSWERS)
		return err_set(err, ERR_RETRY, 0, "no answer for %zu files", looks->no_answers);
	return 0;
}

/* The files items .. items + count are in one store: those whose size is in the listing are done,
 * the others are queried. A listing may lag behind (Swift), so it never condemns a file. */
static void check_store(struct verify_report *report, struct store *store,
			struct verify_item *items, size_t count)
{
	struct looks looks = {.report = report, .items = xcalloc(count, sizeof(*looks.items))};

	for (size_t i = 0; i < count; i++)
		if (items[i].size_bytes >= 0 && is_right_size(&items[i]))
			report->files_ok++;
		else
			looks.items[looks.count++] = &items[i];
	if (store_look_many(store, look_uri, looks.count, 0, on_look, &looks, NULL))
		report->problems_left_out += looks.count - looks.looked;
	free(looks.items);
}

static void check_items(struct verify_report *report, struct stores *stores,
			struct verify_item *items, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		struct err err = {0};
		struct store *store = stores_get(stores, items[i].uri, &err);

		end = i + 1;
		if (!store) {
			verify_add_failure(report, items[i].uri, &err);
			continue;
		}
		while (end < count && store_serves(store, items[end].uri))
			end++;
		verify_list_sizes(store, items + i, end - i);
		check_store(report, store, items + i, end - i);
	}
}

static int by_fault_and_path(const void *a, const void *b)
{
	const struct verify_problem *left = a, *right = b;

	if (left->fault != right->fault)
		return left->fault < right->fault ? -1 : 1;
	return strcmp(left->path, right->path);
}

void verify_files(struct verify_report *report, struct stores *stores,
		  const struct metadata *metadata)
{
	size_t count = metadata->file_count;
	struct verify_item *items = xcalloc(count + 1, sizeof(*items));

	for (size_t i = 0; i < count; i++) {
		const struct metadata_file *file = &metadata->files[i];

		items[i].file = file;
		items[i].size_bytes = -1;
		items[i].uri = file->relative ? uri_join(report->path, file->path)
					      : uri_canonical(file->path);
		if (!items[i].uri)
			items[i].uri = xstrdup(file->path);
	}
	verify_list_sort(items, count);
	check_items(report, stores, items, count);
	for (size_t i = 0; i < count; i++)
		free(items[i].uri);
	free(items);
	/* answers come in any order */
	if (report->problem_count)
		qsort(report->problems, report->problem_count, sizeof(*report->problems),
		      by_fault_and_path);
}
