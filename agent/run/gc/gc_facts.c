#include "run/gc/gc_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/resolve/lineage_dirs.h"
#include "run/gc/gc_refs.h"
#include "run/observe/observe.h"
#include "store/snapshots.h"
#include "store/stores.h"
#include "store/uri.h"
#include "store/verify.h"

#define TELL_EVERY 1000

struct dir {
	enum snapshot_kind kind;
	char *uri;
};

struct look {
	const struct gc_facts_ask *ask;
	struct gc *gc;
	struct stores stores;
	struct dir *dirs; /* with snapshots */
	size_t dir_count;
	bool later; /* the snapshots are listed again: what is new stays */
	bool news;  /* something new was found, or has gone */
	size_t told;
};

static void give_up(struct look *look, const char *what, const struct err *err)
{
	cleanup_free char *why = xasprintf("%s cannot be read: %s", what, err->msg);

	gc_set_unreadable(look->gc, why);
}

/* -1: the caller wants to end. */
static int gc_facts_tell(struct look *look, const char *what, size_t done, struct err *err)
{
	const struct gc_facts_ask *ask = look->ask;

	if (!ask->progress || (done && done < look->told + TELL_EVERY && done > look->told))
		return 0;
	look->told = done;
	return ask->progress(ask->progress_ctx, what, done) < 0
		       ? err_set(err, ERR_BUSY, 0, "it was interrupted")
		       : 0;
}

/* ---- where there may be snapshots ---- */

static void add_dir(struct look *look, enum snapshot_kind kind, const char *uri)
{
	char *spelled;

	if (!uri)
		return;
	for (size_t i = 0; i < look->dir_count; i++)
		if (look->dirs[i].kind == kind && snapshot_same_path(look->dirs[i].uri, uri))
			return;
	look->dirs = xreallocarray(look->dirs, look->dir_count + 1, sizeof(*look->dirs));
	spelled = uri_canonical(uri);
	look->dirs[look->dir_count++] = (struct dir){kind, spelled ? spelled : xstrdup(uri)};
}

/* Those of the configuration, and all that a launch has ever used. */
static void find_dirs(struct look *look)
{
	const struct journal *journal = look->ask->journal;

	add_dir(look, SNAPSHOT_CHECKPOINT, look->ask->checkpoint_dir);
	add_dir(look, SNAPSHOT_SAVEPOINT, look->ask->savepoint_dir);
	add_dir(look, SNAPSHOT_SAVEPOINT, operation_directory(&journal->operation));
	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];
		cleanup_free char *seen =
			lineage_dir_of_checkpoint(launch->last_checkpoint_path, launch->job_id);

		if (launch->never_started)
			continue;
		add_dir(look, SNAPSHOT_CHECKPOINT, launch->checkpoint_dir);
		add_dir(look, SNAPSHOT_SAVEPOINT, launch->savepoint_dir);
		add_dir(look, SNAPSHOT_CHECKPOINT, seen);
	}
}

/* ---- snapshots ---- */

static int add_snapshot(struct look *look, const struct gc_snapshot *snapshot)
{
	struct gc_snapshot *added = gc_add_snapshot(look->gc, snapshot);

	if (added) {
		look->news = true;
		added->retained = look->later;
	}
	return added != NULL;
}

static int on_snapshot(void *ctx, const struct snapshots_item *item, struct err *err)
{
	struct look *look = ctx;
	struct gc_snapshot snapshot = {
		.path = (char *)item->path,
		.kind = item->kind == SNAPSHOTS_CHECKPOINT ? SNAPSHOT_CHECKPOINT
							   : SNAPSHOT_SAVEPOINT,
		.checkpoint_id = item->checkpoint_id > 0 ? item->checkpoint_id : 0,
		.unix_ms = item->mtime_unix_ms,
	};

	if (item->state == SNAPSHOTS_INCOMPLETE)
		return 0;
	if (item->state == SNAPSHOTS_UNREADABLE) {
		give_up(look, item->path, item->why);
		return 0;
	}
	memcpy(snapshot.job_id, item->job_id, strlen(item->job_id) + 1);
	add_snapshot(look, &snapshot);
	return gc_facts_tell(look, "snapshots", look->gc->snapshot_count, err);
}

static void list_dir(struct look *look, const struct dir *dir)
{
	struct err err = {0};
	struct store *store = stores_get(&look->stores, dir->uri, &err);
	int rc = -1;

	if (store && observe_directory(look->ask->storage, dir->uri, &err) == 0)
		rc = dir->kind == SNAPSHOT_CHECKPOINT
			     ? snapshots_list_jobs(store, dir->uri, NULL, on_snapshot, look, &err)
			     : snapshots_list_savepoints(store, dir->uri, on_snapshot, look, &err);
	/* an object store has no directories: it was seen to be empty */
	if (rc < 0 && !(store && err.kind == ERR_ABSENT && store_list_page(store) > 1))
		give_up(look, dir->uri, &err);
}

/* One that something names, wherever it is. */
static void add_named(struct look *look, const char *path, bool stays)
{
	cleanup_free char *uri = NULL;
	struct gc_snapshot *there;
	struct store_stat stat;
	struct store *store;
	struct err err = {0};

	if (!path)
		return;
	there = gc_find_snapshot(look->gc, path);
	if (there) {
		there->named = there->named || stays;
		return;
	}
	uri = snapshots_metadata_uri(path);
	store = stores_get(&look->stores, uri, &err);
	if (store && store_stat(store, uri, &stat, &err) == 0) {
		struct gc_snapshot snapshot = {.path = (char *)path,
					       .kind = SNAPSHOT_SAVEPOINT,
					       .unix_ms = stat.mtime_unix_ms,
					       .named = true};

		add_snapshot(look, &snapshot);
	} else if (stays || err.kind != ERR_ABSENT || store_stat(store, path, &stat, NULL) == 0) {
		/* Flink can recover from one without its _metadata, or with another name of it; but
		 * to what does it refer? */
		give_up(look, path, &err);
	}
}

