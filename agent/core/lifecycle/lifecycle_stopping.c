/*
 * The container ends. SIGTERM alone is no request to stop the job: an evicted Pod is started again
 * as it was, and then Flink's current state is the best one. When another generation follows, the
 * job is handed over as configured.
 */
#include "core/lifecycle/lifecycle_stopping.h"

#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_handover.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_launch.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_operation.h"
#include "core/lifecycle/lifecycle_rows.h"
#include "core/lifecycle/lifecycle_state.h"
#include "core/lifecycle/lifecycle_stop_failed.h"
#include "core/lifecycle/lifecycle_take_checkpoint.h"

/* How long the last journal write may delay the end of the container. */
#define EXIT_PATIENCE_MS 3000

/* Reserved at the end of the grace period: Flink's shutdown plus this, for the journal. */
#define JOURNAL_MARGIN_MS 1000

/* The job may have ended since the last poll. Flink answers within milliseconds. */
#define LOOK_PATIENCE_MS 1000
#define LOOK_GRACE_MS    5000 /* with less than this there is no time for it */
#define NEWEST_STATE     "the container ends; the next launch continues from the newest state"

static enum operation_reason reason_of(const struct lifecycle *life, enum upgrade upgrade)
{
	return upgrade == UPGRADE_UNKNOWN && life->config->on_sigterm == SIGTERM_SAVEPOINT
		       ? REASON_TERMINATE
		       : REASON_UPGRADE;
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

/* ---- what to do with the job ---- */

enum way { WAIT, LOOK, FOLLOW, STOP, CANCEL, END, END_UNSAVED, WAYS };

static const char *const ways[WAYS] = {
	[WAIT] = "waits",
	[LOOK] = "polls the job once more",
	[FOLLOW] = "lets the savepoint end, then stops the job with another one",
	[STOP] = "stops the job with a savepoint",
	[CANCEL] = "cancels the job",
	[END] = "ends Flink",
	[END_UNSAVED] = "ends Flink, and warns that the savepoint is missing",
};

static const struct life_row rows[] = {
	{ALL(FACT_ENDS), WAIT, NULL},
	{ALL(FACT_NOT_LIVE), WAIT, NULL},
	{ALL(FACT_STOPS_IN_TIME), WAIT, NULL},
	/* of whatever reason: its savepoint is there */
	{ALL(FACT_STOP_REPORTED), END,
	 "the container ends while the job ends by its stop with savepoint"},
	/* nobody needs a savepoint any more */
	{ALL(FACT_CANCELS, FACT_LATE), END, "the container ends while the job is being cancelled"},
	{ALL(FACT_CANCELS), WAIT, NULL},
	{ALL(FACT_LOOKS), LOOK, NULL},
	{ALL(FACT_STOP_FAILED), END_UNSAVED, NULL},
	{ALL(FACT_BY_SAVEPOINT, FACT_SHORT), END_UNSAVED, "the grace period is too short"},
	{ALL(FACT_BY_SAVEPOINT, FACT_LATE), END_UNSAVED, "the grace period is over"},
	{ALL(FACT_BY_SAVEPOINT, FACT_NO_JOB), END_UNSAVED, "the job is not running"},
	{ALL(FACT_BY_SAVEPOINT, FACT_SAVES), FOLLOW,
	 "the container ends: a stop with savepoint follows the savepoint in flight"},
	{ALL(FACT_BY_SAVEPOINT), STOP, NULL},
	{ALL(FACT_STATELESS, FACT_LATE), END,
	 "the container ends; the next generation starts without state"},
	{ALL(FACT_STATELESS), CANCEL, "superseded by a stateless upgrade"},
	{ALL(FACT_NONE), END, NEWEST_STATE},
};

const struct life_table stopping_table = {"The container ends", rows, ARRAY_LEN(rows), ways, WAYS};

/* An operation that ends the job must do so within the grace period. */
static void limit_operation(struct lifecycle *life)
{
	if (!life->operation.deadline_ms || life->operation.deadline_ms > life->own->budget_end_ms)
		life->operation.deadline_ms = life->own->budget_end_ms;
}

static void end_by(struct lifecycle *life, enum operation_kind kind)
{
	operation_start(life, kind, reason_of(life, life->upgrade), NULL);
	limit_operation(life);
}

static void carry_out(struct lifecycle *life, const struct life_row *row)
{
	switch ((enum way)row->way) {
	case WAYS:
	case WAIT:
		break;
	case LOOK:
		poll_now(life);
		break;
	case FOLLOW:
		if (life->own->stop_follows)
			break;
		life->own->stop_follows = true;
		life->operation.deadline_ms = life->own->budget_end_ms;
		enter(life, PHASE_STOPPING, "%s", row->why);
		break;
	case STOP:
		end_by(life, OPERATION_STOP);
		break;
	case CANCEL:
		operation_abandon(life, row->why);
		end_by(life, OPERATION_CANCEL);
		break;
	case END:
		end_flink(life, false, false, "%s", row->why);
		break;
	case END_UNSAVED:
		do_without_savepoint(life, row->why ? row->why : life->own->stop_error);
		break;
	}
}

void stopping_pursue(struct lifecycle *life)
{
	uint64_t facts = facts_of(life);
	const struct life_row *row = table_row(&stopping_table, facts);

	if (!(facts & fact_bit(FACT_LOOKS)))
		life->look_ms = 0;
	if (row->way > LOOK && life->upgrade != UPGRADE_NO)
		handover_stops_for_upgrade(life, life->own->budget_end_ms - life->now_ms);
	carry_out(life, row);
}

void stopping_failed(struct lifecycle *life, enum operation_kind kind, const char *error)
{
	/* MUT: the failure of another savepoint counts as that of the stop */
	if (kind == OPERATION_STOP)
		xstrset(&life->own->stop_error, error);
}

void on_stopping(struct lifecycle *life, int64_t grace_left_ms, enum upgrade upgrade)
{
	int64_t budget_ms = grace_left_ms - life->config->kill_after_ms - JOURNAL_MARGIN_MS;
	bool stopping = job_is_being_ended(life);

	if (life->terminating)
		return;
	life->terminating = true;
	life->upgrade = upgrade;
	if (grace_left_ms > 0)
		life->own->grace_end_ms = life->now_ms + grace_left_ms - EXIT_PATIENCE_MS;
	life->retry_ms = life->savepoint_ms = life->full_checkpoint_ms = 0;
	life->own->budget_end_ms = budget_ms > 0 ? life->now_ms + budget_ms : 0;
	checkpoint_give_up(life, "the container ends");
	last_resort_forget(life);
	emit(life, EFFECT_STOP_ACK);
	/* MUT: the container ends while a Flink lives that is not in the journal */
	if (life->foreign) {
		/* nothing is known of its job: SIGTERM might let it delete its checkpoints */
		enter(life, PHASE_TERMINATING,
		      "the container ends: killing the Flink that is not in the journal (launch %s)",
		      life->foreign_id);
		kill_flink(life);
		return;
	}
	/* MUT: the container ends while Flink lives */
	if (life->launch_step != LAUNCH_LIVE && life->launch_step != LAUNCH_STARTING) {
		launch_withdraw(life);
		enter(life, PHASE_TERMINATING, "the container ends, and no Flink is running");
		if (handover_frees_flink(life))
			leave(life);
		return;
	}
	if (budget_ms > 0 && stopping) {
		/* a job that has stopped already may have less time (UNRECORDED_MS) */
		limit_operation(life);
		return;
	}
	if (life->end_wanted || life->launch_step != LAUNCH_LIVE) {
		end_flink(life, false, false, NEWEST_STATE);
		return;
	}
	if (grace_left_ms >= LOOK_GRACE_MS && life->seen.reachable && life->seen.job_present) {
		life->own->look_since_ms = life->now_ms;
		life->look_ms = life->now_ms + LOOK_PATIENCE_MS;
	}
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
	    life->own->grace_end_ms > life->exit_ms)
		life->exit_ms = life->own->grace_end_ms;
}
