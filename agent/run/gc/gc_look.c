#include "run/gc/gc_look.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "core/resolve/lineage_dirs.h"
#include "format/metadata.h"
#include "run/gc/gc_refs.h"
#include "run/observe/observe.h"
#include "store/snapshots.h"
#include "store/uri.h"

#define TELL_EVERY 1000
/* Flink deletes the _metadata of a checkpoint first, then its other files: so long may that take. */
#define GONE_LOOKS    6
#define GONE_PAUSE_MS 50 /* doubled each time */

void gc_look_fail(struct gc_look *look, const char *what, const struct err *err)
{
	cleanup_free char *why = xasprintf("%s cannot be read: %s", what, err->msg);

	gc_set_unreadable(look->gc, why);
}

int gc_look_tell(struct gc_look *look, const char *what, size_t done, struct err *err)
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

/* The same directory may have been called otherwise: by a link, or by another name of its scheme. */
static bool is_same_dir(const struct gc_look_dir *dir, const char *uri,
			const struct store_identity *identity)
{
	if (snapshot_same_path(dir->uri, uri))
		return true;
	return dir->identity.uri && identity->uri &&
	       store_relate(&dir->identity, identity) == STORE_SAME;
}

static void add_dir(struct gc_look *look, enum snapshot_kind kind, const char *uri)
{
	struct store_identity identity = {0};
	char *spelled;

	if (!uri)
		return;
	(void)store_identity(uri, &identity, NULL);
	for (size_t i = 0; i < look->dir_count; i++)
		if (look->dirs[i].kind == kind && is_same_dir(&look->dirs[i], uri, &identity)) {
			store_identity_release(&identity);
			return;
		}
	look->dirs = xreallocarray(look->dirs, look->dir_count + 1, sizeof(*look->dirs));
	spelled = uri_canonical(uri);
	look->dirs[look->dir_count++] =
		(struct gc_look_dir){kind, spelled ? spelled : xstrdup(uri), identity};
}

bool gc_look_lists(const struct gc_look *look, const char *uri)
{
	struct store_identity identity = {0};
	bool found = false;

	(void)store_identity(uri, &identity, NULL);
	for (size_t i = 0; i < look->dir_count && !found; i++)
		found = look->dirs[i].kind == SNAPSHOT_CHECKPOINT &&
			is_same_dir(&look->dirs[i], uri, &identity);
	store_identity_release(&identity);
	return found;
}

/* Those of the configuration, and all that a launch has ever used. */
static void find_dirs(struct gc_look *look)
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

static int add_snapshot(struct gc_look *look, const struct gc_snapshot *snapshot)
{
	struct gc_snapshot *added = gc_add_snapshot(look->gc, snapshot);

	if (added) {
		look->news = true;
		added->retained = look->later;
	}
	return added != NULL;
}

static void contradict(struct gc_look *look, const char *path, const char *what)
{
	cleanup_free char *why = xasprintf("%s contradicts itself: %s", path, what);

	/* MUT: a snapshot that is listed and not found is no reason to stop */
	gc_set_unreadable(look->gc, why);
}

/* It is listed, without a _metadata. One that was seen with it is looked at when it is read. */
static void note_incomplete(struct gc_look *look, const struct gc_snapshot *snapshot)
{
	struct gc_snapshot lost = *snapshot;

	if (gc_find_snapshot(look->gc, snapshot->path) ||
	    !gc_was_completed(look->ask->journal, snapshot))
		return;
	lost.lost = true;
	lost.unix_ms = 0;
	add_snapshot(look, &lost);
}

static void note_complete(struct gc_look *look, const struct gc_snapshot *snapshot)
{
	const struct gc_snapshot *there = gc_find_snapshot(look->gc, snapshot->path);

	if (there && (there->gone || there->lost))
		contradict(look, snapshot->path,
			   "its _metadata was not found before, and is listed now");
	add_snapshot(look, snapshot);
}

static int on_snapshot(void *ctx, const struct snapshots_item *item, struct err *err)
{
	struct gc_look *look = ctx;
	struct gc_snapshot snapshot = {
		.path = (char *)item->path,
		.kind = item->kind == SNAPSHOTS_CHECKPOINT ? SNAPSHOT_CHECKPOINT
							   : SNAPSHOT_SAVEPOINT,
		.checkpoint_id = item->checkpoint_id > 0 ? item->checkpoint_id : 0,
		.unix_ms = item->mtime_unix_ms,
	};

	memcpy(snapshot.job_id, item->job_id, strlen(item->job_id) + 1);
	if (item->state == SNAPSHOTS_UNREADABLE)
		gc_look_fail(look, item->path, item->why);
	else if (item->state == SNAPSHOTS_INCOMPLETE)
		note_incomplete(look, &snapshot);
	else
		note_complete(look, &snapshot);
	return gc_look_tell(look, "snapshots", look->gc->snapshot_count, err);
}

