#include "store/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/words.h"
#include "format/ha_value.h"
#include "store/content.h"
#include "store/snapshots.h"
#include "store/stores.h"
#include "store/uri.h"
#include "store/verify_files.h"

/* 0 decoded, 1 damaged, -1 unreadable; the last two set *err. */
static int load(struct store *store, const char *uri, struct metadata *ret, struct err *err)
{
	struct content content;
	int rc = content_open(&content, store, uri, err);

	if (!rc)
		rc = metadata_load(content.source, ret, err);
	if (rc < 0 && content_is_damage(&content, store, err))
		rc = 1;
	content_close(&content);
	return rc;
}

/* The path of `_metadata`: in the directory `path`, or, as in Flink, `path` itself whatever its
 * name; and its date, -1 if unknown. The caller frees it. */
static char *find_metadata(struct store *store, const char *path, int64_t *ret_unix_ms)
{
	char *uri = snapshots_metadata_uri(path);
	struct store_stat stat = {.mtime_unix_ms = -1};
	struct err err = {0};

	/* ENOTDIR: `path` is a file, and this one of another name */
	if (store_stat(store, uri, &stat, &err) && (err.kind == ERR_ABSENT || err.sys == ENOTDIR) &&
	    strcmp(uri_name(path), METADATA_NAME) != 0 && !store_stat(store, path, &stat, NULL)) {
		free(uri);
		uri = xstrdup(path);
	}
	*ret_unix_ms = stat.mtime_unix_ms;
	return uri;
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

int verify_snapshot_in(struct stores *stores, const char *path, struct verify_report *ret,
		       struct err *err)
{
	cleanup_free char *found = NULL, *uri = NULL;
	struct verify_report report = {0};
	struct metadata metadata = {0};
	struct err why = {0};
	struct store *store = stores_get(stores, path, err);
	int loaded;

	if (!store)
		return -1;
	found = find_metadata(store, path, &report.metadata_unix_ms);
	uri = uri_canonical(found);
	report.path = uri_parent(uri);
	loaded = load(store, uri, &metadata, &why);
	if (!loaded) {
		report.decoded = true;
		report.header = metadata.header;
		report.tail = metadata.tail;
		report.size_bytes = metadata.size_bytes;
		report.file_count = metadata.file_count;
		list_operators(&report, &metadata);
		verify_files(&report, stores, &metadata);
		metadata_release(&metadata);
	} else if (loaded > 0) {
		verify_add_problem(&report, VERIFY_UNDECODABLE, why.kind, uri, why.msg);
	} else {
		/* MUT: a metadata is missing on the word of its own answers */
		if (why.kind == ERR_ABSENT)
			verify_doubt_absent(store, uri, &why);
		verify_add_failure(&report, uri, &why);
	}
	*ret = report;
	return 0;
}

/* As if a _metadata named them; what the object has room for has room here. */
static void name_files(const struct checkpoint_files *files, struct metadata *ret)
{
	ret->files = xcalloc(files->count + 1, sizeof(*ret->files));
	for (size_t i = 0; i < files->count; i++)
		ret->files[ret->file_count++] = (struct metadata_kept){
			.size_bytes = files->list[i].size_bytes,
			.path = packed_add(&ret->paths, files->list[i].uri),
		};
}

int verify_object_in(struct stores *stores, const char *uri, struct verify_report *ret,
		     struct err *err)
{
	struct store *store = stores_get(stores, uri, err);
	struct verify_report report = {0};
	struct checkpoint_files files = {0};
	cleanup_metadata struct metadata named = {0};
	struct content content;
	int rc;

	if (!store)
		return -1;
	rc = content_open(&content, store, uri, err);
	if (!rc)
		rc = completed_checkpoint_files(content.source, &files, err);
	content_close(&content);
	if (rc < 0)
		return -1;
	name_files(&files, &named);
	checkpoint_files_release(&files);
	report.file_count = named.file_count;
	verify_files(&report, stores, &named);
	*ret = report;
	return 0;
}

int verify_snapshot(const struct store_config *config, const char *path, struct verify_report *ret,
		    struct err *err)
{
	cleanup_stores struct stores stores = {.config = config};

	return verify_snapshot_in(&stores, path, ret, err);
}

int verify_read_metadata(const struct store_config *config, const char *path, struct metadata *ret,
			 struct err *err)
{
	cleanup_stores struct stores stores = {.config = config};
	struct store *store = stores_get(&stores, path, err);
	cleanup_free char *uri = NULL;
	int64_t unix_ms;
	int loaded;

	if (!store)
		return -1;
	uri = find_metadata(store, path, &unix_ms);
	loaded = load(store, uri, ret, err);
	return loaded ? err_wrap(err, "%s", uri) : 0;
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

static const char *const verify_verdict_words[] = {
	[VERIFY_COMPLETE] = "complete",
	[VERIFY_DAMAGED] = "damaged",
	[VERIFY_UNREADABLE] = "unreadable",
};
WORDS_OF(verify_verdict_words, verify_verdict_name, enum verify_verdict, "unknown");

static const char *const verify_fault_words[] = {
	[VERIFY_MISSING] = "missing",
	[VERIFY_WRONG_SIZE] = "wrong-size",
	[VERIFY_UNDECODABLE] = "undecodable",
	[VERIFY_NOT_READ] = "not-read",
};
WORDS_OF(verify_fault_words, verify_fault_name, enum verify_fault, "unknown");
