#include "control/control_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

static const char *const names[COMMAND_COUNT] = {
	[COMMAND_STATUS] = "status",           [COMMAND_TRACE] = "trace",
	[COMMAND_SAVEPOINT] = "savepoint",     [COMMAND_SUSPEND] = "suspend",
	[COMMAND_RESUME] = "resume",           [COMMAND_CANCEL] = "cancel",
	[COMMAND_RESTART] = "restart",         [COMMAND_DO_NOT_RESTART] = "do-not-restart",
	[COMMAND_CHECKPOINT] = "checkpoint",   [COMMAND_RESCALE] = "rescale",
	[COMMAND_PROMOTE] = "promote",         [COMMAND_ABORT] = "abort",
	[COMMAND_ACKNOWLEDGE] = "acknowledge",
};

/* The members that each command takes in addition to "command". */
static const char *const members[COMMAND_COUNT] = {
	[COMMAND_SAVEPOINT] = "nonce",        [COMMAND_RESUME] = "restore",
	[COMMAND_RESTART] = "nonce",          [COMMAND_DO_NOT_RESTART] = "on",
	[COMMAND_CHECKPOINT] = "nonce full",  [COMMAND_RESCALE] = "nonce parallelism",
	[COMMAND_PROMOTE] = "nonce atUnixMs", [COMMAND_ABORT] = "nonce",
	[COMMAND_ACKNOWLEDGE] = "nonce",
};

const char *control_command_name(enum control_command command)
{
	return command < COMMAND_COUNT ? names[command] : "?";
}

void control_request_release(struct control_request *request)
{
	free(request->application);
	free(request->nonce);
	free(request->restore.token);
	free(request->restore.path);
	free(request->restore.generation);
	parallelism_release(&request->parallelism);
	*request = (struct control_request){0};
}

static void encode_parallelism(const struct parallelism *wanted, struct json *doc)
{
	struct json *to = json_add_object(doc, "parallelism"), *vertices;

	if (wanted->reset)
		json_add_bool(to, "reset", true);
	if (wanted->merge)
		json_add_bool(to, "merge", true);
	if (wanted->all)
		json_add_i64(to, "all", wanted->all);
	if (!wanted->vertex_count)
		return;
	vertices = json_add_object(to, "vertices");
	for (size_t i = 0; i < wanted->vertex_count; i++)
		json_add_i64(vertices, wanted->vertices[i].vertex, wanted->vertices[i].parallelism);
}

struct json *control_request_encode(const struct control_request *request)
{
	struct json *doc = json_object();
	struct json *restore;

	json_add_str(doc, "command", control_command_name(request->command));
	json_add_str_opt(doc, "application", request->application);
	json_add_str_opt(doc, "nonce", request->nonce);
	if (request->command == COMMAND_DO_NOT_RESTART)
		json_add_bool(doc, "on", request->on);
	if (request->full)
		json_add_bool(doc, "full", true);
	if (request->command == COMMAND_RESCALE)
		encode_parallelism(&request->parallelism, doc);
	if (request->at_unix_ms)
		json_add_i64(doc, "atUnixMs", request->at_unix_ms);
	if (request->restore.kind == RESTORE_NONE)
		return doc;
	restore = json_add_object(doc, "restore");
	json_add_str(restore, "kind", restore_request_kind_name(request->restore.kind));
	json_add_str(restore, "token", request->restore.token);
	json_add_str_opt(restore, "path", request->restore.path);
	if (request->restore.allow_non_restored)
		json_add_bool(restore, "allowNonRestoredState", true);
	if (request->restore.foreign)
		json_add_bool(restore, "foreign", true);
	return doc;
}

/* Every member of obj must be one of the words in `known` ("a b c"). */
static int only_members(const struct json *obj, const char *known, struct err *err)
{
	const struct json *member;

	json_each (member, obj) {
		const char *name = json_name(member);
		const char *at = known;
		size_t len = strlen(name);

		while (at && (strncmp(at, name, len) != 0 || (at[len] && at[len] != ' '))) {
			at = strchr(at, ' ');
			at = at ? at + 1 : NULL;
		}
		if (!at || !len)
			return err_set(err, ERR_FORMAT, 0, "unknown member '%s'", name);
	}
	return 0;
}

