/*
 * lock_read - may a Flink be alive that leads under this cluster id? By its leader lock, which only
 * a JobManager renews.
 *
 * A lock is free when it was released or there is no such map (Flink deletes it when the job has
 * finished), when it has run out by the API server's clock, and when this process has seen it
 * unrenewed for its whole length, whatever the clocks say. In every doubt it is held.
 *
 * Life cycle: a zeroed struct ha_unchanged, one for each cluster id -> lock_read() ... ->
 * ha_unchanged_release(). It blocks: for a lane.
 */
#ifndef DREY_RUN_LOCK_READ_H
#define DREY_RUN_LOCK_READ_H

#include "core/handover/side_lock.h"
#include "kube/kube.h"
#include "run/ha/ha_change.h"

/* Read it once. *ret_why: why it is not free, NULL if it is; the caller frees. A failure is
 * LOCK_UNKNOWN, and what was seen before still counts. */
enum side_lock lock_read(struct kube *kube, const char *cluster_id, struct ha_unchanged *unchanged,
			 char **ret_why);

#endif