static void add_all_named(struct look *look)
{
	const struct gc_facts_ask *ask = look->ask;
	const struct journal *journal = ask->journal;

	for (size_t i = 0; i < ask->named_count; i++)
		add_named(look, ask->named[i], true);
	add_named(look, ask->initial, false);
	add_named(look, journal->intent.restore.path, false);
	add_named(look, journal->handover.savepoint, false);
	add_named(look, journal->outcome.savepoint, false);
	for (size_t i = 0; i < journal->snapshot_count; i++)
		add_named(look, journal->snapshots[i].path, false);
	for (size_t i = 0; i < journal->launch_count; i++) {
		add_named(look, journal->launches[i].restore_path, false);
		add_named(look, journal->launches[i].last_checkpoint_path, false);
	}
}

static void list_snapshots(struct look *look)
{
	for (size_t i = 0; i < look->dir_count; i++)
		list_dir(look, &look->dirs[i]);
	add_all_named(look);
}

/* ---- directories of dead launches ---- */

static int on_leaf(void *ctx, const struct store_leaf *leaf, struct err *err)
{
	struct look *look = ctx;

	if (!gc_add_file(look->gc, leaf->name, leaf->stat.size_bytes, leaf->stat.mtime_unix_ms,
			 leaf->odd))
		return err_set(err, ERR_FORMAT, 0, "there are too many files");
	return gc_facts_tell(look, "files of dead launches", look->gc->file_count, err);
}

static void list_tree(struct look *look, enum gc_tree_kind kind, const char *given,
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
		give_up(look, dir, &err);
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
static void list_trees(struct look *look, enum gc_tree_kind kind, const char *top)
{
	const char *prefix = kind == GC_TREE_BLOBS ? "job_" : "";
	struct names names = {.journal = look->ask->journal, .prefix = prefix};
	struct err err = {0};
	struct store *store = stores_get(&look->stores, top, &err);

	if (!store ||
	    (store_list(store, top, note_job, &names, &err) < 0 && err.kind != ERR_ABSENT))
		give_up(look, top, &err);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *name = xasprintf("%s%s", prefix, names.ids[i]);
		cleanup_free char *dir = uri_join(top, name);

		list_tree(look, kind, dir, names.ids[i]);
	}
	free(names.ids);
}

static void on_result(void *ctx, const char *dir, const char *job_id)
{
	list_tree(ctx, GC_TREE_RESULTS, dir, job_id);
}

static void list_all_trees(struct look *look)
{
	for (size_t i = 0; i < look->dir_count; i++)
		if (look->dirs[i].kind == SNAPSHOT_CHECKPOINT)
			list_trees(look, GC_TREE_JOB, look->dirs[i].uri);
	if (look->ask->result_dir)
		list_trees(look, GC_TREE_RESULTS, look->ask->result_dir);
	for (size_t i = 0; i < look->ask->blob_dir_count; i++)
		list_trees(look, GC_TREE_BLOBS, look->ask->blob_dirs[i]);
	gc_results(look->ask->journal, on_result, look);
}

/* ---- content ---- */

static void check_snapshots(struct look *look)
{
	int index;

	while (!look->gc->unreadable &&
	       (index = gc_next_check(look->gc, look->ask->journal)) >= 0) {
		struct gc_snapshot *snapshot = &look->gc->snapshots[index];
		struct verify_report report;
		struct err err = {0};

		snapshot->check = GC_CHECK_DAMAGED;
		if (gc_facts_tell(look, "the newest snapshots", 0, &err) < 0)
			give_up(look, snapshot->path, &err);
		else if (verify_snapshot(look->ask->storage, snapshot->path, &report, NULL) == 0) {
			if (report.verdict == VERIFY_COMPLETE)
				snapshot->check = GC_CHECK_COMPLETE;
			verify_release(&report);
		}
	}
}

static void read_references(struct look *look)
{
	for (size_t i = 0; i < look->gc->snapshot_count && !look->gc->unreadable; i++) {
		struct gc_snapshot *snapshot = &look->gc->snapshots[i];
		struct err err = {0};

		if (!snapshot->retained || snapshot->read || snapshot->gone)
			continue;
		if (gc_facts_tell(look, "what snapshots refer to", i, &err) == 0 &&
		    gc_refs_read(&look->stores, snapshot->path, look->gc, &err) == 0) {
			snapshot->read = true;
		} else if (err.kind == ERR_ABSENT) {
			snapshot->gone = true;
			look->news = true;
		} else {
			give_up(look, snapshot->path, &err);
		}
	}
}

static void gc_facts_read(struct look *look)
{
	list_snapshots(look);
	/* this takes the most memory, and gives it back */
	check_snapshots(look);
	mem_give_back();
	list_all_trees(look);
	gc_retain(look->gc, look->ask->journal);
	read_references(look);
	look->later = true;
	for (int round = 1; look->news && !look->gc->unreadable; round++) {
		if (round == GC_FACTS_ROUNDS) {
			gc_set_unreadable(look->gc,
					  "the snapshots change faster than they can be read");
			return;
		}
		look->news = false;
		list_snapshots(look);
		read_references(look);
	}
}

void gc_facts(const struct gc_facts_ask *ask, struct gc *gc)
{
	struct look look = {.ask = ask, .gc = gc, .stores = {.config = ask->storage}};

	find_dirs(&look);
	gc_facts_read(&look);
	stores_release(&look.stores);
	for (size_t i = 0; i < look.dir_count; i++)
		free(look.dirs[i].uri);
	free(look.dirs);
}
