/*
 * lifecycle_control - a request that changes the desired state. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_CONTROL_H
#define DREY_CORE_LIFECYCLE_CONTROL_H

#include "core/lifecycle/lifecycle.h"

/* CONTROL: what is wanted is recorded. */
void on_control(struct lifecycle *life, const struct event *event);

#endif
