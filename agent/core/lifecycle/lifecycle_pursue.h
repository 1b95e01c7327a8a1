/*
 * lifecycle_pursue - the desired state, compared with the actual one. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_PURSUE_H
#define DREY_CORE_LIFECYCLE_PURSUE_H

#include "core/lifecycle/lifecycle_rows.h"

/* Decide what to start from, or park if no launch is desired. */
void resolve_start(struct lifecycle *life, const char *why);
void park(struct lifecycle *life, const struct decision *decision);

/* After each event: what is due, unless something is under way; by one of the tables. */
extern const struct life_table idle_table, running_table;
void pursue_desired(struct lifecycle *life);

#endif
