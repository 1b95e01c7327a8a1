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
	char text[sizeof(standby->reason)];

	if (!row->cause)
		return;
	if (row->says)
		row->says(standby, text, sizeof(text));
	standby_say(standby, row->cause,
		    row->says  ? text
		    : row->why ? row->why
			       : standby->verdict.why);
}

const char *stand_fact_says(enum stand_fact fact)
{
	static const char *const says[STAND_FACTS] = {
		[STAND_OWNER] = "it is the owner",
		[STAND_CANDIDATE] = "it is the candidate",
		[STAND_RESERVE] = "it is the reserve",
		[STAND_UNREADABLE] = "the journal cannot be read",
		[STAND_OTHER_FLINK] =
			"its Flink is neither that of its own launch nor the one that is held for this hand-over",
		[STAND_FLINK_ASKED] = "drey-init has not answered yet whether Flink is started",
		[STAND_NOT_READ] = "the journal was not read just now",
		[STAND_PUT_BACK] = "somebody has put an older journal in its place",
		[STAND_MAY_BE_WANTED] =
			"its Flink is for the hand-over, and the Deployment was not read yet",
	};

	return fact < STAND_FACTS ? says[fact] : NULL;
}
