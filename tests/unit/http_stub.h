/*
 * http_stub - an HTTP/1.1 server on loopback for tests, which counts requests and connections. One
 * thread serves all connections; a slow response is only scheduled for later, so it delays no other.
 *
 * Life cycle: http_stub_new() -> clients -> http_stub_free(), which closes the open connections.
 */
#ifndef DREY_TESTS_HTTP_STUB_H
#define DREY_TESTS_HTTP_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct http_stub;

struct http_stub_request {
	const char *method, *target; /* target: path and query as received */
	const char *head;            /* the whole header, request line included */
	const char *body;
	size_t body_len_bytes;
	int number;     /* 1, 2, ... in the order of arrival */
	int connection; /* idem */
};

/* Zeroed is "200 OK" with an empty body. */
struct http_stub_answer {
	int status;           /* 0 is 200 */
	struct buf headers;   /* more lines, each with its CR LF; released by the stub */
	struct buf body;      /* idem. A HEAD gets its length only */
	int64_t after_ms;     /* wait this long first */
	bool hang;            /* never answer */
	bool reset;           /* break the connection instead */
	bool close;           /* the connection after the answer */
	int64_t cut_at_bytes; /* > 0: close after this many bytes of the body */
	int64_t length_bytes; /* > 0: the Content-Length to announce */
};

/* Called on the stub's thread, one request at a time. */
typedef void (*http_stub_fn)(void *ctx, const struct http_stub_request *request,
			     struct http_stub_answer *answer);

struct http_stub *http_stub_new(http_stub_fn fn, void *ctx);
void http_stub_free(struct http_stub *stub);

int http_stub_port(const struct http_stub *stub);

struct http_stub_counts {
	int requests, connections;     /* so far */
	int open, most_open;           /* connections now, and the most at one time */
	int under_way, most_under_way; /* requests without an answer */
};

struct http_stub_counts http_stub_counts(struct http_stub *stub);

/*
 * Until the next request, what `fn` uses is the caller's. An answer that has arrived says the same; this is for requests
 * that were reset, or that the client has given up. NULL is no stub.
 */
void http_stub_settle(struct http_stub *stub);

#endif
