#include "flink/rest.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/words.h"
#include "flink/rest_call.h"
#include "flink/trace.h"

static const char *const state_names[] = {
	[FLINK_JOB_OTHER] = "OTHER",           [FLINK_JOB_INITIALIZING] = "INITIALIZING",
	[FLINK_JOB_CREATED] = "CREATED",       [FLINK_JOB_RUNNING] = "RUNNING",
	[FLINK_JOB_FAILING] = "FAILING",       [FLINK_JOB_FAILED] = "FAILED",
	[FLINK_JOB_CANCELLING] = "CANCELLING", [FLINK_JOB_CANCELED] = "CANCELED",
	[FLINK_JOB_FINISHED] = "FINISHED",     [FLINK_JOB_RESTARTING] = "RESTARTING",
	[FLINK_JOB_SUSPENDED] = "SUSPENDED",   [FLINK_JOB_RECONCILING] = "RECONCILING",
};

WORDS_OF(state_names, flink_job_state_name, enum flink_job_state, "OTHER");

enum flink_job_state flink_job_state_parse(const char *name)
{
	for (size_t i = 1; i < ARRAY_LEN(state_names); i++)
		if (strcmp(state_names[i], name) == 0)
			return (enum flink_job_state)i;
	return FLINK_JOB_OTHER;
}

static bool is_terminal(enum flink_job_state state)
{
	return state == FLINK_JOB_FINISHED || state == FLINK_JOB_CANCELED ||
	       state == FLINK_JOB_FAILED;
}

/* ---- jobs ---- */

static int read_job(const struct json *node, struct flink_job *job, struct err *err)
{
	const char *id, *status;

	if (json_need_str(node, "id", &id, err) < 0 ||
	    json_need_str(node, "status", &status, err) < 0 || rest_need_id(id, err) < 0)
		return -1;
	snprintf(job->id, sizeof(job->id), "%s", id);
	job->state = flink_job_state_parse(status);
	return 0;
}

enum flink_answer flink_rest_jobs(const struct flink_rest *rest, int64_t timeout_ms,
				  struct flink_jobs *ret_jobs, struct err *err)
{
	cleanup_json struct json *doc = NULL;
	struct flink_jobs jobs = {0};
	const struct json *list, *node;
	enum flink_answer answer;

	answer = rest_get(rest, timeout_ms, &doc, err, "/jobs");
	if (answer != FLINK_OK)
		return answer;
	if (json_need_array(doc, "jobs", &list, err) < 0)
		return rest_unexpected("/jobs", err);
	jobs.jobs = xcalloc(json_len(list) + 1, sizeof(*jobs.jobs));
	json_each (node, list) {
		if (read_job(node, &jobs.jobs[jobs.count], err) < 0) {
			flink_jobs_release(&jobs);
			return rest_unexpected("/jobs", err);
		}
		jobs.count++;
	}
	*ret_jobs = jobs;
	return FLINK_OK;
}

void flink_jobs_release(struct flink_jobs *jobs)
{
	if (!jobs)
		return;
	free(jobs->jobs);
	*jobs = (struct flink_jobs){0};
}

/* The job is not in a list of `count` jobs. */
static enum flink_answer not_listed(const char *job_id, size_t count, struct err *err)
{
	if (count == 0) {
		err_set(err, ERR_RETRY, 0, "Flink has no job yet");
		return FLINK_NOT_YET;
	}
	err_set(err, ERR_ABSENT, 0, "no job %s, but %zu other%s", job_id, count,
		count == 1 ? " is" : "s are");
	return FLINK_ABSENT;
}

static enum flink_answer flink_jobs_state(const struct flink_jobs *jobs, const char *job_id,
					  enum flink_job_state *ret_state, struct err *err)
{
	for (size_t i = 0; i < jobs->count; i++) {
		if (strcmp(jobs->jobs[i].id, job_id) != 0)
			continue;
		*ret_state = jobs->jobs[i].state;
		return FLINK_OK;
	}
	return not_listed(job_id, jobs->count, err);
}

const struct flink_job *flink_jobs_other(const struct flink_jobs *jobs, const char *job_id)
{
	for (size_t i = 0; i < jobs->count; i++)
		if (strcmp(jobs->jobs[i].id, job_id) != 0 && !is_terminal(jobs->jobs[i].state) &&
		    jobs->jobs[i].state != FLINK_JOB_SUSPENDED)
			return &jobs->jobs[i];
	return NULL;
}

enum flink_answer flink_rest_job_state(const struct flink_rest *rest, const char *job_id,
				       int64_t timeout_ms, enum flink_job_state *ret_state,
				       struct err *err)
{
	struct flink_jobs jobs = {0};
	enum flink_answer answer;