static void list_dir(struct gc_look *look, const struct gc_look_dir *dir)
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
		gc_look_fail(look, dir->uri, &err);
}

/* One that something names, wherever it is. */
static void add_named(struct gc_look *look, const char *path, bool stays)
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
		gc_look_fail(look, path, &err);
	}
}

static void add_all_named(struct gc_look *look)
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

void gc_look_list(struct gc_look *look)
{
	for (size_t i = 0; i < look->dir_count; i++)
		list_dir(look, &look->dirs[i]);
	add_all_named(look);
}

/* ---- what they refer to ---- */

struct content_of {
	bool metadata;
	size_t others;
};

static int note_name(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct content_of *dir = ctx;

	(void)err;
	if (!strcmp(entry->name, METADATA_NAME))
		dir->metadata = true;
	else
		dir->others++;
	return 0;
}

static void pause_ms(int64_t ms)
{
	struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};

	nanosleep(&pause, NULL);
}

/* Its _metadata was not found. Nothing is left of it: it was deleted. Something is: as long as its _metadata
 * is listed, or other files are, its references are not known. */
static void look_for_rest(struct gc_look *look, struct gc_snapshot *snapshot)
{
	const char *path = snapshot->path;
	cleanup_free char *dir = snapshots_dir_uri(path);
	struct content_of found = {0};

	for (int i = 0; i < GONE_LOOKS; i++) {
		struct err err = {0};
		struct store *store = stores_get(&look->stores, dir, &err);

		if (i)
			pause_ms((int64_t)GONE_PAUSE_MS << (i - 1));
		found = (struct content_of){0};
		if (!store || store_look_again(store, dir, &err) < 0 ||
		    (store_list(store, dir, note_name, &found, &err) < 0 &&
		     err.kind != ERR_ABSENT)) {
			gc_look_fail(look, dir, &err);
			return;
		}
		if (found.metadata)
			break;
		if (!found.others) {
			snapshot->gone = true;
			look->news = true;
			return;
		}
	}
	contradict(look, dir,
		   found.metadata ? "its _metadata is listed, and reading it answers \"not found\""
				  : "it was completed, and has files, but no _metadata");
}

static void refer(void *ctx, const struct metadata_file *file)
{
	struct gc_look *look = ctx;

	/* MUT: references to files of other snapshots are not read */
	gc_body_refer(&look->body, look->gc, look->ask->journal, file->path, file->relative);
}

static void take_read(struct gc_look *look, struct gc_snapshot *snapshot)
{
	cleanup_free char *other = gc_body_is_of_another(&look->body, look->gc);

	snapshot->read = true;
	if (other)
		contradict(look, snapshot->path, other);
	/* MUT: a checkpoint that no listing has with its metadata is not asked for it */
	if (snapshot->lost)
		contradict(look, snapshot->path, "its _metadata is there, and was not listed");
}

static void read_snapshot(struct gc_look *look, size_t index)
{
	struct gc_snapshot *snapshot = &look->gc->snapshots[index];
	struct err err = {0};

	look->reading = snapshot->path;
	gc_body_begin(&look->body, look->gc, index);
	if (gc_look_tell(look, "what snapshots refer to", index, &err) < 0)
		gc_look_fail(look, snapshot->path, &err);
	else if (gc_refs_read(&look->stores, snapshot->path, snapshot->checkpoint_id, look->refer,
			      look->refer_ctx, &err) == 0)
		take_read(look, snapshot);
	else if (err.kind == ERR_ABSENT || err.kind == ERR_CONTRADICTED)
		look_for_rest(look, snapshot);
	else
		gc_look_fail(look, snapshot->path, &err);
}

void gc_look_read(struct gc_look *look)
{
	for (size_t i = 0; i < look->gc->snapshot_count && !look->gc->unreadable; i++) {
		const struct gc_snapshot *snapshot = &look->gc->snapshots[i];

		if (snapshot->retained && !snapshot->read && !snapshot->gone)
			read_snapshot(look, i);
	}
}

void gc_look_again(struct gc_look *look)
{
	look->later = true;
	for (int round = 1; look->news && !look->gc->unreadable; round++) {
		if (round == GC_FACTS_ROUNDS) {
			gc_set_unreadable(look->gc,
					  "the snapshots change faster than they can be read");
			return;
		}
		look->news = false;
		gc_look_list(look);
		gc_look_read(look);
	}
}

void gc_look_begin(struct gc_look *look, const struct gc_facts_ask *ask, struct gc *gc)
{
	*look = (struct gc_look){
		.ask = ask,
		.gc = gc,
		.stores = {.config = ask->storage},
		.refer = refer,
		.refer_ctx = look,
	};
	find_dirs(look);
}

void gc_look_end(struct gc_look *look)
{
	stores_release(&look->stores);
	for (size_t i = 0; i < look->dir_count; i++) {
		store_identity_release(&look->dirs[i].identity);
		free(look->dirs[i].uri);
	}
	free(look->dirs);
}
