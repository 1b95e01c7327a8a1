/*
 * A checkpoint now: one that a person has asked for, or the periodic full one. Flink takes it as any
 * other, so drey finds it in storage as any other, and nothing is lost when it is given up. That is the
 * difference from the operations: it keeps no stop waiting, and a start does not depend on its result.
 */
#include "core/lifecycle/lifecycle_take_checkpoint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_blockers.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_ids.h"
#include "core/lifecycle/lifecycle_notice.h"

/* Flink shows where a completed checkpoint is in statistics that it caches for 3 s. */
#define PATH_PATIENCE_MS 10000

/* ---- start and end ---- */

static void checkpoint_start(struct lifecycle *life, enum operation_reason reason, bool full)
{
	struct checkpoint_operation *checkpoint = &life->journal.checkpoint;

	*checkpoint = (struct checkpoint_operation){
		.reason = reason, .full = full, .started_unix_ms = life->now_unix_ms};
	rng_hex_id(&life->rng, checkpoint->trigger_id);
	memcpy(checkpoint->job_id, journal_launch(&life->journal)->job_id, JOB_ID_BYTES);
	if (reason == REASON_MANUAL)
		journal_join_checkpoint(&life->journal, checkpoint);
	life->full_checkpoint_ms = 0;
	ask_begin(life, ASK_CHECKPOINT, checkpoint->trigger_id, NULL);
	note(life, NOTE_INFO, "%scheckpoint (%s) requested", full ? "full " : "",
	     operation_reason_name(reason));
}

static void checkpoint_tell(struct lifecycle *life, const struct checkpoint_result *result)
{
	const struct checkpoint_operation *checkpoint = &life->journal.checkpoint;
	struct notice *notice = tell(life, NOTICE_OPERATION);

	notice->kind = OPERATION_CHECKPOINT;
	notice->reason = checkpoint->reason;
	notice->ok = result->ok;
	notice->checkpoint_id = result->checkpoint_id;
	if (checkpoint->started_unix_ms)
		notice->took_ms = life->now_unix_ms - checkpoint->started_unix_ms;
	notice->path = xstrdup(result->location);
	notice->text = xstrdup(result->error);
}

/* When the next periodic full one is due, but not within `pause_ms`. */
static void schedule_full(struct lifecycle *life, int64_t pause_ms)
{
	const struct journal *journal = &life->journal;
	const struct schedule schedule = {.interval_ms = life->config->full_checkpoint_ms};
	int64_t since_unix_ms = life->now_unix_ms, due_unix_ms;

	life->full_checkpoint_ms = 0;
	if (life->terminating || life->config->handover.shadow)
		return;
	/* a job that never runs for a whole interval gets one anyway */
	if (journal->launch_count && journal->launches[0].proven_unix_ms)
		since_unix_ms = journal->launches[0].proven_unix_ms;
	due_unix_ms = schedule_next_unix_ms(&schedule, journal->full_checkpoint_unix_ms,
					    since_unix_ms, life->now_unix_ms + pause_ms, 0);
	if (due_unix_ms >= 0)
		life->full_checkpoint_ms = life->now_ms + due_unix_ms - life->now_unix_ms;
}

void checkpoint_schedule(struct lifecycle *life)
{
	schedule_full(life, 0);
}

/* The answer to those who wait for it. */
static void checkpoint_ended(struct lifecycle *life, const struct checkpoint_result *result)
{
	struct checkpoint_operation *checkpoint = &life->journal.checkpoint;

	withdraw(life, EFFECT_TRIGGER_CHECKPOINT);
	journal_answer_checkpoint(&life->journal, checkpoint->trigger_id, result);
	if (result->ok && checkpoint->full)
		life->journal.full_checkpoint_unix_ms = life->now_unix_ms;
	if (result->ok)
		note(life, NOTE_INFO, "%scheckpoint (%s) done: %s (checkpoint id %" PRId64 ")",
		     checkpoint->full ? "full " : "", operation_reason_name(checkpoint->reason),
		     result->location ? result->location : "Flink does not show its path",
		     result->checkpoint_id);
	else
		note(life, NOTE_WARNING, "%scheckpoint (%s) failed: %s",
		     checkpoint->full ? "full " : "", operation_reason_name(checkpoint->reason),
		     result->error);
	checkpoint_tell(life, result);
	*checkpoint = (struct checkpoint_operation){0};
	ask_enter(&life->checkpoint, STEP_NONE);
	/* a failed periodic one is retried sooner than after a whole interval */
	if (life->phase == PHASE_RUNNING)
		schedule_full(life, result->ok
					    ? 0
					    : life->config->full_checkpoint_ms / 10 + ASK_AGAIN_MS);
	life->want_write = true;
}

