#include "cmd/plugin/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/visible.h"
#include "cmd/age.h"

#define GAP 3

void table_add(struct table *table, const char *text)
{
	struct buf visible = BUF_INIT;

	visible_add(text && *text ? text : "-", &visible);
	table->cells = xreallocarray(table->cells, table->count + 1, sizeof(*table->cells));
	table->cells[table->count++] = buf_steal(&visible);
}

void table_add_age(struct table *table, int64_t then_unix_ms, int64_t now_unix_ms)
{
	char age[AGE_TEXT_BYTES];

	table_add(table, then_unix_ms ? age_text(then_unix_ms, now_unix_ms, age) : NULL);
}

static size_t columns_of(const char *cell)
{
	return visible_columns(cell, strlen(cell));
}

void table_text(const struct table *table, const struct term *term, size_t coloured,
		const enum term_colour *colours, struct shown *ret_text)
{
	size_t widths[TABLE_COLUMNS] = {0}, columns = table->columns;

	for (size_t i = 0; i < table->count; i++)
		if (columns_of(table->cells[i]) > widths[i % columns])
			widths[i % columns] = columns_of(table->cells[i]);
	for (size_t i = 0; i < table->count; i++) {
		const char *cell = table->cells[i];
		size_t row = i / columns, at = i % columns;
		enum term_colour colour =
			row && colours && at == coloured ? colours[row - 1] : TERM_PLAIN;

		shown_begin(ret_text, term, colour);
		shown_addf(ret_text, "%s", cell);
		shown_end(ret_text, term, colour);
		if (at + 1 < columns)
			shown_addf(ret_text, "%*s", (int)(widths[at] - columns_of(cell) + GAP), "");
		else
			shown_addf(ret_text, "\n");
	}
}

void table_release(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i]);
	free(table->cells);
	table->cells = NULL;
	table->count = 0;
}
