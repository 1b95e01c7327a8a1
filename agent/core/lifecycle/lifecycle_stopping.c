/*
 * The container ends. SIGTERM alone is no request to stop the job: an evicted Pod is started again
 * as it was, and then Flink's current state is the best one. When another generation follows, the
 * job is handed over as configured.
 */
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_internal.h"

/* How long the last journal write may delay the end of the container. */
#define EXIT_PATIENCE_MS 3000

/* Reserved at the end of the grace period: Flink's shutdown plus this, for the journal. */
#define JOURNAL_MARGIN_MS 1000

/* The job may have ended since the last poll. Flink answers within milliseconds. */
#define LOOK_PATIENCE_MS 1000
#define LOOK_GRACE_MS    5000 /* with less than this there is no time for it */

static enum operation_reason reason_of(const struct lifecycle *life, enum upgrade upgrade)
{
	return upgrade == UPGRADE_UNKNOWN && life->config->on_sigterm == SIGTERM_SAVEPOINT
		       ? REASON_TERMINATE
		       : REASON_UPGRADE;
}

/* Without an upgrade, last-state applies too. */
static enum upgrade_mode mode_of(const struct lifecycle *life, enum upgrade upgrade)
{
	const struct lifecycle_config *config = life->config;

	if (upgrade == UPGRADE_NO)
		return UPGRADE_BY_LAST_STATE;
	if (upgrade == UPGRADE_YES || config->on_sigterm == SIGTERM_UPGRADE)
		return config->upgrade;
	return config->on_sigterm == SIGTERM_SAVEPOINT ? UPGRADE_BY_SAVEPOINT
						       : UPGRADE_BY_LAST_STATE;
}

static void keep_state(struct lifecycle *life)
{
	end_flink(life, false, false,
		  "the container ends; the next launch continues from the newest state");
}

/* Configured, but impossible: use the newest checkpoint, and tell people. */
static void do_without_savepoint(struct lifecycle *life, const char *why)
{
	char *error = xasprintf("no savepoint taken, although one was requested: %s", why);

	journal_set_error(&life->journal, error, life->now_unix_ms);
	note(life, NOTE_WARNING, "%s; the next launch continues from the newest checkpoint", error);
	free(error);
	end_flink(life, false, false, "the container ends without a savepoint: %s", why);
}

static void stop_by(struct lifecycle *life, enum operation_reason reason, int64_t deadline_ms)
{
	operation_start(life, OPERATION_STOP, reason, NULL);
	life->operation_deadline_ms = deadline_ms;
}

/* A job that was just taken over was not polled yet. Flink reports soon if it is not ready. */
static bool may_save(const struct lifecycle *life)
{
	bool unseen = life->phase == PHASE_LAUNCHING && !life->seen.job_present;

	return life->phase == PHASE_RUNNING ||
	       (unseen && journal_launch_const(&life->journal)->verified_unix_ms);
}

static void hand_over_by_savepoint(struct lifecycle *life, int64_t budget_ms,
				   enum operation_reason reason)
{
	enum operation_kind kind = life->journal.operation.kind;

	if (budget_ms <= 0)
		do_without_savepoint(life, "the grace period is too short");
	else if (!may_save(life))
		do_without_savepoint(life, "the job is not running");
	else if (life->step == STEP_NONE)
		stop_by(life, reason, life->now_ms + budget_ms);
	else if (kind == OPERATION_SAVEPOINT) {
		life->stop_by_ms = life->operation_deadline_ms = life->now_ms + budget_ms;
		life->stop_reason = reason;
		enter(life, PHASE_STOPPING,
		      "the container ends: a stop with savepoint follows the savepoint in flight");
	} else {
		do_without_savepoint(life, "another operation is in flight");
	}
}

static void hand_over_nothing(struct lifecycle *life, int64_t budget_ms,
			      enum operation_reason reason)
{
	if (budget_ms <= 0) {
		end_flink(life, false, false,
			  "the container ends; the next generation starts without state");
		return;
	}
	operation_abandon(life, "superseded by a stateless upgrade");
	operation_start(life, OPERATION_CANCEL, reason, NULL);
	if (life->operation_deadline_ms > life->now_ms + budget_ms)
		life->operation_deadline_ms = life->now_ms + budget_ms;
}

