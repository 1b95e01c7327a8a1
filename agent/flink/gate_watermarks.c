#include "flink/gate_watermarks.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/percent.h"
#include "flink/rest_call.h"

#define WATERMARK   "currentInputWatermark"
#define AT_A_TIME   50 /* subtasks of one request: its line must not be too long */
#define MOST_WIDTH  32768
#define NAME_LENGTH 80 /* Flink cuts the name of an operator in its metrics */

struct inquiry {
	const struct flink_rest *rest;
	const char *job_id;
	int64_t timeout_ms;
	char *metric; /* the name, as it is in ids of metrics */
};

/* As MetricQueryService of Flink. */
static char *name_in_metrics(const char *name)
{
	char *metric = xasprintf("%.*s", NAME_LENGTH, name);

	for (char *at = metric; *at; at++)
		if (strchr(" .:,", *at))
			*at = '_';
	return metric;
}

/* ---- the subtasks ---- */

static int read_subtasks(const struct json *doc, struct flink_gate *gate, int *ret_width,
			 struct err *err)
{
	const struct json *array, *each;
	const char *status;
	int64_t start;

	if (json_need_array(doc, "subtasks", &array, err) < 0)
		return -1;
	if (!json_len(array) || json_len(array) > MOST_WIDTH)
		return err_set(err, ERR_FORMAT, 0, "'subtasks' has %zu members", json_len(array));
	json_each (each, array) {
		if (json_need_str(each, "status", &status, err) < 0 ||
		    json_need_i64(each, "start-time", &start, err) < 0)
			return -1;
		gate->running += strcmp(status, "RUNNING") == 0;
		if (start > gate->start_unix_ms)
			gate->start_unix_ms = start;
	}
	*ret_width = (int)json_len(array);
	return 0;
}

/* ---- the metrics ---- */

static void ask_for(struct buf *query, int subtask, const char *operator, const char * metric)
{
	cleanup_free char *id = xasprintf("%d.%s.%s", subtask, operator, metric);

	if (query->len_bytes)
		buf_addch(query, ',');
	percent_encode(query, id, false);
}

/* "3.gate.currentInputWatermark": the number, if the rest is this. -1: it is another one. */
static int subtask_of(const char *id, const char *operator, const char * metric)
{
	cleanup_free char *rest = xasprintf(".%s.%s", operator, metric);
	char *end;
	long subtask = id[0] >= '0' && id[0] <= '9' ? strtol(id, &end, 10) : -1;

	return subtask >= 0 && subtask < MOST_WIDTH && !strcmp(end, rest) ? (int)subtask : -1;
}

/* The one that Flink has before the first watermark is none. */
static int64_t watermark_of(const char *text)
{
	char *end;
	long long value = strtoll(text, &end, 10);

	return *text && !*end && value >= 0 ? value : FLINK_NO_WATERMARK;
}

static void take_metric(const struct inquiry *in, const struct json *each, int64_t *watermarks,
			int width, struct flink_gate *gate)
{
	const char *id = json_str(each, "id"), *value = json_str(each, "value");
	int subtask;

	if (!id || !value)
		return;
	subtask = subtask_of(id, in->metric, WATERMARK);
	if (subtask >= 0 && subtask < width)
		watermarks[subtask] = watermark_of(value);
	if (subtask_of(id, in->metric, FLINK_GATE_GAUGE) < 0)
		return;
	gate->gauges++;
	gate->gauges_over += strcmp(value, "1") == 0;
}

static enum flink_answer ask_metrics(const struct inquiry *in, const char *vertex,
				     int64_t *watermarks, int width, struct flink_gate *gate,
				     struct err *err)
{
	for (int from = 0; from < width; from += AT_A_TIME) {
		cleanup_json struct json *doc = NULL;
		cleanup_buf struct buf query = BUF_INIT;
		const struct json *each;
		enum flink_answer answer;

		for (int i = from; i < width && i < from + AT_A_TIME; i++) {
			ask_for(&query, i, in->metric, WATERMARK);
			ask_for(&query, i, in->metric, FLINK_GATE_GAUGE);
		}
		answer = rest_get(in->rest, in->timeout_ms, &doc, err,
				  "/jobs/%s/vertices/%s/metrics?get=%s", in->job_id, vertex,
				  buf_str(&query));
		if (answer != FLINK_OK)
			return answer;
		json_each (each, doc)
			take_metric(in, each, watermarks, width, gate);
	}
	return FLINK_OK;
}

static enum flink_answer ask_vertex(const struct inquiry *in, const char *vertex,
				    struct flink_gate *gate, struct err *err)
{
	cleanup_json struct json *doc = NULL;
	enum flink_answer answer = rest_get(in->rest, in->timeout_ms, &doc, err,
					    "/jobs/%s/vertices/%s", in->job_id, vertex);
	int before = gate->subtasks, width;

	if (answer != FLINK_OK)
		return answer;
	if (read_subtasks(doc, gate, &width, err) < 0)
		return rest_unexpected("/jobs/:id/vertices/:id", err);
	gate->subtasks += width;
	gate->watermarks =
		xreallocarray(gate->watermarks, (size_t)gate->subtasks, sizeof(*gate->watermarks));
	for (int i = before; i < gate->subtasks; i++)
		gate->watermarks[i] = FLINK_NO_WATERMARK;
	return ask_metrics(in, vertex, gate->watermarks + before, width, gate, err);
}

static enum flink_answer ask_vertices(const struct inquiry *in, const struct json *doc,
				      const char *name, struct flink_gate *gate, struct err *err)
{
	const struct json *array, *each;
	const char *id, *chain;

	if (json_need_array(doc, "vertices", &array, err) < 0)
		return rest_unexpected("/jobs/:id", err);
	json_each (each, array) {
		enum flink_answer answer;

		if (json_need_str(each, "id", &id, err) < 0 || rest_need_id(id, err) < 0 ||
		    json_need_str(each, "name", &chain, err) < 0)
			return rest_unexpected("/jobs/:id", err);
		if (!strstr(chain, name))
			continue;
		answer = ask_vertex(in, id, gate, err);
		if (answer != FLINK_OK)
			return answer;
	}
	return FLINK_OK;
}

enum flink_answer flink_rest_gate(const struct flink_rest *rest, const char *job_id,
				  const char *name, int64_t timeout_ms, struct flink_gate *ret_gate,
				  struct err *err)
{
	struct inquiry in = {.rest = rest, .job_id = job_id, .timeout_ms = timeout_ms};
	cleanup_json struct json *doc = NULL;
	struct flink_gate gate = {0};
	enum flink_answer answer;

	answer = rest_get_job(rest, job_id, timeout_ms, &doc, err, "");
	if (answer != FLINK_OK)
		return answer;
	in.metric = name_in_metrics(name);
	answer = ask_vertices(&in, doc, name, &gate, err);
	free(in.metric);
	if (answer == FLINK_OK)
		*ret_gate = gate;
	else
		flink_gate_release(&gate);
	return answer;
}

void flink_gate_release(struct flink_gate *gate)
{
	free(gate->watermarks);
	*gate = (struct flink_gate){0};
}
