#include "kube/kube.h"
#include "kube/kube_target.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/percent.h"
#include "kube_stub.h"
#include "store_dir.h"
#include "tap.h"

#define OBJECT "{\"kind\":\"Thing\",\"apiVersion\":\"v1\"}"
#define PATH   "/api/v1/namespaces/team-a/things/t"

struct rig {
	struct kube_stub stub;
	struct kube_answer answer;
	struct err err;
	int64_t took_ms;
};

static void rig_start(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	kube_stub_start(&rig->stub);
}

static void rig_stop(struct rig *rig)
{
	kube_answer_release(&rig->answer);
	kube_stub_stop(&rig->stub);
}

static int ask(struct rig *rig, const struct kube_request *request)
{
	int64_t begin_ms = clock_mono_ms();
	int rc;

	rig->err = (struct err){0};
	rc = kube_do(rig->stub.kube, request, &rig->answer, &rig->err);
	rig->took_ms = clock_mono_ms() - begin_ms;
	return rc;
}

static int get(struct rig *rig)
{
	static const struct kube_request request = {.path = PATH};

	return ask(rig, &request);
}

static int change(struct rig *rig, const char *method)
{
	cleanup_json struct json *body = json_object();
	struct kube_request request = {.method = method, .path = PATH, .body = body};

	return ask(rig, &request);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_start, rig_stop)

RIG_TEST(it_says_who_it_is)
{
	KUBE_SAY(&rig->stub, {.body = OBJECT, .header = "Date: Sun, 01 Mar 2026 12:00:00 GMT\r\n"});
	CHECK_INT(get(rig), ==, 0);
	CHECK_STR(rig->stub.asked[0], "GET " PATH);
	CHECK_HAS(rig->stub.heads[0], "User-Agent: drey/" DREY_VERSION " (linux/");
	CHECK_HAS(rig->stub.heads[0], "Authorization: Bearer first-token\r\n");
	CHECK_HAS(rig->stub.heads[0], "Accept: application/json\r\n");
	CHECK_HAS(rig->stub.heads[0], " HTTP/1.1\r\n");
	CHECK_STR(json_str(rig->answer.object, "kind"), "Thing");
	CHECK_INT(rig->answer.status, ==, 200);
	CHECK_INT(rig->answer.date_unix_ms, ==, INT64_C(1772366400000));
	CHECK_STR(kube_namespace(rig->stub.kube), "team-a");
}

RIG_TEST(without_a_token_it_shows_none)
{
	xstrset(&rig->stub.config.token, NULL);
	kube_stub_renew(&rig->stub);
	KUBE_SAY(&rig->stub, {.body = OBJECT});
	CHECK_INT(get(rig), ==, 0);
	CHECK(!strstr(rig->stub.heads[0], "Authorization"));
}

/* ---- 401 ---- */

/* Exchanges the token in the file when it has seen the first request. */
struct exchange {
	struct kube_stub *stub;
	const char *file, *text;
};

static void write_text(const char *file, const char *text)
{
	FILE *to = fopen(file, "w");

	if (!to || fputs(text, to) < 0 || fclose(to))
		abort();
}

static void *exchange_token(void *arg)
{
	struct exchange *exchange = arg;

	while (!kube_stub_asked(exchange->stub))
		usleep(1000);
	write_text(exchange->file, exchange->text);
	return NULL;
}

static const struct kube_stub_says unauthorized = {
	.status = 401,
	.body = KUBE_STATUS(401, "Unauthorized", "Unauthorized", ""),
	.after_ms = 300,
};

static void rig_start_with_file(struct rig *rig, char **ret_top, char **ret_file)
{
	rig_start(rig);
	*ret_top = dir_new();
	*ret_file = xasprintf("%s/token", *ret_top);
	write_text(*ret_file, "  in-the-file\n");
	rig->stub.config.token_file = xstrdup(*ret_file);
	kube_stub_renew(&rig->stub);
}

