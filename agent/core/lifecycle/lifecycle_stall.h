/*
 * lifecycle_stall - restarting a job that completes no checkpoint. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_STALL_H
#define DREY_CORE_LIFECYCLE_STALL_H

#include "core/lifecycle/lifecycle.h"

/* The job runs and nothing else is pending: is it to be restarted, because it completes no checkpoint?
 * True while that is being found out. */
bool stall_pursue(struct lifecycle *life);

/* True if it concerns the checkpoint to restart from. */
void stalled_read(struct lifecycle *life, const struct event *event);

#endif
