/*
 * lifecycle_operation_answer - savepoint, stop, cancel: what Flink answers. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_OPERATION_ANSWER_H
#define DREY_CORE_LIFECYCLE_OPERATION_ANSWER_H

#include "core/lifecycle/lifecycle.h"

/* Flink's answer to the POST or poll of an operation; the result of an inspection, whoever has asked for it. */
void on_operation(struct lifecycle *life, const struct event *event);
void on_inspected(struct lifecycle *life, const struct event *event);

/* A view of the job while an operation is in flight; true if the operation handled it. */
bool operation_view(struct lifecycle *life, const struct view *view);

/* Its deadline has passed; it is time to send it, or to ask for its result. */
void operation_deadline(struct lifecycle *life);
void operation_ask(struct lifecycle *life);

#endif
