/*
 * lifecycle_halt - what is left when the machine contradicts itself. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_HALT_H
#define DREY_CORE_LIFECYCLE_HALT_H

#include "core/lifecycle/lifecycle.h"
#include "core/lifecycle/lifecycle_notice.h"

/* life->contradiction was found in the step of this event: withdraw what the step would have done,
 * and hold. `before`: the standing before that step. */
void halt(struct lifecycle *life, const struct event *event, const struct standing *before);
void halted_step(struct lifecycle *life, const struct event *event, const struct standing *before);

#endif
