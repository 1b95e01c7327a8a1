#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "control/control_request.h"
#include "run/driver_internal.h"
#include "run/part.h"

/* A request is answered when what it asks for is durable. */
struct waiting_call {
	struct waiting_call *next;
	struct control_call *call;
	int64_t sequence;
};

static void answer(struct control_call *call, struct json *document)
{
	control_reply(call, document);
	json_free(document);
}

static void answer_status(struct driver *driver, struct control_call *call)
{
	answer(call, driver_status_full(driver));
}

static void answer_trace(struct driver *driver, struct control_call *call)
{
	struct json *document = json_object();

	json_add_str(document, "application", driver->setup->config.application);
	json_add_str(document, "version", DREY_VERSION);
	life_trace_write(&driver->trace, document);
	answer(call, document);
}

static void wait_for_write(struct driver *driver, struct control_call *call, int64_t sequence)
{
	struct waiting_call *waiting = xcalloc(1, sizeof(*waiting));

	waiting->call = call;
	waiting->sequence = sequence;
	waiting->next = driver->waiting;
	driver->waiting = waiting;
}

int64_t driver_covering_write(const struct driver *driver)
{
	const struct lifecycle *life = &driver->life;

	return life->want_write ? life->journal.sequence + 1 : life->requested;
}

static void requests_stepped(struct driver *driver)
{
	const struct lifecycle *life = &driver->life;
	struct waiting_call **place = &driver->waiting;

	while (*place) {
		struct waiting_call *waiting = *place;

		if (!lifecycle_is_inert(life) &&
		    (waiting->sequence > life->acknowledged || life->journal_broken)) {
			place = &waiting->next;
			continue;
		}
		*place = waiting->next;
		answer(waiting->call, lifecycle_is_inert(life)
					      ? control_answer_error(life->reason)
					      : control_answer_ok(waiting->sequence));
		free(waiting);
	}
}

/* A sentence, or NULL: it is taken. */
static const char *refusal_of(const struct lifecycle *life, const struct control_request *request)
{
	if (request->restore.kind != RESTORE_NONE && lifecycle_refuses_restore(life))
		return "the job is running: suspend or cancel it first, then resume from something else";
	if (request->command == COMMAND_PROMOTE)
		return lifecycle_refuses_promote(life, request->at_unix_ms);
	if (request->command == COMMAND_ACKNOWLEDGE)
		return lifecycle_refuses_acknowledge(life);
	return request->command == COMMAND_ABORT ? lifecycle_refuses_abort(life) : NULL;
}

static void on_request(void *arg, struct control_call *call, const struct json *document)
{
	struct driver *driver = arg;
	cleanup_control_request struct control_request request = {.command = COMMAND_STATUS};
	struct event event;
	struct err err = {0};

	if (control_request_decode(document, &request, &err) < 0) {
		driver->metrics.refused[METRICS_SOCKET]++;
		answer(call, control_answer_error(err.msg));
		return;
	}
	if (request.application &&
	    strcmp(request.application, driver->setup->config.application) != 0) {
		cleanup_free char *why =
			xasprintf("this drey runs application '%s', not '%s'",
				  driver->setup->config.application, request.application);

		driver->metrics.refused[METRICS_SOCKET]++;
		answer(call, control_answer_error(why));
	} else if (!driver->alive && !driver->held) {
		answer(call, control_answer_error("drey is still starting; try again"));
	} else if (request.command == COMMAND_STATUS) {
		answer_status(driver, call);
	} else if (request.command == COMMAND_TRACE) {
		answer_trace(driver, call);
	} else if (driver_in_shadow(driver)) {
		driver->metrics.refused[METRICS_SOCKET]++;
		answer(call,
		       control_answer_error(
			       "this pod runs the job in the shadow of the application's; ask the owner"));
	} else if (driver->held || lifecycle_is_inert(&driver->life) || driver->life.terminating ||
		   driver->life.handover.giving) {
		driver->metrics.refused[METRICS_SOCKET]++;
		answer(call, control_answer_error(driver->life.reason));
	} else if (refusal_of(&driver->life, &request)) {
		driver->metrics.refused[METRICS_SOCKET]++;
		answer(call, control_answer_error(refusal_of(&driver->life, &request)));
	} else {
		log_info(driver->log, "request",
			 LOG_STR("command", control_command_name(request.command)));
		control_request_event(&request, &event);
		driver->metrics.control[METRICS_SOCKET]++;
		driver_step(driver, &event);
		wait_for_write(driver, call, driver_covering_write(driver));
		requests_stepped(driver);
	}
}

static int requests_open(struct driver *driver, struct err *err)
{
	driver->control = control_server_new(driver->loop, driver->setup->config.state_directory,
					     on_request, driver, err);
	return driver->control ? 0 : -1;
}

static void requests_close(struct driver *driver)
{
	while (driver->waiting) {
		struct waiting_call *waiting = driver->waiting;

		driver->waiting = waiting->next;
		answer(waiting->call, control_answer_error("drey is exiting"));
		free(waiting);
	}
	control_server_free(driver->control);
}

const struct part part_requests = {
	.name = "requests",
	.open = requests_open,
	.stepped = requests_stepped,
	.close = requests_close,
};
