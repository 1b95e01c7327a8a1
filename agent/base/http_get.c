#include "base/http_get.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/sock.h"

struct http_get {
	http_get_fn *fn;
	void *arg;
	int fd;
	struct loop_fd *watch;
	struct loop_timer *timer; /* the deadline, or what failed at the beginning */
	struct err failed;
	struct buf out, in;
	size_t sent_bytes, max_bytes;
	bool sent;
};

/* ---- the answer ---- */

/* Behind the empty line; NULL while that has not come. */
static const char *find_body(const char *bytes)
{
	const char *crlf = strstr(bytes, "\r\n\r\n"), *lf = strstr(bytes, "\n\n");

	if (crlf && (!lf || crlf < lf))
		return crlf + 4;
	return lf ? lf + 2 : NULL;
}

/* "HTTP/1.1 200 OK": the status, or -1 */
static int parse_status(const char *line)
{
	const char *at = line + strlen("HTTP/1.x");
	int status = 0;

	if (strncmp(line, "HTTP/1.", 7) != 0 || (line[7] != '0' && line[7] != '1') || *at++ != ' ')
		return -1;
	for (int i = 0; i < 3; i++, at++) {
		if (*at < '0' || *at > '9')
			return -1;
		status = 10 * status + (*at - '0');
	}
	return *at == ' ' || *at == '\r' || *at == '\n' ? status : -1;
}

/* 0 and *ret_bytes, or -1: not a number, or more than max_bytes. */
static int parse_length(const char *text, size_t max_bytes, size_t *ret_bytes)
{
	size_t bytes = 0, digits;

	text += strspn(text, " \t");
	digits = strspn(text, "0123456789");
	if (!digits || !strchr("\r\n", text[digits + strspn(text + digits, " \t")]))
		return -1;
	for (; digits; digits--, text++) {
		bytes = 10 * bytes + (size_t)(*text - '0');
		if (bytes > max_bytes)
			return -1;
	}
	*ret_bytes = bytes;
	return 0;
}

/* The lines between the first and the empty one. *ret_announced: there is a Content-Length. */
static int parse_headers(const char *at, const char *end, size_t max_bytes, bool *ret_announced,
			 size_t *ret_bytes, struct err *err)
{
	static const char length[] = "content-length:", coding[] = "transfer-encoding:";

	*ret_announced = false;
	while ((at = memchr(at, '\n', (size_t)(end - at))) && ++at < end) {
		if (!strncasecmp(at, coding, sizeof(coding) - 1))
			return err_set(err, ERR_FORMAT, 0, "the answer has a transfer encoding");
		if (strncasecmp(at, length, sizeof(length) - 1) != 0)
			continue;
		if (*ret_announced)
			return err_set(err, ERR_FORMAT, 0, "the answer has two lengths");
		if (parse_length(at + sizeof(length) - 1, max_bytes, ret_bytes) < 0)
			return err_set(err, ERR_FORMAT, 0,
				       "the length of the answer is no number up to %zu",
				       max_bytes);
		*ret_announced = true;
	}
	return 0;
}

static int check_head(const char *bytes, size_t len_bytes, const char *body, bool ended,
		      struct err *err)
{
	size_t head_bytes = body ? (size_t)(body - bytes) : len_bytes;

	if (memchr(bytes, '\0', head_bytes))
		return err_set(err, ERR_FORMAT, 0, "the answer is not HTTP");
	if (head_bytes > HTTP_GET_HEADER_BYTES)
		return err_set(err, ERR_FORMAT, 0, "the header of the answer is too long");
	if (!body && ended)
		return err_set(err, ERR_FORMAT, 0, "the answer ends in its header");
	return 0;
}

int http_get_parse(const char *bytes, size_t len_bytes, size_t max_bytes, bool ended,
		   struct http_get_answer *ret_answer, struct err *err)
{
	const char *body = find_body(bytes);
	size_t got_bytes, wanted_bytes = 0;
	bool announced;
	int status;

