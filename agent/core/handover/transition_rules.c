/* The first rule of the owner that is true: of those for a transition, or of those for surge. */
#include "core/handover/transition_rules.h"

/* The states that surge has rules for. */
static enum transition_state surge_state(const struct handover *handover)
{
	return handover->state == HANDOVER_OFFERED    ? TRANSITION_OFFERED
	       : handover->state == HANDOVER_STOPPING ? TRANSITION_ENDING
						      : TRANSITION_NONE;
}

bool transition_owner(const struct handover *handover, const struct transition_facts *facts,
		      const struct transition_policy *policy, struct transition_move *ret_move)
{
	const struct transition_question q = {handover, facts, policy, gate_kind_of(policy->gate)};
	enum transition_state state = transition_of(handover);
	size_t count;
	const struct transition_rule *rules =
		state ? transition_owner_rules(&count) : surge_owner_rules(&count);

	if (!state)
		state = surge_state(handover);
	for (size_t i = 0; i < count; i++) {
		const struct transition_rule *rule = &rules[i];

		if (rule->state != state || !rule->holds(&q))
			continue;
		*ret_move = (struct transition_move){.state = rule->next,
						     .act = rule->act,
						     .counts = rule->counts,
						     .quotes = rule->quotes,
						     .why = rule->why};
		return true;
	}
	return false;
}
