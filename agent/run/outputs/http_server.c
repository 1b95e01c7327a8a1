#include "run/outputs/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sock.h"

#define BACKLOG     128
#define DRAIN_BYTES ((size_t)64 * 1024) /* of what comes behind a request */
#define LARGE_BYTES ((size_t)16 * 1024) /* an answer whose memory is worth giving back */

struct client {
	struct http_server *server;
	struct client *prev, *next; /* oldest first */
	int fd;
	struct loop_fd *watch;
	struct loop_timer *deadline;
	char in[HTTP_SERVER_REQUEST_BYTES + 1];
	size_t in_bytes;
	struct buf out;
	size_t sent_bytes;
	bool draining; /* answered: what still comes is thrown away, until the peer closes */
};

struct http_server {
	struct loop *loop;
	int port;
	struct sock_listener *listener;
	http_server_fn *fn;
	void *arg;
	struct client *oldest, *newest;
	int count;
};

/* ---- what a request is ---- */

static bool has_body(const char *headers)
{
	static const char length[] = "content-length:", coding[] = "transfer-encoding:";

	for (const char *line = headers; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncasecmp(line, coding, sizeof(coding) - 1))
			return true;
		if (strncasecmp(line, length, sizeof(length) - 1) != 0)
			continue;
		line += sizeof(length) - 1;
		line += strspn(line, " \t0");
		if (*line && *line != '\r' && *line != '\n')
			return true;
	}
	return false;
}

/* The value of the header Host, in place; "" without one, NULL for two. */
static const char *take_host(char *headers)
{
	static const char name[] = "host:";
	char *host = NULL;

	for (char *line = headers; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncasecmp(line, name, sizeof(name) - 1) != 0)
			continue;
		if (host)
			return NULL;
		host = line + sizeof(name) - 1;
	}
	if (!host)
		return "";
	host += strspn(host, " \t");
	host[strcspn(host, " \t\r\n")] = '\0';
	return host;
}

int http_request_parse(char *head, struct http_asked *ret)
{
	char *line_end = head + strcspn(head, "\r\n");
	char *path, *query, *version;
	bool is_head = !strncmp(head, "HEAD ", 5);
	const char *host;

	path = strchr(head, ' ');
	if (!path || path > line_end || path == head)
		return 400;
	version = strchr(++path, ' ');
	if (!version || version > line_end || version == path)
		return 400;
	if (strncmp(version, " HTTP/1.", 8) != 0)
		return strncmp(version, " HTTP/", 6) == 0 ? 505 : 400;
	if (!is_head && strncmp(head, "GET ", 4) != 0)
		return 405;
	if (*path != '/')
		return 400;
	if (has_body(line_end))
		return 413;
	host = take_host(line_end);
	if (!host)
		return 400;
	*version = '\0';
	query = path + strcspn(path, "?");
	if (*query)
		*query++ = '\0';
	*ret = (struct http_asked){.path = path, .query = query, .host = host, .is_head = is_head};
	return 0;
}

/* ---- one client ---- */

static void client_free(struct client *client)
{
	struct http_server *server = client->server;
	bool large;

	*(client->prev ? &client->prev->next : &server->oldest) = client->next;
	*(client->next ? &client->next->prev : &server->newest) = client->prev;
	server->count--;
	loop_fd_free(client->watch);
	loop_timer_free(client->deadline);
	close(client->fd);
	large = client->out.cap_bytes >= LARGE_BYTES;
	buf_release(&client->out);
	free(client);
	if (large)
		mem_give_back();
}

static void client_expired(void *arg)
{
	client_free(arg);
}

/* To close with bytes unread would reset the connection, and could take the answer with it. */
static void client_drain(struct client *client)
{
	char waste[4096];
	ssize_t got = recv(client->fd, waste, sizeof(waste), MSG_DONTWAIT);

	if (got > 0)
		client->in_bytes += (size_t)got;
	else if (got == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK))
		client->in_bytes = DRAIN_BYTES;
	if (client->in_bytes >= DRAIN_BYTES)
		client_free(client);
}

static void client_send(struct client *client)
{
	int sent = sock_send(client->fd, &client->out, &client->sent_bytes);

	if (sent == 0 && loop_fd_set(client->watch, LOOP_WRITE, NULL) == 0)
		return;
	if (sent <= 0) {
		client_free(client);
		return;
	}
	client->draining = true;
	if (shutdown(client->fd, SHUT_WR) < 0 || loop_fd_set(client->watch, LOOP_READ, NULL) < 0)
		client_free(client);
	else
		client_drain(client);
}

static const char *status_text(int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 400:
		return "Bad Request";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 413:
		return "Content Too Large";
	case 421:
		return "Misdirected Request";
	case 431:
		return "Request Header Fields Too Large";
	case 503:
		return "Service Unavailable";
	case 505:
		return "HTTP Version Not Supported";
	default:
		return "Error";
	}
}

static void client_answer(struct client *client, struct http_reply *reply, bool is_head)
{
	if (reply->status != 200 && !reply->body.len_bytes)
		buf_addf(&reply->body, "%s\n", status_text(reply->status));
	buf_addf(&client->out,
		 "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		 "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
		 "Connection: close\r\n%s%s\r\n",
		 reply->status, status_text(reply->status),
		 reply->type ? reply->type : "text/plain; charset=utf-8", reply->body.len_bytes,
		 reply->status == 405 ? "Allow: GET, HEAD\r\n" : "", buf_str(&reply->headers));
	if (!is_head)
		buf_add(&client->out, buf_str(&reply->body), reply->body.len_bytes);
	buf_release(&reply->headers);
	buf_release(&reply->body);
	loop_timer_set(client->deadline, HTTP_SERVER_MS);
	client_send(client);
}

