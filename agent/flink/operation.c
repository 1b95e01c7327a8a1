#include "flink/operation.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "flink/rest_call.h"
#include "flink/trace.h"

/* The POST of an operation of a job; their spelling differs. */
static enum flink_answer post_operation(const struct flink_rest *rest, const char *job_id,
					const char *trigger_id, const char *verb, struct json *body,
					int64_t timeout_ms, struct err *err)
{
	cleanup_json struct json *doc = NULL;
	cleanup_free char *path = NULL;
	const char *id;
	enum flink_answer answer;

	if (rest_check_id("job", job_id, err) != FLINK_OK ||
	    rest_check_id("trigger", trigger_id, err) != FLINK_OK)
		return FLINK_ERROR;
	path = xasprintf("/jobs/%s/%s", job_id, verb);
	json_add_str(body, "triggerId", trigger_id);
	answer = rest_call(
		rest,
		&(struct rest_request){
			.method = "POST", .path = path, .body = body, .timeout_ms = timeout_ms},
		&doc, err);
	if (answer != FLINK_OK)
		return answer;
	if (json_need_str(doc, "request-id", &id, err) < 0)
		return rest_unexpected(path, err);
	if (strcmp(id, trigger_id) != 0) { /* 1.14 and older ignore the id: not ours */
		err_set(err, ERR_FORMAT, 0, "Flink chose trigger id %.40s instead of %s", id,
			trigger_id);
		return rest_unexpected(path, err);
	}
	return FLINK_OK;
}

static enum flink_answer post(const struct flink_rest *rest,
			      const struct flink_savepoint_request *request, const char *verb,
			      struct json *body, int64_t timeout_ms, struct err *err)
{
	json_add_str(body, "formatType",
		     request->format == FLINK_SAVEPOINT_NATIVE ? "NATIVE" : "CANONICAL");
	return post_operation(rest, request->job_id, request->trigger_id, verb, body, timeout_ms,
			      err);
}

enum flink_answer flink_rest_savepoint(const struct flink_rest *rest,
				       const struct flink_savepoint_request *request,
				       int64_t timeout_ms, struct err *err)
{
	cleanup_json struct json *body = json_object();

	json_add_str_opt(body, "target-directory", request->target_directory);
	json_add_bool(body, "cancel-job", false);
	return post(rest, request, "savepoints", body, timeout_ms, err);
}

enum flink_answer flink_rest_stop(const struct flink_rest *rest,
				  const struct flink_savepoint_request *request, int64_t timeout_ms,
				  struct err *err)
{
	cleanup_json struct json *body = json_object();

	json_add_str_opt(body, "targetDirectory", request->target_directory);
	json_add_bool(body, "drain", request->drain);
	return post(rest, request, "stop", body, timeout_ms, err);
}

enum flink_answer flink_rest_checkpoint(const struct flink_rest *rest, const char *job_id,
					const char *trigger_id, bool full, int64_t timeout_ms,
					struct err *err)
{
	cleanup_json struct json *body = json_object();

	json_add_str(body, "checkpointType", full ? "FULL" : "CONFIGURED");
	return post_operation(rest, job_id, trigger_id, "checkpoints", body, timeout_ms, err);
}

static int read_failure(const struct json *cause, struct flink_operation *to, struct err *err)
{
	const char *class_name = NULL, *text = NULL;
	cleanup_trace struct trace trace = {0};

	if (json_opt_str(cause, "class", &class_name, err) < 0 ||
	    json_opt_str(cause, "stack-trace", &text, err) < 0)
		return err_wrap(err, "failure-cause");
	if (!text)
		text = class_name ? class_name : "Flink reports no reason";
	trace_parse(text, &trace);
	to->state = FLINK_OPERATION_FAILED;
	to->failure_class = xstrdup(trace.class_name ? trace.class_name : class_name);
	to->failure = trace_sentence(&trace);
	to->saved_location = trace_saved_path(text);
	to->job_unknown = trace_mentions(text, "FlinkJobNotFoundException");
	return 0;
}

/* What a completed one has left. */
enum operation_yield { YIELDS_NOTHING, YIELDS_LOCATION, YIELDS_CHECKPOINT };

static int read_yield(const struct json *operation, enum operation_yield yield,
		      struct flink_operation *to, struct err *err)
{
	const char *location;

	if (yield == YIELDS_CHECKPOINT)
		return json_need_i64(operation, "checkpointId", &to->checkpoint_id, err);
	if (yield == YIELDS_NOTHING)
		return 0;
	if (json_need_str(operation, "location", &location, err) < 0)
		return -1;
	to->location = xstrdup(location);
	return 0;
}

static int read_operation(const struct json *doc, enum operation_yield yield,
			  struct flink_operation *to, struct err *err)
{
	const char *cause_name = yield == YIELDS_CHECKPOINT ? "failureCause" : "failure-cause";
	const struct json *status, *operation = NULL, *cause;
	const char *id;
	int failed;

