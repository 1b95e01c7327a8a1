/*
 * scale_batch - one act of core/scale.h for several objects: the requests to the API server. It blocks: for lanes.
 *
 * What can be one request is one: the records of all objects are read, written and removed together. An object whose
 * request fails keeps none of the others from theirs, unless the API server does not respond at all: the rest fails
 * with it, so that a batch never takes longer than one timeout.
 *
 * Life cycle: scale_batch_new() -> its tasks are filled in -> scale_batch_do(), once -> its tasks are read ->
 * scale_batch_free().
 */
#ifndef DREY_RUN_SCALE_BATCH_H
#define DREY_RUN_SCALE_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/scale.h"
#include "kube/kube.h"
#include "kube/kube_scale.h"

struct scale_task {
	size_t index;     /* of the object, in `targets` of the batch */
	int64_t replicas; /* RECORD, SET */
	struct kube_scale
		there;    /* LOOK: read; RECORD, SET: as it was read, the caller's copy; owned */
	int64_t recorded; /* LOOK: read; may be SCALE_UNREADABLE */
	int result;       /* 0 or -1 with `err` */
	int status;       /* of a failure, as in HTTP; 0: no answer */
	int64_t retry_after_ms; /* the same; -1: not said */
	struct err err;
};

struct scale_batch {
	enum scale_act act;
	const struct kube_scale_target *targets; /* all objects; borrowed */
	size_t target_count;
	const char *journal; /* the ConfigMap of the records; borrowed */
	struct scale_task *tasks;
	size_t count;
};

/* With room for a task for each target; their count is 0. */
struct scale_batch *scale_batch_new(enum scale_act act, const struct kube_scale_target *targets,
				    size_t target_count, const char *journal);

void scale_batch_do(struct scale_batch *batch, struct kube *kube);

void scale_batch_free(struct scale_batch *batch); /* NULL is allowed */

#endif
