#include "kube/kube_lane.h"

int kube_lane_open(struct kube_lane *ret_lane, struct workers *workers,
		   const struct kube_config *config, const char *name, struct err *err)
{
	struct kube *kube = kube_new(config, err);

	if (!kube)
		return -1;
	*ret_lane = (struct kube_lane){lane_new(workers, name), kube};
	return 0;
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
