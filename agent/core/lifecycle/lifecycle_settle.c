/*
 * An operation that Flink's end interrupted. Its result cannot be queried any more, but a completed
 * savepoint is in storage and is then the newest state: it must be found before the next start, and
 * before the operation counts as failed. An answer of Flink that was in transit when it died counts
 * as well.
 */
#include "core/lifecycle/lifecycle_settle.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_ended.h"
#include "core/lifecycle/lifecycle_ids.h"
#include "core/lifecycle/lifecycle_launch.h"
#include "core/lifecycle/lifecycle_loss.h"
#include "core/lifecycle/lifecycle_operation.h"
#include "core/lifecycle/lifecycle_pursue.h"
#include "core/lifecycle/lifecycle_state.h"
#include "core/lifecycle/lifecycle_stop_failed.h"
#include "core/lifecycle/lifecycle_take_checkpoint.h"
#include "core/resolve/lineage.h"

void operation_flink_gone(struct lifecycle *life)
{
	const struct operation_result *last = &life->journal.last_operation;
	enum operation_kind kind = life->journal.operation.kind;
	bool saves = kind == OPERATION_SAVEPOINT || kind == OPERATION_STOP;

	checkpoint_flink_gone(life);
	stop_flink_gone(life);
	if (kind == OPERATION_NONE)
		return;
	/* its success is recorded; the previous agent only waited for Flink's exit */
	if (last->ok && !strcmp(last->trigger_id, life->journal.operation.trigger_id)) {
		operation_clear(life);
		return;
	}
	if (life->operation.step == STEP_ENDING && (life->end_wanted || life->stop_location)) {
		if (!life->end_wanted) /* it exited before its final state was seen */
			operation_record_end(life);
		if (kind == OPERATION_STOP && !life->stop_location)
			operation_begin_settling(life);
		else
			operation_clear(life);
		return;
	}
	/* one that was never sent has left nothing */
	if (saves && !withdraw(life, EFFECT_TRIGGER))
		operation_begin_settling(life);
	else
		operation_abandon(life, "Flink exited during the operation");
}

/* No Flink runs, so this applies to what is gathered or decided now. */
static void decide_again(struct lifecycle *life)
{
	if (life->observing)
		life->observe_again = true;
	if (life->launch_step != LAUNCH_WRITING)
		return;
	launch_withdraw(life);
	resolve_start(life, "the previous Flink reported a savepoint after its end");
}

/* Does this answer belong to the operation in the journal? */
static bool is_answer(const struct operation *operation, const char *trigger_id)
{
	return operation->kind != OPERATION_NONE && trigger_id &&
	       !strcmp(operation->trigger_id, trigger_id);
}

void operation_told(struct lifecycle *life, const struct event *event)
{
	const struct operation *operation = &life->journal.operation;
	bool current = is_answer(operation, event->operation.trigger_id);
	const char *job = current ? operation->job_id : event->operation.job_id;
	const char *location = event->operation.location;
	struct snapshot told = {
		.path = (char *)(uintptr_t)location,
		.kind = SNAPSHOT_SAVEPOINT,
		.origin = current ? operation_origin(operation) : ORIGIN_FOUND,
		.format = current ? operation->format : FORMAT_UNKNOWN,
		.completed_unix_ms = life->now_unix_ms,
		.size_bytes = -1,
		.file_count = -1,
	};
	int maker;

	if (life->fenced || !location)
		return;
	snprintf(told.job_id, sizeof(told.job_id), "%s", job ? job : "");
	maker = lineage_maker(&life->journal, &told);
	if (current && life->stop_location) /* the result is already known */
		return;
	if (maker < 0 || life->journal.launches[maker].mismatched ||
	    journal_snapshot(&life->journal, location))
		return;
	memcpy(told.job_id, life->journal.launches[maker].job_id, JOB_ID_BYTES);
	launch_has_left_state(life, &life->journal.launches[maker]);
	journal_add_snapshot(&life->journal, &told);
	life->want_write = true;
	if (current && life->operation.step != STEP_SETTLING)
		return;
	note(life, NOTE_WARNING, "Flink reported %s after its operation was over: it counts",
	     location);
	decide_again(life);
}

