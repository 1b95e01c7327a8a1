/*
 * The desired state, compared with the actual one after every event: what is to be started, stopped or taken next, or
 * that the job is parked.
 */
#include "core/lifecycle/lifecycle_pursue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_blockers.h"
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
#include "core/lifecycle/lifecycle_transition_now.h"
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
	if (life->step == STEP_SETTLING)
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
	    life->step != STEP_SETTLING) {
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

/* No Flink runs: park when no launch is desired, resolve when one is desired again. */
static void pursue_idle(struct lifecycle *life)
{
	struct decision decision;
	bool parked = resolve_parked(&life->journal, &life->config->policy, &decision);

	if (parked && life->step == STEP_SETTLING && (life->observing || life->retry_ms))
		return; /* no launch is desired, but an operation must still be settled */
	if (parked && life->step != STEP_SETTLING) {
		park(life, &decision);
		refuse_savepoint(life);
		checkpoint_refuse(life);
		return;
	}
	if (life->phase == PHASE_RESOLVING || (life->phase == PHASE_HOLDING && life->retry_ms) ||
	    life->observing)
		return;
	resolve_start(life, "a launch is desired");
}

/* ---- the job runs ---- */

/* Start the operation that is due, unless one is in flight. */
static void pursue_running(struct lifecycle *life)
{
	const struct intent *intent = &life->journal.intent;

	if (transition_defers(life))
		return;
	if (intent->state == DESIRED_CANCELLED) {
		/* its job has ended, and Flink cleans up after it */
		/* MUT: a cancel ends Flink whose job has stopped with a savepoint at once */
		if (stop_is_reported(life))
			return;
		if (life->step != STEP_NONE && life->journal.operation.kind != OPERATION_CANCEL)
			operation_abandon(life, "superseded by cancel");
		if (life->step == STEP_NONE)
			operation_start(life, OPERATION_CANCEL, REASON_CANCEL, NULL);
	} else if (life->step != STEP_NONE || life->phase != PHASE_RUNNING ||
		   life->rescale.asking) {
		return;
	} else if (intent->state == DESIRED_SUSPENDED) {
		if (!blockers(life, BEGIN_STOP))
			operation_start(life, OPERATION_STOP, REASON_SUSPEND, NULL);
	} else if (journal_restart_wanted(&life->journal)) {
		if (!blockers(life, BEGIN_STOP))
			operation_start(life, OPERATION_STOP, REASON_RESTART,
					intent->restart_nonce);
	} else if (checkpoint_in_flight(life)) {
		stall_pursue(life); /* it may be one more that does not complete */
	} else if (journal_savepoint_wanted(&life->journal) && !blockers(life, BEGIN_SAVEPOINT)) {
		operation_start(life, OPERATION_SAVEPOINT, REASON_MANUAL, intent->savepoint_nonce);
	} else if (rescale_pursue(life)) {
		return;
	} else if (life->savepoint_ms && life->now_ms >= life->savepoint_ms &&
		   !blockers(life, BEGIN_PERIODIC)) {
		operation_start(life, OPERATION_SAVEPOINT, REASON_PERIODIC, NULL);
	} else if (!stall_pursue(life) && !checkpoint_pursue(life)) {
		retention_pursue(life);
		review_pursue(life);
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
