#include "store/verify_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/store_ops.h"
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

/* What is checked, and what for. */
struct files {
	struct verify_report *report;
	const struct metadata *metadata;
	struct verify_list list;
	struct buf uri; /* of one item */
};

static const char *item_uri(struct files *files, const struct verify_item *item)
{
	return packed_get(&files->list.uris, item->uri, &files->uri);
}

static bool is_right_size(const struct files *files, const struct verify_item *item)
{
	const struct metadata_kept *file = &files->metadata->files[item->file];

	return file->size_bytes < 0 || item->size_bytes == file->size_bytes ||
	       (file->lower_bound && item->size_bytes > file->size_bytes);
}

/* Files of one store that must be checked. */
struct looks {
	struct files *files;
	uint32_t *items;
	size_t count, looked, no_answers;
	uint32_t *absent, *resized; /* items of these */
	size_t absent_count, resized_count;
};

static const char *look_uri(void *ctx, size_t index)
{
	const struct looks *looks = ctx;

	return item_uri(looks->files, &looks->files->list.items[looks->items[index]]);
}

static int on_look(void *ctx, const struct store_look *look, struct err *err)
{
	struct looks *looks = ctx;
	struct files *files = looks->files;
	struct verify_item *item = &files->list.items[looks->items[look->index]];

	looks->looked++;
	switch (look->state) {
	case STORE_LOOK_PRESENT:
		item->size_bytes = look->stat.size_bytes;
		/* MUT: an archived state file is as good as any */
		if (look->stat.archived)
			verify_add_problem(files->report, VERIFY_NOT_READ, ERR_CONFIG,
					   item_uri(files, item),
					   "is archived; " STORE_ARCHIVED_REMEDY);
		else if (is_right_size(files, item))
			files->report->files_ok++;
		else
			looks->resized[looks->resized_count++] = looks->items[look->index];
		break;
	case STORE_LOOK_ABSENT:
		looks->absent[looks->absent_count++] = looks->items[look->index];
		break;
	case STORE_LOOK_UNREADABLE:
		verify_add_failure(files->report, item_uri(files, item), look->why);
		looks->no_answers += look->why->kind == ERR_RETRY;
		break;
	}
	if (looks->no_answers >= VERIFY_NO_ANSWERS)
		return err_set(err, ERR_RETRY, 0, "no answer for %zu files", looks->no_answers);
	return 0;
}

void verify_doubt_absent(struct store *store, const char *uri, struct err *why)
{
	int listed = 0;

	/* a local file has asked its directory already; nor is one asked again that was listed in this decision */
	if (store_list_page(store) > 1 && !sightings_left_out(store->seen, uri))
		listed = store_is_listed(store, uri, why);
	/* MUT: a file is missing on the word of one answer */
	if (listed > 0)
		err_set(why, ERR_CONTRADICTED, 0, "%s is listed, but was not found", uri);
}

/* A file that is missing makes the snapshot damaged, and an older one is taken. So the directory of the first one of them is
 * listed again: a store that is wrong about that one is believed about none. */
static void judge_absent(const struct looks *looks, struct store *store)
{
	struct files *files = looks->files;
	struct err why = {.kind = ERR_ABSENT};

	for (size_t i = 0; i < looks->absent_count; i++) {
		const char *uri = item_uri(files, &files->list.items[looks->absent[i]]);

		if (!i)
			verify_doubt_absent(store, uri, &why);
		verify_add_failure(files->report, uri, &why);
	}
}

/* Does a new listing say that it has the size that is expected? -1: *why says so, or why that is not known. */
static int doubt_size(struct files *files, struct store *store, const struct verify_item *item,
		      struct err *why)
{
	struct verify_item listed = *item;
	const char *uri = item_uri(files, item);

	/* a local file has answered itself */
	if (store_list_page(store) == 1)
		return 0;
	if (store_listed_size(store, uri, &listed.size_bytes, why) < 0)
		return -1;
	if (listed.size_bytes < 0 || !is_right_size(files, &listed))
		return 0;
	return err_set(why, ERR_CONTRADICTED, 0,
		       "%s is listed with %" PRId64 " bytes, but answered with %" PRId64, uri,
		       listed.size_bytes, item->size_bytes);
}

