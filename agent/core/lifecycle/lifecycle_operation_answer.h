/*
 * lifecycle_operation_answer - savepoint, stop, cancel: what Flink answers. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_OPERATION_ANSWER_H
#define DREY_CORE_LIFECYCLE_OPERATION_ANSWER_H

#include "core/lifecycle/lifecycle.h"

/* What Flink answers to the POST or poll of an operation (lifecycle_asks.c). */
void operation_await_end(struct lifecycle *life); /* of its job */
void operation_completed(struct lifecycle *life, const struct answer *answer);
void savepoint_refused(struct lifecycle *life, const char *location, const char *error);
void stop_refused(struct lifecycle *life, const char *location, const char *error);
void cancel_refused(struct lifecycle *life, const char *location, const char *error);
void operation_unknown(struct lifecycle *life);
void stop_unknown(struct lifecycle *life);
bool operation_lost(struct lifecycle *life);

/* Its deadline has passed. */
void operation_late(struct lifecycle *life);
void cancel_late(struct lifecycle *life);

/* The savepoint that it has reported was inspected. */
void operation_read(struct lifecycle *life, const struct event *event);

/* A view of the job while an operation is in flight; true if the operation handled it. */
bool operation_view(struct lifecycle *life, const struct view *view);

#endif
