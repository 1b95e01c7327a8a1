/*
 * termination - the termination message of a container that fails: `kubectl describe pod` and
 * lastState.terminated.message show it.
 *
 * One line of JSON, at most TERMINATION_MAX_BYTES (what the kubelet reads), the cause first. It is
 * written into the file that the kubelet has created; no file is ever created. Source: Kubernetes,
 * "Determine the Reason for Pod Failure" (terminationMessagePath).
 */
#ifndef DREY_RUN_TERMINATION_H
#define DREY_RUN_TERMINATION_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/lifecycle/lifecycle.h"

#define TERMINATION_MAX_BYTES 4096
#define TERMINATION_DEFAULT   "/dev/termination-log"

/* What the application was doing before the container began to stop. */
struct termination_last {
	enum phase phase;
	enum cause cause;
	char reason[512];
};

/* Keep `last` up to date; after every step. */
void termination_see(struct termination_last *last, const struct lifecycle *life);

/* True if this end is a failure: given up, held, or the end of the job is unknown. */
bool termination_is_failure(const struct termination_last *last, const struct lifecycle *life);

/* Append the line. life: NULL when there was no journal yet; error: why drey itself exits, or
 * NULL. */
void termination_text(const struct termination_last *last, const struct lifecycle *life,
		      const char *error, struct buf *text);

/* Replace the content of an existing file. 1: written; 0: there is no such file, or it is not a
 * regular file; -1. */
int termination_write(const char *path, const struct buf *text, struct err *err);

#endif
