/* json_print - the printers of json.h. */
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "base/visible.h"

static void add_escaped(struct buf *buf, uint32_t ch)
{
	static const char plain[] = "\"\\\b\f\n\r\t";
	static const char named[] = "\"\\bfnrt";
	const char *at = ch < 0x80 ? memchr(plain, (int)ch, sizeof(plain) - 1) : NULL;

	if (at) {
		buf_addch(buf, '\\');
		buf_addch(buf, named[at - plain]);
	} else if (ch < 0x10000) {
		buf_addf(buf, "\\u%04x", ch);
	} else {
		buf_addf(buf, "\\u%04x\\u%04x", 0xD800 + ((ch - 0x10000) >> 10),
			 0xDC00 + (ch & 0x3FF));
	}
}

void json_quote(struct buf *buf, const char *text, size_t len_bytes)
{
	size_t start = 0, at = 0;

	buf_addch(buf, '"');
	while (at < len_bytes) {
		unsigned char ch = (unsigned char)text[at];
		uint32_t code_point;
		size_t char_bytes;

		if (ch < 0x7F && ch >= 0x20 && ch != '"' && ch != '\\') { /* nearly all of them */
			at++;
			continue;
		}
		char_bytes = utf8_char_bytes(text + at, len_bytes - at);
		code_point = char_bytes ? utf8_code_point(text + at, char_bytes) : 0;
		if (char_bytes > 1 && !visible_is_harmful(code_point)) {
			at += char_bytes;
			continue;
		}
		buf_add(buf, text + start, at - start);
		if (char_bytes)
			add_escaped(buf, code_point);
		else
			buf_addstr(buf, "\xEF\xBF\xBD"); /* U+FFFD */
		at += char_bytes ? char_bytes : 1;
		start = at;
	}
	buf_add(buf, text + start, at - start);
	buf_addch(buf, '"');
}

/* depth < 0 is the compact form */
static void new_line(struct buf *buf, int depth)
{
	static const char indent[] = "                ";
	const int most = (int)sizeof(indent) - 1;

	if (depth < 0)
		return;
	buf_addch(buf, '\n');
	for (int left = 2 * depth; left > 0; left -= most)
		buf_add(buf, indent, (size_t)(left < most ? left : most));
}

static void print_value(const struct json *node, struct buf *buf, int depth);

static void print_container(const struct json *node, struct buf *buf, int depth)
{
	bool object = json_kind(node) == JSON_OBJECT;
	int inner = depth < 0 ? depth : depth + 1;
	const struct json *child;

	buf_addch(buf, object ? '{' : '[');
	json_each (child, node) {
		const char *name = json_name(child);

		if (child != json_first(node))
			buf_addch(buf, ',');
		new_line(buf, inner);
		if (object) {
			json_quote(buf, name, strlen(name));
			buf_addstr(buf, depth < 0 ? ":" : ": ");
		}
		print_value(child, buf, inner);
	}
	if (json_first(node))
		new_line(buf, depth);
	buf_addch(buf, object ? '}' : ']');
}

static void print_value(const struct json *node, struct buf *buf, int depth)
{
	switch (json_kind(node)) {
	case JSON_OBJECT:
	case JSON_ARRAY:
		print_container(node, buf, depth);
		break;
	case JSON_STRING:
		json_quote(buf, json_text(node), strlen(json_text(node)));
		break;
	case JSON_NUMBER:
		buf_addstr(buf, json_number(node));
		break;
	case JSON_BOOL:
		buf_addstr(buf, json_is_true(node) ? "true" : "false");
		break;
	case JSON_NULL:
		buf_addstr(buf, "null");
		break;
	}
}

void json_print(const struct json *node, struct buf *buf)
{
	print_value(node, buf, -1);
}

void json_print_pretty(const struct json *node, struct buf *buf)
{
	print_value(node, buf, 0);
	buf_addch(buf, '\n');
}
