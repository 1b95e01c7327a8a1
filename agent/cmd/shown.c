#include "cmd/shown.h"

#include <stdarg.h>

#include "base/utf8.h"
#include "base/visible.h"

void shown_addf(struct shown *to, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	visible_addvf(&to->harmless, fmt, args);
	va_end(args);
}

void shown_begin(struct shown *to, const struct term *term, enum term_colour colour)
{
	buf_addstr(&to->harmless, term_begin(term, colour));
}

void shown_end(struct shown *to, const struct term *term, enum term_colour colour)
{
	buf_addstr(&to->harmless, term_end(term, colour));
}

void shown_cut(struct shown *text, size_t columns)
{
	struct buf *line = &text->harmless;
	size_t len = 0, taken = 0;

	if (shown_columns(text) <= columns)
		return;
	while (len < line->len_bytes) {
		size_t bytes = utf8_char_bytes(line->data + len, line->len_bytes - len);
		size_t more = visible_columns(line->data + len, bytes);

		if (taken + more + 3 > columns)
			break;
		taken += more;
		len += bytes;
	}
	line->len_bytes = len;
	buf_addstr(line, "...");
}

size_t shown_columns(const struct shown *text)
{
	return visible_columns(shown_str(text), text->harmless.len_bytes);
}

const char *shown_str(const struct shown *text)
{
	return buf_str(&text->harmless);
}

void shown_release(struct shown *text)
{
	buf_release(&text->harmless);
}
