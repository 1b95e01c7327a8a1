/* The transition that is on record: its state, and what waits for it. */
#include "core/lifecycle/lifecycle_transition_now.h"

#include "core/lifecycle/lifecycle_handover_facts.h"

enum transition_state transition_state_of(const struct lifecycle *life)
{
	return handover_is_on(life) ? transition_of(&life->journal.handover) : TRANSITION_NONE;
}

bool transition_is_on(const struct lifecycle *life)
{
	return transition_is_under_way(transition_state_of(life));
}

/* ---- what waits for it ---- */

/* Given up: the output here is open, and nothing is owed. */
bool transition_owes_nothing(const struct transition *transition)
{
	return transition->opened && !transition_owes_replay(transition);
}

bool transition_defers(const struct lifecycle *life)
{
	const struct transition *transition = &life->journal.handover.transition;
	enum transition_state state = transition_state_of(life);
	bool stops = life->journal.intent.state != DESIRED_RUNNING ||
		     journal_restart_wanted(&life->journal);

	if (!transition_is_on(life) || state == TRANSITION_TAKEN)
		return false;
	/* its output is open, and it runs on */
	if (state == TRANSITION_ABORTING)
		return !transition_owes_nothing(transition);
	/* MUT: a person's stop comes before the transition has ended */
	return stops || state == TRANSITION_SEEDING || state >= TRANSITION_ARMING;
}

bool transition_saves_not(const struct lifecycle *life)
{
	enum transition_state state = transition_state_of(life);

	return state >= TRANSITION_ARMING && state <= TRANSITION_TAKEN;
}
