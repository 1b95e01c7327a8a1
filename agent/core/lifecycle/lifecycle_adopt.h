/*
 * lifecycle_adopt - a new agent finds Flink running or ended. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_ADOPT_H
#define DREY_CORE_LIFECYCLE_ADOPT_H

#include "core/lifecycle/lifecycle.h"

/* The first event: is Flink running, or how did it end while no agent was running? */
void adopt(struct lifecycle *life, const struct event *event);

#endif
