/* ids_maps - the job ids whose HA maps an agent reads: new -> have -> free. */
#ifndef DREY_TESTS_SIM_IDS_MAPS_H
#define DREY_TESTS_SIM_IDS_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/journal/journal.h"

/* id_space NULL: ids are random, and all maps are read. The caller frees with ids_maps_free(). */
struct ids_maps *ids_maps_new(const char *id_space, int64_t id_count,
			      const struct journal *journal);
bool ids_maps_have(const struct ids_maps *maps, const char *job_id);
void ids_maps_free(struct ids_maps *maps);

#endif
