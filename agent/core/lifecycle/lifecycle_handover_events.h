/*
 * lifecycle_handover_events - hand-overs: the claim of a new agent, the record of another pod, the Flink that is held. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_HANDOVER_EVENTS_H
#define DREY_CORE_LIFECYCLE_HANDOVER_EVENTS_H

#include "core/lifecycle/lifecycle.h"

/* At the first event, before it is taken: with what right is the journal ours? */
void handover_begin(struct lifecycle *life, const struct event *event);

/* The Flink that waited in main() has exited, if this event says so. True: that was all. */
bool handover_held_exited(struct lifecycle *life, const struct event *event);

/* The record of another pod was read. */
void on_candidate(struct lifecycle *life, const struct event *event);

#endif
