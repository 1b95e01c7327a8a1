#include "run/kube/ha_observe.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kube/kube.h"

void ha_query_for(const struct setup *setup, const struct journal *journal,
		  struct ha_query *ret_query)
{
	ha_query_init(ret_query, setup->ha.cluster_id, setup->places.id_space,
		      setup->places.id_count, journal);
}

void ha_observe(struct kube *kube, const struct ha_query *query, struct ha_unchanged *unchanged,
		struct observe_plan *plan, struct ha_reading *ret_reading)
{
	struct ha_cluster *cluster;
	cleanup_free char *held = NULL;

	ha_read(kube, query, ret_reading);
	cluster = &ret_reading->cluster;
	if (!failover_lock_is_free(&cluster->lock, cluster->server_unix_ms,
				   ha_unchanged_ms(unchanged, &cluster->lock), &held))
		xstrset(&plan->lock_held, held);
	observe_plan_add_ha(plan, &ret_reading->maps, ret_reading->state, ret_reading->detail);
}

void ha_observe_once(const struct setup *setup, const struct journal *journal,
		     struct observe_plan *plan)
{
	struct ha_unchanged unchanged = {0};
	struct ha_reading reading = {0};
	struct ha_query query;
	struct err err = {0};
	struct kube *kube = kube_new(&setup->kube.config, &err);

	if (!kube) {
		observe_plan_add_ha(plan, &reading.maps, SOURCE_UNREADABLE, err.msg);
		return;
	}
	ha_query_for(setup, journal, &query);
	ha_observe(kube, &query, &unchanged, plan, &reading);
	ha_query_release(&query);
	ha_reading_release(&reading);
	ha_unchanged_release(&unchanged);
	kube_free(kube);
}
