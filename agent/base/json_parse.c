/*
 * json_parse - the grammar of RFC 8259, without extensions. The tree is built during parsing: each
 * node is in its document before its own text is read, so that json_free() of the document cleans
 * up after an error.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_node.h"
#include "base/mem.h"
#include "base/percent.h"
#include "base/utf8.h"

#define NUMBER_MAX_BYTES 60

struct parser {
	const char *text;
	size_t len_bytes, at;
	struct err *err;
};

static int refuse(struct parser *p, const char *why)
{
	return err_set(p->err, ERR_FORMAT, 0, "byte %zu: %s", p->at, why);
}

/* The next byte, or -1 at the end. */
static int peek(const struct parser *p)
{
	return p->at < p->len_bytes ? (unsigned char)p->text[p->at] : -1;
}

static void skip_space(struct parser *p)
{
	int ch;

	while ((ch = peek(p)) == ' ' || ch == '\t' || ch == '\n' || ch == '\r')
		p->at++;
}

static bool is_digit(int ch)
{
	return ch >= '0' && ch <= '9';
}

static void skip_digits(struct parser *p)
{
	while (is_digit(peek(p)))
		p->at++;
}

static int parse_number(struct parser *p, struct json *node)
{
	size_t start = p->at;

	if (peek(p) == '-')
		p->at++;
	if (!is_digit(peek(p)))
		return refuse(p, "expected a digit");
	if (peek(p) == '0') {
		p->at++;
		if (is_digit(peek(p)))
			return refuse(p, "a number with a leading zero");
	}
	skip_digits(p);
	if (peek(p) == '.') {
		p->at++;
		if (!is_digit(peek(p)))
			return refuse(p, "expected a digit after the point");
		skip_digits(p);
	}
	if (peek(p) == 'e' || peek(p) == 'E') {
		p->at++;
		if (peek(p) == '+' || peek(p) == '-')
			p->at++;
		if (!is_digit(peek(p)))
			return refuse(p, "expected a digit in the exponent");
		skip_digits(p);
	}
	if (p->at - start > NUMBER_MAX_BYTES)
		return refuse(p, "a number that is too long");
	node->kind = JSON_NUMBER;
	node->text = xstrndup(p->text + start, p->at - start);
	return 0;
}

/* Four hex digits; the value or -1. */
static int parse_hex4(struct parser *p)
{
	int value = 0;

	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(peek(p));

		if (digit < 0)
			return refuse(p, "expected a hex digit");
		value = value * 16 + digit;
		p->at++;
	}
	return value;
}

static void add_utf8(struct buf *to, unsigned code)
{
	static const unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
	int tails = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;

	buf_addch(to, (char)(leads[tails] | code >> 6 * tails));
	while (tails-- > 0)
		buf_addch(to, (char)(0x80 | (code >> 6 * tails & 0x3F)));
}

/* After "\u". */
static int parse_unicode_escape(struct parser *p, struct buf *to)
{
	int low, value = parse_hex4(p);

	if (value < 0)
		return -1;
	if (value == 0)
		return refuse(p, "\\u0000 in a string");
	if (value < 0xD800 || value > 0xDFFF) {
		add_utf8(to, (unsigned)value);
		return 0;
	}
	if (value > 0xDBFF || p->len_bytes - p->at < 2 || memcmp(p->text + p->at, "\\u", 2) != 0)
		return refuse(p, "a lone surrogate in a string");
	p->at += 2;
	low = parse_hex4(p);
	if (low < 0)
		return -1;
	if (low < 0xDC00 || low > 0xDFFF)
		return refuse(p, "a lone surrogate in a string");
	add_utf8(to, 0x10000 + ((unsigned)(value - 0xD800) << 10) + (unsigned)(low - 0xDC00));
	return 0;
}

static int parse_escape(struct parser *p, struct buf *to)
{
	static const char named[] = "\"\\/bfnrt";
	static const char meant[] = "\"\\/\b\f\n\r\t";
	const char *found;
	int ch;

	p->at++;
	ch = peek(p);
	found = ch > 0 ? strchr(named, ch) : NULL;
	if (!found && ch != 'u')
		return refuse(p, "an unknown escape");
	p->at++;
	if (!found)
		return parse_unicode_escape(p, to);
	buf_addch(to, meant[found - named]);
	return 0;
}

/* Bytes that need no unescaping; returns the first one after them. */
static int skip_plain(struct parser *p)
{
	int ch;

	while ((ch = peek(p)) >= 0x20 && ch < 0x80 && ch != '"' && ch != '\\')
		p->at++;
	return ch;
}

