/*
 * owner - after SIGTERM: is this the end of this generation, or will the same one be started again?
 * The owner of the pod (a Deployment or a Job) tells. Pure.
 */
#ifndef DREY_CORE_OWNER_H
#define DREY_CORE_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lifecycle/lifecycle.h"

/* The owner as read; all strings are borrowed. */
struct owner {
	bool absent; /* the API server has none of this name */
	const char *uid;
	bool deleting;
	bool suspended;         /* a Job that should have no pods */
	int64_t replicas;       /* desired; a Job: 1 */
	const char *generation; /* of the pods that it creates now; NULL = not given */
};

/*
 * `seen_uid`: of the owner as first read by this process, NULL = never read: an absent owner may
 * then only have another name, which proves nothing. `generation` is our own, NULL = none.
 * *ret_reason: a sentence, for people.
 */
enum upgrade owner_judge(const struct owner *owner, const char *seen_uid, const char *generation,
			 char *ret_reason, size_t reason_bytes);

#endif
