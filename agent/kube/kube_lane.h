/*
 * kube_lane - a lane (base/lane.h) for requests to the API server, which can be stopped without the
 * others that share its client.
 *
 * Life cycle: kube_lane_open() -> lane_submit(x.lane, ...), whose work uses x.kube -> kube_lane_close().
 * For the loop's thread.
 */
#ifndef DREY_RUN_KUBE_LANE_H
#define DREY_RUN_KUBE_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lane.h"
#include "kube/kube.h"

struct kube_lane {
	struct lane *lane;
	struct kube *kube; /* the lane's */
};

/* `name` as of lane_new(). */
struct kube_lane kube_lane_open(struct workers *workers, struct kube_client *client,
				const char *name);

/* A call that is under way ends within 100 ms, and so does each one from now on. */
void kube_lane_stop(struct kube_lane *lane); /* zeroed is allowed */

/* As lane_free(); x.kube is freed too. False: a hanging job still uses it and its arg. */
bool kube_lane_close(struct kube_lane *lane, int64_t wait_ms); /* zeroed is allowed */

#endif
