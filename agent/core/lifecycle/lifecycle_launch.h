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
void launch_written(struct lifecycle *life); /* the deferred EFFECT_LAUNCH is due */
/* What came of EFFECT_LAUNCH: exec succeeded; Flink was not started; it must not be now. */
void on_started(struct lifecycle *life, const struct event *event);
void on_launch_failed(struct lifecycle *life, const struct event *event);
void on_launch_refused(struct lifecycle *life, const struct event *event);
/* number: of the launch, 0 = not known; a launch that continues has the job id of the previous
 * one. */
bool is_current_launch(struct lifecycle *life, const char *launch_id, int64_t number);

/* A launch failed: count it, then retry later or give up. */
void launch_failure(struct lifecycle *life, const char *why);

#endif
