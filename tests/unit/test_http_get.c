#include "base/http_get.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "http_stub.h"
#include "tap.h"

#define LIMIT_MS  60000
#define MAX_BYTES 100

/* ---- reading an answer ---- */

/* "more", "refused: WHY", or "STATUS BODY"; static, until the next call. */
static const char *parse_bytes(const char *bytes, size_t len_bytes, bool ended)
{
	static char text[ERR_MSG_BYTES + 20];
	struct http_get_answer answer;
	struct err err = {0};
	int parsed = http_get_parse(bytes, len_bytes, MAX_BYTES, ended, &answer, &err);

	if (parsed == 0)
		return "more";
	if (parsed < 0) {
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		snprintf(text, sizeof(text), "refused: %s", err.msg);
	} else {
		snprintf(text, sizeof(text), "%d %.*s", answer.status, (int)answer.body_len_bytes,
			 answer.body);
	}
	return text;
}

static const char *parse(const char *bytes, bool ended)
{
	return parse_bytes(bytes, strlen(bytes), ended);
}

TEST(reads_an_answer_with_its_length)
{
	static const char whole[] = "HTTP/1.1 503 Service Unavailable\r\nA: b\r\n"
				    "content-LENGTH:  3 \r\n\r\nabc";

	CHECK_STR(parse(whole, false), "503 abc");
	for (size_t len = 0; len < sizeof(whole) - 1; len++) {
		cleanup_free char *part = xstrndup(whole, len);

		CHECK_STR(parse(part, false), "more");
		CHECK_HAS(parse(part, true), "refused: the answer ends ");
	}
}

TEST(reads_an_answer_up_to_its_end)
{
	CHECK_STR(parse("HTTP/1.0 200 OK\n\nabc", false), "more");
	CHECK_STR(parse("HTTP/1.0 200 OK\n\nabc", true), "200 abc");
	CHECK_STR(parse("HTTP/1.1 404\r\n\r\n", true), "404 ");
}

TEST(bytes_behind_the_announced_length_do_not_count)
{
	CHECK_STR(parse("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc", false), "200 a");
	CHECK_STR(parse("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nabc", false), "200 ");
}

