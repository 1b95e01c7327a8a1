/*
 * lifecycle_flip - what the life cycle says about the gates of FLIP-504 (core/handover/flip.h), for those who carry
 * it out. Pure.
 */
#ifndef DREY_CORE_LIFECYCLE_FLIP_H
#define DREY_CORE_LIFECYCLE_FLIP_H

#include "core/lifecycle/lifecycle.h"

/* Who says what the ConfigMap of the gates is to say? */
enum flip_turn {
	FLIP_OTHERS, /* another agent does, or none */
	FLIP_LATER, /* this one, when what it has decided is on record; until then the previous keys count */
	FLIP_MINE,
};
/* MINE: *ret_wanted is what it is to say, by what is on record. Borrowed until the next step. */
struct flip_wanted {
	struct flip_keys keys;
	const char *transition; /* NULL = at rest */
	enum transition_state state;
	bool cut_recorded;
};
enum flip_turn lifecycle_wants_flip(const struct lifecycle *life, struct flip_wanted *ret_wanted);
/* The ConfigMap was read, and says what it is to say in this state of this transition. */
bool lifecycle_flip_is_written(const struct lifecycle *life);
/* A transition is under way, and the gates of this launch are looked at; NULL: nothing is. Borrowed. */
const char *lifecycle_looks_at_flip(const struct lifecycle *life);

#endif
