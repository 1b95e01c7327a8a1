/*
 * lifecycle_transition_facts - what is known of a transition (blue/green). Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_TRANSITION_FACTS_H
#define DREY_CORE_LIFECYCLE_TRANSITION_FACTS_H

#include "core/lifecycle/lifecycle.h"

int64_t
transition_limit_ms(const struct lifecycle *life); /* how long it may last; 0 = without a limit */

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

#endif
