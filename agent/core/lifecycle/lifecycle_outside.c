/*
 * What others do to the job: in Flink's UI, with its command line, over REST. Their savepoints
 * become candidates like drey's own, but drey never disposes of them; their stop is a request and
 * not a finished job.
 */
#include "core/lifecycle/lifecycle_outside.h"

#include <inttypes.h>
#include <string.h>

#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_state.h"

/* The newest recorded one of this launch. Flink still remembers older ones that were disposed
 * of. */
static int64_t newest_recorded(const struct journal *journal)
{
	const struct launch *launch = journal_launch_const(journal);
	int64_t newest = launch->restore_checkpoint_id;

	for (size_t i = 0; i < journal->snapshot_count; i++) {
		const struct snapshot *s = &journal->snapshots[i];

		if (s->kind == SNAPSHOT_SAVEPOINT && !strcmp(s->job_id, launch->job_id) &&
		    s->checkpoint_id > newest)
			newest = s->checkpoint_id;
	}
	return newest;
}

static void record(struct lifecycle *life, const struct seen_savepoint *seen)
{
	struct snapshot snapshot = {
		.path = (char *)(uintptr_t)seen->path,
		.kind = SNAPSHOT_SAVEPOINT,
		.origin = ORIGIN_FOUND,
		.checkpoint_id = seen->id,
		.completed_unix_ms =
			seen->completed_unix_ms ? seen->completed_unix_ms : life->now_unix_ms,
		.size_bytes = -1,
		.file_count = -1,
	};

	memcpy(snapshot.job_id, journal_launch(&life->journal)->job_id, JOB_ID_BYTES);
	journal_add_snapshot(&life->journal, &snapshot);
	life->want_write = true;
	note(life, NOTE_INFO,
	     "%s %s (checkpoint id %" PRId64
	     ") was requested from outside drey; it counts, and drey never deletes it",
	     seen->stop ? "a stop with savepoint" : "a savepoint", seen->path, seen->id);
}

/* The result of an operation has only a path. Its checkpoint id decides the order: a checkpoint
 * that began earlier and completed later is older. */
static void learn_ids(struct lifecycle *life, const struct view *view)
{
	for (size_t i = 0; i < life->journal.snapshot_count; i++) {
		struct snapshot *s = &life->journal.snapshots[i];

		for (size_t k = 0; k < view->savepoint_count && !s->checkpoint_id; k++) {
			if (!snapshot_same_path(s->path, view->savepoints[k].path))
				continue;
			s->checkpoint_id = view->savepoints[k].id;
			life->want_write = true;
		}
	}
}

void outside_savepoints(struct lifecycle *life, const struct view *view)
{
	int64_t known, newest;

	if (view->statistics_known)
		learn_ids(life, view);
	/* one that appears during an operation may be its result */
	if (!view->statistics_known || life->journal.operation.kind != OPERATION_NONE ||
	    journal_launch(&life->journal)->mismatched)
		return;
	newest = known = newest_recorded(&life->journal);
	if (life->seen.savepoint_id > known)
		newest = known = life->seen.savepoint_id;
	for (size_t i = 0; i < view->savepoint_count; i++) {
		const struct seen_savepoint *seen = &view->savepoints[i];
		const char *last = life->journal.last_operation.location;

		if (seen->id <= known)
			continue;
		if (seen->id > newest)
			newest = seen->id;
		if (!journal_snapshot(&life->journal, seen->path) &&
		    !(last && snapshot_same_path(last, seen->path)))
			record(life, seen);
	}
	life->seen.savepoint_id = newest;
}

const struct seen_savepoint *shown_stop(const struct view *view)
{
	const struct seen_savepoint *newest = NULL;

	for (size_t i = 0; i < view->savepoint_count; i++)
		if (!newest || view->savepoints[i].id > newest->id)
			newest = &view->savepoints[i];
	return newest && newest->stop && newest->id > view->completed_id ? newest : NULL;
}

const struct seen_savepoint *outside_stop(struct lifecycle *life, const struct view *view)
{
	const struct seen_savepoint *stop = shown_stop(view);
	const struct snapshot *snapshot =
		stop ? journal_snapshot(&life->journal, stop->path) : NULL;

	/* not recorded because a savepoint of drey is in flight; that one stops nothing */
	if (stop && !snapshot && life->journal.operation.kind == OPERATION_SAVEPOINT) {
		record(life, stop);
		return stop;
	}
	return snapshot && snapshot->origin == ORIGIN_FOUND ? stop : NULL;
}

/*
 * A person who turns do-not-restart on and then stops or cancels the job in Flink is working on it,
 * and ends that by turning it off: the stop is a suspension. So the setting counts that was in
 * force when the job was last known to run. It is recorded immediately, because the stop may follow
 * within a second, and the next drey may be the first to see it; and it is cleared only when a poll
 * shows the job running after do-not-restart was turned off.
 */
void watch_do_not_restart(struct lifecycle *life)
{
	struct launch *launch = journal_launch(&life->journal);

	if (life->launch_step != LAUNCH_LIVE || !launch || launch->job_ended ||
	    launch->do_not_restart || !life->journal.intent.do_not_restart)
		return;
	launch->do_not_restart = true;
	life->want_write = true;
}

void seen_without_do_not_restart(struct lifecycle *life)
{
	struct launch *launch = journal_launch(&life->journal);

	if (life->journal.intent.do_not_restart || !launch->do_not_restart || launch->job_ended ||
	    life->polled_ms < life->own->lifted_ms)
		return;
	launch->do_not_restart = false;
	life->want_write = true;
}
