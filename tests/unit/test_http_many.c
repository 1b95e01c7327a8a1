#include "base/http.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "http_stub.h"
#include "tap.h"

enum { MAX_CALLS = 1000 };

/* Answers by the path: /slow after a while, /hang never, /reset, /cut, else the path itself. */
static void answer(void *ctx, const struct http_stub_request *request,
		   struct http_stub_answer *answer)
{
	const char *target = request->target;

	(void)ctx;
	buf_addstr(&answer->body, target);
	buf_addf(&answer->headers, "ETag: \"%s\"\r\nX-Connection: %d\r\n", target,
		 request->connection);
	answer->hang = strstr(target, "hang");
	answer->reset = strstr(target, "reset");
	answer->after_ms = strstr(target, "slow") ? 150 : 0;
	answer->status = strstr(target, "missing") ? 404 : 0;
	answer->close = strstr(target, "close");
	answer->cut_at_bytes = strstr(target, "cut") ? 2 : 0;
}

/* What is asked for: call i is paths[i % path_count] with i as its query. */
struct rig {
	struct http_stub *stub;
	struct http *http;
	const char *method;
	const char *const *paths;
	size_t path_count, count, begun, in_flight;
	int64_t timeout_ms;
	size_t max_bytes;
	size_t fail_at; /* done() fails when so many have ended; 0 never */
	int pauses;     /* next() says "later" before each second call */
	bool nested;    /* done() does a call of its own */
	struct err err;

	char urls[MAX_CALLS][64];
	size_t ended, failed;
	int times[MAX_CALLS], status[MAX_CALLS];
	enum err_kind kinds[MAX_CALLS];
	char why[ERR_MSG_BYTES]; /* the last one */
	int order[MAX_CALLS];
	char wrong[200];
};

static void rig_start(struct rig *rig, const char *const *paths, size_t path_count, size_t count)
{
	memset(rig, 0, sizeof(*rig));
	rig->stub = http_stub_new(answer, NULL);
	rig->http = http_new(NULL, NULL);
	rig->paths = paths;
	rig->path_count = path_count;
	rig->count = count;
	rig->in_flight = HTTP_MAX_IN_FLIGHT;
	rig->timeout_ms = 15000;
}

static void rig_stop(struct rig *rig)
{
	http_free(rig->http);
	http_stub_free(rig->stub);
}

static int next(void *ctx, struct http_request *ret_request, void **ret_tag, int64_t *ret_wait_ms,
		struct err *err)
{
	struct rig *rig = ctx;
	char *url = rig->urls[rig->begun];

	(void)err;
	if (rig->begun == rig->count)
		return 0;
	if (rig->pauses && rig->begun % 2) {
		rig->pauses--;
		*ret_wait_ms = 5;
		return 0;
	}
	snprintf(url, sizeof(rig->urls[0]), "http://127.0.0.1:%d%s?%zu", http_stub_port(rig->stub),
		 rig->paths[rig->begun % rig->path_count], rig->begun);
	*ret_request = (struct http_request){
		.method = rig->method,
		.url = url,
		.timeout_ms = rig->timeout_ms,
		.max_bytes = rig->max_bytes,
	};
	*ret_tag = url;
	rig->begun++;
	return 1;
}

static void look_at(struct rig *rig, const char *url, size_t index,
		    const struct http_response *response)
{
	const char *target = strchr(url + 7, '/');
	const char *body = rig->method && !strcmp(rig->method, "HEAD") ? "" : target;
	char etag[64] = "", want[68];

	snprintf(want, sizeof(want), "\"%s\"", target);
	http_header(response, "ETag", etag, sizeof(etag));
	if (strcmp(buf_str(&response->body), body) != 0 || strcmp(etag, want) != 0)
		snprintf(rig->wrong, sizeof(rig->wrong), "%zu: body '%.40s', ETag '%.60s'", index,
			 buf_str(&response->body), etag);
}

