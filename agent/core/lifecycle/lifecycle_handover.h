/*
 * lifecycle_handover - what follows in a hand-over, after each event. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_HANDOVER_H
#define DREY_CORE_LIFECYCLE_HANDOVER_H

#include "core/lifecycle/lifecycle.h"

/* At the first event, before it is taken: with what right is the journal ours? */
void handover_begin(struct lifecycle *life, const struct event *event);

/* After each event: what follows for a hand-over. True: the journal is given away, or another's, and
 * nothing else is to be pursued. */
bool handover_stepped(struct lifecycle *life);
void handover_deadline(struct lifecycle *life);

/* The journal is about to be written: may it be? And: it was written. */
bool handover_may_write(struct lifecycle *life);
void handover_written(struct lifecycle *life);

/* The job runs, from the decided state. */
void handover_runs(struct lifecycle *life);

/* It is being stopped, and the job runs: the stop is that of a hand-over if the candidate is prepared. */
void handover_stops_for_upgrade(struct lifecycle *life, int64_t budget_ms);

void handover_forgive(struct lifecycle *life); /* a person asks for a start */

/* No Flink waits in main() any more; false: it is being killed. */
bool handover_frees_flink(struct lifecycle *life);
/* The Flink that waited in main() has exited, if this event says so. True: that was all. */
bool handover_held_exited(struct lifecycle *life, const struct event *event);
void handover_release_seen(struct lifecycle *life);

#endif
