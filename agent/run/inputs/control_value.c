#include "run/inputs/control_value.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/murmur3.h"
#include "base/yaml.h"
#include "control/control_request.h"

#define IGNORED_MAX 200 /* bytes of names that are told */

/* ---- what the texts mean ---- */

static int parse_state(struct desired *desired, const char *text, struct err *err)
{
	for (int i = 0; i <= DESIRED_CANCELLED; i++)
		if (!strcmp(text, desired_state_name((enum desired_state)i))) {
			desired->state = (enum desired_state)i;
			return 0;
		}
	return err_set(err, ERR_CONFIG, 0, "must be running, suspended or cancelled, not '%.64s'",
		       text);
}

static int parse_do_not_restart(struct desired *desired, const char *text, struct err *err)
{
	desired->do_not_restart = !strcmp(text, "true");
	if (desired->do_not_restart || !strcmp(text, "false"))
		return 0;
	return err_set(err, ERR_CONFIG, 0, "must be true or false, not '%.64s'", text);
}

/* The checks are those of the commands. */
static int parse_nonce(const char *text, struct err *err)
{
	cleanup_json struct json *doc = json_object();
	cleanup_control_request struct control_request request = {0};

	json_add_str(doc, "command", "savepoint");
	json_add_str(doc, "nonce", text);
	if (control_request_decode(doc, &request, err) < 0)
		return -1;
	return 0;
}

static int parse_restore(struct desired *desired, const char *text, struct err *err)
{
	cleanup_yaml struct yaml_node *root =
		yaml_parse(text, strlen(text), CONTROL_VALUE_MAX, err);
	cleanup_json struct json *doc = json_object();
	struct json *restore = json_add_object(doc, "restore");
	struct control_request request;
	const struct yaml_node *node;

	json_add_str(doc, "command", "resume");
	if (!root || yaml_want(root, YAML_MAPPING, err) < 0)
		return -1;
	yaml_each(node, root)
	{
		const char *value;
		bool flag;

		if (!strcmp(node->key, "generation")) {
			if (yaml_to_str(node, &value, err) < 0)
				return -1;
			xstrset(&desired->restore_generation, value);
		} else if (!node->quoted && yaml_to_bool(node, &flag, NULL) == 0)
			json_add_bool(restore, node->key, flag);
		else if (yaml_to_str(node, &value, err) < 0)
			return -1;
		else
			json_add_str(restore, node->key, value);
	}
	if (control_request_decode(doc, &request, err) < 0)
		return -1;
	desired->restore = request.restore; /* taken over */
	return 0;
}

static int add_yaml(struct json *to, const struct yaml_node *node, struct err *err)
{
	const struct yaml_node *child;
	struct json *object;
	int64_t number;
	bool flag;

	if (node->kind == YAML_MAPPING) {
		object = json_add_object(to, node->key);
		yaml_each(child, node) if (add_yaml(object, child, err) < 0) return -1;
		return 0;
	}
	if (!node->quoted && node->kind == YAML_SCALAR && yaml_to_bool(node, &flag, NULL) == 0)
		json_add_bool(to, node->key, flag);
	else if (yaml_to_i64(node, &number, err) < 0)
		return -1;
	else
		json_add_i64(to, node->key, number);
	return 0;
}

/* "4", "reset", or {all: 4, vertices: {UID: 2}}. What it does not say is not wanted any more. */
static int parse_parallelism(struct desired *desired, const char *text, struct err *err)
{
	cleanup_json struct json *doc = json_object();
	struct json *wanted = json_add_object(doc, "parallelism");
	char nonce[MURMUR3_HEX_BYTES];
	cleanup_control_request struct control_request request = {0};

	json_add_str(doc, "command", "rescale");
	json_add_str(doc, "nonce", "control");
	if (!strcmp(text, "reset")) {
		json_add_bool(wanted, "reset", true);
	} else if (strspn(text, "-0123456789") == strlen(text) && strlen(text) < 18) {
		json_add_i64(wanted, "all", strtoll(text, NULL, 10));
	} else {
		cleanup_yaml struct yaml_node *root =
			yaml_parse(text, strlen(text), CONTROL_VALUE_MAX, err);
		const struct yaml_node *node;

		if (!root || yaml_want(root, YAML_MAPPING, err) < 0)
			return -1;
		yaml_each(node, root) if (add_yaml(wanted, node, err) < 0) return -1;
	}
	if (control_request_decode(doc, &request, err) < 0)
		return -1;
	parallelism_release(&desired->parallelism);
	parallelism_copy(&desired->parallelism, &request.parallelism);
	murmur3_hex(text, strlen(text), nonce);
	xstrset(&desired->parallelism.nonce, nonce);
	if (desired->parallelism.merge)
		return err_set(err, ERR_CONFIG, 0, "unknown member 'merge'");
	return 0;
}

