#include "flink/vertices.h"

#include <string.h>

#include "base/mem.h"
#include "route_stub.h"
#include "tap.h"

#define JOB "00000000000000000000000000000a01"
#define V1  "b208341bb36ac690007de153f484a5ea"
#define V2  "337bfffa776b34e387c9d5d9c2907986"
#define OF  "GET /jobs/" JOB

#define GRAPH                                                                                      \
	"{\"vertices\":[{\"id\":\"" V1                                                             \
	"\",\"name\":\"Source: orders\",\"parallelism\":2,\"status\":\"RUNNING\"},{\"id\":\"" V2   \
	"\",\"name\":\"sink\",\"parallelism\":1,\"status\":\"RUNNING\"}]}"

static enum flink_answer ask(const struct route *routes, size_t count, struct flink_vertices *ret)
{
	static struct route_stub stub;
	struct err err = {0};
	char url[64];
	struct flink_rest rest = {.base_url = url, .http = http_new(NULL, &err)};
	enum flink_answer answer;

	memset(&stub, 0, sizeof(stub));
	route_start(&stub);
	route_set(&stub, routes, count);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", stub.port);
	answer = flink_rest_vertices(&rest, JOB, 5000, ret, &err);
	http_free(rest.http);
	route_stop(&stub);
	return answer;
}

TEST(each_vertex_has_the_numbers_of_its_worst_subtask)
{
	static const struct route routes[] = {
		{.what = OF "/vertices/" V1 "/backpressure",
		 .status = 200,
		 .body = "{\"status\":\"ok\",\"backpressureLevel\":\"high\",\"subtasks\":["
			 "{\"ratio\":0.934,\"busyRatio\":0.0},{\"ratio\":0.25,\"busyRatio\":0.011}]}"},
		{.what = OF
		 "/vertices/" V1
		 "/subtasks/metrics?get=Source__orders.pendingRecords,checkpointAlignmentTime",
		 .status = 200,
		 .body = "[{\"id\":\"Source__orders.pendingRecords\",\"min\":3.0,\"max\":9.0,\"avg\":6.0,"
			 "\"sum\":12.0},{\"id\":\"checkpointAlignmentTime\",\"max\":1.5E9,\"sum\":2.0}]"},
		{.what = OF "/vertices/" V1 "/subtasks/metrics",
		 .status = 200,
		 .body = "[{\"id\":\"numRecordsIn\"},{\"id\":\"Source__orders.pendingRecords\"},"
			 "{\"id\":\"checkpointAlignmentTime\"}]"},
		{.what = OF "/vertices/" V2 "/backpressure",
		 .status = 200,
		 .body = "{\"status\":\"deprecated\"}"},
		{.what = OF "/vertices/" V2 "/subtasks/metrics", .status = 500, .body = "{}"},
		{.what = OF " ", .status = 200, .body = GRAPH},
	};
	struct flink_vertices got = {0};

	CHECK_INT(ask(routes, ARRAY_LEN(routes), &got), ==, FLINK_OK);
	if (CHECK_INT(got.count, ==, 2)) {
		CHECK_STR(got.list[0].name, "Source: orders");
		CHECK_INT(got.list[0].parallelism, ==, 2);
		CHECK_STR(got.list[0].level, "high");
		CHECK_INT(got.list[0].back_pressured, ==, 93);
		CHECK_INT(got.list[0].busy, ==, 1);
		CHECK_INT(got.list[0].pending_records, ==, 12);
		CHECK_INT(got.list[0].alignment_ms, ==, 1500);
		/* what it does not tell is not known, and nothing else */
		CHECK_STR(got.list[1].name, "sink");
		CHECK_STR(got.list[1].level, NULL);
		CHECK_INT(got.list[1].back_pressured, ==, -1);
		CHECK_INT(got.list[1].busy, ==, -1);
		CHECK_INT(got.list[1].pending_records, ==, -1);
		CHECK_INT(got.list[1].alignment_ms, ==, -1);
	}
	flink_vertices_release(&got);
}

TEST(without_the_graph_there_is_no_answer)
{
	static const struct {
		const char *body;
		int status;
	} rows[] = {
		{"{}", 200},
		{"{\"vertices\":[{\"id\":\"../x\",\"name\":\"a\",\"parallelism\":1,\"status\":\"RUNNING\"}]}",
		 200},
		{"{\"vertices\":[{\"id\":\"" V1 "\"}]}", 200},
		{"{\"errors\":[\"Internal server error.\"]}", 500},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct route route = {
			.what = OF, .status = rows[i].status, .body = rows[i].body};
		struct flink_vertices got = {0};

		CHECK_INT(ask(&route, 1, &got), ==, FLINK_ERROR);
		CHECK(got.list == NULL);
	}
}
