#include "base/json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/mem.h"

/*
 * A struct json is a cJSON node under another name. In every tree here a number is a node of type
 * cJSON_Raw whose text is the number; cJSON_Number does not occur, nor any other use of cJSON_Raw.
 */
static cJSON *node_of(const struct json *node)
{
	return (cJSON *)node;
}

static struct json *json_of(const cJSON *node)
{
	return (struct json *)node;
}

/* cJSON gives NULL only when memory is out. */
static cJSON *made(cJSON *node)
{
	if (!node)
		abort();
	return node;
}

/* ---- parse ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int refuse_duplicates(const cJSON *obj, struct err *err)
{
	cleanup_free const char **names = NULL;
	size_t count = 0;

	for (const cJSON *child = obj->child; child; child = child->next)
		count++;
	if (count < 2)
		return 0;
	names = xcalloc(count, sizeof(*names));
	count = 0;
	for (const cJSON *child = obj->child; child; child = child->next)
		names[count++] = child->string;
	qsort(names, count, sizeof(*names), by_name);
	for (size_t i = 1; i < count; i++)
		if (!strcmp(names[i - 1], names[i]))
			return err_set(err, ERR_FORMAT, 0, "duplicate name '%s'", names[i]);
	return 0;
}

/* Walk the tree in document order: numbers get their text back, duplicate names are refused. */
static int finish_tree(cJSON *node, const char *text, const struct json_numbers *numbers,
		       size_t *next, struct err *err)
{
	if (cJSON_IsNumber(node)) {
		const struct json_span *span = &numbers->spans[*next];

		if (*next >= numbers->count)
			return err_set(err, ERR_FORMAT, 0, "numbers do not add up");
		(*next)++;
		node->type = cJSON_Raw;
		node->valuestring = xstrndup(text + span->at, span->len_bytes);
		return 0;
	}
	if (cJSON_IsObject(node) && refuse_duplicates(node, err))
		return -1;
	for (cJSON *child = node->child; child; child = child->next)
		if (finish_tree(child, text, numbers, next, err))
			return -1;
	return 0;
}

struct json *json_parse(const char *text, size_t len_bytes, size_t max_bytes, struct err *err)
{
	struct json_numbers numbers = {NULL, 0, 0};
	struct json *doc = NULL;
	cJSON *root = NULL;
	size_t next = 0;

	if (len_bytes > max_bytes) {
		err_set(err, ERR_FORMAT, 0, "%zu bytes of JSON, more than the %zu allowed",
			len_bytes, max_bytes);
		return NULL;
	}
	if (json_scan(text, len_bytes, JSON_MAX_DEPTH, &numbers, err))
		goto out;
	root = cJSON_ParseWithLength(text, len_bytes);
	if (!root) {
		err_set(err, ERR_FORMAT, 0, "not JSON");
		goto out;
	}
	if (finish_tree(root, text, &numbers, &next, err)) {
		cJSON_Delete(root);
		goto out;
	}
	doc = json_of(root);
out:
	free(numbers.spans);
	return doc;
}

void json_free(struct json *doc)
{
	cJSON_Delete(node_of(doc));
}

/* ---- walk ---- */

enum json_kind json_kind(const struct json *node)
{
	const cJSON *n = node_of(node);

	if (!n)
		return JSON_NULL;
	switch (n->type & 0xFF) {
	case cJSON_True:
	case cJSON_False:
		return JSON_BOOL;
	case cJSON_Raw:
		return JSON_NUMBER;
	case cJSON_String:
		return JSON_STRING;
	case cJSON_Array:
		return JSON_ARRAY;
	case cJSON_Object:
		return JSON_OBJECT;
	default:
		return JSON_NULL;
	}
}

const char *json_kind_name(enum json_kind kind)
{
	static const char *const names[] = {"null",     "true or false", "a number",
					    "a string", "an array",      "an object"};

	return (size_t)kind < ARRAY_LEN(names) ? names[kind] : "unknown";
}

const char *json_name(const struct json *node)
{
	return node ? node_of(node)->string : NULL;
}

const struct json *json_get(const struct json *obj, const char *key)
{
	if (json_kind(obj) != JSON_OBJECT)
		return NULL;
	return json_of(cJSON_GetObjectItemCaseSensitive(node_of(obj), key));
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
	return node ? json_of(node_of(node)->child) : NULL;
}

const struct json *json_next(const struct json *node)
{
	return json_of(node_of(node)->next);
}

/* ---- values ---- */

const char *json_text(const struct json *node)
{
	return json_kind(node) == JSON_STRING ? node_of(node)->valuestring : NULL;
}

const char *json_number(const struct json *node)
{
	return json_kind(node) == JSON_NUMBER ? node_of(node)->valuestring : NULL;
}

bool json_is_true(const struct json *node)
{
	return node && (node_of(node)->type & 0xFF) == cJSON_True;
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
		return err_set(err, ERR_FORMAT, 0, "%s does not fit 64 bits", text);
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

struct json *json_object(void)
{
	return json_of(made(cJSON_CreateObject()));
}

struct json *json_array(void)
{
	return json_of(made(cJSON_CreateArray()));
}

struct json *json_copy(const struct json *node)
{
	cJSON *copy = made(cJSON_Duplicate(node_of(node), 1));

	/* the name of a member is cJSON's own copy here: cJSON_Duplicate never makes references */
	cJSON_free(copy->string);
	copy->string = NULL;
	return json_of(copy);
}

void json_add(struct json *to, const char *key, struct json *child)
{
	cJSON_bool ok = key ? cJSON_AddItemToObject(node_of(to), key, node_of(child))
			    : cJSON_AddItemToArray(node_of(to), node_of(child));

	if (!ok)
		abort();
}

void json_add_null(struct json *to, const char *key)
{
	json_add(to, key, json_of(made(cJSON_CreateNull())));
}

void json_add_str(struct json *to, const char *key, const char *text)
{
	if (text)
		json_add(to, key, json_of(made(cJSON_CreateString(text))));
	else
		json_add_null(to, key);
}

void json_add_str_opt(struct json *to, const char *key, const char *text)
{
	if (text)
		json_add_str(to, key, text);
}

void json_add_i64(struct json *to, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	json_add(to, key, json_of(made(cJSON_CreateRaw(text))));
}

void json_add_bool(struct json *to, const char *key, bool value)
{
	json_add(to, key, json_of(made(cJSON_CreateBool(value))));
}

struct json *json_add_object(struct json *to, const char *key)
{
	struct json *child = json_object();

	json_add(to, key, child);
	return child;
}

struct json *json_add_array(struct json *to, const char *key)
{
	struct json *child = json_array();

	json_add(to, key, child);
	return child;
}

void json_remove(struct json *obj, const char *key)
{
	cJSON_DeleteItemFromObjectCaseSensitive(node_of(obj), key);
}

void json_merge_unknown(struct json *obj, const struct json *old)
{
	const struct json *theirs;

	if (json_kind(obj) != JSON_OBJECT || json_kind(old) != JSON_OBJECT)
		return;
	json_each (theirs, old) {
		const char *name = json_name(theirs);
		const struct json *ours = json_get(obj, name);

		if (ours)
			json_merge_unknown(json_of(node_of(ours)), theirs);
		else
			json_add(obj, name, json_copy(theirs));
	}
}
