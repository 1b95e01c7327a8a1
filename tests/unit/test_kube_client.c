#include "kube/kube_client.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "kube/kube_lane.h"
#include "kube_stub.h"
#include "store_dir.h"
#include "tap.h"

#define PARTS    6
#define LIMIT_MS 20000
#define OBJECT   "{\"kind\":\"Thing\",\"apiVersion\":\"v1\"}"

struct part {
	struct kube_lane kube;
	const char *method, *path;
	int ended, failed;
	struct err err;
};

struct rig {
	struct kube_stub stub;
	struct loop *loop;
	struct workers *workers;
	struct kube_client *client;
	struct part parts[PARTS];
};

static void rig_start(struct rig *rig)
{
	static const char *const paths[PARTS] = {"/api/journal", "/api/control", "/api/ha",
						 "/apis/status", "/apis/events", "/apis/owner"};

	memset(rig, 0, sizeof(*rig));
	kube_stub_start(&rig->stub);
	rig->loop = loop_new(NULL);
	rig->workers = workers_new(rig->loop, NULL);
	rig->client = kube_client_new(&rig->stub.config, NULL);
	for (int i = 0; i < PARTS; i++) {
		rig->parts[i].path = paths[i];
		rig->parts[i].kube = kube_lane_open(rig->workers, rig->client, "part");
	}
	rig->parts[3].method = "PATCH";
	rig->parts[4].method = "POST";
}

static void rig_stop(struct rig *rig)
{
	for (int i = 0; i < PARTS; i++) {
		kube_lane_stop(&rig->parts[i].kube);
		CHECK(kube_lane_close(&rig->parts[i].kube, LIMIT_MS));
	}
	kube_client_free(rig->client);
	workers_free(rig->workers);
	loop_free(rig->loop);
	kube_stub_stop(&rig->stub);
}

static void call(void *arg)
{
	struct part *part = arg;
	cleanup_kube_answer struct kube_answer answer = {0};
	cleanup_json struct json *body = part->method ? json_object() : NULL;
	struct kube_request request = {.method = part->method, .path = part->path, .body = body};

	part->failed = kube_do(part->kube.kube, &request, &answer, &part->err);
}

static void called(void *arg, bool ran)
{
	struct part *part = arg;

	part->ended += ran;
}

static void submit(struct part *part)
{
	lane_submit(part->kube.lane, call, called, part);
}

static bool until(struct rig *rig, const int *count, int want)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (*count < want && clock_mono_ms() < end_ms)
		if (loop_step(rig->loop, 100, NULL))
			return false;
	return *count >= want;
}

/* Each in turn: while its object's path hangs, all others are read and written, and it can be closed. */
TEST(a_path_that_hangs_delays_no_other_part)
{
	for (int hangs = 0; hangs < PARTS; hangs++) {
		struct rig rig;
		int64_t start_ms;

		rig_start(&rig);
		KUBE_SAY(&rig.stub, {.of = rig.parts[hangs].path, .hang = true}, {.body = OBJECT});
		submit(&rig.parts[hangs]);
		while (!kube_stub_asked(&rig.stub))
			usleep(1000);
		start_ms = clock_mono_ms();
		for (int round = 1; round <= 3; round++) {
			for (int i = 0; i < PARTS; i++)
				if (i != hangs)
					submit(&rig.parts[i]);
			for (int i = 0; i < PARTS; i++)
				if (i != hangs && CHECK(until(&rig, &rig.parts[i].ended, round)))
					CHECK_INT(rig.parts[i].failed, ==, 0);
		}
		CHECK_INT(clock_mono_ms() - start_ms, <, 3000);
		CHECK_INT(rig.parts[hangs].ended, ==, 0);
		start_ms = clock_mono_ms();
		kube_lane_stop(&rig.parts[hangs].kube);
		CHECK(kube_lane_close(&rig.parts[hangs].kube, LIMIT_MS));
		CHECK_INT(clock_mono_ms() - start_ms, <, 2000);
		CHECK_INT(rig.parts[hangs].ended, ==, 1);
		CHECK_INT(rig.parts[hangs].err.kind, ==, ERR_RETRY);
		CHECK_HAS(rig.parts[hangs].err.msg, "stopped");
		submit(&rig.parts[(hangs + 1) % PARTS]);
		CHECK(until(&rig, &rig.parts[(hangs + 1) % PARTS].ended, 4));
		CHECK_INT(rig.parts[(hangs + 1) % PARTS].failed, ==, 0);
		rig_stop(&rig);
	}
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_start, rig_stop)

