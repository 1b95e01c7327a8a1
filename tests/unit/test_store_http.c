#include "store/store_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "http_stub.h"
#include "tap.h"

enum { MAX_CALLS = 64 };

/*
 * A store whose call i asks for "/<what>/<i>/<attempt>", and a server that answers by `what`. What
 * the server says about an attempt that is not the right one is `wrong`.
 */
struct rig {
	struct http_stub *stub;
	struct http *http;
	const char *what[MAX_CALLS];
	size_t count, in_flight;
	bool ends_at_first; /* no failed() */
	struct err err;
	bool failed_fails;

	int attempts[MAX_CALLS], taken[MAX_CALLS], failed[MAX_CALLS];
	int64_t begun_ms[MAX_CALLS], last_ms[MAX_CALLS]; /* of the first and the last attempt */
	struct err why[MAX_CALLS];
	int order[MAX_CALLS];
	size_t order_count;
};

/* Before attempt `from` the answer is what `what` says. */
static void answer(void *ctx, const struct http_stub_request *request,
		   struct http_stub_answer *answer)
{
	char what[20] = "";
	int index = 0, attempt = 0, from = 0;

	(void)ctx;
	sscanf(request->target, "/%19[a-z]%d/%d/%d", what, &from, &index, &attempt);
	if (!strcmp(what, "hang"))
		answer->hang = true;
	if (attempt >= from)
		return;
	if (!strcmp(what, "busy"))
		answer->status = 503;
	if (!strcmp(what, "busy"))
		buf_addstr(&answer->body, "SlowDown");
	if (!strcmp(what, "reset"))
		answer->reset = true;
	if (!strcmp(what, "stale"))
		answer->status = 401;
	if (!strcmp(what, "mixed"))
		answer->status = attempt <= STORE_HTTP_REPAIRS ? 401 : 503;
	if (!strcmp(what, "denied"))
		answer->status = 403;
	if (!strcmp(what, "later") || !strcmp(what, "never")) {
		answer->status = 429;
		buf_addf(&answer->headers, "Retry-After: %d\r\n", !strcmp(what, "later") ? 1 : 6);
	}
}

static void rig_start(struct rig *rig, const char *what, size_t count)
{
	memset(rig, 0, sizeof(*rig));
	rig->stub = http_stub_new(answer, rig);
	rig->http = http_new(NULL, NULL);
	rig->count = count;
	rig->in_flight = STORE_HTTP_ATTEMPTS;
	for (size_t i = 0; i < count; i++)
		rig->what[i] = what;
}

static void rig_stop(struct rig *rig)
{
	http_free(rig->http);
	http_stub_free(rig->stub);
}

static int prepare(void *ctx, size_t index, struct store_call *ret_call, struct err *err)
{
	struct rig *rig = ctx;

	if (!rig->attempts[index])
		rig->order[rig->order_count++] = (int)index;
	if (!rig->attempts[index]++)
		rig->begun_ms[index] = clock_mono_ms();
	rig->last_ms[index] = clock_mono_ms();
	ret_call->method = "HEAD";
	ret_call->headers[ret_call->header_count++] =
		xasprintf("X-Attempt: %d", rig->attempts[index]);
	if (!strcmp(rig->what[index], "keyless"))
		return err_set(err, ERR_CONFIG, 0, "no key");
	ret_call->method = "GET";
	ret_call->url = xasprintf("http://127.0.0.1:%d/%s/%zu/%d", http_stub_port(rig->stub),
				  rig->what[index], index, rig->attempts[index]);
	return 0;
}

static enum store_verdict judge(void *ctx, size_t index, const struct http_response *response,
				struct err *err)
{
	struct rig *rig = ctx;

	switch (response->status) {
	case 200:
		rig->taken[index]++;
		return STORE_DONE;
	case 401:
		err_set(err, ERR_DENIED, 0, "the token is stale");
		return STORE_REPAIRED;
	case 403:
		err_set(err, ERR_DENIED, 0, "not for you");
		return STORE_FAILED;
	default:
		return STORE_BUSY;
	}
}

static int failed(void *ctx, size_t index, const struct err *why, struct err *err)
{
	struct rig *rig = ctx;

	rig->failed[index]++;
	rig->why[index] = *why;
	return rig->failed_fails ? err_set(err, ERR_SYS, 0, "that is too much") : 0;
}

static int run(struct rig *rig)
{
	struct store_http_ops ops = {
		.prepare = prepare, .judge = judge, .failed = rig->ends_at_first ? NULL : failed};

	return store_http_many(rig->http, &ops, rig, rig->count, rig->in_flight, &rig->err);
}

