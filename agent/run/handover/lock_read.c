#include "run/handover/lock_read.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/ha/ha_read.h"

enum side_lock lock_read(struct kube *kube, const char *cluster_id, struct ha_unchanged *unchanged,
			 char **ret_why)
{
	int64_t begin_ms = clock_mono_ms(), unrenewed_ms;
	struct ha_cluster cluster = {0};
	struct err err = {0};
	char *why = NULL;
	bool is_free;

	*ret_why = NULL;
	if (ha_cluster_read(kube, cluster_id, &cluster, &err) < 0) {
		*ret_why = xstrdup(err.msg);
		return LOCK_UNKNOWN;
	}
	unrenewed_ms = ha_unchanged_between(unchanged, &cluster.lock, begin_ms, clock_mono_ms());
	is_free = failover_lock_is_free(&cluster.lock, cluster.server_unix_ms, unrenewed_ms, &why);
	ha_cluster_release(&cluster);
	*ret_why = why;
	return is_free ? LOCK_FREE : LOCK_HELD;
}
