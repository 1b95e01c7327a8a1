/* json_member - the typed readers of json.h: json_need_...() and json_opt_...(). */
#include "base/json.h"

static int wrong_kind(const struct json *node, const char *key, enum json_kind want,
		      struct err *err)
{
	return err_set(err, ERR_FORMAT, 0, "'%s': expected %s, got %s", key, json_kind_name(want),
		       json_kind_name(json_kind(node)));
}

/* 1 and *ret_node if present and of that kind, 0 if absent or null, else -1. */
static int member(const struct json *obj, const char *key, enum json_kind want,
		  const struct json **ret_node, struct err *err)
{
	const struct json *node = json_get(obj, key);

	if (json_kind(node) == JSON_NULL)
		return 0;
	if (json_kind(node) != want)
		return wrong_kind(node, key, want, err);
	*ret_node = node;
	return 1;
}

/* Turn "absent" of an optional reader into the error of the required one. */
static int needed(int found, const struct json *obj, const char *key, enum json_kind want,
		  struct err *err)
{
	if (found > 0)
		return 0;
	if (found < 0)
		return -1;
	if (json_kind(obj) != JSON_OBJECT)
		return err_set(err, ERR_FORMAT, 0, "'%s': expected inside an object, got %s", key,
			       json_kind_name(json_kind(obj)));
	if (!json_get(obj, key))
		return err_set(err, ERR_FORMAT, 0, "'%s' is missing", key);
	return wrong_kind(NULL, key, want, err);
}

int json_opt_str(const struct json *obj, const char *key, const char **ret_text, struct err *err)
{
	const struct json *node = NULL;
	int found = member(obj, key, JSON_STRING, &node, err);

	if (found > 0)
		*ret_text = json_text(node);
	return found;
}

int json_opt_i64(const struct json *obj, const char *key, int64_t *ret_value, struct err *err)
{
	const struct json *node = NULL;
	int found = member(obj, key, JSON_NUMBER, &node, err);

	if (found > 0 && json_to_i64(node, ret_value, err))
		return err_wrap(err, "'%s'", key);
	return found;
}

int json_opt_bool(const struct json *obj, const char *key, bool *ret_value, struct err *err)
{
	const struct json *node = NULL;
	int found = member(obj, key, JSON_BOOL, &node, err);

	if (found > 0)
		*ret_value = json_is_true(node);
	return found;
}

int json_opt_object(const struct json *obj, const char *key, const struct json **ret_node,
		    struct err *err)
{
	return member(obj, key, JSON_OBJECT, ret_node, err);
}

int json_opt_array(const struct json *obj, const char *key, const struct json **ret_node,
		   struct err *err)
{
	return member(obj, key, JSON_ARRAY, ret_node, err);
}

int json_need_str(const struct json *obj, const char *key, const char **ret_text, struct err *err)
{
	return needed(json_opt_str(obj, key, ret_text, err), obj, key, JSON_STRING, err);
}

int json_need_i64(const struct json *obj, const char *key, int64_t *ret_value, struct err *err)
{
	return needed(json_opt_i64(obj, key, ret_value, err), obj, key, JSON_NUMBER, err);
}

int json_need_bool(const struct json *obj, const char *key, bool *ret_value, struct err *err)
{
	return needed(json_opt_bool(obj, key, ret_value, err), obj, key, JSON_BOOL, err);
}

int json_need_object(const struct json *obj, const char *key, const struct json **ret_node,
		     struct err *err)
{
	return needed(member(obj, key, JSON_OBJECT, ret_node, err), obj, key, JSON_OBJECT, err);
}

int json_need_array(const struct json *obj, const char *key, const struct json **ret_node,
		    struct err *err)
{
	return needed(member(obj, key, JSON_ARRAY, ret_node, err), obj, key, JSON_ARRAY, err);
}
