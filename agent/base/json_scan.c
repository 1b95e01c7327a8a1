#include "base/json_scan.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

#define NUMBER_MAX_BYTES 60 /* cJSON's number buffer has 64 */

struct scan {
	const char *text;
	size_t len_bytes, at;
	unsigned max_depth;
	struct json_numbers *numbers;
	struct err *err;
};

static int refuse(struct scan *s, const char *why)
{
	return err_set(s->err, ERR_FORMAT, 0, "byte %zu: %s", s->at, why);
}

/* The next byte, or -1 at the end: no value of a byte. */
static int peek(const struct scan *s)
{
	return s->at < s->len_bytes ? (unsigned char)s->text[s->at] : -1;
}

static void skip_space(struct scan *s)
{
	int ch;

	while ((ch = peek(s)) == ' ' || ch == '\t' || ch == '\n' || ch == '\r')
		s->at++;
}

static bool is_digit(int ch)
{
	return ch >= '0' && ch <= '9';
}

static void skip_digits(struct scan *s)
{
	while (is_digit(peek(s)))
		s->at++;
}

static void note_number(struct scan *s, size_t start)
{
	struct json_numbers *n = s->numbers;

	if (n->count == n->cap) {
		n->cap = n->cap ? 2 * n->cap : 32;
		n->spans = xreallocarray(n->spans, n->cap, sizeof(*n->spans));
	}
	n->spans[n->count++] = (struct json_span){start, s->at - start};
}

static int scan_number(struct scan *s)
{
	size_t start = s->at;

	if (peek(s) == '-')
		s->at++;
	if (!is_digit(peek(s)))
		return refuse(s, "a digit was expected");
	if (peek(s) == '0') {
		s->at++;
		if (is_digit(peek(s)))
			return refuse(s, "a number with a leading zero");
	}
	skip_digits(s);
	if (peek(s) == '.') {
		s->at++;
		if (!is_digit(peek(s)))
			return refuse(s, "a digit was expected behind the point");
		skip_digits(s);
	}
	if (peek(s) == 'e' || peek(s) == 'E') {
		s->at++;
		if (peek(s) == '+' || peek(s) == '-')
			s->at++;
		if (!is_digit(peek(s)))
			return refuse(s, "a digit was expected in the exponent");
		skip_digits(s);
	}
	if (s->at - start > NUMBER_MAX_BYTES)
		return refuse(s, "a number that is too long");
	note_number(s, start);
	return 0;
}

static int hex_value(int ch)
{
	if (is_digit(ch))
		return ch - '0';
	if (ch >= 'a' && ch <= 'f')
		return ch - 'a' + 10;
	return ch >= 'A' && ch <= 'F' ? ch - 'A' + 10 : -1;
}

/* Four hex digits; the value or -1. */
static int scan_hex4(struct scan *s)
{
	int value = 0;

	for (int i = 0; i < 4; i++) {
		int digit = hex_value(peek(s));

		if (digit < 0)
			return refuse(s, "a hex digit was expected");
		value = value * 16 + digit;
		s->at++;
	}
	return value;
}

/* Behind "\u". */
static int scan_unicode_escape(struct scan *s)
{
	int low, value = scan_hex4(s);

	if (value < 0)
		return -1;
	if (value == 0)
		return refuse(s, "\\u0000 in a string");
	if (value >= 0xDC00 && value <= 0xDFFF)
		return refuse(s, "a lone surrogate in a string");
	if (value < 0xD800 || value > 0xDBFF)
		return 0;
	if (s->len_bytes - s->at < 2 || memcmp(s->text + s->at, "\\u", 2) != 0)
		return refuse(s, "a lone surrogate in a string");
	s->at += 2;
	low = scan_hex4(s);
	if (low < 0)
		return -1;
	return low >= 0xDC00 && low <= 0xDFFF ? 0 : refuse(s, "a lone surrogate in a string");
}

static int scan_escape(struct scan *s)
{
	int ch;

	s->at++;
	ch = peek(s);
	if (ch <= 0 || !strchr("\"\\/bfnrtu", ch))
		return refuse(s, "an unknown escape");
	s->at++;
	return ch == 'u' ? scan_unicode_escape(s) : 0;
}

static int scan_string(struct scan *s)
{
	if (peek(s) != '"')
		return refuse(s, "a string was expected");
	s->at++;
	for (;;) {
		size_t char_bytes;
		int ch;

		while ((ch = peek(s)) >= 0x20 && ch < 0x80 && ch != '"' && ch != '\\')
			s->at++;
		if (ch < 0)
			return refuse(s, "the text ends inside a string");
		if (ch == '"') {
			s->at++;
			return 0;
		}
		if (ch < 0x20)
			return refuse(s, "a control byte in a string");
		if (ch == '\\') {
			if (scan_escape(s))
				return -1;
			continue;
		}
		char_bytes = utf8_char_bytes(s->text + s->at, s->len_bytes - s->at);
		if (!char_bytes)
			return refuse(s, "invalid UTF-8");
		s->at += char_bytes;
	}
}

static int scan_word(struct scan *s, const char *word)
{
	size_t len = strlen(word);

	if (s->len_bytes - s->at < len || memcmp(s->text + s->at, word, len) != 0)
		return refuse(s, "a value was expected");
	s->at += len;
	return 0;
}

static int scan_value(struct scan *s, unsigned depth);

static int scan_member(struct scan *s, unsigned depth)
{
	skip_space(s);
	if (scan_string(s))
		return -1;
	skip_space(s);
	if (peek(s) != ':')
		return refuse(s, "':' was expected");
	s->at++;
	return scan_value(s, depth);
}

static int scan_container(struct scan *s, bool object, unsigned depth)
{
	int close = object ? '}' : ']';

	if (depth >= s->max_depth)
		return refuse(s, "nested too deep");
	s->at++;
	skip_space(s);
	if (peek(s) == close) {
		s->at++;
		return 0;
	}
	for (;;) {
		int ch;

		if (object ? scan_member(s, depth + 1) : scan_value(s, depth + 1))
			return -1;
		skip_space(s);
		ch = peek(s);
		if (ch != ',' && ch != close)
			return refuse(s, ch < 0   ? "the text ends too early"
					 : object ? "',' or '}' was expected"
						  : "',' or ']' was expected");
		s->at++;
		if (ch == close)
			return 0;
	}
}

static int scan_value(struct scan *s, unsigned depth)
{
	skip_space(s);
	switch (peek(s)) {
	case -1:
		return refuse(s, "the text ends too early");
	case '{':
		return scan_container(s, true, depth);
	case '[':
		return scan_container(s, false, depth);
	case '"':
		return scan_string(s);
	case 't':
		return scan_word(s, "true");
	case 'f':
		return scan_word(s, "false");
	case 'n':
		return scan_word(s, "null");
	default:
		if (peek(s) == '-' || is_digit(peek(s)))
			return scan_number(s);
		return refuse(s, "a value was expected");
	}
}

int json_scan(const char *text, size_t len_bytes, unsigned max_depth, struct json_numbers *numbers,
	      struct err *err)
{
	struct scan s = {text, len_bytes, 0, max_depth, numbers, err};

	if (scan_value(&s, 0))
		return -1;
	skip_space(&s);
	if (s.at != len_bytes)
		return refuse(&s, "more bytes behind the document");
	return 0;
}