void checkpoint_failed(struct lifecycle *life, const char *location, const char *error)
{
	(void)location;
	checkpoint_ended(life, &(struct checkpoint_result){.error = error});
}

void checkpoint_give_up(struct lifecycle *life, const char *why)
{
	bool sent = !find_deferred(life, EFFECT_TRIGGER_CHECKPOINT);

	if (!checkpoint_in_flight(life))
		return;
	checkpoint_failed(life, NULL, why);
	if (!sent)
		return;
	ask_enter(&life->checkpoint, STEP_LEFT);
	ask_again(life, &life->checkpoint, life->config->poll_fast_ms);
}

void checkpoint_forget(struct lifecycle *life)
{
	life->full_checkpoint_ms = 0;
	ask_enter(&life->checkpoint, STEP_NONE);
}

void checkpoint_flink_gone(struct lifecycle *life)
{
	if (*life->journal.checkpoint.trigger_id)
		checkpoint_failed(life, NULL, "Flink exited before it was complete");
	checkpoint_forget(life);
}

void checkpoint_adopt(struct lifecycle *life, enum ask_kind kind)
{
	const struct checkpoint_operation *checkpoint = &life->journal.checkpoint;

	if (!*checkpoint->trigger_id)
		return;
	/* an older drey, which does not know this member, may have carried it along */
	if (life->journal.operation.kind != OPERATION_NONE ||
	    strcmp(checkpoint->job_id, journal_launch(&life->journal)->job_id) != 0) {
		checkpoint_failed(life, NULL,
				  "drey was restarted, and something else is under way");
		return;
	}
	ask_adopt(life, kind, checkpoint->trigger_id, checkpoint->started_unix_ms);
}

void checkpoint_refuse(struct lifecycle *life)
{
	char *error;

	if (!journal_checkpoint_wanted(&life->journal))
		return;
	error = xasprintf("no job is running (%s), so no checkpoint can be taken",
			  phase_name(life->phase));
	journal_answer_checkpoint(&life->journal, "", &(struct checkpoint_result){.error = error});
	note(life, NOTE_WARNING, "checkpoint (manual) failed: %s", error);
	free(error);
	life->want_write = true;
}

bool checkpoint_pursue(struct lifecycle *life)
{
	const struct checkpoint_request *wanted = journal_checkpoint_wanted(&life->journal);

	if (wanted)
		checkpoint_start(life, REASON_MANUAL, wanted->full);
	else if (life->full_checkpoint_ms && life->now_ms >= life->full_checkpoint_ms &&
		 !blockers(life, BEGIN_FULL))
		checkpoint_start(life, REASON_PERIODIC, true);
	else
		return false;
	return true;
}

/* ---- answers ---- */

void checkpoint_unknown(struct lifecycle *life)
{
	if (life->checkpoint.deadline_ms)
		ask_repeat(life, &life->checkpoint);
	else
		checkpoint_failed(life, NULL, "Flink has forgotten the checkpoint");
}

void checkpoint_completed(struct lifecycle *life, const struct answer *answer)
{
	const struct checkpoint_result result = {
		.ok = true, .checkpoint_id = answer->checkpoint_id, .location = answer->location};
	struct ask *ask = &life->checkpoint;

	ask->step = STEP_POLLING;
	ask->deadline_ms = 0;
	if (!ask->path_by_ms)
		ask->path_by_ms = life->now_ms + PATH_PATIENCE_MS;
	if (!result.location && life->now_ms < ask->path_by_ms) {
		ask_again(life, ask, ASK_AGAIN_MS);
		return;
	}
	launch_has_left_state(life, journal_launch(&life->journal));
	checkpoint_ended(life, &result);
}

bool checkpoint_lost(struct lifecycle *life)
{
	if (!job_was_recovered(life, life->checkpoint.job_unix_ms, RECOVERED_MS))
		return false;
	checkpoint_failed(life, NULL, LOST_WITH_JOB_MASTER);
	return true;
}

void checkpoint_unaccepted(struct lifecycle *life)
{
	/* MUT: a checkpoint that Flink does not accept is awaited forever */
	checkpoint_give_up(life, "Flink did not accept it within 60 s");
}