	if (check_head(bytes, len_bytes, body, ended, err) < 0)
		return -1;
	if (!body)
		return 0;
	status = parse_status(bytes);
	if (status < 200)
		return err_set(err, ERR_FORMAT, 0, "the answer is not HTTP/1.1");
	if (parse_headers(bytes, body, max_bytes, &announced, &wanted_bytes, err) < 0)
		return -1;
	got_bytes = len_bytes - (size_t)(body - bytes);
	if (!announced && got_bytes > max_bytes)
		return err_set(err, ERR_FORMAT, 0, "the answer is longer than %zu bytes",
			       max_bytes);
	if (announced ? got_bytes < wanted_bytes : !ended) {
		if (ended)
			return err_set(err, ERR_FORMAT, 0, "the answer ends after %zu of %zu bytes",
				       got_bytes, wanted_bytes);
		return 0;
	}
	*ret_answer = (struct http_get_answer){
		.status = status,
		.body = body,
		.body_len_bytes = announced ? wanted_bytes : got_bytes,
	};
	return 1;
}

/* ---- the call ---- */

/* The last thing that happens to it: the callback may free it. */
static void call_end(struct http_get *get, const struct http_get_answer *answer,
		     const struct err *why)
{
	loop_timer_stop(get->timer);
	if (get->watch)
		loop_fd_set(get->watch, 0, NULL);
	get->fn(get->arg, answer, why);
}

static void call_fail(struct http_get *get, const char *what, int sys)
{
	struct err why = {0};

	err_set(&why, ERR_RETRY, sys, "%s", what);
	call_end(get, NULL, &why);
}

static void call_timer(void *arg)
{
	struct http_get *get = arg;

	if (get->failed.kind)
		call_end(get, NULL, &get->failed);
	else
		call_fail(get, get->sent ? "no answer in time" : "no connection in time", 0);
}

static void call_send(struct http_get *get)
{
	socklen_t bytes = sizeof(int);
	int sys = 0, sent;

	if (getsockopt(get->fd, SOL_SOCKET, SO_ERROR, &sys, &bytes) < 0)
		sys = errno;
	if (sys) {
		call_fail(get, "connect", sys);
		return;
	}
	sent = sock_send(get->fd, &get->out, &get->sent_bytes);
	if (sent == 0)
		return;
	get->sent = sent > 0;
	if (sent < 0 || loop_fd_set(get->watch, LOOP_READ, NULL) < 0)
		call_fail(get, "the connection is closed", 0);
}

static void call_receive(struct http_get *get)
{
	char chunk[4096];
	struct http_get_answer answer;
	struct err why = {0};
	ssize_t got = recv(get->fd, chunk, sizeof(chunk), MSG_DONTWAIT);
	int parsed;

	if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
		return;
	if (got < 0) {
		call_fail(get, "read the answer", errno);
		return;
	}
	buf_add(&get->in, chunk, (size_t)got);
	parsed = http_get_parse(buf_str(&get->in), get->in.len_bytes, get->max_bytes, got == 0,
				&answer, &why);
	if (parsed > 0)
		call_end(get, &answer, NULL);
	else if (parsed < 0)
		call_end(get, NULL, &why);
}

static void call_ready(void *arg, int fd, unsigned events)
{
	struct http_get *get = arg;

	(void)fd;
	if (!get->sent && events & LOOP_WRITE)
		call_send(get);
	else if (get->sent)
		call_receive(get);
}

static int call_connect(struct http_get *get, struct loop *loop, const struct address *address,
			struct err *err)
{
	get->fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (get->fd < 0)
		return err_set(err, ERR_RETRY, errno, "socket");
	if (connect(get->fd, &address->any, address->len_bytes) < 0 && errno != EINPROGRESS)
		return err_set(err, ERR_RETRY, errno, "connect");
	get->watch = loop_fd_new(loop, get->fd, LOOP_WRITE, call_ready, get, err);
	return get->watch ? 0 : -1;
}

struct http_get *http_get_new(struct loop *loop, const struct http_get_request *request,
			      http_get_fn *fn, void *arg)
{
	struct http_get *get = xcalloc(1, sizeof(*get));

	get->fn = fn;
	get->arg = arg;
	get->fd = -1;
	get->max_bytes = request->max_bytes;
	buf_addf(&get->out,
		 "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: drey/" DREY_VERSION
		 "\r\nAccept: */*\r\nConnection: close\r\n\r\n",
		 request->target, request->host);
	get->timer = loop_timer_new(loop, call_timer, get);
	if (call_connect(get, loop, request->address, &get->failed) < 0)
		loop_timer_set(get->timer, 0);
	else
		loop_timer_set(get->timer, request->timeout_ms);
	return get;
}

void http_get_free(struct http_get *get)
{
	if (!get)
		return;
	loop_fd_free(get->watch);
	loop_timer_free(get->timer);
	if (get->fd >= 0)
		close(get->fd);
	buf_release(&get->out);
	buf_release(&get->in);
	free(get);
}
