#include "run/outputs/scale_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube_stub.h"
#include "tap.h"

#define SCALE(name, uid, spec)                                                                     \
	"{\"kind\":\"Scale\",\"apiVersion\":\"autoscaling/v1\",\"metadata\":{\"name\":\"" name     \
	"\",\"uid\":\"" uid "\",\"resourceVersion\":\"17\"},\"spec\":{" spec "}}"

#define MAP(data)                                                                                  \
	"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"journal\","        \
	"\"uid\":\"m\",\"resourceVersion\":\"5\"},\"data\":{" data "}}"

#define RECORD(kind, name, text) "\"task-managers." kind "." name ".json\":\"" text "\""
#define OF(uid, replicas)        "{\\\"uid\\\":\\\"" uid "\\\",\\\"replicas\\\":" replicas "}"

/* Paths of the API server, as they end. */
#define JOURNAL "/configmaps/journal"
#define SCALE_A "/deployments/a/scale"
#define SCALE_B "/statefulsets/b/scale"
#define SCALE_C "/statefulsets/c/scale"

#define KUBE_TEST(name) TEST_WITH(name, struct kube_stub, stub, kube_stub_start, kube_stub_stop)

static const struct kube_scale_target targets[] = {{KUBE_SCALE_DEPLOYMENT, (char *)"a"},
						   {KUBE_SCALE_STATEFUL_SET, (char *)"b"},
						   {KUBE_SCALE_STATEFUL_SET, (char *)"c"}};

/* Of the objects whose letters are in `of`, as they were read. */
static struct scale_batch *batch_of(enum scale_act act, const char *of, int64_t replicas)
{
	struct scale_batch *batch = scale_batch_new(act, targets, ARRAY_LEN(targets), "journal");

	for (; *of; of++) {
		struct scale_task *task = &batch->tasks[batch->count++];

		task->index = (size_t)(*of - 'a');
		task->replicas = replicas;
		if (act != SCALE_LOOK)
			task->there = (struct kube_scale){.uid = xasprintf("u-%c", *of),
							  .resource_version = xstrdup("17")};
	}
	return batch;
}

static int asked_about(const struct kube_stub *stub, const char *what)
{
	int count = 0;

	http_stub_settle(stub->http);
	for (int i = 0; i < stub->asked_count; i++)
		count += strstr(stub->asked[i], what) != NULL;
	return count;
}

KUBE_TEST(all_are_looked_at_and_the_records_are_read_once)
{
	struct scale_batch *batch = batch_of(SCALE_LOOK, "abc", 0);

	KUBE_SAY(stub,
		 {.of = JOURNAL,
		  .body = MAP(RECORD("deployment", "a", OF("u-a", "3")) "," RECORD(
			  "statefulset", "b", OF("of another", "7")))},
		 {.of = SCALE_A, .body = SCALE("a", "u-a", "")},
		 {.of = SCALE_B, .body = SCALE("b", "u-b", "\"replicas\":1")},
		 {.of = SCALE_C, .body = SCALE("c", "u-c", "\"replicas\":2")});
	scale_batch_do(batch, stub->kube);
	for (size_t i = 0; i < 3; i++)
		CHECK_INT(batch->tasks[i].result, ==, 0);
	CHECK_INT(batch->tasks[0].recorded, ==, 3);
	CHECK_INT(batch->tasks[1].recorded, ==, 0);
	CHECK_INT(batch->tasks[1].there.replicas, ==, 1);
	CHECK_STR(batch->tasks[2].there.uid, "u-c");
	CHECK_INT(asked_about(stub, JOURNAL), ==, 1);
	CHECK_INT(stub->asked_count, ==, 4);
	scale_batch_free(batch);
}

KUBE_TEST(one_that_is_denied_or_absent_is_one)
{
	struct scale_batch *batch = batch_of(SCALE_LOOK, "abc", 0);

	KUBE_SAY(stub, {.of = JOURNAL, .body = MAP("")},
		 {.of = SCALE_A,
		  .status = 403,
		  .body = KUBE_STATUS(403, "Forbidden", "no", "\"name\":\"a\"")},
		 {.of = SCALE_B, .status = 404, .body = KUBE_NOT_FOUND("statefulsets/scale", "b")},
		 {.of = SCALE_C, .body = SCALE("c", "u-c", "\"replicas\":2")});
	scale_batch_do(batch, stub->kube);
	CHECK_INT(batch->tasks[0].result, ==, -1);
	CHECK_INT(batch->tasks[0].status, ==, 403);
	CHECK_HAS(batch->tasks[0].err.msg, SCALE_A);
	CHECK_INT(batch->tasks[1].result, ==, -1);
	CHECK_INT(batch->tasks[1].status, ==, 404);
	CHECK_INT(batch->tasks[2].result, ==, 0);
	CHECK_INT(batch->tasks[2].there.replicas, ==, 2);
	scale_batch_free(batch);
}

KUBE_TEST(a_record_that_cannot_be_read_is_one)
{
	struct scale_batch *batch = batch_of(SCALE_LOOK, "abc", 0);

	KUBE_SAY(stub,
		 {.of = JOURNAL,
		  .body = MAP(RECORD("deployment", "a", "?") "," RECORD(
			  "statefulset", "b", "?") "," RECORD("statefulset", "c", OF("u-c", "4")))},
		 {.of = SCALE_A, .body = SCALE("a", "u-a", "")},
		 {.of = SCALE_B, .body = SCALE("b", "u-b", "\"replicas\":1")},
		 {.of = SCALE_C, .body = SCALE("c", "u-c", "")});
	scale_batch_do(batch, stub->kube);
	/* at 0 the number would be needed */
	CHECK_INT(batch->tasks[0].result, ==, -1);
	CHECK_HAS(batch->tasks[0].err.msg, "task-managers.deployment.a.json");
	CHECK_INT(batch->tasks[1].result, ==, 0);
	CHECK_INT(batch->tasks[1].recorded, ==, SCALE_UNREADABLE);
	CHECK_INT(batch->tasks[2].result, ==, 0);
	CHECK_INT(batch->tasks[2].recorded, ==, 4);
	scale_batch_free(batch);
}

