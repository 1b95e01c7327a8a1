/*
 * lifecycle_bits - what is true now, one bit a fact. Private to this room.
 *
 * To add a fact: a word here, its condition in facts_of() and its clause in fact_says(); the compiler and
 * tests/unit/test_lifecycle_rows.c say what is missing. Decisions ask for them in rows (lifecycle_rows.h).
 */
#ifndef DREY_CORE_LIFECYCLE_BITS_H
#define DREY_CORE_LIFECYCLE_BITS_H

#include "core/lifecycle/lifecycle.h"

enum fact {
	FACT_NONE, /* ends a list of facts; never true */

	/* Flink and its job */
	FACT_NOT_LIVE,
	FACT_ENDS,
	FACT_NOT_RUNNING,
	FACT_NOT_REACHABLE,
	FACT_JOB_UNSEEN,
	FACT_JOB_NOT_RUNNING,
	FACT_TASKS_MISSING,

	/* what is in flight */
	FACT_BUSY,
	FACT_STOPS_IN_TIME,
	FACT_STOP_REPORTED,
	FACT_CANCELS,
	FACT_SAVES,
	FACT_CHECKPOINT,
	FACT_RESCALES,
	FACT_LAST_RESORT,
	FACT_DISPOSES,
	FACT_READS_KEEPER,
	FACT_READS_STALLED,
	FACT_OBSERVES,

	/* no Flink runs */
	FACT_PARKED,
	FACT_UNSETTLED,
	FACT_RESOLVING,
	FACT_HOLDING,

	/* pauses after a failure */
	FACT_START_PAUSES,
	FACT_STOP_PAUSES,
	FACT_SAVEPOINT_PAUSES,
	FACT_DISPOSAL_PAUSES,

	/* what is wanted */
	FACT_PARKS,
	FACT_CANCEL_WANTED,
	FACT_SUSPEND_WANTED,
	FACT_SAVEPOINT_WANTED,
	FACT_PARALLELISM_OWED,
	FACT_SAVEPOINT_DUE,
	FACT_DO_NOT_RESTART,
	FACT_RESTART_WANTED,

	/* other pods, and the end */
	FACT_HANDOVER,
	FACT_TRANSITION,
	FACT_CUT,
	FACT_JOURNAL_BROKEN,
	FACT_FENCED,
	FACT_TERMINATES,

	/* the container ends (lifecycle_stopping.c) */
	FACT_LOOKS,
	FACT_STOP_FAILED,
	FACT_SHORT,
	FACT_LATE,
	FACT_NO_JOB,
	FACT_BY_SAVEPOINT,
	FACT_STATELESS,

	FACT_COUNT,
};

/* The bits of what is true: that of a fact is fact_bit(). */
uint64_t facts_of(const struct lifecycle *life);

static inline uint64_t fact_bit(enum fact fact)
{
	return UINT64_C(1) << fact;
}

/* The fact as a clause, for people; NULL for what is none. */
const char *fact_says(enum fact fact);

#endif
