/*
 * lifecycle_resolve - gathering the facts, and the decision on them. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_RESOLVE_H
#define DREY_CORE_LIFECYCLE_RESOLVE_H

#include "core/lifecycle/lifecycle.h"

/* Decide what to start from, or park if no launch is desired. */
void resolve_start(struct lifecycle *life, const char *why);
void park(struct lifecycle *life, const struct decision *decision);
/* The facts, and the decision on them; or why it must not be carried out. */
void on_observed(struct lifecycle *life, const struct event *event);
void on_refused(struct lifecycle *life, const struct event *event);

#endif
