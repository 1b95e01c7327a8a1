/*
 * kube_lane - a lane (base/lane.h) with its own client of the API server, because a client is used
 * by one thread at a time.
 *
 * Life cycle: kube_lane_open() -> lane_submit(x.lane, ...), whose work uses x.kube -> kube_lane_close().
 * For the loop's thread.
 */
#ifndef DREY_RUN_KUBE_LANE_H
#define DREY_RUN_KUBE_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/lane.h"
#include "kube/kube.h"

struct kube_lane {
	struct lane *lane;
	struct kube *kube; /* the lane's */
};

/* `name` as of lane_new(). -1: *ret_lane is as it was. */
int kube_lane_open(struct kube_lane *ret_lane, struct workers *workers,
		   const struct kube_config *config, const char *name, struct err *err);

/* A call that is under way ends within 100 ms, and so does each one from now on. */
void kube_lane_stop(struct kube_lane *lane); /* zeroed is allowed */

/* As lane_free(); the client is freed too. False: a hanging job still uses the client and its
 * arg. */
bool kube_lane_close(struct kube_lane *lane, int64_t wait_ms); /* zeroed is allowed */

#endif
