#include "run/control/control_wish.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "run/control/control_request.h"
#include "run/control/control_source.h"

#define IGNORED_MAX 200 /* bytes of names that are told */

const char *const control_keys[CONTROL_KEYS] = {
	[CONTROL_KEY_STATE] = "state",
	[CONTROL_KEY_DO_NOT_RESTART] = "do-not-restart",
	[CONTROL_KEY_SAVEPOINT_NONCE] = "savepoint-nonce",
	[CONTROL_KEY_RESTART_NONCE] = "restart-nonce",
	[CONTROL_KEY_RESTORE] = "restore",
};

void control_wish_release(struct control_wish *wish)
{
	for (int i = 0; i < CONTROL_KEYS; i++)
		free(wish->text[i]);
	free(wish->restore.token);
	free(wish->restore.path);
	free(wish->ignored);
	free(wish->used);
	free(wish->restore_generation);
	*wish = (struct control_wish){0};
}

void control_wish_copy(struct control_wish *to, const struct control_wish *from)
{
	*to = *from;
	for (int i = 0; i < CONTROL_KEYS; i++)
		to->text[i] = xstrdup(from->text[i]);
	to->restore.token = xstrdup(from->restore.token);
	to->restore.path = xstrdup(from->restore.path);
	to->ignored = xstrdup(from->ignored);
	to->used = xstrdup(from->used);
	to->restore_generation = xstrdup(from->restore_generation);
}

bool control_wish_is_used(const struct control_wish *wish)
{
	return wish->restore.token && control_used_has(wish->used, wish->restore.token);
}

static void overlay_restore(struct control_wish *wish, const struct control_wish *over)
{
	free(wish->restore.token);
	free(wish->restore.path);
	wish->restore = over->restore;
	wish->restore.token = xstrdup(over->restore.token);
	wish->restore.path = xstrdup(over->restore.path);
	xstrset(&wish->used, over->used);
	xstrset(&wish->restore_generation, over->restore_generation);
}

bool control_wish_is_for_other(const struct control_wish *wish, const char *generation)
{
	return wish->restore_generation && generation &&
	       strcmp(wish->restore_generation, generation) != 0;
}

void control_wish_drop_restore(struct control_wish *wish)
{
	xstrset(&wish->text[CONTROL_KEY_RESTORE], NULL);
	xstrset(&wish->restore_generation, NULL);
	free(wish->restore.token);
	free(wish->restore.path);
	wish->restore = (struct restore_request){0};
}

void control_wish_overlay(struct control_wish *wish, const struct control_wish *over)
{
	bool brake = wish->do_not_restart || over->do_not_restart;

	for (int i = 0; i < CONTROL_KEYS; i++)
		if (over->text[i])
			xstrset(&wish->text[i], over->text[i]);
	if (over->text[CONTROL_KEY_STATE])
		wish->state = over->state;
	if (over->text[CONTROL_KEY_DO_NOT_RESTART] && brake)
		xstrset(&wish->text[CONTROL_KEY_DO_NOT_RESTART], "true");
	wish->do_not_restart = brake;
	if (over->text[CONTROL_KEY_RESTORE])
		overlay_restore(wish, over);
}

bool control_wish_same_texts(const struct control_wish *a, const struct control_wish *b)
{
	for (int i = 0; i < CONTROL_KEYS; i++)
		if (!xstrsame(a->text[i], b->text[i]))
			return false;
	return true;
}

/* ---- what the texts mean ---- */

static int parse_state(struct control_wish *wish, const char *text, struct err *err)
{
	for (int i = 0; i <= DESIRED_CANCELLED; i++)
		if (!strcmp(text, desired_state_name((enum desired_state)i))) {
			wish->state = (enum desired_state)i;
			return 0;
		}
	return err_set(err, ERR_CONFIG, 0, "must be running, suspended or cancelled, not '%.64s'",
		       text);
}

