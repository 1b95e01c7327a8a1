/*
 * lifecycle_rows - decisions as tables: the first row of which all facts are true, and whose activity may begin, decides.
 * Private to this room.
 *
 * `{ALL(FACT_A, FACT_B), WAY, "why"}`: the order of the rows is the order of the questions, the last one asks nothing, and
 * the sentence that drey prints is that of the row. tests/unit/test_lifecycle_rows.c walks all combinations, and prints the
 * tables into docs/reference/lifecycle.md (`make docs-lifecycle`).
 */
#ifndef DREY_CORE_LIFECYCLE_ROWS_H
#define DREY_CORE_LIFECYCLE_ROWS_H

#include "core/lifecycle/lifecycle_blockers.h"

#define ROW_FACTS 4
#define ALL(...)  .all = {__VA_ARGS__} /* ALL(FACT_NONE): whatever is true */

struct life_row {
	enum fact all[ROW_FACTS]; /* FACT_NONE: no more */
	int way;                  /* what is done then, of the enum of the table */
	const char *why;          /* that drey prints; NULL = nothing, or what has failed */
	enum activity begins;     /* the row counts only if this may begin (lifecycle_blockers.h) */
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
