/*
 * lifecycle_transition_state - the record of a transition: its begin, its states, its end. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_TRANSITION_STATE_H
#define DREY_CORE_LIFECYCLE_TRANSITION_STATE_H

#include "core/lifecycle/lifecycle.h"

/* A new one begins with the offer that was just made. */
void transition_offer(struct lifecycle *life);
/* Another state begins. */
void transition_enters(struct lifecycle *life);
/* One that has begun is not gone on with: ids that the candidate's job may have used stay known. */
void transition_drop(struct lifecycle *life);

/* The job ids that the candidate's job may have used are known as this application's. */
void transition_keep_ids(struct lifecycle *life);

#endif
