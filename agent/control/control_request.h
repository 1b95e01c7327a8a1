/*
 * control_request - a person's requests to a running drey, as JSON and as an event of the core.
 *
 * One place for both sides of the control socket: the commands build requests with
 * control_request_encode(), the driver reads them with control_request_decode() and hands
 * control_request_event() to the state machine. Form, one line each:
 *
 *   {"command":"status"}             {"command":"trace"}
 *   {"command":"savepoint","nonce":N}
 *   {"command":"checkpoint","nonce":N[,"full":true]}
 *   {"command":"suspend"}            {"command":"cancel"}
 *   {"command":"resume"[,"restore":{"kind":"newest"|"empty"|"path","token":T[,"path":P]
 *                        [,"allowNonRestoredState":true][,"foreign":true]}]}
 *   {"command":"restart","nonce":N}
 *   {"command":"do-not-restart","on":true|false}
 *   {"command":"rescale","nonce":N,"parallelism":{"all":N,"vertices":{UID:N,...}[,"merge":true]}}
 *   {"command":"rescale","nonce":N,"parallelism":{"reset":true}}
 *   {"command":"promote","nonce":N[,"atUnixMs":T]}
 *   {"command":"abort","nonce":N}
 *   {"command":"acknowledge","nonce":N}
 *
 * Each may also have "application": NAME, and the drey of another application refuses it.
 *
 * Unknown members are refused: a partly understood request is not carried out.
 */
#ifndef DREY_RUN_CONTROL_REQUEST_H
#define DREY_RUN_CONTROL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "core/lifecycle/lifecycle.h"

struct json;

#define CONTROL_NONCE_MAX 64
#define CONTROL_PATH_MAX  4096

enum control_command {
	COMMAND_STATUS,
	COMMAND_TRACE,
	COMMAND_SAVEPOINT,
	COMMAND_SUSPEND,
	COMMAND_RESUME,
	COMMAND_CANCEL,
	COMMAND_RESTART,
	COMMAND_DO_NOT_RESTART,
	COMMAND_CHECKPOINT,
	COMMAND_RESCALE,
	COMMAND_PROMOTE,
	COMMAND_ABORT,
	COMMAND_ACKNOWLEDGE,
	COMMAND_COUNT,
};

struct control_request {
	enum control_command command;
	/* the application it is for; NULL = not given, as by older commands; owned */
	char *application;
	char *nonce; /* SAVEPOINT, CHECKPOINT, RESTART, RESCALE, PROMOTE, ABORT, ACKNOWLEDGE; owned */
	int64_t at_unix_ms;             /* PROMOTE: the cut, in event time; 0 = as it comes */
	bool full;                      /* CHECKPOINT */
	bool on;                        /* DO_NOT_RESTART */
	struct restore_request restore; /* RESUME; strings owned */
	struct parallelism parallelism; /* RESCALE; owned, with the same nonce */
};

void control_request_release(struct control_request *request);
#define cleanup_control_request __attribute__((cleanup(control_request_release)))

/* The caller frees with json_free(). */
struct json *control_request_encode(const struct control_request *request);

/* ERR_FORMAT: the message names the fault. *ret_request is set on success only. */
int control_request_decode(const struct json *doc, struct control_request *ret_request,
			   struct err *err);

/* EVENT_CONTROL for a request other than STATUS and TRACE; strings stay borrowed from `request`. */
void control_request_event(const struct control_request *request, struct event *ret_event);

const char *control_command_name(enum control_command command); /* "do-not-restart", ... */

/* ---- answers ---- */

/* {"ok":true,"sequence":n}: accepted, and durable as journal write n. Caller frees. */
struct json *control_answer_ok(int64_t sequence);
/* {"ok":false,"error":"..."} */
struct json *control_answer_error(const char *message);

#endif
