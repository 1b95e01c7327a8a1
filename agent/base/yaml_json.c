#include "base/yaml_json.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define MAX_KEY_BYTES 320 /* an annotation of Kubernetes: 253 + 1 + 63 */

/* ---- read ---- */

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (!strcasecmp(text, *words))
			return true;
	return false;
}

/* Another reader might take it for a number or a boolean. */
static bool is_ambiguous(const char *text)
{
	static const char *const words[] = {"yes",   "no",    "on",   "off",  ".inf",
					    "+.inf", "-.inf", ".nan", "null", NULL};
	const char *digits = text + (*text == '-' || *text == '+');

	if (is_one_of(text, words))
		return true;
	if (*digits == '0' && strchr("xXoObB", digits[1]) && digits[1] && digits[2])
		return !digits[2 + strspn(digits + 2, "0123456789abcdefABCDEF_")];
	digits += *digits == '.';
	if (*digits < '0' || *digits > '9')
		return false;
	digits += strspn(digits, "0123456789_.");
	if (*digits == 'e' || *digits == 'E') {
		digits += 1 + (digits[1] == '-' || digits[1] == '+');
		if (!*digits)
			return false;
		digits += strspn(digits, "0123456789");
	}
	return !*digits;
}

/* More than one point: a version, not a number. */
static bool is_version(const char *text)
{
	const char *point = strchr(text, '.');

	return point && strchr(point + 1, '.') && !text[strspn(text, "0123456789.")];
}

static struct json *read_plain(const struct yaml_node *node, struct err *err)
{
	static const char *const truths[] = {"true", "false", NULL};
	cleanup_json struct json *holder = json_array();
	struct json *number;

	if (yaml_is_null(node))
		json_add_null(holder, NULL);
	else if (is_one_of(node->text, truths))
		json_add_bool(holder, NULL, node->text[0] == 't' || node->text[0] == 'T');
	else if ((number = json_parse(node->text, strlen(node->text), 64, NULL)) &&
		 json_kind(number) == JSON_NUMBER)
		return number;
	else if (json_free(number), is_ambiguous(node->text) && !is_version(node->text))
		return yaml_err(
			       node, err,
			       "'%.40s' is not the same to every reader of YAML; put it into quotes, or write true, "
			       "false or a decimal number",
			       node->text),
		       NULL;
	else
		json_add_str(holder, NULL, node->text);
	return json_copy(json_at(holder, 0));
}

static struct json *read_text(const char *text)
{
	cleanup_json struct json *holder = json_array();

	json_add_str(holder, NULL, text);
	return json_copy(json_at(holder, 0));
}

/* libyaml reads no key of more than 1024 characters, and an escape has up to six. */
static bool is_key(const char *key)
{
	for (const char *at = key; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7F)
			return false;
	return strlen(key) <= MAX_KEY_BYTES;
}

struct json *yaml_json_read(const struct yaml_node *node, struct err *err)
{
	const struct yaml_node *child;
	struct json *to;

	if (node->kind == YAML_SCALAR)
		return node->quoted ? read_text(node->text) : read_plain(node, err);
	to = node->kind == YAML_MAPPING ? json_object() : json_array();
	yaml_each(child, node)
	{
		struct json *value = NULL;

		if (child->key && !is_key(child->key))
			yaml_err_key(child, err, "a key is too long, or has control characters");
		else
			value = yaml_json_read(child, err);
		if (!value) {
			json_free(to);
			return NULL;
		}
		json_add(to, child->key, value);
	}
	return to;
}

/* ---- print ---- */

static bool is_plain(const char *text)
{
	static const char *const words[] = {"true", "false", "yes", "no",   "on",
					    "off",  "y",     "n",   "null", NULL};
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t len = strlen(text);

	if (!len || !(strchr(letters, *text) || *text == '/') || is_one_of(text, words))
		return false;
	for (const char *at = text; *at; at++) {
		if (!strchr(letters, *at) && !strchr("0123456789_./:@=+,-$() ", *at))
			return false;
		if (*at == ':' && (at[1] == ' ' || !at[1]))
			return false;
	}
	return text[len - 1] != ' ';
}

