/*
 * lifecycle_rows - what is true now, one fact a bit, and tables whose first row with nothing but true facts decides. Private
 * to this room.
 *
 * A decision in rows: `{ALL(FACT_A, FACT_B), WAY, "why"}`. Its order is the order of the questions, its last row asks nothing,
 * and the sentence that drey prints is that of the row. To add a fact: a word here, its condition in facts_of() and its
 * clause in fact_says(); the compiler and tests/unit/test_lifecycle_rows.c say what is missing. That test prints the tables
 * into docs/reference/lifecycle.md (`make docs-lifecycle`).
 */
#ifndef DREY_CORE_LIFECYCLE_ROWS_H
#define DREY_CORE_LIFECYCLE_ROWS_H

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
	FACT_CANCELS,
	FACT_SAVES,
	FACT_CHECKPOINT,
	FACT_RESCALES,
	FACT_LAST_RESORT,
	FACT_DISPOSES,
	FACT_READS_KEEPER,
	FACT_READS_STALLED,
	FACT_OBSERVES,

	/* pauses after a failure */
	FACT_STOP_PAUSES,
	FACT_SAVEPOINT_PAUSES,
	FACT_DISPOSAL_PAUSES,

	/* what is wanted */
	FACT_PARKS,
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
uint64_t fact_bit(enum fact fact);

/* The fact as a clause, for people; NULL for what is none. */
const char *fact_says(enum fact fact);

#define ROW_FACTS 4
#define ALL(...)  .all = {__VA_ARGS__} /* ALL(FACT_NONE): whatever is true */

struct life_row {
	enum fact all[ROW_FACTS]; /* FACT_NONE: no more */
	int way;                  /* what is done then, of the enum of the table */
	const char *why;          /* that drey prints; NULL = nothing, or what has failed */
};

struct life_table {
	const char *title; /* of its section in the documentation */
	const struct life_row *rows;
	size_t row_count;
	const char *const *ways; /* what each way does, as a clause */
	size_t way_count;
};

/* The first row of which all facts are true. */
const struct life_row *table_row(const struct life_table *table, uint64_t facts);

#endif
