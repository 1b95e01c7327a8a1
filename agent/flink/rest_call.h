/*
 * rest_call - one exchange with Flink's REST API, classified. Private to this room.
 */
#ifndef DREY_FLINK_REST_CALL_H
#define DREY_FLINK_REST_CALL_H

#include "base/json.h"
#include "flink/rest.h"

struct rest_request {
	const char *method; /* NULL is GET */
	const char *path;   /* "/jobs" */
	struct json *body;  /* NULL: none; borrowed */
	int64_t timeout_ms;
};

/* Do it. FLINK_OK: a 2xx answer that is JSON; *ret_doc is the caller's, json_free(). */
enum flink_answer rest_call(const struct flink_rest *rest, const struct rest_request *request,
			    struct json **ret_doc, struct err *err);

/* A GET of a path formatted as by printf. */
enum flink_answer rest_get(const struct flink_rest *rest, int64_t timeout_ms, struct json **ret_doc,
			   struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* The same of "/jobs/<job id>" and what is below it, for an id that rest_check_id() accepts. */
enum flink_answer rest_get_job(const struct flink_rest *rest, const char *job_id,
			       int64_t timeout_ms, struct json **ret_doc, struct err *err,
			       const char *below);

/* Is the caller's id safe in a path? FLINK_ERROR with ERR_CONFIG if not. */
enum flink_answer rest_check_id(const char *what, const char *id, struct err *err);

/* Is the id from Flink valid? -1 with ERR_FORMAT if not. */
int rest_need_id(const char *id, struct err *err);

/* The answer was not what is documented: FLINK_ERROR, *err wrapped with the path. */
enum flink_answer rest_unexpected(const char *what, struct err *err);

#endif
