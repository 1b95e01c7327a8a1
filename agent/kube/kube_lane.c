#include "kube/kube_lane.h"

struct kube_lane kube_lane_open(struct workers *workers, struct kube_client *client,
				const char *name)
{
	return (struct kube_lane){lane_new(workers, name), kube_open(client)};
}

void kube_lane_stop(struct kube_lane *lane)
{
	if (lane->kube)
		kube_stop(lane->kube);
}

bool kube_lane_close(struct kube_lane *lane, int64_t wait_ms)
{
	bool ended = lane_free(lane->lane, wait_ms);

	lane->lane = NULL;
	if (!ended) {
		kube_lane_stop(lane);
		return false;
	}
	kube_free(lane->kube);
	lane->kube = NULL;
	return true;
}
