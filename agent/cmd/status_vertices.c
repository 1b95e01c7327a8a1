#include "cmd/status_vertices.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/http_url.h"
#include "base/json.h"
#include "cmd/flink_ask.h"
#include "cmd/output.h"
#include "cmd/text.h"
#include "flink/vertices.h"

#define TIMEOUT_MS 5000

static void print_json(const struct cli *cli, const char *job_id,
		       const struct flink_vertices *vertices)
{
	cleanup_json struct json *doc = json_object();
	struct json *array;

	json_add_str(doc, "jobId", job_id);
	array = json_add_array(doc, "vertices");
	for (size_t i = 0; i < vertices->count; i++) {
		const struct flink_vertex *vertex = &vertices->list[i];
		struct json *to = json_add_object(array, NULL);

		json_add_str(to, "id", vertex->id);
		json_add_str(to, "name", vertex->name);
		json_add_str(to, "status", vertex->status);
		json_add_i64(to, "parallelism", vertex->parallelism);
		json_add_str(to, "backPressure", vertex->level);
		json_add_known(to, "backPressuredPercent", vertex->back_pressured, 0);
		json_add_known(to, "busyPercent", vertex->busy, 0);
		json_add_known(to, "pendingRecords", vertex->pending_records, 0);
		json_add_known(to, "alignmentMs", vertex->alignment_ms, 0);
	}
	output_document(cli, doc);
}

static void print_vertex(const struct flink_vertex *vertex, struct out out)
{
	char time[CLOCK_TEXT_BYTES];

	out_put(out, "%s", vertex->name);
	out_put(out, "\n    %" PRId64 " subtask%s, ", vertex->parallelism,
		vertex->parallelism == 1 ? "" : "s");
	out_put(out, "%s", vertex->status);
	if (vertex->level) {
		out_put(out, ", back-pressure %s", vertex->level);
	} else {
		out_put(out, ", back-pressure not known yet");
	}
	if (vertex->back_pressured >= 0)
		out_put(out, " (%" PRId64 " %%)", vertex->back_pressured);
	if (vertex->busy >= 0)
		out_put(out, ", busy %" PRId64 " %%", vertex->busy);
	if (vertex->pending_records >= 0)
		out_put(out, ", %" PRId64 " records pending", vertex->pending_records);
	if (vertex->alignment_ms >= 0)
		out_put(out, ", alignment %s", clock_human(vertex->alignment_ms, time));
	out_put(out, "\n");
}

int status_vertices(const struct client *client, bool json)
{
	const char *job_id = client->view.job_id;
	struct flink_vertices vertices = {0};
	cleanup_setup struct setup setup = {0};
	struct err err = {0};
	enum flink_answer answer;
	cleanup_buf struct buf told = BUF_INIT;

	if (flink_ask_open(client->cli, &setup, &err) < 0)
		return cli_fail(client->cli, CLI_FAILED, "%s", err.msg);
	if (!*job_id)
		err_set(&err, ERR_ABSENT, 0, "there has been no launch");
	answer = *job_id ? flink_rest_vertices(&setup.rest, job_id, TIMEOUT_MS, &vertices, &err)
			 : FLINK_ABSENT;
	http_url_tell_server(setup.rest.base_url, &told);
	if (answer != FLINK_OK)
		cli_fail(client->cli, CLI_FAILED, "cannot ask Flink at %s for its job: %s",
			 buf_str(&told), err.msg);
	if (answer != FLINK_OK)
		return CLI_FAILED;
	if (json)
		print_json(client->cli, job_id, &vertices);
	for (size_t i = 0; i < vertices.count && !json; i++)
		print_vertex(&vertices.list[i], client->cli->out);
	flink_vertices_release(&vertices);
	return CLI_OK;
}
