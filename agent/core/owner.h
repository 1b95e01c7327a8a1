/*
 * owner - SIGTERM has come: is it the end of this generation, or will the same be started again? What
 * the pod belongs to (a Deployment or a Job) tells. Pure.
 */
#ifndef DREY_CORE_OWNER_H
#define DREY_CORE_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lifecycle.h"

/* The owner as it was read; all strings are borrowed. */
struct owner {
	bool absent; /* the API server says that there is none of this name */
	const char *uid;
	bool deleting;
	bool suspended;         /* a Job that is to have no pods */
	int64_t replicas;       /* that are wanted; a Job: 1 */
	const char *generation; /* of the pods that it makes now; NULL = it does not say */
};

/*
 * `seen_uid`: of the owner when this process was young, NULL = it was never read: an absent one is
 * then perhaps only one of another name, which says nothing. `generation` is our own, NULL = none.
 * *ret_reason: a sentence, for people.
 */
enum upgrade owner_judge(const struct owner *owner, const char *seen_uid, const char *generation,
			 char *ret_reason, size_t reason_bytes);

#endif
