/*
 * Any bytes as a request on the control socket: refused in words, or read - and what was read says
 * the same when it is written and read again, and is an event that carries nothing else.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "control/control_request.h"
#include "control/control_socket.h"
#include "must.h"

static void check_nonce(const char *text)
{
	size_t len = strlen(text);

	must(len >= 1 && len <= CONTROL_NONCE_MAX);
	for (; *text; text++)
		must(*text > ' ' && *text <= '~');
}

static void check(const struct control_request *request)
{
	struct event event;

	if (request->nonce)
		check_nonce(request->nonce);
	must(!request->nonce ==
	     (request->command != COMMAND_SAVEPOINT && request->command != COMMAND_RESTART &&
	      request->command != COMMAND_CHECKPOINT && request->command != COMMAND_RESCALE));
	must(!request->full || request->command == COMMAND_CHECKPOINT);
	must(!request->parallelism.nonce == (request->command != COMMAND_RESCALE));
	must(request->command != COMMAND_RESCALE ||
	     request->parallelism.reset == parallelism_is_empty(&request->parallelism));
	must(!request->restore.token == (request->restore.kind == RESTORE_NONE));
	must(!request->restore.path == (request->restore.kind != RESTORE_PATH));
	must(request->restore.kind == RESTORE_NONE || request->command == COMMAND_RESUME);
	if (request->restore.token)
		check_nonce(request->restore.token);
	if (request->restore.path)
		must(*request->restore.path && strlen(request->restore.path) <= CONTROL_PATH_MAX);
	control_request_event(request, &event);
	must(event.type == EVENT_CONTROL);
	must(!event.control.fields ==
	     (request->command == COMMAND_STATUS || request->command == COMMAND_TRACE));
	must(!(event.control.fields & CONTROL_RESTORE) == (request->restore.kind == RESTORE_NONE));
}

static void round_trip(const struct control_request *request)
{
	cleanup_json struct json *first = control_request_encode(request);
	cleanup_json struct json *second = NULL;
	cleanup_buf struct buf a = BUF_INIT, b = BUF_INIT;
	struct control_request again;

	must(control_request_decode(first, &again, NULL) == 0);
	second = control_request_encode(&again);
	json_print(first, &a);
	json_print(second, &b);
	must(!strcmp(buf_str(&a), buf_str(&b)));
	control_request_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct err err = {0};
	cleanup_json struct json *doc =
		json_parse((const char *)data, size_bytes, CONTROL_MAX_REQUEST_BYTES, &err);
	struct control_request request;

	if (!doc || control_request_decode(doc, &request, &err) < 0) {
		must(err.kind == ERR_FORMAT && err.msg[0]);
		return 0;
	}
	check(&request);
	round_trip(&request);
	control_request_release(&request);
	return 0;
}