/*
 * Flink has reported it as complete, or it was verified once: that its _metadata is not found is one answer
 * against that, and no damage. It is as if it could not be read: it stays on record, so no older start passes
 * it over. A review asks Flink whether it is still there, because checkpoints are deleted all the time.
 */
static bool was_read(const struct candidate *candidate, bool background)
{
	/* MUT: a savepoint that is not found once is damaged */
	if (candidate->integrity == INTEGRITY_INCOMPLETE && !background)
		return false;
	return candidate->integrity != INTEGRITY_UNREADABLE;
}

void inspection_says(const struct candidate *candidate, bool background, struct event *ret_event)
{
	const struct snapshot *snapshot = &candidate->snapshot;

	*ret_event =
		(struct event){.type = EVENT_INSPECTED,
			       .inspected = {.path = snapshot->path,
					     .readable = was_read(candidate, background),
					     .complete = candidate->integrity == INTEGRITY_COMPLETE,
					     .checkpoint_id = snapshot->checkpoint_id,
					     .size_bytes = snapshot->size_bytes,
					     .file_count = snapshot->file_count,
					     .error = candidate->detail,
					     .background = background}};
}

void operation_disprove(struct lifecycle *life, const char *location)
{
	const struct snapshot *known = journal_snapshot(&life->journal, location);

	if (!known || known->verified)
		return;
	journal_remove_snapshot(&life->journal, location);
	life->want_write = true;
}

/* `passed`: the job continued after it. */
static void record_found(struct lifecycle *life, const struct candidate *c, bool passed)
{
	const struct operation *operation = &life->journal.operation;
	struct snapshot found = c->snapshot; /* borrows the path */

	/* it may have been requested from outside at the same time: drey must not delete it */
	found.origin = ORIGIN_FOUND;
	memcpy(found.job_id, operation->job_id, JOB_ID_BYTES);
	if (!found.completed_unix_ms)
		found.completed_unix_ms = life->now_unix_ms;
	if (found.verified && !found.verified_unix_ms)
		found.verified_unix_ms = life->now_unix_ms;
	found.metadata_version = c->metadata_version;
	journal_add_snapshot(&life->journal, &found);
	loss_saved(life, found.path, operation->started_unix_ms);
	if (passed)
		operation_record(life, false, found.path,
				 "the job continued after this savepoint: it was not stopped");
	else
		operation_record(life, true, found.path, NULL);
	operation_remember(life, operation);
}

static void record_failure(struct lifecycle *life, const struct candidate *damaged)
{
	const char *why = damaged ? (damaged->detail ? damaged->detail : "no detail")
				  : "there is no savepoint of it in its target directory";
	char *error = xasprintf("Flink exited during the operation; %s%s",
				damaged ? "its savepoint is damaged: " : "", why);

	operation_record(life, false, damaged ? damaged->snapshot.path : NULL, error);
	/* a failed savepoint answers its request, too */
	if (life->journal.operation.reason == REASON_MANUAL)
		operation_remember(life, &life->journal.operation);
	free(error);
}

void operation_settle(struct lifecycle *life, const struct event *event)
{
	const struct decision *decision = event->observed.decision;
	const struct candidate *c = decision->settled == NO_CANDIDATE
					    ? NULL
					    : &event->observed.facts->candidates[decision->settled];
	const bool passed = decision->settlement == SETTLEMENT_PASSED;

	if (life->operation.step != STEP_SETTLING || decision->settlement == SETTLEMENT_NONE ||
	    decision->settlement == SETTLEMENT_OPEN)
		return;
	/* the Flink elsewhere may still complete it */
	if (life->own->looks_early)
		return;
	if (c && !passed &&
	    life->journal.operation.kind == OPERATION_STOP) /* that is how it ended */
		launch_end_is_known(life, life->journal.operation.job_id);
	if (c && (passed || decision->settlement == SETTLEMENT_MADE))
		record_found(life, c, passed);
	else
		record_failure(life, c);
	operation_clear(life);
}
