#include "kube/kube_watch.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "kube/watch_stream.h"
#include "watch_rig.h"

#define LIST(version, items)                                                                       \
	"{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"" version                 \
	"\"},\"items\":[" items "]}"
#define ITEM(version) "{\"metadata\":{\"name\":\"m\",\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, version)                                                                       \
	"{\"type\":\"" type                                                                        \
	"\",\"object\":{\"metadata\":{\"name\":\"m\",\"resourceVersion\":\"" version "\"}}}\n"
#define REFUSAL(code, reason)                                                                      \
	"{\"type\":\"ERROR\",\"object\":" KUBE_STATUS(code, reason, "m", "") "}\n"
#define OPEN_END .length_bytes = 1000000

static void rig_watch(struct rig *rig, int64_t stall_ms)
{
	struct kube_watch_target target = {
		.collection = "/api/v1/namespaces/team-a/configmaps",
		.name = "m",
		.stall_ms = stall_ms,
	};

	rig_connect(rig);
	rig->watch = kube_watch_new(rig->watches, &target, on_change, rig, NULL);
}

static bool until_asked(struct rig *rig, int count)
{
	int64_t end_ms = clock_mono_ms() + RIG_LIMIT_MS;

	while (kube_stub_asked(&rig->stub) < count && clock_mono_ms() < end_ms)
		loop_step(rig->loop, 20, NULL);
	return kube_stub_asked(&rig->stub) >= count;
}

static bool until_events(struct rig *rig, int count)
{
	int64_t end_ms = clock_mono_ms() + RIG_LIMIT_MS;

	while (kube_watch_counts(rig->watch).events < count && clock_mono_ms() < end_ms)
		loop_step(rig->loop, 20, NULL);
	return kube_watch_counts(rig->watch).events >= count;
}

RIG_TEST(it_lists_watches_and_wakes)
{
	KUBE_SAY(&rig->stub, {.body = LIST("10", ITEM("7"))},
		 {.body = EVENT("MODIFIED", "11"), OPEN_END});
	rig_watch(rig, 0);
	CHECK(until_events(rig, 1));
	CHECK(until_woken(rig, 1));
	CHECK_STR(rig->stub.asked[0], "GET /api/v1/namespaces/team-a/configmaps"
				      "?fieldSelector=metadata.name%3Dm");
	CHECK_HAS(rig->stub.asked[1], "?fieldSelector=metadata.name%3Dm&watch=1"
				      "&allowWatchBookmarks=true&timeoutSeconds=");
	CHECK_HAS(rig->stub.asked[1], "&resourceVersion=10");
	CHECK_INT(kube_watch_counts(rig->watch).failures, ==, 0);
}

RIG_TEST(a_bookmark_moves_on_and_wakes_nobody)
{
	KUBE_SAY(&rig->stub, {.body = LIST("10", ITEM("7"))}, {.body = EVENT("BOOKMARK", "20")},
		 {OPEN_END});
	rig_watch(rig, 0);
	CHECK(until_asked(rig, 3)); /* the end of a watch is no failure: from the last version */
	CHECK_HAS(rig->stub.asked[2], "&resourceVersion=20");
	CHECK_INT(rig->woken, ==, 1);
	CHECK_INT(kube_watch_counts(rig->watch).lists, ==, 1);
	CHECK_INT(kube_watch_counts(rig->watch).failures, ==, 0);
}

#define GENERATED(version)                                                                         \
	"{\"metadata\":{\"name\":\"m\",\"uid\":\"u\",\"generation\":3,\"resourceVersion\":"        \
	"\"" version "\"}}"
#define MODIFIED(version) "{\"type\":\"MODIFIED\",\"object\":" GENERATED(version) "}\n"

RIG_TEST(what_its_generation_does_not_count_wakes_nobody)
{
	KUBE_SAY(&rig->stub, {.body = LIST("10", GENERATED("7"))},
		 {.body = MODIFIED("11") MODIFIED("12")}, {OPEN_END});
	rig_watch(rig, 0);
	CHECK(until_woken(rig, 1));
	CHECK(until_asked(rig, 3));
	CHECK_HAS(rig->stub.asked[2], "&resourceVersion=12");
	loop_step(rig->loop, 0, NULL);
	CHECK_INT(kube_watch_counts(rig->watch).events, ==, 2);
	CHECK_INT(rig->woken, ==, 1);
}

