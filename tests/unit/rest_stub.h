/*
 * rest_stub - a server on 127.0.0.1 that answers every request with the response that the test has set.
 * Only for tests/unit/test_rest*.c, whose main() is rest_stub_main(). One request at a time; the connection is closed after each.
 */
#ifndef DREY_TESTS_REST_STUB_H
#define DREY_TESTS_REST_STUB_H

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "flink/rest.h"
#include "tap.h"

enum stub_mode {
	STUB_NORMAL,
	STUB_TRUNCATED, /* announces more than it sends */
	STUB_SILENT,    /* reads the request and never answers, until the client disconnects */
	STUB_CLOSED,    /* closes the connection instead of answering */
};

struct stub {
	int listen_fd;
	int port;
	pthread_t thread;
	pthread_mutex_t lock; /* guards all below */
	enum stub_mode mode;
	int status;
	const char *content_type;
	struct buf body;
	/* the last request */
	char method[16];
	char path[512];
	struct buf request_body;
};

/* Read up to the end of the headers, then Content-Length bytes more. False: the client has disconnected. */
static bool stub_read(struct stub *stub, int fd)
{
	cleanup_buf struct buf head = BUF_INIT;
	size_t want = 0;
	const char *end;
	char ch;

	while (!(end = strstr(buf_str(&head), "\r\n\r\n"))) {
		if (read(fd, &ch, 1) != 1)
			return false;
		buf_addch(&head, ch);
	}
	const char *length = strcasestr(head.data, "content-length:");
	if (length)
		want = strtoul(length + 15, NULL, 10);
	pthread_mutex_lock(&stub->lock);
	sscanf(head.data, "%15s %511s", stub->method, stub->path);
	buf_clear(&stub->request_body);
	while (stub->request_body.len_bytes < want && read(fd, &ch, 1) == 1)
		buf_addch(&stub->request_body, ch);
	pthread_mutex_unlock(&stub->lock);
	return true;
}

static void stub_write(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t done = send(fd, bytes, len, MSG_NOSIGNAL);

		if (done <= 0)
			return;
		bytes += done;
		len -= (size_t)done;
	}
}

static void stub_answer(struct stub *stub, int fd)
{
	cleanup_buf struct buf answer = BUF_INIT;
	enum stub_mode mode;
	char ch;

	pthread_mutex_lock(&stub->lock);
	mode = stub->mode;
	buf_addf(&answer,
		 "HTTP/1.1 %d Whatever\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		 "Connection: close\r\n\r\n",
		 stub->status, stub->content_type,
		 stub->body.len_bytes + (mode == STUB_TRUNCATED ? 100 : 0));
	buf_add(&answer, buf_str(&stub->body), stub->body.len_bytes);
	pthread_mutex_unlock(&stub->lock);
	if (mode == STUB_SILENT)
		(void)!read(fd, &ch, 1); /* ends when the client gives up */
	else if (mode != STUB_CLOSED)
		stub_write(fd, answer.data, answer.len_bytes);
}

static void *stub_main(void *arg)
{
	struct stub *stub = arg;
	int fd;

	while ((fd = accept(stub->listen_fd, NULL, NULL)) >= 0) {
		if (stub_read(stub, fd))
			stub_answer(stub, fd);
		close(fd);
	}
	return NULL;
}

static int stub_start(struct stub *stub)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);

	*stub = (struct stub){.status = 200, .content_type = "application/json; charset=UTF-8"};
	pthread_mutex_init(&stub->lock, NULL);
	stub->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (stub->listen_fd < 0 || bind(stub->listen_fd, (struct sockaddr *)&address, len) < 0 ||
	    listen(stub->listen_fd, 8) < 0 ||
	    getsockname(stub->listen_fd, (struct sockaddr *)&address, &len) < 0)
		return -1;
	stub->port = ntohs(address.sin_port);
	return pthread_create(&stub->thread, NULL, stub_main, stub) == 0 ? 0 : -1;
}

static void stub_stop(struct stub *stub)
{
	shutdown(stub->listen_fd, SHUT_RDWR);
	pthread_join(stub->thread, NULL);
	close(stub->listen_fd);
	buf_release(&stub->body);
	buf_release(&stub->request_body);
	pthread_mutex_destroy(&stub->lock);
}

/* Set the answer to all requests from now on. */
static void stub_set(struct stub *stub, enum stub_mode mode, int status, const char *content_type,
		     const char *body, size_t len_bytes)
{
	pthread_mutex_lock(&stub->lock);
	stub->mode = mode;
	stub->status = status;
	stub->content_type = content_type;
	buf_clear(&stub->body);
	buf_add(&stub->body, body, len_bytes);
	pthread_mutex_unlock(&stub->lock);
}

/* Answer from now on with a recorded one: tests/fixtures/rest/<version>/<name>.json. */
static inline void stub_replay(struct stub *stub, const char *version, const char *name)
{
	cleanup_free char *path = xasprintf("tests/fixtures/rest/%s/%s.json", version, name);
	cleanup_fclose FILE *file = fopen(path, "r");
	cleanup_buf struct buf text = BUF_INIT, body = BUF_INIT;
	cleanup_json struct json *doc = NULL;
	char chunk[4096];
	size_t got;

	tap_check(file != NULL, path, __FILE__, __LINE__);
	while (file && (got = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buf_add(&text, chunk, got);
	doc = json_parse(buf_str(&text), text.len_bytes, 1 << 20, NULL);
	tap_check(doc != NULL, path, __FILE__, __LINE__);
	json_print(json_get(doc, "response"), &body);
	stub_set(stub, STUB_NORMAL, (int)json_i64_or(doc, "status", 0), "application/json",
		 buf_str(&body), body.len_bytes);
}

/* The tests of a program, with `stub` running and `rest` asking it. */
static int rest_stub_main(struct stub *stub, struct flink_rest *rest, int argc, char **argv)
{
	int status;
	cleanup_free char *url = NULL;
	struct err err = {0};

	signal(SIGPIPE, SIG_IGN);
	if (stub_start(stub) < 0)
		return 1;
	url = xasprintf("http://127.0.0.1:%d", stub->port);
	*rest = (struct flink_rest){.base_url = url, .http = http_new(NULL, &err)};
	status = tap_main(argc, argv);
	http_free(rest->http);
	stub_stop(stub);
	return status;
}

#endif
