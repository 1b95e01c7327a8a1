/*
 * route_stub - a server on 127.0.0.1 that answers by method and path, and records the requests. One
 * request at a time; the connection is closed after each.
 */
#ifndef DREY_TESTS_ROUTE_STUB_H
#define DREY_TESTS_ROUTE_STUB_H

#include <arpa/inet.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"

#define ROUTES 8

struct route {
	const char *what;   /* "GET /path": the beginning of the request; first match answers */
	const char *header; /* NULL, or a line that the header must contain, else 401 */
	int status;         /* 0: read the request and never answer until the client disconnects */
	const char *body;
	int times; /* number of responses after which the route is gone; 0: no limit */
};

struct route_stub {
	int listen_fd, port;
	pthread_t thread;
	pthread_mutex_t lock; /* guards all below */
	struct route routes[ROUTES];
	int requests;
	const char *date; /* NULL, or the header Date of all responses */
	struct buf last;  /* request line, header and body */
};

static bool route_read(int fd, struct buf *request)
{
	size_t want = 0;
	const char *end, *length;
	char ch;

	while (!(end = strstr(buf_str(request), "\r\n\r\n"))) {
		if (read(fd, &ch, 1) != 1)
			return false;
		buf_addch(request, ch);
	}
	length = strcasestr(request->data, "content-length:");
	if (length)
		want = strtoul(length + 15, NULL, 10);
	for (want += (size_t)(end + 4 - request->data); request->len_bytes < want;) {
		if (read(fd, &ch, 1) != 1)
			return false;
		buf_addch(request, ch);
	}
	return true;
}

/* Under the lock. */
static struct route route_find(struct route_stub *stub)
{
	const char *request = buf_str(&stub->last);

	for (size_t i = 0; i < ROUTES; i++) {
		struct route *route = &stub->routes[i], found = *route;

		if (!route->what || strncmp(request, route->what, strlen(route->what)) != 0)
			continue;
		if (route->header && !strstr(request, route->header))
			return (struct route){.status = 401, .body = "who are you"};
		if (route->times && --route->times == 0)
			route->what = NULL;
		return found;
	}
	return (struct route){.status = 404, .body = "no such route"};
}

static void route_answer(struct route_stub *stub, int fd)
{
	struct buf request = BUF_INIT, answer = BUF_INIT;
	struct route route;
	char ch;

	if (route_read(fd, &request)) {
		pthread_mutex_lock(&stub->lock);
		stub->requests++;
		buf_release(&stub->last);
		stub->last = request;
		request = (struct buf)BUF_INIT;
		route = route_find(stub);
		if (route.status)
			buf_addf(&answer,
				 "HTTP/1.1 %d Whatever\r\nContent-Length: %zu\r\n"
				 "Connection: close\r\n%s%s%s\r\n%s",
				 route.status, strlen(route.body), stub->date ? "Date: " : "",
				 stub->date ? stub->date : "", stub->date ? "\r\n" : "",
				 route.body);
		pthread_mutex_unlock(&stub->lock);
		if (!route.status)
			(void)!read(fd, &ch, 1);
		else if (send(fd, answer.data, answer.len_bytes, MSG_NOSIGNAL) < 0)
			perror("route_stub");
	}
	buf_release(&request);
	buf_release(&answer);
}

static void *route_main(void *arg)
{
	struct route_stub *stub = arg;
	int fd;

	while ((fd = accept(stub->listen_fd, NULL, NULL)) >= 0) {
		route_answer(stub, fd);
		close(fd);
	}
	return NULL;
}

static void route_start(struct route_stub *stub)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);

	memset(stub, 0, sizeof(*stub));
	pthread_mutex_init(&stub->lock, NULL);
	stub->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (stub->listen_fd < 0 || bind(stub->listen_fd, (struct sockaddr *)&address, len) < 0 ||
	    listen(stub->listen_fd, 8) < 0 ||
	    getsockname(stub->listen_fd, (struct sockaddr *)&address, &len) < 0)
		abort();
	stub->port = ntohs(address.sin_port);
	if (pthread_create(&stub->thread, NULL, route_main, stub))
		abort();
}

static void route_stop(struct route_stub *stub)
{
	shutdown(stub->listen_fd, SHUT_RDWR);
	pthread_join(stub->thread, NULL);
	close(stub->listen_fd);
	buf_release(&stub->last);
	pthread_mutex_destroy(&stub->lock);
}

/* Set all routes again, and reset the rest. */
static void route_set(struct route_stub *stub, const struct route *routes, size_t count)
{
	pthread_mutex_lock(&stub->lock);
	memset(stub->routes, 0, sizeof(stub->routes));
	memcpy(stub->routes, routes, count * sizeof(*routes));
	stub->requests = 0;
	stub->date = NULL;
	pthread_mutex_unlock(&stub->lock);
}

#define ROUTE(stub, ...)                                                                           \
	route_set((stub), (const struct route[]){__VA_ARGS__},                                     \
		  sizeof((const struct route[]){__VA_ARGS__}) / sizeof(struct route))

#endif
