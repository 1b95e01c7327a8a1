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

/* Configured, but impossible: use the newest checkpoint, and tell people. */
static void do_without_savepoint(struct lifecycle *life, const char *why)
{
	char *error = xasprintf("no savepoint taken, although one was requested: %s", why);

	journal_set_error(&life->journal, error, life->now_unix_ms);
	note(life, NOTE_WARNING, "%s; the next launch continues from the newest checkpoint", error);
	free(error);
	end_flink(life, false, false, "the container ends without a savepoint: %s", why);
}

/* ---- what to do with the job: the first row whose facts are all true ---- */

enum fact {
	ENDS = 1,     /* Flink is being ended, or the launch does not run yet */
	STOPS = 2,    /* a stop with savepoint is in flight, and has time */
	CANCELS = 4,  /* a cancel is in flight: nobody needs a savepoint any more */
	LOOKS = 8,    /* Flink is asked once more whether the job has ended */
	FAILED = 16,  /* the stop has failed */
	SHORT = 32,   /* there never was time for a stop */
	LATE = 64,    /* there is no time left */
	NO_JOB = 128, /* no job runs of which a savepoint can be taken */
	SAVES = 256,  /* a savepoint is in flight that is no stop */
	BY_SAVEPOINT = 512,
	STATELESS = 1024,
};

enum way { WAIT, LOOK, FOLLOW, STOP, CANCEL, END, END_UNSAVED };

static const struct row {
	unsigned all;
	enum way way;
	const char *why;
} rows[] = {
	{ENDS, WAIT, NULL},
	{STOPS, WAIT, NULL},
	{CANCELS | LATE, END, "the container ends while the job is being cancelled"},
	{CANCELS, WAIT, NULL},
	{LOOKS, LOOK, NULL},
	{FAILED, END_UNSAVED, NULL},
	{BY_SAVEPOINT | SHORT, END_UNSAVED, "the grace period is too short"},
	{BY_SAVEPOINT | LATE, END_UNSAVED, "the grace period is over"},
	{BY_SAVEPOINT | NO_JOB, END_UNSAVED, "the job is not running"},
	{BY_SAVEPOINT | SAVES, FOLLOW, NULL},
	{BY_SAVEPOINT, STOP, NULL},
	{STATELESS | LATE, END, "the container ends; the next generation starts without state"},
	{STATELESS, CANCEL, NULL},
	{0, END, NEWEST_STATE},
};

/* A job that was just taken over was not polled yet. Flink reports soon if it is not ready. */
static bool has_job(const struct lifecycle *life)
{
	bool unseen = life->phase == PHASE_LAUNCHING && !life->seen.job_present;

	return life->phase == PHASE_RUNNING || life->stop_follows ||
	       (unseen && journal_launch_const(&life->journal)->verified_unix_ms);
}

/* It may have ended since the last poll. */
static bool is_looked_at(const struct lifecycle *life)
{
	return life->look_ms > life->now_ms &&
	       (life->polling || life->polled_ms < life->look_since_ms);
}

static unsigned facts_of(const struct lifecycle *life)
{
	enum operation_kind kind =
		life->step != STEP_NONE ? life->journal.operation.kind : OPERATION_NONE;
	enum upgrade_mode mode = mode_of(life, life->upgrade);
	const struct {
		bool is;
		enum fact fact;
	} facts[] = {
		{life->end_wanted || life->launch_step != LAUNCH_LIVE, ENDS},
		{kind == OPERATION_STOP && life->budget_end_ms, STOPS},
		{kind == OPERATION_CANCEL, CANCELS},
		{is_looked_at(life), LOOKS},
		{life->stop_error != NULL, FAILED},
		{!life->budget_end_ms, SHORT},
		{life->now_ms >= life->budget_end_ms, LATE},
		{!has_job(life), NO_JOB},
		{kind == OPERATION_SAVEPOINT, SAVES},
		{mode == UPGRADE_BY_SAVEPOINT, BY_SAVEPOINT},
		{mode == UPGRADE_STATELESS, STATELESS},
	};
	unsigned all = 0;

	for (size_t i = 0; i < ARRAY_LEN(facts); i++)
		all |= facts[i].is ? facts[i].fact : 0;
	return all;
}

/* An operation that ends the job must do so within the grace period. */
static void limit_operation(struct lifecycle *life)
{
	if (!life->operation_deadline_ms || life->operation_deadline_ms > life->budget_end_ms)
		life->operation_deadline_ms = life->budget_end_ms;
}

static void end_by(struct lifecycle *life, enum operation_kind kind)
{
	operation_start(life, kind, reason_of(life, life->upgrade), NULL);
	limit_operation(life);
}

static void carry_out(struct lifecycle *life, const struct row *row)
{
	switch (row->way) {
	case WAIT:
		break;
	case LOOK:
		poll_now(life);
		break;
	case FOLLOW:
		if (life->stop_follows)
			break;
		life->stop_follows = true;
		life->operation_deadline_ms = life->budget_end_ms;
		enter(life, PHASE_STOPPING,
		      "the container ends: a stop with savepoint follows the savepoint in flight");
		break;
	case STOP:
		end_by(life, OPERATION_STOP);
		break;
	case CANCEL:
		operation_abandon(life, "superseded by a stateless upgrade");
		end_by(life, OPERATION_CANCEL);
		break;
	case END:
		end_flink(life, false, false, "%s", row->why);
		break;
	case END_UNSAVED:
		do_without_savepoint(life, row->why ? row->why : life->stop_error);
		break;
	}
}

void stopping_pursue(struct lifecycle *life)
{
	const struct row *row = rows;
	unsigned facts = facts_of(life);

	if (!(facts & LOOKS))
		life->look_ms = 0;
	while ((facts & row->all) != row->all)
		row++;
	if (row->way > LOOK && life->upgrade != UPGRADE_NO)
		handover_stops_for_upgrade(life, life->budget_end_ms - life->now_ms);
	carry_out(life, row);
}

void stopping_failed(struct lifecycle *life, enum operation_kind kind, const char *error)
{
	/* MUT: the failure of another savepoint counts as that of the stop */
	if (kind == OPERATION_STOP)
		xstrset(&life->stop_error, error);
}

void on_stopping(struct lifecycle *life, int64_t grace_left_ms, enum upgrade upgrade)
{
	int64_t budget_ms = grace_left_ms - life->config->kill_after_ms - JOURNAL_MARGIN_MS;
	bool stopping = life->step != STEP_NONE && operation_ends_job(life->journal.operation.kind);

	if (life->terminating)
		return;
	life->terminating = true;
	life->upgrade = upgrade;
	if (grace_left_ms > 0)
		life->grace_end_ms = life->now_ms + grace_left_ms - EXIT_PATIENCE_MS;
	life->retry_ms = life->savepoint_ms = life->checkpoint.due_ms = 0;
	life->budget_end_ms = budget_ms > 0 ? life->now_ms + budget_ms : 0;
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
		life->look_since_ms = life->now_ms;
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
	    life->grace_end_ms > life->exit_ms)
		life->exit_ms = life->grace_end_ms;
}
