#include "base/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tap.h"

enum { MAX_CONNECTIONS = 64, REQUEST_BYTES = 20000 };

/*
 * A server on loopback that answers by the path of the request, most paths wrongly. `connections`
 * and `requests` count. One request at a time, but an idle connection does not block the next.
 */
struct server {
	int listen_fd, port;
	pthread_t thread;
	atomic_int connections, requests;
	pthread_mutex_t lock;     /* among connections, for: */
	char last[REQUEST_BYTES]; /* the last whole request; read after its answer only */
};

struct connection {
	struct server *server;
	int fd;
	pthread_t thread;
	char request[REQUEST_BYTES];
};

static void say(int fd, const char *text)
{
	size_t len = strlen(text);

	while (len) {
		ssize_t put = send(fd, text, len, MSG_NOSIGNAL);

		if (put <= 0)
			return;
		text += put;
		len -= (size_t)put;
	}
}

static void reset(int fd)
{
	struct linger now = {1, 0};

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

static void say_many(int fd, const char *part, int count)
{
	for (int i = 0; i < count; i++)
		say(fd, part);
}

/* One byte now and then until the client has had enough. */
static void drip(int fd)
{
	struct pollfd gone = {fd, POLLIN, 0};

	say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
	while (poll(&gone, 1, 10) == 0)
		say(fd, "x");
}

static void wait_for_close(int fd)
{
	struct pollfd gone = {fd, POLLIN, 0};

	poll(&gone, 1, 20000);
}

/* False: the connection is over. */
static bool answer(const struct connection *conn)
{
	const char *path = strchr(conn->request, ' ');
	int fd = conn->fd;

	path = path ? path + 1 : "";
	if (!strncmp(path, "/ok", 3)) {
		say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 11\r\nDate: Sun, 01 Mar 2026 12:00:00 "
			"GMT\r\n"
			"X-Twice: one\r\nX-Twice:  two \r\n"
			"Content-Type: Application/JSON; charset=UTF-8\r\n\r\n{\"a\":\"b\"}\r\n");
		return true;
	}
	if (!strncmp(path, "/busy", 5)) {
		say(fd, "HTTP/1.1 503 Busy\r\nContent-Length: 9\r\nRetry-After: "
			"7\r\n\r\nnot\nnow\x01.");
		return true;
	}
	if (!strncmp(path, "/later", 6)) {
		say(fd, "HTTP/1.1 429 Slow\r\nContent-Length: 0\r\nDate: Sun, 01 Mar 2026 12:00:00 "
			"GMT\r\n"
			"Retry-After: Sun, 01 Mar 2026 12:00:30 GMT\r\n\r\n");
		return true;
	}
	if (!strncmp(path, "/html", 5)) {
		say(fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 6\r\nContent-Type: "
			"text/html\r\n\r\n<html>");
		return true;
	}
	if (!strncmp(path, "/head", 5)) {
		say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n");
		return true;
	}
	if (!strncmp(path, "/continue", 9))
		say(fd, "HTTP/1.1 100 Continue\r\nX-Early: 1\r\n\r\nHTTP/1.1 204 None\r\n\r\n");
	else if (!strncmp(path, "/redirect", 9))
		say(fd, "HTTP/1.1 307 Go\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n");
	else if (!strncmp(path, "/partial", 8))
		say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this");
	else if (!strncmp(path, "/chunk", 6))
		say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
	else if (!strncmp(path, "/large", 6))
		say_many(fd, "HTTP/1.1 200 OK\r\n\r\n0123456789012345678901234567890123456789",
			 100);
	else if (!strncmp(path, "/filler", 7))
		say(fd, "HTTP/1.1 200 OK\r\n"),
			say_many(fd, "X-Filler: 0123456789012345678901234567890123456789\r\n",
				 2000);
	else if (!strncmp(path, "/ssh", 4))
		say(fd, "SSH-2.0-OpenSSH_9.2\r\n");
	else if (!strncmp(path, "/drip", 5))
		drip(fd);
	else if (!strncmp(path, "/hang", 5))
		wait_for_close(fd);
	else if (!strncmp(path, "/reset", 6))
		reset(fd);
	return false; /* also "/close" */
}

