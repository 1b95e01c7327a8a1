/*
 * lifecycle_launch - the intent of a launch. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_LAUNCH_H
#define DREY_CORE_LIFECYCLE_LAUNCH_H

#include "core/lifecycle/lifecycle.h"

/* The intent is written to the journal first; EFFECT_LAUNCH comes out after that. */
void begin_launch(struct lifecycle *life, const struct decision *decision,
		  const struct facts *facts);

/* A launch that was intended but not requested yet is no longer desired. */
void launch_withdraw(struct lifecycle *life);
void launch_never_started(struct lifecycle *life, struct launch *launch); /* for certain */
/* number: of the launch, 0 = not known; a launch that continues has the job id of the previous
 * one. */
bool is_current_launch(struct lifecycle *life, const char *launch_id, int64_t number);

/* Flink would be killed at once, or comes too soon after the others: true, and it is decided again later. */
bool launch_must_wait(struct lifecycle *life);

#endif
