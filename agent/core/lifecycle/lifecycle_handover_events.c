/*
 * What a hand-over hears: with what right a new agent has the journal, what the other pods say in their records, and
 * that the Flink that waited in main() has exited.
 */
#include "core/lifecycle/lifecycle_handover_events.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_handover_facts.h"
#include "core/lifecycle/lifecycle_handover_give.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_launch.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_pursue.h"
#include "core/lifecycle/lifecycle_stopping.h"
#include "core/lifecycle/lifecycle_transition_now.h"
#include "core/lifecycle/lifecycle_transition_state.h"

/* ---- the record of another pod ---- */

static void see(struct lifecycle *life, struct candidate_seen *seen, const struct event *event)
{
	bool same = seen->present && event->candidate.present &&
		    xstris(seen->party.uid, event->candidate.party.uid);

	seen->lock_is_free = event->candidate.lock_is_free;
	/* a pod that cannot be heard is silent, not gone */
	/* MUT: a record that cannot be read is one that is not there */
	if (event->candidate.unreadable)
		return;
	if (event->candidate.present && (!same || seen->beat != event->candidate.beat)) {
		seen->seen_ms = life->now_ms;
		seen->beats = same;
	}
	/* it answers by writing; the question may come from the last agent of that pod */
	if (event->candidate.present && event->candidate.ask &&
	    (!same || seen->ask != event->candidate.ask))
		life->want_write = true;
	seen->known = true;
	seen->present = event->candidate.present;
	seen->state = event->candidate.state;
	seen->wanted = event->candidate.wanted;
	seen->beat = event->candidate.beat;
	seen->ask = event->candidate.ask;
	seen->answer = event->candidate.answer;
	xstrset(&seen->why, event->candidate.why);
	party_set(&seen->party, &event->candidate.party);
	candidate_shadow_set(&seen->shadow, &event->candidate.shadow);
}

void on_candidate(struct lifecycle *life, const struct event *event)
{
	if (!handover_is_on(life) || life->handover.giving || life->fenced)
		return;
	see(life, &life->handover.seen[event->candidate.place], event);
}

/* ---- the Flink that is held has exited ---- */

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
	} else {
		look_now(life);
	}
	return true;
}

/* ---- the first event: with what right is the journal ours? ---- */

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

	/* another version than the one that has the job now, or was to have it */
	bool wanted = life->handover.wanted == WANTED_YES &&
		      !template_same_content(handover->to.template, handover_me(life)->template);

	if (handover->state == HANDOVER_GRANTED)
		handover_comes_back(
			life, !wanted,
			wanted ? "the Deployment wants this version again, and it was not taken"
			       : "it was not taken within handover.takeDeadline");
	else if (handover->state == HANDOVER_TAKEN)
		handover_comes_back(
			life, !wanted,
			wanted ? "the Deployment wants this version again, and the pod that had taken it is gone"
			       : "the pod that had taken it is gone");
}

/* Who asked the pod of before for a restore while this hand-over was under way has asked now: the journal that has both was
 * handed over, not put back. Else a request that makes the owner offer the job could never be carried out. */
static void date_request(struct journal *journal)
{
	struct restore_request *restore = &journal->intent.restore;

	/* MUT: a request that was handed over counts as one of long ago */
	if (restore->asked_unix_ms >= journal->handover.started_unix_ms)
		restore->read_back = false;
}

static void claim(struct lifecycle *life, enum claim claim)
{
	struct handover *handover = &life->journal.handover;

	if (claim == CLAIM_TAKE || claim == CLAIM_BACK)
		date_request(&life->journal);
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
	life->handover.wanted = event->hello.wanted;
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
