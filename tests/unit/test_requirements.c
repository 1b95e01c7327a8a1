#include "flink/requirements.h"

#include <string.h>

#include "base/mem.h"
#include "route_stub.h"
#include "tap.h"

#define JOB  "00000000000000000000000000000a01"
#define V1   "ca88eee0095684d687a1b6495617f957"
#define V2   "b71731f1c0df9c3076c4a455334d0ad6"
#define OF   "/jobs/" JOB "/resource-requirements"
#define BODY "{\"" V1 "\":{\"parallelism\":{\"lowerBound\":1,\"upperBound\":3}}}"
/* As Flink 1.20.0 and 2.3.0 answer. */
#define NO_ADAPTIVE                                                                                                        \
	"{\"errors\":[\"Internal server error.\",\"<Exception on server side:\\njava.lang.UnsupportedOperationException: " \
	"The DefaultScheduler does not support changing the parallelism without a job restart. This feature is currently " \
	"only expected to work with the AdaptiveScheduler.\\n\\tat org.apache.flink.runtime.scheduler.SchedulerNG."        \
	"requestJobResourceRequirements(SchedulerNG.java:225)\\n\\nEnd of exception on server side>\"]}"
#define TOO_MUCH                                                                                                              \
	"{\"errors\":[\"org.apache.flink.runtime.rest.handler.RestHandlerException: The newly requested parallelism 300 for " \
	"the job vertex " V2                                                                                                  \
	" exceeds its maximum parallelism 128.\\n\\tat org.apache.flink.runtime.dispatcher.Dispatcher."                       \
	"validateMaxParallelism(Dispatcher.java:2130)\"]}"
#define GRAPH                                                                                      \
	"{\"vertices\":[{\"id\":\"" V1                                                             \
	"\",\"name\":\"Source: numbers\",\"parallelism\":1,\"maxParallelism\":128},{\"id\":\"" V2  \
	"\",\"name\":\"count -> sink: Writer\",\"parallelism\":2,\"slotSharingGroupId\":\"a01\"}]}"
#define BOUNDS                                                                                     \
	"{\"" V1 "\":{\"parallelism\":{\"lowerBound\":1,\"upperBound\":1}},\"" V2                  \
	"\":{\"parallelism\":{\"lowerBound\":1,\"upperBound\":4}}}"

struct rig {
	struct route_stub stub;
	struct flink_rest rest;
	char url[64];
};

static void rig_begin(struct rig *rig, const struct route *routes, size_t count)
{
	struct err err = {0};

	memset(rig, 0, sizeof(*rig));
	route_start(&rig->stub);
	route_set(&rig->stub, routes, count);
	snprintf(rig->url, sizeof(rig->url), "http://127.0.0.1:%d", rig->stub.port);
	rig->rest = (struct flink_rest){.base_url = rig->url, .http = http_new(NULL, &err)};
}

static void rig_end(struct rig *rig)
{
	http_free(rig->rest.http);
	route_stop(&rig->stub);
}

TEST(each_vertex_has_its_bounds_and_its_maximum)
{
	static const struct route routes[] = {
		{.what = "GET " OF, .status = 200, .body = BOUNDS},
		{.what = "GET /jobs/" JOB " ", .status = 200, .body = GRAPH},
	};
	struct flink_requirements got = {0};
	static struct rig rig;

	rig_begin(&rig, routes, ARRAY_LEN(routes));
	CHECK_INT(flink_rest_requirements(&rig.rest, JOB, 5000, &got, NULL), ==, FLINK_OK);
	if (CHECK_INT(got.count, ==, 2)) {
		CHECK_STR(got.list[0].id, V1);
		CHECK_INT(got.list[0].max_parallelism, ==, 128);
		CHECK_INT(got.list[1].parallelism, ==, 2);
		CHECK_INT(got.list[1].max_parallelism, ==, -1);
		CHECK_INT(got.list[1].lower, ==, 1);
		CHECK_INT(got.list[1].upper, ==, 4);
		CHECK_STR(got.list[1].name, "count -> sink: Writer");
		CHECK_STR(got.list[0].slot_group, NULL);
		CHECK_STR(got.list[1].slot_group, "a01");
	}
	flink_requirements_release(&got);
	rig_end(&rig);
}

TEST(another_scheduler_is_named_with_the_way_out)
{
	static const struct route routes[] = {
		{.what = "GET " OF, .status = 500, .body = NO_ADAPTIVE},
		{.what = "PUT " OF, .status = 500, .body = NO_ADAPTIVE}};
	struct flink_requirements got = {0};
	static struct rig rig;
	struct err err = {0};

	rig_begin(&rig, routes, ARRAY_LEN(routes));
	CHECK_INT(flink_rest_requirements(&rig.rest, JOB, 5000, &got, &err), ==, FLINK_ERROR);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "set jobmanager.scheduler: adaptive");
	err = (struct err){0};
	CHECK_INT(flink_rest_set_requirements(&rig.rest, JOB, BODY, 5000, &err), ==, FLINK_ERROR);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	rig_end(&rig);
}

TEST(in_reactive_mode_the_slots_decide)
{
	static const struct route routes[] = {
		{.what = "PUT " OF,
		 .status = 500,
		 .body = "{\"errors\":[\"Internal server error.\",\"<Exception on server side:\\njava.lang."
			 "UnsupportedOperationException: Cannot change the parallelism of a job running in reactive mode."
			 "\\n\\tat a.b.C.d(C.java:1)\\n\\nEnd of exception on server side>\"]}"}};
	static struct rig rig;
	struct err err = {0};

	rig_begin(&rig, routes, ARRAY_LEN(routes));
	CHECK_INT(flink_rest_set_requirements(&rig.rest, JOB, BODY, 5000, &err), ==, FLINK_ERROR);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "add or remove TaskManagers");
	rig_end(&rig);
}

TEST(bounds_are_sent_as_they_are_and_a_refusal_has_flinks_words)
{
	static const struct route routes[] = {
		{.what = "PUT " OF, .status = 200, .body = "{}", .times = 1},
		{.what = "PUT " OF, .status = 400, .body = TOO_MUCH}};
	static struct rig rig;
	struct err err = {0};

	rig_begin(&rig, routes, ARRAY_LEN(routes));
	CHECK_INT(flink_rest_set_requirements(&rig.rest, JOB, BODY, 5000, &err), ==, FLINK_OK);
	CHECK_HAS(buf_str(&rig.stub.last), BODY);
	CHECK_INT(flink_rest_set_requirements(&rig.rest, JOB, BODY, 5000, &err), ==, FLINK_ERROR);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "exceeds its maximum parallelism 128");
	rig_end(&rig);
}

/* A busy JobManager, or half an answer: nothing is known, and it is asked again. */
TEST(anything_else_is_no_answer)
{
	static const struct route busy[] = {
		{.what = "GET " OF, .status = 503, .body = "{\"errors\":[\"x\"]}"}};
	static const struct route half[] = {
		{.what = "GET " OF, .status = 200, .body = "{}"},
		{.what = "GET /jobs/" JOB " ", .status = 200, .body = GRAPH}};
	static const struct {
		const struct route *routes;
		size_t count;
	} cases[] = {{busy, 1}, {half, 2}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct flink_requirements got = {0};
		static struct rig rig;
		struct err err = {0};

		rig_begin(&rig, cases[i].routes, cases[i].count);
		CHECK_INT(flink_rest_requirements(&rig.rest, JOB, 5000, &got, &err), !=, FLINK_OK);
		CHECK_INT(err.kind, !=, ERR_CONFIG);
		CHECK(!got.list);
		rig_end(&rig);
	}
}
