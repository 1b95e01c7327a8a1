#include "run/config/config_value.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/words.h"
#include "base/yaml.h"
#include "flink/reserved.h"
#include "run/config/config_scale.h"

#define LOWER            "abcdefghijklmnopqrstuvwxyz"
#define UPPER            "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS           "0123456789"
#define NAME_MAX_BYTES   63
#define OBJECT_MAX_BYTES 253

/* The member of the value, by the table. */
static void *slot(struct config *config, const struct config_key *key)
{
	return (char *)config + key->offset;
}

const char *config_type_name(enum config_type type)
{
	switch (type) {
	case CONFIG_STRING:
		return "string";
	case CONFIG_NAME:
		return "name";
	case CONFIG_OBJECT:
		return "object name";
	case CONFIG_DIRECTORY:
		return "directory";
	case CONFIG_FILE:
		return "file";
	case CONFIG_URI:
		return "URI";
	case CONFIG_VERSION:
		return "version";
	case CONFIG_LIST:
		return "list of strings";
	case CONFIG_PROPERTIES:
	case CONFIG_VARIABLES:
		return "map of strings";
	case CONFIG_SCALE:
		return "object name, or list of objects";
	case CONFIG_DURATION:
		return "duration";
	case CONFIG_INTEGER:
		return "integer";
	case CONFIG_BOOL:
		return "boolean";
	case CONFIG_WORD:
		return "word";
	}
	return "?";
}

/* A scalar that is not empty. */
static int text_of(const struct yaml_node *node, const char *name, const char **ret_text,
		   struct err *err)
{
	const char *text;

	if (node->kind != YAML_SCALAR)
		return yaml_err(node, err, "'%s' must be a string, not a %s", name,
				node->kind == YAML_MAPPING ? "map" : "list");
	if (yaml_is_null(node))
		return yaml_err(node, err, "'%s' has no value; set one, or remove the key", name);
	if (yaml_to_str(node, &text, err) < 0)
		return -1;
	if (!*text)
		return yaml_err(node, err, "'%s' is empty", name);
	*ret_text = text;
	return 0;
}

static int parse_name(const struct yaml_node *node, const char *name, char **ret_value,
		      struct err *err)
{
	const char *text;
	size_t len;

	if (text_of(node, name, &text, err) < 0)
		return -1;
	len = strlen(text);
	if (len > NAME_MAX_BYTES || strspn(text, LOWER DIGITS "-") != len || text[0] == '-' ||
	    text[len - 1] == '-')
		return yaml_err(
			node, err,
			"'%s' must be 1 to %d characters a-z, 0-9 or '-', and start and end with a letter or digit",
			name, NAME_MAX_BYTES);
	*ret_value = xstrdup(text);
	return 0;
}

/* One or more labels with dots between them. */
static bool is_object_name(const char *text)
{
	size_t len = strlen(text);

	if (len > OBJECT_MAX_BYTES || strspn(text, LOWER DIGITS "-.") != len)
		return false;
	for (;;) {
		size_t label = strcspn(text, ".");

		if (!label || text[0] == '-' || text[label - 1] == '-')
			return false;
		if (!text[label])
			return true;
		text += label + 1;
	}
}

static int parse_object(const struct yaml_node *node, const char *name, char **ret_value,
			struct err *err)
{
	const char *text;

	if (text_of(node, name, &text, err) < 0)
		return -1;
	if (!is_object_name(text))
		return yaml_err(
			node, err,
			"'%s' must be the name of a Kubernetes object: 1 to %d characters a-z, 0-9, '-' or '.', not '%s'",
			name, OBJECT_MAX_BYTES, text);
	*ret_value = xstrdup(text);
	return 0;
}

/* The checks of the key, beyond those of its type. */
static int check_text(const struct config_key *key, const struct yaml_node *node, const char *text,
		      struct err *err)
{
	struct err why = {0};

	if (!key->check || key->check(text, &why) == 0)
		return 0;
	return yaml_err(node, err, "%s: %s", key->name, why.msg);
}

static char *without_end_slashes(const char *text)
{
	size_t len = strlen(text);

	while (len > 1 && text[len - 1] == '/')
		len--;
	return xstrndup(text, len);
}