TEST(a_body_may_contain_anything)
{
	static const char zero[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\0b";
	static const char lines[] = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n\r\n\r\nab";
	struct http_get_answer answer;

	CHECK_INT(http_get_parse(zero, sizeof(zero) - 1, MAX_BYTES, false, &answer, NULL), ==, 1);
	CHECK_INT(answer.body_len_bytes, ==, 2);
	CHECK_INT(answer.body[1], ==, 'b');
	CHECK_STR(parse(lines, false), "200 \r\n\r\nab");
}

TEST(refuses_what_it_does_not_understand)
{
	static const char *const answers[] = {
		"220 mail.example ESMTP\r\n\r\n",
		"HTTP/2.0 200 OK\r\n\r\n",
		"HTTP/1.1 20 OK\r\n\r\n",
		"HTTP/1.1 2000 OK\r\n\r\n",
		"HTTP/1.1  200 OK\r\n\r\n",
		"HTTP/1.1 -20 OK\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\n",
		"HTTP/1.1\r\n\r\n",
		"\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\na",
		"HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\na",
		"HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\na",
		"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551617\r\n\r\na",
	};

	for (size_t i = 0; i < ARRAY_LEN(answers); i++)
		if (!CHECK_HAS(parse(answers[i], true), "refused: "))
			tap_note("%s", answers[i]);
	CHECK_HAS(parse_bytes("HTTP/1.1 200 OK\r\n\0\r\n\r\n", 22, false), "refused: ");
}

TEST(header_and_body_have_a_limit)
{
	cleanup_buf struct buf bytes = BUF_INIT;

	buf_addstr(&bytes, "HTTP/1.1 200 OK\r\n\r\n");
	for (int i = 0; i <= MAX_BYTES; i++) {
		CHECK_STR(parse(buf_str(&bytes), false), "more");
		buf_addch(&bytes, 'a');
	}
	CHECK_HAS(parse(buf_str(&bytes), false), "longer than 100 bytes");
	buf_clear(&bytes);
	buf_addstr(&bytes, "HTTP/1.1 200 OK\r\nA: ");
	while (bytes.len_bytes < HTTP_GET_HEADER_BYTES)
		buf_addch(&bytes, 'a');
	CHECK_STR(parse(buf_str(&bytes), false), "more");
	buf_addch(&bytes, 'a');
	CHECK_HAS(parse(buf_str(&bytes), false), "header of the answer is too long");
}

/* ---- a call ---- */

struct rig {
	struct http_stub *stub;
	struct loop *loop;
	struct http_stub_answer next; /* of the stub */
	char head[500];               /* that it got */
	int calls;                    /* of the callback */
	char got[200];
};

static void stub_answer(void *ctx, const struct http_stub_request *request,
			struct http_stub_answer *answer)
{
	struct rig *rig = ctx;

	snprintf(rig->head, sizeof(rig->head), "%s", request->head);
	*answer = rig->next;
	rig->next = (struct http_stub_answer){0};
}

static void rig_begin(struct rig *rig)
{
	*rig = (struct rig){.loop = loop_new(NULL)};
	rig->stub = http_stub_new(stub_answer, rig);
}

static void rig_end(struct rig *rig)
{
	http_stub_free(rig->stub);
	loop_free(rig->loop);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void got_answer(void *arg, const struct http_get_answer *answer, const struct err *why)
{
	struct rig *rig = arg;

	rig->calls++;
	if (answer)
		snprintf(rig->got, sizeof(rig->got), "%d %s", answer->status, answer->body);
	else
		snprintf(rig->got, sizeof(rig->got), "%s: %.150s", err_kind_name(why->kind),
			 why->msg);
	CHECK((answer == NULL) == (why != NULL));
}

/* The result of one call to this port. */
static const char *get(struct rig *rig, int port, int64_t timeout_ms)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;
	struct address address;
	struct http_get_request request = {.address = &address,
					   .host = "drey:8085",
					   .target = "/join?generation=%41",
					   .timeout_ms = timeout_ms,
					   .max_bytes = MAX_BYTES};
	struct http_get *call;

	CHECK_INT(addresses_find("127.0.0.1", port, &address, 1, NULL), ==, 1);
	rig->calls = 0;
	call = http_get_new(rig->loop, &request, got_answer, rig);
	CHECK_INT(rig->calls, ==, 0); /* never from inside */
	while (!rig->calls && clock_mono_ms() < end_ms)
		loop_step(rig->loop, 100, NULL);
	loop_step(rig->loop, 0, NULL);
	CHECK_INT(rig->calls, ==, 1);
	http_get_free(call);
	http_stub_settle(rig->stub);
	return rig->got;
}

RIG_TEST(asks_and_gets_an_answer)
{
	rig->next.status = 404;
	buf_addstr(&rig->next.body, "hello");
	CHECK_STR(get(rig, http_stub_port(rig->stub), LIMIT_MS), "404 hello");
	CHECK_HAS(rig->head, "GET /join?generation=%41 HTTP/1.1\r\n");
	CHECK_HAS(rig->head, "\r\nHost: drey:8085\r\n");
	CHECK_HAS(rig->head, "\r\nConnection: close\r\n");
}

RIG_TEST(a_late_answer_is_an_error_and_the_call_ends)
{
	int64_t start_ms = clock_mono_ms();

	rig->next.hang = true;
	CHECK_STR(get(rig, http_stub_port(rig->stub), 100), "retry: no answer in time");
	CHECK_INT(clock_mono_ms() - start_ms, >=, 99);
}

RIG_TEST(what_breaks_off_is_an_error)
{
	int port = http_stub_port(rig->stub);

	rig->next.reset = true;
	CHECK_HAS(get(rig, port, LIMIT_MS), "retry: ");
	buf_addstr(&rig->next.body, "hello");
	rig->next.cut_at_bytes = 2;
	CHECK_HAS(get(rig, port, LIMIT_MS), "the answer ends after 2 of 5 bytes");
	rig->next.length_bytes = MAX_BYTES + 1;
	CHECK_HAS(get(rig, port, LIMIT_MS), "no number up to 100");
}

RIG_TEST(a_port_where_nobody_listens_is_an_error)
{
	int port = http_stub_port(rig->stub);

	http_stub_free(rig->stub);
	rig->stub = NULL;
	CHECK_HAS(get(rig, port, LIMIT_MS), "retry: connect: Connection refused");
}

RIG_TEST(a_call_may_be_freed_while_it_is_under_way)
{
	struct address address;
	struct http_get_request request = {.address = &address,
					   .host = "a",
					   .target = "/",
					   .timeout_ms = LIMIT_MS,
					   .max_bytes = 1};

	rig->next.hang = true;
	addresses_find("127.0.0.1", http_stub_port(rig->stub), &address, 1, NULL);
	for (int i = 0; i < 2; i++) {
		struct http_get *call = http_get_new(rig->loop, &request, got_answer, rig);

		if (i)
			loop_step(rig->loop, 100, NULL);
		http_get_free(call);
	}
	loop_step(rig->loop, 0, NULL);
	CHECK_INT(rig->calls, ==, 0);
}

/* ---- addresses ---- */

TEST(addresses_have_a_family_and_a_text)
{
	struct address address;
	char text[ADDRESS_TEXT_BYTES];

	CHECK_INT(addresses_find("127.0.0.7", 8085, &address, 1, NULL), ==, 1);
	CHECK_STR(address_text(&address, text), "127.0.0.7:8085");
	CHECK_INT(addresses_find("::1", 65535, &address, 1, NULL), ==, 1);
	CHECK_STR(address_text(&address, text), "[::1]:65535");
}

TEST(what_does_not_fit_is_counted)
{
	struct address address;

	CHECK_INT(addresses_find("127.0.0.7", 8085, &address, 0, NULL), ==, 1);
}

TEST(a_name_that_is_none_is_an_error)
{
	struct address address;
	struct err err = {0};

	CHECK_INT(addresses_find("a b", 8085, &address, 1, &err), ==, -1);
	CHECK(err.kind != ERR_NONE && *err.msg);
}
