/*
 * lifecycle_timers - the deadlines. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_TIMERS_H
#define DREY_CORE_LIFECYCLE_TIMERS_H

#include "core/lifecycle/lifecycle.h"

/* Each deadline that has come is disarmed, and what it was for is done. */
void on_tick(struct lifecycle *life);

/* The rows, for the test: the name of the member, and where it is in `life` (borrowed). False: there are no more. */
bool timers_row(size_t index, struct lifecycle *life, const char **ret_name,
		due_time **ret_deadline_ms);

#endif
