/* A transition and the rest of the life cycle: what waits for it, and what people want of it. */
#include "core/lifecycle/lifecycle_transition_wishes.h"

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_transition_facts.h"
#include "core/lifecycle/lifecycle_transition_now.h"

/* ---- what waits ---- */

static bool waits_for_replay(const struct lifecycle *life)
{
	const struct transition *transition = &life->journal.handover.transition;
	cleanup_free char *token = NULL;

	if (!transition->opened || !transition_owes_replay(transition))
		return false;
	token = transition_replay_token(transition);
	return !xstris(life->journal.intent.restore.token, token);
}

bool transition_keeps_restore(struct lifecycle *life, unsigned fields)
{
	struct transition *transition = &life->journal.handover.transition;

	if (transition_state_of(life) != TRANSITION_ABORTING || !transition_owes_replay(transition))
		return false;
	/* MUT: a resume withdraws the order for the replay, which is not given again */
	if (!(fields & CONTROL_RESTORE))
		return true;
	xstrset(&transition->replay.path, NULL);
	transition->replay.checkpoint_id = 0;
	life->want_write = true;
	return false;
}

static bool may_not_start(const struct lifecycle *life)
{
	if (!transition_is_on(life))
		return false;
	/* MUT: a job that has ended for the candidate is started again */
	if (life->transition.gives_up)
		return true;
	if (transition_state_of(life) == TRANSITION_ENDING)
		return transition_work_of(life) == WORK_DONE;
	return transition_state_of(life) == TRANSITION_ABORTING && waits_for_replay(life);
}

bool transition_rests(struct lifecycle *life)
{
	if (!may_not_start(life) || life->operation.step == STEP_SETTLING)
		return false;
	life->retry_ms = 0;
	if (life->phase != PHASE_HOLDING || life->cause != CAUSE_TRANSITION_DECIDES)
		enter_because(life, PHASE_HOLDING, CAUSE_TRANSITION_DECIDES,
			      "hand-over %s decides what follows: %s", life->journal.handover.id,
			      life->journal.handover.why ? life->journal.handover.why : "");
	return true;
}

bool lifecycle_asks_for_lock(const struct lifecycle *life)
{
	return transition_state_of(life) == TRANSITION_ABORTING;
}

enum side transition_output_side(const struct lifecycle *life, const struct snapshot *from)
{
	enum side of_candidate = life->journal.handover.transition.output_side;

	/* MUT: a job in the shadow has the sinks of the owner's */
	if (life->config->handover.shadow)
		return of_candidate;
	/* MUT: both jobs of a transition have the same sinks */
	if (transition_is_on(life) && transition_state_of(life) != TRANSITION_TAKEN)
		return side_other(of_candidate);
	return journal_output_side(&life->journal, from);
}

void transition_observed(struct lifecycle *life, const struct event *event)
{
	const struct transition *transition = &life->journal.handover.transition;
	const struct facts *facts = event->observed.facts;
	const struct candidate *found;

	if (transition_state_of(life) != TRANSITION_ABORTING || !transition->replay.path ||
	    event->observed.decision->cause != CAUSE_REQUESTED_SNAPSHOT_UNUSABLE)
		return;
	found = facts_find(facts, transition->replay.path);
	/* not one that may only be unreadable */
	if (found ? found->integrity == INTEGRITY_DAMAGED ||
			    found->integrity == INTEGRITY_INCOMPLETE
		  : facts->sources[SOURCE_REQUEST].state != SOURCE_UNREADABLE)
		xstrset(&life->transition.missing, transition->replay.path);
}

void transition_stop_failed(struct lifecycle *life)
{
	life->transition.failures++;
}

/* GATE_NO_TIME: its gates have not shown it. */
static int64_t seen_here(const struct lifecycle *life)
{
	bool mine = xstris(life->gate.transition, life->journal.handover.id);

	return mine && life->gate.report.known ? life->gate.report.max_seen_unix_ms : GATE_NO_TIME;
}

static int64_t seen_there(const struct lifecycle *life)
{
	const struct candidate_shadow *shadow = &life->handover.seen[PLACE_CANDIDATE].shadow;
	bool mine = xstris(shadow->transition, life->journal.handover.id);

	return mine && shadow->gate.known ? shadow->gate.max_seen_unix_ms : GATE_NO_TIME;
}

bool transition_was_seen(const struct lifecycle *life, int64_t at_unix_ms)
{
	return seen_here(life) >= at_unix_ms || seen_there(life) >= at_unix_ms;
}

bool transition_shows_watermarks(const struct lifecycle *life)
{
	return seen_here(life) != GATE_NO_TIME && seen_there(life) != GATE_NO_TIME;
}

const char *lifecycle_refuses_promote(const struct lifecycle *life, int64_t at_unix_ms)
{
	const char *why = transition_refuses_promote(transition_state_of(life));

	if (why)
		return why;
	/* MUT: a cut is promised that is in the past */
	return at_unix_ms && transition_was_seen(life, at_unix_ms)
		       ? "the time of the cut is in the past: records of that time, or later, were written already; name a later time, or none"
		       : NULL;
}

const char *lifecycle_refuses_abort(const struct lifecycle *life)
{
	return transition_refuses_abort(transition_state_of(life));
}

/* Each counts once. One for which there is no transition is answered, too: it is not for the next one. */
static bool is_new_wish(struct lifecycle *life, const char *what, const char *nonce,
			const char *refused)
{
	/* MUT: a wish is carried out again when it is read again */
	if (!nonce || journal_is_consumed(&life->journal, nonce))
		return false;
	journal_consume(&life->journal, nonce);
	if (refused)
		note(life, NOTE_WARNING, "%s (%s) is not carried out: %s", what, nonce, refused);
	return !refused;
}

void transition_wished(struct lifecycle *life, const struct event *event)
{
	struct transition *transition = &life->journal.handover.transition;

	if ((event->control.fields & CONTROL_PROMOTE) &&
	    is_new_wish(life, "promote", event->control.promote_nonce,
			lifecycle_refuses_promote(life, event->control.promote_at_unix_ms))) {
		transition->promoted = true;
		transition->at_unix_ms = event->control.promote_at_unix_ms;
	}
	if ((event->control.fields & CONTROL_ABORT) &&
	    is_new_wish(life, "abort", event->control.abort_nonce, lifecycle_refuses_abort(life)))
		transition->aborted = true;
}
