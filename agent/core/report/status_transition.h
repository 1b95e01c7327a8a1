/*
 * status_transition - what the status document says of a transition (core/handover/transition.h), as the member `transition`
 * of the hand-over. Pure.
 */
#ifndef DREY_CORE_STATUS_TRANSITION_H
#define DREY_CORE_STATUS_TRANSITION_H

#include "base/json.h"
#include "core/lifecycle/lifecycle.h"

/* null if the hand-over is of another kind. life: of the owner, which knows the watermarks; NULL: of another
 * pod, by the hand-over alone. */
void status_add_transition(struct json *to, const struct handover *handover,
			   const struct lifecycle *life);

/* What its next step waits for, in this state; a static text, NULL = nothing. */
const char *status_transition_waits(const struct handover *handover, bool manual);

#endif
