/*
 * lifecycle_handover_state - the state of a hand-over on record. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_HANDOVER_STATE_H
#define DREY_CORE_LIFECYCLE_HANDOVER_STATE_H

#include "core/lifecycle/lifecycle.h"

/* The record of another pod was read. */
void on_candidate(struct lifecycle *life, const struct event *event);

/* A launch has failed, and its Flink is dead. True: the job goes back to the pod before. */
bool handover_returns(struct lifecycle *life, const char *why);

/* The container is being stopped, and no Flink runs: who gets the journal? */
void handover_leaves(struct lifecycle *life);
void handover_rests(struct lifecycle *life); /* the phase of one that has given */

/* The state on record, and the reason for it; logged, and its deadline begins. */
void handover_set_state(struct lifecycle *life, enum handover_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* It was changed otherwise, from that one: what is kept and told of that. */
void handover_keep_state(struct lifecycle *life, enum handover_state before);
/* The previous agent has adopted the journal of the job in the shadow, without a notice. */
void handover_hears_adopted(struct lifecycle *life);
void handover_arm(struct lifecycle *life); /* its deadline begins anew: for a new agent */

/* The write that makes the candidate the owner; this machine decides nothing after it. */
void handover_grant(struct lifecycle *life, const char *why);

void handover_give(struct lifecycle *life); /* the next write gives the journal to handover.to */

#endif
