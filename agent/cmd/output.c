#include "cmd/output.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

bool output_wide(const struct cli *cli)
{
	const char *format = cli_value(cli, "output");

	return format && !strcmp(format, "wide");
}

/* No number, no word with a meaning of its own, nothing with a mark of YAML in it. */
static bool is_plain(const char *text)
{
	static const char *const words[] = {"true", "false", "null", "yes", "no",
					    "on",   "off",   "y",    "n",   NULL};

	for (int i = 0; words[i]; i++)
		if (!strcasecmp(words[i], text))
			return false;
	return strspn(text, LETTERS) > 0 && strspn(text, LETTERS "0123456789._/-") == strlen(text);
}

static void add_value(const struct json *node, struct buf *to)
{
	const char *text = json_text(node);

	if (text && is_plain(text))
		buf_addstr(to, text);
	else
		json_print(node, to); /* a text of JSON is one of YAML */
}

static void add_node(const struct json *node, int indent, bool first_here, struct buf *to);

/* "KEY:" or "-" has been printed: the value stands behind it, or below. */
static void add_child(const struct json *child, int indent, bool in_list, struct buf *to)
{
	if (!json_len(child)) {
		buf_addch(to, ' ');
		add_value(child, to);
		buf_addch(to, '\n');
	} else if (in_list) {
		buf_addch(to, ' ');
		add_node(child, indent + 2, true, to);
	} else {
		buf_addch(to, '\n');
		add_node(child, indent + (json_kind(child) == JSON_OBJECT ? 2 : 0), false, to);
	}
}

/* Members or elements, as deep as JSON_MAX_DEPTH; the first one may continue a line. */
static void add_node(const struct json *node, int indent, bool first_here, struct buf *to)
{
	const struct json *child;

	json_each (child, node) {
		const char *name = json_name(child);

		buf_addf(to, "%*s", first_here ? 0 : indent, "");
		first_here = false;
		if (!name) {
			buf_addch(to, '-');
		} else {
			if (is_plain(name))
				buf_addstr(to, name);
			else
				json_quote(to, name, strlen(name));
			buf_addch(to, ':');
		}
		add_child(child, indent, !name, to);
	}
}

void output_yaml(const struct json *doc, struct buf *ret_text)
{
	if (json_len(doc)) {
		add_node(doc, 0, false, ret_text);
		return;
	}
	add_value(doc, ret_text);
	buf_addch(ret_text, '\n');
}

void output_document(const struct cli *cli, const struct json *doc)
{
	const char *format = cli_value(cli, "output");
	cleanup_buf struct buf text = BUF_INIT;

	if (format && !strcmp(format, "yaml"))
		output_yaml(doc, &text);
	else
		json_print_pretty(doc, &text);
	out_lines(cli->out, buf_str(&text));
}