static void do_one(struct rig *rig)
{
	struct http_response response = {0};
	struct http_request request = {.timeout_ms = 20000};
	char url[64];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d/%s", http_stub_port(rig->stub),
		 rig->nested ? "slow" : "own");
	request.url = url;
	if (http_do(rig->http, &request, &response, NULL) || response.status != 200)
		snprintf(rig->wrong, sizeof(rig->wrong), "a call inside done() failed");
	http_response_release(&response);
}

static int done(void *ctx, void *tag, const struct http_response *response, const struct err *why,
		struct err *err)
{
	struct rig *rig = ctx;
	char(*url)[64] = tag;
	size_t index = (size_t)(url - rig->urls);

	rig->order[rig->ended++] = (int)index;
	rig->times[index]++;
	rig->status[index] = response->status;
	if (why) {
		rig->failed++;
		rig->kinds[index] = why->kind;
		snprintf(rig->why, sizeof(rig->why), "%s", why->msg);
	} else {
		look_at(rig, *url, index, response);
	}
	if (rig->nested)
		do_one(rig);
	if (rig->ended == rig->fail_at)
		return err_set(err, ERR_BUSY, 0, "enough");
	return 0;
}

static int run(struct rig *rig)
{
	struct http_many many = {
		.in_flight = rig->in_flight, .next = next, .done = done, .ctx = rig};

	return http_many(rig->http, &many, &rig->err);
}

/* Each call has ended exactly once. */
static bool each_once(const struct rig *rig)
{
	for (size_t i = 0; i < rig->count; i++)
		if (rig->times[i] != 1)
			return false;
	return rig->ended == rig->count;
}

static const char *const plain[] = {"/object"};

TEST(a_thousand_calls_need_no_more_connections_than_are_in_flight)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));
	struct http_stub_counts counts;

	rig_start(rig, plain, 1, MAX_CALLS);
	CHECK_INT(run(rig), ==, 0);
	CHECK(each_once(rig));
	CHECK_STR(rig->wrong, "");
	CHECK_INT(rig->failed, ==, 0);
	counts = http_stub_counts(rig->stub);
	CHECK_INT(counts.requests, ==, MAX_CALLS);
	CHECK_INT(counts.connections, <=, HTTP_MAX_IN_FLIGHT);
	CHECK_INT(counts.connections, >, 1);
	rig_stop(rig);
	free(rig);
}

TEST(slow_answers_are_waited_for_together)
{
	static const char *const slow[] = {"/slow"};
	struct rig *rig = xcalloc(1, sizeof(*rig));
	int64_t start_ms, took_ms;

	rig_start(rig, slow, 1, 64);
	rig->in_flight = 8;
	start_ms = clock_mono_ms();
	CHECK_INT(run(rig), ==, 0);
	took_ms = clock_mono_ms() - start_ms;
	CHECK(each_once(rig));
	CHECK_INT(http_stub_counts(rig->stub).most_under_way, ==, 8);
	CHECK_INT(http_stub_counts(rig->stub).connections, ==, 8);
	/* one after another they need 9600 ms */
	CHECK_INT(took_ms, >=, 8 * 150);
	CHECK_INT(took_ms, <, 6000);
	rig_stop(rig);
	free(rig);
}

TEST(connections_are_kept_for_later_calls_of_every_kind)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));

	rig_start(rig, plain, 1, 100);
	rig->in_flight = 4;
	do_one(rig);
	CHECK_INT(http_stub_counts(rig->stub).connections, ==, 1);
	CHECK_INT(run(rig), ==, 0);
	do_one(rig);
	rig->begun = 0;
	CHECK_INT(run(rig), ==, 0);
	CHECK_STR(rig->wrong, "");
	CHECK_INT(http_stub_counts(rig->stub).requests, ==, 202);
	CHECK_INT(http_stub_counts(rig->stub).connections, <=, 4);
	rig_stop(rig);
	free(rig);
}

