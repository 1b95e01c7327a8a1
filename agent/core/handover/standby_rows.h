/*
 * standby_rows - what a pod that stands by does next, as tables: the first row of which all facts are true decides, and what
 * the pod says of itself is the sentence of that row. Private to the machine of standby.h.
 *
 * `{ALL(STAND_A, STAND_B), WHAT, CAUSE, "why"}`: the order of the rows is the order of the questions, and the last one asks
 * nothing. tests/unit/test_standby_rows.c walks all combinations, and prints the tables into docs/reference/handover.md
 * (`make docs-lifecycle`).
 */
#ifndef DREY_CORE_HANDOVER_STANDBY_ROWS_H
#define DREY_CORE_HANDOVER_STANDBY_ROWS_H

#include "core/handover/standby.h"

enum stand_fact {
	STAND_ALWAYS, /* no more */
	STAND_OWNER,
	STAND_CANDIDATE,
	STAND_RESERVE,
	STAND_UNREADABLE,
	STAND_OTHER_FLINK,
	STAND_FLINK_ASKED,
	STAND_NOT_READ,
	STAND_PUT_BACK,
	STAND_MAY_BE_WANTED,
	STAND_BEGINS,
	STAND_GOES_ON,
	STAND_ENDS_JOB,
	STAND_ADOPTS,
	STAND_ADOPTING,
	STAND_IN_SHADOW,
	STAND_OUTSIDE,
	STAND_OWN_UNREAD,
	STAND_ELSEWHERE,
	STAND_FLINK,
	STAND_FAILED,
	STAND_WAS_TAKEN,
	STAND_GRANTED,
	STAND_MAY_HAVE_RUN,
	STAND_FACTS,
};

#define STAND_ROW_FACTS 3
#define ALL(...)        .all = {__VA_ARGS__} /* ALL(STAND_ALWAYS): whatever is true */

struct stand_row {
	enum stand_fact all[STAND_ROW_FACTS];
	int what;         /* is done then, of the enum of the table */
	enum cause cause; /* CAUSE_NONE: the sentence is only logged */
	const char *why;  /* for people; NULL: as the rule of its role says, or nothing */
	/* the same with what is known only now */
	void (*says)(const struct standby *standby, char *text, size_t size);
	bool recorded; /* its record says why it has failed, too */
};

struct stand_table {
	const char *title; /* of its section in the documentation */
	const struct stand_row *rows;
	size_t row_count;
	const char *const *whats; /* as clauses */
	size_t what_count;
};

extern const struct stand_table standby_table, standby_shadow_table;

struct stand_known {
	enum stand_fact fact;
	bool is;
};

unsigned stand_bits(const struct stand_known *facts, size_t count);

/* The first row of which all facts are true. */
const struct stand_row *stand_row(const struct stand_table *table, unsigned facts);

/* What the row says, if it says something. */
void stand_say(struct standby *standby, const struct stand_row *row);

const char *stand_fact_says(enum stand_fact fact); /* as a clause; NULL = it is none */

#endif
