#include "run/handover/lock_read.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/ha/ha_read.h"

void lock_watch_release(struct lock_watch *watch)
{
	free(watch->holder);
	free(watch->renew_time);
	*watch = (struct lock_watch){0};
}

int64_t lock_watch_see(struct lock_watch *watch, const struct failover_lock *lock, int64_t begin_ms,
		       int64_t end_ms)
{
	if (lock->renew_time && xstrsame(watch->holder, lock->holder) &&
	    xstrsame(watch->renew_time, lock->renew_time))
		return begin_ms > watch->since_ms ? begin_ms - watch->since_ms : 0;
	xstrset(&watch->holder, lock->holder);
	xstrset(&watch->renew_time, lock->renew_time);
	watch->since_ms = end_ms;
	return 0;
}

enum side_lock lock_read(struct kube *kube, const char *cluster_id, struct lock_watch *watch,
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
	unrenewed_ms = lock_watch_see(watch, &cluster.lock, begin_ms, clock_mono_ms());
	is_free = failover_lock_is_free(&cluster.lock, cluster.server_unix_ms, unrenewed_ms, &why);
	ha_cluster_release(&cluster);
	*ret_why = why;
	return is_free ? LOCK_FREE : LOCK_HELD;
}
