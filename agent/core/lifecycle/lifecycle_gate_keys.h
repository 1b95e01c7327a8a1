/*
 * lifecycle_gate_keys - what the life cycle says about gates that go by keys (core/handover/gate_kind.h), for those who
 * carry it out. Pure.
 */
#ifndef DREY_CORE_LIFECYCLE_GATE_KEYS_H
#define DREY_CORE_LIFECYCLE_GATE_KEYS_H

#include "core/lifecycle/lifecycle.h"

/* Who says what the keys are? */
enum keys_turn {
	KEYS_OTHERS, /* another agent does, or none */
	KEYS_LATER, /* this one, when what it has decided is on record; until then the previous keys count */
	KEYS_MINE,
};

/* MINE: what they follow from, by what is on record. Borrowed until the next step. */
struct keys_wanted {
	const struct handover *handover;
	enum side owner_side; /* of the output of the job here */
	bool ended;           /* the candidate's job has, by what is known */
	int64_t lead_ms;
	const char *transition; /* NULL = at rest */
	enum transition_state state;
	bool cut_recorded;
};
enum keys_turn lifecycle_wants_keys(const struct lifecycle *life, struct keys_wanted *ret_wanted);
/* A transition is under way, and the gates of this launch are looked at; NULL: nothing is. Borrowed. */
const char *lifecycle_looks_at_gates(const struct lifecycle *life);

#endif