	answer = flink_rest_jobs(rest, timeout_ms, &jobs, err);
	if (answer != FLINK_OK)
		return answer;
	answer = flink_jobs_state(&jobs, job_id, ret_state, err);
	flink_jobs_release(&jobs);
	return answer;
}

#define TASKS_MAX 1000000 /* anything larger is not a number of tasks */

static int count_in(const struct json *tasks, const char *key)
{
	int64_t count = json_i64_or(tasks, key, 0);

	return count < 0 ? 0 : count > TASKS_MAX ? TASKS_MAX : (int)count;
}

static int read_overview(const struct json *node, struct flink_job_overview *ret, struct err *err)
{
	struct flink_job_overview overview = {0};
	const char *name, *state;
	const struct json *tasks;
	int64_t total, running, finished;

	if (json_need_str(node, "name", &name, err) < 0 ||
	    json_need_str(node, "state", &state, err) < 0 ||
	    json_need_i64(node, "start-time", &overview.start_unix_ms, err) < 0 ||
	    json_need_i64(node, "end-time", &overview.end_unix_ms, err) < 0 ||
	    json_need_object(node, "tasks", &tasks, err) < 0 ||
	    json_need_i64(tasks, "total", &total, err) < 0 ||
	    json_need_i64(tasks, "running", &running, err) < 0 ||
	    json_need_i64(tasks, "finished", &finished, err) < 0)
		return -1;
	overview.state = flink_job_state_parse(state);
	overview.name = xstrdup(name);
	overview.tasks_total = count_in(tasks, "total");
	overview.tasks_running = count_in(tasks, "running");
	overview.tasks_finished = count_in(tasks, "finished");
	overview.tasks_coming = count_in(tasks, "deploying") + count_in(tasks, "initializing");
	*ret = overview;
	return 0;
}

static int read_listed(const struct json *list, struct flink_jobs *jobs, struct err *err)
{
	const struct json *node;

	jobs->jobs = xcalloc(json_len(list) + 1, sizeof(*jobs->jobs));
	json_each (node, list) {
		struct flink_job *job = &jobs->jobs[jobs->count++];
		const char *id, *state;

		if (json_need_str(node, "jid", &id, err) < 0 ||
		    json_need_str(node, "state", &state, err) < 0 || rest_need_id(id, err) < 0)
			return -1;
		snprintf(job->id, sizeof(job->id), "%s", id);
		job->state = flink_job_state_parse(state);
	}
	return 0;
}

/* Of the listed jobs: ours, and whether another one may be running. */
static enum flink_answer find_job(const struct json *list, const char *job_id,
				  struct flink_job_overview *ret_overview,
				  char ret_other[FLINK_ID_CHARS + 1], struct err *err)
{
	const struct flink_job *other;
	struct flink_jobs jobs = {0};
	const struct json *node, *ours = NULL;

	if (read_listed(list, &jobs, err) < 0) {
		flink_jobs_release(&jobs);
		return rest_unexpected("/jobs/overview", err);
	}
	other = flink_jobs_other(&jobs, job_id);
	if (ret_other)
		snprintf(ret_other, FLINK_ID_CHARS + 1, "%s", other ? other->id : "");
	flink_jobs_release(&jobs);
	json_each (node, list)
		if (!strcmp(json_str(node, "jid"), job_id))
			ours = node;
	if (!ours)
		return not_listed(job_id, json_len(list), err);
	return read_overview(ours, ret_overview, err) < 0 ? rest_unexpected("/jobs/overview", err)
							  : FLINK_OK;
}

enum flink_answer flink_rest_job_overview(const struct flink_rest *rest, const char *job_id,
					  int64_t timeout_ms,
					  struct flink_job_overview *ret_overview,
					  char ret_other[FLINK_ID_CHARS + 1], struct err *err)
{
	cleanup_json struct json *doc = NULL;
	const struct json *list;
	enum flink_answer answer;

	answer = rest_get(rest, timeout_ms, &doc, err, "/jobs/overview");
	if (answer != FLINK_OK)
		return answer;
	if (json_need_array(doc, "jobs", &list, err) < 0)
		return rest_unexpected("/jobs/overview", err);
	return find_job(list, job_id, ret_overview, ret_other, err);
}

void flink_job_overview_release(struct flink_job_overview *overview)
{
	if (!overview)
		return;
	free(overview->name);
	*overview = (struct flink_job_overview){0};
}

/* ---- failures ---- */

