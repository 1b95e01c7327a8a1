#include "http_stub.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum { MAX_CLIENTS = 256, READ_BYTES = 65536 };

struct client {
	int fd, number;
	struct buf in, out;
	size_t sent_bytes;
	bool waiting;    /* a request is answered at answer_at_ms */
	bool reset, end; /* once `out` is sent */
	int64_t answer_at_ms;
};

struct http_stub {
	int listen_fd, stop_fd, port;
	pthread_t thread;
	http_stub_fn fn;
	void *ctx;
	pthread_mutex_t fn_lock; /* while fn runs */
	pthread_mutex_t lock;
	struct http_stub_counts counts;
	struct client *clients;
	size_t client_count;
};

static void count(struct http_stub *stub, int requests, int under_way, int connections)
{
	struct http_stub_counts *counts = &stub->counts;

	pthread_mutex_lock(&stub->lock);
	counts->requests += requests;
	counts->under_way += under_way;
	counts->open += connections;
	counts->connections += connections > 0 ? connections : 0;
	if (counts->under_way > counts->most_under_way)
		counts->most_under_way = counts->under_way;
	if (counts->open > counts->most_open)
		counts->most_open = counts->open;
	pthread_mutex_unlock(&stub->lock);
}

struct http_stub_counts http_stub_counts(struct http_stub *stub)
{
	struct http_stub_counts counts;

	pthread_mutex_lock(&stub->lock);
	counts = stub->counts;
	pthread_mutex_unlock(&stub->lock);
	return counts;
}

void http_stub_settle(struct http_stub *stub)
{
	if (!stub)
		return;
	pthread_mutex_lock(&stub->fn_lock);
	pthread_mutex_unlock(&stub->fn_lock);
}

static void client_close(struct http_stub *stub, size_t i)
{
	struct client *client = &stub->clients[i];
	struct linger now = {1, 0};

	if (client->reset)
		setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	count(stub, 0, client->waiting ? -1 : 0, -1);
	close(client->fd);
	buf_release(&client->in);
	buf_release(&client->out);
	*client = stub->clients[--stub->client_count];
}

/* The bytes of the answer; `method` decides whether the body is one of them. */
static void print_answer(struct client *client, const char *method, struct http_stub_answer *answer)
{
	size_t len = answer->body.len_bytes;
	long long told = answer->length_bytes ? answer->length_bytes : (long long)len;

	if (answer->cut_at_bytes && (size_t)answer->cut_at_bytes < len)
		len = (size_t)answer->cut_at_bytes;
	buf_addf(&client->out, "HTTP/1.1 %d Stub\r\nContent-Length: %lld\r\n%s\r\n",
		 answer->status ? answer->status : 200, told, buf_str(&answer->headers));
	if (strcmp(method, "HEAD") != 0)
		buf_add(&client->out, answer->body.data, len);
	client->end = answer->close || answer->cut_at_bytes;
}

/* Take the first request from what was read. False if it is incomplete. */
static bool take_request(struct http_stub *stub, struct client *client)
{
	char *text = client->in.data, *end = text ? strstr(text, "\r\n\r\n") : NULL, *length,
	     *space;
	struct http_stub_request request = {.connection = client->number};
	struct http_stub_answer answer = {0};
	cleanup_free char *head = NULL, *line = NULL, *body = NULL;
	size_t used;

	if (!end)
		return false;
	used = (size_t)(end + 4 - text);
	head = xstrndup(text, used);
	length = strcasestr(head, "\r\nContent-Length:");
	request.body_len_bytes = length ? strtoul(length + 17, NULL, 10) : 0;
	if (client->in.len_bytes - used < request.body_len_bytes)
		return false;
	body = xcalloc(1, request.body_len_bytes + 1);
	memcpy(body, text + used, request.body_len_bytes);
	used += request.body_len_bytes;
	memmove(text, text + used, client->in.len_bytes - used + 1);
	client->in.len_bytes -= used;
	line = xstrdup(head);
	request.method = line;
	line[strcspn(line, "\r")] = '\0';
	space = strchr(line, ' ');
	request.target = space ? space + 1 : "";
	if (space) {
		*space = '\0';
		space[1 + strcspn(space + 1, " ")] = '\0';
	}
	request.head = head;
	request.body = body;
	count(stub, 1, 1, 0);
	request.number = http_stub_counts(stub).requests;
	pthread_mutex_lock(&stub->fn_lock);
	stub->fn(stub->ctx, &request, &answer);
	pthread_mutex_unlock(&stub->fn_lock);
	client->waiting = true;
	client->reset = answer.reset;
	client->answer_at_ms = answer.hang ? INT64_MAX : clock_mono_ms() + answer.after_ms;
	if (!answer.reset)
		print_answer(client, request.method, &answer);
	buf_release(&answer.headers);
	buf_release(&answer.body);
	return true;
}

