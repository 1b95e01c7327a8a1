/*
 * kube_scale - the number of Pods of a Deployment or StatefulSet, through its subresource scale: a Role can allow it by
 * name, without a right to the rest of the object.
 *
 * Life cycle: kube_scale_get() -> kube_scale_set() with what was read -> kube_scale_release(). It blocks: for lanes.
 *
 * Source: k8s.io/api autoscaling/v1 Scale. Its spec.replicas is left out when it is 0.
 */
#ifndef DREY_KUBE_KUBE_SCALE_H
#define DREY_KUBE_KUBE_SCALE_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "kube/kube.h"

enum kube_scale_kind {
	KUBE_SCALE_DEPLOYMENT,
	KUBE_SCALE_STATEFUL_SET,
};
extern const char *const kube_scale_kinds[];     /* "Deployment", ... by value; NULL at the end */
extern const char *const kube_scale_resources[]; /* "deployments", ... by value */

struct kube_scale_target {
	enum kube_scale_kind kind;
	char *name;
};

struct kube_scale {
	char *uid;              /* of the object; never NULL in what was read */
	char *resource_version; /* the same */
	int64_t replicas;       /* desired */
};

void kube_scale_release(struct kube_scale *scale); /* zeroed is allowed; zeroed afterwards */

/* ERR_FORMAT: not the scale of an object of this name. */
int kube_scale_decode(const struct json *object, const char *name, struct kube_scale *ret,
		      struct err *err);

/* Errors are those of kube_do(); ERR_ABSENT: there is no such object. `answer` may be NULL; else zeroed before the
 * first use: kube_answer_release(). */
int kube_scale_get(struct kube *kube, const struct kube_scale_target *target,
		   struct kube_scale *ret, struct kube_answer *answer, struct err *err);

/* Only if it is as it was read, else ERR_BUSY. When answer->maybe_done, read it again. */
int kube_scale_set(struct kube *kube, const struct kube_scale_target *target,
		   const struct kube_scale *read, int64_t replicas, struct kube_answer *answer,
		   struct err *err);

#endif
