#include "run/outputs/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tap.h"

#define LIMIT_MS 120000

struct rig {
	struct loop *loop;
	struct http_server *server;
	int calls;
	char path[256], query[256];
	char host[300];
	size_t body_bytes; /* of the answer to /big */
};

static void handle(void *arg, const struct http_asked *asked, struct http_reply *reply)
{
	const char *path = asked->path;
	static const char many_x[4096] = {[0 ... 4095] = 'x'};
	struct rig *rig = arg;

	rig->calls++;
	snprintf(rig->host, sizeof(rig->host), "%s", asked->host);
	snprintf(rig->path, sizeof(rig->path), "%s", path);
	snprintf(rig->query, sizeof(rig->query), "%s", asked->query);
	if (!strcmp(path, "/hello")) {
		reply->status = 200;
		reply->type = "application/json";
		buf_addstr(&reply->body, "{\"hello\":1}\n");
	}
	if (!strcmp(path, "/big")) {
		reply->status = 200;
		for (size_t i = 0; i < rig->body_bytes; i += sizeof(many_x))
			buf_add(&reply->body, many_x, sizeof(many_x));
	}
	if (!strcmp(path, "/not-ready"))
		reply->status = 503;
}

static void rig_begin(struct rig *rig)
{
	struct err err = {0};

	*rig = (struct rig){.loop = loop_new(NULL)};
	rig->server = http_server_new(rig->loop, "127.0.0.1", 0, handle, rig, &err);
	if (!CHECK(rig->server != NULL))
		tap_note("%s", err.msg);
}

static void rig_end(struct rig *rig)
{
	http_server_free(rig->server);
	loop_free(rig->loop);
}

static int dial(const struct rig *rig)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)http_server_port(rig->server)),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK_INT(connect(fd, (struct sockaddr *)&address, sizeof(address)), ==, 0);
	return fd;
}

static void say(int fd, const char *text)
{
	CHECK_INT(send(fd, text, strlen(text), MSG_NOSIGNAL), ==, (intmax_t)strlen(text));
}

/* Turn the loop until the server closes; closes fd. False when it did not within the limit. */
static bool hear(struct rig *rig, int fd, struct buf *answer)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;
	char chunk[4096];

	while (clock_mono_ms() < end_ms) {
		ssize_t got = recv(fd, chunk, sizeof(chunk), MSG_DONTWAIT);

		if (got > 0) {
			buf_add(answer, chunk, (size_t)got);
		} else if (got == 0 || errno != EAGAIN) {
			close(fd);
			return true;
		} else if (loop_step(rig->loop, 20, NULL) < 0) {
			break;
		}
	}
	close(fd);
	return false;
}

/* The whole answer to a request; static, until the next call. */
static const char *ask(struct rig *rig, const char *request)
{
	static struct buf answer;
	int fd = dial(rig);

	buf_clear(&answer);
	say(fd, request);
	CHECK(hear(rig, fd, &answer));
	return buf_str(&answer);
}

static void check_status(struct rig *rig, const char *request, const char *status)
{
	char line[64];

	snprintf(line, sizeof(line), "HTTP/1.1 %s", status);
	if (!CHECK(strncmp(ask(rig, request), line, strlen(line)) == 0))
		tap_note("'%.40s': not %s", request, status);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

RIG_TEST(answers_get_and_closes)
{
	const char *answer;

	answer = ask(rig,
		     "GET /hello?x=1 HTTP/1.1\r\nAccept: b\r\nhOsT: \t a:8085 \r\nX: c\r\n\r\n");
	CHECK_STR(rig->host, "a:8085");
	CHECK_HAS(answer, "HTTP/1.1 200 OK\r\n");
	CHECK_HAS(answer, "Content-Type: application/json\r\n");
	CHECK_HAS(answer, "Content-Length: 12\r\n");
	CHECK_HAS(answer, "Connection: close\r\n");
	CHECK_HAS(answer, "\r\n\r\n{\"hello\":1}\n");
	CHECK_STR(rig->path, "/hello");
	CHECK_INT(http_server_clients(rig->server), ==, 1); /* until it has closed, too */
}

RIG_TEST(passes_on_the_query_as_it_was_sent)
{
	static const struct {
		const char *target, *path, *query;
	} cases[] = {
		{"/hello", "/hello", ""},
		{"/hello?", "/hello", ""},
		{"/hello?a=1&b=%20", "/hello", "a=1&b=%20"},
		{"/hello?a?b", "/hello", "a?b"},
		{"/?/hello", "/", "/hello"},
	};
	char request[128];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\n\r\n", cases[i].target);
		ask(rig, request);
		CHECK_STR(rig->path, cases[i].path);
		CHECK_STR(rig->query, cases[i].query);
	}
}

