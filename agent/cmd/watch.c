#include "cmd/watch.h"

#include <stdbool.h>
#include <string.h>

#include "base/visible.h"

#define HOME       "\x1b[H"
#define CLEAR_LINE "\x1b[K"
#define CLEAR_REST "\x1b[J"

/* The columns of a line without its colours. */
static size_t columns_of(const char *line, size_t len)
{
	size_t columns = 0;

	for (const char *end = line + len; line < end;) {
		size_t plain = 0;

		while (line + plain < end && line[plain] != '\x1b')
			plain++;
		columns += visible_columns(line, plain);
		line += plain;
		while (line < end && *line++ != 'm')
			;
	}
	return columns;
}

void watch_frame(const struct shown *lines, size_t rows, size_t columns, struct shown *ret_frame)
{
	struct buf *to = &ret_frame->harmless;
	const char *text = shown_str(lines);
	bool limited = rows && columns;
	size_t left = rows ? rows - 1 : 0;

	buf_addstr(to, HOME);
	while (*text) {
		size_t len = strcspn(text, "\n"), width = columns_of(text, len);
		size_t needs = limited && width > columns ? (width + columns - 1) / columns : 1;

		if (limited && needs > left)
			break;
		left -= limited ? needs : 0;
		buf_add(to, text, len);
		buf_addstr(to, CLEAR_LINE "\n");
		text += len + (text[len] == '\n');
	}
	buf_addstr(to, CLEAR_REST);
}
