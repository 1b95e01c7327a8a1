#include "run/kube/resource_wish.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"

static const struct {
	const char *name;
	enum control_key key;
	enum json_kind kind;
} members[] = {
	{"state", CONTROL_KEY_STATE, JSON_STRING},
	{"doNotRestart", CONTROL_KEY_DO_NOT_RESTART, JSON_BOOL},
	{"savepointNonce", CONTROL_KEY_SAVEPOINT_NONCE, JSON_STRING},
	{"restartNonce", CONTROL_KEY_RESTART_NONCE, JSON_STRING},
	{"restore", CONTROL_KEY_RESTORE, JSON_OBJECT},
};

#define MEMBERS (sizeof(members) / sizeof(members[0]))

static void take(struct control_wish *wish, enum control_key key, const struct json *value)
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
	control_wish_set(wish, key, buf_str(&text), text.len_bytes);
}

static void take_member(struct control_wish *wish, const struct json *value)
{
	size_t i = 0;

	while (i < MEMBERS && strcmp(members[i].name, json_name(value)) != 0)
		i++;
	if (i == MEMBERS)
		control_wish_ignore(wish, json_name(value));
	else if (json_kind(value) == members[i].kind)
		take(wish, members[i].key, value);
	else if (json_kind(value) != JSON_NULL && !wish->bad.kind)
		err_set(&wish->bad, ERR_CONFIG, 0, "spec.%s: must be %s, not %s", members[i].name,
			json_kind_name(members[i].kind), json_kind_name(json_kind(value)));
}

void resource_wish(const struct json *spec, struct control_wish *ret_wish)
{
	struct control_wish wish = {0};
	const struct json *value;

	json_each (value, spec)
		take_member(&wish, value);
	control_wish_judge(&wish);
	*ret_wish = wish;
}