/* As judge_absent(), of files of another size. */
static void judge_resized(const struct looks *looks, struct store *store)
{
	struct files *files = looks->files;
	struct err why = {0};
	int doubt = 0;

	for (size_t i = 0; i < looks->resized_count; i++) {
		const struct verify_item *item = &files->list.items[looks->resized[i]];
		const struct metadata_kept *file = &files->metadata->files[item->file];
		cleanup_free char *detail = NULL;

		if (!i)
			doubt = doubt_size(files, store, item, &why);
		if (doubt) {
			verify_add_failure(files->report, item_uri(files, item), &why);
			continue;
		}
		detail = xasprintf("has %" PRId64 " bytes, expected %s%" PRId64, item->size_bytes,
				   file->lower_bound ? "at least " : "", file->size_bytes);
		verify_add_problem(files->report, VERIFY_WRONG_SIZE, ERR_NONE,
				   item_uri(files, item), detail);
	}
}

/* The items first .. first + count are in one store: those whose size is in the listing are done, the
 * others are queried. A listing may lag behind (Swift), so it never condemns a file. */
static void check_store(struct files *files, struct store *store, size_t first, size_t count)
{
	struct looks looks = {.files = files,
			      .items = xcalloc(count, sizeof(*looks.items)),
			      .absent = xcalloc(count, sizeof(*looks.absent)),
			      .resized = xcalloc(count, sizeof(*looks.resized))};

	for (size_t i = first; i < first + count; i++)
		if (files->list.items[i].size_bytes >= 0 &&
		    is_right_size(files, &files->list.items[i]))
			files->report->files_ok++;
		else
			looks.items[looks.count++] = (uint32_t)i;
	if (store_look_many(store, look_uri, looks.count, 0, on_look, &looks, NULL))
		files->report->problems_left_out += looks.count - looks.looked;
	judge_absent(&looks, store);
	judge_resized(&looks, store);
	free(looks.resized);
	free(looks.absent);
	free(looks.items);
}

static void check_items(struct files *files, struct stores *stores)
{
	const struct verify_list *list = &files->list;

	for (size_t i = 0, end; i < list->count; i = end) {
		const char *uri = item_uri(files, &list->items[i]);
		struct err err = {0};
		struct store *store = stores_get(stores, uri, &err);

		end = i + 1;
		if (!store) {
			verify_add_failure(files->report, uri, &err);
			continue;
		}
		while (end < list->count && store_serves(store, item_uri(files, &list->items[end])))
			end++;
		verify_list_sizes(&files->list, store, i, end - i);
		check_store(files, store, i, end - i);
	}
}

static void list_items(struct files *files)
{
	const struct metadata *metadata = files->metadata;
	struct verify_list *list = &files->list;

	list->items = xcalloc(metadata->file_count + 1, sizeof(*list->items));
	for (size_t i = 0; i < metadata->file_count; i++) {
		const struct metadata_file file = metadata_file(metadata, i, &files->uri);
		cleanup_free char *uri = file.relative ? uri_join(files->report->path, file.path)
						       : uri_canonical(file.path);
		uint32_t number = packed_add(&list->uris, uri ? uri : file.path);

		if (number == PACKED_FULL) {
			verify_add_problem(files->report, VERIFY_NOT_READ, ERR_FORMAT, file.path,
					   "there are too many names");
			continue;
		}
		list->items[list->count++] = (struct verify_item){
			.uri = number,
			.file = (uint32_t)i,
			.size_bytes = -1,
		};
	}
	verify_list_sort(list);
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
	struct files files = {.report = report, .metadata = metadata};

	list_items(&files);
	check_items(&files, stores);
	free(files.list.items);
	packed_release(&files.list.uris);
	buf_release(&files.uri);
	/* answers come in any order */
	if (report->problem_count)
		qsort(report->problems, report->problem_count, sizeof(*report->problems),
		      by_fault_and_path);
}
