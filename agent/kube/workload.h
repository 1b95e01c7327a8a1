/*
 * workload - what our pod belongs to, read by name: a Deployment of apps/v1 or a Job of batch/v1.
 *
 * Life cycle: workload_get() -> workload_release(). It blocks: for lanes.
 */
#ifndef DREY_KUBE_WORKLOAD_H
#define DREY_KUBE_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "kube/kube.h"

/* Annotation of the pod template, or of the object itself, that names the generation. */
#define WORKLOAD_GENERATION "drey.dev/generation"

enum workload_kind {
	WORKLOAD_DEPLOYMENT,
	WORKLOAD_JOB,
};

struct workload {
	char *uid; /* never NULL in what was read */
	bool deleting, suspended;
	int64_t replicas; /* that are wanted; 1 for a Job */
	char *generation; /* NULL: it does not say */
};

void workload_release(struct workload *workload); /* zeroed is allowed */

/* ERR_FORMAT: it is not the object of that kind and name. */
int workload_decode(const struct json *object, enum workload_kind kind, const char *name,
		    struct workload *ret, struct err *err);

/* Errors are those of kube_do(); ERR_ABSENT: there is none of that name. */
int workload_get(struct kube *kube, enum workload_kind kind, const char *name, int64_t timeout_ms,
		 struct workload *ret, struct err *err);

#endif
