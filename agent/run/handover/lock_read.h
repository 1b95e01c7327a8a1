/*
 * lock_read - may a Flink be alive that leads under this cluster id? By its leader lock, which only
 * a JobManager renews.
 *
 * A lock is free when it was released or there is no such map (Flink deletes it when the job has
 * finished), when it has run out by the API server's clock, and when this process has seen it
 * unrenewed for its whole length, whatever the clocks say. In every doubt it is held.
 *
 * Life cycle: a zeroed struct lock_watch, one for each cluster id -> lock_read() ... ->
 * lock_watch_release(). It blocks: for a lane.
 */
#ifndef DREY_RUN_LOCK_READ_H
#define DREY_RUN_LOCK_READ_H

#include <stdint.h>

#include "core/handover/side_lock.h"
#include "core/lifecycle/failover.h"
#include "kube/kube.h"

/* What was seen before: since when is the lock unrenewed? */
struct lock_watch {
	char *holder, *renew_time; /* as last seen */
	int64_t since_ms;          /* monotonic: when it had been read so for the first time */
};

void lock_watch_release(struct lock_watch *watch); /* zeroed is allowed */

/* How long the lock has not been renewed, if it is so in a reading that began at begin_ms and ended
 * at end_ms. At least that long: a slow answer does not count. */
int64_t lock_watch_see(struct lock_watch *watch, const struct failover_lock *lock, int64_t begin_ms,
		       int64_t end_ms);

/* Read it once. *ret_why: why it is not free, NULL if it is; the caller frees. A failure is
 * LOCK_UNKNOWN, and what was seen before still counts. */
enum side_lock lock_read(struct kube *kube, const char *cluster_id, struct lock_watch *watch,
			 char **ret_why);

#endif
