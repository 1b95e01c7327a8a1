/*
 * lifecycle_handover_offer - the owner offers the job, and stops it for the candidate. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_HANDOVER_OFFER_H
#define DREY_CORE_LIFECYCLE_HANDOVER_OFFER_H

#include "core/lifecycle/lifecycle.h"

/* The job has ended as a stop wanted it, and the result is recorded: the journal goes to the candidate
 * with that record. */
void handover_stopped(struct lifecycle *life);
/* The stop of a hand-over has failed, and the job runs: it is offered again. */
void handover_stop_failed(struct lifecycle *life, const char *why);

void handover_comes_back(struct lifecycle *life, const char *why); /* RETURNED, and it counts */

/* What the owner does next: without an offer, with one, and while the job stops. */
void handover_consider_offer(struct lifecycle *life);
void handover_pursue_offered(struct lifecycle *life);
void handover_pursue_stopping(struct lifecycle *life);

#endif
