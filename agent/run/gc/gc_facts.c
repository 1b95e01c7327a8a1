#include "run/gc/gc_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/gc/gc_confirm.h"
#include "store/snapshots.h"
#include "store/uri.h"
#include "store/verify.h"

/* ---- directories of dead launches ---- */

static int on_leaf(void *ctx, const struct store_leaf *leaf, struct err *err)
{
	struct gc_look *look = ctx;

	if (!gc_add_file(look->gc, leaf->name, leaf->stat.size_bytes, leaf->stat.mtime_unix_ms,
			 leaf->odd))
		return err_set(err, ERR_FORMAT, 0, "there are too many files");
	return gc_look_tell(look, "files of dead launches", look->gc->file_count, err);
}

static void list_tree(struct gc_look *look, enum gc_tree_kind kind, const char *given,
		      const char *job_id)
{
	cleanup_free char *spelled = uri_canonical(given);
	const char *dir = spelled ? spelled : given;
	struct err err = {0};
	struct store *store = stores_get(&look->stores, dir, &err);

	for (size_t i = 0; i < look->gc->tree_count; i++)
		if (snapshot_same_path(look->gc->trees[i].dir, dir))
			return;
	gc_add_tree(look->gc, kind, dir, job_id);
	if (!store ||
	    (store_list_tree(store, dir, on_leaf, look, &err) < 0 && err.kind != ERR_ABSENT))
		gc_look_fail(look, dir, &err);
}

/* The names of one level: a store never has two listings open. */
struct names {
	const struct journal *journal;
	const char *prefix; /* of each, before the job id */
	char (*ids)[JOB_ID_BYTES];
	size_t count;
};

static int note_job(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct names *names = ctx;
	size_t len = strlen(names->prefix);

	(void)err;
	if (!entry->is_prefix || strncmp(entry->name, names->prefix, len) != 0 ||
	    !gc_wants_job(names->journal, entry->name + len))
		return 0;
	names->ids = xreallocarray(names->ids, names->count + 1, sizeof(*names->ids));
	memcpy(names->ids[names->count++], entry->name + len, JOB_ID_BYTES);
	return 0;
}

/* Those of dead launches that have their job id as name. */
static void list_trees(struct gc_look *look, enum gc_tree_kind kind, const char *top)
{
	const char *prefix = kind == GC_TREE_BLOBS ? "job_" : "";
	struct names names = {.journal = look->ask->journal, .prefix = prefix};
	struct err err = {0};
	struct store *store = stores_get(&look->stores, top, &err);

	if (!store ||
	    (store_list(store, top, note_job, &names, &err) < 0 && err.kind != ERR_ABSENT))
		gc_look_fail(look, top, &err);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *name = xasprintf("%s%s", prefix, names.ids[i]);
		cleanup_free char *dir = uri_join(top, name);

		list_tree(look, kind, dir, names.ids[i]);
	}
	free(names.ids);
}

/* ---- results: a directory has the name of its launch, and its job is in the names of its files ---- */

static int note_launch(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct names *names = ctx;

	(void)err;
	if (!entry->is_prefix || !gc_is_job_id(entry->name))
		return 0;
	names->ids = xreallocarray(names->ids, names->count + 1, sizeof(*names->ids));
	memcpy(names->ids[names->count++], entry->name, JOB_ID_BYTES);
	return 0;
}

/* The last job whose result is there. */
static int note_result(void *ctx, const struct store_entry *entry, struct err *err)
{
	char *job_id = ctx;

	(void)err;
	gc_job_of_result(entry->name, job_id);
	return 0;
}

/* Is it the one of a launch that the journal has? gc_results() says which of them are dead. */
static bool is_on_record(const struct journal *journal, const char *dir)
{
	for (size_t i = 0; i < journal->launch_count; i++)
		if (snapshot_same_path(journal->launches[i].job_result_path, dir))
			return true;
	return false;
}

/* Those of launches that the journal has no more. One of an older drey has the name of its job. */
static void list_results(struct gc_look *look, const char *top)
{
	struct names names = {0};
	struct err err = {0};
	struct store *store = stores_get(&look->stores, top, &err);

	if (!store ||
	    (store_list(store, top, note_launch, &names, &err) < 0 && err.kind != ERR_ABSENT))
		gc_look_fail(look, top, &err);
	for (size_t i = 0; store && i < names.count; i++) {
		cleanup_free char *dir = uri_join(top, names.ids[i]);
		char job_id[JOB_ID_BYTES] = "";

		if (is_on_record(look->ask->journal, dir))
			continue;
		if (store_list(store, dir, note_result, job_id, &err) < 0 && err.kind != ERR_ABSENT)
			gc_look_fail(look, dir, &err);
		else if (*job_id && gc_wants_job(look->ask->journal, job_id))
			list_tree(look, GC_TREE_RESULTS, dir, job_id);
	}
	free(names.ids);
}

static void on_result(void *ctx, const char *dir, const char *job_id)
{
	list_tree(ctx, GC_TREE_RESULTS, dir, job_id);
}

static void list_all_trees(struct gc_look *look)
{
	for (size_t i = 0; i < look->dir_count; i++)
		if (look->dirs[i].kind == SNAPSHOT_CHECKPOINT)
			list_trees(look, GC_TREE_JOB, look->dirs[i].uri);
	if (look->ask->result_dir)
		list_results(look, look->ask->result_dir);
	for (size_t i = 0; i < look->ask->blob_dir_count; i++)
		list_trees(look, GC_TREE_BLOBS, look->ask->blob_dirs[i]);
	gc_results(look->ask->journal, on_result, look);
}

/* ---- content ---- */

static void check_snapshots(struct gc_look *look)
{
	int index;

	while (!look->gc->unreadable &&
	       (index = gc_next_check(look->gc, look->ask->journal)) >= 0) {
		struct gc_snapshot *snapshot = &look->gc->snapshots[index];
		struct verify_report report;
		struct err err = {0};

		snapshot->check = GC_CHECK_DAMAGED;
		if (gc_look_tell(look, "the newest snapshots", 0, &err) < 0)
			gc_look_fail(look, snapshot->path, &err);
		else if (verify_snapshot_in(&look->stores, snapshot->path, &report, NULL) == 0) {
			if (report.verdict == VERIFY_COMPLETE)
				snapshot->check = GC_CHECK_COMPLETE;
			verify_release(&report);
		}
	}
}

void gc_facts(const struct gc_facts_ask *ask, struct gc *gc)
{
	struct gc_look look;

	gc_look_begin(&look, ask, gc);
	gc_look_list(&look);
	if (ask->first)
		gc_first_recall(ask->first, gc);
	/* this takes the most memory, and gives it back */
	check_snapshots(&look);
	mem_give_back();
	list_all_trees(&look);
	gc_retain(gc, ask->journal);
	gc_look_read(&look);
	gc_confirm_unfinished(&look);
	gc_confirm_near(&look);
	gc_look_end(&look);
}

void gc_facts_check(const struct gc_facts_ask *ask, struct gc *gc)
{
	struct gc_look look;

	gc_look_begin(&look, ask, gc);
	gc_look_list(&look);
	check_snapshots(&look);
	gc_look_end(&look);
}
