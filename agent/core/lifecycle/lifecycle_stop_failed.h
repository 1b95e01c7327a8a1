/*
 * lifecycle_stop_failed - a stop on request has failed: again, or what else. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_STOP_FAILED_H
#define DREY_CORE_LIFECYCLE_STOP_FAILED_H

#include "core/lifecycle/lifecycle.h"

void stop_flink_gone(struct lifecycle *life); /* a restart that has ended it is done */
/* A resume has come before Flink was told to end for a suspend: it runs on. */
void stop_withdrawn(struct lifecycle *life);

/* A stop with savepoint has failed for good, and the job runs. nonce: of a restart. */
void stop_failed(struct lifecycle *life, enum operation_reason reason, const char *nonce,
		 const char *why);

/* The job runs, and its stop is tried again after a pause, if it is still requested. */
void stop_again(struct lifecycle *life, const char *why);

#endif
