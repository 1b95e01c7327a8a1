/* gc: which launches are dead, and which snapshots stay. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/gc/gc_internal.h"

#define JOB_DIGITS       (JOB_ID_BYTES - 1)
#define SAVEPOINT_DIGITS 6
#define CHECKS_PER_JOB   3  /* snapshots of one launch whose files are looked up */
#define MAX_ID_DIGITS    18 /* always fits in 63 bits */

int64_t gc_checkpoint_of(const char *name, const char **ret_rest)
{
	const char *digits = name + 4;
	size_t len;

	if (strncmp(name, "chk-", 4) != 0)
		return 0;
	len = strspn(digits, "0123456789");
	if (!len || len > MAX_ID_DIGITS || (digits[len] && digits[len] != '/'))
		return 0;
	if (ret_rest)
		*ret_rest = digits[len] ? digits + len + 1 : "";
	return strtoll(digits, NULL, 10);
}

int64_t gc_checkpoint_of_file(const struct gc *gc, const struct gc_file *file, struct buf *text,
			      const char **ret_rest)
{
	const char *dir = packed_dir(&gc->names, file->name);

	/* cheaper than the whole name */
	if (*dir && strncmp(dir, "chk-", 4) != 0)
		return 0;
	return gc_checkpoint_of(gc_name(gc, file, text), ret_rest);
}

bool gc_has_file_of(const struct gc *gc, const struct gc_snapshot *snapshot, size_t name_len)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < gc->tree_count; i++) {
		const struct gc_tree *tree = &gc->trees[i];

		if (tree->kind != GC_TREE_JOB || !snapshot_is_under(snapshot->path, tree->dir))
			continue;
		for (size_t k = tree->first; k < tree->first + tree->count; k++) {
			const char *rest = NULL;
			int64_t id = gc_checkpoint_of_file(gc, &gc->files[k], &text, &rest);

			/* no rest: the file is of no checkpoint, not of one whose id is 0 */
			if (rest && id == snapshot->checkpoint_id &&
			    (!name_len || strlen(rest) == name_len))
				return true;
		}
	}
	return false;
}

/* ---- launches ---- */

int gc_newest_of_job(const struct journal *journal, const char *job_id)
{
	for (size_t i = journal->launch_count; i-- > 0;)
		if (!strcmp(journal->launches[i].job_id, job_id))
			return (int)i;
	return -1;
}

bool gc_is_job_id(const char *job_id)
{
	return strlen(job_id) == JOB_DIGITS && strspn(job_id, "0123456789abcdef") == JOB_DIGITS;
}

enum gc_job gc_job_of(const struct gc *gc, const struct journal *journal, const char *job_id)
{
	int index;

	if (!gc_is_job_id(job_id))
		return GC_JOB_FOREIGN;
	index = gc_newest_of_job(journal, job_id);
	if (index < 0)
		return journal_is_former_job(journal, job_id) ? GC_JOB_OLD : GC_JOB_FOREIGN;
	/* MUT: the directory of the last launch is judged */
	if (index == (int)journal->launch_count - 1)
		return GC_JOB_LAST;
	return index >= (int)gc->floor ? GC_JOB_RECENT : GC_JOB_OLD;
}

bool gc_wants_job(const struct journal *journal, const char *job_id)
{
	static const struct gc none;
	enum gc_job job = gc_job_of(&none, journal, job_id);

	return job == GC_JOB_RECENT || job == GC_JOB_OLD;
}

bool gc_ha_needs(const struct journal *journal, const struct candidate *candidate)
{
	const char *job_id;

	/* damaged: it is proven that Flink cannot */
	if (!candidate->in_ha || candidate->recovery == INTEGRITY_DAMAGED)
		return false;
	for (size_t i = 0; (job_id = facts_ha_job(candidate, i)); i++)
		/* MUT: what Flink could recover from is not protected */
		if (!gc_wants_job(journal, job_id))
			return true;
	return false;
}

/* Is `name` the last name of the directory? Then it belongs to this launch alone. */
static bool ends_with(const char *dir, const char *name)
{
	const char *last = dir ? strrchr(dir, '/') : NULL;

	return last && *name && !strcmp(last + 1, name);
}

