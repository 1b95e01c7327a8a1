/*
 * lifecycle_transition - what follows in a transition, after each event. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_TRANSITION_H
#define DREY_CORE_LIFECYCLE_TRANSITION_H

#include "core/lifecycle/lifecycle.h"

/* A new one begins with the offer that was just made. */
void transition_offer(struct lifecycle *life);
/* After each event, while it is on: what follows. */
void transition_pursue(struct lifecycle *life);
void transition_pursue_owner(struct lifecycle *life); /* whatever is on its way into the journal */
/* Another state begins. */
void transition_enters(struct lifecycle *life);
/* One that has begun is not gone on with: ids that the candidate's job may have used stay known. */
void transition_drop(struct lifecycle *life);

#endif
