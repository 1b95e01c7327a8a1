/*
 * lifecycle_transition_gates - what the gates are told, and what they report. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_TRANSITION_GATES_H
#define DREY_CORE_LIFECYCLE_TRANSITION_GATES_H

#include "core/lifecycle/lifecycle.h"

/* The ConfigMap of gates that go by keys was read. */
void on_gate_keys(struct lifecycle *life, const struct event *event);

/* What the gates of the job here have reported. */
void on_gate(struct lifecycle *life, const struct event *event);
/* After each step: what the gates here are to be told. */
void transition_tell_gates(struct lifecycle *life);

#endif
