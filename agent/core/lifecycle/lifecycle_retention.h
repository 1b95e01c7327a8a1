/*
 * lifecycle_retention - disposing of old savepoints. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_RETENTION_H
#define DREY_CORE_LIFECYCLE_RETENTION_H

#include "core/lifecycle/lifecycle.h"

/* The job is running and nothing else is pending: dispose of an old savepoint, if there is one. */
void retention_pursue(struct lifecycle *life);
void disposal_answered(struct lifecycle *life, const struct event *event);

/* The savepoint to keep when an older one is disposed of was read. */
void keeper_read(struct lifecycle *life, const struct event *event);

#endif
