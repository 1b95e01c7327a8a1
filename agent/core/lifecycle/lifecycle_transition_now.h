/*
 * lifecycle_transition_now - the state of a transition (blue/green), and what waits for it. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_TRANSITION_NOW_H
#define DREY_CORE_LIFECYCLE_TRANSITION_NOW_H

#include "core/lifecycle/lifecycle.h"

/* The state of the transition that is on record; NONE: there is none, or it is over and was given up. */
enum transition_state transition_state_of(const struct lifecycle *life);
/* The candidate's side, or a later owner's: from its own beginning up to the end of this one. */
bool transition_is_on(const struct lifecycle *life);

/* It was given up, and its output here is open: nothing has to be written again. */
bool transition_owes_nothing(const struct transition *transition);
/* What people want waits until it is over. */
bool transition_defers(const struct lifecycle *life);
/* From the choice of the cut until it is forgotten no savepoints are taken by schedule: what a job has that
 * starts from one depends on the gates. */
bool transition_saves_not(const struct lifecycle *life);

#endif