RIG_TEST(head_has_the_length_but_not_the_body)
{
	const char *answer;

	answer = ask(rig, "HEAD /hello HTTP/1.0\r\n\r\n");
	CHECK_HAS(answer, "HTTP/1.1 200 OK\r\n");
	CHECK_HAS(answer, "Content-Length: 12\r\n");
	CHECK_STR(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
}

RIG_TEST(refuses_what_it_does_not_do)
{
	char longest[HTTP_SERVER_REQUEST_BYTES + 100];

	check_status(rig, "GET /nowhere HTTP/1.1\r\n\r\n", "404");
	check_status(rig, "GET /not-ready HTTP/1.1\n\n", "503");
	CHECK_INT(rig->calls, ==, 2);
	check_status(rig, "POST /hello HTTP/1.1\r\n\r\n", "405");
	CHECK_HAS(ask(rig, "DELETE /hello HTTP/1.1\r\n\r\n"), "Allow: GET, HEAD\r\n");
	check_status(rig, "GET /hello HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", "413");
	check_status(rig, "GET /hello HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "413");
	check_status(rig, "GET /hello HTTP/2.0\r\n\r\n", "505");
	check_status(rig, "GET /hello\r\n\r\n", "400");
	check_status(rig, "GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400");
	check_status(rig, "GET  HTTP/1.1\r\n\r\n", "400");
	check_status(rig, " /hello HTTP/1.1\r\n\r\n", "400");
	check_status(rig, "hello\r\n\r\n", "400");
	check_status(rig, "GET http://a/hello HTTP/1.1\r\n\r\n", "400");
	check_status(rig, "\r\n\r\n", "400");
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "GET /", 5);
	longest[HTTP_SERVER_REQUEST_BYTES] = '\0';
	check_status(rig, longest, "431");
	CHECK_INT(rig->calls, ==, 2);
	check_status(rig, "GET /hello HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "200");
}

RIG_TEST(a_zero_byte_is_no_request)
{
	struct buf answer = BUF_INIT;
	int fd;

	fd = dial(rig);
	CHECK_INT(send(fd, "GET /\0 HTTP/1.1\r\n\r\n", 20, MSG_NOSIGNAL), ==, 20);
	CHECK(hear(rig, fd, &answer));
	CHECK_HAS(buf_str(&answer), "HTTP/1.1 400");
	buf_release(&answer);
}

RIG_TEST(a_request_may_come_in_pieces)
{
	struct buf answer = BUF_INIT;
	const char *request = "GET /hello HTTP/1.1\r\nA: b\r\n\r\n";
	int fd;

	fd = dial(rig);
	for (const char *at = request; *at; at++) {
		CHECK_INT(send(fd, at, 1, MSG_NOSIGNAL), ==, 1);
		loop_step(rig->loop, 1, NULL);
	}
	CHECK(hear(rig, fd, &answer));
	CHECK_HAS(buf_str(&answer), "HTTP/1.1 200 OK");
	buf_release(&answer);
}

RIG_TEST(a_large_answer_arrives_whole)
{
	const char *answer;

	rig->body_bytes = 3 << 20;
	answer = ask(rig, "GET /big HTTP/1.1\r\n\r\n");
	answer = strstr(answer, "\r\n\r\n");
	CHECK(answer && strlen(answer + 4) == rig->body_bytes);
}

/* Silent ones, ones that trickle, and ones that do not take their answer. */
RIG_TEST(slow_clients_are_closed_in_time_while_others_are_served)
{
	struct buf answer = BUF_INIT;
	int64_t start_ms, end_ms;
	int silent, trickling, deaf;

	rig->body_bytes = 16 << 20;
	silent = dial(rig);
	trickling = dial(rig);
	deaf = dial(rig);
	say(deaf, "GET /big HTTP/1.1\r\n\r\n");
	start_ms = clock_mono_ms();
	end_ms = start_ms + LIMIT_MS;
	do {
		(void)!send(trickling, "a", 1, MSG_NOSIGNAL);
		loop_step(rig->loop, 100, NULL);
		if (clock_mono_ms() - start_ms < HTTP_SERVER_MS / 2)
			CHECK_HAS(ask(rig, "GET /hello HTTP/1.1\r\n\r\n"), "200 OK");
	} while (http_server_clients(rig->server) > 0 && clock_mono_ms() < end_ms);
	CHECK_INT(http_server_clients(rig->server), ==, 0);
	CHECK_INT(clock_mono_ms() - start_ms, >=, HTTP_SERVER_MS - 1);
	CHECK(hear(rig, silent, &answer));
	CHECK_INT(answer.len_bytes, ==, 0);
	close(trickling);
	close(deaf);
	buf_release(&answer);
}

RIG_TEST(a_crowd_cannot_keep_a_probe_out)
{
	int crowd[3 * HTTP_SERVER_CLIENTS];

	for (size_t i = 0; i < ARRAY_LEN(crowd); i++) {
		crowd[i] = dial(rig);
		if (i % 16 == 0)
			loop_step(rig->loop, 10, NULL);
	}
	CHECK_HAS(ask(rig, "GET /hello HTTP/1.1\r\n\r\n"), "200 OK");
	CHECK_INT(http_server_clients(rig->server), <=, HTTP_SERVER_CLIENTS);
	CHECK_INT(http_server_clients(rig->server), >=, HTTP_SERVER_CLIENTS - 1);
	for (size_t i = 0; i < ARRAY_LEN(crowd); i++)
		close(crowd[i]);
}

TEST(without_descriptors_it_neither_spins_nor_ends)
{
	struct rig rig;
	struct rlimit old, few;
	int64_t end_ms;
	int fd, next, turns = 0;

	if (tap_valgrind()) {
		tap_skip("valgrind closes what was accepted beyond the limit");
		return;
	}
	rig_begin(&rig);
	getrlimit(RLIMIT_NOFILE, &old);
	fd = dial(&rig);
	next = dup(fd);
	few = (struct rlimit){(rlim_t)next, old.rlim_max};
	close(next);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), ==, 0);
	end_ms = clock_mono_ms() + 300;
	for (; clock_mono_ms() < end_ms; turns++)
		loop_step(rig.loop, 100, NULL);
	CHECK_INT(turns, <, 20);
	CHECK_INT(http_server_clients(rig.server), ==, 0);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &old), ==, 0);
	end_ms = clock_mono_ms() + LIMIT_MS;
	while (http_server_clients(rig.server) == 0 && clock_mono_ms() < end_ms)
		loop_step(rig.loop, 100, NULL);
	CHECK_INT(http_server_clients(rig.server), ==, 1);
	close(fd);
	rig_end(&rig);
}