RIG_TEST(events_may_come_in_pieces_and_many_wake_once)
{
	KUBE_SAY(&rig->stub, {.body = LIST("10", "")},
		 {.body = EVENT("ADDED", "11") EVENT("MODIFIED", "12") EVENT("DELETED", "13")});
	rig_watch(rig, 0);
	while (kube_watch_counts(rig->watch).events < 3)
		clock_mono_ms(); /* the loop does not run meanwhile */
	CHECK(until_woken(rig, 1));
	loop_step(rig->loop, 0, NULL);
	CHECK_INT(rig->woken, ==, 1);
}

TEST(a_version_that_is_too_old_is_listed_anew)
{
	static const struct kube_stub_says too_old[] = {
		{.body = REFUSAL(410, "Expired")},
		{.status = 410, .body = KUBE_STATUS(410, "Gone", "m", "")},
	};

	for (size_t i = 0; i < ARRAY_LEN(too_old); i++) {
		struct rig rig;

		rig_start(&rig);
		KUBE_SAY(&rig.stub, {.body = LIST("10", ITEM("7"))}, too_old[i],
			 {.body = LIST("90", ITEM("80"))}, {OPEN_END});
		rig_watch(&rig, 0);
		CHECK(until_asked(&rig, 4));
		CHECK(until_woken(&rig, 1));
		CHECK(!strstr(rig.stub.asked[2], "watch=1"));
		CHECK_HAS(rig.stub.asked[3], "&resourceVersion=90");
		rig_stop(&rig);
	}
}

RIG_TEST(a_list_that_says_the_same_wakes_nobody)
{
	KUBE_SAY(&rig->stub, {.body = LIST("10", ITEM("7"))},
		 {.body = REFUSAL(500, "InternalError")}, {.body = LIST("90", ITEM("7"))},
		 {OPEN_END});
	rig_watch(rig, 0);
	CHECK(until_woken(rig, 1));
	CHECK(until_asked(rig, 4));
	for (int i = 0; i < 10; i++)
		loop_step(rig->loop, 10, NULL);
	CHECK_HAS(rig->stub.asked[3], "&resourceVersion=90");
	CHECK_INT(rig->woken, ==, 1);
}

TEST(nonsense_is_not_believed_and_listed_anew)
{
	static const char *const nonsense[] = {
		"{\"type\":\"MODIFIED\"}\n",
		"{\"type\":\"MODIFIED\",\"object\":{}}\n",
		"{\"object\":{\"metadata\":{\"resourceVersion\":\"11\"}}}\n",
		"hello\n",
		"{\"type\":}\n",
		"[]\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(nonsense); i++) {
		struct rig rig;

		rig_start(&rig);
		KUBE_SAY(&rig.stub, {.body = LIST("10", ITEM("7"))}, {.body = nonsense[i]},
			 {.body = LIST("12", ITEM("11"))}, {OPEN_END});
		rig_watch(&rig, 0);
		CHECK(until_asked(&rig, 4));
		CHECK_HAS(rig.stub.asked[3], "&resourceVersion=12");
		CHECK_INT(kube_watch_counts(rig.watch).events, ==, 0);
		CHECK_INT(kube_watch_counts(rig.watch).failures, ==, 1);
		rig_stop(&rig);
	}
}

TEST(a_dead_connection_is_left_and_the_version_kept)
{
	static const struct kube_stub_says dead[] = {
		{.body = EVENT("MODIFIED", "11"), OPEN_END},
		{.body = EVENT("MODIFIED", "11"),
		 .cut_at_bytes = sizeof(EVENT("MODIFIED", "11")) - 1,
		 .length_bytes = 1000},
	};

	for (size_t i = 0; i < ARRAY_LEN(dead); i++) {
		struct rig rig;

		rig_start(&rig);
		KUBE_SAY(&rig.stub, {.body = LIST("10", ITEM("7"))}, dead[i], {OPEN_END});
		rig_watch(&rig, i ? 0 : 300);
		CHECK(until_asked(&rig, 3));
		CHECK_HAS(rig.stub.asked[2], "&resourceVersion=11");
		CHECK_INT(kube_watch_counts(rig.watch).lists, ==, 1);
		rig_stop(&rig);
	}
}

RIG_TEST(a_denial_is_not_asked_about_again_and_again)
{
	KUBE_SAY(&rig->stub, {.status = 403, .body = KUBE_STATUS(403, "Forbidden", "not you", "")});
	rig_watch(rig, 0);
	CHECK(until_asked(rig, 1));
	while (!kube_watch_counts(rig->watch).failures)
		loop_step(rig->loop, 20, NULL);
	CHECK_HAS(kube_watch_counts(rig->watch).why, "not you");
	for (int64_t end_ms = clock_mono_ms() + 1500; clock_mono_ms() < end_ms;)
		loop_step(rig->loop, 20, NULL);
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 1);
	CHECK_INT(rig->woken, ==, 0);
}

