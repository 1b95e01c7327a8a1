#include "cmd/wrap.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* C1 controls; soft hyphen; marks of direction; separators; invisible operators; byte order mark */
static const struct utf8_range harmful[] = {
	{0x80, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x200b, 0x200f},
	{0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
};
static const struct utf8_range combining[] = {
	{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
	{0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};
static const struct utf8_range wide[] = {
	{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xac00, 0xd7a3},
	{0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
	{0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

void wrap_visible(const char *text, struct buf *ret_text)
{
	size_t left = text ? strlen(text) : 0;

	while (left) {
		size_t bytes = utf8_char_bytes(text, left);
		unsigned ch = bytes ? utf8_code_point(text, bytes) : 0;

		if (!bytes || ch < ' ' || ch == 0x7f) {
			buf_addf(ret_text, "\\x%02x", (unsigned char)*text);
			bytes = 1;
		} else if (utf8_is_in(harmful, ARRAY_LEN(harmful), ch)) {
			buf_addf(ret_text, "\\u{%x}", ch);
		} else {
			buf_add(ret_text, text, bytes);
		}
		text += bytes;
		left -= bytes;
	}
}

size_t wrap_columns(const char *text, size_t len_bytes)
{
	size_t columns = 0;

	while (len_bytes) {
		size_t bytes = utf8_char_bytes(text, len_bytes);
		unsigned ch = bytes ? utf8_code_point(text, bytes) : 0;

		if (!bytes)
			bytes = 1;
		if (!utf8_is_in(combining, ARRAY_LEN(combining), ch))
			columns += utf8_is_in(wide, ARRAY_LEN(wide), ch) ? 2 : 1;
		text += bytes;
		len_bytes -= bytes;
	}
	return columns;
}

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

void wrap_add(const char *text, size_t column, size_t indent, size_t width, struct buf *ret_text)
{
	bool begins = column <= indent; /* the line has no word yet */

	if (!width) {
		buf_addstr(ret_text, text);
		return;
	}
	while (*text) {
		size_t spaces = strspn(text, " "), len = word_bytes(text + spaces);
		size_t columns = wrap_columns(text + spaces, len);

		if (!len)
			break;
		if (!begins && column + spaces + columns > width) {
			buf_addf(ret_text, "\n%*s", (int)indent, "");
			column = indent;
		} else {
			buf_add(ret_text, text, spaces);
			column += spaces;
		}
		buf_add(ret_text, text + spaces, len);
		column += columns;
		text += spaces + len;
		begins = false;
	}
}
