/*
 * lifecycle_blockers - may something begin on the running job now? One table for all that begins there. Private to this room.
 *
 * It says what must not be true, not that something is due or wanted. To add an activity: a word here, and a row in
 * lifecycle_blockers.c; tests/unit/test_lifecycle_rows.c prints all of them into docs/reference/lifecycle.md.
 */
#ifndef DREY_CORE_LIFECYCLE_BLOCKERS_H
#define DREY_CORE_LIFECYCLE_BLOCKERS_H

#include "core/lifecycle/lifecycle_bits.h"

enum activity {
	BEGIN_ANYTHING,       /* nothing stands in its way */
	BEGIN_STOP,           /* with savepoint, for a suspend or a restart */
	BEGIN_SAVEPOINT,      /* that a person has requested */
	BEGIN_PERIODIC,       /* savepoint */
	BEGIN_FULL,           /* periodic checkpoint */
	BEGIN_RESCALE,        /* ask for another parallelism */
	BEGIN_HANDOVER,       /* stop the job for another pod */
	BEGIN_HANDOVER_SAVED, /* the same with a savepoint */
	BEGIN_TRANSITION,     /* the savepoint or the stop of a blue/green upgrade */
	BEGIN_LAST_RESORT,    /* end the job without a savepoint, after its stop has failed */
	BEGIN_STALL,          /* restart a job that completes no checkpoint */
	BEGIN_RETENTION,      /* read the savepoint that stays, to delete older ones */
	BEGIN_DISPOSAL,       /* delete one, after that */
	BEGIN_REVIEW,         /* read a completed checkpoint */
	ACTIVITIES,
};

/* The facts, of those that are true now, that stand in its way; 0 = it may begin. */
uint64_t blockers(const struct lifecycle *life, enum activity activity);

/* All facts that can stand in its way. */
uint64_t activity_waits_for(enum activity activity);
const char *activity_name(enum activity activity); /* for people */

#endif