static int parse_directory(const struct yaml_node *node, const struct config_key *key,
			   char **ret_value, struct err *err)
{
	cleanup_buf struct buf words = BUF_INIT;
	const char *text;
	char *value;

	if (text_of(node, key->name, &text, err) < 0)
		return -1;
	for (size_t i = 0; key->words && key->words[i]; i++) {
		if (strcmp(text, key->words[i]) == 0) {
			*ret_value = xstrdup(text);
			return 0;
		}
		buf_addf(&words, "%s or ", key->words[i]);
	}
	if (text[0] != '/')
		return yaml_err(node, err, "'%s' must be %san absolute path, not '%s'", key->name,
				buf_str(&words), text);
	value = without_end_slashes(text);
	if (key->offset == offsetof(struct config, state_directory) &&
	    strlen(value) > CONFIG_STATE_DIR_MAX) {
		free(value);
		return yaml_err(
			node, err,
			"'%s' is longer than %d bytes, too long for the path of a socket; use a shorter path",
			key->name, CONFIG_STATE_DIR_MAX);
	}
	*ret_value = value;
	return 0;
}

static int parse_uri(const struct yaml_node *node, const struct config_key *key, char **ret_value,
		     struct err *err)
{
	cleanup_free char *trimmed = NULL;
	const char *name = key->name, *text;
	size_t scheme;

	if (text_of(node, name, &text, err) < 0)
		return -1;
	trimmed = without_end_slashes(text);
	if (trimmed[0] == '/') {
		*ret_value = xasprintf("file://%s", trimmed);
		return 0;
	}
	scheme = strspn(trimmed, LOWER DIGITS "+.-");
	if (!scheme || !strchr(LOWER, trimmed[0]) || trimmed[scheme] != ':' ||
	    trimmed[scheme + 1] != '/')
		return yaml_err(
			node, err,
			"'%s' must be a URI such as file:///flink/savepoints or an absolute path, not '%s'",
			name, text);
	if (check_text(key, node, trimmed, err) < 0)
		return -1;
	*ret_value = xstrdup(trimmed);
	return 0;
}

static int parse_version(const struct yaml_node *node, const char *name, char **ret_value,
			 struct err *err)
{
	struct flink_version version;
	const char *text;

	if (text_of(node, name, &text, err) < 0)
		return -1;
	if (strcmp(text, "auto") == 0) {
		*ret_value = NULL;
		return 0;
	}
	if (flink_version_parse(text, &version, NULL) < 0)
		return yaml_err(node, err, "'%s' must be auto or a version such as 2.3.0, not '%s'",
				name, text);
	*ret_value = xstrdup(text);
	return 0;
}

static void list_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

static size_t child_count(const struct yaml_node *node)
{
	const struct yaml_node *child;
	size_t count = 0;

	yaml_each(child, node) count++;
	return count;
}

/* One element of a list or map; an empty string is a value here: Flink programs may need one. */
static int element_of(const struct yaml_node *node, const char *name, const char **ret_text,
		      struct err *err)
{
	if (node->kind != YAML_SCALAR || yaml_is_null(node))
		return yaml_err(node, err, "each value in '%s' must be a string", name);
	return yaml_to_str(node, ret_text, err);
}

static int parse_list(const struct yaml_node *node, const struct config_key *key, char ***ret_value,
		      struct err *err)
{
	const struct yaml_node *child;
	char **list;
	size_t count = 0;

	if (node->kind != YAML_SEQUENCE)
		return yaml_err(node, err, "'%s' must be a list, such as [one, two]", key->name);
	if (!node->first && key->required)
		return yaml_err(node, err, "'%s' must not be empty", key->name);
	list = xcalloc(child_count(node) + 1, sizeof(*list));
	yaml_each(child, node)
	{
		const char *text;

		if (element_of(child, key->name, &text, err) < 0 ||
		    check_text(key, child, text, err) < 0) {
			list_free(list);
			return -1;
		}
		list[count++] = xstrdup(text);
	}
	if (!count) {
		free(list);
		list = NULL;
	}
	*ret_value = list;
	return 0;
}

static int parse_variables(const struct yaml_node *node, const char *name, char ***ret_value,
			   struct err *err)
{
	const struct yaml_node *child;
	char **list;
	size_t count = 0;

