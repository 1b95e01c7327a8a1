/* The gates of FLIP-504 (core/handover/flip.h): what their ConfigMap is to say. What it has said is lifecycle_transition_gates.c. */
#include "core/lifecycle/lifecycle_flip.h"

#include "base/mem.h"
#include "core/lifecycle/lifecycle_transition_facts.h"
#include "core/lifecycle/lifecycle_transition_now.h"

static bool has_flip(const struct lifecycle *life)
{
	const struct handover_config *config = &life->config->handover;

	return config->mode == HANDOVER_BLUE_GREEN &&
	       config->blue_green.policy.gate == TRANSITION_GATE_FLIP;
}

enum flip_turn lifecycle_wants_flip(const struct lifecycle *life, struct flip_wanted *ret_wanted)
{
	const struct handover *handover = &life->journal.handover;

	if (!has_flip(life) || life->config->handover.shadow)
		return FLIP_OTHERS;
	/* MUT: the owner of before writes the keys, too */
	if (life->fenced || life->handover.giving)
		return FLIP_OTHERS;
	/* MUT: the keys say what is not on record */
	if (!lifecycle_is_durable(life) || life->journal_broken)
		return FLIP_LATER;
	*ret_wanted = (struct flip_wanted){
		.keys = flip_keys(handover, journal_output_side(&life->journal, NULL),
				  transition_candidate_has_ended(life),
				  life->config->handover.blue_green.policy.lead_ms),
		.transition = transition_is_on(life) ? handover->id : NULL,
		.state = transition_state_of(life),
		.cut_recorded = transition_is_on(life) && handover->transition.toggle_unix_ms};
	return FLIP_MINE;
}

const char *lifecycle_looks_at_flip(const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	bool shadow = life->config->handover.shadow;

	if (!has_flip(life) || !launch || life->launch_step != LAUNCH_LIVE || life->fenced)
		return NULL;
	if (life->handover.giving)
		return NULL;
	return shadow || transition_is_on(life) ? launch->job_id : NULL;
}
