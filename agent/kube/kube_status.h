/*
 * kube_status - what an answer of the API server means: from bytes to a verdict. Pure.
 *
 * An error is a Status object, or plain text (429, some of 5xx, a path that the server does not
 * know). Only a Status of reason NotFound that names kind and name of an object of the requested path means absence,
 * and only the server's own words mean that it does not have the path (the resource is not installed): a proxy in between
 * also gives 404.
 *
 * Source: apimachinery meta/v1 types.go (Status, StatusReason), api/errors.
 */
#ifndef DREY_KUBE_KUBE_STATUS_H
#define DREY_KUBE_KUBE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/http.h"
#include "base/json.h"

#define KUBE_RETRY_AFTER_MAX_MS 60000 /* a longer Retry-After is cut to this */

struct kube_answer {
	int status;             /* 0: no answer */
	struct json *object;    /* the body, if it is JSON: the object, or a Status */
	char reason[64];        /* of a Status: "Conflict", "AlreadyExists", ...; "" */
	char message[512];      /* of a Status, or the received text; one line */
	int64_t retry_after_ms; /* -1: not said; at most KUBE_RETRY_AFTER_MAX_MS */
	int64_t date_unix_ms;   /* the server's clock; -1: not said */
	bool path_unknown; /* 404 of the path, in the server's own words: the resource is not installed */
	/* A failed change may still have been made: read the object. */
	bool maybe_done;
};

/* What the verdict depends on besides the answer. */
struct kube_asked {
	const char *method;
	const char *path;         /* with or without its query */
	const char *content_type; /* of the request; NULL: none */
	size_t max_bytes;
};

/*
 * Read a complete answer. 0: 2xx with a JSON object that is no failure. -1:
 *   ERR_ABSENT  404 of the object                     ERR_DENIED  401, 403
 *   ERR_BUSY    409: answer.reason tells Conflict from AlreadyExists
 *   ERR_RETRY   408, 410, 429, 5xx                    ERR_FORMAT  not an answer of an API server, or a 404 about
 *                                                                 something else
 *   ERR_CONFIG  an invalid request (400, 405, 406, 413, 415, 422, a patch that does not fit
 *               the schema), or answer.path_unknown
 * *ret (which must be zeroed or released) is filled in both cases; kube_answer_release().
 */
int kube_status_read(const struct kube_asked *asked, const struct http_response *response,
		     struct kube_answer *ret, struct err *err);

/* The same, of a Status that came as an event of a watch. Never 0. */
int kube_status_err(const struct kube_asked *asked, struct kube_answer *answer, struct err *err);

void kube_answer_release(struct kube_answer *answer); /* zeroed is allowed; reusable */
#define cleanup_kube_answer __attribute__((cleanup(kube_answer_release)))

#endif
