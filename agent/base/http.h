/*
 * http - bounded HTTP/1.1 calls, one or many at a time, synchronous: for lanes, never for the main
 * loop. The only module that knows libcurl.
 *
 * Life cycle: http_new() -> http_do() or http_many()... -> http_free(). A handle keeps its
 * connections and is used by one thread at a time. A call always ends: with its answer, its timeout
 * or its size cap.
 *
 * A call under way, or a pause, ends immediately when another thread calls http_stop().
 *
 * Never: redirects (a redirect is an answer with its 3xx status), cookies, .netrc, signals, a proxy
 * for loopback addresses, protocols other than http and https, a CA that was not configured.
 */
#ifndef DREY_BASE_HTTP_H
#define DREY_BASE_HTTP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define HTTP_MAX_HEADER_BYTES 65536

struct http;

/* All strings are copied. A zeroed struct is plain HTTP(S) with the system's CAs. */
struct http_config {
	/* PEM; if given, only these CAs are trusted; read again for each connection */
	const char *ca_file;
	const char *cert_file; /* client certificate and key, PEM; both or none */
	const char *key_file;
	bool direct; /* ignore http_proxy etc. for every host, not only for loopback */
	/* the same three, PEM, in memory; a file and its text exclude each other */
	const char *ca_pem;
	const char *cert_pem;
	const char *key_pem;
	/* The name expected in the server's certificate, and sent to the server (SNI), instead of
	 * the URL's host. */
	const char *tls_name;
	/* The server's certificate may have any name: only with CAs that are given, which vouch for this one server. */
	bool any_name;
	/* The server's certificate is not checked at all; excludes CAs. A person has asked for it. */
	bool no_verify;
	/* Where the user gives the CA, such as "storage.s3.caFile": for the message that the server's is
	 * not trusted. NULL: nowhere. */
	const char *ca_setting;
	const char *proxy;      /* http://, https:// or socks5://; NULL: as `direct` says */
	const char *user_agent; /* NULL: "drey/VERSION" */
};

struct http *http_new(const struct http_config *config, struct err *err); /* NULL config: zeroed */
void http_free(struct http *http);                                        /* NULL is allowed */

/* Other certificates than before, PEM (copied; NULL: none), for the connections to come; between two calls. False: they are
 * the same. */
bool http_renew(struct http *http, const char *ca_pem, const char *cert_pem, const char *key_pem);

/* From any thread, permanently: calls under way on the handle and all later ones end within 100 ms
 * with ERR_RETRY "stopped", even during a name lookup. */
void http_stop(struct http *http);
bool http_stopped(const struct http *http);

/* From any thread: next() of an http_many() under way is asked again, and calls that are cancelled end. */
void http_wake(struct http *http);

/* Sleep on the caller's thread. -1 with ERR_RETRY if the handle is stopped before or meanwhile. */
int http_pause(struct http *http, int64_t pause_ms, struct err *err);

struct http_request {
	const char *method; /* NULL is GET */
	const char *url;
	const char *const *headers; /* "Name: value", header_count of them; no CR or LF */
	size_t header_count;
	const char *body; /* NULL: none. A NULL body with POST or PUT sends Content-Length: 0 */
	size_t body_len_bytes;
	int64_t timeout_ms;         /* of the whole call; 0 is HTTP_TIMEOUT_MS */
	int64_t connect_timeout_ms; /* 0 is HTTP_CONNECT_TIMEOUT_MS */
	size_t max_bytes;           /* of the answer's body; 0 is HTTP_MAX_BYTES */
	/* libcurl never sends it a second time: it gets its own connection, closed afterwards.
	 * (POST and PATCH are never sent twice anyway.) */
	bool once;
	/* A POST or PATCH that may be sent twice without harm: it reuses an existing connection. */
	bool repeatable;
	/* The path and the query are secrets, as those of a webhook: no message has them. */
	bool secret_url;
	/* ERR_RETRY if nothing arrives for this long; 0: only timeout_ms counts */
	int64_t stall_ms;
	/* Set it, and call http_wake(), to end only this call: ERR_RETRY "stopped". NULL: never */
	const atomic_bool *cancelled;
	/* Receives the body of a 2xx answer as it arrives; response->body stays empty
	 * and max_bytes does not count. -1 ends the call, as ERR_FORMAT. */
	int (*on_data)(void *ctx, const char *bytes, size_t len_bytes);
	void *on_data_ctx;
};
#define HTTP_TIMEOUT_MS         30000
#define HTTP_CONNECT_TIMEOUT_MS 5000
#define HTTP_MAX_BYTES          (4u << 20)

