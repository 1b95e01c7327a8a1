#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_node.h"
#include "base/mem.h"
#include "base/words.h"

void json_free(struct json *doc)
{
	while (doc) {
		struct json *next = doc->next;

		json_free(doc->first);
		free(doc->name);
		free(doc->text);
		free(doc);
		doc = next;
	}
}

/* ---- walk ---- */

enum json_kind json_kind(const struct json *node)
{
	return node ? node->kind : JSON_NULL;
}

WORDS(json_kind_name, enum json_kind, "unknown", "null", "true or false", "a number", "a string",
      "an array", "an object");

const char *json_name(const struct json *node)
{
	return node ? node->name : NULL;
}

const struct json *json_get(const struct json *obj, const char *key)
{
	const struct json *child;

	if (json_kind(obj) != JSON_OBJECT)
		return NULL;
	/* most comparisons end at the first letter: a fifth of the simulator was strcmp() */
	json_each (child, obj)
		if (child->name[0] == key[0] && !strcmp(child->name, key))
			return child;
	return NULL;
}

size_t json_len(const struct json *node)
{
	const struct json *child;
	size_t count = 0;

	json_each (child, node)
		count++;
	return count;
}

const struct json *json_at(const struct json *array, size_t index)
{
	const struct json *child;

	json_each (child, array)
		if (!index--)
			return child;
	return NULL;
}

const struct json *json_first(const struct json *node)
{
	return node ? node->first : NULL;
}

const struct json *json_next(const struct json *node)
{
	return node->next;
}

/* ---- values ---- */

const char *json_text(const struct json *node)
{
	return json_kind(node) == JSON_STRING ? node->text : NULL;
}

const char *json_number(const struct json *node)
{
	return json_kind(node) == JSON_NUMBER ? node->text : NULL;
}

bool json_is_true(const struct json *node)
{
	return node && node->is_true;
}

int json_to_i64(const struct json *node, int64_t *ret_value, struct err *err)
{
	const char *text = json_number(node);
	char *end = NULL;
	int64_t value;

	if (!text)
		return err_set(err, ERR_FORMAT, 0, "expected a whole number, got %s",
			       json_kind_name(json_kind(node)));
	errno = 0;
	value = strtoll(text, &end, 10);
	if (*end)
		return err_set(err, ERR_FORMAT, 0, "expected a whole number, got %s", text);
	if (errno)
		return err_set(err, ERR_FORMAT, 0, "%s does not fit into 64 bits", text);
	*ret_value = value;
	return 0;
}

const char *json_str(const struct json *obj, const char *key)
{
	return json_text(json_get(obj, key));
}

int64_t json_i64_or(const struct json *obj, const char *key, int64_t fallback)
{
	int64_t value;

	return json_to_i64(json_get(obj, key), &value, NULL) ? fallback : value;
}

bool json_bool_or(const struct json *obj, const char *key, bool fallback)
{
	const struct json *node = json_get(obj, key);

	return json_kind(node) == JSON_BOOL ? json_is_true(node) : fallback;
}

/* ---- build ---- */

static struct json *node_new(enum json_kind kind)
{
	struct json *node = xcalloc(1, sizeof(*node));

	node->kind = kind;
	return node;
}

static struct json *append(struct json *to, char *name, struct json *child)
{
	child->name = name;
	if (to->last)
		to->last->next = child;
	else
		to->first = child;
	to->last = child;
	return child;
}

struct json *json_append(struct json *to, char *name, enum json_kind kind)
{
	return append(to, name, node_new(kind));
}

struct json *json_object(void)
{
	return node_new(JSON_OBJECT);
}

struct json *json_array(void)
{
	return node_new(JSON_ARRAY);
}

struct json *json_copy(const struct json *node)
{
	struct json *copy = node_new(json_kind(node));
	const struct json *child;

	copy->text = node ? xstrdup(node->text) : NULL;
	copy->is_true = json_is_true(node);
	json_each (child, node)
		append(copy, xstrdup(child->name), json_copy(child));
	return copy;
}

void json_add(struct json *to, const char *key, struct json *child)
{
	append(to, xstrdup(key), child);
}

void json_add_null(struct json *to, const char *key)
{
	json_append(to, xstrdup(key), JSON_NULL);
}

void json_add_str(struct json *to, const char *key, const char *text)
{
	json_append(to, xstrdup(key), text ? JSON_STRING : JSON_NULL)->text = xstrdup(text);
}

void json_add_str_opt(struct json *to, const char *key, const char *text)
{
	if (text)
		json_add_str(to, key, text);
}

void json_add_i64(struct json *to, const char *key, int64_t value)
{
	json_append(to, xstrdup(key), JSON_NUMBER)->text = xasprintf("%" PRId64, value);
}

void json_add_known(struct json *to, const char *key, int64_t value, int64_t least)
{
	if (value >= least)
		json_add_i64(to, key, value);
	else
		json_add_null(to, key);
}

void json_add_bool(struct json *to, const char *key, bool value)
{
	json_append(to, xstrdup(key), JSON_BOOL)->is_true = value;
}

struct json *json_add_object(struct json *to, const char *key)
{
	return json_append(to, xstrdup(key), JSON_OBJECT);
}

struct json *json_add_array(struct json *to, const char *key)
{
	return json_append(to, xstrdup(key), JSON_ARRAY);
}

void json_remove(struct json *obj, const char *key)
{
	struct json *before = NULL;
	struct json *node = json_kind(obj) == JSON_OBJECT ? obj->first : NULL;

	while (node && strcmp(node->name, key) != 0) {
		before = node;
		node = node->next;
	}
	if (!node)
		return;
	*(before ? &before->next : &obj->first) = node->next;
	if (obj->last == node)
		obj->last = before;
	node->next = NULL;
	json_free(node);
}

void json_merge_unknown(struct json *obj, const struct json *old)
{
	const struct json *theirs;

	if (json_kind(obj) != JSON_OBJECT || json_kind(old) != JSON_OBJECT)
		return;
	json_each (theirs, old) {
		const struct json *ours = json_get(obj, theirs->name);

		if (ours)
			json_merge_unknown((struct json *)ours, theirs);
		else
			json_add(obj, theirs->name, json_copy(theirs));
	}
}
