/*
 * lifecycle_lease - until when Flink may run without news. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_LEASE_H
#define DREY_CORE_LIFECYCLE_LEASE_H

#include "core/lifecycle/lifecycle.h"

void lease_begin(struct lifecycle *life);
void lease_extend(struct lifecycle *life);
void lease_watch(struct lifecycle *life, bool live);
/* A Flink that is started now need not be killed at once. */
bool lease_leaves_time(const struct lifecycle *life);
/* Else: of which lease, and a sentence. */
enum cause lease_that_ends(const struct lifecycle *life, const char **ret_why);
bool lease_is_awaited(const struct lifecycle *life); /* a launch was held for the journal alone */
void lease_ran_out(struct lifecycle *life);
/* The lease object was written, or is lost. */
void on_lease(struct lifecycle *life, const struct event *event);

#endif
