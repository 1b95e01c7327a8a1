/*
 * ha_observe - Flink's HA maps as facts: from the API server into an observation.
 *
 * Blocks: for lanes and commands.
 */
#ifndef DREY_RUN_HA_OBSERVE_H
#define DREY_RUN_HA_OBSERVE_H

#include "run/config/setup.h"
#include "run/kube/ha_change.h"
#include "run/kube/ha_read.h"
#include "run/observe/observe.h"

/* What to look for; see ha_query_init(). */
void ha_query_for(const struct setup *setup, const struct journal *journal,
		  struct ha_query *ret_query);

/* Read, and add to the plan. `unchanged` lives over several observations. ret_reading: what was read, without
 * its maps, which are the plan's now; ha_reading_release(). */
void ha_observe(struct kube *kube, const struct ha_query *query, struct ha_unchanged *unchanged,
		struct observe_plan *plan, struct ha_reading *ret_reading);

/* The same for a command, of a setup->ha that is on: connect, read, disconnect. A failure is a fact of the plan. journal NULL: it
 * could not be read. */
void ha_observe_once(const struct setup *setup, const struct journal *journal,
		     struct observe_plan *plan);

#endif
