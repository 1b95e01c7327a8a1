/* The first row of a table that decides. */
#include "core/lifecycle/lifecycle_rows.h"

#include <stdlib.h>

static bool row_decides(const struct life_row *row, uint64_t facts)
{
	for (size_t i = 0; i < ROW_FACTS && row->all[i]; i++)
		if (!(facts & fact_bit(row->all[i])))
			return false;
	return !(facts & activity_waits_for(row->begins));
}

const struct life_row *table_row(const struct life_table *table, uint64_t facts)
{
	for (size_t i = 0; i < table->row_count; i++)
		if (row_decides(&table->rows[i], facts))
			return &table->rows[i];
	abort(); /* the last row asks nothing: a test compares all tables */
}
