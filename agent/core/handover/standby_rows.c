/* The first row of a table that decides, and how it is said. */
#include "core/handover/standby_rows.h"

#include <stdlib.h>

#include "core/handover/standby_internal.h"

unsigned stand_bits(const struct stand_known *facts, size_t count)
{
	unsigned all = 0;

	for (size_t i = 0; i < count; i++)
		all |= (unsigned)facts[i].is << facts[i].fact;
	return all;
}

static bool is_true(const struct stand_row *row, unsigned facts)
{
	for (size_t i = 0; i < STAND_ROW_FACTS && row->all[i]; i++)
		if (!(facts >> row->all[i] & 1))
			return false;
	return true;
}

const struct stand_row *stand_row(const struct stand_table *table, unsigned facts)
{
	for (size_t i = 0; i < table->row_count; i++)
		if (is_true(&table->rows[i], facts))
			return &table->rows[i];
	abort(); /* the last row asks nothing: a test looks at all tables */
}

void stand_say(struct standby *standby, const struct stand_row *row)
{
	const char *why = row->why ? row->why : standby->verdict.why;
	char text[sizeof(standby->reason)];

	if (row->says)
		row->says(standby, text, sizeof(text));
	if (row->cause)
		standby_say(standby, row->cause, row->says ? text : why);
	else if (row->why)
		standby_note(standby, false, why);
}

const char *stand_fact_says(enum stand_fact fact)
{
	static const char *const says[STAND_FACTS] = {
		[STAND_OWNER] = "it is the owner",
		[STAND_CANDIDATE] = "it is the candidate",
		[STAND_RESERVE] = "it is the reserve",
		[STAND_UNREADABLE] = "the journal cannot be read",
		[STAND_OTHER_FLINK] =
			"its Flink is neither that of its own launch nor held for this hand-over",
		[STAND_FLINK_ASKED] = "drey-init has not answered yet whether Flink is started",
		[STAND_NOT_READ] = "the journal was not read just now",
		[STAND_PUT_BACK] = "the journal was put back to an older version",
		[STAND_MAY_BE_WANTED] =
			"its Flink is for the hand-over, and the Deployment was not read yet",
		[STAND_BEGINS] = "its job is to begin: `seed`, `goOn`",
		[STAND_GOES_ON] = "its job is to go on: `goOn`",
		[STAND_ENDS_JOB] = "its job is to end: `kill`",
		[STAND_ADOPTS] = "it is to take the journal: `adopt`",
		[STAND_ADOPTING] = "that is tried, or was a second ago",
		[STAND_IN_SHADOW] = "the life cycle has the job",
		[STAND_OUTSIDE] = "no life cycle has the job",
		[STAND_OWN_UNREAD] = "its own journal cannot be read",
		[STAND_ELSEWHERE] = "a Flink is here, and the last launch was another Pod's",
		[STAND_FLINK] = "its Flink has not ended",
		[STAND_FAILED] = "it is `failed`",
		[STAND_WAS_TAKEN] = "it is `taken`, by a write that was not answered",
		[STAND_GRANTED] = "the job is granted to it",
		[STAND_MAY_HAVE_RUN] = "its job may have run: from `seeded` or `shadow` on",
	};

	return fact < STAND_FACTS ? says[fact] : NULL;
}
