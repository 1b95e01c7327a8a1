/* How far the subtasks of an operator are, as Flink shows it. */
#include "flink/gate_watermarks.h"

#include <string.h>

#include "base/mem.h"
#include "route_stub.h"
#include "tap.h"

#define JOB "00000000000000000000000000000a01"
#define V1  "b208341bb36ac690007de153f484a5ea"
#define V2  "337bfffa776b34e387c9d5d9c2907986"
#define OF  "GET /jobs/" JOB

#define GRAPH                                                                                      \
	"{\"vertices\":[{\"id\":\"" V1 "\",\"name\":\"Source: orders\"},{\"id\":\"" V2             \
	"\",\"name\":\"count -> the gate -> sink: Writer\"}]}"
#define SUBTASKS                                                                                   \
	"{\"subtasks\":[{\"subtask\":0,\"status\":\"RUNNING\",\"start-time\":70},"                 \
	"{\"subtask\":1,\"status\":\"INITIALIZING\",\"start-time\":90}]}"
#define GET                                                                                        \
	"/metrics?get=0.the_gate.currentInputWatermark,0.the_gate.bluegreenGateHandOverDone,"      \
	"1.the_gate.currentInputWatermark,1.the_gate.bluegreenGateHandOverDone"

static enum flink_answer ask(const char *metrics, int status, struct flink_gate *ret)
{
	struct route routes[] = {
		{.what = OF "/vertices/" V2 GET, .status = status, .body = metrics},
		{.what = OF "/vertices/" V2 " ", .status = 200, .body = SUBTASKS},
		{.what = OF " ", .status = 200, .body = GRAPH},
	};
	static struct route_stub stub;
	struct err err = {0};
	char url[64];
	struct flink_rest rest = {.base_url = url, .http = http_new(NULL, &err)};
	enum flink_answer answer;

	memset(&stub, 0, sizeof(stub));
	route_start(&stub);
	route_set(&stub, routes, ARRAY_LEN(routes));
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", stub.port);
	answer = flink_rest_gate(&rest, JOB, "the gate", 5000, ret, &err);
	http_free(rest.http);
	route_stop(&stub);
	return answer;
}

TEST(each_subtask_has_its_watermark)
{
	struct flink_gate gate = {0};

	CHECK_INT(ask("[{\"id\":\"0.the_gate.currentInputWatermark\",\"value\":\"1767225600000\"},"
		      "{\"id\":\"1.the_gate.currentInputWatermark\",\"value\":\"7\"},"
		      "{\"id\":\"1.the_gate.bluegreenGateHandOverDone\",\"value\":\"1\"},"
		      "{\"id\":\"0.the_gate.bluegreenGateHandOverDone\",\"value\":\"0\"}]",
		      200, &gate),
		  ==, FLINK_OK);
	CHECK_INT(gate.subtasks, ==, 2);
	CHECK_INT(gate.running, ==, 1);
	CHECK_INT(gate.start_unix_ms, ==, 90);
	CHECK_INT(gate.watermarks[0], ==, INT64_C(1767225600000));
	CHECK_INT(gate.watermarks[1], ==, 7);
	CHECK_INT(gate.gauges, ==, 2);
	CHECK_INT(gate.gauges_over, ==, 1);
	flink_gate_release(&gate);
}

TEST(what_flink_does_not_know_is_no_watermark)
{
	static const char *const answers[] = {
		"[]",
		"[{\"id\":\"0.the_gate.currentInputWatermark\",\"value\":\"-9223372036854775808\"}]",
		"[{\"id\":\"7.the_gate.currentInputWatermark\",\"value\":\"5\"}]",
		"[{\"id\":\"0.another.currentInputWatermark\",\"value\":\"5\"}]",
		"[{\"id\":\"0.the_gate.currentInputWatermark\",\"value\":\"5e3\"}]",
	};

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct flink_gate gate = {0};

		CHECK_INT(ask(answers[i], 200, &gate), ==, FLINK_OK);
		CHECK(gate.watermarks[0] == FLINK_NO_WATERMARK &&
		      gate.watermarks[1] == FLINK_NO_WATERMARK);
		flink_gate_release(&gate);
	}
}

TEST(an_answer_that_fails_is_no_watermark_at_all)
{
	struct flink_gate gate = {0};

	CHECK_INT(ask("{}", 500, &gate), ==, FLINK_ERROR);
	CHECK_INT(gate.subtasks, ==, 0);
}