/* A nonce or token: 1 to CONTROL_NONCE_MAX printable bytes without spaces. */
static int decode_nonce(const struct json *obj, const char *member, char **ret_text,
			struct err *err)
{
	const char *text;

	if (json_need_str(obj, member, &text, err) < 0)
		return -1;
	if (!*text || strlen(text) > CONTROL_NONCE_MAX)
		return err_set(err, ERR_FORMAT, 0, "'%s' must have 1 to %d bytes", member,
			       CONTROL_NONCE_MAX);
	for (const char *at = text; *at; at++)
		if (*at <= ' ' || *at > '~')
			return err_set(err, ERR_FORMAT, 0, "'%s' has a byte that is not printable",
				       member);
	xstrset(ret_text, text);
	return 0;
}

/* Without the permission it would request nothing. */
static int decode_newest(const struct json *obj, struct restore_request *restore, struct err *err)
{
	if (json_get(obj, "path"))
		return err_set(err, ERR_FORMAT, 0, "'kind: newest' takes no 'path'");
	if (restore->foreign)
		return err_set(
			err, ERR_FORMAT, 0,
			"'kind: newest' takes no 'foreign': the newest state is never foreign");
	if (!restore->allow_non_restored)
		return err_set(
			err, ERR_FORMAT, 0,
			"every launch takes the newest state: use 'kind: newest' only with 'allowNonRestoredState: true'");
	restore->kind = RESTORE_NEWEST;
	return 0;
}

static int decode_restore(const struct json *obj, struct restore_request *restore, struct err *err)
{
	const char *kind, *path;

	if (only_members(obj, "kind token path allowNonRestoredState foreign", err) < 0 ||
	    json_need_str(obj, "kind", &kind, err) < 0 ||
	    decode_nonce(obj, "token", &restore->token, err) < 0 ||
	    json_opt_bool(obj, "allowNonRestoredState", &restore->allow_non_restored, err) < 0 ||
	    json_opt_bool(obj, "foreign", &restore->foreign, err) < 0)
		return -1;
	if (strcmp(kind, "empty") == 0) {
		if (json_get(obj, "path"))
			return err_set(err, ERR_FORMAT, 0, "'kind: empty' takes no 'path'");
		restore->kind = RESTORE_EMPTY;
		return 0;
	}
	if (strcmp(kind, "newest") == 0)
		return decode_newest(obj, restore, err);
	if (strcmp(kind, "path") != 0)
		return err_set(err, ERR_FORMAT, 0, "'kind' must be newest, path or empty, not '%s'",
			       kind);
	if (json_need_str(obj, "path", &path, err) < 0)
		return -1;
	if (!*path || strlen(path) > CONTROL_PATH_MAX)
		return err_set(err, ERR_FORMAT, 0, "'path' must have 1 to %d bytes",
			       CONTROL_PATH_MAX);
	restore->kind = RESTORE_PATH;
	restore->path = xstrdup(path);
	return 0;
}

static int check_parallelism(const char *what, int64_t value, struct err *err)
{
	if (value >= 1 && value <= RESCALE_MAX_PARALLELISM)
		return 0;
	return err_set(err, ERR_FORMAT, 0, "'%s' must be 1 to %d, not %lld", what,
		       RESCALE_MAX_PARALLELISM, (long long)value);
}

static int decode_vertices(const struct json *vertices, struct parallelism *wanted, struct err *err)
{
	const struct json *each;
	int64_t value;

	if (json_len(vertices) > RESCALE_MAX_VERTICES)
		return err_set(err, ERR_FORMAT, 0, "'vertices' has more than %d members",
			       RESCALE_MAX_VERTICES);
	json_each (each, vertices) {
		const char *name = json_name(each);

		if (!*name || strlen(name) > RESCALE_MAX_UID_BYTES)
			return err_set(err, ERR_FORMAT, 0,
				       "the name of a vertex must have 1 to %d bytes",
				       RESCALE_MAX_UID_BYTES);
		if (json_to_i64(each, &value, err) < 0)
			return err_wrap(err, "vertices: '%s'", name);
		if (check_parallelism(name, value, err) < 0)
			return err_wrap(err, "vertices");
		parallelism_set(wanted, name, value);
	}
	return 0;
}