TEST(after_a_401_another_token_is_shown_at_once)
{
	static const char *const methods[] = {"POST", NULL, "PATCH", "DELETE"};

	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		struct rig rig;
		char *top, *file;
		struct exchange exchange;
		pthread_t thread;

		rig_start_with_file(&rig, &top, &file);
		KUBE_SAY(&rig.stub, unauthorized, {.body = OBJECT});
		exchange = (struct exchange){&rig.stub, file, "the-next\n"};
		pthread_create(&thread, NULL, exchange_token, &exchange);
		CHECK_INT(methods[i] ? change(&rig, methods[i]) : get(&rig), ==, 0);
		pthread_join(thread, NULL);
		CHECK_INT(kube_stub_asked(&rig.stub), ==, 2);
		CHECK_HAS(rig.stub.heads[0], "Bearer in-the-file\r\n");
		CHECK_HAS(rig.stub.heads[1], "Bearer the-next\r\n");
		rig_stop(&rig);
		free(file);
		dir_removep(&top);
	}
}

TEST(a_401_of_the_same_token_is_final)
{
	struct rig rig;
	char *top, *file;

	rig_start_with_file(&rig, &top, &file);
	KUBE_SAY(&rig.stub, {.status = 401, .body = "Unauthorized\n"});
	CHECK_INT(get(&rig), ==, -1);
	CHECK_INT(rig.err.kind, ==, ERR_DENIED);
	CHECK_INT(kube_stub_asked(&rig.stub), ==, 1);
	write_text(file, "the-next\n");
	CHECK_INT(get(&rig), ==, -1); /* seen before the request: no second try */
	CHECK_INT(kube_stub_asked(&rig.stub), ==, 2);
	CHECK_HAS(rig.stub.heads[1], "Bearer the-next\r\n");
	rig_stop(&rig);
	free(file);
	dir_removep(&top);
}

RIG_TEST(without_a_readable_token_nothing_is_asked)
{
	xstrset(&rig->stub.config.token, NULL);
	rig->stub.config.token_file = xstrdup("/nonexistent/token");
	kube_stub_renew(&rig->stub);
	CHECK_INT(get(rig), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_DENIED); /* and not absence */
	CHECK_HAS(rig->err.msg, "/nonexistent/token");
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 0);
}

/* ---- again ---- */

RIG_TEST(a_get_is_asked_again)
{
	KUBE_SAY(&rig->stub, {.status = 500, .body = "x"}, {.reset = true},
		 {.body = OBJECT, .cut_at_bytes = 9}, {.body = OBJECT});
	CHECK_INT(get(rig), ==, 0);
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 4);
}

RIG_TEST(but_not_for_ever)
{
	KUBE_SAY(&rig->stub, {.status = 503, .body = "not now\n"});
	CHECK_INT(get(rig), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_RETRY);
	CHECK_HAS(rig->err.msg, "GET " PATH ": HTTP 503: not now");
	CHECK_INT(kube_stub_asked(&rig->stub), ==, KUBE_ATTEMPTS);
	CHECK(!rig->answer.maybe_done);
}

TEST(a_change_whose_outcome_is_unknown_is_not_made_again)
{
	static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE"};
	static const struct kube_stub_says failures[] = {
		{.reset = true},
		{.status = 500, .body = KUBE_STATUS(500, "InternalError", "boom", "")},
		{.status = 504, .body = "gateway"},
		{.status = 201, .body = OBJECT, .cut_at_bytes = 9},
	};

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		for (size_t j = 0; j < ARRAY_LEN(failures); j++) {
			struct rig rig;

			rig_start(&rig);
			kube_stub_say(&rig.stub, &failures[j], 1);
			CHECK_INT(change(&rig, methods[i]), ==, -1);
			CHECK_INT(rig.err.kind, ==, ERR_RETRY);
			CHECK(rig.answer.maybe_done);
			CHECK_INT(kube_stub_asked(&rig.stub), ==, 1);
			rig_stop(&rig);
		}
}

