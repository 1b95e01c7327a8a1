/*
 * lifecycle_handover - what follows in a hand-over, after each event. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_HANDOVER_H
#define DREY_CORE_LIFECYCLE_HANDOVER_H

#include "core/lifecycle/lifecycle.h"

/* After each event: what follows for a hand-over. True: the journal is given away, or another's, and
 * nothing else is to be pursued. */
bool handover_stepped(struct lifecycle *life);
void handover_deadline(struct lifecycle *life);
/* The job that was taken does not run in time, and nothing shows that it does: its Flink is ended. */
void handover_runs_late(struct lifecycle *life);

void handover_release_seen(struct lifecycle *life);

/* The container is being stopped, and no Flink runs: who gets the journal? */
void handover_leaves(struct lifecycle *life);

#endif