KUBE_TEST(without_the_records_nothing_is_known)
{
	struct scale_batch *batch = batch_of(SCALE_LOOK, "ab", 0);

	KUBE_SAY(stub, {.status = 403,
			.body = KUBE_STATUS(403, "Forbidden", "no", "\"name\":\"journal\"")});
	scale_batch_do(batch, stub->kube);
	for (size_t i = 0; i < 2; i++) {
		CHECK_INT(batch->tasks[i].result, ==, -1);
		CHECK_INT(batch->tasks[i].status, ==, 403);
		CHECK_HAS(batch->tasks[i].err.msg, JOURNAL);
	}
	CHECK_INT(asked_about(stub, "/scale"), ==, 0);
	scale_batch_free(batch);
	/* but where there is no ConfigMap, nothing is recorded */
	batch = batch_of(SCALE_LOOK, "a", 0);
	KUBE_SAY(stub,
		 {.of = JOURNAL, .status = 404, .body = KUBE_NOT_FOUND("configmaps", "journal")},
		 {.of = SCALE_A, .body = SCALE("a", "u-a", "\"replicas\":2")});
	scale_batch_do(batch, stub->kube);
	CHECK_INT(batch->tasks[0].result, ==, 0);
	CHECK_INT(batch->tasks[0].recorded, ==, 0);
	scale_batch_free(batch);
}

KUBE_TEST(when_the_server_does_not_respond_the_others_are_not_tried)
{
	struct scale_batch *batch = batch_of(SCALE_SET, "abc", 0);

	KUBE_SAY(stub, {.reset = true});
	scale_batch_do(batch, stub->kube);
	for (size_t i = 0; i < 3; i++) {
		CHECK_INT(batch->tasks[i].result, ==, -1);
		CHECK_INT(batch->tasks[i].err.kind, ==, ERR_RETRY);
		CHECK_INT(batch->tasks[i].status, ==, 0);
	}
	CHECK(asked_about(stub, "/deployments/a/") > 0);
	CHECK_INT(asked_about(stub, "/statefulsets/"), ==, 0);
	scale_batch_free(batch);
}

KUBE_TEST(an_answer_that_is_an_error_is_of_one_object)
{
	struct scale_batch *batch = batch_of(SCALE_SET, "ab", 0);

	KUBE_SAY(stub,
		 {.of = "/deployments/a/scale?fieldManager=drey",
		  .status = 409,
		  .body = KUBE_STATUS(409, "Conflict", "it has changed", "\"name\":\"a\"")},
		 {.of = "/statefulsets/b/scale?fieldManager=drey", .body = SCALE("b", "u-b", "")});
	scale_batch_do(batch, stub->kube);
	CHECK_INT(batch->tasks[0].result, ==, -1);
	CHECK_INT(batch->tasks[0].err.kind, ==, ERR_BUSY);
	CHECK_INT(batch->tasks[1].result, ==, 0);
	scale_batch_free(batch);
}

KUBE_TEST(records_are_written_together)
{
	struct scale_batch *batch = batch_of(SCALE_RECORD, "ac", 3);

	KUBE_SAY(stub, {.body = MAP("")});
	scale_batch_do(batch, stub->kube);
	CHECK_INT(stub->asked_count, ==, 1);
	CHECK_STR(stub->bodies[0],
		  "{\"data\":{" RECORD("deployment", "a", OF("u-a", "3")) "," RECORD(
			  "statefulset", "c", OF("u-c", "3")) "}}");
	CHECK_INT(batch->tasks[0].result, ==, 0);
	CHECK_INT(batch->tasks[1].result, ==, 0);
	scale_batch_free(batch);
}

KUBE_TEST(what_is_forgotten_is_removed_and_what_is_no_longer_scaled)
{
	struct scale_batch *batch = batch_of(SCALE_FORGET, "a", 0);

	KUBE_SAY(stub,
		 {.body = MAP("\"journal.json\":\"{}\"," RECORD(
			  "deployment", "a",
			  OF("u-a", "3")) "," RECORD("statefulset", "b",
						     OF("u-b", "1")) "," RECORD("statefulset",
										"gone", "?"))},
		 {.body = MAP("")});
	scale_batch_do(batch, stub->kube);
	CHECK_INT(batch->tasks[0].result, ==, 0);
	CHECK_INT(stub->asked_count, ==, 2);
	CHECK_STR(
		stub->bodies[1],
		"{\"data\":{\"task-managers.deployment.a.json\":null,\"task-managers.statefulset.gone.json\":null}}");
	scale_batch_free(batch);
}

KUBE_TEST(where_nothing_is_recorded_nothing_is_written)
{
	struct scale_batch *batch = batch_of(SCALE_FORGET, "a", 0);

	KUBE_SAY(stub, {.body = MAP("\"journal.json\":\"{}\"")});
	scale_batch_do(batch, stub->kube);
	CHECK_INT(batch->tasks[0].result, ==, 0);
	CHECK_INT(stub->asked_count, ==, 1);
	scale_batch_free(batch);
}