RIG_TEST(a_change_gets_a_connection_of_its_own)
{
	KUBE_SAY(&rig->stub, {.body = OBJECT});
	get(rig);
	get(rig);
	CHECK_INT(http_stub_counts(rig->stub.http).connections, ==, 1);
	change(rig, "PUT");
	CHECK_INT(http_stub_counts(rig->stub.http).connections, ==, 2);
	get(rig);
	CHECK_INT(http_stub_counts(rig->stub.http).connections, ==, 2);
	change(rig, "DELETE");
	CHECK_INT(http_stub_counts(rig->stub.http).connections, ==, 3);
}

RIG_TEST(a_429_is_obeyed_whatever_was_asked)
{
	KUBE_SAY(&rig->stub,
		 {.status = 429, .header = "Retry-After: 1\r\n", .body = "Too many requests\n"},
		 {.status = 201, .body = OBJECT});
	CHECK_INT(change(rig, "POST"), ==, 0);
	CHECK_INT(rig->took_ms, >=, 1000);
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 2);
}

RIG_TEST(a_long_retry_after_is_the_callers)
{
	static const char details[] =
		KUBE_STATUS(429, "TooManyRequests", "wait", "\"retryAfterSeconds\":30");

	KUBE_SAY(&rig->stub, {.status = 429, .header = "Retry-After: 86400\r\n", .body = "no"},
		 {.status = 429, .body = details});
	CHECK_INT(get(rig), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_RETRY);
	CHECK_INT(rig->answer.retry_after_ms, ==, KUBE_RETRY_AFTER_MAX_MS);
	CHECK_INT(get(rig), ==, -1);
	CHECK_INT(rig->answer.retry_after_ms, ==, 30000);
	CHECK_STR(rig->answer.reason, "TooManyRequests");
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 2);
}

RIG_TEST(a_refused_connection_is_tried_again_and_nothing_was_done)
{
	xstrset(&rig->stub.config.server, "http://127.0.0.1:1");
	kube_stub_renew(&rig->stub);
	CHECK_INT(change(rig, "POST"), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_RETRY);
	CHECK_INT(rig->err.sys, ==, ECONNREFUSED);
	CHECK(!rig->answer.maybe_done);
	CHECK_INT(rig->took_ms, >=, 3 * KUBE_PAUSE_MS / 2);
}

/* ---- what answers mean ---- */