RIG_TEST(parts_that_ask_in_turn_share_one_connection)
{
	KUBE_SAY(&rig->stub, {.body = OBJECT});
	for (int round = 1; round <= 3; round++)
		for (int i = 0; i < 3; i++) {
			submit(&rig->parts[i]);
			CHECK(until(rig, &rig->parts[i].ended, round));
			CHECK_INT(rig->parts[i].failed, ==, 0);
		}
	CHECK_INT(http_stub_counts(rig->stub.http).connections, ==, 1);
	CHECK_INT(http_stub_counts(rig->stub.http).requests, ==, 9);
}

/* Polls that fall together wake one worker, which asks one after another. */
RIG_TEST(quick_answers_to_several_parts_need_one_connection)
{
	KUBE_SAY(&rig->stub, {.body = OBJECT});
	for (int round = 1; round <= 20; round++) {
		for (int i = 0; i < 3; i++)
			submit(&rig->parts[i]);
		for (int i = 0; i < 3; i++)
			CHECK(until(rig, &rig->parts[i].ended, round));
	}
	/* on a busy machine an answer may take longer than LANE_TURN_MS */
	CHECK_INT(http_stub_counts(rig->stub.http).connections, <=, 3);
}

RIG_TEST(a_token_that_one_part_has_renewed_is_new_for_all)
{
	cleanup_dir char *dir = dir_new();
	cleanup_free char *file = xasprintf("%s/token", dir);

	CHECK(!fs_write_atomic(file, "old", 3, 0600, NULL));
	for (int i = 0; i < PARTS; i++)
		kube_lane_close(&rig->parts[i].kube, LIMIT_MS);
	kube_client_free(rig->client);
	xstrset(&rig->stub.config.token_file, file);
	rig->client = kube_client_new(&rig->stub.config, NULL);
	for (int i = 0; i < PARTS; i++)
		rig->parts[i].kube = kube_lane_open(rig->workers, rig->client, "part");
	KUBE_SAY(&rig->stub, {.body = OBJECT});
	submit(&rig->parts[0]);
	CHECK(until(rig, &rig->parts[0].ended, 1));
	CHECK_HAS(rig->stub.heads[0], "Bearer old");
	KUBE_SAY(&rig->stub, {.status = 401}, {.body = OBJECT});
	CHECK(!fs_write_atomic(file, "new", 3, 0600, NULL));
	submit(&rig->parts[0]);
	CHECK(until(rig, &rig->parts[0].ended, 2));
	CHECK_INT(rig->parts[0].failed, ==, 0);
	submit(&rig->parts[1]);
	CHECK(until(rig, &rig->parts[1].ended, 1));
	CHECK_INT(rig->parts[1].failed, ==, 0);
	CHECK_HAS(rig->stub.heads[kube_stub_asked(&rig->stub) - 1], "Bearer new");
}

RIG_TEST(a_client_lives_as_long_as_its_last_part)
{
	struct kube *kube;
	struct part part = {.path = "/api/last"};

	KUBE_SAY(&rig->stub, {.body = OBJECT});
	kube = kube_open(rig->client);
	part.kube.kube = kube;
	for (int i = 0; i < PARTS; i++)
		kube_lane_close(&rig->parts[i].kube, LIMIT_MS);
	kube_client_free(rig->client);
	rig->client = NULL;
	call(&part);
	CHECK_INT(part.failed, ==, 0);
	kube_free(kube);
}