void gc_results(const struct journal *journal,
		void (*fn)(void *ctx, const char *dir, const char *job_id), void *ctx)
{
	for (size_t i = 0; i + 1 < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];
		cleanup_free char *application =
			xasprintf("application-%s", launch->application_id);
		int newest = gc_newest_of_job(journal, launch->job_id);

		if (newest != (int)i) /* a later one continues it, and has the same directories */
			continue;
		if (ends_with(launch->job_result_path, launch->launch_id) ||
		    ends_with(launch->job_result_path, launch->job_id))
			fn(ctx, launch->job_result_path, launch->job_id);
		if (*launch->application_id &&
		    ends_with(launch->application_result_path, application))
			fn(ctx, launch->application_result_path, launch->job_id);
	}
}

/* ---- complete snapshots ---- */

bool gc_is_of(const struct gc_snapshot *snapshot, const struct launch *launch)
{
	if (snapshot->kind == SNAPSHOT_CHECKPOINT)
		return !strcmp(snapshot->job_id, launch->job_id);
	return strlen(snapshot->job_id) == SAVEPOINT_DIGITS &&
	       !strncmp(snapshot->job_id, launch->job_id, SAVEPOINT_DIGITS);
}

/* Several launches may have one job id: the newest of them counts. */
static bool counts(const struct journal *journal, size_t index)
{
	const struct launch *launch = &journal->launches[index];

	return !launch->mismatched && gc_newest_of_job(journal, launch->job_id) == (int)index;
}

bool gc_has_complete(const struct gc *gc, const struct journal *journal, size_t index)
{
	for (size_t i = 0; i < gc->snapshot_count; i++)
		if (gc->snapshots[i].check == GC_CHECK_COMPLETE &&
		    gc_is_of(&gc->snapshots[i], &journal->launches[index]))
			return true;
	return false;
}

/* Checkpoints first: their files are those that concern us. */
static bool is_better(const struct gc_snapshot *a, const struct gc_snapshot *b)
{
	if (a->kind != b->kind)
		return a->kind == SNAPSHOT_CHECKPOINT;
	if (a->checkpoint_id != b->checkpoint_id)
		return a->checkpoint_id > b->checkpoint_id;
	return a->unix_ms > b->unix_ms;
}

static int best_unchecked(const struct gc *gc, const struct launch *launch)
{
	int best = -1, checked = 0;

	for (size_t i = 0; i < gc->snapshot_count; i++) {
		const struct gc_snapshot *snapshot = &gc->snapshots[i];

		if (!gc_is_of(snapshot, launch) || snapshot->lost)
			continue;
		if (snapshot->check != GC_CHECK_NONE)
			checked++;
		else if (best < 0 || is_better(snapshot, &gc->snapshots[best]))
			best = (int)i;
	}
	return checked < CHECKS_PER_JOB ? best : -1;
}

int gc_next_check(const struct gc *gc, const struct journal *journal)
{
	int64_t complete = 0;

	for (size_t i = journal->launch_count; i-- > 0 && complete <= gc->policy.keep_launches;) {
		int best;

		if (!counts(journal, i))
			continue;
		if (gc_has_complete(gc, journal, i)) {
			complete++;
			continue;
		}
		best = best_unchecked(gc, &journal->launches[i]);
		if (best >= 0)
			return best;
		if (i == journal->launch_count - 1)
			return -1; /* then nothing is deleted */
	}
	return -1;
}

/* The oldest launch that is needed as a way back. False: there are not enough; all are needed. */
static bool find_floor(const struct gc *gc, const struct journal *journal, size_t *ret_floor)
{
	int64_t complete = 0;

	for (size_t i = journal->launch_count; i-- > 0;)
		if (counts(journal, i) && gc_has_complete(gc, journal, i) &&
		    ++complete > gc->policy.keep_launches) {
			*ret_floor = i;
			return true;
		}
	return false;
}

/* ---- what stays ---- */

bool gc_request_waits(const struct journal *journal)
{
	const struct restore_request *restore = &journal->intent.restore;

	return restore->kind != RESTORE_NONE && !journal_is_consumed(journal, restore->token);
}

/* The same checkpoint, however its path is spelled. */
static bool is_named_by(const char *path, const struct gc_snapshot *snapshot)
{
	const char *job = path ? strstr(path, snapshot->job_id) : NULL;

	for (; job; job = strstr(job + 1, snapshot->job_id))
		if (job[JOB_DIGITS] == '/' &&
		    gc_checkpoint_of(job + JOB_DIGITS + 1, NULL) == snapshot->checkpoint_id)
			return true;
	return false;
}

