/*
 * lifecycle_last_resort - a job that is ended without a savepoint. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_LAST_RESORT_H
#define DREY_CORE_LIFECYCLE_LAST_RESORT_H

#include "core/lifecycle/lifecycle.h"

/* End the job without a savepoint, once its newest checkpoint was read: else stop_again(). nonce: of a restart. */
void last_resort_begin(struct lifecycle *life, enum operation_reason reason, const char *nonce,
		       const char *why);
/* A poll has shown the job: its newest checkpoint is read now. */
void last_resort_viewed(struct lifecycle *life);
bool last_resort_inspected(struct lifecycle *life,
			   const struct event *event); /* true: it was for this */
void last_resort_forget(struct lifecycle *life); /* the request was withdrawn, or Flink has ended */

#endif