void stopping_goes_on(struct lifecycle *life, const char *error)
{
	int64_t stop_by_ms = life->stop_by_ms;

	life->stop_by_ms = 0;
	if (stop_by_ms > life->now_ms)
		stop_by(life, life->stop_reason, stop_by_ms);
	else if (stop_by_ms || error)
		do_without_savepoint(life, error ? error : "the grace period is over");
	else
		keep_state(life);
}

static void hand_over(struct lifecycle *life)
{
	int64_t budget_ms = life->budget_end_ms - life->now_ms;

	if (life->upgrade != UPGRADE_NO)
		handover_stops_for_upgrade(life, budget_ms);
	switch (mode_of(life, life->upgrade)) {
	case UPGRADE_BY_SAVEPOINT:
		hand_over_by_savepoint(life, budget_ms, reason_of(life, life->upgrade));
		break;
	case UPGRADE_STATELESS:
		hand_over_nothing(life, budget_ms, reason_of(life, life->upgrade));
		break;
	case UPGRADE_BY_LAST_STATE:
		keep_state(life);
		break;
	}
}

void stopping_looked(struct lifecycle *life)
{
	if (!life->look_ms)
		return;
	if (!life->end_wanted && life->now_ms < life->look_ms &&
	    (life->polling || life->polled_ms < life->look_since_ms)) {
		poll_now(life);
		return;
	}
	life->look_ms = 0;
	if (!life->end_wanted && life->launch_step == LAUNCH_LIVE)
		hand_over(life);
}

void on_stopping(struct lifecycle *life, int64_t grace_left_ms, enum upgrade upgrade)
{
	int64_t budget_ms = grace_left_ms - life->config->kill_after_ms - JOURNAL_MARGIN_MS;
	bool stopping = life->step != STEP_NONE && life->journal.operation.kind == OPERATION_STOP;

	if (life->terminating)
		return;
	life->terminating = true;
	if (grace_left_ms > 0)
		life->grace_end_ms = life->now_ms + grace_left_ms - EXIT_PATIENCE_MS;
	life->retry_ms = life->savepoint_ms = life->checkpoint.due_ms = 0;
	checkpoint_give_up(life, "the container ends");
	last_resort_forget(life);
	emit(life, EFFECT_STOP_ACK);
	/* MUT: the container ends while Flink lives */
	if (life->launch_step != LAUNCH_LIVE && life->launch_step != LAUNCH_STARTING) {
		life->upgrade = upgrade;
		launch_withdraw(life);
		enter(life, PHASE_TERMINATING, "the container ends, and no Flink is running");
		if (handover_frees_flink(life))
			leave(life);
		return;
	}
	if (budget_ms > 0 && stopping) {
		/* a job that has stopped already may have less time (UNRECORDED_MS) */
		if (!life->end_wanted || !life->operation_deadline_ms ||
		    life->operation_deadline_ms > life->now_ms + budget_ms)
			life->operation_deadline_ms = life->now_ms + budget_ms;
		return;
	}
	if (life->end_wanted || life->launch_step != LAUNCH_LIVE) {
		keep_state(life);
		return;
	}
	life->upgrade = upgrade;
	life->budget_end_ms = life->now_ms + budget_ms;
	if (grace_left_ms < LOOK_GRACE_MS || !life->seen.reachable || !life->seen.job_present) {
		hand_over(life);
		return;
	}
	life->look_since_ms = life->now_ms;
	life->look_ms = life->now_ms + LOOK_PATIENCE_MS;
	poll_now(life);
}

bool ended_well(const struct lifecycle *life)
{
	const struct outcome *outcome = &life->journal.outcome;

	return life->config->exit_when_finished &&
	       (outcome->kind == OUTCOME_FINISHED ||
		(outcome->kind == OUTCOME_CANCELLED && outcome->savepoint));
}

int end_status(const struct lifecycle *life)
{
	return life->config->exit_when_finished && !ended_well(life) ? 128 + SIGTERM : 0;
}

void leave(struct lifecycle *life)
{
	if (life->exit_ms || life->left)
		return;
	handover_leaves(life);
	emit_after_write(life, EFFECT_EXIT)->status = end_status(life);
	life->exit_ms = life->now_ms + EXIT_PATIENCE_MS;
	/* an unrecorded outcome is worth all the remaining time: without it the next start would
	 * run the job again */
	if (life->journal_broken && life->journal.outcome.kind != OUTCOME_NONE &&
	    life->grace_end_ms > life->exit_ms)
		life->exit_ms = life->grace_end_ms;
}
