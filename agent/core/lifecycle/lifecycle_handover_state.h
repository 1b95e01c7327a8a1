/*
 * lifecycle_handover_state - the state of a hand-over on record. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_HANDOVER_STATE_H
#define DREY_CORE_LIFECYCLE_HANDOVER_STATE_H

#include "core/lifecycle/lifecycle.h"

/* The job runs, from the decided state. */
void handover_runs(struct lifecycle *life);

/* It is being stopped, and the job runs: the stop is that of a hand-over if the candidate is prepared. */
void handover_stops_for_upgrade(struct lifecycle *life, int64_t budget_ms);

void handover_forgive(struct lifecycle *life); /* a person asks for a start */

/* No Flink waits in main() any more; false: it is being killed. */
bool handover_frees_flink(struct lifecycle *life);

/* The stop of a hand-over has failed, and the job runs: it is offered again. */
void handover_stop_failed(struct lifecycle *life, const char *why);

/* The state on record, and the reason for it; logged, and its deadline begins. */
void handover_set_state(struct lifecycle *life, enum handover_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* It was changed otherwise, from that one: what is kept and told of that. */
void handover_keep_state(struct lifecycle *life, enum handover_state before);
/* The previous agent has adopted the journal of the job in the shadow, without a notice. */
void handover_hears_adopted(struct lifecycle *life);
void handover_arm(struct lifecycle *life); /* its deadline begins anew: for a new agent */

#endif
