/*
 * lifecycle_waits - what was requested or is due and has not begun, and what it waits for: the answer to "why does my savepoint not
 * begin?". The facts are those by which the life cycle decides (blockers()), so the answer cannot say anything else.
 */
#ifndef DREY_CORE_LIFECYCLE_WAITS_H
#define DREY_CORE_LIFECYCLE_WAITS_H

#include "core/lifecycle/lifecycle.h"

#define LIFE_WAITS_MAX 8

struct life_wait {
	const char *what; /* "savepoint"; constant, as all words here */
	uint64_t for_facts;
};

/* Returns how many. */
size_t lifecycle_waits(const struct lifecycle *life, struct life_wait ret_waits[LIFE_WAITS_MAX]);

/* Clause number `index` of what it waits for, "an operation is in flight"; NULL: there are no more. */
const char *life_wait_clause(const struct life_wait *wait, size_t index);

#endif
