/*
 * lifecycle_periodic - when the next periodic savepoint is due. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_PERIODIC_H
#define DREY_CORE_LIFECYCLE_PERIODIC_H

#include "core/lifecycle/lifecycle.h"

/* Plan the next periodic savepoint, but not within `pause_ms`. */
void schedule_savepoint(struct lifecycle *life);
void schedule_savepoint_after(struct lifecycle *life, int64_t pause_ms);

#endif
