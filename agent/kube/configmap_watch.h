/*
 * configmap_watch - wakes its owner soon after one ConfigMap was changed, created or deleted; see
 * kube_watch.h, also for what the owner must do itself.
 *
 * Life cycle: configmap_watch_new() -> changed()... on the loop's thread -> kube_watch_free().
 */
#ifndef DREY_KUBE_CONFIGMAP_WATCH_H
#define DREY_KUBE_CONFIGMAP_WATCH_H

#include "base/err.h"
#include "kube/configmap.h"
#include "kube/kube_watch.h"

/* As kube_watch_new(), of the ConfigMap `name` of the namespace. Everything is copied. */
struct kube_watch *configmap_watch_new(struct kube_watches *watches, const char *namespace,
				       const char *name, void (*changed)(void *ctx), void *ctx,
				       struct err *err);

/* The same, and configmap_watch_take() has what it has seen. */
struct kube_watch *configmap_watch_keep(struct kube_watches *watches, const char *namespace,
					const char *name, void (*changed)(void *ctx), void *ctx,
					struct err *err);

/* As kube_watch_take(), decoded; the caller releases *ret. 1: there is news; 0: there is none, or it is
 * no ConfigMap: *ret is untouched, and the owner must read to know. `watch` may be NULL. */
int configmap_watch_take(struct kube_watch *watch, const char *name, struct configmap *ret);

#endif
