/*
 * lifecycle_started - Flink was started, or was not; failed attempts. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_STARTED_H
#define DREY_CORE_LIFECYCLE_STARTED_H

#include "core/lifecycle/lifecycle.h"

void launch_written(struct lifecycle *life); /* the deferred EFFECT_LAUNCH is due */
/* What came of EFFECT_LAUNCH: exec succeeded; Flink was not started; it must not be now. */
void on_started(struct lifecycle *life, const struct event *event);
void on_launch_failed(struct lifecycle *life, const struct event *event);
void launch_refused(struct lifecycle *life, const struct event *event);

/* A launch failed: count it, then retry later or give up. */
void launch_failure(struct lifecycle *life, const char *why);

#endif
