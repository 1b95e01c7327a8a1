#include "run/ha/ha_observe.h"

#include <stdlib.h>

#include "base/mem.h"
#include "core/resolve/lineage_dirs.h"
#include "kube/kube.h"
#include "run/config/setup_side.h"

void ha_query_for(const struct setup *setup, const char *cluster_id, const struct journal *journal,
		  struct ha_query *ret_query)
{
	ha_query_init(ret_query, cluster_id, setup->places.id_space, setup->places.id_count,
		      journal);
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
	plan->ha_unread = ret_reading->state == SOURCE_UNREADABLE;
	observe_plan_add_ha(plan, &ret_reading->maps, ret_reading->state, ret_reading->detail);
}

void ha_observe_once(const struct setup *setup, const struct journal *journal,
		     struct observe_plan *plan)
{
	struct ha_unchanged unchanged = {0};
	cleanup_ha_reading struct ha_reading reading = {0};
	struct ha_query query;
	struct kube *kube = kube_open(setup->kube.client);

	ha_query_for(setup, setup_cluster_id(setup, setup_side(setup, journal)), journal, &query);
	ha_observe(kube, &query, &unchanged, plan, &reading);
	ha_query_release(&query);
	ha_unchanged_release(&unchanged);
	kube_free(kube);
}

void ha_former_init(struct ha_former *former, const struct setup *setup, const char *cluster_id,
		    const struct journal *journal)
{
	const char *ids[LINEAGE_HA_MAX];

	*former = (struct ha_former){0};
	if (!journal)
		return;
	former->count = lineage_ha_clusters(journal, cluster_id, ids);
	for (size_t i = 0; i < former->count; i++)
		ha_query_init(&former->queries[i], ids[i], setup->places.id_space,
			      setup->places.id_count, journal);
}

void ha_former_release(struct ha_former *former)
{
	for (size_t i = 0; i < former->count; i++)
		ha_query_release(&former->queries[i]);
	*former = (struct ha_former){0};
}

static void read_former(struct kube *kube, const struct ha_query *query, struct observe_plan *plan)
{
	cleanup_ha_reading struct ha_reading reading = {0};
	cleanup_free char *why = NULL;
	char *said;

	ha_read(kube, query, &reading);
	for (size_t i = 0; i < reading.maps.count; i++)
		reading.maps.maps[i].former = true;
	if (reading.detail)
		why = xasprintf("cluster id %s of an earlier launch: %s", query->cluster_id,
				reading.detail);
	observe_plan_add_ha(plan, &reading.maps, reading.state, why);
	said = xasprintf("%s%scluster id %s of an earlier launch was read as well",
			 plan->ha_former ? plan->ha_former : "", plan->ha_former ? "; " : "",
			 query->cluster_id);
	free(plan->ha_former);
	plan->ha_former = said;
}

void ha_former_observe(const struct ha_former *former, const struct setup *setup,
		       struct observe_plan *plan)
{
	struct ha_maps none = {0};
	struct err err = {0};
	struct kube *kube = NULL;

	if (!former->count)
		return;
	if (setup->kube.on)
		kube = kube_open(setup->kube.client);
	else
		err_set(&err, ERR_CONFIG, 0,
			"an earlier launch had HA data on Kubernetes (cluster id %s), which drey is not configured to use now",
			former->queries[0].cluster_id);
	if (!kube) {
		observe_plan_add_ha(plan, &none, SOURCE_UNREADABLE, err.msg);
		return;
	}
	for (size_t i = 0; i < former->count; i++)
		read_former(kube, &former->queries[i], plan);
	kube_free(kube);
}
