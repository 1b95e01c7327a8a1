#include "base/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/clock.h"
#include "base/mem.h"

#undef yaml_err /* yaml.h has macros for the analyzer */
#undef yaml_err_key

struct reader {
	yaml_parser_t parser;
	struct err *err;
};

/* Messages quote keys and values, and stay one line. */
static int set_err(struct err *err, size_t line, size_t column, const char *why)
{
	err_set(err, ERR_CONFIG, 0, "line %zu, column %zu: %s", line, column, why);
	for (char *p = err ? err->msg : NULL; p && *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7F)
			*p = '?';
	return -1;
}

static int refuse(struct reader *r, const yaml_mark_t *mark, const char *why)
{
	return set_err(r->err, mark->line + 1, mark->column + 1, why);
}

/* The caller deletes *ret_event on success. */
static int next_event(struct reader *r, yaml_event_t *ret_event)
{
	const yaml_parser_t *p = &r->parser;

	if (yaml_parser_parse(&r->parser, ret_event))
		return 0;
	/* reader errors (bad UTF-8) have an offset, but no mark */
	if (p->error == YAML_READER_ERROR)
		return err_set(r->err, ERR_CONFIG, 0, "byte %zu: %s", p->problem_offset,
			       p->problem ? p->problem : "not readable as text");
	return refuse(r, &p->problem_mark, p->problem ? p->problem : "not YAML");
}

void yaml_root_free(struct yaml_node *root)
{
	while (root) {
		struct yaml_node *next = root->next;

		yaml_root_free(root->first);
		free(root->text);
		free(root->key);
		free(root);
		root = next;
	}
}

static const char *forbidden(const yaml_event_t *event)
{
	bool anchor = false, tag = false;

	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return "aliases are not supported";
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		break;
	default:
		break;
	}
	return anchor ? "anchors are not supported" : tag ? "tags are not supported" : NULL;
}

static int read_children(struct reader *r, struct yaml_node *parent, unsigned depth);

/* The node that `event` starts; NULL on failure. */
static struct yaml_node *read_node(struct reader *r, const yaml_event_t *event, unsigned depth)
{
	const char *why = forbidden(event);
	struct yaml_node *node;

	if (!why && depth > YAML_MAX_DEPTH)
		why = "nested too deep";
	if (!why && event->type == YAML_SCALAR_EVENT &&
	    memchr(event->data.scalar.value, '\0', event->data.scalar.length))
		why = "a text contains a NUL byte";
	if (why) {
		refuse(r, &event->start_mark, why);
		return NULL;
	}
	node = xcalloc(1, sizeof(*node));
	node->line = (unsigned)event->start_mark.line + 1;
	node->column = (unsigned)event->start_mark.column + 1;
	if (event->type == YAML_SCALAR_EVENT) {
		node->kind = YAML_SCALAR;
		node->text = xstrdup((const char *)event->data.scalar.value);
		node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
		return node;
	}
	node->kind = event->type == YAML_MAPPING_START_EVENT ? YAML_MAPPING : YAML_SEQUENCE;
	if (read_children(r, node, depth + 1)) {
		yaml_root_free(node);
		return NULL;
	}
	return node;
}

/* Turn the scalar `key` into the name of the value that follows; takes ownership of key. */
static struct yaml_node *read_value(struct reader *r, struct yaml_node *key, unsigned depth)
{
	struct yaml_node *value;
	yaml_event_t event;

	if (next_event(r, &event)) {
		yaml_root_free(key);
		return NULL;
	}
	value = read_node(r, &event, depth);
	yaml_event_delete(&event);
	if (value) {
		value->key = key->text;
		value->key_line = key->line;
		value->key_column = key->column;
		key->text = NULL;
	}
	yaml_root_free(key);
	return value;
}

/* `key` as the name of one more member of `map`: rejected if it is not a scalar or already
 * present. */