TEST(it_ends_at_once_while_the_server_hangs)
{
	struct rig rig;

	rig_start(&rig);
	KUBE_SAY(&rig.stub, {.hang = true});
	rig_watch(&rig, 0);
	CHECK(until_asked(&rig, 1));
	rig_stop(&rig); /* checks the time */
}

/* Two objects; the server does not answer for the first one. */
TEST(a_watch_that_hangs_delays_no_other)
{
	struct kube_watch_target other = {.collection = "/apis/things", .name = "m"};
	struct rig rig, second = {0};
	struct kube_watch *watch;
	int64_t begin_ms;

	rig_start(&rig);
	KUBE_SAY(&rig.stub, {.of = "configmaps?fieldSelector=metadata.name%3Dm", .hang = true},
		 {.of = "things?fieldSelector=metadata.name%3Dm", .body = LIST("10", ITEM("7"))},
		 {.body = EVENT("MODIFIED", "11"), .after_ms = 100, OPEN_END});
	rig_watch(&rig, 0);
	CHECK(until_asked(&rig, 1));
	second.loop = rig.loop;
	watch = kube_watch_new(rig.watches, &other, on_change, &second, NULL);
	CHECK(until_woken(&second, 2));
	CHECK(kube_watch_holds(watch));
	CHECK_INT(rig.woken, ==, 0);
	CHECK(!kube_watch_holds(rig.watch));
	/* the other one is removed, and comes back: neither waits for the one that hangs */
	begin_ms = clock_mono_ms();
	kube_watch_free(watch);
	while (http_stub_counts(rig.stub.http).under_way > 1 &&
	       clock_mono_ms() - begin_ms < RIG_LIMIT_MS)
		loop_step(rig.loop, 10, NULL);
	CHECK_INT(clock_mono_ms() - begin_ms, <, 2000);
	watch = kube_watch_new(rig.watches, &other, on_change, &second, NULL);
	CHECK(until_woken(&second, 3));
	kube_watch_free(watch);
	rig_stop(&rig);
}

RIG_TEST(what_cannot_be_watched_is_refused)
{
	struct kube_watch_target target = {.collection = "/x", .name = "a/b"};
	struct err err = {0};

	KUBE_SAY(&rig->stub, {.hang = true});
	rig_watch(rig, 0);
	CHECK(!kube_watch_new(rig->watches, &target, on_change, rig, &err));
	CHECK_INT(err.kind, ==, ERR_CONFIG);
}

/* ---- the stream alone ---- */

static int collect(void *ctx, const struct json *event, struct err *err)
{
	struct buf *to = ctx;

	(void)err;
	json_print(event, to);
	return 0;
}

TEST(events_are_found_wherever_the_pieces_are_cut)
{
	static const char text[] =
		"{\"a\":\"}\\\"{\"}\n{\"b\":[{},[\"]\"]]}  \r\n{\n  \"c\": 1\n}\n";

	for (size_t piece = 1; piece < sizeof(text); piece++) {
		struct watch_stream stream = {.max_bytes = 100};
		cleanup_buf struct buf events = BUF_INIT;

		for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
			size_t left = sizeof(text) - 1 - at;

			CHECK_INT(watch_stream_add(&stream, text + at, left < piece ? left : piece,
						   collect, &events, NULL),
				  ==, 0);
		}
		CHECK_STR(buf_str(&events), "{\"a\":\"}\\\"{\"}{\"b\":[{},[\"]\"]]}{\"c\":1}");
		watch_stream_release(&stream);
	}
}

TEST(an_event_that_is_too_large_is_refused)
{
	static const char text[] = "{\"a\":\"0123456789\"}";

	for (size_t piece = 1; piece < sizeof(text); piece += 4)
		for (size_t max = sizeof(text) - 2; max < sizeof(text); max++) {
			struct watch_stream stream = {.max_bytes = max};
			cleanup_buf struct buf events = BUF_INIT;
			int rc = 0;

			for (size_t at = 0; at < sizeof(text) - 1 && !rc; at += piece) {
				size_t left = sizeof(text) - 1 - at;

				rc = watch_stream_add(&stream, text + at,
						      left < piece ? left : piece, collect, &events,
						      NULL);
			}
			CHECK_INT(rc, ==, max < sizeof(text) - 1 ? -1 : 0);
			watch_stream_release(&stream);
		}
}
