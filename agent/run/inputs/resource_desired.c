#include "run/inputs/resource_desired.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "run/inputs/control_value.h"

static const struct {
	const char *name;
	enum desired_key key;
	enum json_kind kind;
} members[] = {
	{"state", DESIRED_KEY_STATE, JSON_STRING},
	{"doNotRestart", DESIRED_KEY_DO_NOT_RESTART, JSON_BOOL},
	{"savepointNonce", DESIRED_KEY_SAVEPOINT_NONCE, JSON_STRING},
	{"restartNonce", DESIRED_KEY_RESTART_NONCE, JSON_STRING},
	{"restore", DESIRED_KEY_RESTORE, JSON_OBJECT},
	{"checkpointNonce", DESIRED_KEY_CHECKPOINT_NONCE, JSON_STRING},
	{"parallelism", DESIRED_KEY_PARALLELISM, JSON_OBJECT},
	{"promote", DESIRED_KEY_PROMOTE, JSON_STRING},
	{"abort", DESIRED_KEY_ABORT, JSON_STRING},
	{"acknowledge", DESIRED_KEY_ACKNOWLEDGE, JSON_STRING},
};

#define MEMBERS (sizeof(members) / sizeof(members[0]))

const char *resource_desired_member(enum desired_key key)
{
	size_t i = 0;

	while (members[i].key != key)
		i++;
	return members[i].name;
}

static void resource_desired_take(struct desired *desired, enum desired_key key,
				  const struct json *value)
{
	cleanup_buf struct buf text = BUF_INIT;

	switch (json_kind(value)) {
	case JSON_STRING:
		buf_addstr(&text, json_text(value));
		break;
	case JSON_BOOL:
		buf_addstr(&text, json_is_true(value) ? "true" : "false");
		break;
	default: /* JSON is YAML */
		json_print(value, &text);
		break;
	}
	control_value_set(desired, key, buf_str(&text), text.len_bytes);
}

static void take_member(struct desired *desired, const struct json *value)
{
	size_t i = 0;

	while (i < MEMBERS && strcmp(members[i].name, json_name(value)) != 0)
		i++;
	if (i == MEMBERS)
		control_value_ignore(desired, json_name(value));
	else if (json_kind(value) == members[i].kind)
		resource_desired_take(desired, members[i].key, value);
	else if (json_kind(value) != JSON_NULL && !desired->bad.kind)
		err_set(&desired->bad, ERR_CONFIG, 0, "spec.%s: must be %s, not %s",
			members[i].name, json_kind_name(members[i].kind),
			json_kind_name(json_kind(value)));
}

void resource_desired(const struct json *spec, struct desired *ret_desired)
{
	struct desired desired = {0};
	const struct json *value;

	json_each (value, spec)
		take_member(&desired, value);
	control_value_judge(&desired);
	*ret_desired = desired;
}
