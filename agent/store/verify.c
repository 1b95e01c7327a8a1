#include "store/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/snapshots.h"
#include "store/stores.h"
#include "store/uri.h"
#include "store/verify_list.h"

static void add_problem(struct verify_report *report, enum verify_fault fault, enum err_kind kind,
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

/* Something about `path` could not be found out, or it is proven to be absent. */
static void add_failure(struct verify_report *report, const char *path, const struct err *err)
{
	if (err->kind == ERR_ABSENT)
		add_problem(report, VERIFY_MISSING, err->kind, path, "is missing");
	else
		add_problem(report, VERIFY_NOT_READ, err->kind, path, err->msg);
}

static void check_size(struct verify_report *report, const struct verify_item *item)
{
	const struct metadata_file *file = item->file;
	cleanup_free char *detail = NULL;
	bool good = file->size_bytes < 0 || item->size_bytes == file->size_bytes ||
		    (file->lower_bound && item->size_bytes > file->size_bytes);

	if (good) {
		report->files_ok++;
		return;
	}
	detail = xasprintf("has %" PRId64 " bytes, expected %s%" PRId64, item->size_bytes,
			   file->lower_bound ? "at least " : "", file->size_bytes);
	add_problem(report, VERIFY_WRONG_SIZE, ERR_NONE, item->uri, detail);
}

static void check_one(struct verify_report *report, struct stores *stores, struct verify_item *item)
{
	struct err err = {0};
	struct store_stat stat;
	struct store *store;

	if (item->size_bytes < 0) {
		store = stores_get(stores, item->uri, &err);
		if (!store || store_stat(store, item->uri, &stat, &err)) {
			add_failure(report, item->uri, &err);
			return;
		}
		item->size_bytes = stat.size_bytes;
	}
	check_size(report, item);
}

/* Where a listing is cheaper than a request for each file, take the sizes from it. What it does not
 * name is asked for one by one afterwards, and so is everything when it fails. */
static void list_directories(struct stores *stores, struct verify_item *items, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		struct store *store = stores_get(stores, items[i].uri, NULL);

		end = verify_list_group(items, i, count);
		if (store && end - i >= VERIFY_LIST_FROM && store_list_page(store) > 1)
			verify_list_sizes(store, items + i, end - i);
	}
}

static void check_files(struct verify_report *report, struct stores *stores,
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
	list_directories(stores, items, count);
	for (size_t i = 0; i < count; i++) {
		check_one(report, stores, &items[i]);
		free(items[i].uri);
	}
	free(items);
}

/* 0 decoded, -1 with *err. */
static int load(struct store *store, const char *uri, struct metadata *ret, struct err *err)
{
	struct store_stream *stream;
	struct source *src;
	int rc;

	if (store_read_open(store, uri, 0, &stream, err))
		return -1;
	src = source_new(store_read, stream, store_read_size(stream));
	rc = metadata_load(src, ret, err);
	source_free(src);
	store_read_close(stream);
	return rc;
}

/* Where `_metadata` is: in the directory `path`, or, as for Flink, `path` itself whatever its name.
 * Caller frees. */
static char *find_metadata(struct store *store, const char *path)
{
	char *uri = snapshots_metadata_uri(path);
	struct store_stat stat;

	if (!strcmp(uri_name(path), METADATA_NAME) || store_exists(store, uri, NULL) ||
	    store_stat(store, path, &stat, NULL))
		return uri;
	free(uri);
	return xstrdup(path);
}

static int by_id(const void *left, const void *right)
{
	return strcmp(left, right);
}

static void list_operators(struct verify_report *report, const struct metadata *metadata)
{
	size_t count = metadata->operator_count;

	report->operators = xcalloc(count + 1, sizeof(*report->operators));
	report->operator_count = count;
	for (size_t i = 0; i < count; i++)
		memcpy(report->operators[i], metadata->operators[i].id, sizeof(*report->operators));
	qsort(report->operators, count, sizeof(*report->operators), by_id);
}

int verify_snapshot(const struct store_config *config, const char *path, struct verify_report *ret,
		    struct err *err)
{
	cleanup_free char *found = NULL, *uri = NULL;
	struct verify_report report = {0};
	struct metadata metadata = {0};
	struct store_stat stat;
	struct stores stores = {.config = config};
	struct err why = {0};
	struct store *store = stores_get(&stores, path, err);

	if (!store)
		return -1;
	found = find_metadata(store, path);
	uri = uri_canonical(found);
	report.path = uri_parent(uri);
	if (!load(store, uri, &metadata, &why)) {
		report.decoded = true;
		report.header = metadata.header;
		report.tail = metadata.tail;
		report.size_bytes = metadata.size_bytes;
		report.file_count = metadata.file_count;
		report.metadata_unix_ms =
			store_stat(store, uri, &stat, NULL) ? -1 : stat.mtime_unix_ms;
		list_operators(&report, &metadata);
		check_files(&report, &stores, &metadata);
		metadata_release(&metadata);
	} else if (why.kind == ERR_FORMAT) {
		add_problem(&report, VERIFY_UNDECODABLE, why.kind, uri, why.msg);
	} else {
		add_failure(&report, uri, &why);
	}
	stores_release(&stores);
	*ret = report;
	return 0;
}

void verify_release(struct verify_report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->problem_count; i++) {
		free(report->problems[i].path);
		free(report->problems[i].detail);
	}
	free(report->problems);
	free(report->operators);
	free(report->path);
	*report = (struct verify_report){0};
}

const char *verify_verdict_name(enum verify_verdict verdict)
{
	static const char *const names[] = {
		[VERIFY_COMPLETE] = "complete",
		[VERIFY_DAMAGED] = "damaged",
		[VERIFY_UNREADABLE] = "unreadable",
	};

	return names[verdict];
}

const char *verify_fault_name(enum verify_fault fault)
{
	static const char *const names[] = {
		[VERIFY_MISSING] = "missing",
		[VERIFY_WRONG_SIZE] = "wrong-size",
		[VERIFY_UNDECODABLE] = "undecodable",
		[VERIFY_NOT_READ] = "not-read",
	};

	return names[fault];
}
