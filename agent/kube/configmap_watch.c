#include "kube/configmap_watch.h"

#include "base/json.h"
#include "base/mem.h"

static struct kube_watch *watch_map(struct kube_watches *watches, const char *namespace,
				    struct kube_watch_target *target, void (*changed)(void *ctx),
				    void *ctx, struct err *err)
{
	cleanup_free char *collection = configmap_collection(namespace);

	target->collection = collection;
	return kube_watch_new(watches, target, changed, ctx, err);
}

struct kube_watch *configmap_watch_new(struct kube_watches *watches, const char *namespace,
				       const char *name, void (*changed)(void *ctx), void *ctx,
				       struct err *err)
{
	struct kube_watch_target target = {.name = name};

	return watch_map(watches, namespace, &target, changed, ctx, err);
}

struct kube_watch *configmap_watch_keep(struct kube_watches *watches, const char *namespace,
					const char *name, void (*changed)(void *ctx), void *ctx,
					struct err *err)
{
	struct kube_watch_target target = {.name = name, .keeps = true};

	return watch_map(watches, namespace, &target, changed, ctx, err);
}

int configmap_watch_take(struct kube_watch *watch, const char *name, struct configmap *ret)
{
	cleanup_json struct json *news = watch ? kube_watch_take(watch) : NULL;

	return news && configmap_decode(news, name, ret, NULL) == 0;
}