/* Read one request with its body. */
static bool read_request(struct connection *conn)
{
	size_t len = 0, want = 0;

	while (len < sizeof(conn->request) - 1) {
		char *end, *length;
		ssize_t got =
			recv(conn->fd, conn->request + len, sizeof(conn->request) - 1 - len, 0);

		if (got <= 0)
			return false;
		len += (size_t)got;
		conn->request[len] = '\0';
		end = strstr(conn->request, "\r\n\r\n");
		if (!end)
			continue;
		length = strcasestr(conn->request, "\r\nContent-Length: ");
		want = (size_t)(end + 4 - conn->request);
		if (length && length < end)
			want += strtoul(length + 18, NULL, 10);
		if (len >= want) {
			pthread_mutex_lock(&conn->server->lock);
			memcpy(conn->server->last, conn->request, len + 1);
			pthread_mutex_unlock(&conn->server->lock);
			return true;
		}
	}
	return false;
}

static void *serve_connection(void *arg)
{
	struct connection *conn = arg;

	while (read_request(conn)) {
		conn->server->requests++;
		if (!answer(conn))
			break;
	}
	close(conn->fd);
	return NULL;
}

static void *serve(void *arg)
{
	struct connection *conns = calloc(MAX_CONNECTIONS, sizeof(*conns));
	struct server *server = arg;
	int count = 0;

	while (conns && count < MAX_CONNECTIONS) {
		struct connection *conn = &conns[count];

		conn->server = server;
		conn->fd = accept(server->listen_fd, NULL, NULL);
		if (conn->fd < 0)
			break;
		server->connections++;
		if (pthread_create(&conn->thread, NULL, serve_connection, conn))
			abort();
		count++;
	}
	for (int i = 0; i < count; i++)
		pthread_join(conns[i].thread, NULL);
	free(conns);
	return NULL;
}

static void server_start(struct server *server)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);

	memset(server, 0, sizeof(*server));
	pthread_mutex_init(&server->lock, NULL);
	server->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(server->listen_fd, (struct sockaddr *)&at, len) || listen(server->listen_fd, 16) ||
	    getsockname(server->listen_fd, (struct sockaddr *)&at, &len) ||
	    pthread_create(&server->thread, NULL, serve, server))
		abort();
	server->port = ntohs(at.sin_port);
}

static void server_stop(struct server *server)
{
	shutdown(server->listen_fd, SHUT_RDWR);
	pthread_join(server->thread, NULL);
	close(server->listen_fd);
	pthread_mutex_destroy(&server->lock);
}

/* One server, one handle, one answer: what each test starts with. */
struct rig {
	struct server server;
	struct http *http;
	struct http_response response;
	struct err err;
	char url[200];
};

static void rig_start(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	server_start(&rig->server);
	rig->http = http_new(NULL, NULL);
}

static void rig_stop(struct rig *rig)
{
	http_free(rig->http); /* closes its connections, so that the server can end */
	server_stop(&rig->server);
	http_response_release(&rig->response);
}

static struct http_request request_for(struct rig *rig, const char *method, const char *path)
{
	struct http_request request = {.method = method, .url = rig->url, .timeout_ms = 10000};

	snprintf(rig->url, sizeof(rig->url), "http://127.0.0.1:%d%s", rig->server.port, path);
	return request;
}

static int get(struct rig *rig, const char *path)
{
	struct http_request request = request_for(rig, NULL, path);

	rig->err = (struct err){0};
	return http_do(rig->http, &request, &rig->response, &rig->err);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_start, rig_stop)

RIG_TEST(an_answer_comes_with_status_body_and_headers)
{
	char value[8];

	CHECK_INT(get(rig, "/ok?x=1"), ==, 0);
	CHECK_INT(rig->response.status, ==, 200);
	CHECK_STR(buf_str(&rig->response.body), "{\"a\":\"b\"}\r\n");
	CHECK_STR(rig->response.content_type, "application/json");
	CHECK_INT(rig->response.date_unix_ms, ==, 1772366400000);
	CHECK_INT(rig->response.retry_after_ms, ==, -1);
	CHECK(http_header(&rig->response, "x-twice", value, sizeof(value)));
	CHECK_STR(value, "two");
	CHECK(http_header(&rig->response, "Content-Type", value, sizeof(value)));
	CHECK_STR(value, "Applica");
	CHECK(!http_header(&rig->response, "X-Tw", value, sizeof(value)));
	CHECK_HAS(rig->server.last, "GET /ok?x=1 HTTP/1.1\r\n");
	CHECK_HAS(rig->server.last, "User-Agent: drey/");
}