TEST(the_pause_doubles_up_to_a_limit_and_is_spread)
{
	CHECK_INT(store_http_pause_ms(2, UINT32_MAX), ==, 100);
	CHECK_INT(store_http_pause_ms(2, 0), ==, 50);
	CHECK_INT(store_http_pause_ms(3, UINT32_MAX), ==, 200);
	CHECK_INT(store_http_pause_ms(3, UINT32_MAX / 2), ==, 149);
	CHECK_INT(store_http_pause_ms(5, UINT32_MAX), ==, 800);
	CHECK_INT(store_http_pause_ms(7, UINT32_MAX), ==, 3200);
	CHECK_INT(store_http_pause_ms(8, UINT32_MAX), ==, STORE_HTTP_PAUSE_MAX_MS);
	CHECK_INT(store_http_pause_ms(1000, UINT32_MAX), ==, STORE_HTTP_PAUSE_MAX_MS);
	CHECK_INT(store_http_pause_ms(1000, 0), ==, STORE_HTTP_PAUSE_MAX_MS / 2);
}

TEST(every_call_is_taken_once_in_the_order_of_the_beginnings)
{
	struct rig rig;
	int wrong = 0;

	rig_start(&rig, "good", MAX_CALLS);
	CHECK_INT(run(&rig), ==, 0);
	for (int i = 0; i < MAX_CALLS; i++)
		wrong += rig.taken[i] != 1 || rig.failed[i] || rig.attempts[i] != 1 ||
			 rig.order[i] != i;
	CHECK_INT(wrong, ==, 0);
	CHECK_INT(http_stub_counts(rig.stub).most_under_way, <=, STORE_HTTP_ATTEMPTS);
	CHECK_INT(http_stub_counts(rig.stub).connections, <=, STORE_HTTP_ATTEMPTS);
	rig_stop(&rig);
}

TEST(a_busy_store_is_asked_again_after_growing_pauses)
{
	struct rig rig;

	rig_start(&rig, "busy4", 1);
	CHECK_INT(run(&rig), ==, 0);
	CHECK_INT(rig.taken[0], ==, 1);
	CHECK_INT(rig.attempts[0], ==, 4);
	CHECK_INT(rig.failed[0], ==, 0);
	CHECK_INT(rig.last_ms[0] - rig.begun_ms[0], >=, 50 + 100 + 200);
	rig_stop(&rig);
}

TEST(a_connection_that_breaks_is_a_busy_store)
{
	struct rig rig;

	rig_start(&rig, "reset3", 2);
	CHECK_INT(run(&rig), ==, 0);
	CHECK_INT(rig.taken[0], ==, 1);
	CHECK_INT(rig.taken[1], ==, 1);
	CHECK_INT(rig.attempts[0], ==, 3);
	rig_stop(&rig);
}

TEST(after_the_last_attempt_a_call_fails_with_what_the_store_said)
{
	struct rig rig;

	rig_start(&rig, "busy99", 1);
	CHECK_INT(run(&rig), ==, 0);
	CHECK_INT(rig.taken[0], ==, 0);
	CHECK_INT(rig.failed[0], ==, 1);
	CHECK_INT(rig.attempts[0], ==, STORE_HTTP_ATTEMPTS);
	CHECK_INT(rig.why[0].kind, ==, ERR_RETRY);
	CHECK_HAS(rig.why[0].msg, "5 attempts");
	CHECK_HAS(rig.why[0].msg, "/busy99/0/5: HTTP 503: SlowDown");
	rig_stop(&rig);
}

TEST(the_stores_own_pause_is_kept_and_too_long_a_one_ends_the_call)
{
	struct rig rig;

	rig_start(&rig, "later2", 2);
	rig.what[1] = "never9";
	CHECK_INT(run(&rig), ==, 0);
	CHECK_INT(rig.taken[0], ==, 1);
	CHECK_INT(rig.attempts[0], ==, 2);
	CHECK_INT(rig.last_ms[0] - rig.begun_ms[0], >=, 1000);
	CHECK_INT(rig.attempts[1], ==, 1);
	CHECK_INT(rig.failed[1], ==, 1);
	CHECK_INT(rig.why[1].kind, ==, ERR_RETRY);
	CHECK_HAS(rig.why[1].msg, "the store requests a pause of 6 s: GET http");
	rig_stop(&rig);
}

TEST(a_repaired_call_is_tried_again_at_once_but_not_for_ever)
{
	struct rig rig;

	rig_start(&rig, "stale3", 2);
	rig.what[1] = "stale9";
	CHECK_INT(run(&rig), ==, 0);
	CHECK_INT(rig.taken[0], ==, 1);
	CHECK_INT(rig.attempts[0], ==, 1 + STORE_HTTP_REPAIRS);
	CHECK_INT(rig.failed[1], ==, 1);
	CHECK_INT(rig.attempts[1], ==, 1 + STORE_HTTP_REPAIRS);
	CHECK_INT(rig.why[1].kind, ==, ERR_DENIED);
	CHECK_STR(rig.why[1].msg, "the token is stale");
	rig_stop(&rig);
}

