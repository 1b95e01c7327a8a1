#include "store/swift/swift_call.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/percent.h"
#include "format/swift_json.h"

#define SIZE_MAX_DIGITS 18 /* always fits in 63 bits */

/* ---- the request ---- */

/* The caller frees it. */
static char *address(const struct swift_store *store, const struct swift_request *request,
		     const char *storage_url)
{
	struct buf url = BUF_INIT;

	buf_addf(&url, "%s/", storage_url);
	percent_encode(&url, store->container, false);
	if (request->object)
		percent_encode(&url, request->object, true);
	if (request->query)
		buf_addf(&url, "?%s", request->query);
	return buf_steal(&url);
}

int swift_call_prepare(struct swift_store *store, const struct swift_request *request,
		       struct swift_attempt *attempt, struct store_call *ret_call, struct err *err)
{
	struct swift_session session;
	char **header = ret_call->headers;

	if (swift_auth_get(store->auth, &session, err))
		return -1;
	attempt->session = session.number;
	ret_call->method = request->method ? request->method : "GET";
	ret_call->url = address(store, request, session.storage_url);
	ret_call->server = xstrdup(swift_auth_shown(store->auth));
	ret_call->max_bytes = request->max_bytes;
	ret_call->body = request->body;
	ret_call->body_len_bytes = request->body_len_bytes;
	ret_call->timeout_ms = request->timeout_ms;
	*header++ = xasprintf("X-Auth-Token: %s", session.token);
	if (request->count)
		*header++ = xasprintf("Range: bytes=%" PRId64 "-%" PRId64, request->first,
				      request->first + request->count - 1);
	if (request->if_match)
		*header++ = xasprintf("If-Match: %s", request->if_match);
	ret_call->header_count = (size_t)(header - ret_call->headers);
	return 0;
}

/* ---- the answer ---- */

/* The storage URL and where it is from, unless the store is just busy or has no such object. */
static int wrap_server(const struct swift_store *store, struct err *err)
{
	const char *shown = swift_auth_shown(store->auth);

	if (!err || !shown || err->kind == ERR_ABSENT || err->kind == ERR_RETRY)
		return -1;
	return err_wrap(err, "%s", shown);
}

static int swift_call_fail(const struct swift_store *store, const struct swift_request *request,
			   int status, enum err_kind kind, const char *why, struct err *err)
{
	err_set(err, kind, 0, "%s %s://%s%s: HTTP %d: %s",
		request->method ? request->method : "GET", store->base.scheme,
		store->base.authority, request->object ? request->object : "", status, why);
	return wrap_server(store, err);
}

static enum store_verdict judge_refusal(struct swift_store *store,
					const struct swift_request *request,
					struct swift_attempt *attempt, struct err *err)
{
	bool again = !attempt->refused && swift_auth_refused(store->auth, attempt->session);

	swift_call_fail(
		store, request, 401, ERR_DENIED,
		attempt->refused ? "a new token was rejected, too" : "the token was rejected", err);
	attempt->refused = true;
	return again ? STORE_REPAIRED : STORE_FAILED;
}

/* Source: Swift's catch_errors and Ceph's gateway, which give every answer a transaction. */
static bool is_from_swift(const struct http_response *response)
{
	char id[8];

	return http_header(response, "X-Trans-Id", id, sizeof(id)) && id[0];
}

static enum store_verdict judge_failure(struct swift_store *store,
					const struct swift_request *request,
					const struct http_response *response, struct err *err)
{
	int status = response->status;

	/* MUT: a 404 of a proxy is an absence in Swift */
	if (status == 404 && !is_from_swift(response)) {
		swift_call_fail(
			store, request, status, ERR_RETRY,
			"the answer is not one of Swift (no X-Trans-Id): is there a proxy in between?",
			err);
		return STORE_BUSY;
	}
	switch (status) {
	case 403:
		swift_call_fail(store, request, status, ERR_DENIED, "access denied", err);
		return STORE_FAILED;
	case 404:
		if (request->object) {
			swift_call_fail(store, request, status, ERR_ABSENT, "no such object", err);
		} else {
			err_set(err, ERR_CONFIG, 0, "there is no container '%s' in this account",
				store->container);
			wrap_server(store, err);
		}
		return STORE_FAILED;
	case 412:
		swift_call_fail(store, request, status, ERR_RETRY,
				"it was replaced during the read", err);
		return STORE_FAILED;
	default:
		break;
	}
	if (status == 498 || http_status_kind(status) == ERR_RETRY) {
		swift_call_fail(store, request, status, ERR_RETRY, "the store is busy", err);
		return STORE_BUSY;
	}
	swift_call_fail(store, request, status, ERR_FORMAT,
			status >= 300 && status < 400 ? "a redirect, which drey does not follow"
						      : "not a valid answer",
			err);
	return STORE_FAILED;
}

