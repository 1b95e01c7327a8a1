/*
 * ha_observe - Flink's HA maps as facts: from the API server into an observation.
 *
 * Blocks: for lanes and commands.
 */
#ifndef DREY_RUN_HA_OBSERVE_H
#define DREY_RUN_HA_OBSERVE_H

#include "core/resolve/lineage_dirs.h"
#include "run/config/setup.h"
#include "run/ha/ha_change.h"
#include "run/ha/ha_read.h"
#include "run/observe/observe.h"

/* What to read of this cluster id; see ha_query_init(). */
void ha_query_for(const struct setup *setup, const char *cluster_id, const struct journal *journal,
		  struct ha_query *ret_query);

/* Read, and add to the plan. `unchanged` persists over several observations. ret_reading: what was
 * read, without its maps, which the plan now owns; ha_reading_release(). */
void ha_observe(struct kube *kube, const struct ha_query *query, struct ha_unchanged *unchanged,
		struct observe_plan *plan, struct ha_reading *ret_reading);

/* The HA maps that earlier launches left under cluster ids that Flink does not use now: HA was
 * switched off, or given another id, or the job was on the other side. They are read as long as they may hold newer state
 * (core/resolve/lineage_dirs.h). */
struct ha_former {
	struct ha_query queries[LINEAGE_HA_MAX];
	size_t count;
};

/* All but `cluster_id`, which is used now (NULL: none is). journal NULL: unknown. Copies what is
 * needed. */
void ha_former_init(struct ha_former *former, const struct setup *setup, const char *cluster_id,
		    const struct journal *journal);

/* Connect, read into the plan, disconnect; nothing when there are none. A failure is a fact. Any thread. */
void ha_former_observe(const struct ha_former *former, const struct setup *setup,
		       struct observe_plan *plan);
void ha_former_release(struct ha_former *former); /* zeroed is allowed */

/* The same as ha_observe() for a command, if setup->ha is on, on the side of the journal: connect, read,
 * disconnect. A failure is a fact of the plan. journal NULL: it could not be read. */
void ha_observe_once(const struct setup *setup, const struct journal *journal,
		     struct observe_plan *plan);

#endif