/* False: the connection is over. */
static bool client_read(struct client *client)
{
	char bytes[READ_BYTES];
	ssize_t got = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	buf_add(&client->in, bytes, (size_t)got);
	return got > 0;
}

/* Send what is due. False: the connection is over. */
static bool client_send(struct http_stub *stub, struct client *client, int64_t now_ms)
{
	ssize_t put;

	if (!client->waiting && !take_request(stub, client))
		return true;
	if (client->answer_at_ms > now_ms)
		return true;
	if (client->reset)
		return false;
	put = send(client->fd, client->out.data + client->sent_bytes,
		   client->out.len_bytes - client->sent_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (put < 0)
		return errno == EAGAIN || errno == EINTR;
	client->sent_bytes += (size_t)put;
	if (client->sent_bytes < client->out.len_bytes)
		return true;
	buf_clear(&client->out);
	client->sent_bytes = 0;
	client->waiting = false;
	count(stub, 0, -1, 0);
	return !client->end;
}

static void client_accept(struct http_stub *stub)
{
	int fd = accept4(stub->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0 || stub->client_count == MAX_CLIENTS)
		abort();
	count(stub, 0, 0, 1);
	stub->clients[stub->client_count++] =
		(struct client){.fd = fd, .number = http_stub_counts(stub).connections};
}

static int wait_ms(const struct http_stub *stub, struct pollfd *fds)
{
	int64_t first_ms = INT64_MAX, now_ms = clock_mono_ms();

	fds[0] = (struct pollfd){stub->stop_fd, POLLIN, 0};
	fds[1] = (struct pollfd){stub->listen_fd, POLLIN, 0};
	for (size_t i = 0; i < stub->client_count; i++) {
		const struct client *client = &stub->clients[i];
		bool due = client->waiting && client->answer_at_ms <= now_ms;

		fds[2 + i] = (struct pollfd){client->fd, (short)(POLLIN | (due ? POLLOUT : 0)), 0};
		if (client->waiting && !due && client->answer_at_ms < first_ms)
			first_ms = client->answer_at_ms;
	}
	return first_ms == INT64_MAX ? -1 : (int)(first_ms - now_ms);
}

static void *serve(void *arg)
{
	struct pollfd *fds = xcalloc(MAX_CLIENTS + 2, sizeof(*fds));
	struct http_stub *stub = arg;

	for (;;) {
		size_t polled = stub->client_count;
		int limit_ms = wait_ms(stub, fds);

		poll(fds, (nfds_t)polled + 2, limit_ms);
		if (fds[0].revents)
			break;
		/* from the end: the last client replaces one that is removed */
		for (size_t i = polled; i-- > 0;) {
			struct client *client = &stub->clients[i];

			if ((fds[2 + i].revents && !client_read(client)) ||
			    !client_send(stub, client, clock_mono_ms()))
				client_close(stub, i);
		}
		if (fds[1].revents)
			client_accept(stub);
	}
	while (stub->client_count)
		client_close(stub, 0);
	free(fds);
	return NULL;
}

struct http_stub *http_stub_new(http_stub_fn fn, void *ctx)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct http_stub *stub = xcalloc(1, sizeof(*stub));
	socklen_t len = sizeof(at);

	stub->fn = fn;
	stub->ctx = ctx;
	stub->clients = xcalloc(MAX_CLIENTS, sizeof(*stub->clients));
	pthread_mutex_init(&stub->fn_lock, NULL);
	pthread_mutex_init(&stub->lock, NULL);
	stub->stop_fd = eventfd(0, EFD_CLOEXEC);
	stub->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(stub->listen_fd, (struct sockaddr *)&at, len) || listen(stub->listen_fd, 128) ||
	    getsockname(stub->listen_fd, (struct sockaddr *)&at, &len) ||
	    pthread_create(&stub->thread, NULL, serve, stub))
		abort();
	stub->port = ntohs(at.sin_port);
	return stub;
}

void http_stub_free(struct http_stub *stub)
{
	if (!stub)
		return;
	if (eventfd_write(stub->stop_fd, 1))
		abort();
	pthread_join(stub->thread, NULL);
	close(stub->stop_fd);
	close(stub->listen_fd);
	pthread_mutex_destroy(&stub->fn_lock);
	pthread_mutex_destroy(&stub->lock);
	free(stub->clients);
	free(stub);
}

int http_stub_port(const struct http_stub *stub)
{
	return stub->port;
}
