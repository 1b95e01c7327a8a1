#include "kube/configmap_watch.h"

#include "base/mem.h"
#include "kube/configmap.h"

struct kube_watch *configmap_watch_new(struct kube_watches *watches, const char *namespace,
				       const char *name, void (*changed)(void *ctx), void *ctx,
				       struct err *err)
{
	cleanup_free char *collection = configmap_collection(namespace);
	struct kube_watch_target target = {.collection = collection, .name = name};

	return kube_watch_new(watches, &target, changed, ctx, err);
}
