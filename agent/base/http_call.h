/*
 * http_call - one call of an http handle, from its request to its end; used by http.c and
 * http_many.c only.
 *
 * Life cycle: http_call_begin() -> http_calls_wait() until `ended` -> http_call_end(), or
 * http_call_abort() at any time. All calls of a handle share its connections, and waiting for one
 * advances all of them: so a done() of http_many() may call http_do() on the same handle.
 */
#ifndef DREY_BASE_HTTP_CALL_H
#define DREY_BASE_HTTP_CALL_H

#include <curl/curl.h>
#include <stdatomic.h>

#include "base/http.h"

#define HTTP_WAIT_MAX_MS 3600000 /* libcurl has timers of its own, and others can wake it */

struct http {
	CURLM *multi;                   /* owns the connections */
	CURL *idle[HTTP_MAX_IN_FLIGHT]; /* of calls that have ended */
	size_t idle_count;
	char *ca_file, *cert_file, *key_file;
	char *ca_pem, *cert_pem, *key_pem;
	char *system_ca; /* the system's CAs; NULL: libcurl knows them */
	char *tls_name, *ca_setting, *proxy, *user_agent;
	bool direct, any_name, no_verify;
	atomic_bool stopped, woken; /* set by any thread */
};

struct http_call {
	struct http_request request;    /* its texts are borrowed until the end */
	struct http_response *response; /* idem */
	CURL *curl;                     /* NULL before the begin and after the end */
	struct curl_slist *headers, *connect_to;
	size_t max_bytes;
	int64_t start_ms, heard_ms; /* start; last data from the server */
	bool body_too_large, headers_too_large, refused;
	bool ended;
	CURLcode code;
	char detail[CURL_ERROR_SIZE];
};

/* Start. The call and the response must not move until the end. -1: the request is unusable
 * (ERR_CONFIG) and the call has ended. */
int http_call_begin(struct http *http, struct http_call *call, const struct http_request *request,
		    struct http_response *response, struct err *err);

/* How long until the server has been silent for too long; INT64_MAX: it may be silent. */
int64_t http_call_left_ms(const struct http_call *call);

/* Why not to wait for it any longer; NULL: wait. */
const char *http_call_hopeless(const struct http *http, const struct http_call *call);

/* Advance all calls of the handle; wait until something happens, at most timeout_ms. */
void http_calls_wait(struct http *http, int64_t timeout_ms);

/* Get the result of a call that has ended: as http_do(). */
int http_call_end(struct http *http, struct http_call *call, struct err *err);

/* one that never started is fine */
void http_call_abort(struct http *http, struct http_call *call);

/* Abort, with ERR_RETRY and `why` as the reason. Returns -1. */
int http_call_give_up(struct http *http, struct http_call *call, const char *why, struct err *err);

/* "GET http://host/path" - caller frees. */
char *http_call_describe(const struct http_request *request);

#endif