static void fill_exception(struct flink_exception *exception, const char *text, int64_t unix_ms,
			   const char *task)
{
	struct trace trace;

	trace_parse(text, &trace);
	*exception = (struct flink_exception){
		.present = true,
		.unix_ms = unix_ms,
		.class_name = xstrdup(trace.class_name),
		.message = xstrdup(trace.message),
		.sentence = trace_sentence(&trace),
		.trace = trace_shorten(text),
		.task = xstrdup(task),
	};
	trace_release(&trace);
}

/* The newest entry of the history. */
static enum flink_answer read_exception(const char *what, const struct json *doc,
					struct flink_exception *ret_exception, struct err *err)
{
	const struct json *history, *entries, *node, *newest = NULL;
	const char *text = NULL;
	int64_t unix_ms = 0;

	if (json_need_object(doc, "exceptionHistory", &history, err) < 0 ||
	    json_need_array(history, "entries", &entries, err) < 0)
		return rest_unexpected(what, err);
	json_each (node, entries) {
		if (!newest || json_i64_or(node, "timestamp", 0) > unix_ms) {
			newest = node;
			unix_ms = json_i64_or(node, "timestamp", 0);
		}
	}
	if (newest) {
		if (json_need_str(newest, "stacktrace", &text, err) < 0)
			return rest_unexpected(what, err);
		fill_exception(ret_exception, text, unix_ms, json_str(newest, "taskName"));
	} else if ((text = json_str(doc, "root-exception"))) { /* up to 1.20, before any task ran */
		fill_exception(ret_exception, text, json_i64_or(doc, "timestamp", 0), NULL);
	} else {
		*ret_exception = (struct flink_exception){0};
	}
	return FLINK_OK;
}

enum flink_answer flink_rest_exception(const struct flink_rest *rest, const char *job_id,
				       int64_t timeout_ms, struct flink_exception *ret_exception,
				       struct err *err)
{
	cleanup_json struct json *doc = NULL;
	enum flink_answer answer;

	answer = rest_get_job(rest, job_id, timeout_ms, &doc, err, "/exceptions?maxExceptions=1");
	return answer == FLINK_OK ? read_exception("/jobs/:id/exceptions", doc, ret_exception, err)
				  : answer;
}

/* ---- the application ---- */

static enum flink_answer get_application(const struct flink_rest *rest, const char *application_id,
					 const char *more, int64_t timeout_ms,
					 struct json **ret_doc, struct err *err)
{
	if (rest_check_id("application", application_id, err) != FLINK_OK)
		return FLINK_ERROR;
	return rest_get(rest, timeout_ms, ret_doc, err, "/applications/%s%s", application_id, more);
}

enum flink_answer flink_rest_application(const struct flink_rest *rest, const char *application_id,
					 int64_t timeout_ms,
					 enum flink_application *ret_application, struct err *err)
{
	cleanup_json struct json *doc = NULL;
	const char *status;
	enum flink_answer answer;

	answer = get_application(rest, application_id, "", timeout_ms, &doc, err);
	if (answer != FLINK_OK)
		return answer;
	if (json_need_str(doc, "status", &status, err) < 0)
		return rest_unexpected("/applications/:id", err);
	*ret_application = !strcmp(status, "FAILING")  ? FLINK_APPLICATION_FAILING
			   : !strcmp(status, "FAILED") ? FLINK_APPLICATION_FAILED
						       : FLINK_APPLICATION_OTHER;
	return FLINK_OK;
}

enum flink_answer flink_rest_application_exception(const struct flink_rest *rest,
						   const char *application_id, int64_t timeout_ms,
						   struct flink_exception *ret_exception,
						   struct err *err)
{
	cleanup_json struct json *doc = NULL;
	enum flink_answer answer;

	answer = get_application(rest, application_id, "/exceptions", timeout_ms, &doc, err);
	return answer == FLINK_OK
		       ? read_exception("/applications/:id/exceptions", doc, ret_exception, err)
		       : answer;
}

void flink_exception_release(struct flink_exception *exception)
{
	if (!exception)
		return;
	free(exception->class_name);
	free(exception->message);
	free(exception->sentence);
	free(exception->trace);
	free(exception->task);
	*exception = (struct flink_exception){0};
}

/* -1: there is no such metric; -2: it is no number. */
static int64_t counter(const struct json *doc, const char *name, struct err *err)
{
	const struct json *node;

	json_each (node, doc) {
		const char *id = json_str(node, "id"), *value = json_str(node, "value");
		long long count;
		char *end;

		if (!id || strcmp(id, name) != 0 || !value)
			continue;
		count = strtoll(value, &end, 10);
		if (end != value && !*end && count >= 0)
			return count;
		err_set(err, ERR_FORMAT, 0, "%s is '%.40s'", name, value);
		return -2;
	}
	return -1;
}

