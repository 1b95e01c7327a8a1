#include "flink/vertices.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/percent.h"
#include "flink/rest_call.h"

#define PENDING   ".pendingRecords"
#define ALIGNMENT "checkpointAlignmentTime"

struct inquiry {
	const struct flink_rest *rest;
	const char *job_id;
	int64_t timeout_ms;
};

/* Flink's numbers have fractions; what is none, or not finite, is not known. */
static int64_t whole(const struct json *node, double factor)
{
	const char *text = json_number(node);
	double value = text ? strtod(text, NULL) * factor : -1;

	return value >= 0 && value < 9e18 ? (int64_t)(value + 0.5) : -1;
}

static void ask_back_pressure(const struct inquiry *in, struct flink_vertex *to)
{
	cleanup_json struct json *doc = NULL;
	const struct json *each;
	const char *status;
	struct err err = {0};

	if (rest_get(in->rest, in->timeout_ms, &doc, &err, "/jobs/%s/vertices/%s/backpressure",
		     in->job_id, to->id) != FLINK_OK)
		return;
	status = json_str(doc, "status");
	if (!status || strcmp(status, "ok") != 0) /* "deprecated": it begins to sample now */
		return;
	to->level =
		xstrdup(json_str(doc, "backpressureLevel") ? json_str(doc, "backpressureLevel")
							   : json_str(doc, "backpressure-level"));
	json_each (each, json_get(doc, "subtasks")) {
		int64_t held = whole(json_get(each, "ratio"), 100);
		int64_t busy = whole(json_get(each, "busyRatio"), 100);

		to->back_pressured = held > to->back_pressured ? held : to->back_pressured;
		to->busy = busy > to->busy ? busy : to->busy;
	}
}

/* A metric of an operator has its name in front. */
static bool is_pending(const char *id)
{
	size_t len = strlen(id), end = strlen(PENDING);

	return len > end && strcmp(id + len - end, PENDING) == 0;
}

/* Which metrics of the vertex are there? As the parameter `get`. */
static void list_metrics(const struct inquiry *in, const struct flink_vertex *of, struct buf *ret)
{
	cleanup_json struct json *doc = NULL;
	const struct json *each;
	struct err err = {0};

	if (rest_get(in->rest, in->timeout_ms, &doc, &err, "/jobs/%s/vertices/%s/subtasks/metrics",
		     in->job_id, of->id) != FLINK_OK)
		return;
	json_each (each, doc) {
		const char *id = json_str(each, "id");

		if (!id || (!is_pending(id) && strcmp(id, ALIGNMENT) != 0))
			continue;
		if (ret->len_bytes)
			buf_addch(ret, ',');
		percent_encode(ret, id, false);
	}
}

static void ask_metrics(const struct inquiry *in, struct flink_vertex *to)
{
	cleanup_json struct json *doc = NULL;
	cleanup_buf struct buf names = BUF_INIT;
	const struct json *each;
	struct err err = {0};

	list_metrics(in, to, &names);
	if (!names.len_bytes || rest_get(in->rest, in->timeout_ms, &doc, &err,
					 "/jobs/%s/vertices/%s/subtasks/metrics?get=%s", in->job_id,
					 to->id, buf_str(&names)) != FLINK_OK)
		return;
	json_each (each, doc) {
		const char *id = json_str(each, "id");
		int64_t sum = whole(json_get(each, "sum"), 1);

		if (id && strcmp(id, ALIGNMENT) == 0)
			to->alignment_ms = whole(json_get(each, "max"), 1e-6);
		else if (id && is_pending(id) && sum >= 0)
			to->pending_records =
				(to->pending_records > 0 ? to->pending_records : 0) + sum;
	}
}

static int read_vertex(const struct json *node, struct flink_vertex *to, struct err *err)
{
	const char *id, *name, *status;

	*to = (struct flink_vertex){
		.back_pressured = -1, .busy = -1, .pending_records = -1, .alignment_ms = -1};
	if (json_need_str(node, "id", &id, err) < 0 || rest_need_id(id, err) < 0 ||
	    json_need_str(node, "name", &name, err) < 0 ||
	    json_need_str(node, "status", &status, err) < 0 ||
	    json_need_i64(node, "parallelism", &to->parallelism, err) < 0)
		return -1;
	to->id = xstrdup(id);
	to->name = xstrdup(name);
	to->status = xstrdup(status);
	return 0;
}

static int read_graph(const struct json *doc, struct flink_vertices *to, struct err *err)
{
	const struct json *array, *each;

	if (json_need_array(doc, "vertices", &array, err) < 0)
		return -1;
	to->list = xcalloc(json_len(array) + 1, sizeof(*to->list));
	json_each (each, array) {
		if (read_vertex(each, &to->list[to->count], err) < 0)
			return -1;
		to->count++;
	}
	return 0;
}

enum flink_answer flink_rest_vertices(const struct flink_rest *rest, const char *job_id,
				      int64_t timeout_ms, struct flink_vertices *ret_vertices,
				      struct err *err)
{
	struct inquiry in = {rest, job_id, timeout_ms};
	struct flink_vertices vertices = {0};
	cleanup_json struct json *doc = NULL;
	enum flink_answer answer;

	answer = rest_get_job(rest, job_id, timeout_ms, &doc, err, "");
	if (answer != FLINK_OK)
		return answer;
	if (read_graph(doc, &vertices, err) < 0) {
		flink_vertices_release(&vertices);
		return rest_unexpected("/jobs/:id", err);
	}
	for (size_t i = 0; i < vertices.count; i++) {
		ask_back_pressure(&in, &vertices.list[i]);
		ask_metrics(&in, &vertices.list[i]);
	}
	*ret_vertices = vertices;
	return FLINK_OK;
}

void flink_vertices_release(struct flink_vertices *vertices)
{
	for (size_t i = 0; i < vertices->count; i++) {
		struct flink_vertex *vertex = &vertices->list[i];

		free(vertex->id);
		free(vertex->name);
		free(vertex->status);
		free(vertex->level);
	}
	free(vertices->list);
	*vertices = (struct flink_vertices){0};
}