/* What YAML takes for the end of a line, or does not take at all, although JSON does. */
static bool is_special(const unsigned char *at, unsigned *ret_code, size_t *ret_len)
{
	if (at[0] == 0xC2 && at[1] >= 0x80 && at[1] <= 0x9F) {
		*ret_code = at[1];
		*ret_len = 2;
		return true;
	}
	if (at[0] != 0xE2 && at[0] != 0xEF)
		return false;
	*ret_code = (unsigned)(at[0] & 0xF) << 12 | (unsigned)(at[1] & 0x3F) << 6 | (at[2] & 0x3F);
	*ret_len = 3;
	return *ret_code == 0x2028 || *ret_code == 0x2029 || *ret_code == 0xFEFF ||
	       *ret_code >= 0xFFFE;
}

static void print_quoted(const char *text, struct buf *buf)
{
	cleanup_buf struct buf quoted = BUF_INIT;
	const unsigned char *at;
	unsigned code;
	size_t len;

	json_quote(&quoted, text, strlen(text));
	for (at = (const unsigned char *)buf_str(&quoted); *at; at += len) {
		if (is_special(at, &code, &len)) {
			buf_addf(buf, "\\u%04x", code);
			continue;
		}
		len = 1;
		buf_addch(buf, (char)*at);
	}
}

/* Lines that need no escapes, the last one ended by at most one newline. */
static bool is_block(const char *text)
{
	size_t len = strlen(text);

	if (!strchr(text, '\n') || strchr(" \t\n", *text) ||
	    (text[len - 1] == '\n' && text[len - 2] == '\n'))
		return false;
	for (const char *at = text; *at; at++)
		if (((unsigned char)*at < ' ' && *at != '\n' && *at != '\t') ||
		    (signed char)*at < 0 || *at == 0x7F)
			return false;
	return true;
}

static void print_indent(unsigned depth, struct buf *buf)
{
	for (unsigned i = 0; i < depth; i++)
		buf_addstr(buf, "  ");
}

static void print_block(const char *text, unsigned depth, struct buf *buf)
{
	size_t len = strlen(text);

	buf_addstr(buf, text[len - 1] == '\n' ? "|\n" : "|-\n");
	while (*text) {
		size_t line = strcspn(text, "\n");

		if (line)
			print_indent(depth, buf);
		buf_add(buf, text, line);
		buf_addch(buf, '\n');
		text += line + (text[line] != '\0');
	}
}

static void print_word(const char *text, struct buf *buf)
{
	if (is_plain(text))
		buf_addstr(buf, text);
	else
		print_quoted(text, buf);
}

static void print_members(const struct json *node, unsigned depth, bool started, struct buf *buf);

/* What follows "key:" or "-", up to the end of the line. `depth` is that of its own members. */
static void print_value(const struct json *node, unsigned depth, bool in_list, struct buf *buf)
{
	enum json_kind kind = json_kind(node);

	if ((kind == JSON_OBJECT || kind == JSON_ARRAY) && json_len(node)) {
		buf_addch(buf, in_list ? ' ' : '\n');
		print_members(node, depth, in_list, buf);
		return;
	}
	buf_addch(buf, ' ');
	if (kind == JSON_STRING && is_block(json_text(node))) {
		print_block(json_text(node), depth, buf);
		return;
	}
	if (kind == JSON_STRING)
		print_word(json_text(node), buf);
	else
		json_print(node, buf);
	buf_addch(buf, '\n');
}

/* `started`: the first line has its indentation already. */
static void print_members(const struct json *node, unsigned depth, bool started, struct buf *buf)
{
	const struct json *child;

	json_each (child, node) {
		if (!started)
			print_indent(depth, buf);
		started = false;
		if (json_name(child)) {
			print_word(json_name(child), buf);
			buf_addch(buf, ':');
		} else {
			buf_addch(buf, '-');
		}
		print_value(child, depth + 1, !json_name(child), buf);
	}
}

void yaml_json_print(const struct json *node, struct buf *buf)
{
	enum json_kind kind = json_kind(node);

	if ((kind == JSON_OBJECT || kind == JSON_ARRAY) && json_len(node)) {
		print_members(node, 0, false, buf);
		return;
	}
	if (kind == JSON_STRING)
		print_quoted(json_text(node), buf);
	else
		json_print(node, buf);
	buf_addch(buf, '\n');
}
