/*
 * lifecycle_stop_failed - a stop on request has failed: again, or what else. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_STOP_FAILED_H
#define DREY_CORE_LIFECYCLE_STOP_FAILED_H

#include "core/lifecycle/lifecycle.h"

/* A poll has shown the job: its newest checkpoint is read now. */
void last_resort_viewed(struct lifecycle *life);
void last_resort_read(struct lifecycle *life, const struct event *event); /* that one */
void last_resort_forget(struct lifecycle *life); /* the request was withdrawn, or Flink has ended */

void stop_flink_gone(struct lifecycle *life); /* a restart that has ended it is done */
/* A resume has come before Flink was told to end for a suspend: it runs on. */
void stop_withdrawn(struct lifecycle *life);

/* A stop with savepoint has failed for good, and the job runs. nonce: of a restart. */
void stop_failed(struct lifecycle *life, enum operation_reason reason, const char *nonce,
		 const char *why);

#endif