/* "N", or "N 2026-11-26T12:00:00Z". */
static int parse_promote(struct desired *desired, const char *text, struct err *err)
{
	free(desired->promote_nonce);
	desired->promote_nonce = desired_promote_nonce(text, &desired->promote_at_unix_ms, err);
	if (!desired->promote_nonce)
		return -1;
	if (desired->promote_at_unix_ms > GATE_MAX_TIME_MS)
		return err_set(err, ERR_CONFIG, 0, "the time is too late");
	return parse_nonce(desired->promote_nonce, err);
}

static int parse_key(struct desired *desired, enum desired_key key, struct err *err)
{
	const char *text = desired->text[key];
	bool full;

	if (!*text)
		return err_set(err, ERR_CONFIG, 0, "the file is empty");
	switch (key) {
	case DESIRED_KEY_STATE:
		return parse_state(desired, text, err);
	case DESIRED_KEY_DO_NOT_RESTART:
		return parse_do_not_restart(desired, text, err);
	case DESIRED_KEY_PROMOTE:
		return parse_promote(desired, text, err);
	case DESIRED_KEY_SAVEPOINT_NONCE:
	case DESIRED_KEY_RESTART_NONCE:
	case DESIRED_KEY_ABORT:
	case DESIRED_KEY_ACKNOWLEDGE:
		return parse_nonce(text, err);
	case DESIRED_KEY_CHECKPOINT_NONCE:
		return parse_nonce(desired_checkpoint_nonce(text, &full), err);
	case DESIRED_KEY_RESTORE:
		return parse_restore(desired, text, err);
	case DESIRED_KEY_PARALLELISM:
		return parse_parallelism(desired, text, err);
	case DESIRED_KEYS:
		break;
	}
	return 0;
}

void control_value_judge(struct desired *desired)
{
	for (int i = 0; i < DESIRED_KEYS; i++) {
		struct err err = {0};

		if (!desired->text[i] || parse_key(desired, (enum desired_key)i, &err) == 0 ||
		    desired->bad.kind)
			continue;
		err_wrap(&err, "%s", desired_keys[i]);
		desired->bad = err;
	}
}

/* ---- values ---- */

void control_value_ignore(struct desired *desired, const char *name)
{
	size_t len = desired->ignored ? strlen(desired->ignored) : 0;
	char *longer;

	if (len > IGNORED_MAX)
		return;
	longer = xasprintf("%s%s%s", len ? desired->ignored : "", len ? ", " : "",
			   len + strlen(name) > IGNORED_MAX ? "..." : name);
	free(desired->ignored);
	desired->ignored = longer;
}

void control_value_set(struct desired *desired, enum desired_key key, const char *text,
		       size_t len_bytes)
{
	static const char space[] = " \t\r\n";
	const char *begin = text + strspn(text, space);
	size_t len = strlen(begin);

	if (strlen(text) != len_bytes || len_bytes > CONTROL_VALUE_MAX) {
		if (!desired->bad.kind)
			err_set(&desired->bad, ERR_CONFIG, 0,
				len_bytes > CONTROL_VALUE_MAX ? "%s: larger than %d bytes"
							      : "%s: contains a zero byte",
				desired_keys[key], CONTROL_VALUE_MAX);
		return;
	}
	while (len && strchr(space, begin[len - 1]))
		len--;
	free(desired->text[key]);
	desired->text[key] = xstrndup(begin, len);
}
