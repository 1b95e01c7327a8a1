/* Gates that go by keys: what their ConfigMap is to say. What it has said is lifecycle_transition_gates.c. */
#include "core/lifecycle/lifecycle_gate_keys.h"

#include "base/mem.h"
#include "core/lifecycle/lifecycle_transition_facts.h"
#include "core/lifecycle/lifecycle_transition_now.h"

static bool has_keys(const struct lifecycle *life)
{
	const struct handover_config *config = &life->config->handover;

	return config->mode == HANDOVER_BLUE_GREEN &&
	       gate_kind_of(config->blue_green.policy.gate)->keys;
}

enum keys_turn lifecycle_wants_keys(const struct lifecycle *life, struct keys_wanted *ret_wanted)
{
	const struct handover *handover = &life->journal.handover;

	if (!has_keys(life) || life->config->handover.shadow)
		return KEYS_OTHERS;
	/* MUT: the owner of before writes the keys, too */
	if (life->fenced || life->handover.giving)
		return KEYS_OTHERS;
	/* MUT: the keys say what is not on record */
	if (!lifecycle_is_durable(life) || life->journal_broken)
		return KEYS_LATER;
	*ret_wanted = (struct keys_wanted){
		.handover = handover,
		.owner_side = journal_output_side(&life->journal, NULL),
		.ended = transition_candidate_has_ended(life),
		.lead_ms = life->config->handover.blue_green.policy.lead_ms,
		.transition = transition_is_on(life) ? handover->id : NULL,
		.state = transition_state_of(life),
		.cut_recorded = transition_is_on(life) && handover->transition.toggle_unix_ms};
	return KEYS_MINE;
}

const char *lifecycle_looks_at_gates(const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	bool shadow = life->config->handover.shadow;

	if (!has_keys(life) || !launch || life->launch_step != LAUNCH_LIVE || life->fenced)
		return NULL;
	if (life->handover.giving)
		return NULL;
	return shadow || transition_is_on(life) ? launch->job_id : NULL;
}
