/* gc: a verdict for each file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/gc/gc_internal.h"

#define MINUTE_MS INT64_C(60000)

/* ---- what stops it ---- */

char *gc_journal_stops(const struct gc *gc, const struct journal *journal)
{
	const struct launch *last = journal_launch_const(journal);
	int64_t proven_ms = last ? gc->now_unix_ms - last->proven_unix_ms : 0;

	if (!last)
		return xstrdup("the journal has no launch");
	if (last->mismatched || journal->outcome.kind == OUTCOME_RESTORE_MISMATCH)
		return xasprintf("launch %jd has restored something else than was decided",
				 (intmax_t)last->number);
	/* MUT: the last launch need not be proven */
	if (!last->proven_unix_ms)
		return xasprintf("launch %jd has not completed a checkpoint yet",
				 (intmax_t)last->number);
	if (proven_ms < gc->policy.grace_ms)
		return xasprintf("launch %jd completed its first checkpoint less than %jd min ago",
				 (intmax_t)last->number,
				 (intmax_t)((gc->policy.grace_ms + MINUTE_MS - 1) / MINUTE_MS));
	if (gc_request_waits(journal))
		return xstrdup("a restore request has not been carried out yet");
	if (handover_is_under_way(&journal->handover))
		return xstrdup("a hand-over is under way");
	return NULL;
}

/* Is it known to which files of others the last launch may refer? */
static bool last_is_covered(const struct gc *gc, const struct journal *journal)
{
	const struct launch *last = journal_launch_const(journal);

	/* a savepoint has its own files */
	if (!last->restore_path || last->restore_kind == SNAPSHOT_SAVEPOINT)
		return true;
	for (size_t i = 0; i < gc->snapshot_count; i++) {
		const struct gc_snapshot *snapshot = &gc->snapshots[i];

		if (snapshot->read && !snapshot->gone &&
		    ((snapshot->kind == SNAPSHOT_CHECKPOINT &&
		      !strcmp(snapshot->job_id, last->job_id)) ||
		     snapshot_same_path(snapshot->path, last->restore_path)))
			return true;
	}
	return false;
}

/* Files of snapshots need more than results. */
static char *what_is_missing(const struct gc *gc, const struct journal *journal)
{
	if (gc->unreadable)
		return xstrdup(gc->unreadable);
	/* MUT: the last launch needs no usable snapshot */
	if (!gc_has_complete(gc, journal, journal->launch_count - 1))
		return xstrdup("no complete snapshot of the last launch was found");
	/* MUT: the last launch may refer to anything */
	if (!last_is_covered(gc, journal) || !gc_has_read_last(gc, journal, NULL))
		return xstrdup("no snapshot of the last launch could be read");
	for (size_t i = 0; i < gc->snapshot_count; i++)
		/* MUT: a snapshot that stays need not be read */
		if (gc->snapshots[i].retained && !gc->snapshots[i].read && !gc->snapshots[i].gone)
			return xasprintf("%s was not read", gc->snapshots[i].path);
	return gc_contradiction(gc, journal);
}

bool gc_still_holds(const struct journal *then, const struct journal *now, const char **ret_why)
{
	const struct launch *a = journal_launch_const(then), *b = journal_launch_const(now);

	*ret_why = NULL;
	if (!a || !b || a->number != b->number || strcmp(a->job_id, b->job_id) != 0 ||
	    then->launch_count != now->launch_count)
		*ret_why = "there is another launch";
	else if (b->mismatched || then->outcome.kind != now->outcome.kind)
		*ret_why = "the job has ended";
	else if (gc_request_waits(now))
		*ret_why = "a restore was requested";
	else if (handover_is_under_way(&now->handover))
		*ret_why = "a hand-over is under way";
	return *ret_why == NULL;
}

/* ---- the checkpoints of one job ---- */

struct chk {
	int64_t id;
	bool metadata; /* there is a _metadata */
	const struct gc_snapshot *snapshot;
};

struct chks {
	struct chk *list; /* sorted by id */
	size_t count;
};

static int by_checkpoint(const void *left, const void *right)
{
	const struct chk *a = left, *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

static struct chk *chk_find(const struct chks *chks, int64_t id)
{
	const struct chk key = {.id = id};

	return chks->list ? bsearch(&key, chks->list, chks->count, sizeof(key), by_checkpoint)
			  : NULL;
}

static void list_ids(const struct gc *gc, const struct gc_tree *tree, struct chks *chks)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t cap = 0, kept = 0;

	for (size_t i = tree->first; i < tree->first + tree->count; i++) {
		int64_t id = gc_checkpoint_of_file(gc, &gc->files[i], &text, NULL);

		if (!id || (chks->count && chks->list[chks->count - 1].id == id))
			continue;
		if (chks->count == cap) {
			cap = cap ? 2 * cap : 16;
			chks->list = xreallocarray(chks->list, cap, sizeof(*chks->list));
		}
		chks->list[chks->count++] = (struct chk){.id = id};
	}
	if (!chks->count)
		return;
	qsort(chks->list, chks->count, sizeof(*chks->list), by_checkpoint);
	for (size_t i = 0; i < chks->count; i++)
		if (!kept || chks->list[kept - 1].id != chks->list[i].id)
			chks->list[kept++] = chks->list[i];
	chks->count = kept;
}

