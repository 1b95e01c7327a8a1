/*
 * lifecycle_transition_wishes - what waits for a transition, and what people want of it. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_TRANSITION_WISHES_H
#define DREY_CORE_LIFECYCLE_TRANSITION_WISHES_H

#include "core/lifecycle/lifecycle.h"

/* No Flink is started now: the job has ended for the candidate, or starts again from before the cut. True:
 * that is the phase from now on. */
bool transition_rests(struct lifecycle *life);
/* A launch was to be made for the replay, and was decided otherwise. */
void transition_observed(struct lifecycle *life, const struct event *event);

/* With these fields a person would withdraw the order for the replay. True: it stays. One who says what to start
 * from instead knows better. */
bool transition_keeps_restore(struct lifecycle *life, unsigned fields);
/* The side that a launch from there is told, for its output (launch.output_side). While two jobs may run, each keeps its
 * own, whatever a person restores. */
enum side transition_output_side(const struct lifecycle *life, const struct snapshot *from);

/* A stop of the transition has failed, and the job runs. */
void transition_stop_failed(struct lifecycle *life);

/* CONTROL_PROMOTE, CONTROL_ABORT */
void transition_wished(struct lifecycle *life, const struct event *event);

/* A gate of this transition, on either side, has had a record of this time, or a later one. */
bool transition_was_seen(const struct lifecycle *life, int64_t at_unix_ms);
/* Both jobs have shown how far they are: what was not seen is not there. */
bool transition_shows_watermarks(const struct lifecycle *life);

#endif