TEST(a_connection_that_the_server_closes_is_replaced)
{
	static const char *const some[] = {"/a", "/close", "/b"};
	struct rig *rig = xcalloc(1, sizeof(*rig));

	rig_start(rig, some, 3, 300);
	rig->in_flight = 4;
	CHECK_INT(run(rig), ==, 0);
	CHECK(each_once(rig));
	CHECK_STR(rig->wrong, "");
	CHECK_INT(rig->failed, ==, 0);
	CHECK_INT(http_stub_counts(rig->stub).most_open, <=, 4 + 4); /* the ends of closed ones */
	rig_stop(rig);
	free(rig);
}

TEST(idle_connections_count_too)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));

	rig_start(rig, plain, 1, 100);
	rig->in_flight = 4;
	rig->method = "POST"; /* never on a connection that was used before */
	CHECK_INT(run(rig), ==, 0);
	CHECK(each_once(rig));
	CHECK_INT(rig->failed, ==, 0);
	CHECK_INT(http_stub_counts(rig->stub).connections, ==, 100);
	CHECK_INT(http_stub_counts(rig->stub).most_open, <=, 4);
	rig_stop(rig);
	free(rig);
}

TEST(a_call_that_times_out_or_breaks_does_not_touch_the_others)
{
	static const char *const some[] = {"/a", "/hang", "/b", "/cut", "/c", "/reset", "/missing"};
	struct rig *rig = xcalloc(1, sizeof(*rig));
	size_t wrong = 0;

	rig_start(rig, some, 7, 70);
	rig->in_flight = 16;
	rig->timeout_ms = 1500;
	CHECK_INT(run(rig), ==, 0);
	CHECK(each_once(rig));
	CHECK_STR(rig->wrong, "");
	CHECK_INT(rig->failed, ==, 30);
	for (size_t i = 0; i < rig->count; i++) {
		bool fails = i % 7 == 1 || i % 7 == 3 || i % 7 == 5;

		wrong += rig->kinds[i] != (fails ? ERR_RETRY : ERR_NONE);
		wrong += rig->status[i] != (fails ? 0 : i % 7 == 6 ? 404 : 200);
	}
	CHECK_INT(wrong, ==, 0);
	CHECK_HAS(rig->why, "GET http://127.0.0.1:");
	CHECK_INT(http_stub_counts(rig->stub).most_open, <=, 16 + 16);
	rig_stop(rig);
	free(rig);
}

TEST(an_answer_behind_its_cap_fails_alone)
{
	static const char *const some[] = {"/a", "/this-is-longer-than-20-bytes"};
	struct rig *rig = xcalloc(1, sizeof(*rig));

	rig_start(rig, some, 2, 20);
	rig->max_bytes = 20;
	CHECK_INT(run(rig), ==, 0);
	CHECK(each_once(rig));
	CHECK_INT(rig->failed, ==, 10);
	CHECK_INT(rig->kinds[1], ==, ERR_FORMAT);
	CHECK_HAS(rig->why, "larger than 20 bytes");
	rig_stop(rig);
	free(rig);
}

TEST(an_unusable_request_ends_as_an_error_of_its_own)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));

	rig_start(rig, plain, 1, 3);
	rig->method = "no method";
	CHECK_INT(run(rig), ==, 0);
	CHECK(each_once(rig));
	CHECK_INT(rig->failed, ==, 3);
	CHECK_INT(rig->kinds[2], ==, ERR_CONFIG);
	CHECK_INT(http_stub_counts(rig->stub).requests, ==, 0);
	rig_stop(rig);
	free(rig);
}

TEST(done_can_end_everything_at_once)
{
	static const char *const some[] = {"/a", "/a", "/a", "/hang"};
	struct rig *rig = xcalloc(1, sizeof(*rig));
	int64_t start_ms;

	rig_start(rig, some, 4, 400);
	rig->in_flight = 8;
	rig->fail_at = 10;
	start_ms = clock_mono_ms();
	CHECK_INT(run(rig), ==, -1);
	CHECK_INT(clock_mono_ms() - start_ms, <, 10000); /* the hanging ones have 20 s */
	CHECK_INT(rig->err.kind, ==, ERR_BUSY);
	CHECK_STR(rig->err.msg, "enough");
	CHECK_INT(rig->ended, ==, 10);
	/* and the handle is as good as new */
	rig->fail_at = 0;
	rig->begun = rig->ended = 0;
	rig->count = 3;
	CHECK_INT(run(rig), ==, 0);
	CHECK_INT(rig->ended, ==, 3);
	do_one(rig);
	CHECK_STR(rig->wrong, "");
	rig_stop(rig);
	free(rig);
}