	if (node->kind != YAML_MAPPING)
		return yaml_err(node, err, "'%s' must be a map, such as {NAME: value}", name);
	list = xcalloc(child_count(node) + 1, sizeof(*list));
	yaml_each(child, node)
	{
		const char *key = child->key, *text;

		if (!*key || strspn(key, LOWER UPPER DIGITS "_") != strlen(key) ||
		    strchr(DIGITS, *key)) {
			(void)yaml_err_key(child, err, "'%s' is not a valid variable name", key);
			goto fail;
		}
		if (element_of(child, name, &text, err) < 0)
			goto fail;
		list[count] = xasprintf("%s=%s", key, text);
		if (!flink_env_passes(list[count++])) {
			(void)yaml_err_key(child, err,
					   "'%s' is reserved for drey and not passed on; remove it",
					   key);
			goto fail;
		}
	}
	if (!count) {
		free(list);
		list = NULL;
	}
	*ret_value = list;
	return 0;
fail:
	list_free(list);
	return -1;
}

static void properties_free(struct flink_property *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free((char *)list[i].key);
		free((char *)list[i].value);
	}
	free(list);
}

struct properties {
	struct flink_property *list;
	size_t count;
};

/* Nested maps are dotted, as in Flink's config.yaml. `prefix` is "" or ends with a dot. */
static int add_properties(const struct yaml_node *map, const char *name, const char *prefix,
			  struct properties *to, struct err *err)
{
	const struct yaml_node *child;

	yaml_each(child, map)
	{
		cleanup_free char *key = xasprintf("%s%s", prefix, child->key);
		const char *text;

		if (child->kind == YAML_MAPPING) {
			cleanup_free char *deeper = xasprintf("%s.", key);

			if (add_properties(child, name, deeper, to, err) < 0)
				return -1;
			continue;
		}
		if (child->kind == YAML_SEQUENCE)
			return yaml_err(
				child, err,
				"'%s' of '%s' is a list; write one string with ';' between the elements, as Flink expects",
				key, name);
		if (element_of(child, name, &text, err) < 0)
			return -1;
		for (size_t i = 0; i < to->count; i++)
			if (strcmp(to->list[i].key, key) == 0)
				return yaml_err_key(child, err, "'%s' is given twice in '%s'", key,
						    name);
		to->list = xreallocarray(to->list, to->count + 1, sizeof(*to->list));
		to->list[to->count++] = (struct flink_property){xstrdup(key), xstrdup(text)};
	}
	return 0;
}

static int parse_properties(const struct yaml_node *node, const char *name,
			    struct properties *ret_value, struct err *err)
{
	struct properties properties = {0};

	if (node->kind != YAML_MAPPING)
		return yaml_err(node, err, "'%s' must be a map, such as {key: value}", name);
	if (add_properties(node, name, "", &properties, err) < 0) {
		properties_free(properties.list, properties.count);
		return -1;
	}
	*ret_value = properties;
	return 0;
}

/* In place of a duration: below all of them. */
static bool is_number_word(const struct config_key *key, const char *text, int64_t *ret_value)
{
	int found = key->words ? words_find(key->words, text) : -1;

	if (found >= 0)
		*ret_value = -1 - found;
	return found >= 0;
}

static int parse_number(const struct yaml_node *node, const struct config_key *key,
			int64_t *ret_value, struct err *err)
{
	char low[CLOCK_TEXT_BYTES], high[CLOCK_TEXT_BYTES];
	bool is_duration = key->type == CONFIG_DURATION;
	const char *text;
	int64_t value;

	if (text_of(node, key->name, &text, err) < 0)
		return -1;
	if (is_duration && is_number_word(key, text, ret_value))
		return 0;
	if (is_duration && yaml_to_duration(node, &value, NULL) < 0)
		return yaml_err(
			node, err,
			"'%s' must be a whole number with a unit, such as 500ms, 30s, 5min or 1h, not '%s'",
			key->name, text);
	if (!is_duration && yaml_to_i64(node, &value, NULL) < 0)
		return yaml_err(node, err, "'%s' must be a whole number, not '%s'", key->name,
				text);
	if (value >= key->min && value <= key->max) {
		*ret_value = value;
		return 0;
	}
	if (is_duration) {
		clock_human(key->min, low);
		clock_human(key->max, high);
	} else {
		snprintf(low, sizeof(low), "%lld", (long long)key->min);
		snprintf(high, sizeof(high), "%lld", (long long)key->max);
	}
	return yaml_err(node, err, "'%s' must be between %s and %s, not %s", key->name, low, high,
			node->text);
}

