/*
 * due_time - when the life cycle has to be woken up (EVENT_TICK): ms on the monotonic clock, 0 = not armed. Each member of
 * this type has a row in lifecycle_timers.c, which says what is done then; tests/unit/test_lifecycle_timers.c compares. A
 * time that is only compared with, and wakes nobody up, is an int64_t.
 */
#ifndef DREY_CORE_LIFECYCLE_DUE_TIME_H
#define DREY_CORE_LIFECYCLE_DUE_TIME_H

#include <stdint.h>

typedef int64_t due_time;

#endif