static int check_key(struct reader *r, const yaml_event_t *event, const struct yaml_node *map)
{
	const struct yaml_node *twin;
	char why[120];

	if (event->type != YAML_SCALAR_EVENT)
		return forbidden(event) ? refuse(r, &event->start_mark, forbidden(event))
					: refuse(r, &event->start_mark, "a key must be a text");
	twin = yaml_get(map, (const char *)event->data.scalar.value);
	if (!twin)
		return 0;
	snprintf(why, sizeof(why), "duplicate key '%.40s', first in line %u", twin->key,
		 twin->key_line);
	return refuse(r, &event->start_mark, why);
}

static int read_children(struct reader *r, struct yaml_node *parent, unsigned depth)
{
	struct yaml_node **tail = &parent->first;

	for (;;) {
		struct yaml_node *child = NULL;
		yaml_event_t event;

		if (next_event(r, &event))
			return -1;
		if (event.type == YAML_MAPPING_END_EVENT || event.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&event);
			return 0;
		}
		if (parent->kind == YAML_SEQUENCE || !check_key(r, &event, parent))
			child = read_node(r, &event, depth);
		yaml_event_delete(&event);
		if (child && parent->kind == YAML_MAPPING)
			child = read_value(r, child, depth);
		if (!child)
			return -1;
		*tail = child;
		tail = &child->next;
	}
}

static struct yaml_node *empty_document(enum yaml_kind kind)
{
	struct yaml_node *root = xcalloc(1, sizeof(*root));

	root->kind = kind;
	root->line = root->column = 1;
	return root;
}

/* Everything between the start and the end of the stream; the documents follow one another. `one`: a
 * second one is rejected. */
static int read_stream(struct reader *r, bool one, struct yaml_node **ret_first)
{
	struct yaml_node *first = NULL, **tail = &first;

	for (;;) {
		yaml_event_t event;
		yaml_event_type_t type;
		int failed = 0;

		if (next_event(r, &event))
			break;
		type = event.type;
		if (type == YAML_DOCUMENT_START_EVENT && first && one) {
			failed = refuse(r, &event.start_mark, "a second document");
		} else if (type == YAML_SCALAR_EVENT || type == YAML_MAPPING_START_EVENT ||
			   type == YAML_SEQUENCE_START_EVENT || type == YAML_ALIAS_EVENT) {
			*tail = read_node(r, &event, 1);
			failed = *tail ? 0 : -1;
			if (*tail)
				tail = &(*tail)->next;
		}
		yaml_event_delete(&event);
		if (failed)
			break;
		if (type == YAML_STREAM_END_EVENT) {
			*ret_first = first;
			return 0;
		}
	}
	yaml_root_free(first);
	return -1;
}

static int parse_stream(const char *text, size_t len_bytes, size_t max_bytes, bool one,
			struct yaml_node **ret_first, struct err *err)
{
	struct reader r = {.err = err};
	int result;

	if (len_bytes > max_bytes)
		return err_set(err, ERR_CONFIG, 0, "%zu bytes, more than the limit of %zu",
			       len_bytes, max_bytes);
	if (!yaml_parser_initialize(&r.parser))
		abort();
	/* not UTF-16, which libyaml would detect */
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len_bytes);
	result = read_stream(&r, one, ret_first);
	yaml_parser_delete(&r.parser);
	return result;
}

struct yaml_node *yaml_parse(const char *text, size_t len_bytes, size_t max_bytes, struct err *err)
{
	struct yaml_node *first = NULL;

	if (parse_stream(text, len_bytes, max_bytes, true, &first, err))
		return NULL;
	return first ? first : empty_document(YAML_MAPPING);
}

struct yaml_node *yaml_parse_all(const char *text, size_t len_bytes, size_t max_bytes,
				 struct err *err)
{
	struct yaml_node *first = NULL, *list;

