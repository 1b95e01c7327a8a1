/*
 * http_server - answers GET and HEAD on a port, and cannot be blocked by its clients.
 *
 * Life cycle: http_server_new() -> handler per request -> http_server_free(). Everything happens on
 * the loop's thread, and the handler answers immediately from memory: an answer proves that the
 * loop is running, and none waits for storage, journal or Flink.
 *
 * One request per connection (Connection: close). Bounded: HTTP_SERVER_CLIENTS connections (one
 * more closes the oldest, so that idle clients cannot keep a probe out), HTTP_SERVER_MS for the
 * whole request and again for the whole answer however slowly the client sends,
 * HTTP_SERVER_REQUEST_BYTES of request line and headers. Refused: other methods (405), bodies
 * (413), long headers (431), anything else than HTTP/1.x (400, 505).
 *
 * Not evhttp: that of libevent 2.1 limits neither connections nor the time of a request, only the
 * silence between two bytes.
 */
#ifndef DREY_RUN_HTTP_SERVER_H
#define DREY_RUN_HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/loop.h"

#define HTTP_SERVER_CLIENTS       32
#define HTTP_SERVER_MS            5000
#define HTTP_SERVER_REQUEST_BYTES 8192
#define HTTP_SERVER_RETRY_MS      5000 /* the port is taken: when to retry */

struct http_server; /* opaque */

struct http_reply {
	int status;         /* 404 unless the handler sets it */
	const char *type;   /* of the body; a constant; NULL = text/plain */
	struct buf headers; /* more of them, each a line that ends with CRLF; like the body */
	struct buf body;    /* the handler adds; the server releases */
};

/* What was asked for, as it was sent; borrowed. */
struct http_asked {
	const char *path;  /* the part before any '?' */
	const char *query; /* what comes behind it; "" without one */
	const char *host;  /* the header Host; "" without one */
	bool is_head;      /* the answer has no body */
};

/* The handler must not block. */
typedef void http_server_fn(void *arg, const struct http_asked *asked, struct http_reply *reply);

/*
 * Listen on an IPv4 or IPv6 address ("0.0.0.0", "::", "127.0.0.1"); port 0 lets the kernel choose
 * one. NULL on failure: ERR_CONFIG not an address, ERR_BUSY the port is taken, else the kernel's
 * error.
 */
struct http_server *http_server_new(struct loop *loop, const char *address, int port,
				    http_server_fn *fn, void *arg, struct err *err);
int http_server_port(const struct http_server *server);
int http_server_clients(const struct http_server *server); /* open connections */
void http_server_free(struct http_server *server);         /* NULL is allowed */

/*
 * Read the head of a request (`head` is NUL-terminated and ends before the empty line): 0 with its parts, cut out of
 * `head`, or the status to refuse it with. Two headers Host are refused.
 */
int http_request_parse(char *head, struct http_asked *ret);

#endif
