/* Which HA maps an agent reads, as run/ha/ha_read.h says. A file of its own: its types have the names of the models'. */
#include "tests/sim/ids_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/ha/ha_read.h"

struct ids_maps {
	struct ha_query query;
};

struct ids_maps *ids_maps_new(const char *id_space, int64_t id_count, const struct journal *journal)
{
	struct ids_maps *maps = xcalloc(1, sizeof(*maps));

	ha_query_init(&maps->query, "sim", id_space, id_count, journal);
	return maps;
}

bool ids_maps_have(const struct ids_maps *maps, const char *job_id)
{
	for (size_t i = 0; i < maps->query.job_count; i++)
		if (!strcmp(maps->query.job_ids[i], job_id))
			return true;
	return maps->query.by_label;
}

void ids_maps_free(struct ids_maps *maps)
{
	ha_query_release(&maps->query);
	free(maps);
}
