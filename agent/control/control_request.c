#include "control/control_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/words.h"
#include "core/record.h"

static const char *const names[COMMAND_COUNT + 1] = {
	[COMMAND_STATUS] = "status",           [COMMAND_TRACE] = "trace",
	[COMMAND_SAVEPOINT] = "savepoint",     [COMMAND_SUSPEND] = "suspend",
	[COMMAND_RESUME] = "resume",           [COMMAND_CANCEL] = "cancel",
	[COMMAND_RESTART] = "restart",         [COMMAND_DO_NOT_RESTART] = "do-not-restart",
	[COMMAND_CHECKPOINT] = "checkpoint",   [COMMAND_RESCALE] = "rescale",
	[COMMAND_PROMOTE] = "promote",         [COMMAND_ABORT] = "abort",
	[COMMAND_ACKNOWLEDGE] = "acknowledge",
};
WORDS_OF(names, control_command_name, enum control_command, "?");

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

/* ---- checks ---- */

static int only_members(const struct json *obj, const struct record *record, struct err *err)
{
	const struct json *member;

	json_each (member, obj) {
		size_t i = 0;

		while (i < record->field_count &&
		       strcmp(record->fields[i].name, json_name(member)) != 0)
			i++;
		if (i == record->field_count)
			return err_set(err, ERR_FORMAT, 0, "unknown member '%s'",
				       json_name(member));
	}
	return 0;
}

/* A nonce or token: 1 to CONTROL_NONCE_MAX printable bytes without spaces. */
static int check_nonce(const char *member, const char *text, struct err *err)
{
	if (!*text || strlen(text) > CONTROL_NONCE_MAX)
		return err_set(err, ERR_FORMAT, 0, "'%s' must have 1 to %d bytes", member,
			       CONTROL_NONCE_MAX);
	for (const char *at = text; *at; at++)
		if (*at <= ' ' || *at > '~')
			return err_set(err, ERR_FORMAT, 0, "'%s' has a byte that is not printable",
				       member);
	return 0;
}

/* Without the permission it would request nothing. */
static int check_newest(const struct restore_request *restore, struct err *err)
{
	if (restore->foreign)
		return err_set(
			err, ERR_FORMAT, 0,
			"'kind: newest' takes no 'foreign': the newest state is never foreign");
	if (!restore->allow_non_restored)
		return err_set(
			err, ERR_FORMAT, 0,
			"every launch takes the newest state: use 'kind: newest' only with 'allowNonRestoredState: true'");
	return 0;
}

static int check_restore(const struct restore_request *restore, struct err *err)
{
	size_t path_bytes = restore->path ? strlen(restore->path) : 0;

	if (check_nonce("token", restore->token, err) < 0)
		return -1;
	if (restore->kind == RESTORE_PATH && !restore->path)
		return err_set(err, ERR_FORMAT, 0, "'path' is missing");
	if (restore->kind == RESTORE_PATH && (!path_bytes || path_bytes > CONTROL_PATH_MAX))
		return err_set(err, ERR_FORMAT, 0, "'path' must have 1 to %d bytes",
			       CONTROL_PATH_MAX);
	if (restore->kind != RESTORE_PATH && restore->path)
		return err_set(err, ERR_FORMAT, 0, "'kind: %s' takes no 'path'",
			       restore_request_kind_name(restore->kind));
	return restore->kind == RESTORE_NEWEST ? check_newest(restore, err) : 0;
}

static int check_number(const char *what, int64_t value, struct err *err)
{
	if (value >= 1 && value <= RESCALE_MAX_PARALLELISM)
		return 0;
	return err_set(err, ERR_FORMAT, 0, "'%s' must be 1 to %d, not %lld", what,
		       RESCALE_MAX_PARALLELISM, (long long)value);
}

