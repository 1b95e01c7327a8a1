/*
 * lifecycle_rescale - another parallelism for the running job. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_RESCALE_H
#define DREY_CORE_LIFECYCLE_RESCALE_H

#include "core/lifecycle/lifecycle.h"

/* Look at the vertices of the running job: it has to get another parallelism, or to run with it. */
void rescale_look(struct lifecycle *life);
/* A new request (CONTROL_PARALLELISM), which has a nonce, replaces one that is not answered. */
void rescale_take(struct lifecycle *life, const struct parallelism *wanted);
void rescale_answered(struct lifecycle *life, const struct event *event);
void rescale_forget(struct lifecycle *life); /* the Flink has ended */
/* An operation begins: bounds that Flink has not got yet would end it. */
void rescale_yield(struct lifecycle *life);

#endif