enum store_verdict swift_call_judge(struct swift_store *store, const struct swift_request *request,
				    struct swift_attempt *attempt,
				    const struct http_response *response, struct err *err)
{
	int status = response->status;

	if (status == 401)
		return judge_refusal(store, request, attempt, err);
	if ((status >= 200 && status < 300) || (status == 416 && request->count)) {
		store->container_seen = true;
		return STORE_DONE;
	}
	return judge_failure(store, request, response, err);
}

/* ---- one call ---- */

struct single {
	struct swift_store *store;
	const struct swift_request *request;
	struct swift_attempt attempt;
	struct http_response response;
};

static int prepare_single(void *ctx, size_t index, struct store_call *ret_call, struct err *err)
{
	struct single *single = ctx;

	(void)index;
	return swift_call_prepare(single->store, single->request, &single->attempt, ret_call, err);
}

static enum store_verdict judge_single(void *ctx, size_t index,
				       const struct http_response *response, struct err *err)
{
	struct single *single = ctx;
	struct http_response *copy = &single->response;
	enum store_verdict verdict =
		swift_call_judge(single->store, single->request, &single->attempt, response, err);

	(void)index;
	if (verdict == STORE_DONE) {
		*copy = *response;
		copy->body = (struct buf)BUF_INIT;
		copy->headers = (struct buf)BUF_INIT;
		buf_add(&copy->body, response->body.data, response->body.len_bytes);
		buf_add(&copy->headers, response->headers.data, response->headers.len_bytes);
	}
	return verdict;
}

static int call(struct swift_store *store, const struct swift_request *request,
		struct http_response *ret_response, struct err *err)
{
	const struct store_http_ops ops = {.prepare = prepare_single,
					   .judge = judge_single,
					   .attempts = request->timeout_ms ? 1 : 0};
	struct single single = {.store = store, .request = request};

	if (store_http_one(store->http, &ops, &single, err))
		return -1;
	*ret_response = single.response;
	return 0;
}

int swift_call_see_container(struct swift_store *store, struct err *err)
{
	const struct swift_request request = {.method = "HEAD"};
	cleanup_http_response struct http_response response = {0};

	return store->container_seen ? 0 : call(store, &request, &response, err);
}

int swift_call(struct swift_store *store, const struct swift_request *request,
	       struct http_response *ret_response, struct err *err)
{
	struct err why = {0};

	if (!call(store, request, ret_response, &why))
		return 0;
	/* a wrong container name must not look like a missing object */
	if (why.kind == ERR_ABSENT && swift_call_see_container(store, err))
		return -1;
	return err_pass(err, &why);
}

/* ---- what the store reports about an object ---- */

/* A whole number, up to the end of `text`. */
static bool read_size(const char *text, int64_t *ret)
{
	size_t len = strspn(text, "0123456789");

	if (!len || len > SIZE_MAX_DIGITS || text[len])
		return false;
	*ret = strtoll(text, NULL, 10);
	return true;
}

/* "1795274016.33522"; more exact than Last-Modified, and what a listing shows. */
static int64_t read_timestamp(const char *text)
{
	size_t seconds = strspn(text, "0123456789");
	int64_t ms = 0;
	int64_t unit = 100;

	if (!seconds || seconds > 12)
		return -1;
	if (text[seconds] == '.')
		for (const char *p = text + seconds + 1; *p >= '0' && *p <= '9'; p++, unit /= 10)
			ms += (*p - '0') * unit;
	return strtoll(text, NULL, 10) * 1000 + ms;
}

int swift_call_stat(const struct http_response *response, bool ranged, struct store_stat *ret,
		    struct err *err)
{
	struct store_stat stat = {.mtime_unix_ms = -1};
	char text[80] = "";
	const char *size = text;

	if (ranged && response->status != 200) {
		http_header(response, "Content-Range", text, sizeof(text));
		size = strrchr(text, '/');
		size = size ? size + 1 : "";
	} else {
		http_header(response, "Content-Length", text, sizeof(text));
	}
	if (!read_size(size, &stat.size_bytes))
		return err_set(err, ERR_FORMAT, 0, "the answer has no size for the object");
	if (http_header(response, "X-Timestamp", text, sizeof(text)))
		stat.mtime_unix_ms = read_timestamp(text);
	if (stat.mtime_unix_ms < 0 && http_header(response, "Last-Modified", text, sizeof(text)))
		stat.mtime_unix_ms = http_date_unix_ms(text);
	if (!stat.size_bytes && swift_json_is_directory(response->content_type))
		return err_set(err, ERR_FORMAT, 0, "it is a directory marker, not a file");
	*ret = stat;
	return 0;
}
