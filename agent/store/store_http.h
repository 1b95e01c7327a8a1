/*
 * store_http - calls to an object store: each attempt is prepared anew (signatures and tokens
 * expire), a busy store is retried with growing pauses, and many calls run concurrently.
 *
 * The store interprets the answers (`judge`); this module decides how often, how long and how many
 * at a time. Calls do not affect each other.
 */
#ifndef DREY_STORE_STORE_HTTP_H
#define DREY_STORE_STORE_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/http.h"

#define STORE_HTTP_ATTEMPTS     5    /* of one call, the first one included */
#define STORE_HTTP_REPAIRS      2    /* immediate attempts that are not counted */
#define STORE_HTTP_PAUSE_MS     100  /* before the second attempt; doubles, with jitter */
#define STORE_HTTP_PAUSE_MAX_MS 5000 /* a longer Retry-After ends the call as ERR_RETRY */

enum store_verdict {
	STORE_DONE, /* the answer was accepted */
	STORE_MORE, /* idem, and the call has another request to make (the next page) */
	/* Refused, but the cause is fixed (new token, corrected clock): retry. *err has the cause,
	 * in case that does not help. */
	STORE_REPAIRED,
	STORE_BUSY,   /* 429, 503 SlowDown, 5xx: retry after a pause; *err has the cause */
	STORE_FAILED, /* see *err */
};

/* One prepared call. Its texts are freed after the attempt. */
struct store_call {
	const char *method; /* static */
	char *url;          /* owned by the call once prepared */
	/* What to check when no answer comes, such as "https://host (KEY in config.yaml)": the context of
	 * that error. Owned by the call; NULL none. */
	char *server;
	char *headers[16]; /* "Name: value"; owned by the call */
	size_t header_count;
	const char *body; /* borrowed until the attempt has ended */
	size_t body_len_bytes;
	size_t max_bytes;   /* of the answer; 0 is HTTP_MAX_BYTES */
	int64_t timeout_ms; /* of the attempt; 0 is HTTP_TIMEOUT_MS */
};

struct store_http_ops {
	/* Prepare an attempt of call `index`; *ret_call is zeroed. -1: the call has failed with
	 * *err, and the content of *ret_call is freed. */
	int (*prepare)(void *ctx, size_t index, struct store_call *ret_call, struct err *err);
	/* A complete answer, whatever its status. Incomplete ones (refused, timeout, reset) are
	 * handled here: ERR_RETRY as STORE_BUSY, the rest as STORE_FAILED. */
	enum store_verdict (*judge)(void *ctx, size_t index, const struct http_response *response,
				    struct err *err);
	/* Call `index` has failed permanently (judge, prepare or network). -1 with *err ends all
	 * calls. NULL: the first failure ends all of them, as its own error. */
	int (*failed)(void *ctx, size_t index, const struct err *why, struct err *err);
	/* How many calls there are now; it may grow while others are under way. NULL: `count`. */
	size_t (*count)(void *ctx);
	int attempts; /* of one call; 0 is STORE_HTTP_ATTEMPTS */
};

/*
 * Calls 0 .. count-1, started in this order, at most in_flight at a time. 0 if each was accepted or
 * reported as failed. prepare and judge may use http_do() and store_http_one() on the same handle.
 */
int store_http_many(struct http *http, const struct store_http_ops *ops, void *ctx, size_t count,
		    size_t in_flight, struct err *err);

/* One call (index 0). ops->failed is not used. */
int store_http_one(struct http *http, const struct store_http_ops *ops, void *ctx, struct err *err);

/* Pause before attempt `attempt` (2, 3, ...), spread over 50..100 % by `random` (0..UINT32_MAX). */
int64_t store_http_pause_ms(int attempt, uint32_t random);

#endif
