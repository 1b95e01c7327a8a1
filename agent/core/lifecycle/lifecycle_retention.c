/*
 * Disposes of old savepoints: one at a time, through Flink, announced in the journal first, and
 * only if the newest one, which stays, was just verified. One to whose files another snapshot refers
 * is passed over, and asked about again later. A disposal that an agent's death
 * interrupted is repeated: disposing of what is already deleted fails harmlessly.
 */
#include "core/lifecycle/lifecycle_retention.h"

#include "base/mem.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_blockers.h"
#include "core/lifecycle/lifecycle_effects.h"

/* After a failed disposal: its cause (a missing permission) seldom goes away within minutes. */
#define FAILED_PAUSE_MS (60 * 60 * INT64_C(1000))

/* After the one that stays could not be read. */
#define UNREAD_PAUSE_MS (10 * 60 * INT64_C(1000))

/* Announce it, then dispose. */
static void begin_disposal(struct lifecycle *life, const struct snapshot *oldest)
{
	xstrset(&life->journal.disposing, oldest->path);
	ask_begin(life, ASK_DISPOSAL, journal_launch(&life->journal)->job_id, oldest->path);
}

/* At every poll: savepoints age over time, and a job that restarts every few minutes is proven only
 * briefly. */
void retention_pursue(struct lifecycle *life)
{
	/* MUT: a job in the shadow deletes savepoints of the owner */
	if (life->config->handover.shadow)
		return;
	if (blockers(life, BEGIN_RETENTION))
		return;
	if (!retention_next(&life->config->retention, &life->journal, life->now_unix_ms)) {
		xstrset(&life->journal.disposing, NULL);
		return;
	}
	ask_begin(life, ASK_KEEPER, NULL, retention_keeper(&life->journal)->path);
}

/* After a disposal, what stays may be different. */
static void keeper_is_damaged(struct lifecycle *life, const char *path, const char *error)
{
	for (size_t i = 0; i < life->journal.snapshot_count; i++)
		if (snapshot_same_path(life->journal.snapshots[i].path, path))
			life->journal.snapshots[i].verified = false;
	life->want_write = true;
	note(life, NOTE_WARNING,
	     "the newest savepoint %s is damaged, so an older one is kept instead: %s", path,
	     error ? error : "no detail");
}

/* It may have been deleted, and the wait may have no end: a person has to know. Once for each that stays. */
static void keeper_is_unread(struct lifecycle *life, const char *path, const char *error)
{
	life->disposal_ms = life->now_ms + UNREAD_PAUSE_MS;
	/* MUT: that retention waits is not said */
	if (xstrsame(life->keeper_unread, path))
		return;
	xstrset(&life->keeper_unread, path);
	note(life, NOTE_WARNING,
	     "savepoints.retention waits: the newest savepoint %s, which is to stay, cannot be read, so no older one is deleted: %s; if it was deleted, take another one (`drey savepoint`)",
	     path, error ? error : "no detail");
}

void keeper_read(struct lifecycle *life, const struct event *event)
{
	const struct snapshot *oldest;

	if (!event->inspected.readable) {
		keeper_is_unread(life, event->inspected.path, event->inspected.error);
		return;
	}
	xstrset(&life->keeper_unread, NULL);
	/* MUT: an old savepoint is disposed of although the newest is damaged */
	if (!event->inspected.complete) {
		keeper_is_damaged(life, event->inspected.path, event->inspected.error);
		return;
	}
	oldest = retention_next(&life->config->retention, &life->journal, life->now_unix_ms);
	if (oldest && !blockers(life, BEGIN_DISPOSAL))
		begin_disposal(life, oldest);
}

/* What refers to it may go some day, so it is asked again. */
static void disposal_is_refused(struct lifecycle *life, const char *path, const char *why)
{
	for (size_t i = 0; i < life->journal.snapshot_count; i++) {
		struct snapshot *snapshot = &life->journal.snapshots[i];

		if (!snapshot_same_path(snapshot->path, path))
			continue;
		if (!snapshot->needed_unix_ms)
			note(life, NOTE_INFO, "the old savepoint %s stays: %s", path, why);
		snapshot->needed_unix_ms = life->now_unix_ms;
	}
}

void disposal_answered(struct lifecycle *life, const struct event *event)
{
	const char *path = event->disposed.path, *error = event->disposed.error;

	xstrset(&life->journal.disposing, NULL);
	life->want_write = true;
	if (event->disposed.needed) {
		disposal_is_refused(life, path, event->disposed.needed);
		return;
	}
	if (error) {
		life->disposal_ms = life->now_ms + FAILED_PAUSE_MS;
		note(life, NOTE_WARNING, "could not dispose of the old savepoint %s: %s", path,
		     error);
		return;
	}
	journal_remove_snapshot(&life->journal, path);
	note(life, NOTE_INFO, "disposed of the old savepoint %s", path);
}
