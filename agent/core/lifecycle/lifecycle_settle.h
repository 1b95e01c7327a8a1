/*
 * lifecycle_settle - an operation interrupted by Flink's end. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_SETTLE_H
#define DREY_CORE_LIFECYCLE_SETTLE_H

#include "core/lifecycle/lifecycle.h"

/* Flink has ended: an operation that only waited for that has succeeded; one that may have left a
 * savepoint is settled by the next observation of storage, before anything is started; any other is
 * abandoned. */
void operation_flink_gone(struct lifecycle *life);

/* What the observation of storage showed about the operation to settle. */
void operation_settle(struct lifecycle *life, const struct event *event);

/* Flink has named a complete savepoint. It is recorded, whatever the state of the operation and of
 * Flink: the answer may arrive after both have ended. */
void operation_told(struct lifecycle *life, const struct event *event);

/* It was inspected and is damaged: a savepoint known only from Flink's answer does not count. */
void operation_disprove(struct lifecycle *life, const char *location);

#endif