static int parse_brake(struct control_wish *wish, const char *text, struct err *err)
{
	wish->do_not_restart = !strcmp(text, "true");
	if (wish->do_not_restart || !strcmp(text, "false"))
		return 0;
	return err_set(err, ERR_CONFIG, 0, "must be true or false, not '%.64s'", text);
}

/* The checks are those of the commands. */
static int parse_nonce(const char *text, struct err *err)
{
	cleanup_json struct json *doc = json_object();
	struct control_request request;

	json_add_str(doc, "command", "savepoint");
	json_add_str(doc, "nonce", text);
	if (control_request_decode(doc, &request, err) < 0)
		return -1;
	control_request_release(&request);
	return 0;
}

static int parse_restore(struct control_wish *wish, const char *text, struct err *err)
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
			xstrset(&wish->restore_generation, value);
		} else if (!node->quoted && yaml_to_bool(node, &flag, NULL) == 0)
			json_add_bool(restore, node->key, flag);
		else if (yaml_to_str(node, &value, err) < 0)
			return -1;
		else
			json_add_str(restore, node->key, value);
	}
	if (control_request_decode(doc, &request, err) < 0)
		return -1;
	wish->restore = request.restore; /* taken over */
	return 0;
}

static int parse_key(struct control_wish *wish, enum control_key key, struct err *err)
{
	const char *text = wish->text[key];

	if (!*text)
		return err_set(err, ERR_CONFIG, 0, "the file is empty");
	switch (key) {
	case CONTROL_KEY_STATE:
		return parse_state(wish, text, err);
	case CONTROL_KEY_DO_NOT_RESTART:
		return parse_brake(wish, text, err);
	case CONTROL_KEY_SAVEPOINT_NONCE:
	case CONTROL_KEY_RESTART_NONCE:
		return parse_nonce(text, err);
	case CONTROL_KEY_RESTORE:
		return parse_restore(wish, text, err);
	case CONTROL_KEYS:
		break;
	}
	return 0;
}

/* The first thing that is wrong is told; a value that was too long has said so already. */
void control_wish_judge(struct control_wish *wish)
{
	for (int i = 0; i < CONTROL_KEYS; i++) {
		struct err err = {0};

		if (!wish->text[i] || parse_key(wish, (enum control_key)i, &err) == 0 ||
		    wish->bad.kind)
			continue;
		err_wrap(&err, "%s", control_keys[i]);
		wish->bad = err;
	}
}

/* ---- values ---- */

int control_wish_key(const char *name)
{
	for (int i = 0; i < CONTROL_KEYS; i++)
		if (!strcmp(control_keys[i], name))
			return i;
	return -1;
}

void control_wish_ignore(struct control_wish *wish, const char *name)
{
	size_t len = wish->ignored ? strlen(wish->ignored) : 0;
	char *longer;

	if (len > IGNORED_MAX)
		return;
	longer = xasprintf("%s%s%s", len ? wish->ignored : "", len ? ", " : "",
			   len + strlen(name) > IGNORED_MAX ? "..." : name);
	free(wish->ignored);
	wish->ignored = longer;
}

void control_wish_set(struct control_wish *wish, enum control_key key, const char *text,
		      size_t len_bytes)
{
	static const char space[] = " \t\r\n";
	const char *begin = text + strspn(text, space);
	size_t len = strlen(begin);

	if (strlen(text) != len_bytes || len_bytes > CONTROL_VALUE_MAX) {
		if (!wish->bad.kind)
			err_set(&wish->bad, ERR_CONFIG, 0,
				len_bytes > CONTROL_VALUE_MAX ? "%s: larger than %d bytes"
							      : "%s: has a zero byte",
				control_keys[key], CONTROL_VALUE_MAX);
		return;
	}
	while (len && strchr(space, begin[len - 1]))
		len--;
	free(wish->text[key]);
	wish->text[key] = xstrndup(begin, len);
}