RIG_TEST(a_request_is_sent_as_it_was_asked_for)
{
	static const char *const headers[] = {"X-One: 1", "Content-Type: application/json"};
	struct http_request request;

	request = request_for(rig, "POST", "/ok/../a");
	request.headers = headers;
	request.header_count = 2;
	request.body = "{\"n\":1}\0tail";
	request.body_len_bytes = 12;
	/* the server knows /ok only as a beginning: the dots must arrive */
	CHECK_INT(http_do(rig->http, &request, &rig->response, &rig->err), ==, 0);
	CHECK_HAS(rig->server.last, "POST /ok/../a HTTP/1.1\r\n");
	CHECK_HAS(rig->server.last, "X-One: 1\r\n");
	CHECK_HAS(rig->server.last, "Content-Type: application/json\r\n");
	CHECK_HAS(rig->server.last, "Content-Length: 12\r\n");
	CHECK_HAS(rig->server.last, "\r\n\r\n{\"n\":1}");
	CHECK(!strstr(rig->server.last, "Expect"));
	request = request_for(rig, "PUT", "/ok");
	CHECK_INT(http_do(rig->http, &request, &rig->response, &rig->err), ==, 0);
	CHECK_HAS(rig->server.last, "PUT /ok");
	CHECK_HAS(rig->server.last, "Content-Length: 0\r\n");
	CHECK(!strstr(rig->server.last, "Content-Type"));
	request = request_for(rig, "DELETE", "/ok");
	CHECK_INT(http_do(rig->http, &request, &rig->response, &rig->err), ==, 0);
	CHECK_HAS(rig->server.last, "DELETE /ok");
	CHECK(!strstr(rig->server.last, "Content-Length"));
	request = request_for(rig, "HEAD", "/head");
	CHECK_INT(http_do(rig->http, &request, &rig->response, &rig->err), ==, 0);
	CHECK_INT(rig->response.body.len_bytes, ==, 0);
}

RIG_TEST(connections_are_reused_but_not_for_post)
{
	struct http_request request;

	for (int i = 0; i < 5; i++)
		CHECK_INT(get(rig, "/ok"), ==, 0);
	CHECK_INT(rig->server.connections, ==, 1);
	/* on a reused connection libcurl would take the end for a stale one, and send it twice */
	request = request_for(rig, "POST", "/close");
	CHECK_INT(http_do(rig->http, &request, &rig->response, &rig->err), ==, -1);
	CHECK_INT(rig->server.requests, ==, 6);
}

RIG_TEST(a_redirect_is_an_answer_and_not_followed)
{
	CHECK_INT(get(rig, "/redirect"), ==, 0);
	CHECK_INT(rig->response.status, ==, 307);
	CHECK_INT(rig->server.requests, ==, 1);
	CHECK_INT(http_status_kind(307), ==, ERR_FORMAT);
}

RIG_TEST(interim_answers_are_not_the_answer)
{
	CHECK_INT(get(rig, "/continue"), ==, 0);
	CHECK_INT(rig->response.status, ==, 204);
	CHECK(!http_header(&rig->response, "X-Early", NULL, 0));
}

RIG_TEST(broken_connections_may_be_tried_again)
{
	static const char *const paths[] = {"/close", "/reset", "/partial", "/chunk"};
	char want[80];

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		CHECK_INT(get(rig, paths[i]), ==, -1);
		CHECK_INT(rig->err.kind, ==, ERR_RETRY);
		snprintf(want, sizeof(want), "GET http://127.0.0.1:%d%s: ", rig->server.port,
			 paths[i]);
		CHECK_HAS(rig->err.msg, want);
		CHECK_INT(rig->response.status, ==, 0);
		CHECK_INT(rig->response.body.len_bytes, ==, 0);
	}
}

TEST(a_refused_connection_may_be_tried_again)
{
	struct rig rig;

	rig_start(&rig);
	server_stop(&rig.server);
	CHECK_INT(get(&rig, "/ok"), ==, -1);
	CHECK_INT(rig.err.kind, ==, ERR_RETRY);
	CHECK_INT(rig.err.sys, ==, ECONNREFUSED);
	CHECK_HAS(rig.err.msg, "Connection refused");
	http_free(rig.http);
	http_response_release(&rig.response);
}

