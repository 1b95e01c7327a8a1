#include "core/handover/flip.h"

const char *const flip_stage_words[] = {"INITIALIZING", "TRANSITIONING", "CLEAR_TO_TEARDOWN",
					"RUNNING",      "FAILING",       NULL};
_Static_assert(sizeof(flip_stage_words) / sizeof(flip_stage_words[0]) == FLIP_STAGES + 1,
	       "a word for each stage");

/* Gates read it with parseInt(). */
#define MOST_DELAY_MS INT64_C(2147483647)

struct flip_keys flip_keys(const struct handover *handover, enum side owner_side, int64_t lead_ms)
{
	enum transition_state state = transition_of(handover);
	struct flip_keys keys = {.active = owner_side,
				 .is_first = true,
				 .stage = FLIP_RUNNING,
				 .toggle = FLIP_REMOVED,
				 .delay_ms = lead_ms < MOST_DELAY_MS ? lead_ms : MOST_DELAY_MS};

	if (state == TRANSITION_ABORTING) {
		keys.stage = FLIP_FAILING;
		return keys;
	}
	/* MUT: the keys of a transition stay when it is over */
	if (state < TRANSITION_SEEDED || state >= TRANSITION_DONE)
		return keys;
	keys.active = handover->to.side;
	keys.is_first = false;
	keys.stage = state <= TRANSITION_SHADOW ? FLIP_INITIALIZING
		     : state < TRANSITION_TAKEN ? FLIP_TRANSITIONING
						: FLIP_RUNNING;
	keys.stage_is_theirs = keys.stage == FLIP_TRANSITIONING;
	keys.toggle = state <= TRANSITION_SHADOW ? FLIP_REMOVED : FLIP_LEFT;
	return keys;
}

bool flip_has_crossed(const struct flip_gate *gate)
{
	/* MUT: CLEAR_TO_TEARDOWN is believed alone */
	if (gate->subtasks < 1 || gate->behind < gate->subtasks)
		return false;
	return gate->stage == FLIP_CLEAR_TO_TEARDOWN && gate->gauges_over == gate->gauges;
}
