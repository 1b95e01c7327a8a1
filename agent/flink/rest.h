/*
 * rest - what a running JobManager reports about itself and its job.
 *
 * Every call is one HTTP exchange with the caller's time limit; it blocks for at most that long, so
 * it runs on a worker thread, never on the main loop. One thread at a time may use a struct
 * flink_rest. Results are structs that own their strings; unknown JSON fields are ignored; a
 * missing or mistyped one that is required is an error.
 *
 * Each call returns an enum flink_answer, and sets *err for everything but FLINK_OK:
 *
 *   FLINK_OK       0
 *   FLINK_NOT_YET  Flink is starting, has no leader, or is still creating the job: retry.
 *                  Connection refused, 503 while a leader is elected, 500 "initializing job", no
 *                  job at all in the list. The caller sets a limit: "no job" can also be permanent.
 *   FLINK_ABSENT   said by Flink in one of its own sentences, about what was asked: no such job, no such trigger. Never
 *                  a page, never another text in its format. ERR_ABSENT
 *   FLINK_ERROR    everything else; err->msg has the first line of Flink's message, err->kind is
 *                  ERR_RETRY (timeout, 408, 5xx), ERR_DENIED (401, 403), ERR_CONFIG (400, or this
 *                  Flink has no such request), ERR_BUSY (409), ERR_FORMAT (not Flink's JSON: HTML, truncated, too large, wrong
 *                  types; or a 404 in other words)
 *
 * ret_* parameters are touched only with FLINK_OK.
 * Source: Flink REST API v1, 1.15 to 2.3, and recorded answers of 1.20.5, 2.1.3 and 2.3.0
 * (tests/fixtures/rest).
 */
#ifndef DREY_FLINK_REST_H
#define DREY_FLINK_REST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/http.h"
#include "flink/launch.h"
#include "flink/rest_tls.h"
#include "flink/version.h"

#define FLINK_REST_MAX_BYTES (8u << 20) /* of one answer; beyond it ERR_FORMAT */

struct flink_rest {
	const char *base_url;       /* "http://127.0.0.1:8081", no slash at the end; borrowed */
	struct http *http;          /* of rest_tls_http(); borrowed; keeps the connection */
	const struct rest_tls *tls; /* NULL: without TLS; borrowed */
};

/* The base URL of the API at this host name or IP address; https:// with TLS. */
#define FLINK_REST_URL_BYTES 300
void flink_rest_url(const char *address, int port, bool tls, char ret_url[FLINK_REST_URL_BYTES]);

enum flink_answer {
	FLINK_OK = 0,
	FLINK_NOT_YET,
	FLINK_ABSENT,
	FLINK_ERROR,
};

/* States of a job; the order means nothing. */
enum flink_job_state {
	FLINK_JOB_OTHER = 0, /* a word unknown to this drey */
	FLINK_JOB_INITIALIZING,
	FLINK_JOB_CREATED,
	FLINK_JOB_RUNNING,
	FLINK_JOB_FAILING,
	FLINK_JOB_FAILED, /* globally terminal */
	FLINK_JOB_CANCELLING,
	FLINK_JOB_CANCELED, /* globally terminal */
	FLINK_JOB_FINISHED, /* globally terminal */
	FLINK_JOB_RESTARTING,
	FLINK_JOB_SUSPENDED, /* ended here, may continue elsewhere */
	FLINK_JOB_RECONCILING,
};

const char *flink_job_state_name(enum flink_job_state state); /* "RUNNING"; OTHER: "OTHER" */
enum flink_job_state flink_job_state_parse(const char *name);

struct flink_job {
	char id[FLINK_ID_CHARS + 1];
	enum flink_job_state state;
};

struct flink_jobs {
	struct flink_job *jobs;
	size_t count;
};

/* GET /jobs: every job of the cluster; not cached by Flink. Empty is FLINK_OK here. */
enum flink_answer flink_rest_jobs(const struct flink_rest *rest, int64_t timeout_ms,
				  struct flink_jobs *ret_jobs, struct err *err);
void flink_jobs_release(struct flink_jobs *jobs);

/* One of the list that is not `job_id` and may run: not FINISHED, CANCELED, FAILED or
 * SUSPENDED. NULL: none. Borrowed. */
const struct flink_job *flink_jobs_other(const struct flink_jobs *jobs, const char *job_id);

/*
 * The state of one job, from GET /jobs: fresh, and one answer tells absent from early.
 * FLINK_NOT_YET: the list is empty (the first 0.5-3 s of every start; permanently when Flink
 * believes that the application is already done). FLINK_ABSENT: there are jobs, but not this one.
 */
