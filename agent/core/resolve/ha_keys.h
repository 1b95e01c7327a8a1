/*
 * ha_keys - what Flink would start again automatically: keys of <cluster-id>-cluster-config-map.
 *
 *   jobGraph-<job id>         Flink up to 1.20      executionPlan-<job id>   Flink 2.0 and later
 *   application-<id>          Flink 2.3 and later
 *
 * A JobManager recovers all of them, whichever job it is started for. Leftovers of an earlier
 * launch make two jobs run (up to 2.2), or make the start fail and Flink delete all of its HA data
 * (2.3). So they are removed before a start under other ids.
 */
#ifndef DREY_CORE_HA_KEYS_H
#define DREY_CORE_HA_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/journal/journal.h"

/* Is it one of them? */
bool ha_key_is_stored(const char *key);

/* Is it one of them, and not of this launch? `launch` NULL: of none. */
bool ha_key_is_leftover(const char *key, const struct launch *launch);

/* The merge patch that removes the leftovers, bound to the version of the map; NULL: there are
 * none. The caller frees it. */
char *ha_leftover_patch(const char *const *keys, size_t count, const struct launch *launch,
			const char *resource_version);

/*
 * May the map of `job_id` be deleted? `ids`: the checkpoints that it names. Only when a later
 * launch of ours is the current one and has completed a checkpoint of its own, and the map does not
 * name what that launch was started from.
 */
bool ha_map_is_spent(const struct journal *journal, const char *job_id, const int64_t *ids,
		     size_t count);

#endif