TEST(each_status_has_its_kind)
{
	static const struct {
		struct kube_stub_says says;
		enum err_kind kind;
		const char *reason;
	} cases[] = {
		{{.status = 400, .body = KUBE_STATUS(400, "BadRequest", "m", "")},
		 ERR_CONFIG,
		 "BadRequest"},
		{{.status = 403, .body = KUBE_STATUS(403, "Forbidden", "m", "")},
		 ERR_DENIED,
		 "Forbidden"},
		{{.status = 404, .body = KUBE_NOT_FOUND("things", "t")}, ERR_ABSENT, "NotFound"},
		{{.status = 404, .body = "404 page not found\n"}, ERR_CONFIG, ""},
		{{.status = 405, .body = KUBE_STATUS(405, "MethodNotAllowed", "m", "")},
		 ERR_CONFIG,
		 "MethodNotAllowed"},
		{{.status = 409, .body = KUBE_STATUS(409, "Conflict", "m", "")},
		 ERR_BUSY,
		 "Conflict"},
		{{.status = 409, .body = KUBE_STATUS(409, "AlreadyExists", "m", "")},
		 ERR_BUSY,
		 "AlreadyExists"},
		{{.status = 410, .body = KUBE_STATUS(410, "Expired", "m", "")},
		 ERR_RETRY,
		 "Expired"},
		{{.status = 413, .body = "too large"}, ERR_CONFIG, ""},
		{{.status = 415, .body = KUBE_STATUS(415, "UnsupportedMediaType", "m", "")},
		 ERR_CONFIG,
		 "UnsupportedMediaType"},
		{{.status = 422, .body = KUBE_STATUS(422, "Invalid", "m", "")},
		 ERR_CONFIG,
		 "Invalid"},
		{{.status = 302, .header = "Location: /login\r\n", .body = "x"}, ERR_FORMAT, ""},
		{{.status = 400, .body = "<html>"}, ERR_FORMAT, ""},
		{{.status = 200, .body = "<html>"}, ERR_FORMAT, ""},
		{{.status = 200, .body = "{\"kind\":\"Thing\""}, ERR_FORMAT, ""},
		{{.status = 200, .body = "[1]"}, ERR_FORMAT, ""},
		{{.status = 200, .body = "{}"}, ERR_FORMAT, ""},
		{{.status = 204}, ERR_FORMAT, ""},
		{{.status = 200, .body = KUBE_STATUS(409, "Conflict", "m", "")}, ERR_FORMAT, ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig rig;

		rig_start(&rig);
		kube_stub_say(&rig.stub, &cases[i].says, 1);
		CHECK_INT(change(&rig, "PUT"), ==, -1);
		CHECK_INT(rig.err.kind, ==, cases[i].kind);
		CHECK_STR(rig.answer.reason, cases[i].reason);
		CHECK_HAS(rig.err.msg, "PUT " PATH ": HTTP ");
		CHECK_INT(rig.answer.status, ==, cases[i].says.status);
		CHECK_INT(rig.answer.maybe_done, ==, cases[i].says.status / 100 == 2);
		CHECK_INT(kube_stub_asked(&rig.stub), ==, 1);
		rig_stop(&rig);
	}
}

RIG_TEST(an_apply_that_does_not_fit_the_schema_is_refused_and_not_busy)
{
	cleanup_json struct json *body = json_object();
	struct kube_request request = {.method = "PATCH",
				       .path = PATH "/status?fieldManager=drey&force=true",
				       .content_type = KUBE_APPLY_PATCH,
				       .body = body,
				       .repeatable = true};

	KUBE_SAY(&rig->stub,
		 {.status = 500,
		  .body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
			  "\"message\":\"field not declared in schema\",\"code\":500}"},
		 {.status = 500, .body = KUBE_STATUS(500, "InternalError", "etcd", "")},
		 {.body = OBJECT});
	CHECK_INT(ask(rig, &request), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONFIG);
	CHECK_HAS(rig->err.msg, "field not declared in schema");
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 1);
	CHECK_INT(ask(rig, &request), ==, 0);
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 3);
}

RIG_TEST(what_the_server_says_is_made_fit_for_a_line)
{
	KUBE_SAY(&rig->stub, {.status = 403, .body = "no\nway\x1b[31m\x01 \n"});
	CHECK_INT(get(rig), ==, -1);
	CHECK_STR(rig->answer.message, "no way [31m");
}

RIG_TEST(an_answer_that_is_too_large_is_told_apart)
{
	struct kube_request request = {.path = PATH, .max_bytes = 10};

	KUBE_SAY(&rig->stub, {.body = OBJECT});
	CHECK_INT(ask(rig, &request), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_FORMAT);
	CHECK_INT(rig->err.sys, ==, EFBIG);
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 1);
}

/* ---- time ---- */

RIG_TEST(a_server_that_hangs_costs_no_more_than_the_time_given)
{
	struct kube_request request = {.path = PATH, .timeout_ms = 300};

	KUBE_SAY(&rig->stub, {.hang = true});
	CHECK_INT(ask(rig, &request), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_RETRY);
	CHECK_INT(rig->took_ms, >=, 290);
	CHECK_INT(rig->took_ms, <, 5000);
}

static void *stop_when_asked(void *arg)
{
	struct kube_stub *stub = arg;

	while (!kube_stub_asked(stub))
		usleep(1000);
	usleep(50000);
	kube_stop(stub->kube);
	return NULL;
}