/* The restore point of a launch that is kept is needed as well. If a person has requested it, it is the only
 * state before that launch, because everything between the two is abandoned. */
static bool is_needed_by_journal(const struct gc *gc, const struct journal *journal,
				 const struct gc_snapshot *snapshot)
{
	for (size_t i = gc->floor; i < journal->launch_count; i++)
		if (is_named_by(journal->launches[i].restore_path, snapshot))
			return true;
	return is_named_by(journal->intent.restore.path, snapshot) ||
	       is_named_by(journal->handover.savepoint, snapshot) ||
	       is_named_by(journal->disposing, snapshot) ||
	       is_named_by(journal->operation.path, snapshot);
}

static bool is_path_of(const char *path, const struct gc_snapshot *snapshot)
{
	return snapshot->kind == SNAPSHOT_CHECKPOINT && *snapshot->job_id
		       ? is_named_by(path, snapshot)
		       : path && snapshot_same_path(path, snapshot->path);
}

bool gc_was_completed(const struct journal *journal, const struct gc_snapshot *snapshot)
{
	for (size_t i = 0; i < journal->launch_count; i++)
		if (is_path_of(journal->launches[i].last_checkpoint_path, snapshot) ||
		    is_path_of(journal->launches[i].restore_path, snapshot))
			return true;
	for (size_t i = 0; i < journal->snapshot_count; i++)
		if (is_path_of(journal->snapshots[i].path, snapshot))
			return true;
	return is_path_of(journal->outcome.savepoint, snapshot) ||
	       is_path_of(journal->handover.savepoint, snapshot);
}

bool gc_is_active(const struct gc_tree *tree, const struct journal *journal)
{
	/* MUT: a job that still writes counts as dead */
	return tree->newest_unix_ms > journal->launches[journal->launch_count - 1].proven_unix_ms;
}

/* Deleting it means to delete files of a tree: without one it stays. */
static const struct gc_tree *tree_of(const struct gc *gc, const struct gc_snapshot *snapshot)
{
	for (size_t i = 0; i < gc->tree_count; i++) {
		const struct gc_tree *tree = &gc->trees[i];

		if (tree->kind == GC_TREE_JOB && !strcmp(tree->job_id, snapshot->job_id) &&
		    snapshot_is_under(snapshot->path, tree->dir))
			return tree;
	}
	return NULL;
}

static bool may_go(const struct gc *gc, const struct journal *journal,
		   const struct gc_snapshot *snapshot)
{
	const struct launch *floor = &journal->launches[gc->floor];
	const struct gc_tree *tree;
	int64_t unix_ms;

	if (snapshot->kind != SNAPSHOT_CHECKPOINT || snapshot->checkpoint_id <= 0 ||
	    snapshot->named || gc_job_of(gc, journal, snapshot->job_id) != GC_JOB_OLD ||
	    is_needed_by_journal(gc, journal, snapshot))
		return false;
	tree = tree_of(gc, snapshot);
	if (!tree || gc_is_active(tree, journal))
		return false;
	/* without its _metadata it is at most as young as the rest of its tree */
	unix_ms = snapshot->lost ? tree->newest_unix_ms : snapshot->unix_ms;
	return unix_ms > 0 && unix_ms < floor->intended_unix_ms &&
	       unix_ms + gc->policy.keep_ms <= gc->now_unix_ms;
}

void gc_retain(struct gc *gc, const struct journal *journal)
{
	bool found = find_floor(gc, journal, &gc->floor);

	if (!found)
		gc->floor = 0;
	for (size_t i = 0; i < gc->snapshot_count; i++)
		gc->snapshots[i].retained = !found || !may_go(gc, journal, &gc->snapshots[i]);
}

void gc_retain_but(struct gc *gc, const char *path)
{
	for (size_t i = 0; i < gc->snapshot_count; i++)
		gc->snapshots[i].retained = !snapshot_same_path(gc->snapshots[i].path, path);
}

bool gc_has_read_last(const struct gc *gc, const struct journal *journal, const char *but)
{
	for (size_t i = 0; i < gc->snapshot_count; i++) {
		const struct gc_snapshot *snapshot = &gc->snapshots[i];

		if (snapshot->read && !snapshot->gone &&
		    gc_is_of(snapshot, journal_launch_const(journal)) &&
		    !(but && snapshot_same_path(snapshot->path, but)))
			return true;
	}
	return false;
}
