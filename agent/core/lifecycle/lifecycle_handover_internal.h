/*
 * lifecycle_handover_internal - what the parts of the owner's side of a hand-over share. Private to
 * them.
 *
 *   lifecycle_handover_state.c  the state on record, who else is there, giving the journal away
 *   lifecycle_handover_offer.c  the owner: it offers the job, and stops it for the candidate
 *   lifecycle_handover.c        the one that has taken the job; and the hooks of the life cycle
 *   lifecycle_transition_facts.c  with blue/green: what is known
 *   lifecycle_transition_gates.c  what the gates here are told, and what they report
 *   lifecycle_flip.c              the ConfigMap of FLIP-504's gates
 *   lifecycle_transition.c        what follows, and what is done
 *   lifecycle_transition_wishes.c  what waits for it, and what people want of it
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
/* It was changed otherwise, from that one: what is kept and told of that. */
void handover_keep_state(struct lifecycle *life, enum handover_state before);
/* The previous agent has adopted the journal of the job in the shadow, without a notice. */
void handover_hears_adopted(struct lifecycle *life);
/* "hand-over ID to POD: WHAT", for what is told of it; the caller frees. */
char *handover_says(const struct lifecycle *life, const char *what);
void handover_arm(struct lifecycle *life); /* its deadline begins anew: for a new agent */
void handover_comes_back(struct lifecycle *life, const char *why); /* RETURNED, and it counts */

/* Does its record say that it prepares, or is prepared? Has it beaten lately? Is it only too early to know? */
bool handover_is_candidate(const struct candidate_seen *seen);
bool handover_is_fresh(const struct lifecycle *life, const struct candidate_seen *seen);
bool handover_is_unheard(const struct lifecycle *life, const struct candidate_seen *seen);
/* The one that the job is on its way to; true while this agent has not heard of it yet. */
bool handover_candidate_lives(const struct lifecycle *life);

/* Why it is not prepared, in its own words; NULL = it is, or has not said it. Borrowed. */
const char *handover_candidate_says(const struct lifecycle *life);

/* The write that makes the candidate the owner; this machine decides nothing after it. */
void handover_grant(struct lifecycle *life, const char *why);
bool handover_may_give_back(const struct lifecycle *life);

void handover_give(struct lifecycle *life); /* the next write gives the journal to handover.to */

/* Nothing of the job runs here, and nothing is about to; and nothing will by itself. */
bool handover_is_idle(const struct lifecycle *life);
bool handover_stands_still(const struct lifecycle *life);

/* What the owner does next: without an offer, with one, and while the job stops. */
void handover_consider_offer(struct lifecycle *life);
void handover_pursue_offered(struct lifecycle *life);
void handover_pursue_stopping(struct lifecycle *life);

/* The state of the transition that is on record; NONE: there is none, or it is over and was given up. */
enum transition_state transition_state_of(const struct lifecycle *life);
/* The candidate's side, or a later owner's: from its own beginning up to the end of this one. */
bool transition_is_on(const struct lifecycle *life);

/* Everything that the rules ask about. Strings and reports are borrowed from `life`, and from *ret_here. */
struct transition_here {
	struct gate_report gate, candidate_gate;
	char *clean; /* owned; NULL = none */
};
void transition_know(struct lifecycle *life, struct transition_here *ret_here,
		     struct transition_facts *ret_facts);
/* Nothing of the candidate's job runs any more: it says so, or its leader lock is free. */
bool transition_candidate_has_ended(const struct lifecycle *life);
/* The savepoint or stop of the state. */
enum transition_work transition_work_of(const struct lifecycle *life);
/* The token of the request, and of the launch, for the replay. The caller frees. */
char *transition_replay_token(const struct transition *transition);
/* The policy, with what people have asked for since. */
struct transition_policy transition_policy_of(const struct lifecycle *life);

/* A new one begins with the offer that was just made. */
void transition_offer(struct lifecycle *life);
/* After each event, while it is on: what follows. */
void transition_pursue(struct lifecycle *life);
void transition_pursue_owner(struct lifecycle *life); /* whatever is on its way into the journal */
/* Another state begins. */
void transition_enters(struct lifecycle *life);
int64_t
transition_limit_ms(const struct lifecycle *life); /* how long it may last; 0 = without a limit */
/* One that has begun is not gone on with: ids that the candidate's job may have used stay known. */
void transition_drop(struct lifecycle *life);
/* The container ends. True: the hand-over stays as it is, for the next agent of this version. */
bool transition_stays(struct lifecycle *life);
/* A gate of this transition, on either side, has had a record of this time, or a later one. */
bool transition_was_seen(const struct lifecycle *life, int64_t at_unix_ms);
/* Both jobs have shown how far they are: what was not seen is not there. */
bool transition_shows_watermarks(const struct lifecycle *life);

#endif
