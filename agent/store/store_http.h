/*
 * store_http - calls to an object store: each attempt is prepared afresh (signatures and tokens age),
 * a busy store is asked again with growing pauses, and many calls go at once.
 *
 * Which answers mean what is the store's business (`judge`); how often, how long and how many at a
 * time is decided here. What happens to one call never touches the others.
 */
#ifndef DREY_STORE_STORE_HTTP_H
#define DREY_STORE_STORE_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/http.h"

#define STORE_HTTP_ATTEMPTS     5    /* of one call, the first one included */
#define STORE_HTTP_REPAIRS      2    /* attempts that follow at once and are not counted */
#define STORE_HTTP_PAUSE_MS     100  /* before the second attempt; doubles, with jitter */
#define STORE_HTTP_PAUSE_MAX_MS 5000 /* a longer Retry-After ends the call as ERR_RETRY */

enum store_verdict {
	STORE_DONE, /* the answer was taken */
	/* Not the answer, but the cause is mended (new token, corrected clock): again. *err says what
	 * it was, for the case that it does not help. */
	STORE_REPAIRED,
	STORE_BUSY,   /* 429, 503 SlowDown, 5xx: again after a pause; *err says what it was */
	STORE_FAILED, /* *err says why */
};

/* One call, as it is prepared. The texts in it are freed after the attempt. */
struct store_call {
	const char *method; /* static */
	char *url;          /* owned by the call once prepared */
	char *headers[16];  /* "Name: value"; owned by the call */
	size_t header_count;
	const char *body; /* borrowed until the attempt has ended */
	size_t body_len_bytes;
	size_t max_bytes; /* of the answer; 0 is HTTP_MAX_BYTES */
};

struct store_http_ops {
	/* Prepare an attempt of call `index`; *ret_call is zeroed. -1: the call has failed with *err,
	 * and what was put into *ret_call is freed. */
	int (*prepare)(void *ctx, size_t index, struct store_call *ret_call, struct err *err);
	/* A complete answer, whatever its status. What never became one (refused, timeout, reset) is
	 * handled here: ERR_RETRY as STORE_BUSY, the rest as STORE_FAILED. */
	enum store_verdict (*judge)(void *ctx, size_t index, const struct http_response *response,
				    struct err *err);
	/* Call `index` has failed for good (judge, prepare or network). -1 with *err ends all calls.
	 * NULL: the first failure ends all of them, as its own error. */
	int (*failed)(void *ctx, size_t index, const struct err *why, struct err *err);
};

/*
 * Calls 0 .. count-1, begun in this order, at most in_flight at once. 0 when each was taken or
 * reported as failed. prepare and judge may use http_do() and store_http_one() on the same handle.
 */
int store_http_many(struct http *http, const struct store_http_ops *ops, void *ctx, size_t count,
		    size_t in_flight, struct err *err);

/* One call (index 0). ops->failed is not used. */
int store_http_one(struct http *http, const struct store_http_ops *ops, void *ctx, struct err *err);

/* Pause before attempt `attempt` (2, 3, ...); `random` in 0..UINT32_MAX spreads it over 50..100 %. */
int64_t store_http_pause_ms(int attempt, uint32_t random);

#endif