static int next_fails(void *ctx, struct http_request *ret_request, void **ret_tag,
		      int64_t *ret_wait_ms, struct err *err)
{
	struct rig *rig = ctx;

	if (rig->begun == 5)
		return err_set(err, ERR_DENIED, 0, "no key");
	return next(ctx, ret_request, ret_tag, ret_wait_ms, err);
}

TEST(next_can_end_everything_at_once)
{
	static const char *const hang[] = {"/hang"};
	struct rig *rig = xcalloc(1, sizeof(*rig));
	struct http_many many = {.in_flight = 8, .next = next_fails, .done = done, .ctx = rig};

	rig_start(rig, hang, 1, 8);
	CHECK_INT(http_many(rig->http, &many, &rig->err), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_DENIED);
	CHECK_INT(rig->ended, ==, 0);
	rig_stop(rig);
	free(rig);
}

TEST(a_call_that_comes_later_is_asked_for_again)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));

	rig_start(rig, plain, 1, 40);
	rig->in_flight = 2;
	rig->pauses = 60; /* also with nothing under way */
	CHECK_INT(run(rig), ==, 0);
	CHECK(each_once(rig));
	CHECK_INT(rig->pauses, ==, 0);
	rig_stop(rig);
	free(rig);
}

TEST(done_may_do_a_call_on_the_same_handle)
{
	static const char *const some[] = {"/slow", "/a"};
	struct rig *rig = xcalloc(1, sizeof(*rig));
	int64_t start_ms;

	rig_start(rig, some, 2, 2);
	rig->in_flight = 2;
	rig->nested = true;
	start_ms = clock_mono_ms();
	CHECK_INT(run(rig), ==, 0);
	/* the slow one ends meanwhile, and is not left lying until something else happens */
	CHECK_INT(clock_mono_ms() - start_ms, <, 15000);
	CHECK(each_once(rig));
	rig->begun = 0;
	rig->count = 12;
	rig->in_flight = 6;
	CHECK_INT(run(rig), ==, 0);
	CHECK_STR(rig->wrong, "");
	CHECK_INT(http_stub_counts(rig->stub).requests, ==, 28);
	CHECK_INT(http_stub_counts(rig->stub).most_open, <=, 6);
	rig_stop(rig);
	free(rig);
}

TEST(no_calls_at_all_are_over_at_once)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));

	rig_start(rig, plain, 1, 0);
	CHECK_INT(run(rig), ==, 0);
	CHECK_INT(rig->ended, ==, 0);
	rig_stop(rig);
	free(rig);
}

TEST(the_headers_of_an_object_come_without_its_body)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));

	rig_start(rig, plain, 1, 100);
	rig->method = "HEAD";
	rig->max_bytes = 1; /* of a body that does not come */
	CHECK_INT(run(rig), ==, 0);
	CHECK(each_once(rig));
	CHECK_STR(rig->wrong, "");
	CHECK_INT(rig->failed, ==, 0);
	CHECK_INT(http_stub_counts(rig->stub).connections, <=, HTTP_MAX_IN_FLIGHT);
	rig_stop(rig);
	free(rig);
}

TEST(dates_of_http_are_read)
{
	CHECK_INT(http_date_unix_ms("Sun, 01 Mar 2026 12:00:00 GMT"), ==, 1772366400000);
	CHECK_INT(http_date_unix_ms("Sunday, 01-Mar-26 12:00:00 GMT"), ==, 1772366400000);
	CHECK_INT(http_date_unix_ms("Sun Mar  1 12:00:00 2026"), ==, 1772366400000);
	CHECK_INT(http_date_unix_ms("yesterday"), ==, -1);
	CHECK_INT(http_date_unix_ms(""), ==, -1);
}