RIG_TEST(a_client_that_leaves_early_is_forgotten)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;
	int fd;

	rig->body_bytes = 8 << 20;
	fd = dial(rig);
	say(fd, "GET /big HTTP/1.1\r\n\r\n");
	while (!rig->calls && clock_mono_ms() < end_ms)
		loop_step(rig->loop, 20, NULL);
	close(fd);
	while (http_server_clients(rig->server) && clock_mono_ms() < end_ms)
		loop_step(rig->loop, 20, NULL);
	CHECK_INT(http_server_clients(rig->server), ==, 0);
}

RIG_TEST(says_why_it_cannot_listen)
{
	struct err err = {0};

	CHECK(!http_server_new(rig->loop, "localhost", 0, handle, NULL, &err));
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "localhost");
	CHECK(!http_server_new(rig->loop, "127.0.0.1", http_server_port(rig->server), handle, NULL,
			       &err));
	CHECK_INT(err.kind, ==, ERR_BUSY);
}

TEST(listens_on_ipv6_too)
{
	struct loop *loop = loop_new(NULL);
	struct err err = {0};
	struct http_server *server = http_server_new(loop, "::1", 0, handle, NULL, &err);

	if (!server) {
		loop_free(loop);
		tap_skip("no IPv6 here");
		return;
	}
	CHECK_INT(http_server_port(server), >, 0);
	http_server_free(server);
	loop_free(loop);
}
