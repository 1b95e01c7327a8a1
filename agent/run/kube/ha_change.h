/*
 * ha_change - what drey changes in Flink's HA ConfigMaps: the lock of a Flink that has died, jobs that
 * would be started twice, maps of jobs that have gone. Each change is bound to the version that was
 * judged, and looked at again when somebody was faster.
 *
 * Blocks: for lanes.
 */
#ifndef DREY_RUN_HA_CHANGE_H
#define DREY_RUN_HA_CHANGE_H

#include "base/err.h"
#include "core/failover.h"
#include "core/journal.h"
#include "kube/kube.h"
#include "run/kube/ha_read.h"

#define HA_CHANGE_ROUNDS 5 /* of looking again */

/* A change that a start waits for, and can do without, takes no longer than this. */
#define HA_RELEASE_TIMEOUT_MS 5000

/* What came of it. */
struct ha_release {
	enum failover_kind kind; /* RELEASE: done */
	char reason[ERR_MSG_BYTES];
	int64_t took_ms;
};

/* Give the leader lock back, if core/failover.h allows it. Never fails: at worst the successor waits. */
void ha_release_lock(struct kube *kube, const char *cluster_id, const struct failover_watch *watch,
		     const char *launch_id, bool reaped, struct ha_release *ret);

/* How long a lock was seen without a renewal, over several readings. */
struct ha_unchanged {
	char *holder, *renew_time;
	int64_t since_ms; /* monotonic */
};
int64_t ha_unchanged_ms(struct ha_unchanged *unchanged, const struct failover_lock *lock);
void ha_unchanged_release(struct ha_unchanged *unchanged); /* zeroed is allowed */

/*
 * Before a start of `launch`: take out what an earlier launch has left to be started again
 * (core/ha_keys.h). 0 also when there is nothing. ret_cluster is the map as it is then. -1: do not start:
 *   ERR_BUSY  a Flink may live that holds the lock    others: those of kube_do()
 */
int ha_clean(struct kube *kube, const char *cluster_id, const struct launch *launch,
	     struct ha_unchanged *unchanged, struct ha_cluster *ret_cluster, struct err *err);

/* Delete the map of a job, if it is as it was read. 0 also when it has gone; ERR_BUSY: it has changed. */
int ha_job_delete(struct kube *kube, const char *cluster_id, const struct ha_job *job,
		  struct err *err);

#endif
