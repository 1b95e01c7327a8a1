/*
 * http_get - one GET of one address, on the loop and without blocking. For small answers of a drey,
 * in a process that has to stay small: http.h can do more, and takes megabytes for it.
 *
 * Life cycle: http_get_new() -> the callback, once -> http_get_free(), which also ends a call under
 * way. One connection for each call. A call always ends: with its answer, its timeout or its cap.
 *
 * Refused (ERR_FORMAT): what is not HTTP/1.x, an answer of more than max_bytes, a header of more than
 * HTTP_GET_HEADER_BYTES, an interim answer (1xx), a Transfer-Encoding, a body that is shorter than
 * announced, more than one Content-Length.
 */
#ifndef DREY_BASE_HTTP_GET_H
#define DREY_BASE_HTTP_GET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addresses.h"
#include "base/err.h"
#include "base/loop.h"

#define HTTP_GET_HEADER_BYTES 8192

struct http_get; /* opaque */

struct http_get_request {
	const struct address *address;
	const char *host;   /* of the header Host, with its port */
	const char *target; /* path and query, encoded */
	int64_t timeout_ms; /* of the whole call */
	size_t max_bytes;   /* of the body */
};

struct http_get_answer {
	int status;
	const char *body; /* borrowed for the callback; NUL-terminated */
	size_t body_len_bytes;
};

/* `answer` is NULL if there is none; `why` then says why not, without the address: ERR_RETRY (timeout,
 * refused, reset), ERR_FORMAT. The callback may free the call. */
typedef void http_get_fn(void *arg, const struct http_get_answer *answer, const struct err *why);

/* Begin; the request is borrowed for this call only. Every failure is told to the callback. */
struct http_get *http_get_new(struct loop *loop, const struct http_get_request *request,
			      http_get_fn *fn, void *arg);
void http_get_free(struct http_get *get); /* NULL is allowed */

/*
 * Read what a server has sent so far; `bytes` is NUL-terminated behind len_bytes. 1: the answer is
 * complete and in *ret_answer; 0: more must come; -1: ERR_FORMAT. `ended`: nothing more comes.
 */
int http_get_parse(const char *bytes, size_t len_bytes, size_t max_bytes, bool ended,
		   struct http_get_answer *ret_answer, struct err *err);

#endif
