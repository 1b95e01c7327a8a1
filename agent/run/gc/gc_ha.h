/*
 * gc_ha - what Flink's high availability keeps in <high-availability.storageDir>/<cluster id>, and which
 * of it its ConfigMaps refer to.
 *
 * completedCheckpoint*, submittedJobGraph* and submittedExecutionPlan* have no job id in their names
 * (FileSystemStateStorageHelper): it is read from the file. It counts only if the map of that job, in which
 * its Flink would have named the file, was looked for under the cluster id that the job used, and all
 * maps could be read. Blocks: for lanes and commands.
 */
#ifndef DREY_RUN_GC_HA_H
#define DREY_RUN_GC_HA_H

#include "core/gc/gc.h"
#include "run/config/setup.h"
#include "run/gc/gc_facts.h"

#define GC_HA_PLACES (1 + SIDES)

/* Where files and maps of one cluster id are. */
struct gc_ha_place {
	char *dir;              /* caller frees */
	const char *cluster_id; /* in the names of the maps; borrowed from setup; NULL: not known */
};

/* Those of the configuration, also if Flink has no HA now: earlier launches may have had it. */
size_t gc_ha_places(const struct setup *setup, struct gc_ha_place ret[GC_HA_PLACES]);

struct gc_ha_ask {
	const struct setup *setup;
	const struct journal *journal;
	gc_facts_progress_fn *progress;
	void *progress_ctx;
};

/* Adds GC_TREE_HA, and refers to what the maps name; before gc_judge(). Asks the API server only if there
 * are such files. */
void gc_ha_read(const struct gc_ha_ask *ask, struct gc *gc);

#endif
