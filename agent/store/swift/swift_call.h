/*
 * swift_call - requests to one container: address, sign-in, and the meaning of an answer. Part of
 * store_swift.c.
 *
 * Statuses: 404 of the container is ERR_CONFIG, of an object ERR_ABSENT, but only once the
 * container was seen (a wrong name must not look like an empty store), and each only with Swift's own mark
 * (X-Trans-Id: else it is a proxy's, and ERR_RETRY); 401 signs in again, a second
 * one and 403 are ERR_DENIED; 412 ERR_RETRY, the object was replaced while it was read; 408, 425,
 * 429, 498 and 5xx are retried, then ERR_RETRY; 416 is an answer; everything else ERR_FORMAT.
 */
#ifndef DREY_STORE_SWIFT_CALL_H
#define DREY_STORE_SWIFT_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/http.h"
#include "store/store_http.h"
#include "store/store_ops.h"
#include "store/swift/swift_auth.h"

struct swift_store {
	struct store base;
	struct http *http;
	struct swift_auth *auth;
	char *container;
	bool container_seen;
};

/* One request. All texts are borrowed until it has ended. */
struct swift_request {
	const char *method;   /* NULL: GET */
	const char *object;   /* as in a URI, with its first slash; NULL: the container */
	const char *query;    /* encoded, without '?'; NULL: none */
	const char *if_match; /* NULL: none */
	int64_t first, count; /* of bytes; count 0: all */
	size_t max_bytes;     /* of the answer; 0: HTTP_MAX_BYTES */
	const char *body;     /* NULL: none; must outlive the call */
	size_t body_len_bytes;
	int64_t timeout_ms; /* of an attempt, of which there is only one then; 0: HTTP_TIMEOUT_MS */
};

/* The state of a call between its attempts; initially zeroed. */
struct swift_attempt {
	unsigned session; /* that it was sent in */
	bool refused;     /* by a 401, once */
};

/* For the two halves of struct store_http_ops. */
int swift_call_prepare(struct swift_store *store, const struct swift_request *request,
		       struct swift_attempt *attempt, struct store_call *ret_call, struct err *err);
enum store_verdict swift_call_judge(struct swift_store *store, const struct swift_request *request,
				    struct swift_attempt *attempt,
				    const struct http_response *response, struct err *err);

/* Send it and wait. The caller releases *ret_response, which has a 2xx status or 416. */
int swift_call(struct swift_store *store, const struct swift_request *request,
	       struct http_response *ret_response, struct err *err);

/* Make sure, once in the store's life, that the container exists. */
int swift_call_see_container(struct swift_store *store, struct err *err);

/* Size of the whole object (of a part: from its Content-Range, 416 included) and its date. An
 * answer without a size is ERR_FORMAT. */
int swift_call_stat(const struct http_response *response, bool ranged, struct store_stat *ret,
		    struct err *err);

#endif
