#include "cmd/wrap.h"

#include <stdbool.h>
#include <string.h>

#include "base/visible.h"

/* The length of the word that begins here: to the next space outside of backquotes. */
static size_t word_bytes(const char *text)
{
	size_t len = 0;

	while (text[len] && text[len] != ' ') {
		const char *end = text[len] == '`' ? strchr(text + len + 1, '`') : NULL;

		len = end ? (size_t)(end - text) + 1 : len + 1;
	}
	return len;
}

/* `text` is harmless. */
static void wrap_lines(const char *text, size_t column, size_t indent, size_t width, struct buf *to)
{
	bool begins = column <= indent; /* the line has no word yet */

	while (*text) {
		size_t spaces = strspn(text, " "), len = word_bytes(text + spaces);
		size_t columns = visible_columns(text + spaces, len);

		if (!len)
			break;
		if (!begins && column + spaces + columns > width) {
			buf_addf(to, "\n%*s", (int)indent, "");
			column = indent;
		} else {
			buf_add(to, text, spaces);
			column += spaces;
		}
		buf_add(to, text + spaces, len);
		column += columns;
		text += spaces + len;
		begins = false;
	}
}

void wrap_add(const char *text, size_t column, size_t indent, size_t width, struct shown *ret_text)
{
	cleanup_buf struct buf visible = BUF_INIT;

	visible_add(text, &visible);
	if (width)
		wrap_lines(buf_str(&visible), column, indent, width, &ret_text->harmless);
	else
		buf_add(&ret_text->harmless, buf_str(&visible), visible.len_bytes);
}
