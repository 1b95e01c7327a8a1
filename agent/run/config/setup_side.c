#include "run/config/setup_side.h"

#include "base/mem.h"
#include "core/handover/flip.h"

const char *setup_cluster_id(const struct setup *setup, enum side side)
{
	return setup->handover.two_sides ? setup->handover.cluster_ids[side] : setup->ha.cluster_id;
}

bool setup_has_gates(const struct setup *setup)
{
	return setup->config.handover.mode == HANDOVER_BLUE_GREEN &&
	       setup->config.blue_green.gate == TRANSITION_GATE_DREY;
}

const char *setup_output_side(const struct setup *setup, enum side side)
{
	/* blue is what a job is without being told */
	return setup->config.handover.mode == HANDOVER_BLUE_GREEN || side != SIDE_BLUE
		       ? side_name(side)
		       : NULL;
}

const char *setup_flip_side(const struct setup *setup, enum side side)
{
	return setup->handover.flip ? flip_side_word(side) : NULL;
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