static void chks_find(const struct gc *gc, const struct gc_tree *tree, struct chks *chks)
{
	cleanup_buf struct buf text = BUF_INIT;

	*chks = (struct chks){0};
	list_ids(gc, tree, chks);
	for (size_t i = tree->first; i < tree->first + tree->count; i++) {
		const struct gc_file *file = &gc->files[i];
		const char *rest;
		int64_t id = gc_checkpoint_of_file(gc, file, &text, &rest);
		struct chk *chk = id ? chk_find(chks, id) : NULL;

		if (chk && !strcmp(rest, "_metadata"))
			chk->metadata = true;
	}
	for (size_t i = 0; i < gc->snapshot_count && chks->count; i++) {
		const struct gc_snapshot *snapshot = &gc->snapshots[i];
		struct chk *chk;

		if (snapshot->kind != SNAPSHOT_CHECKPOINT ||
		    strcmp(snapshot->job_id, tree->job_id) != 0)
			continue;
		chk = chk_find(chks, snapshot->checkpoint_id);
		/* one of several in different directories: the one that stays counts */
		if (chk && (!chk->snapshot || snapshot->retained))
			chk->snapshot = snapshot;
	}
}

void gc_unfinished(const struct gc *gc, gc_checkpoint_fn *fn, void *ctx)
{
	for (size_t i = 0; i < gc->tree_count; i++) {
		struct chks chks;

		if (gc->trees[i].kind != GC_TREE_JOB)
			continue;
		chks_find(gc, &gc->trees[i], &chks);
		for (size_t k = 0; k < chks.count; k++) {
			cleanup_free char *dir = xasprintf("%s/chk-%jd", gc->trees[i].dir,
							   (intmax_t)chks.list[k].id);

			if (!chks.list[k].metadata &&
			    (!chks.list[k].snapshot || chks.list[k].snapshot->lost))
				fn(ctx, dir);
		}
		free(chks.list);
	}
}

/* ---- one file ---- */

static bool is_strange(const struct gc_file *file)
{
	return file->odd || file->undated;
}

static enum gc_reason judge_in_checkpoint(const struct gc *gc, const struct chk *chk,
					  const char *rest)
{
	const struct gc_snapshot *snapshot = chk->snapshot;

	if (snapshot && snapshot->retained)
		return GC_RETAINED;
	/* MUT: a file goes with its checkpoint although another refers to it */
	if (gc_is_referred(gc, rest))
		return GC_REFERRED;
	/* it is complete, but was not seen as such */
	if (chk->metadata && (!snapshot || snapshot->lost))
		return GC_STRANGE;
	return snapshot ? GC_REPLACED : GC_UNFINISHED;
}

static enum gc_reason judge_known(const struct gc *gc, const struct gc_tree *tree, const char *name,
				  const struct chks *chks)
{
	const char *rest;
	int64_t id = gc_checkpoint_of(name, &rest);

	switch (gc_known_name(tree->kind, name)) {
	case GC_KNOWN_NOT:
		return gc_is_referred(gc, name) ? GC_REFERRED : GC_STRANGE;
	case GC_KNOWN_CHECKPOINT:
		return id ? judge_in_checkpoint(gc, chk_find(chks, id), rest) : GC_STRANGE;
	case GC_KNOWN_SHARED:
		/* MUT: shared files are deleted although snapshots refer to them */
		return gc_is_referred(gc, name) ? GC_REFERRED : GC_UNREFERENCED;
	case GC_KNOWN_TASK_OWNED:
		return GC_TASK_OWNED;
	case GC_KNOWN_RESULT:
		return GC_RESULT;
	case GC_KNOWN_BLOB:
		return GC_BLOB;
	}
	return GC_STRANGE;
}

static enum gc_reason judge_file(const struct gc *gc, const struct gc_tree *tree,
				 const struct gc_file *file, const struct chks *chks)
{
	cleanup_buf struct buf text = BUF_INIT;

	return is_strange(file) ? GC_STRANGE
				: judge_known(gc, tree, gc_name(gc, file, &text), chks);
}

