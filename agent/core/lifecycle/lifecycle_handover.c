/*
 * The part of the life cycle in a hand-over (handover.h): the pod that has taken the job, the Flink
 * that waits in main(), and what the rest of the life cycle calls. lifecycle_handover_offer.c is the
 * owner that gives the job away.
 *
 * With the write that gives the journal away this machine has nothing to decide any more. It ends
 * its Flink, and EFFECT_STAND_DOWN makes the agent a standby.
 */
#include "core/lifecycle/lifecycle_handover.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_handover_facts.h"
#include "core/lifecycle/lifecycle_handover_give.h"
#include "core/lifecycle/lifecycle_handover_offer.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_launch.h"
#include "core/lifecycle/lifecycle_resolve.h"
#include "core/lifecycle/lifecycle_stopping.h"
#include "core/lifecycle/lifecycle_transition.h"
#include "core/lifecycle/lifecycle_transition_facts.h"
#include "core/lifecycle/lifecycle_transition_state.h"

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

static void not_running_in_time(struct lifecycle *life)
{
	if (life->launch_step == LAUNCH_NONE && handover_may_give_back(life) &&
	    !handover_frees_flink(life)) {
		life->handover.deadline_ms = life->now_ms + ENDED_AGAIN_MS;
		return;
	}
	if (life->launch_step == LAUNCH_LIVE && !life->end_wanted && handover_may_give_back(life))
		end_flink(life, false, true,
			  "the job does not run within handover.runDeadline after it was taken");
	else if (handover_is_idle(life))
		handover_returns(life, "the job could not be started within handover.runDeadline");
	if (!life->handover.giving)
		life->handover.deadline_ms = life->now_ms + RETURN_AGAIN_MS;
}

static void not_prepared_in_time(struct lifecycle *life)
{
	cleanup_free char *why =
		handover_quotes("the candidate was not prepared within handover.prepareDeadline",
				handover_candidate_says(life));

	handover_set_state(life, HANDOVER_REFUSED,
			   "%s; resume, or another version, allows it again", why);
}

