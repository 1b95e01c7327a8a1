/*
 * ha_change - what drey changes in Flink's HA ConfigMaps: the lock of a dead Flink, jobs that would
 * be started twice, maps of past jobs. Each change is bound to the version that was judged, and
 * judged again after a conflict.
 *
 * Blocks: for lanes.
 */
#ifndef DREY_RUN_HA_CHANGE_H
#define DREY_RUN_HA_CHANGE_H

#include "base/err.h"
#include "core/journal/journal.h"
#include "core/lifecycle/failover.h"
#include "kube/kube.h"
#include "run/ha/ha_read.h"

#define HA_CHANGE_ROUNDS 5 /* judgements after conflicts */

/* An optional change that a start waits for takes no longer than this. */
#define HA_RELEASE_TIMEOUT_MS 5000

/* The result. */
struct ha_release {
	enum failover_kind kind; /* RELEASE: done */
	char reason[ERR_MSG_BYTES];
	int64_t took_ms;
};

/* Release the leader lock, if core/lifecycle/failover.h allows it. Never fails: at worst the successor
 * waits. */
void ha_release_lock(struct kube *kube, const char *cluster_id, const struct failover_watch *watch,
		     const char *launch_id, bool reaped, struct ha_release *ret);

/* How long a lock has been seen without renewal, over several readings. */
struct ha_unchanged {
	char *holder, *renew_time;
	int64_t since_ms; /* monotonic */
};
/* In a reading that began at begin_ms and ended at end_ms: at least that long, a slow answer does not
 * count. */
int64_t ha_unchanged_between(struct ha_unchanged *unchanged, const struct failover_lock *lock,
			     int64_t begin_ms, int64_t end_ms);
/* ... in one that has just ended, however long it took. */
int64_t ha_unchanged_ms(struct ha_unchanged *unchanged, const struct failover_lock *lock);
void ha_unchanged_release(struct ha_unchanged *unchanged); /* zeroed is allowed */

/*
 * Before a start of `launch`: remove what Flink would start again of an earlier launch
 * (core/resolve/ha_keys.h). 0 also if there is nothing. ret_cluster is the map as it is then. -1: do not
 * start:
 *   ERR_BUSY  a live Flink may own the lock    others: those of kube_do()
 */
int ha_clean(struct kube *kube, const char *cluster_id, const struct launch *launch,
	     struct ha_unchanged *unchanged, struct ha_cluster *ret_cluster, struct err *err);

/* Delete the map of a job, if unchanged since it was read. 0 also if it no longer exists; ERR_BUSY:
 * it has changed. */
int ha_job_delete(struct kube *kube, const char *cluster_id, const struct ha_job *job,
		  struct err *err);

#endif