static void client_request(struct client *client)
{
	struct http_server *server = client->server;
	struct http_reply reply = {.status = 404};
	struct http_asked asked = {0};
	int refusal = http_request_parse(client->in, &asked);

	if (refusal)
		reply.status = refusal;
	else
		server->fn(server->arg, &asked, &reply);
	client_answer(client, &reply, asked.is_head);
}

/* The empty line behind the headers; NULL while it has not come. */
static char *find_end(char *in)
{
	char *crlf = strstr(in, "\r\n\r\n"), *lf = strstr(in, "\n\n");

	return crlf && (!lf || crlf < lf) ? crlf : lf;
}

static void client_receive(struct client *client)
{
	size_t room = HTTP_SERVER_REQUEST_BYTES - client->in_bytes;
	struct http_reply too_long = {.status = 431}, binary = {.status = 400};
	char *end;
	ssize_t got = recv(client->fd, client->in + client->in_bytes, room, MSG_DONTWAIT);

	if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
		return;
	if (got <= 0) {
		client_free(client);
		return;
	}
	client->in_bytes += (size_t)got;
	client->in[client->in_bytes] = '\0';
	end = find_end(client->in);
	if (end) {
		*end = '\0';
		client_request(client);
	} else if (strlen(client->in) < client->in_bytes) {
		client_answer(client, &binary, false);
	} else if (client->in_bytes == HTTP_SERVER_REQUEST_BYTES) {
		client_answer(client, &too_long, false);
	}
}

static void client_ready(void *arg, int fd, unsigned events)
{
	struct client *client = arg;

	(void)fd;
	if (events & LOOP_WRITE)
		client_send(client);
	else if (client->draining)
		client_drain(client);
	else
		client_receive(client);
}

static void client_new(void *arg, int fd)
{
	struct http_server *server = arg;
	struct client *client = xcalloc(1, sizeof(*client));

	client->server = server;
	client->fd = fd;
	client->watch = loop_fd_new(server->loop, fd, LOOP_READ, client_ready, client, NULL);
	if (!client->watch) {
		close(fd);
		free(client);
		return;
	}
	client->deadline = loop_timer_new(server->loop, client_expired, client);
	loop_timer_set(client->deadline, HTTP_SERVER_MS);
	client->prev = server->newest;
	*(server->newest ? &server->newest->next : &server->oldest) = client;
	server->newest = client;
	if (++server->count > HTTP_SERVER_CLIENTS)
		client_free(server->oldest);
}

/* ---- the port ---- */

static bool give_up_oldest(void *arg)
{
	struct http_server *server = arg;

	if (!server->oldest)
		return false;
	client_free(server->oldest);
	return true;
}

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static int make_address(const char *text, int port, union address *ret, socklen_t *ret_bytes,
			struct err *err)
{
	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, text, &ret->v4.sin_addr) == 1) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons((uint16_t)port);
		*ret_bytes = sizeof(ret->v4);
	} else if (inet_pton(AF_INET6, text, &ret->v6.sin6_addr) == 1) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons((uint16_t)port);
		*ret_bytes = sizeof(ret->v6);
	} else {
		return err_set(err, ERR_CONFIG, 0, "'%s' is not an IP address", text);
	}
	return 0;
}

static int open_port(const char *text, int port, struct err *err)
{
	union address address;
	socklen_t bytes = 0;
	int fd, on = 1, off = 0;

	if (make_address(text, port, &address, &bytes, err) < 0)
		return -1;
	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err, ERR_SYS, errno, "HTTP socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* "::" is both families, whatever the node's net.ipv6.bindv6only says */
	if (address.any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, &address.any, bytes) < 0 || listen(fd, BACKLOG) < 0) {
		err_set(err, errno == EADDRINUSE ? ERR_BUSY : err_kind_of_errno(errno), errno,
			"listen on %s port %d", text, port);
		close(fd);
		return -1;
	}
	return fd;
}

static int port_of(int fd)
{
	union address address = {0};
	socklen_t bytes = sizeof(address);

	if (getsockname(fd, &address.any, &bytes) < 0)
		return 0;
	return ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
}

struct http_server *http_server_new(struct loop *loop, const char *address, int port,
				    http_server_fn *fn, void *arg, struct err *err)
{
	struct http_server *server;
	int fd = open_port(address, port, err);

	if (fd < 0)
		return NULL;
	server = xcalloc(1, sizeof(*server));
	*server = (struct http_server){.loop = loop, .port = port_of(fd), .fn = fn, .arg = arg};
	server->listener = sock_listener_new(loop, fd, client_new, give_up_oldest, server, err);
	if (!server->listener) {
		close(fd);
		free(server);
		return NULL;
	}
	return server;
}

int http_server_port(const struct http_server *server)
{
	return server->port;
}

int http_server_clients(const struct http_server *server)
{
	return server->count;
}

void http_server_free(struct http_server *server)
{
	struct client *client, *next;

	if (!server)
		return;
	for (client = server->oldest; client; client = next) {
		next = client->next;
		client_free(client);
	}
	sock_listener_free(server->listener);
	free(server);
}
