#include "core/web/html.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* What a reader does not see, or what moves other text. From Unicode 15: Cc, Cf and the separators, but for the
 * joiners that scripts need inside words. */
static const struct utf8_range unseen[] = {
	{0x00, 0x1f},       {0x7f, 0x9f},       {0xad, 0xad},     {0x61c, 0x61c},
	{0x180e, 0x180e},   {0x200b, 0x200b},   {0x200e, 0x200f}, {0x2028, 0x202e},
	{0x2060, 0x206f},   {0xfeff, 0xfeff},   {0xfff0, 0xfffb}, {0x1d173, 0x1d17a},
	{0xe0000, 0xe0fff}, {0xf0000, 0x10ffff}};

static void add_char(struct buf *to, const char *text, size_t bytes)
{
	uint32_t code = utf8_code_point(text, bytes);

	switch (code) {
	case '&':
		buf_addstr(to, "&amp;");
		return;
	case '<':
		buf_addstr(to, "&lt;");
		return;
	case '>':
		buf_addstr(to, "&gt;");
		return;
	case '"':
		buf_addstr(to, "&quot;");
		return;
	case '\'':
		buf_addstr(to, "&#39;");
		return;
	case '\n':
	case '\t':
		buf_addch(to, *text);
		return;
	default:
		break;
	}
	if (!utf8_is_in(unseen, ARRAY_LEN(unseen), code))
		buf_add(to, text, bytes);
	else if (code < 0x80)
		buf_addf(to, "\\x%02x", (unsigned)code);
	else
		buf_addf(to, "\\u{%x}", (unsigned)code);
}

static void html_part(struct buf *to, const char *text, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes;) {
		size_t bytes = utf8_char_bytes(text + i, len_bytes - i);

		if (bytes)
			add_char(to, text + i, bytes);
		else
			buf_addf(to, "\\x%02x", (unsigned)(unsigned char)text[i]);
		i += bytes ? bytes : 1;
	}
}

void html_text(struct buf *to, const char *text)
{
	if (text)
		html_part(to, text, strlen(text));
}

void html_cut(struct buf *to, const char *text, size_t max_bytes)
{
	size_t kept, len = text ? strlen(text) : 0;

	if (len <= max_bytes) {
		html_text(to, text);
		return;
	}
	kept = utf8_cut(text, max_bytes);
	html_part(to, text, kept);
	buf_addf(to, "... (%zu more characters)", len - kept);
}
