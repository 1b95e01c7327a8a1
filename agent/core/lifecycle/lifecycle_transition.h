/*
 * lifecycle_transition - what follows in a transition, after each event. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_TRANSITION_H
#define DREY_CORE_LIFECYCLE_TRANSITION_H

#include "core/lifecycle/lifecycle.h"

/* After each event, while it is on: what follows. */
void transition_pursue(struct lifecycle *life);

/* The container ends. True: the hand-over stays as it is, for the next agent of this version. */
bool transition_stays(struct lifecycle *life);

#endif
