/*
 * lifecycle_timers - the deadlines. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_TIMERS_H
#define DREY_CORE_LIFECYCLE_TIMERS_H

#include "core/lifecycle/lifecycle.h"

/* Each deadline that has come is disarmed, and what it was for is done. */
void on_tick(struct lifecycle *life);

#endif
