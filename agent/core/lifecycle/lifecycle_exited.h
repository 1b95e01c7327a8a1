/*
 * lifecycle_exited - Flink has exited. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_EXITED_H
#define DREY_CORE_LIFECYCLE_EXITED_H

#include "core/lifecycle/lifecycle.h"

/* Flink was reaped: it is proven dead. */
void on_exited(struct lifecycle *life, const struct event *event);

/* It has ended, and drey did not end it: a failed attempt, or an end of its job of which the cause is unknown. */
void flink_died(struct lifecycle *life, int wait_status, const char *meaning);

/* Of the current launch, in the journal. */
void record_flink_end(struct lifecycle *life, int wait_status);

#endif