static int check_parallelism(const struct json *obj, const struct parallelism *wanted,
			     struct err *err)
{
	if (json_get(obj, "all") && check_number("all", wanted->all, err) < 0)
		return -1;
	if (wanted->reset && (wanted->merge || !parallelism_is_empty(wanted)))
		return err_set(err, ERR_FORMAT, 0, "'reset' takes no other member");
	if (!wanted->reset && parallelism_is_empty(wanted))
		return err_set(err, ERR_FORMAT, 0, "'all', 'vertices' or 'reset' is missing");
	return 0;
}

static int check_request(const struct control_request *request, struct err *err)
{
	if (request->at_unix_ms < 0 || request->at_unix_ms > GATE_MAX_TIME_MS)
		return err_set(err, ERR_FORMAT, 0, "'atUnixMs' must be 0 to %lld, not %lld",
			       (long long)GATE_MAX_TIME_MS, (long long)request->at_unix_ms);
	return request->nonce ? check_nonce("nonce", request->nonce, err) : 0;
}

/* ---- what to start from ---- */

static const char *const restore_kinds[] = {"none", "empty", "path", "newest", NULL};

static int read_kind(const struct json *from, void *to, struct err *err)
{
	struct restore_request *restore = to;
	const char *text;
	int kind;

	if (json_need_str(from, "kind", &text, err) < 0)
		return -1;
	kind = words_find(restore_kinds, text);
	if (kind <= RESTORE_NONE)
		return err_set(err, ERR_FORMAT, 0, "'kind' must be newest, path or empty, not '%s'",
			       text);
	restore->kind = (enum restore_request_kind)kind;
	return 0;
}

#define RESTORE(name, kind, ...) FIELD(name, kind, struct restore_request, __VA_ARGS__)

static const struct field restore_fields[] = {
	RESTORE("kind", WORD, kind, .words = restore_kinds, .read = read_kind, .key = true),
	RESTORE("token", TEXT, token, .needed = true),
	RESTORE("path", TEXT, path, .sparse = true),
	RESTORE("allowNonRestoredState", BOOL, allow_non_restored, .sparse = true),
	RESTORE("foreign", BOOL, foreign, .sparse = true),
};
static const struct record restore_table = RECORD(struct restore_request, restore_fields);

static int read_restore(const struct json *from, void *to, struct err *err)
{
	struct restore_request *restore = &((struct control_request *)to)->restore;
	const struct json *object;
	int found = json_opt_object(from, "restore", &object, err);

	if (found <= 0)
		return found;
	if (only_members(object, &restore_table, err) < 0 ||
	    record_read(&restore_table, object, restore, err) < 0 ||
	    check_restore(restore, err) < 0)
		return err_wrap(err, "restore");
	return 0;
}

/* ---- the parallelism ---- */

static void write_vertices(struct json *to, const void *from)
{
	const struct parallelism *wanted = from;
	struct json *vertices;

	if (!wanted->vertex_count)
		return;
	vertices = json_add_object(to, "vertices");
	for (size_t i = 0; i < wanted->vertex_count; i++)
		json_add_i64(vertices, wanted->vertices[i].vertex, wanted->vertices[i].parallelism);
}

static int read_vertices(const struct json *from, void *to, struct err *err)
{
	const struct json *vertices = NULL, *each;
	int64_t value;

	if (json_opt_object(from, "vertices", &vertices, err) < 0)
		return -1;
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
		if (check_number(name, value, err) < 0)
			return err_wrap(err, "vertices");
		parallelism_set(to, name, value);
	}
	return 0;
}

#define WANTED(name, kind, ...) FIELD(name, kind, struct parallelism, __VA_ARGS__)

static const struct field parallelism_fields[] = {
	WANTED("reset", BOOL, reset, .sparse = true),
	WANTED("merge", BOOL, merge, .sparse = true),
	WANTED("all", NUMBER, all, .sparse = true),
	WANTED("vertices", OWN, vertices, .write = write_vertices, .read = read_vertices),
};
static const struct record wanted_table = RECORD(struct parallelism, parallelism_fields);