TEST(another_thread_can_stop_it)
{
	static const struct kube_stub_says waits[] = {
		{.hang = true},
		{.status = 429, .header = "Retry-After: 5\r\n"},
		{.body = OBJECT, .length_bytes = 1000000}, /* and nothing more */
	};

	for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
		struct rig rig;
		pthread_t thread;

		rig_start(&rig);
		kube_stub_say(&rig.stub, &waits[i], 1);
		pthread_create(&thread, NULL, stop_when_asked, &rig.stub);
		CHECK_INT(get(&rig), ==, -1);
		pthread_join(thread, NULL);
		CHECK_INT(rig.err.kind, ==, ERR_RETRY);
		CHECK_HAS(rig.err.msg, "stopped");
		CHECK_INT(rig.took_ms, <, 1000);
		CHECK_INT(get(&rig), ==, -1); /* for good */
		CHECK_INT(kube_stub_asked(&rig.stub), ==, 1);
		rig_stop(&rig);
	}
}

RIG_TEST(a_burst_is_let_through_and_then_it_is_slow)
{
	struct kube_request request = {.path = PATH, .timeout_ms = 100};
	int64_t begin_ms, done = 0;

	KUBE_SAY(&rig->stub, {.body = OBJECT});
	begin_ms = clock_mono_ms();
	/* on a machine that is busy an answer may take too long: it was let through all the same */
	while (done < 2 * KUBE_BURST &&
	       (ask(rig, &request) == 0 || !strstr(rig->err.msg, "too many requests")))
		done++;
	CHECK_INT(done, >=, KUBE_BURST);
	CHECK_INT(done - KUBE_BURST, <=, 1 + (clock_mono_ms() - begin_ms) * KUBE_PER_SECOND / 1000);
	CHECK_INT(rig->err.kind, ==, ERR_RETRY);
	CHECK_HAS(rig->err.msg, "too many requests");
	CHECK_INT(get(rig), ==, 0); /* waits its turn */
	CHECK_INT(rig->took_ms, <, 10000);
}

/* ---- odds and ends ---- */

RIG_TEST(only_the_proxy_that_is_named_is_used)
{
	xstrset(&rig->stub.config.proxy_url, rig->stub.config.server);
	xstrset(&rig->stub.config.server, "http://localhost:1");
	kube_stub_renew(&rig->stub);
	KUBE_SAY(&rig->stub, {.body = OBJECT});
	CHECK_INT(get(rig), ==, 0);
	CHECK_STR(rig->stub.asked[0], "GET http://localhost:1" PATH);
}

TEST(a_config_that_leads_nowhere_is_refused)
{
	static const struct kube_target configs[] = {
		{.namespace = (char *)"n"},
		{.server = (char *)"https://h"},
		{.server = (char *)"http://h", .namespace = (char *)"n"},
		{.server = (char *)"https://u@h", .namespace = (char *)"n"},
		{.server = (char *)"https://h/?x", .namespace = (char *)"n"},
		{.server = (char *)"h:6443", .namespace = (char *)"n"},
		{.server = (char *)"https://h", .namespace = (char *)"a/b"},
		{.server = (char *)"https://h", .namespace = (char *)""},
		{.server = (char *)"https://h", .namespace = (char *)"n", .cert_pem = (char *)"x"},
	};

	for (size_t i = 0; i < ARRAY_LEN(configs); i++) {
		struct err err = {0};

		CHECK(!kube_new(&configs[i], &err));
		CHECK_INT(err.kind, ==, ERR_CONFIG);
	}
	kube_free(NULL);
}

TEST(values_of_a_query_are_encoded)
{
	cleanup_buf struct buf path = BUF_INIT;

	percent_encode(&path, "app=a b/c&d%\xc3\xa9,e-f._~", false);
	CHECK_STR(buf_str(&path), "app%3Da%20b%2Fc%26d%25%C3%A9%2Ce-f._~");
}

TEST(a_server_is_told_without_its_password)
{
	static const char *const servers[] = {"https://me:s3cret@api:6443", "http://me:s3cret@api",
					      "ftp://me:s3cret@api", "me:s3cret@api",
					      "https://api/?token=s3cret"};

	for (size_t i = 0; i < ARRAY_LEN(servers); i++) {
		struct err err = {0};

		CHECK_INT(kube_target_check_server(servers[i], &err), ==, -1);
		CHECK(!strstr(err.msg, "s3cret"));
	}
}