static int decode_parallelism(const struct json *obj, struct parallelism *wanted, struct err *err)
{
	const struct json *vertices;
	int has_vertices;

	if (only_members(obj, "all vertices merge reset", err) < 0 ||
	    json_opt_bool(obj, "merge", &wanted->merge, err) < 0 ||
	    json_opt_bool(obj, "reset", &wanted->reset, err) < 0)
		return -1;
	if (json_get(obj, "all") && (json_need_i64(obj, "all", &wanted->all, err) < 0 ||
				     check_parallelism("all", wanted->all, err) < 0))
		return -1;
	has_vertices = json_opt_object(obj, "vertices", &vertices, err);
	if (has_vertices < 0 || (has_vertices && decode_vertices(vertices, wanted, err) < 0))
		return -1;
	if (wanted->reset && (wanted->merge || !parallelism_is_empty(wanted)))
		return err_set(err, ERR_FORMAT, 0, "'reset' takes no other member");
	if (!wanted->reset && parallelism_is_empty(wanted))
		return err_set(err, ERR_FORMAT, 0, "'all', 'vertices' or 'reset' is missing");
	return 0;
}

static int decode_rescale(const struct json *doc, struct control_request *request, struct err *err)
{
	const struct json *wanted;

	if (decode_nonce(doc, "nonce", &request->nonce, err) < 0 ||
	    json_need_object(doc, "parallelism", &wanted, err) < 0)
		return -1;
	if (decode_parallelism(wanted, &request->parallelism, err) < 0)
		return err_wrap(err, "parallelism");
	request->parallelism.nonce = xstrdup(request->nonce);
	return 0;
}

static int decode_application(const struct json *doc, char **ret_application, struct err *err)
{
	const char *text;
	int has = json_opt_str(doc, "application", &text, err);

	if (has > 0)
		xstrset(ret_application, text);
	return has < 0 ? -1 : 0;
}

static int decode_promote(const struct json *doc, struct control_request *request, struct err *err)
{
	int64_t *at_unix_ms = &request->at_unix_ms;

	if (json_get(doc, "atUnixMs") && json_need_i64(doc, "atUnixMs", at_unix_ms, err) < 0)
		return -1;
	if (*at_unix_ms < 0 || *at_unix_ms > GATE_MAX_TIME_MS)
		return err_set(err, ERR_FORMAT, 0, "'atUnixMs' must be 0 to %lld, not %lld",
			       (long long)GATE_MAX_TIME_MS, (long long)*at_unix_ms);
	return decode_nonce(doc, "nonce", &request->nonce, err);
}

static int decode_members(const struct json *doc, struct control_request *request, struct err *err)
{
	const struct json *restore;
	int has_restore;

	switch (request->command) {
	case COMMAND_PROMOTE:
		return decode_promote(doc, request, err);
	case COMMAND_SAVEPOINT:
	case COMMAND_RESTART:
	case COMMAND_ABORT:
	case COMMAND_ACKNOWLEDGE:
		return decode_nonce(doc, "nonce", &request->nonce, err);
	case COMMAND_CHECKPOINT:
		if (json_opt_bool(doc, "full", &request->full, err) < 0)
			return -1;
		return decode_nonce(doc, "nonce", &request->nonce, err);
	case COMMAND_DO_NOT_RESTART:
		return json_need_bool(doc, "on", &request->on, err);
	case COMMAND_RESUME:
		has_restore = json_opt_object(doc, "restore", &restore, err);
		if (has_restore <= 0)
			return has_restore;
		if (decode_restore(restore, &request->restore, err) < 0)
			return err_wrap(err, "restore");
		return 0;
	case COMMAND_RESCALE:
		return decode_rescale(doc, request, err);
	case COMMAND_STATUS:
	case COMMAND_TRACE:
	case COMMAND_SUSPEND:
	case COMMAND_CANCEL:
	case COMMAND_COUNT:
		break;
	}
	return 0;
}