static int read_parallelism(const struct json *from, void *to, struct err *err)
{
	struct parallelism *wanted = &((struct control_request *)to)->parallelism;
	const struct json *object;

	if (json_need_object(from, "parallelism", &object, err) < 0)
		return -1;
	if (only_members(object, &wanted_table, err) < 0 ||
	    record_read(&wanted_table, object, wanted, err) < 0 ||
	    check_parallelism(object, wanted, err) < 0)
		return err_wrap(err, "parallelism");
	return 0;
}

/* ---- the request ---- */

#define REQUEST(name, kind, ...) FIELD(name, kind, struct control_request, __VA_ARGS__)
#define COMMAND                                                                                    \
	REQUEST("command", WORD, command, .words = names),                                         \
		REQUEST("application", TEXT, application, .sparse = true)
#define NONCE REQUEST("nonce", TEXT, nonce, .needed = true, .sparse = true)

static const struct field plain[] = {COMMAND};
static const struct field once[] = {COMMAND, NONCE};
static const struct field checkpoint[] = {COMMAND, NONCE,
					  REQUEST("full", BOOL, full, .sparse = true)};
static const struct field promote[] = {COMMAND, NONCE,
				       REQUEST("atUnixMs", NUMBER, at_unix_ms, .sparse = true)};
static const struct field do_not_restart[] = {COMMAND, REQUEST("on", BOOL, on, .needed = true)};
static const struct field resume[] = {COMMAND,
				      REQUEST("restore", RECORD, restore, .record = &restore_table,
					      .sparse = true, .read = read_restore)};
static const struct field rescale[] = {COMMAND, NONCE,
				       REQUEST("parallelism", RECORD, parallelism,
					       .record = &wanted_table, .read = read_parallelism)};

/* The members that each command takes. */
static const struct record members[COMMAND_COUNT] = {
	[COMMAND_STATUS] = RECORD(struct control_request, plain),
	[COMMAND_TRACE] = RECORD(struct control_request, plain),
	[COMMAND_SAVEPOINT] = RECORD(struct control_request, once),
	[COMMAND_SUSPEND] = RECORD(struct control_request, plain),
	[COMMAND_RESUME] = RECORD(struct control_request, resume),
	[COMMAND_CANCEL] = RECORD(struct control_request, plain),
	[COMMAND_RESTART] = RECORD(struct control_request, once),
	[COMMAND_DO_NOT_RESTART] = RECORD(struct control_request, do_not_restart),
	[COMMAND_CHECKPOINT] = RECORD(struct control_request, checkpoint),
	[COMMAND_RESCALE] = RECORD(struct control_request, rescale),
	[COMMAND_PROMOTE] = RECORD(struct control_request, promote),
	[COMMAND_ABORT] = RECORD(struct control_request, once),
	[COMMAND_ACKNOWLEDGE] = RECORD(struct control_request, once),
};

struct json *control_request_encode(const struct control_request *request)
{
	struct json *doc = json_object();

	record_write(&members[request->command], request, NULL, doc);
	return doc;
}

int control_request_decode(const struct json *doc, struct control_request *ret_request,
			   struct err *err)
{
	struct control_request request = {0};
	const struct record *record;
	const char *name;
	int command;

	if (json_kind(doc) != JSON_OBJECT)
		return err_set(err, ERR_FORMAT, 0, "request: not an object");
	if (json_need_str(doc, "command", &name, err) < 0)
		return err_wrap(err, "request");
	command = words_find(names, name);
	if (command < 0)
		return err_set(err, ERR_FORMAT, 0, "request: unknown command '%s'", name);
	record = &members[command];
	if (only_members(doc, record, err) < 0 || record_read(record, doc, &request, err) < 0 ||
	    check_request(&request, err) < 0) {
		control_request_release(&request);
		return err_wrap(err, "request '%s'", name);
	}
	if (request.command == COMMAND_RESCALE)
		request.parallelism.nonce = xstrdup(request.nonce);
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