static int parse_word(const struct yaml_node *node, const struct config_key *key, int *ret_value,
		      struct err *err)
{
	cleanup_buf struct buf all = BUF_INIT;
	const char *text;

	if (text_of(node, key->name, &text, err) < 0)
		return -1;
	for (int i = 0; key->words[i]; i++) {
		if (strcmp(key->words[i], text) == 0) {
			*ret_value = i;
			return 0;
		}
		buf_addf(&all, "%s%s", i ? ", " : "", key->words[i]);
	}
	return yaml_err(node, err, "'%s' must be one of %s, not '%s'", key->name, buf_str(&all),
			text);
}

void config_value_clear(struct config *config, const struct config_key *key)
{
	switch (key->type) {
	case CONFIG_STRING:
	case CONFIG_NAME:
	case CONFIG_OBJECT:
	case CONFIG_DIRECTORY:
	case CONFIG_FILE:
	case CONFIG_URI:
	case CONFIG_VERSION:
		xstrset(slot(config, key), NULL);
		break;
	case CONFIG_LIST:
	case CONFIG_VARIABLES:
		list_free(*(char ***)slot(config, key));
		*(char ***)slot(config, key) = NULL;
		break;
	case CONFIG_PROPERTIES:
		properties_free(config->flink.properties, config->flink.property_count);
		config->flink.properties = NULL;
		config->flink.property_count = 0;
		break;
	case CONFIG_SCALE:
		config_scale_free(config->kubernetes.scale, config->kubernetes.scale_count);
		config->kubernetes.scale = NULL;
		config->kubernetes.scale_count = 0;
		break;
	case CONFIG_DURATION:
	case CONFIG_INTEGER:
	case CONFIG_BOOL:
	case CONFIG_WORD:
		break; /* nothing to free */
	}
}

int config_value_set(struct config *config, const struct config_key *key,
		     const struct yaml_node *node, struct err *err)
{
	void *to = slot(config, key);
	struct properties properties = {0};
	const char *text;

	switch (key->type) {
	case CONFIG_STRING:
		if (text_of(node, key->name, &text, err) < 0 ||
		    check_text(key, node, text, err) < 0)
			return -1;
		xstrset(to, text);
		return 0;
	case CONFIG_NAME:
		return parse_name(node, key->name, to, err);
	case CONFIG_OBJECT:
		return parse_object(node, key->name, to, err);
	case CONFIG_DIRECTORY:
	case CONFIG_FILE:
		return parse_directory(node, key, to, err);
	case CONFIG_URI:
		return parse_uri(node, key, to, err);
	case CONFIG_VERSION:
		return parse_version(node, key->name, to, err);
	case CONFIG_LIST:
		return parse_list(node, key, to, err);
	case CONFIG_VARIABLES:
		return parse_variables(node, key->name, to, err);
	case CONFIG_PROPERTIES:
		if (parse_properties(node, key->name, &properties, err) < 0)
			return -1;
		config->flink.properties = properties.list;
		config->flink.property_count = properties.count;
		return 0;
	case CONFIG_SCALE:
		return config_scale_parse(node, key->name, &config->kubernetes.scale,
					  &config->kubernetes.scale_count, err);
	case CONFIG_DURATION:
	case CONFIG_INTEGER:
		return parse_number(node, key, to, err);
	case CONFIG_BOOL:
		if (text_of(node, key->name, &text, err) < 0)
			return -1;
		if (yaml_to_bool(node, to, NULL) < 0)
			return yaml_err(node, err, "'%s' must be true or false, not '%s'",
					key->name, text);
		return 0;
	case CONFIG_WORD:
		return parse_word(node, key, to, err);
	}
	return err_set(err, ERR_CONFIG, 0, "'%s' has no type", key->name);
}
