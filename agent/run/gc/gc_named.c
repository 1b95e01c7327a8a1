#include "run/gc/gc_named.h"

#include <stdlib.h>

#include "base/mem.h"
#include "core/gc/gc.h"
#include "run/config/setup_side.h"
#include "run/ha/ha_observe.h"
#include "run/observe/observe.h"

static void gc_named_take(const struct journal *journal, const struct facts *facts,
			  struct gc_named *named)
{
	const struct source_fact *source = &facts->sources[SOURCE_HA];

	if (source->state == SOURCE_UNREADABLE)
		named->unreadable = xasprintf("Flink's HA data cannot be read: %s",
					      source->detail ? source->detail : "unknown");
	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct candidate *c = &facts->candidates[i];

		if (!gc_ha_needs(journal, c))
			continue;
		named->paths = xreallocarray(named->paths, named->count + 1, sizeof(*named->paths));
		named->paths[named->count++] = xstrdup(c->snapshot.path);
	}
}

/* Only Flink's HA data: the rest is listed completely anyway. */
static void plan_ha(const struct setup *setup, const struct journal *journal,
		    struct observe_plan *plan)
{
	const struct observe_places nowhere = {.storage = &setup->storage};
	const char *cluster_id = setup_cluster_id(setup, setup_side(setup, journal));
	struct ha_former former;

	observe_plan_init(plan, &nowhere, journal, NULL);
	lineage_dirs_release(&plan->lineage);
	xstrset(&plan->first, NULL);
	if (setup->ha.on)
		ha_observe_once(setup, journal, plan);
	ha_former_init(&former, setup, setup->ha.on ? cluster_id : NULL, journal);
	ha_former_observe(&former, setup, plan);
	ha_former_release(&former);
}

void gc_named_read(const struct setup *setup, const struct journal *journal, struct gc_named *ret)
{
	cleanup_observe_plan struct observe_plan plan = {0};
	cleanup_facts struct facts facts = {0};

	*ret = (struct gc_named){0};
	plan_ha(setup, journal, &plan);
	observe_gather(&plan, &facts);
	gc_named_take(journal, &facts, ret);
}

void gc_named_release(struct gc_named *named)
{
	for (size_t i = 0; i < named->count; i++)
		free(named->paths[i]);
	free(named->paths);
	free(named->unreadable);
	*named = (struct gc_named){0};
}