enum flink_answer flink_rest_restarts(const struct flink_rest *rest, const char *job_id,
				      int64_t timeout_ms, int64_t *ret_restarts,
				      int64_t *ret_rescales, struct err *err)
{
	cleanup_json struct json *doc = NULL;
	int64_t restarts, rescales;
	enum flink_answer answer;

	answer = rest_get_job(rest, job_id, timeout_ms, &doc, err,
			      "/metrics?get=numRestarts,numRescales");
	if (answer != FLINK_OK)
		return answer;
	if (json_kind(doc) != JSON_ARRAY) {
		err_set(err, ERR_FORMAT, 0, "%s instead of an array",
			json_kind_name(json_kind(doc)));
		return rest_unexpected("/jobs/:id/metrics", err);
	}
	restarts = counter(doc, "numRestarts", err);
	rescales = restarts >= -1 ? counter(doc, "numRescales", err) : -2;
	if (restarts < -1 || rescales < -1)
		return rest_unexpected("/jobs/:id/metrics", err);
	if (restarts < 0) {
		err_set(err, ERR_RETRY, 0, "the job has no metric numRestarts yet");
		return FLINK_NOT_YET;
	}
	*ret_restarts = rescales < 0 ? restarts : restarts > rescales ? restarts - rescales : 0;
	*ret_rescales = rescales;
	return FLINK_OK;
}

/* ---- cluster ---- */

void flink_rest_url(const char *address, int port, bool tls, char ret_url[FLINK_REST_URL_BYTES])
{
	bool v6 = strchr(address, ':');

	snprintf(ret_url, FLINK_REST_URL_BYTES, "http%s://%s%s%s:%d", tls ? "s" : "", v6 ? "[" : "",
		 address, v6 ? "]" : "", port);
}

enum flink_answer flink_rest_slots(const struct flink_rest *rest, int64_t timeout_ms,
				   struct flink_slots *ret_slots, struct err *err)
{
	cleanup_json struct json *doc = NULL;
	int64_t managers, total, available;
	enum flink_answer answer;

	answer = rest_get(rest, timeout_ms, &doc, err, "/overview");
	if (answer != FLINK_OK)
		return answer;
	if (json_need_i64(doc, "taskmanagers", &managers, err) < 0 ||
	    json_need_i64(doc, "slots-total", &total, err) < 0 ||
	    json_need_i64(doc, "slots-available", &available, err) < 0)
		return rest_unexpected("/overview", err);
	*ret_slots = (struct flink_slots){(int)managers, (int)total, (int)available};
	return FLINK_OK;
}

void flink_task_managers_release(struct flink_task_managers *managers)
{
	for (size_t i = 0; i < managers->count; i++)
		free(managers->ids[i]);
	free(managers->ids);
	*managers = (struct flink_task_managers){0};
}

enum flink_answer flink_rest_task_managers(const struct flink_rest *rest, int64_t timeout_ms,
					   struct flink_task_managers *ret_managers,
					   struct err *err)
{
	struct flink_task_managers managers = {0};
	const struct json *array, *element;
	cleanup_json struct json *doc = NULL;
	enum flink_answer answer;

	answer = rest_get(rest, timeout_ms, &doc, err, "/taskmanagers");
	if (answer != FLINK_OK)
		return answer;
	if (json_need_array(doc, "taskmanagers", &array, err) < 0)
		return rest_unexpected("/taskmanagers", err);
	json_each (element, array) {
		const char *id;

		if (json_need_str(element, "id", &id, err) < 0) {
			flink_task_managers_release(&managers);
			return rest_unexpected("/taskmanagers", err);
		}
		managers.ids =
			xreallocarray(managers.ids, managers.count + 1, sizeof(*managers.ids));
		managers.ids[managers.count++] = xstrdup(id);
	}
	*ret_managers = managers;
	return FLINK_OK;
}

enum flink_answer flink_rest_cancel(const struct flink_rest *rest, const char *job_id,
				    int64_t timeout_ms, bool *ret_ended, struct err *err)
{
	cleanup_json struct json *doc = NULL;
	cleanup_free char *path = NULL;
	struct err local = {0};
	enum flink_answer answer;

	err = err ? err : &local;
	if (rest_check_id("job", job_id, err) != FLINK_OK)
		return FLINK_ERROR;
	path = xasprintf("/jobs/%s?mode=cancel", job_id);
	answer = rest_call(
		rest,
		&(struct rest_request){.method = "PATCH", .path = path, .timeout_ms = timeout_ms},
		&doc, err);
	if (answer == FLINK_ERROR && err->kind == ERR_BUSY) {
		*ret_ended = true;
		return FLINK_OK;
	}
	if (answer == FLINK_OK)
		*ret_ended = false;
	return answer;
}
