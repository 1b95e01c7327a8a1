/*
 * Any answer of Flink's REST API to each question that drey asks it: understood, or refused with a
 * reason, and nothing is half taken. The first byte chooses the question, the second the HTTP
 * status, the rest is the body. There is no server: the linker puts __wrap_http_do() into the place
 * of http_do() (rules.mk).
 */
#include <stdio.h>
#include <string.h>

#include "base/http.h"
#include "base/mem.h"
#include "flink/checkpoints.h"
#include "flink/operation.h"
#include "must.h"

#define JOB     "4f0c8d2e9a1b4c7d8e5f60718293a4b5"
#define TRIGGER "000102030405060708090a0b0c0d0e0f"

struct answer {
	int status;
	const uint8_t *body;
	size_t len_bytes;
};

/* What the next call is answered; http_do() has no other way to hear of it. */
static struct answer next_answer;

int __wrap_http_do(struct http *http, const struct http_request *request,
		   struct http_response *response, struct err *err);

int __wrap_http_do(struct http *http, const struct http_request *request,
		   struct http_response *response, struct err *err)
{
	(void)http;
	(void)err;
	must(request->timeout_ms == 1000 && request->max_bytes == FLINK_REST_MAX_BYTES);
	*response = (struct http_response){.status = next_answer.status, .retry_after_ms = -1};
	snprintf(response->content_type, sizeof(response->content_type), "application/json");
	buf_add(&response->body, next_answer.body, next_answer.len_bytes);
	return 0;
}

/* An answer other than FLINK_OK comes with its reason. */
static bool understood(enum flink_answer answer, const struct err *err)
{
	if (answer == FLINK_OK)
		return true;
	must(err->kind != ERR_NONE && err->msg[0]);
	must((answer == FLINK_ABSENT) == (err->kind == ERR_ABSENT));
	return false;
}

static void ask_jobs(const struct flink_rest *rest)
{
	struct flink_job_overview overview = {0};
	enum flink_job_state state;
	struct flink_jobs jobs = {0};
	struct err err = {0}, why = {0}, reason = {0};

	if (understood(flink_rest_jobs(rest, 1000, &jobs, &err), &err))
		for (size_t i = 0; i < jobs.count; i++)
			must(strlen(jobs.jobs[i].id) == FLINK_ID_CHARS);
	flink_jobs_release(&jobs);
	(void)understood(flink_rest_job_state(rest, JOB, 1000, &state, &why), &why);
	if (understood(flink_rest_job_overview(rest, JOB, 1000, &overview, NULL, &reason), &reason))
		must(overview.name != NULL);
	flink_job_overview_release(&overview);
}

static void ask_exception(const struct flink_rest *rest)
{
	struct flink_exception exception = {0};
	struct err err = {0};

	if (understood(flink_rest_exception(rest, JOB, 1000, &exception, &err), &err))
		must(!exception.present ||
		     (exception.sentence && !strpbrk(exception.sentence, "\r\n")));
	flink_exception_release(&exception);
}

static void check_operation(struct flink_operation *operation)
{
	must(operation->state == FLINK_OPERATION_FAILED || !operation->failure);
	must(operation->state != FLINK_OPERATION_FAILED || operation->failure);
	must(!operation->failure || !strpbrk(operation->failure, "\r\n"));
	flink_operation_release(operation);
}

static void ask_operation(const struct flink_rest *rest)
{
	struct flink_operation operation = {0};
	struct err err = {0}, why = {0};

	if (understood(flink_rest_operation(rest, JOB, TRIGGER, 1000, &operation, &err), &err)) {
		must(operation.state != FLINK_OPERATION_COMPLETED || operation.location);
		check_operation(&operation);
	}
	if (understood(flink_rest_checkpoint_operation(rest, JOB, TRIGGER, 1000, &operation, &why),
		       &why)) {
		must(!operation.location);
		check_operation(&operation);
	}
	if (understood(flink_rest_disposal(rest, TRIGGER, 1000, &operation, &why), &why))
		check_operation(&operation);
}

static void ask_checkpoints(const struct flink_rest *rest)
{
	struct flink_checkpoints checkpoints = {0};
	bool disabled = false;
	struct err err = {0};

	if (understood(flink_rest_checkpoints(rest, JOB, 1000, &checkpoints, &disabled, &err),
		       &err)) {
		must(checkpoints.history_count <= FLINK_CHECKPOINT_HISTORY_MAX);
		for (size_t i = 0; i < checkpoints.history_count; i++)
			must(!checkpoints.history[i].failure ||
			     !strpbrk(checkpoints.history[i].failure, "\r\n"));
	}
	flink_checkpoints_release(&checkpoints);
}

static void ask_cluster(const struct flink_rest *rest)
{
	struct flink_slots slots;
	int64_t restarts = 0, rescales = 0;
	struct err err[4] = {0};

	(void)understood(flink_rest_slots(rest, 1000, &slots, &err[1]), &err[1]);
	if (understood(flink_rest_restarts(rest, JOB, 1000, &restarts, &rescales, &err[2]),
		       &err[2]))
		must(restarts >= 0);
}

static void ask_for_something(const struct flink_rest *rest)
{
	const struct flink_savepoint_request request = {.job_id = JOB, .trigger_id = TRIGGER};
	char trigger[FLINK_ID_CHARS + 1] = "";
	struct err err[4] = {0};
	bool ended;

	(void)understood(flink_rest_savepoint(rest, &request, 1000, &err[0]), &err[0]);
	(void)understood(flink_rest_stop(rest, &request, 1000, &err[1]), &err[1]);
	(void)understood(flink_rest_cancel(rest, JOB, 1000, &ended, &err[2]), &err[2]);
	if (understood(flink_rest_dispose(rest, "file:/sp/1", 1000, trigger, &err[3]), &err[3]))
		must(strlen(trigger) == FLINK_ID_CHARS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	static void (*const questions[])(const struct flink_rest *) = {
		ask_jobs,        ask_exception, ask_operation,
		ask_checkpoints, ask_cluster,   ask_for_something,
	};
	static const int statuses[] = {200, 202, 400, 404, 409, 500, 503};
	const struct flink_rest rest = {.base_url = "http://127.0.0.1:8081"};

	if (size_bytes < 2)
		return 0;
	next_answer = (struct answer){.status = statuses[data[1] % ARRAY_LEN(statuses)],
				      .body = data + 2,
				      .len_bytes = size_bytes - 2};
	questions[data[0] % ARRAY_LEN(questions)](&rest);
	return 0;
}
