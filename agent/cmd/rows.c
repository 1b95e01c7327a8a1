#include "cmd/rows.h"

#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/wrap.h"

#define INDENT        17
#define NARROW_INDENT 4
#define NARROW_WIDTH  50 /* below it a column of names leaves no room */

void rows_end(struct rows *rows)
{
	size_t width = (size_t)rows->term->width, column = INDENT;
	size_t indent = width && width < NARROW_WIDTH ? NARROW_INDENT : INDENT;

	if (!rows->name)
		return;
	if (*rows->name || indent == INDENT) {
		shown_addf(rows->to, "  %-14s ", rows->name);
	} else {
		shown_addf(rows->to, "%*s", (int)indent, "");
		column = indent;
	}
	wrap_add(buf_str(&rows->value), column, indent, width, rows->to);
	shown_addf(rows->to, "\n");
	buf_release(&rows->value);
	rows->name = NULL;
}

void rows_begin(struct rows *rows, const char *name)
{
	rows_end(rows);
	rows->name = name;
}

void rows_add(struct rows *rows, const char *fmt, ...)
{
	cleanup_free char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	buf_addstr(&rows->value, text);
}

void rows_add_ago(struct rows *rows, const char *before, int64_t unix_ms)
{
	char text[CLOCK_TEXT_BYTES];

	if (unix_ms > 0)
		rows_add(rows, "%s%s", before, clock_ago(unix_ms, rows->now_unix_ms, text));
}

void rows_cut(struct rows *rows, int width)
{
	size_t room = (size_t)(width ? width : rows->term->width);
	struct shown visible = {0};

	shown_addf(&visible, "%s", buf_str(&rows->value));
	shown_cut(&visible, room > INDENT + 10 ? room - INDENT : 10);
	buf_clear(&rows->value);
	buf_addstr(&rows->value, shown_str(&visible));
	shown_release(&visible);
}