TEST(a_repair_does_not_use_up_an_attempt)
{
	struct rig rig;

	rig_start(&rig, "mixed7", 2);
	rig.what[1] = "mixed8";
	CHECK_INT(run(&rig), ==, 0);
	CHECK_INT(rig.taken[0], ==, 1);
	CHECK_INT(rig.attempts[0], ==, STORE_HTTP_REPAIRS + STORE_HTTP_ATTEMPTS);
	CHECK_INT(rig.failed[1], ==, 1);
	rig_stop(&rig);
}

TEST(a_failure_is_told_once_and_the_others_go_on)
{
	struct rig rig;
	int wrong = 0;

	rig_start(&rig, "good", 30);
	rig.what[7] = "denied9";
	rig.what[8] = "keyless";
	rig.what[9] = "not a url";
	CHECK_INT(run(&rig), ==, 0);
	for (int i = 0; i < 30; i++) {
		wrong += rig.taken[i] != (i < 7 || i > 9);
		wrong += rig.failed[i] != !(i < 7 || i > 9);
		wrong += rig.attempts[i] != 1;
	}
	CHECK_INT(wrong, ==, 0);
	CHECK_STR(rig.why[7].msg, "not for you");
	CHECK_STR(rig.why[8].msg, "no key");
	CHECK_INT(rig.why[9].kind, ==, ERR_CONFIG);
	rig_stop(&rig);
}

TEST(without_failed_the_first_failure_ends_everything)
{
	struct rig rig;

	rig_start(&rig, "hang", 5);
	rig.what[3] = "denied9";
	rig.ends_at_first = true;
	CHECK_INT(run(&rig), ==, -1);
	CHECK_INT(rig.err.kind, ==, ERR_DENIED);
	CHECK_STR(rig.err.msg, "not for you");
	rig_stop(&rig);

	rig_start(&rig, "hang", 5);
	rig.what[3] = "keyless";
	rig.ends_at_first = true;
	CHECK_INT(run(&rig), ==, -1);
	CHECK_STR(rig.err.msg, "no key");
	CHECK_INT(rig.attempts[4], ==, 0);
	rig_stop(&rig);
}

TEST(failed_can_end_everything)
{
	struct rig rig;

	rig_start(&rig, "hang", 5);
	rig.what[3] = "denied9";
	rig.failed_fails = true;
	CHECK_INT(run(&rig), ==, -1);
	CHECK_STR(rig.err.msg, "that is too much");
	CHECK_INT(rig.failed[3], ==, 1);
	rig_stop(&rig);
}

TEST(a_pause_of_one_call_does_not_hold_up_the_others)
{
	struct rig rig;
	int64_t latest_ms = 0;

	if (tap_valgrind()) {
		tap_skip("under valgrind the others take longer than the pause");
		return;
	}
	rig_start(&rig, "good", MAX_CALLS);
	rig.what[0] = "later2";
	rig.in_flight = 1;
	CHECK_INT(run(&rig), ==, 0);
	CHECK_INT(rig.attempts[0], ==, 2);
	for (int i = 1; i < MAX_CALLS; i++)
		if (rig.begun_ms[i] > latest_ms)
			latest_ms = rig.begun_ms[i];
	/* all of them while the first one waited for its second attempt */
	CHECK_INT(latest_ms, <=, rig.last_ms[0]);
	CHECK_INT(http_stub_counts(rig.stub).most_under_way, ==, 1);
	rig_stop(&rig);
}

TEST(many_busy_calls_all_get_their_turn)
{
	struct rig rig;
	int wrong = 0;

	rig_start(&rig, "busy3", MAX_CALLS);
	CHECK_INT(run(&rig), ==, 0);
	for (int i = 0; i < MAX_CALLS; i++)
		wrong += rig.taken[i] != 1 || rig.attempts[i] != 3;
	CHECK_INT(wrong, ==, 0);
	CHECK_INT(http_stub_counts(rig.stub).requests, ==, 3 * MAX_CALLS);
	rig_stop(&rig);
}

TEST(one_call_alone_returns_its_own_failure)
{
	struct store_http_ops ops = {.prepare = prepare, .judge = judge, .failed = failed};
	struct rig rig;

	rig_start(&rig, "busy2", 1);
	CHECK_INT(store_http_one(rig.http, &ops, &rig, &rig.err), ==, 0);
	CHECK_INT(rig.taken[0], ==, 1);
	rig.what[0] = "denied9";
	rig.attempts[0] = 0;
	rig.order_count = 0;
	CHECK_INT(store_http_one(rig.http, &ops, &rig, &rig.err), ==, -1);
	CHECK_STR(rig.err.msg, "not for you");
	CHECK_INT(rig.failed[0], ==, 0);
	CHECK_INT(store_http_one(rig.http, &ops, &rig, NULL), ==, -1);
	rig_stop(&rig);
}
