/*
 * transition_rules - the tables behind transition_step.h, for the documentation and its test.
 */
#ifndef DREY_CORE_TRANSITION_RULES_H
#define DREY_CORE_TRANSITION_RULES_H

#include "core/handover/transition_step.h"

/* What the rules of the owner ask about. */
struct transition_question {
	const struct handover *handover;
	const struct transition_facts *facts;
	const struct transition_policy *policy;
	const struct gate_kind *kind;
};

struct transition_rule {
	enum transition_state state;
	bool (*holds)(const struct transition_question *question);
	enum transition_state next;
	enum transition_act act;
	bool counts, quotes;
	const char *when; /* for the documentation */
	const char *why;  /* for people; "-": nothing is said; NULL: what the facts say */
};

/* In the order in which they are asked, state by state; if none holds, nothing happens. */
const struct transition_rule *transition_owner_rules(size_t *ret_count);

/* The same of a hand-over with surge: an offer, and a stop, which is ENDING. */
const struct transition_rule *surge_owner_rules(size_t *ret_count);

struct shadow_question {
	enum transition_state transition;
	const struct handover *handover;
	const struct shadow_facts *facts;
};

struct shadow_rule {
	bool (*holds)(const struct shadow_question *question);
	enum shadow_state next;
	enum shadow_act act;
	const char *when;
};

/* The last one always holds, and changes nothing. */
const struct shadow_rule *transition_candidate_rules(size_t *ret_count);

#endif
