/*
 * Disposing of old savepoints: one at a time, by Flink, announced in the journal before, and only
 * when the newest one, which is to be left, has just been seen to be complete. What was
 * under way when an agent died is simply picked again: to dispose of what is gone only fails, and the
 * answer then is that it is gone.
 */
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_internal.h"

/* After a disposal that failed: the cause (a right that is missing) seldom goes away in minutes. */
#define FAILED_PAUSE_MS (60 * 60 * INT64_C(1000))
/* After what is to be left could not be read. */
#define UNREAD_PAUSE_MS (10 * 60 * INT64_C(1000))

/* Announce it, then let it go. */
static void begin_disposal(struct lifecycle *life, const struct snapshot *oldest)
{
	struct effect *effect = emit_after_write(life, EFFECT_DISPOSE);

	life->disposing = true;
	xstrset(&life->journal.disposing, oldest->path);
	effect->text = xstrdup(oldest->path);
	memcpy(effect->id, journal_launch(&life->journal)->job_id, JOB_ID_BYTES);
}

/* With every look at the job: age comes by itself, and a job that restarts every few minutes is proven for
 * a moment only. */
void retention_pursue(struct lifecycle *life)
{
	if (life->disposing || life->keeper || life->disposal_ms ||
	    life->seen.state != JOB_RUNNING || !life->seen.reachable ||
	    life->phase != PHASE_RUNNING)
		return;
	if (!retention_next(&life->config->retention, &life->journal, life->now_unix_ms)) {
		xstrset(&life->journal.disposing, NULL);
		return;
	}
	life->keeper = xstrdup(retention_keeper(&life->journal)->path);
	emit(life, EFFECT_INSPECT)->text = xstrdup(life->keeper);
}

/* What is to be left after a disposal is not what it was. */
static void keeper_is_damaged(struct lifecycle *life, const char *path, const char *error)
{
	for (size_t i = 0; i < life->journal.snapshot_count; i++)
		if (snapshot_same_path(life->journal.snapshots[i].path, path))
			life->journal.snapshots[i].verified = false;
	life->want_write = true;
	note(life, NOTE_WARNING,
	     "the newest savepoint %s is damaged, so an older one is kept in its place: %s", path,
	     error ? error : "no detail");
}

bool retention_inspected(struct lifecycle *life, const struct event *event)
{
	const struct snapshot *oldest;

	if (!life->keeper || !event->inspected.path ||
	    strcmp(event->inspected.path, life->keeper) != 0)
		return false;
	xstrset(&life->keeper, NULL);
	if (!event->inspected.readable) {
		life->disposal_ms = life->now_ms + UNREAD_PAUSE_MS;
		return true;
	}
	if (!event->inspected.complete) {
		keeper_is_damaged(life, event->inspected.path, event->inspected.error);
		return true;
	}
	oldest = retention_next(&life->config->retention, &life->journal, life->now_unix_ms);
	if (oldest && !life->terminating && life->phase == PHASE_RUNNING && life->step == STEP_NONE)
		begin_disposal(life, oldest);
	return true;
}

void on_disposed(struct lifecycle *life, const struct event *event)
{
	const char *path = event->disposed.path, *error = event->disposed.error;

	if (!life->disposing)
		return;
	life->disposing = false;
	if (life->fenced)
		return;
	xstrset(&life->journal.disposing, NULL);
	life->want_write = true;
	if (error) {
		life->disposal_ms = life->now_ms + FAILED_PAUSE_MS;
		note(life, NOTE_WARNING, "the old savepoint %s could not be disposed of: %s", path,
		     error);
		return;
	}
	journal_remove_snapshot(&life->journal, path);
	note(life, NOTE_INFO, "the old savepoint %s was disposed of", path);
}
