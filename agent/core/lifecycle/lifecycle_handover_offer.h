/*
 * lifecycle_handover_offer - the owner offers the job, and stops it for the candidate. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_HANDOVER_OFFER_H
#define DREY_CORE_LIFECYCLE_HANDOVER_OFFER_H

#include "core/lifecycle/lifecycle.h"

/* What the owner does next: without an offer, and with one; `late`: its deadline has just passed. */
void handover_consider_offer(struct lifecycle *life);
void handover_pursue_offered(struct lifecycle *life, bool late);

#endif
