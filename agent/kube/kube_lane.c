#include "kube/kube_lane.h"

int kube_lane_open(struct kube_lane *ret_lane, struct loop *loop, const struct kube_config *config,
		   const char *name, struct err *err)
{
	struct kube *kube = kube_new(config, err);
	struct lane *lane = kube ? lane_new(loop, name, err) : NULL;

	if (!lane) {
		kube_free(kube);
		return -1;
	}
	*ret_lane = (struct kube_lane){lane, kube};
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
