/*
 * The parts of the driver, in one table whose order is policy. They are opened, asked and told in
 * this order, and closed in the reverse order. Gates of one stage are asked at the same time, after
 * those of the stage before it have opened.
 */
#include "run/part.h"

#include <stddef.h>

const struct part_row parts[] = {
	/* without drey-init there is nothing to do */
	{0, &part_init},
	/* before all that acts, and closed after it: a write that is under way gets the most time */
	{0, &part_journal},
	/* what acts */
	{0, &part_observe},
	{0, &part_relaunch},
	{0, &part_leavings},
	{0, &part_launch},
	{0, &part_spare},
	{0, &part_flink},
	{0, &part_rescale},
	{0, &part_gates},
	{0, &part_dispose},
	{0, &part_gc},
	{0, &part_log},
	/* what they do may change what people want, and what there is to report */
	{1, &part_hooks},
	/* what people and the cluster ask for: what counts is what they say last */
	{2, &part_requests},
	{2, &part_inputs},
	{2, &part_used},
	{2, &part_resource},
	{2, &part_sigterm},
	{2, &part_handover},
	{2, &part_gate_keys},
	/* what drey tells */
	{2, &part_resource_status},
	{2, &part_ready},
	{2, &part_scale},
	{2, &part_events},
	{2, &part_notifications},
	{2, &part_http},
	/* what is left for an installation that comes after this one */
	{2, &part_copy},
	/* what keeps others out: not longer than necessary */
	{3, &part_lease},
	{3, &part_ha},
	{3, &part_shadow},
	{3, &part_flink_lock},
	{0, NULL},
};
