/*
 * What follows in a hand-over (handover.h) after each event: for the pod that has taken the job, and when the container
 * ends. lifecycle_handover_offer.c is the owner that gives the job away.
 *
 * With the write that gives the journal away this machine has nothing to decide any more. It ends
 * its Flink, and EFFECT_STAND_DOWN makes the agent a standby.
 */
#include "core/lifecycle/lifecycle_handover.h"

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_handover_facts.h"
#include "core/lifecycle/lifecycle_handover_give.h"
#include "core/lifecycle/lifecycle_handover_offer.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_transition.h"
#include "core/lifecycle/lifecycle_transition_now.h"

/* ---- taken ---- */

static void no_deadline(struct lifecycle *life)
{
	life->handover.deadline_ms = 0;
	life->want_write |= life->journal.handover.deadline_unix_ms != 0;
	life->journal.handover.deadline_unix_ms = 0;
}

static void pursue_taken(struct lifecycle *life)
{
	enum outcome_kind outcome = life->journal.outcome.kind;
	bool ended = outcome == OUTCOME_FINISHED || outcome == OUTCOME_CANCELLED ||
		     outcome == OUTCOME_UNKNOWN;
	bool parked = life->phase == PHASE_SUSPENDED || life->phase == PHASE_CANCELLED ||
		      life->journal.intent.do_not_restart || ended;

	if (!party_is(&life->journal.handover.to, handover_me(life)->uid))
		return;
	if (life->phase == PHASE_FINISHED) {
		handover_set_state(life, HANDOVER_DONE, "the job has finished");
		return;
	}
	/* while nothing runs here, no pod has to wait: another version may be the cure */
	if (handover_is_idle(life) && handover_stands_still(life) &&
	    !handover_may_give_back(life)) {
		handover_consider_offer(life);
		if (life->journal.handover.state != HANDOVER_TAKEN)
			return;
	}
	/* a person decides when it goes on */
	if (parked)
		no_deadline(life);
	else if (!life->handover.deadline_ms && life->phase != PHASE_FAILED)
		handover_arm(life);
}

#define ENDED_AGAIN_MS  500  /* look whether Flink has ended */
#define RETURN_AGAIN_MS 5000 /* and whether the reserve says that it lives */

void handover_runs_late(struct lifecycle *life)
{
	if (life->journal.handover.state == HANDOVER_TAKEN && handover_may_give_back(life))
		end_flink(life, false, true,
			  "the job does not run within handover.runDeadline after it was taken");
}

/* What it holds for is known here only: the other pod and a person read the journal. */
static void not_started_in_time(struct lifecycle *life)
{
	cleanup_free char *why =
		handover_quotes("the job could not be started within handover.runDeadline",
				life->phase == PHASE_HOLDING ? life->reason : NULL);

	handover_returns(life, why);
}

static void not_running_in_time(struct lifecycle *life)
{
	if (life->launch_step == LAUNCH_NONE && handover_may_give_back(life) &&
	    !handover_frees_flink(life)) {
		life->handover.deadline_ms = life->now_ms + ENDED_AGAIN_MS;
		return;
	}
	if (life->launch_step == LAUNCH_LIVE && !life->end_wanted && handover_may_give_back(life)) {
		/* it may run, and Flink does not say so */
		if (!life->seen.reachable || !life->seen.job_present) {
			life->seen.signs.for_handover = true;
			seek_signs(life);
		} else {
			handover_runs_late(life);
		}
	} else if (handover_is_idle(life)) {
		not_started_in_time(life);
	}
	if (!life->handover.giving)
		life->handover.deadline_ms = life->now_ms + RETURN_AGAIN_MS;
}

void handover_deadline(struct lifecycle *life)
{
	if (transition_is_on(life)) {
		life->transition.late = true;
		return;
	}
	switch (life->journal.handover.state) {
	case HANDOVER_OFFERED:
		handover_pursue_offered(life, true);
		break;
	case HANDOVER_STOPPING: /* it cannot be taken back: its result is awaited */
		note(life, NOTE_WARNING, "the stop takes longer than handover.stopDeadline");
		break;
	case HANDOVER_TAKEN:
		not_running_in_time(life);
		break;
	default:
		break;
	}
}

/* ---- every step, and the end ---- */

/* The journal belongs to another one, and nothing runs here. */
static void stand_down(struct lifecycle *life)
{
	bool given = life->handover.given || life->fenced;

	/* a launch that was only being recorded is not asked for any more */
	if (!given || life->launch_step > LAUNCH_WRITING || life->foreign ||
	    life->handover.stood_down)
		return;
	/* MUT: a drey that is fenced while its container ends leaves Flink that waits in main() */
	if (!handover_frees_flink(life))
		return;
	if (life->terminating) {
		withdraw(life, EFFECT_EXIT);
		if (!life->left)
			emit(life, EFFECT_EXIT)->status = end_status(life);
		life->left = true;
		life->exit_ms = 0;
		return;
	}
	life->handover.stood_down = true;
	emit(life, EFFECT_STAND_DOWN);
}

bool handover_stepped(struct lifecycle *life)
{
	if (!handover_is_on(life))
		return false;
	if (life->fenced || life->handover.giving) {
		stand_down(life);
		return true;
	}
	/* what was started for a launch that is not wanted any more */
	if (life->launch_step == LAUNCH_NONE && handover_stands_still(life) &&
	    life->phase != PHASE_HOLDING)
		handover_frees_flink(life);
	if (transition_is_on(life)) {
		if (!life->terminating)
			transition_pursue(life);
		return life->handover.giving;
	}
	switch (life->journal.handover.state) {
	case HANDOVER_OFFERED:
		if (!life->terminating)
			handover_pursue_offered(life, false);
		break;
	case HANDOVER_STOPPING:
		if (!life->terminating)
			handover_pursue_stopping(life);
		break;
	case HANDOVER_TAKEN:
		pursue_taken(life);
		break;
	case HANDOVER_GRANTED:
		break;
	default:
		handover_consider_offer(life);
		break;
	}
	return life->handover.giving;
}

void handover_release_seen(struct lifecycle *life)
{
	xstrset(&life->gate.transition, NULL);
	xstrset(&life->gate.told, NULL);
	xstrset(&life->gate.keys.transition, NULL);
	xstrset(&life->transition.missing, NULL);
	for (int i = 0; i < PLACES; i++)
		candidate_seen_release(&life->handover.seen[i]);
}

void handover_leaves(struct lifecycle *life)
{
	const struct handover *handover = &life->journal.handover;

	if (!handover_is_on(life) || life->handover.giving || life->fenced ||
	    transition_stays(life))
		return;
	/* another version comes before this one has run the job */
	if (handover->state == HANDOVER_TAKEN && life->upgrade == UPGRADE_YES &&
	    !*life->handover.held_id && handover_may_give_back(life)) {
		handover_give_back(life, "the pod ends before the job runs there");
		return;
	}
	if (handover->state == HANDOVER_STOPPING && handover_candidate_lives(life)) {
		handover_grant(life, "the pod ends");
		return;
	}
	if (handover->state == HANDOVER_OFFERED || handover->state == HANDOVER_STOPPING)
		handover_set_state(life, HANDOVER_NONE, "the owner's pod ends");
	/* the next pod need not wait for an answer */
	if (handover->state != HANDOVER_TAKEN) {
		xstrset(&life->journal.owner.uid, NULL);
		xstrset(&life->journal.owner.pod, NULL);
		life->want_write = true;
	}
}