	if (json_need_object(doc, "status", &status, err) < 0 ||
	    json_need_str(status, "id", &id, err) < 0 ||
	    json_opt_object(doc, "operation", &operation, err) < 0)
		return -1;
	if (strcmp(id, "IN_PROGRESS") == 0) {
		to->state = FLINK_OPERATION_IN_PROGRESS;
		return 0;
	}
	if (strcmp(id, "COMPLETED") != 0)
		return err_set(err, ERR_FORMAT, 0, "operation status '%.40s'", id);
	failed = json_opt_object(operation, cause_name, &cause, err);
	if (failed < 0)
		return -1;
	if (failed)
		return read_failure(cause, to, err);
	to->state = FLINK_OPERATION_COMPLETED;
	if (read_yield(operation, yield, to, err) < 0)
		return err_wrap(err, "operation");
	return 0;
}

static enum flink_answer get_operation(const struct flink_rest *rest, const char *path,
				       enum operation_yield yield, int64_t timeout_ms,
				       struct flink_operation *ret_operation, struct err *err)
{
	cleanup_json struct json *doc = NULL;
	struct flink_operation operation = {0};
	enum flink_answer answer = rest_get(rest, timeout_ms, &doc, err, "%s", path);

	if (answer != FLINK_OK)
		return answer;
	if (read_operation(doc, yield, &operation, err) < 0) {
		flink_operation_release(&operation);
		return rest_unexpected(path, err);
	}
	*ret_operation = operation;
	return FLINK_OK;
}

/* GET /jobs/<job id>/<kind>/<trigger id>. */
static enum flink_answer get_of_job(const struct flink_rest *rest, const char *job_id,
				    const char *kind, const char *trigger_id,
				    enum operation_yield yield, int64_t timeout_ms,
				    struct flink_operation *ret_operation, struct err *err)
{
	cleanup_free char *path = NULL;

	if (rest_check_id("job", job_id, err) != FLINK_OK ||
	    rest_check_id("trigger", trigger_id, err) != FLINK_OK)
		return FLINK_ERROR;
	path = xasprintf("/jobs/%s/%s/%s", job_id, kind, trigger_id);
	return get_operation(rest, path, yield, timeout_ms, ret_operation, err);
}

enum flink_answer flink_rest_operation(const struct flink_rest *rest, const char *job_id,
				       const char *trigger_id, int64_t timeout_ms,
				       struct flink_operation *ret_operation, struct err *err)
{
	return get_of_job(rest, job_id, "savepoints", trigger_id, YIELDS_LOCATION, timeout_ms,
			  ret_operation, err);
}

enum flink_answer flink_rest_checkpoint_operation(const struct flink_rest *rest, const char *job_id,
						  const char *trigger_id, int64_t timeout_ms,
						  struct flink_operation *ret_operation,
						  struct err *err)
{
	return get_of_job(rest, job_id, "checkpoints", trigger_id, YIELDS_CHECKPOINT, timeout_ms,
			  ret_operation, err);
}

void flink_operation_release(struct flink_operation *operation)
{
	if (!operation)
		return;
	free(operation->location);
	free(operation->failure_class);
	free(operation->failure);
	free(operation->saved_location);
	*operation = (struct flink_operation){0};
}

enum flink_answer flink_rest_dispose(const struct flink_rest *rest, const char *path,
				     int64_t timeout_ms, char ret_trigger_id[FLINK_ID_CHARS + 1],
				     struct err *err)
{
	cleanup_json struct json *doc = NULL, *body = json_object();
	const char *id;
	enum flink_answer answer;

	json_add_str(body, "savepoint-path", path);
	answer = rest_call(rest,
			   &(struct rest_request){.method = "POST",
						  .path = "/savepoint-disposal",
						  .body = body,
						  .timeout_ms = timeout_ms},
			   &doc, err);
	if (answer != FLINK_OK)
		return answer;
	if (json_need_str(doc, "request-id", &id, err) < 0 || rest_need_id(id, err) < 0)
		return rest_unexpected("/savepoint-disposal", err);
	snprintf(ret_trigger_id, FLINK_ID_CHARS + 1, "%s", id);
	return FLINK_OK;
}

enum flink_answer flink_rest_disposal(const struct flink_rest *rest, const char *trigger_id,
				      int64_t timeout_ms, struct flink_operation *ret_operation,
				      struct err *err)
{
	cleanup_free char *path = NULL;

	if (rest_check_id("trigger", trigger_id, err) != FLINK_OK)
		return FLINK_ERROR;
	path = xasprintf("/savepoint-disposal/%s", trigger_id);
	return get_operation(rest, path, YIELDS_NOTHING, timeout_ms, ret_operation, err);
}