	if (parse_stream(text, len_bytes, max_bytes, false, &first, err))
		return NULL;
	list = empty_document(YAML_SEQUENCE);
	list->first = first;
	return list;
}

const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
	const struct yaml_node *child;

	if (!map || map->kind != YAML_MAPPING)
		return NULL;
	yaml_each(child, map) if (!strcmp(child->key, key)) return child;
	return NULL;
}

bool yaml_is_null(const struct yaml_node *node)
{
	return node->kind == YAML_SCALAR && !node->quoted &&
	       (!*node->text || !strcmp(node->text, "~") || !strcmp(node->text, "null"));
}

static int place_err(unsigned line, unsigned column, struct err *err, const char *fmt, va_list ap)
{
	char why[ERR_MSG_BYTES - 64];

	if (vsnprintf(why, sizeof(why), fmt, ap) < 0)
		why[0] = '\0';
	return set_err(err, line, column, why);
}

int yaml_err(const struct yaml_node *node, struct err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	place_err(node->line, node->column, err, fmt, ap);
	va_end(ap);
	return -1;
}

int yaml_err_key(const struct yaml_node *node, struct err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	place_err(node->key ? node->key_line : node->line,
		  node->key ? node->key_column : node->column, err, fmt, ap);
	va_end(ap);
	return -1;
}

static int unexpected(const struct yaml_node *node, const char *want, struct err *err)
{
	const char *got = node->kind == YAML_MAPPING    ? "a mapping"
			  : node->kind == YAML_SEQUENCE ? "a list"
			  : yaml_is_null(node)          ? "nothing"
							: NULL;
	const char *of = node->key ? "'" : "";
	const char *key = node->key ? node->key : "";
	const char *must = node->key ? "' must be " : "expected ";

	if (got)
		return yaml_err(node, err, "%s%.60s%s%s, got %s", of, key, must, want, got);
	return yaml_err(node, err, "%s%.60s%s%s, got %s'%.60s'", of, key, must, want,
			node->quoted ? "the text " : "", node->text);
}

int yaml_to_str(const struct yaml_node *node, const char **ret_text, struct err *err)
{
	if (node->kind != YAML_SCALAR || yaml_is_null(node))
		return unexpected(node, "a text", err);
	*ret_text = node->text;
	return 0;
}

/* Accept one notation of numbers: 010 is eight to some readers and ten to others. */
static bool decimal(const char *text)
{
	const char *digits = text + (*text == '-');

	return *digits && !digits[strspn(digits, "0123456789")] && (*digits != '0' || !digits[1]);
}

int yaml_to_i64(const struct yaml_node *node, int64_t *ret_value, struct err *err)
{
	int64_t value;

	if (node->kind != YAML_SCALAR || node->quoted || !decimal(node->text))
		return unexpected(node, "a whole number", err);
	errno = 0;
	value = strtoll(node->text, NULL, 10);
	if (errno)
		return unexpected(node, "a number of at most 64 bits", err);
	*ret_value = value;
	return 0;
}

int yaml_to_bool(const struct yaml_node *node, bool *ret_value, struct err *err)
{
	if (node->kind == YAML_SCALAR && !node->quoted) {
		if (!strcmp(node->text, "true") || !strcmp(node->text, "false")) {
			*ret_value = node->text[0] == 't';
			return 0;
		}
	}
	return unexpected(node, "true or false", err);
}

int yaml_to_duration(const struct yaml_node *node, int64_t *ret_ms, struct err *err)
{
	if (node->kind == YAML_SCALAR && !clock_parse_duration(node->text, ret_ms, NULL))
		return 0;
	return unexpected(node, "a duration such as 500ms, 30s, 5min, 1h or 7d", err);
}

int yaml_want(const struct yaml_node *node, enum yaml_kind kind, struct err *err)
{
	static const char *const names[] = {"one value", "a list", "a mapping"};

	return node->kind == kind ? 0 : unexpected(node, names[kind], err);
}
