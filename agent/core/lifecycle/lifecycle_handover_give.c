/*
 * The write that gives the journal away: to the candidate, or back to the pod before. This machine decides nothing
 * after it.
 */
#include "core/lifecycle/lifecycle_handover_give.h"

#include "base/mem.h"
#include "core/handover/transition_step.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_handover_facts.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_transition_now.h"

/* ---- to the candidate ---- */

/* The write that follows gives it; nothing is decided after this. */
static void give_to(struct lifecycle *life, const struct party *to)
{
	party_set(&life->journal.owner, to);
	life->handover.giving = true;
	life->retry_ms = life->savepoint_ms = life->full_checkpoint_ms = life->stop_retry_ms = 0;
	if (life->launch_step == LAUNCH_NONE && !life->terminating)
		handover_rests(life);
}

void handover_give(struct lifecycle *life)
{
	give_to(life, &life->journal.handover.to);
}

void handover_rests(struct lifecycle *life)
{
	const struct handover *handover = &life->journal.handover;

	enter_because(
		life, PHASE_HOLDING,
		handover->state == HANDOVER_RETURNED ? CAUSE_HANDOVER_RETURNED : CAUSE_STANDING_BY,
		"%s to %s: %s", handover->state == HANDOVER_RETURNED ? "returned" : "handed over",
		life->journal.owner.pod ? life->journal.owner.pod : "another pod",
		handover->why ? handover->why : "");
}

void handover_grant(struct lifecycle *life, const char *why)
{
	struct handover *handover = &life->journal.handover;
	const struct operation_result *last = &life->journal.last_operation;
	bool stopped = last->ok && last->location && handover->state == HANDOVER_STOPPING &&
		       last->ended_unix_ms >= handover->started_unix_ms;

	xstrset(&handover->savepoint, stopped ? last->location : NULL);
	handover_set_state(life, HANDOVER_GRANTED, "%s", why);
	give_to(life, &handover->to);
}

/* A version whose pod never takes the job would stop it again and again: that counts. One that the Deployment has ceased to want
 * has failed at nothing. */
void handover_comes_back(struct lifecycle *life, bool counts, const char *why)
{
	life->journal.handover.tries += counts;
	life->handover.ran = false; /* it was stopped for this, perhaps by this agent */
	handover_set_state(life, HANDOVER_RETURNED, "%s", why);
}

static void pursue_stop(struct lifecycle *life, bool ended)
{
	static const struct transition_policy no_policy;
	bool begun = life->launch_step != LAUNCH_LIVE || life->operation.step != STEP_NONE ||
		     life->end_wanted;
	const struct transition_facts facts = {
		.lives = !ended,
		.work = begun ? WORK_RUNNING : WORK_NONE,
		.gone = !handover_candidate_lives(life),
		.replaced = handover_is_unwanted(life),
	};
	struct transition_move move;

	if (!transition_owner(&life->journal.handover, &facts, &no_policy, &move))
		return;
	if (move.act == ACT_GRANT)
		handover_grant(life, move.why);
	else if (move.act == ACT_RETURN)
		handover_comes_back(life, move.counts, move.why);
	else
		handover_set_state(life, transition_outside(move.state), "%s", move.why);
}

void handover_pursue_stopping(struct lifecycle *life)
{
	pursue_stop(life, life->launch_step == LAUNCH_NONE);
}

void handover_stopped(struct lifecycle *life)
{
	if (!handover_is_on(life) || life->journal.handover.state != HANDOVER_STOPPING ||
	    transition_is_on(life))
		return;
	/* a cancel that Flink does not react to: the job runs until its process has ended */
	/* MUT: the job is granted while a cancelled one still runs */
	if (!life->seen.job_present || !job_state_is_final(life->seen.state))
		return;
	pursue_stop(life, true);
}

/* ---- back to the pod before ---- */

/* Only with its Flink proven dead: the other one starts the job. */
void handover_give_back(struct lifecycle *life, const char *why)
{
	struct handover *handover = &life->journal.handover;
	enum outcome_kind outcome = life->journal.outcome.kind;

	handover_set_state(life, HANDOVER_RETURNED, "%s", why); /* `why` may be of the outcome */
	/* what this version could not do is no outcome for the other one; an end of the job is */
	/* MUT: a job that has finished is returned, and runs again */
	if (outcome == OUTCOME_FAILED || outcome == OUTCOME_RESTORE_MISMATCH)
		outcome_release(&life->journal.outcome);
	life->journal.failure_count = 0;
	journal_forgive_generation(&life->journal, life->config->generation);
	give_to(life, &handover->from);
}

bool handover_returns(struct lifecycle *life, const char *why)
{
	/* what waits in main() may have been let go although that has failed */
	if (*life->handover.held_id)
		return false;
	/* MUT: a launch that fails after a hand-over is not returned */
	if (!handover_may_give_back(life))
		return false;
	life->journal.handover.tries++;
	handover_give_back(life, why);
	return true;
}

/* ---- the write that gives it ---- */

bool handover_may_write(struct lifecycle *life)
{
	/* MUT: the journal is written after it was given away */
	if (life->handover.given)
		return false;
	if (life->handover.giving)
		life->handover.given_sequence = life->journal.sequence + 1;
	return true;
}

void handover_written(struct lifecycle *life)
{
	const struct handover *handover = &life->journal.handover;

	if (life->handover.giving && life->acknowledged >= life->handover.given_sequence &&
	    life->handover.given_sequence)
		life->handover.given = true;
	if (handover->asked == life->handover.asked)
		return;
	life->handover.asked = handover->asked;
	life->handover.asked_ms = life->now_ms;
}