enum flink_answer flink_rest_job_state(const struct flink_rest *rest, const char *job_id,
				       int64_t timeout_ms, enum flink_job_state *ret_state,
				       struct err *err);

/* One job as GET /jobs/overview has it: fresh, Flink does not cache it. */
struct flink_job_overview {
	enum flink_job_state state;
	char *name;
	int64_t start_unix_ms, end_unix_ms; /* end: -1 while it runs */
	/* all tasks run: total == running + finished > 0 */
	int tasks_total, tasks_running, tasks_finished;
	int tasks_coming; /* being deployed, or restoring their state */
};

/* Answers as flink_rest_job_state. ret_other (NULL is allowed; also set with FLINK_ABSENT): the id
 * of another job, as flink_jobs_other; "" = none. Release with flink_job_overview_release. */
enum flink_answer flink_rest_job_overview(const struct flink_rest *rest, const char *job_id,
					  int64_t timeout_ms,
					  struct flink_job_overview *ret_overview,
					  char ret_other[FLINK_ID_CHARS + 1], struct err *err);
void flink_job_overview_release(struct flink_job_overview *overview);

/* The last failure of the job: the newest entry of GET /jobs/:id/exceptions. */
struct flink_exception {
	bool present; /* false: no exception so far, all else NULL or 0 */
	int64_t unix_ms;
	char *class_name; /* full name of the exception */
	char *message;    /* its first line, may be NULL */
	char *sentence;   /* one line with the deepest cause, for status and events */
	char *trace;      /* shortened, see trace.h */
	char *task;       /* name of the task, or NULL: the job as a whole */
};

enum flink_answer flink_rest_exception(const struct flink_rest *rest, const char *job_id,
				       int64_t timeout_ms, struct flink_exception *ret_exception,
				       struct err *err);
void flink_exception_release(struct flink_exception *exception);

/*
 * GET /applications/:id (2.3 and later): main() and its jobs. When it fails, Flink first says FAILING, then cancels the jobs, and
 * then says FAILED: a job that it has cancelled is CANCELED before that. When a person cancels the job, it becomes CANCELING and
 * CANCELED after the job.
 */
enum flink_application {
	FLINK_APPLICATION_OTHER, /* RUNNING, CANCELED, ..., or a word unknown to this drey */
	FLINK_APPLICATION_FAILING,
	FLINK_APPLICATION_FAILED,
};

/* An application that Flink does not know is an error (with 500): nothing follows from it. */
enum flink_answer flink_rest_application(const struct flink_rest *rest, const char *application_id,
					 int64_t timeout_ms,
					 enum flink_application *ret_application, struct err *err);

/* GET /applications/:id/exceptions, as above; there is one once it is FAILED. */
enum flink_answer flink_rest_application_exception(const struct flink_rest *rest,
						   const char *application_id, int64_t timeout_ms,
						   struct flink_exception *ret_exception,
						   struct err *err);

/* How often Flink has restarted a job; it counts from 0 in every JobManager process. The metric
 * numRestarts has the restarts for another parallelism as well. *ret_rescales: how many those are
 * (numRescales, 2.x), which are left out here; -1 = Flink does not count them. */
enum flink_answer flink_rest_restarts(const struct flink_rest *rest, const char *job_id,
				      int64_t timeout_ms, int64_t *ret_restarts,
				      int64_t *ret_rescales, struct err *err);

/* GET /overview: TaskManagers and their slots. */
struct flink_slots {
	int task_managers, total, available;
};

enum flink_answer flink_rest_slots(const struct flink_rest *rest, int64_t timeout_ms,
				   struct flink_slots *ret_slots, struct err *err);

/* GET /taskmanagers: the resource ids of those that are registered. */
struct flink_task_managers {
	char **ids;
	size_t count;
};

enum flink_answer flink_rest_task_managers(const struct flink_rest *rest, int64_t timeout_ms,
					   struct flink_task_managers *ret_managers,
					   struct err *err);
void flink_task_managers_release(struct flink_task_managers *managers); /* zeroed is allowed */

/*
 * PATCH /jobs/:id?mode=cancel. FLINK_OK: accepted, the state becomes CANCELLING, then CANCELED;
 * also if it is already CANCELED. *ret_ended: it had already ended in another way (409), nothing
 * was done. After a timeout (ERR_RETRY) it may or may not have been accepted; repeating is safe.
 */
enum flink_answer flink_rest_cancel(const struct flink_rest *rest, const char *job_id,
				    int64_t timeout_ms, bool *ret_ended, struct err *err);

#endif
