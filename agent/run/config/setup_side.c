#include "run/config/setup_side.h"

#include "base/mem.h"
#include "core/handover/gate_kind.h"

static const struct gate_kind *setup_gate_kind(const struct setup *setup)
{
	return gate_kind_of((enum transition_gate)setup->config.blue_green.gate);
}

const char *setup_cluster_id(const struct setup *setup, enum side side)
{
	return setup->handover.two_sides ? setup->handover.cluster_ids[side] : setup->ha.cluster_id;
}

bool setup_has_gates(const struct setup *setup)
{
	return setup->config.handover.mode == HANDOVER_BLUE_GREEN &&
	       setup_gate_kind(setup)->ordered;
}

const char *setup_output_side(const struct setup *setup, enum side side)
{
	/* blue is what a job is without being told */
	return setup->config.handover.mode == HANDOVER_BLUE_GREEN || side != SIDE_BLUE
		       ? side_name(side)
		       : NULL;
}

struct setup_gate_keys setup_gate_keys(const struct setup *setup, enum side side)
{
	const struct gate_keys_kind *kind = setup_gate_kind(setup)->keys;

	if (!setup->handover.gate_map || !kind)
		return (struct setup_gate_keys){0};
	return (struct setup_gate_keys){
		.properties = {{kind->map_property, setup->handover.gate_map},
			       {kind->side_property, kind->side_words[side]}},
		.count = 2,
		.held_key = kind->held_side,
		.side = kind->side_words[side]};
}

enum side setup_side(const struct setup *setup, const struct journal *journal)
{
	if (!setup->handover.two_sides || !journal)
		return SIDE_BLUE;
	for (size_t i = journal->launch_count; i-- > 0;)
		for (int side = 0; side < SIDES; side++)
			if (xstrsame(journal->launches[i].ha_cluster_id,
				     setup->handover.cluster_ids[side]))
				return (enum side)side;
	return SIDE_BLUE;
}