static enum gc_reason judge_in_ha(const struct gc *gc, const struct gc_tree *tree,
				  const struct gc_file *file, const struct journal *journal)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (is_strange(file))
		return GC_STRANGE;
	/* MUT: what Flink's ConfigMaps refer to goes */
	if (gc_is_referred(gc, gc_name(gc, file, &text)))
		return GC_HA_NAMED;
	switch (gc_job_of(gc, journal, tree->job_id)) {
	case GC_JOB_LAST:
		return GC_NEEDED;
	case GC_JOB_FOREIGN:
		return GC_UNPROVEN;
	case GC_JOB_RECENT:
	case GC_JOB_OLD:
		break;
	}
	return gc_is_active(tree, journal) ? GC_ACTIVE : GC_HA;
}

bool gc_needs_snapshots(enum gc_tree_kind kind)
{
	return kind == GC_TREE_JOB || kind == GC_TREE_HA;
}

/* The same for all files of the tree? Else GC_REASON_COUNT. */
static enum gc_reason judge_tree(const struct gc *gc, const struct gc_tree *tree,
				 const struct journal *journal)
{
	enum gc_job job = gc_job_of(gc, journal, tree->job_id);

	if (gc->stop && (!gc->only_jobs || gc_needs_snapshots(tree->kind)))
		return GC_STOPPED;
	if (tree->kind == GC_TREE_HA)
		return GC_REASON_COUNT;
	if (job == GC_JOB_LAST)
		return GC_NEEDED;
	if (job == GC_JOB_FOREIGN)
		return GC_STRANGE;
	return gc_is_active(tree, journal) ? GC_ACTIVE : GC_REASON_COUNT;
}

static void judge_files(struct gc *gc, struct gc_tree *tree, const struct journal *journal)
{
	enum gc_reason whole = judge_tree(gc, tree, journal);
	struct chks chks = {0};

	if (tree->kind == GC_TREE_JOB && whole == GC_REASON_COUNT)
		chks_find(gc, tree, &chks);
	for (size_t i = tree->first; i < tree->first + tree->count; i++) {
		struct gc_file *file = &gc->files[i];
		enum gc_reason reason = whole;

		if (whole == GC_REASON_COUNT && tree->kind == GC_TREE_HA)
			reason = judge_in_ha(gc, tree, file, journal);
		else if (whole == GC_REASON_COUNT)
			reason = judge_file(gc, tree, file, &chks);
		file->reason = (uint8_t)reason;
		file->verdict = (uint8_t)gc_reason_verdict(reason);
		tree->sums[reason].files++;
		tree->sums[reason].bytes += file->size_bytes;
	}
	free(chks.list);
}

void gc_judge(struct gc *gc, const struct journal *journal)
{
	memset(gc->sums, 0, sizeof(gc->sums));
	free(gc->stop);
	gc->only_jobs = false;
	gc->stop = gc_journal_stops(gc, journal);
	if (!gc->stop) {
		gc->stop = what_is_missing(gc, journal);
		gc->only_jobs = gc->stop != NULL;
	}
	for (size_t i = 0; i < gc->tree_count; i++) {
		struct gc_tree *tree = &gc->trees[i];

		memset(tree->sums, 0, sizeof(tree->sums));
		judge_files(gc, tree, journal);
		for (int k = 0; k < GC_REASON_COUNT; k++) {
			gc->sums[k].files += tree->sums[k].files;
			gc->sums[k].bytes += tree->sums[k].bytes;
		}
	}
}

void gc_set_reason(struct gc *gc, struct gc_tree *tree, struct gc_file *file, enum gc_reason reason)
{
	struct gc_sum *sums[] = {&tree->sums[file->reason], &gc->sums[file->reason],
				 &tree->sums[reason], &gc->sums[reason]};

	for (size_t i = 0; i < ARRAY_LEN(sums); i++) {
		sums[i]->files += i < 2 ? -1 : 1;
		sums[i]->bytes += i < 2 ? -file->size_bytes : file->size_bytes;
	}
	file->reason = (uint8_t)reason;
	file->verdict = (uint8_t)gc_reason_verdict(reason);
}

void gc_stop_all(struct gc *gc, const char *why)
{
	xstrset(&gc->stop, why);
	gc->only_jobs = false;
	for (size_t t = 0; t < gc->tree_count; t++) {
		struct gc_tree *tree = &gc->trees[t];

		for (size_t i = tree->first; i < tree->first + tree->count; i++)
			if (gc->files[i].verdict == GC_DELETE)
				gc_set_reason(gc, tree, &gc->files[i], GC_STOPPED);
	}
}

bool gc_goes_first(const struct gc *gc, const struct gc_file *file)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *rest;

	return gc_checkpoint_of_file(gc, file, &text, &rest) && !strcmp(rest, "_metadata");
}