RIG_TEST(slow_answers_end_with_the_timeout)
{
	static const char *const paths[] = {"/hang", "/drip"};

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct http_request request = request_for(rig, "GET", paths[i]);
		int64_t start_ms = clock_mono_ms();

		request.timeout_ms = 150;
		CHECK_INT(http_do(rig->http, &request, &rig->response, &rig->err), ==, -1);
		CHECK_INT(rig->err.kind, ==, ERR_RETRY);
		CHECK_HAS(rig->err.msg, "timed out");
		CHECK_INT(clock_mono_ms() - start_ms, >=, 140);
		CHECK_INT(clock_mono_ms() - start_ms, <, 20000);
		CHECK_INT(rig->response.body.len_bytes, ==, 0);
	}
}

RIG_TEST(what_is_too_large_or_not_http_is_refused)
{
	struct http_request request;

	request = request_for(rig, "GET", "/large");
	request.max_bytes = 3000;
	CHECK_INT(http_do(rig->http, &request, &rig->response, &rig->err), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_FORMAT);
	CHECK_HAS(rig->err.msg, "the answer is larger than 3000 bytes");
	request.url = rig->url;
	request.max_bytes = 11;
	snprintf(rig->url, sizeof(rig->url), "http://127.0.0.1:%d/ok", rig->server.port);
	CHECK_INT(http_do(rig->http, &request, &rig->response, &rig->err), ==, 0);
	CHECK_INT(get(rig, "/filler"), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_FORMAT);
	CHECK_HAS(rig->err.msg, "header is larger than 65536 bytes");
	CHECK_INT(get(rig, "/ssh"), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_FORMAT);
}

RIG_TEST(no_secret_of_a_url_is_told)
{
	struct http_request request;

	CHECK_INT(get(rig, "/close?token=s3cret#frag"), ==, -1);
	CHECK(!strstr(rig->err.msg, "s3cret") && !strstr(rig->err.msg, "frag"));
	request = request_for(rig, "GET", "/ok");
	request.url = "http://user:s3cret@127.0.0.1:1/x";
	CHECK_INT(http_do(rig->http, &request, &rig->response, &rig->err), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_CONFIG);
	CHECK(!strstr(rig->err.msg, "s3cret"));
}

RIG_TEST(unusable_requests_are_the_users_to_change)
{
	static const char *const urls[] = {"", "no url", "file:///etc/passwd", "ftp://127.0.0.1/x",
					   "http://"};
	static const char *const header[] = {"X: a\r\nY: b"};
	struct http_config config = {.cert_file = "/x"};
	struct http_request request;

	for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
		request = (struct http_request){.url = urls[i]};
		CHECK_INT(http_do(rig->http, &request, &rig->response, &rig->err), ==, -1);
		if (!CHECK_INT(rig->err.kind, ==, ERR_CONFIG))
			tap_note("'%s': %s", urls[i], rig->err.msg);
	}
	request = request_for(rig, "GET", "/ok");
	request.headers = header;
	request.header_count = 1;
	CHECK_INT(http_do(rig->http, &request, &rig->response, &rig->err), ==, -1);
	CHECK_HAS(rig->err.msg, "a line break in a header");
	request = request_for(rig, "GET /x HTTP/1.1\r\nX:", "/ok");
	CHECK_INT(http_do(rig->http, &request, &rig->response, &rig->err), ==, -1);
	CHECK_HAS(rig->err.msg, "not an HTTP method");
	CHECK(!http_new(&config, &rig->err));
	CHECK_INT(rig->server.requests, ==, 0);
}

TEST(a_date_is_one_of_this_calendar_or_none)
{
	static const struct {
		const char *text;
		int64_t unix_ms;
	} rows[] = {
		{"Thu, 26 Nov 2026 03:12:00 GMT", INT64_C(1795662720000)},
		{"Fri, 31 Dec 9999 23:59:59 GMT", INT64_C(253402300799000)},
		{"Sat, 01 Jan 10000 00:00:00 GMT", -1},
		{"01 Jan 999999999 00:00:00", -1},
		{"01 Jan 292277026 00:00:00 GMT", -1},
		{"Thu, 01 Jan 1900 00:00:00 GMT", -1},
		{"tomorrow", -1},
		{"", -1},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!CHECK_INT(http_date_unix_ms(rows[i].text), ==, rows[i].unix_ms))
			tap_note("%s", rows[i].text);
}