int control_request_decode(const struct json *doc, struct control_request *ret_request,
			   struct err *err)
{
	struct control_request request = {.command = COMMAND_COUNT};
	cleanup_free char *known = NULL;
	const char *name;

	if (json_kind(doc) != JSON_OBJECT)
		return err_set(err, ERR_FORMAT, 0, "request: not an object");
	if (json_need_str(doc, "command", &name, err) < 0)
		return err_wrap(err, "request");
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(names[i], name) == 0)
			request.command = (enum control_command)i;
	if (request.command == COMMAND_COUNT)
		return err_set(err, ERR_FORMAT, 0, "request: unknown command '%s'", name);
	known = xasprintf("command application %s",
			  members[request.command] ? members[request.command] : "");
	if (only_members(doc, known, err) < 0 ||
	    decode_application(doc, &request.application, err) < 0 ||
	    decode_members(doc, &request, err) < 0) {
		control_request_release(&request);
		return err_wrap(err, "request '%s'", name);
	}
	*ret_request = request;
	return 0;
}

void control_request_event(const struct control_request *request, struct event *ret_event)
{
	struct event event = {.type = EVENT_CONTROL};
	struct intent *intent = &event.control.intent;

	switch (request->command) {
	case COMMAND_SAVEPOINT:
		event.control.fields = CONTROL_SAVEPOINT;
		intent->savepoint_nonce = request->nonce;
		break;
	case COMMAND_CHECKPOINT:
		event.control.fields = CONTROL_CHECKPOINT;
		event.control.checkpoint_nonce = request->nonce;
		event.control.checkpoint_full = request->full;
		break;
	case COMMAND_RESTART:
		event.control.fields = CONTROL_RESTART;
		intent->restart_nonce = request->nonce;
		break;
	case COMMAND_SUSPEND:
		event.control.fields = CONTROL_STATE;
		intent->state = DESIRED_SUSPENDED;
		break;
	case COMMAND_CANCEL:
		event.control.fields = CONTROL_STATE;
		intent->state = DESIRED_CANCELLED;
		break;
	case COMMAND_RESUME:
		event.control.fields = CONTROL_STATE | CONTROL_NEW_START;
		intent->state = DESIRED_RUNNING;
		if (request->restore.kind != RESTORE_NONE) {
			event.control.fields |= CONTROL_RESTORE;
			intent->restore = request->restore;
		}
		break;
	case COMMAND_DO_NOT_RESTART:
		event.control.fields = CONTROL_DO_NOT_RESTART;
		intent->do_not_restart = request->on;
		break;
	case COMMAND_RESCALE:
		event.control.fields = CONTROL_PARALLELISM;
		intent->parallelism = request->parallelism;
		break;
	case COMMAND_PROMOTE:
		event.control.fields = CONTROL_PROMOTE;
		event.control.promote_nonce = request->nonce;
		event.control.promote_at_unix_ms = request->at_unix_ms;
		break;
	case COMMAND_ABORT:
		event.control.fields = CONTROL_ABORT;
		event.control.abort_nonce = request->nonce;
		break;
	case COMMAND_ACKNOWLEDGE:
		event.control.fields = CONTROL_ACKNOWLEDGE;
		event.control.acknowledge_nonce = request->nonce;
		break;
	case COMMAND_STATUS:
	case COMMAND_TRACE:
	case COMMAND_COUNT:
		break;
	}
	*ret_event = event;
}

struct json *control_answer_ok(int64_t sequence)
{
	struct json *answer = json_object();

	json_add_bool(answer, "ok", true);
	json_add_i64(answer, "sequence", sequence);
	return answer;
}

struct json *control_answer_error(const char *message)
{
	struct json *answer = json_object();

	json_add_bool(answer, "ok", false);
	json_add_str(answer, "error", message);
	return answer;
}