struct http_response {
	int status;
	struct buf body;
	struct buf headers;     /* the raw lines; http_header() reads them */
	char content_type[80];  /* lower case, without parameters; "" if absent */
	int64_t retry_after_ms; /* -1 if absent */
	int64_t date_unix_ms;   /* the server's clock; -1 if absent */
	int64_t took_ms;
};

/*
 * Do one call. 0 for every complete answer, whatever its status; the response is overwritten and
 * stays the caller's (http_response_release()). -1, response empty:
 *   ERR_RETRY  refused (.sys is ECONNREFUSED), timeout, reset, name not resolved, a truncated
 *              answer, stopped
 *   ERR_FORMAT answer (.sys is EFBIG) or header larger than its cap, or not HTTP
 *   ERR_DENIED the server's certificate is not trusted     ERR_CONFIG  URL or CA file is unusable
 * Messages contain the method and the URL without user, query and fragment. The body and the headers of an answer
 * that is no success do not repeat what the request signs in with (http_secrets.h).
 */
int http_do(struct http *http, const struct http_request *request, struct http_response *response,
	    struct err *err);

void http_response_release(struct http_response *response); /* zeroed is allowed; reusable */
#define cleanup_http_response __attribute__((cleanup(http_response_release)))

/* The value of the last header of that name (any case), without surrounding white space. False if
 * absent. A value that does not fit is cut. */
bool http_header(const struct http_response *response, const char *name, char *ret_value,
		 size_t size_bytes);

/* A date in HTTP's format (Last-Modified), of the years 1970 to 9999; -1 if invalid. */
int64_t http_date_unix_ms(const char *text);

#define HTTP_MAX_IN_FLIGHT 32

/*
 * Many calls on one handle, several under way at once. Everything happens on the caller's thread,
 * inside http_many(), which returns when next() has no more calls and all have ended. next() and
 * done() may use http_do() on the same handle; the other calls continue meanwhile.
 */
struct http_many {
	size_t in_flight; /* at most HTTP_MAX_IN_FLIGHT */
	/*
	 * The next call to start: 1 with *ret_request (its texts stay unchanged until its done())
	 * and *ret_tag; 0: none now, ask again when a call has ended or *ret_wait_ms have passed
	 * (-1: only when one has ended; with none under way that is the end); -1 with *err set ends
	 * everything immediately.
	 */
	int (*next)(void *ctx, struct http_request *ret_request, void **ret_tag,
		    int64_t *ret_wait_ms, struct err *err);
	/* One has ended, as http_do() would have: `why` is NULL or the error. The response is
	 * borrowed for the call. -1 with *err set ends everything immediately (no done() for the
	 * others). */
	int (*done)(void *ctx, void *tag, const struct http_response *response,
		    const struct err *why, struct err *err);
	void *ctx;
};

/* 0, or -1 as next() or done() has set it. */
int http_many(struct http *http, const struct http_many *many, struct err *err);

/* The default meaning of a status: 404 ABSENT, 401 and 403 DENIED, 408, 425, 429 and 5xx RETRY, 409
 * BUSY, 2xx NONE, else FORMAT. */
enum err_kind http_status_kind(int status);

/* Set *err by http_status_kind(): "GET http://...: HTTP 503: <begin of the body, one line, at most 159 bytes>".
 * Returns -1. */
int http_status_err(const struct http_request *request, const struct http_response *response,
		    struct err *err);

#endif
