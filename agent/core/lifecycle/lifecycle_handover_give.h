/*
 * lifecycle_handover_give - the write that gives the journal away. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_HANDOVER_GIVE_H
#define DREY_CORE_LIFECYCLE_HANDOVER_GIVE_H

#include "core/lifecycle/lifecycle.h"

/* The journal is about to be written: may it be? And: it was written. */
bool handover_may_write(struct lifecycle *life);
void handover_written(struct lifecycle *life);

/* The job has ended as a stop wanted it, and the result is recorded: the journal goes to the candidate
 * with that record. */
void handover_stopped(struct lifecycle *life);

/* RETURNED. counts: the other version has had its try. */
void handover_comes_back(struct lifecycle *life, bool counts, const char *why);

/* A launch has failed, and its Flink is dead. True: the job goes back to the pod before. */
bool handover_returns(struct lifecycle *life, const char *why);

void handover_rests(struct lifecycle *life); /* the phase of one that has given */

/* The write that makes the candidate the owner; this machine decides nothing after it. */
void handover_grant(struct lifecycle *life, const char *why);

void handover_give(struct lifecycle *life); /* the next write gives the journal to handover.to */

/* While the job is being stopped: it is the candidate's, or continues here if that one is gone. */
void handover_pursue_stopping(struct lifecycle *life);

/* The journal goes back to the pod that had it before. Only with the Flink here proven dead. */
void handover_give_back(struct lifecycle *life, const char *why);

#endif
