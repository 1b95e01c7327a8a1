/*
 * The desired state, compared with the actual one after every event: what is to be started, stopped or taken next, or
 * that the job is parked.
 */
#include "core/lifecycle/lifecycle_pursue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_operation.h"
#include "core/lifecycle/lifecycle_rescale.h"
#include "core/lifecycle/lifecycle_retention.h"
#include "core/lifecycle/lifecycle_review.h"
#include "core/lifecycle/lifecycle_stall.h"
#include "core/lifecycle/lifecycle_stopping.h"
#include "core/lifecycle/lifecycle_take_checkpoint.h"
#include "core/lifecycle/lifecycle_transition_wishes.h"

/* ---- no Flink runs ---- */

static enum phase parked_phase(const struct journal *journal, const struct decision *decision)
{
	if (decision->kind == DECISION_HOLD)
		return PHASE_HOLDING;
	if (journal->intent.state == DESIRED_SUSPENDED)
		return PHASE_SUSPENDED;
	if (journal->intent.state == DESIRED_CANCELLED)
		return PHASE_CANCELLED;
	if (journal->intent.do_not_restart)
		return PHASE_HOLDING;
	if (decision->cause == CAUSE_GENERATION_FAILED)
		return PHASE_FAILED;
	switch (journal->outcome.kind) {
	case OUTCOME_FINISHED:
		return PHASE_FINISHED;
	case OUTCOME_CANCELLED:
		return PHASE_CANCELLED;
	default:
		return PHASE_FAILED;
	}
}

void park(struct lifecycle *life, const struct decision *decision)
{
	enum phase phase = parked_phase(&life->journal, decision);

	life->retry_ms = 0;
	if (life->operation.step == STEP_SETTLING)
		look_again(life);
	else
		life->holds = 0;
	if (life->phase == phase && !strcmp(life->reason, decision->reason))
		return;
	enter_because(life, phase, decision->cause, "%s", decision->reason);
	if (ended_well(life) && life->journal.intent.state == DESIRED_RUNNING &&
	    decision->cause != CAUSE_GENERATION_FAILED)
		leave(life);
}

void resolve_start(struct lifecycle *life, const char *why)
{
	struct decision decision;

	if (transition_rests(life))
		return;
	if (resolve_parked(&life->journal, &life->config->policy, &decision) &&
	    life->operation.step != STEP_SETTLING) {
		park(life, &decision);
		return;
	}
	enter(life, PHASE_RESOLVING, "%s", why);
	life->retry_ms = 0;
	if (life->observing) {
		life->observe_again = true;
		return;
	}
	observe(life);
}

/* A savepoint was requested while no job is running or about to run: answer it. */
static void refuse_savepoint(struct lifecycle *life)
{
	struct journal *journal = &life->journal;
	struct operation *operation = &journal->operation;
	char *error;

	if (journal->operation.kind != OPERATION_NONE || !journal_savepoint_wanted(journal))
		return;
	operation->kind = OPERATION_SAVEPOINT;
	operation->reason = REASON_MANUAL;
	operation->nonce = xstrdup(journal->intent.savepoint_nonce);
	error = xasprintf("no job is running (%s), so no savepoint can be taken",
			  phase_name(life->phase));
	operation_abandon(life, error);
	free(error);
}

enum idle_way { RESTS, PARKS, STARTS, IDLE_WAYS };

static const char *const idle_ways[IDLE_WAYS] = {
	[RESTS] = "waits",
	[PARKS] = "parks the application, and refuses requested savepoints and checkpoints",
	[STARTS] = "decides what to start from",
};

static const struct life_row idle_rows[] = {
	{ALL(FACT_UNSETTLED, FACT_OBSERVES), RESTS, NULL},
	{ALL(FACT_UNSETTLED, FACT_START_PAUSES), RESTS, NULL},
	{ALL(FACT_PARKED), PARKS, NULL},
	{ALL(FACT_RESOLVING), RESTS, NULL},
	{ALL(FACT_HOLDING, FACT_START_PAUSES), RESTS, NULL},
	{ALL(FACT_OBSERVES), RESTS, NULL},
	{ALL(FACT_NONE), STARTS, "a launch is desired"},
};

const struct life_table idle_table = {"No Flink runs", idle_rows, ARRAY_LEN(idle_rows), idle_ways,
				      IDLE_WAYS};

static void park_on_record(struct lifecycle *life)
{
	struct decision decision;

	if (!resolve_parked(&life->journal, &life->config->policy, &decision))
		return;
	park(life, &decision);
	refuse_savepoint(life);
	checkpoint_refuse(life);
}

/* No Flink runs: park when no launch is desired, resolve when one is desired again. */
static void pursue_idle(struct lifecycle *life)
{
	const struct life_row *row = table_row(&idle_table, facts_of(life));

	switch ((enum idle_way)row->way) {
	case IDLE_WAYS:
	case RESTS:
		break;
	case PARKS:
		park_on_record(life);
		break;
	case STARTS:
		resolve_start(life, row->why);
		break;
	}
}

/* ---- the job runs ---- */

enum running_way {
	RUNS_ON,
	CANCELS,
	SUSPENDS,
	RESTARTS,
	WATCHES,
	SAVES,
	RESCALES,
	SAVES_BY_SCHEDULE,
	TENDS,
	RUNNING_WAYS
};