TEST(the_password_of_a_proxy_is_not_told)
{
	struct http_config config = {.proxy = "socks9://me:s3cret@127.0.0.1:1"};
	struct http_request request = {.url = "http://192.0.2.1/"};
	cleanup_http_response struct http_response response = {0};
	struct err err = {0};
	struct http *http = http_new(&config, &err);

	CHECK_INT(http_do(http, &request, &response, &err), ==, -1);
	CHECK_HAS(err.msg, "127.0.0.1:1");
	CHECK(!strstr(err.msg, "s3cret"));
	http_free(http);
}

TEST(loopback_never_goes_through_a_proxy)
{
	struct rig rig;

	setenv("http_proxy", "http://127.0.0.1:1", 1);
	rig_start(&rig);
	CHECK_INT(get(&rig, "/ok"), ==, 0);
	unsetenv("http_proxy");
	rig_stop(&rig);
}

RIG_TEST(a_status_becomes_a_kind_and_a_message)
{
	struct http_request request;
	char want[300];

	CHECK_INT(get(rig, "/busy"), ==, 0);
	CHECK_INT(rig->response.retry_after_ms, ==, 7000);
	request = request_for(rig, "GET", "/busy");
	CHECK_INT(http_status_err(&request, &rig->response, &rig->err), ==, -1);
	snprintf(want, sizeof(want), "GET %s: HTTP 503: not now .", rig->url);
	CHECK_STR(rig->err.msg, want);
	CHECK_INT(rig->err.kind, ==, ERR_RETRY);
	CHECK_INT(get(rig, "/later"), ==, 0);
	CHECK_INT(rig->response.retry_after_ms, ==, 30000);
	CHECK_INT(get(rig, "/html"), ==, 0);
	request = request_for(rig, "GET", "/html");
	http_status_err(&request, &rig->response, &rig->err);
	CHECK_INT(rig->err.kind, ==, ERR_ABSENT);
	CHECK(!strstr(rig->err.msg, "<html>"));
	CHECK_INT(http_status_kind(200), ==, ERR_NONE);
	CHECK_INT(http_status_kind(401), ==, ERR_DENIED);
	CHECK_INT(http_status_kind(403), ==, ERR_DENIED);
	CHECK_INT(http_status_kind(409), ==, ERR_BUSY);
	CHECK_INT(http_status_kind(410), ==, ERR_FORMAT);
	CHECK_INT(http_status_kind(429), ==, ERR_RETRY);
	CHECK_INT(http_status_kind(500), ==, ERR_RETRY);
}

struct stopper {
	struct http *http;
	struct server *server; /* NULL: stop at once */
};

static void *stop_soon(void *arg)
{
	struct stopper *stopper = arg;

	while (stopper->server && !stopper->server->requests)
		usleep(1000);
	http_stop(stopper->http);
	return NULL;
}

TEST(another_thread_can_stop_a_call)
{
	struct stopper stopper;
	pthread_t thread;
	struct rig rig;
	struct http_request request = {.url = rig.url, .timeout_ms = 60000};
	int64_t begin_ms = clock_mono_ms();

	rig_start(&rig);
	snprintf(rig.url, sizeof(rig.url), "http://127.0.0.1:%d/hang", rig.server.port);
	stopper = (struct stopper){rig.http, &rig.server};
	pthread_create(&thread, NULL, stop_soon, &stopper);
	CHECK_INT(http_do(rig.http, &request, &rig.response, &rig.err), ==, -1);
	pthread_join(thread, NULL);
	CHECK_INT(rig.err.kind, ==, ERR_RETRY);
	CHECK_HAS(rig.err.msg, "/hang: stopped");
	CHECK(http_stopped(rig.http));
	CHECK_INT(http_do(rig.http, &request, &rig.response, &rig.err), ==, -1);
	CHECK_INT(http_pause(rig.http, 60000, &rig.err), ==, -1);
	CHECK_INT(clock_mono_ms() - begin_ms, <, 20000);
	rig_stop(&rig);
}