void handover_deadline(struct lifecycle *life)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];

	if (transition_is_on(life)) {
		life->transition.late = true;
		return;
	}
	switch (life->journal.handover.state) {
	case HANDOVER_OFFERED:
		/* what it waits for then is not the candidate */
		if (handover_candidate_lives(life) && seen->state == CANDIDATE_PREPARED)
			handover_arm(life);
		else
			not_prepared_in_time(life);
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

/* ---- Flink that is held ---- */

bool handover_held_exited(struct lifecycle *life, const struct event *event)
{
	bool writing;

	if (!*life->handover.held_id || !event->process.launch_id ||
	    strcmp(life->handover.held_id, event->process.launch_id) != 0)
		return false;
	*life->handover.held_id = '\0';
	life->handover.held_ends = false;
	life->handover.held_kill_ms = 0;
	/* it has been given its file: that is the end of the launch */
	if (life->launch_step == LAUNCH_STARTING)
		return false;
	/* the job is another pod's: nothing is launched */
	if (life->fenced || life->handover.giving)
		return true;
	writing = life->launch_step == LAUNCH_WRITING;
	launch_withdraw(life);
	if (life->terminating) {
		leave(life);
	} else if (writing) {
		resolve_start(life, "the Flink that waited in main() has ended");
	} else if (life->retry_ms) {
		life->retry_ms = life->now_ms;
	}
	return true;
}

/* ---- begin, every step, and the end ---- */

static void begin_forced(struct lifecycle *life)
{
	struct handover *handover = &life->journal.handover;
	struct party before = {0};
	char random[JOB_ID_BYTES];

	party_set(&before, &life->journal.owner);
	transition_drop(life);
	handover_renew(handover,
		       template_same_content(handover->to.template, handover_me(life)->template));
	rng_hex_id(&life->rng, random);
	handover->id = xasprintf("h-%.8s", random);
	handover->kind = handover_kind_between(before.template, handover_me(life)->template);
	handover->from = before;
	party_set(&handover->to, handover_me(life));
	handover->forced = true;
	handover->started_unix_ms = life->now_unix_ms;
	handover_set_state(life, HANDOVER_TAKEN, "%s did not answer, and its Flink leads no more",
			   before.pod ? before.pod : "the owner");
}

/* A transition in which the owner's job still runs, or may have to: from its next pod on, as it is. */
static bool goes_on(struct lifecycle *life)
{
	struct handover *handover = &life->journal.handover;
	enum transition_state state = transition_state_of(life);

	/* MUT: a transition is over when the owner's pod is gone */
	if (!transition_is_on(life) || state == TRANSITION_GRANTED || state == TRANSITION_TAKEN)
		return false;
	party_set(&handover->from, handover_me(life));
	life->want_write = true;
	note(life, NOTE_INFO, "hand-over %s continues: the previous owner is gone", handover->id);
	return true;
}

/* Before it is taken the candidate's journal was adopted. */
static void take_transition(struct lifecycle *life)
{
	if (transition_state_of(life) == TRANSITION_GRANTED)
		transition_take(&life->journal.handover);
}

/* The pod that was before in its place is gone. */
static void succeed(struct lifecycle *life)
{
	struct handover *handover = &life->journal.handover;

	if (goes_on(life))
		return;
	if (handover->state == HANDOVER_GRANTED || handover->state == HANDOVER_TAKEN) {
		take_transition(life);
		party_set(&handover->to, handover_me(life));
		handover_set_state(life, HANDOVER_TAKEN,
				   "another pod of the same template goes on");
	} else if (handover_is_under_way(handover)) {
		handover_set_state(life, HANDOVER_NONE, "the owner's pod is gone");
	}
}

static void take_back(struct lifecycle *life)
{
	struct handover *handover = &life->journal.handover;

	if (handover->state == HANDOVER_GRANTED)
		handover_comes_back(life, "it was not taken within handover.takeDeadline");
	else if (handover->state == HANDOVER_TAKEN)
		handover_comes_back(life, "the pod that had taken it is gone");
}

static void claim(struct lifecycle *life, enum claim claim)
{
	struct handover *handover = &life->journal.handover;

	switch (claim) {
	case CLAIM_TAKE:
		take_transition(life);
		handover_set_state(life, HANDOVER_TAKEN, "%s takes the job",
				   handover_me(life)->pod);
		break;
	case CLAIM_BACK:
		take_back(life);
		break;
	case CLAIM_SUCCEED:
		succeed(life);
		break;
	case CLAIM_FORCE:
		begin_forced(life);
		break;
	default:
		handover_hears_adopted(life);
		/* one of others, or of a time before: it is not going on */
		if (handover_is_under_way(handover) &&
		    !party_is(&handover->from, handover_me(life)->uid) &&
		    !party_is(&handover->to, handover_me(life)->uid) && !goes_on(life))
			handover_set_state(life, HANDOVER_NONE, "the owner's pod is gone");
		break;
	}
}

/* As the journal has it, because an agent may restart in it. A wall clock that was set makes it no
 * longer than it was. */
static void resume_probation(struct lifecycle *life)
{
	const struct handover *handover = &life->journal.handover;
	int64_t probation_ms = life->config->handover.probation_ms;
	int64_t rest_ms = handover->state_unix_ms + probation_ms - life->now_unix_ms;

	if (handover->state == HANDOVER_DONE && rest_ms > 0)
		life->handover.probation_end_ms =
			life->now_ms + (rest_ms < probation_ms ? rest_ms : probation_ms);
}

static void hear_claim(struct lifecycle *life, const struct event *event)
{
	life->handover.claim = event->hello.claim;
	snprintf(life->handover.held_id, JOB_ID_BYTES, "%s",
		 event->hello.held ? event->hello.held : "");
}

void handover_begin(struct lifecycle *life, const struct event *event)
{
	struct party *owner = &life->journal.owner;
	bool same;

	if (life->config->handover
		    .shadow) { /* it is the application's; here it says what is held */
		hear_claim(life, event);
		return;
	}
	if (!handover_is_on(life)) { /* only the side stays */
		handover_release(&life->journal.handover);
		xstrset(&owner->uid, NULL);
		xstrset(&owner->pod, NULL);
		xstrset(&owner->template, NULL);
		return;
	}
	life->handover.begun_ms = life->now_ms;
	life->transition.finish_id = -1;
	same = party_is(owner, handover_me(life)->uid) &&
	       xstris(owner->template, handover_me(life)->template);
	hear_claim(life, event);
	claim(life, event->hello.claim);
	if (handover_is_under_way(&life->journal.handover))
		handover_arm(life);
	resume_probation(life);
	party_set(owner, handover_me(life));
	if (!same)
		life->want_write = true;
}

/* The journal belongs to another one, and nothing runs here. */
static void stand_down(struct lifecycle *life)
{
	bool given = life->handover.given || life->fenced;

	/* a launch that was only being recorded is not asked for any more */
	if (!given || life->launch_step > LAUNCH_WRITING || life->foreign ||
	    life->handover.stood_down)
		return;
	if (life->terminating) {
		withdraw(life, EFFECT_EXIT);
		if (!life->left)
			emit(life, EFFECT_EXIT)->status = end_status(life);
		life->left = true;
		life->exit_ms = 0;
		return;
	}
	if (!handover_frees_flink(life))
		return;
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
			handover_pursue_offered(life);
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
	xstrset(&life->gate.flip.transition, NULL);
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
