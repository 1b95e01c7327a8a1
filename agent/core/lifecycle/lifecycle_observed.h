/*
 * lifecycle_observed - the facts are gathered, and the decision is carried out. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_OBSERVED_H
#define DREY_CORE_LIFECYCLE_OBSERVED_H

#include "core/lifecycle/lifecycle.h"

/* The facts, and the decision on them; or why it must not be carried out. */
void on_observed(struct lifecycle *life, const struct event *event);
void on_refused(struct lifecycle *life, const struct event *event);

#endif
