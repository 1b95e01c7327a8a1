/*
 * lifecycle_handover_internal - what the parts of the owner's side of a hand-over share. Private to
 * them.
 *
 *   lifecycle_handover_state.c  the state on record, who else is there, giving the journal away
 *   lifecycle_handover_offer.c  the owner: it offers the job, and stops it for the candidate
 *   lifecycle_handover.c        the one that has taken the job; and the hooks of the life cycle
 */
#ifndef DREY_CORE_LIFECYCLE_HANDOVER_INTERNAL_H
#define DREY_CORE_LIFECYCLE_HANDOVER_INTERNAL_H

#include "core/lifecycle/lifecycle_internal.h"

/* Are there hand-overs? And who is this pod? Borrowed from the configuration. */
bool handover_is_on(const struct lifecycle *life);
const struct party *handover_me(const struct lifecycle *life);

/* The state on record, and the reason for it; logged, and its deadline begins. */
void handover_set_state(struct lifecycle *life, enum handover_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void handover_arm(struct lifecycle *life); /* its deadline begins anew: for a new agent */
void handover_comes_back(struct lifecycle *life, const char *why); /* RETURNED, and it counts */

/* Does its record say that it prepares, or is prepared? Has it beaten lately? Is it only too early to know? */
bool handover_is_candidate(const struct candidate_seen *seen);
bool handover_is_fresh(const struct lifecycle *life, const struct candidate_seen *seen);
bool handover_is_unheard(const struct lifecycle *life, const struct candidate_seen *seen);
/* The one that the job is on its way to; true while this agent has not heard of it yet. */
bool handover_candidate_lives(const struct lifecycle *life);

/* The write that makes the candidate the owner; this machine decides nothing after it. */
void handover_grant(struct lifecycle *life, const char *why);
bool handover_may_give_back(const struct lifecycle *life);

/* Nothing of the job runs here, and nothing is about to; and nothing will by itself. */
bool handover_is_idle(const struct lifecycle *life);
bool handover_stands_still(const struct lifecycle *life);

/* What the owner does next: without an offer, with one, and while the job stops. */
void handover_consider_offer(struct lifecycle *life);
void handover_pursue_offered(struct lifecycle *life);
void handover_pursue_stopping(struct lifecycle *life);

#endif
