/*
 * The parts of the driver, in one table whose order is policy. They are opened, asked and told in
 * this order, and closed in the reverse order.
 */
#include "run/part.h"

#include <stddef.h>

const struct part *const parts[] = {
	/* first, and closed last: a write that is under way gets the most time */
	&part_journal,
	/* what acts */
	&part_observe,
	&part_launch,
	&part_flink,
	&part_dispose,
	&part_ha,
	/* what people and the cluster ask for */
	&part_requests,
	&part_inputs,
	&part_used,
	&part_resource,
	&part_sigterm,
	/* what drey tells */
	&part_log,
	&part_hooks,
	&part_events,
	&part_ready,
	&part_http,
	NULL,
};
