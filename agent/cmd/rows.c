#include "cmd/rows.h"

#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"

#define INDENT        17
#define NARROW_INDENT 4
#define NARROW_WIDTH  50 /* below it a column of names leaves no room */

void rows_end(struct rows *rows)
{
	size_t width = (size_t)rows->term->width, column = INDENT;
	size_t indent = width && width < NARROW_WIDTH ? NARROW_INDENT : INDENT;
	cleanup_buf struct buf visible = BUF_INIT;

	if (!rows->name)
		return;
	wrap_visible(buf_str(&rows->value), &visible);
	if (*rows->name || indent == INDENT) {
		buf_addf(rows->to, "  %-14s ", rows->name);
	} else {
		buf_addf(rows->to, "%*s", (int)indent, "");
		column = indent;
	}
	wrap_add(buf_str(&visible), column, indent, width, rows->to);
	buf_addch(rows->to, '\n');
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
	size_t room = (size_t)(width ? width : rows->term->width), len = 0, columns = 0;
	const char *text = buf_str(&rows->value);
	struct buf visible = BUF_INIT;

	room = room > INDENT + 10 ? room - INDENT : 10;
	wrap_visible(text, &visible);
	text = buf_str(&visible);
	if (wrap_columns(text, visible.len_bytes) > room) {
		while (columns < room - 3) {
			size_t bytes = utf8_char_bytes(text + len, visible.len_bytes - len);

			columns += wrap_columns(text + len, bytes);
			len += bytes;
		}
		visible.len_bytes = len;
		buf_addstr(&visible, "...");
	}
	buf_release(&rows->value);
	rows->value = visible;
}
