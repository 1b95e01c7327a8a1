/* observe_list: the snapshots under one directory, the newest of them kept. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/resolve/resolve.h"
#include "run/observe/observe_internal.h"
#include "store/snapshots.h"
#include "store/uri.h"

#define PROGRESS_EVERY 64

/* ---- a shelf: the newest of many ---- */

struct kept {
	char *path, *why;
	char job_id[JOB_ID_BYTES];
	enum snapshots_state state;
	int64_t checkpoint_id;
	int64_t size_bytes;   /* of _metadata */
	int64_t rank_unix_ms; /* its date; one that cannot be looked at may be the newest of all */
};

struct shelf {
	struct kept *items; /* up to 2 * limit, in no order until pruned */
	size_t count, limit, left_out;
	int64_t floor_unix_ms; /* what is older than this is not among the newest `limit` */
};

static int newest_first(const void *left, const void *right)
{
	const struct kept *a = left, *b = right;

	if (a->rank_unix_ms != b->rank_unix_ms)
		return a->rank_unix_ms > b->rank_unix_ms ? -1 : 1;
	if (a->checkpoint_id != b->checkpoint_id)
		return a->checkpoint_id > b->checkpoint_id ? -1 : 1;
	return strcmp(a->path, b->path);
}

static void kept_release(struct kept *item)
{
	free(item->path);
	free(item->why);
}

static void shelf_prune(struct shelf *shelf)
{
	if (shelf->count)
		qsort(shelf->items, shelf->count, sizeof(*shelf->items), newest_first);
	for (; shelf->count > shelf->limit; shelf->left_out++)
		kept_release(&shelf->items[--shelf->count]);
	if (shelf->count == shelf->limit)
		shelf->floor_unix_ms = shelf->items[shelf->count - 1].rank_unix_ms;
}

static void shelf_put(struct shelf *shelf, const struct snapshots_item *item)
{
	int64_t rank_unix_ms = item->state == SNAPSHOTS_UNREADABLE ? INT64_MAX
			       : item->mtime_unix_ms > 0           ? item->mtime_unix_ms
								   : 0;
	struct kept *kept;

	if (rank_unix_ms < shelf->floor_unix_ms) {
		shelf->left_out++;
		return;
	}
	if (!shelf->items)
		shelf->items = xcalloc(2 * shelf->limit, sizeof(*shelf->items));
	if (shelf->count == 2 * shelf->limit)
		shelf_prune(shelf);
	kept = &shelf->items[shelf->count++];
	*kept = (struct kept){.path = xstrdup(item->path),
			      .state = item->state,
			      .checkpoint_id = item->checkpoint_id,
			      .size_bytes = item->size_bytes,
			      .rank_unix_ms = rank_unix_ms};
	if (item->state == SNAPSHOTS_UNREADABLE)
		kept->why = xstrdup(item->why ? item->why->msg : "not readable");
	snprintf(kept->job_id, sizeof(kept->job_id), "%s", item->job_id);
}

static void shelf_release(struct shelf *shelf)
{
	for (size_t i = 0; i < shelf->count; i++)
		kept_release(&shelf->items[i]);
	free(shelf->items);
}

/* ---- one listing ---- */

struct listing {
	struct look *look;
	const char *dir;
	enum source_kind source;
	enum snapshot_kind kind;
	bool only_ours; /* whatever the policy: others have a right to be there */
	struct shelf ours, foreign;
	size_t found, aside; /* aside: of other jobs, and those are not wanted */
	size_t left_out;
};

/* It shows that the journal is lost, too. */
static void trace(const struct listing *ls, const char *job_id, const char *path)
{
	observe_note_id(ls->look, job_id);
	if (observe_is_lost(ls->look->plan) && observe_is_numbered(ls->look, job_id))
		facts_add_trace(ls->look->facts, &(struct trace){.kind = TRACE_ID,
								 .name = (char *)job_id,
								 .path = (char *)path,
								 .surely_ours = true});
}

static bool is_wanted(void *ctx, const char *job_id)
{
	const struct listing *ls = ctx;
	cleanup_free char *path = uri_join(ls->dir, job_id);

	trace(ls, job_id, path);
	return !(ls->look->plan->only_job_ids || ls->only_ours) ||
	       observe_is_ours(ls->look, job_id);
}