static const char *const running_ways[RUNNING_WAYS] = {
	[RUNS_ON] = "waits",
	[CANCELS] = "cancels the job, and gives up what is in flight",
	[SUSPENDS] = "stops the job with a savepoint, to suspend it",
	[RESTARTS] = "stops the job with a savepoint, to restart it",
	[WATCHES] = "restarts the job if it completes no checkpoint any more",
	[SAVES] = "takes the savepoint",
	[RESCALES] = "asks Flink about the parallelism",
	[SAVES_BY_SCHEDULE] = "takes a periodic savepoint",
	[TENDS] =
		"restarts a job that completes no checkpoint any more; takes a requested or a full checkpoint; deletes old savepoints; reads a completed checkpoint",
};

static const struct life_row running_rows[] = {
	{ALL(FACT_TRANSITION), RUNS_ON, NULL},
	/* its job has ended, and Flink cleans up after it */
	{ALL(FACT_CANCEL_WANTED, FACT_STOP_REPORTED), RUNS_ON, NULL},
	{ALL(FACT_CANCEL_WANTED, FACT_CANCELS), RUNS_ON, NULL},
	{ALL(FACT_CANCEL_WANTED), CANCELS, "superseded by cancel"},
	{ALL(FACT_BUSY), RUNS_ON, NULL},
	{ALL(FACT_NOT_RUNNING), RUNS_ON, NULL},
	{ALL(FACT_RESCALES), RUNS_ON, NULL},
	{ALL(FACT_SUSPEND_WANTED), SUSPENDS, NULL, BEGIN_STOP},
	{ALL(FACT_SUSPEND_WANTED), RUNS_ON, NULL},
	{ALL(FACT_RESTART_WANTED), RESTARTS, NULL, BEGIN_STOP},
	{ALL(FACT_RESTART_WANTED), RUNS_ON, NULL},
	/* it may be one more that does not complete */
	{ALL(FACT_CHECKPOINT), WATCHES, NULL},
	{ALL(FACT_SAVEPOINT_WANTED), SAVES, NULL, BEGIN_SAVEPOINT},
	{ALL(FACT_PARALLELISM_OWED), RESCALES, NULL, BEGIN_RESCALE},
	{ALL(FACT_SAVEPOINT_DUE), SAVES_BY_SCHEDULE, NULL, BEGIN_PERIODIC},
	{ALL(FACT_NONE), TENDS, NULL},
};

const struct life_table running_table = {"A job runs", running_rows, ARRAY_LEN(running_rows),
					 running_ways, RUNNING_WAYS};

static void cancel_job(struct lifecycle *life, const char *why)
{
	if (life->operation.step != STEP_NONE)
		operation_abandon(life, why);
	operation_start(life, OPERATION_CANCEL, REASON_CANCEL, NULL);
}

/* What nobody has to wait for. */
static void tend_job(struct lifecycle *life)
{
	if (stall_pursue(life) || checkpoint_pursue(life))
		return;
	retention_pursue(life);
	review_pursue(life);
}

/* Start the operation that is due, unless one is in flight. */
static void pursue_running(struct lifecycle *life)
{
	const struct intent *intent = &life->journal.intent;
	const struct life_row *row = table_row(&running_table, facts_of(life));

	switch ((enum running_way)row->way) {
	case RUNNING_WAYS:
	case RUNS_ON:
		break;
	case CANCELS:
		cancel_job(life, row->why);
		break;
	case SUSPENDS:
		operation_start(life, OPERATION_STOP, REASON_SUSPEND, NULL);
		break;
	case RESTARTS:
		operation_start(life, OPERATION_STOP, REASON_RESTART, intent->restart_nonce);
		break;
	case WATCHES:
		stall_pursue(life);
		break;
	case SAVES:
		operation_start(life, OPERATION_SAVEPOINT, REASON_MANUAL, intent->savepoint_nonce);
		break;
	case RESCALES:
		rescale_look(life);
		break;
	case SAVES_BY_SCHEDULE:
		operation_start(life, OPERATION_SAVEPOINT, REASON_PERIODIC, NULL);
		break;
	case TENDS:
		tend_job(life);
		break;
	}
}

/* Level-triggered: compare the desired with the actual state, whatever the event. */
void pursue_desired(struct lifecycle *life)
{
	if (life->fenced || life->foreign || life->terminating)
		return;
	switch (life->phase) {
	case PHASE_LAUNCHING:
	case PHASE_RUNNING:
		if (life->launch_step == LAUNCH_LIVE && !life->end_wanted)
			pursue_running(life);
		break;
	case PHASE_STOPPING: /* a cancel overtakes a stop that does not end */
		if (life->journal.operation.kind == OPERATION_STOP && !life->end_wanted &&
		    life->journal.intent.state == DESIRED_CANCELLED)
			pursue_running(life);
		break;
	case PHASE_RESOLVING:
	case PHASE_HOLDING:
	case PHASE_SUSPENDED:
	case PHASE_CANCELLED:
	case PHASE_FINISHED:
	case PHASE_FAILED:
		pursue_idle(life);
		break;
	default:
		break;
	}
}