static int parse_characters(struct parser *p, struct buf *to)
{
	for (;;) {
		size_t start = p->at, char_bytes;
		int ch = skip_plain(p);

		buf_add(to, p->text + start, p->at - start);
		if (ch < 0)
			return refuse(p, "the text ends inside a string");
		if (ch == '"')
			return 0;
		if (ch < 0x20)
			return refuse(p, "a control byte in a string");
		if (ch == '\\') {
			if (parse_escape(p, to))
				return -1;
			continue;
		}
		char_bytes = utf8_char_bytes(p->text + p->at, p->len_bytes - p->at);
		if (!char_bytes)
			return refuse(p, "invalid UTF-8");
		buf_add(to, p->text + p->at, char_bytes);
		p->at += char_bytes;
	}
}

/* The caller frees *ret_text. */
static int parse_string(struct parser *p, char **ret_text)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t start;

	if (peek(p) != '"')
		return refuse(p, "expected a string");
	start = ++p->at;
	if (skip_plain(p) == '"') {
		*ret_text = xstrndup(p->text + start, p->at++ - start);
		return 0;
	}
	p->at = start;
	if (parse_characters(p, &text))
		return -1;
	p->at++;
	*ret_text = xstrdup(buf_str(&text));
	return 0;
}

static int parse_word(struct parser *p, const char *word)
{
	size_t len = strlen(word);

	if (p->len_bytes - p->at < len || memcmp(p->text + p->at, word, len) != 0)
		return refuse(p, "expected a value");
	p->at += len;
	return 0;
}

static int parse_bool(struct parser *p, struct json *node, bool value)
{
	node->kind = JSON_BOOL;
	node->is_true = value;
	return parse_word(p, value ? "true" : "false");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int refuse_duplicates(const struct json *obj, struct err *err)
{
	size_t count = json_len(obj), at = 0;
	cleanup_free const char **names = xcalloc(count + 1, sizeof(*names));
	const struct json *child;

	json_each (child, obj)
		names[at++] = child->name;
	qsort(names, count, sizeof(*names), by_name);
	for (size_t i = 1; i < count; i++)
		if (!strcmp(names[i - 1], names[i]))
			return err_set(err, ERR_FORMAT, 0, "duplicate name '%s'", names[i]);
	return 0;
}

static int parse_value(struct parser *p, struct json *node, unsigned depth);

/* One member or element of the container. */
static int parse_child(struct parser *p, struct json *to, unsigned depth)
{
	char *name = NULL;

	if (to->kind == JSON_OBJECT) {
		skip_space(p);
		if (parse_string(p, &name))
			return -1;
	}
	to = json_append(to, name, JSON_NULL);
	if (name) {
		skip_space(p);
		if (peek(p) != ':')
			return refuse(p, "expected ':'");
		p->at++;
	}
	return parse_value(p, to, depth);
}

static int parse_container(struct parser *p, struct json *node, enum json_kind kind, unsigned depth)
{
	bool object = kind == JSON_OBJECT;
	int ch, close = object ? '}' : ']';

	node->kind = kind;
	if (depth >= JSON_MAX_DEPTH)
		return refuse(p, "nested too deep");
	p->at++;
	skip_space(p);
	if (peek(p) == close) {
		p->at++;
		return 0;
	}
	do {
		if (parse_child(p, node, depth + 1))
			return -1;
		skip_space(p);
		ch = peek(p);
		if (ch != ',' && ch != close)
			return refuse(p, ch < 0   ? "the text ends too early"
					 : object ? "expected ',' or '}'"
						  : "expected ',' or ']'");
		p->at++;
	} while (ch != close);
	return object ? refuse_duplicates(node, p->err) : 0;
}

static int parse_value(struct parser *p, struct json *node, unsigned depth)
{
	skip_space(p);
	switch (peek(p)) {
	case -1:
		return refuse(p, "the text ends too early");
	case '{':
		return parse_container(p, node, JSON_OBJECT, depth);
	case '[':
		return parse_container(p, node, JSON_ARRAY, depth);
	case '"':
		node->kind = JSON_STRING;
		return parse_string(p, &node->text);
	case 't':
		return parse_bool(p, node, true);
	case 'f':
		return parse_bool(p, node, false);
	case 'n':
		return parse_word(p, "null");
	default:
		if (peek(p) == '-' || is_digit(peek(p)))
			return parse_number(p, node);
		return refuse(p, "expected a value");
	}
}

static int parse_document(struct parser *p, struct json *doc)
{
	if (parse_value(p, doc, 0))
		return -1;
	skip_space(p);
	return p->at == p->len_bytes ? 0 : refuse(p, "more bytes after the document");
}

struct json *json_parse(const char *text, size_t len_bytes, size_t max_bytes, struct err *err)
{
	struct parser parser = {text, len_bytes, 0, err};
	struct json *doc;

	if (len_bytes > max_bytes) {
		err_set(err, ERR_FORMAT, 0, "%zu bytes of JSON, more than the limit of %zu",
			len_bytes, max_bytes);
		return NULL;
	}
	doc = json_copy(NULL);
	if (!parse_document(&parser, doc))
		return doc;
	json_free(doc);
	return NULL;
}