/* Others may keep there what this user may not read, under a name that Flink does not give. Without a journal it may be all
 * that there is. */
static bool is_private(const struct listing *ls, const struct snapshots_item *item)
{
	return ls->kind == SNAPSHOT_SAVEPOINT && !*item->job_id &&
	       item->state == SNAPSHOTS_UNREADABLE && item->why->kind == ERR_DENIED &&
	       !observe_is_lost(ls->look->plan);
}

static int found(void *ctx, const struct snapshots_item *item, struct err *err)
{
	struct listing *ls = ctx;
	const struct observe_plan *plan = ls->look->plan;

	(void)err;
	ls->found++;
	if (ls->kind == SNAPSHOT_SAVEPOINT)
		trace(ls, item->job_id, item->path);
	if (plan->progress && ls->found % PROGRESS_EVERY == 0)
		plan->progress(plan->progress_ctx, ls->source, ls->found);
	if (is_private(ls, item))
		ls->aside++;
	else if (observe_is_ours(ls->look, item->job_id))
		shelf_put(&ls->ours, item);
	else if (plan->only_job_ids)
		ls->aside++;
	else
		shelf_put(&ls->foreign, item);
	return 0;
}

/* With a _metadata it would be the newest of its job, as far as was listed. */
static bool may_be_newest(const struct shelf *shelf, const struct kept *kept)
{
	for (size_t i = 0; i < shelf->count; i++)
		if (shelf->items[i].state == SNAPSHOTS_COMPLETE &&
		    shelf->items[i].checkpoint_id > kept->checkpoint_id &&
		    !strcmp(shelf->items[i].job_id, kept->job_id))
			return false;
	return true;
}

static void add_shelf(struct listing *ls, struct shelf *shelf, bool ours)
{
	bool savepoints = ls->kind == SNAPSHOT_SAVEPOINT;
	struct facts *facts = ls->look->facts;

	shelf_prune(shelf);
	for (size_t i = 0; i < shelf->count; i++) {
		const struct kept *kept = &shelf->items[i];
		struct snapshot snapshot = {
			.path = kept->path, /* copied by facts_add() */
			.kind = ls->kind,
			.checkpoint_id = kept->checkpoint_id > 0 ? kept->checkpoint_id : 0,
			.size_bytes = -1,
			.file_count = -1,
		};
		struct candidate *c;

		if (kept->state == SNAPSHOTS_COMPLETE) {
			snapshot.completed_unix_ms = kept->rank_unix_ms;
			snapshot.metadata_unix_ms = kept->rank_unix_ms;
			snapshot.metadata_bytes = kept->size_bytes;
		}
		memcpy(snapshot.job_id, kept->job_id, sizeof(snapshot.job_id));
		c = facts_add(facts, ls->source, &snapshot);
		c->listed_unix_ms = facts->now_unix_ms;
		if (kept->state == SNAPSHOTS_INCOMPLETE)
			observe_set(c, INTEGRITY_INCOMPLETE,
				    "no _metadata: it was never completed");
		else if (kept->state == SNAPSHOTS_UNREADABLE)
			observe_set(c, INTEGRITY_UNREADABLE, kept->why);
		else if (savepoints && ours && ls->look->plan->heads_later)
			c->unread = true;
		else if (savepoints && ours)
			observe_note_peek(ls->look, c);
		/* the listing is not the only one to be asked */
		if (!savepoints && kept->state == SNAPSHOTS_INCOMPLETE &&
		    may_be_newest(shelf, kept))
			observe_note_peek(ls->look, c);
	}
	ls->left_out += shelf->left_out;
}

/* May the operation in flight have left it? resolve_settle.c knows better, but not what was not listed. */
static bool may_be_result(const struct observe_plan *plan, const struct snapshots_item *item)
{
	return item->state != SNAPSHOTS_INCOMPLETE && *item->job_id &&
	       !strncmp(plan->operation_job, item->job_id, strlen(item->job_id)) &&
	       (item->mtime_unix_ms < 0 ||
		item->mtime_unix_ms + OPERATION_CLOCK_MS >= plan->operation_unix_ms);
}