RIG_TEST(another_thread_can_stop_a_pause)
{
	struct stopper stopper;
	pthread_t thread;
	int64_t begin_ms = clock_mono_ms();

	CHECK_INT(http_pause(rig->http, 50, &rig->err), ==, 0);
	CHECK_INT(clock_mono_ms() - begin_ms, >=, 50);
	stopper = (struct stopper){rig->http, NULL};
	pthread_create(&thread, NULL, stop_soon, &stopper);
	CHECK_INT(http_pause(rig->http, 60000, &rig->err), ==, -1);
	pthread_join(thread, NULL);
	CHECK_INT(clock_mono_ms() - begin_ms, <, 20000);
}

TEST(a_server_that_falls_silent_is_left)
{
	struct rig rig;
	struct http_request request = {.url = rig.url, .timeout_ms = 60000, .stall_ms = 200};
	int64_t begin_ms = clock_mono_ms();

	rig_start(&rig);
	snprintf(rig.url, sizeof(rig.url), "http://127.0.0.1:%d/hang", rig.server.port);
	CHECK_INT(http_do(rig.http, &request, &rig.response, &rig.err), ==, -1);
	CHECK_INT(rig.err.kind, ==, ERR_RETRY);
	CHECK_HAS(rig.err.msg, "silent");
	CHECK_INT(clock_mono_ms() - begin_ms, >=, 200);
	CHECK_INT(clock_mono_ms() - begin_ms, <, 20000);
	rig_stop(&rig);
}

struct pieces {
	struct buf all;
	size_t enough_bytes;
};

static int take_piece(void *ctx, const char *bytes, size_t len_bytes)
{
	struct pieces *pieces = ctx;

	buf_add(&pieces->all, bytes, len_bytes);
	return pieces->enough_bytes && pieces->all.len_bytes >= pieces->enough_bytes ? -1 : 0;
}

TEST(a_body_can_be_taken_as_it_comes)
{
	struct pieces pieces = {BUF_INIT, 0};
	struct rig rig;
	struct http_request request = {
		.url = rig.url, .max_bytes = 3, .on_data = take_piece, .on_data_ctx = &pieces};

	rig_start(&rig);
	snprintf(rig.url, sizeof(rig.url), "http://127.0.0.1:%d/ok", rig.server.port);
	CHECK_INT(http_do(rig.http, &request, &rig.response, &rig.err), ==, 0);
	CHECK_INT(rig.response.body.len_bytes, ==, 0);
	CHECK_INT(pieces.all.len_bytes, ==, 11);
	/* an error is no stream: it is kept, and capped */
	buf_clear(&pieces.all);
	request.max_bytes = 100;
	snprintf(rig.url, sizeof(rig.url), "http://127.0.0.1:%d/busy", rig.server.port);
	CHECK_INT(http_do(rig.http, &request, &rig.response, &rig.err), ==, 0);
	CHECK_INT(rig.response.status, ==, 503);
	CHECK_INT(rig.response.body.len_bytes, ==, 9);
	CHECK_INT(pieces.all.len_bytes, ==, 0);
	/* whoever takes it may have enough */
	pieces.enough_bytes = 10;
	snprintf(rig.url, sizeof(rig.url), "http://127.0.0.1:%d/drip", rig.server.port);
	CHECK_INT(http_do(rig.http, &request, &rig.response, &rig.err), ==, -1);
	CHECK_INT(rig.err.kind, ==, ERR_FORMAT);
	CHECK_INT(pieces.all.len_bytes, >=, 10);
	buf_release(&pieces.all);
	rig_stop(&rig);
}

TEST(what_may_go_once_has_a_connection_of_its_own)
{
	struct rig rig;
	struct http_request request = {.url = rig.url};

	rig_start(&rig);
	snprintf(rig.url, sizeof(rig.url), "http://127.0.0.1:%d/ok", rig.server.port);
	for (int i = 0; i < 4; i++) {
		request.once = i % 2 == 0;
		http_do(rig.http, &request, &rig.response, &rig.err);
	}
	CHECK_INT(rig.server.connections, ==, 3); /* the fourth call is on the second's */
	CHECK_INT(rig.server.requests, ==, 4);
	rig_stop(&rig);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	return tap_main(argc, argv);
}