static bool has_kept(const struct shelf *shelf, const char *path)
{
	for (size_t i = 0; i < shelf->count; i++)
		if (!strcmp(shelf->items[i].path, path))
			return true;
	return false;
}

static int found_again(void *ctx, const struct snapshots_item *item, struct err *err)
{
	const struct listing *ls = ctx;

	if (!may_be_result(ls->look->plan, item) || has_kept(&ls->ours, item->path) ||
	    has_kept(&ls->foreign, item->path))
		return 0;
	return err_set(err, ERR_CONTRADICTED, 0,
		       "a second listing has %s, and the first one had not", item->path);
}

/*
 * The name of a savepoint is random, so what the operation in flight has left cannot be asked for by name. Without it the
 * operation has failed, and after a stop the job would go on from a checkpoint behind what that has committed: two listings
 * must agree.
 */
static int list_for_result(struct listing *ls, struct store *store, const char *dir,
			   struct err *err)
{
	/* MUT: one listing without its savepoint makes a stop fail */
	if (ls->kind != SNAPSHOT_SAVEPOINT || !*ls->look->plan->operation_job)
		return 0;
	return snapshots_list_savepoints(store, dir, found_again, ls, err);
}

static int list(struct listing *ls, const char *dir, struct err *err)
{
	struct look *look = ls->look;
	struct store *store = stores_get(&look->stores, dir, err);
	int result;

	if (!store)
		return -1;
	/* The listing itself will say so of an object store. */
	if (store_list_page(store) == 1 && observe_directory(look->plan->storage, dir, err) < 0)
		return -1;
	/* A newer checkpoint of another job must be seen, unless it was said to be none of our
	 * business. */
	if (ls->kind == SNAPSHOT_SAVEPOINT)
		result = snapshots_list_savepoints(store, dir, found, ls, err);
	else
		result = snapshots_list_jobs(store, dir, is_wanted, found, ls, err);
	/* MUT: no snapshots at all on the word of one listing */
	if (result < 0 && err->kind == ERR_ABSENT)
		return observe_confirm_absent(store, dir, err);
	return result < 0 ? result : list_for_result(ls, store, dir, err);
}

static void describe(const struct listing *ls, struct buf *text)
{
	buf_addf(text, "%zu found", ls->found);
	if (ls->aside)
		buf_addf(text, ", %zu of other jobs ignored", ls->aside);
	if (ls->left_out)
		buf_addf(text, ", the newest %zu checked", ls->found - ls->aside - ls->left_out);
}

static void list_one(struct listing *ls, const char *dir)
{
	struct facts *facts = ls->look->facts;
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = {0};
	int result;

	ls->dir = dir;
	ls->ours.limit = OBSERVE_KEEP;
	ls->foreign.limit = OBSERVE_KEEP_FOREIGN;
	result = list(ls, dir, &err);
	/* Void when it has failed: what was found is shown all the same, and decides nothing. */
	add_shelf(ls, &ls->ours, true);
	add_shelf(ls, &ls->foreign, false);
	shelf_release(&ls->ours);
	shelf_release(&ls->foreign);
	facts->sources[ls->source].left_out += ls->left_out;
	describe(ls, &text);
	if (result < 0)
		facts_add_place(facts, ls->source, ls->kind, dir, SOURCE_UNREADABLE, err.msg);
	else
		facts_add_place(facts, ls->source, ls->kind, dir,
				ls->found ? SOURCE_PRESENT : SOURCE_ABSENT, buf_str(&text));
}

void observe_list(struct look *look, enum source_kind source, const char *dir)
{
	struct listing ls = {.look = look,
			     .source = source,
			     .kind = source == SOURCE_CHECKPOINTS ? SNAPSHOT_CHECKPOINT
								  : SNAPSHOT_SAVEPOINT};

	if (dir)
		list_one(&ls, dir);
	else
		facts_set_source(look->facts, source, SOURCE_NOT_CONFIGURED, NULL);
}

void observe_list_lineage(struct look *look, const struct lineage_dir *dir)
{
	struct listing ls = {.look = look,
			     .source = SOURCE_LINEAGE,
			     .kind = dir->kind,
			     .only_ours = dir->only_ours};

	list_one(&ls, dir->dir);
}
