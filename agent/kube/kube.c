#include "kube/kube_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/http.h"
#include "base/mem.h"

#define PAUSE_MAX_MS   5000 /* inside one kube_do(); a longer Retry-After is the caller's */
#define NAME_MAX_CHARS 253

/* ---- life ---- */

struct kube *kube_open(struct kube_client *client)
{
	struct kube *kube = xcalloc(1, sizeof(*kube));

	kube->client = kube_client_share(client);
	pthread_mutex_init(&kube->lock, NULL);
	return kube;
}

struct kube *kube_new(const struct kube_target *config, struct err *err)
{
	struct kube_client *client = kube_client_new(config, err);
	struct kube *kube = client ? kube_open(client) : NULL;

	kube_client_free(client);
	return kube;
}

void kube_free(struct kube *kube)
{
	if (!kube)
		return;
	kube_client_free(kube->client);
	pthread_mutex_destroy(&kube->lock);
	free(kube);
}

void kube_stop(struct kube *kube)
{
	pthread_mutex_lock(&kube->lock);
	kube->stopped = true;
	if (kube->http)
		http_stop(kube->http);
	pthread_mutex_unlock(&kube->lock);
}

const char *kube_namespace(const struct kube *kube)
{
	return kube_client_namespace(kube->client);
}

int kube_begin(struct kube *kube, struct http **ret_http, struct err *err)
{
	struct http *http = kube_client_take(kube->client, err);
	bool stopped;

	if (!http)
		return -1;
	pthread_mutex_lock(&kube->lock);
	stopped = kube->stopped;
	if (!stopped)
		kube->http = http;
	pthread_mutex_unlock(&kube->lock);
	if (stopped) {
		kube_client_give(kube->client, http);
		return err_set(err, ERR_RETRY, 0, "stopped");
	}
	*ret_http = http;
	return 0;
}

void kube_end(struct kube *kube)
{
	struct http *http;

	pthread_mutex_lock(&kube->lock);
	http = kube->http;
	kube->http = NULL;
	pthread_mutex_unlock(&kube->lock);
	/* a stopped one stays stopped */
	if (http_stopped(http))
		http_free(http);
	else
		kube_client_give(kube->client, http);
}

int kube_pause(struct kube *kube, int64_t pause_ms, struct err *err)
{
	struct http *http;
	int rc;

	if (kube_begin(kube, &http, err))
		return -1;
	rc = http_pause(http, pause_ms, err);
	kube_end(kube);
	return rc;
}

/* ---- one exchange ---- */

/* The parts of one call. */
struct call {
	struct kube_client *client;
	struct http *http;
	const struct kube_request *request;
	struct kube_answer *answer;
};

/* As fast as the rate allows, but not beyond the deadline. */
static int wait_for_turn(const struct call *call, int64_t deadline_ms, struct err *err)
{
	int64_t wait_ms = kube_client_rate(call->client, false);

	if (wait_ms && clock_mono_ms() + wait_ms >= deadline_ms)
		return err_set(err, ERR_RETRY, 0,
			       "too many requests: this one would have to wait %lld ms",
			       (long long)wait_ms);
	kube_client_rate(call->client, true);
	return wait_ms ? http_pause(call->http, wait_ms, err) : 0;
}

static const char *method_of(const struct kube_request *request)
{
	return request->method ? request->method : "GET";
}

static bool is_get(const struct kube_request *request)
{
	return !strcmp(method_of(request), "GET");
}

static struct kube_asked asked_of(const struct kube_request *request)
{
	return (struct kube_asked){
		.method = method_of(request),
		.path = request->path,
		.content_type = request->content_type,
		.max_bytes = request->max_bytes ? request->max_bytes : KUBE_MAX_BYTES,
	};
}

static int transfer(const struct call *call, const char *token, struct http_request *http,
		    struct http_response *response, struct err *err)
{
	const struct kube_request *request = call->request;
	cleanup_free char *url = xasprintf("%s%s", kube_client_server(call->client), request->path);
	cleanup_buf struct buf body = BUF_INIT;
	struct kube_headers headers;
	int rc;

	http->method = request->method;
	http->url = url;
	http->once = !is_get(request) && !request->repeatable && !request->compared;
	http->repeatable = request->repeatable || request->compared;
	kube_client_headers(call->client, token, &headers);
	if (request->body) {
		kube_headers_add(&headers, xasprintf("Content-Type: %s",
						     request->content_type ? request->content_type
									   : "application/json"));
		json_print(request->body, &body);
		http->body = buf_str(&body);
		http->body_len_bytes = body.len_bytes;
	}
	http->headers = kube_headers_lines(&headers);
	http->header_count = headers.count;
	rc = http_do(call->http, http, response, err);
	kube_headers_release(&headers);
	return rc;
}

/* One exchange; a second one when the first was a 401 and the token has changed. */
static int exchange(const struct call *call, struct http_request *http,
		    struct http_response *response, struct err *err)
{
	cleanup_free char *token = NULL, *renewed = NULL;
	int rc;

	if (kube_client_token(call->client, &token, err))
		return -1;
	rc = transfer(call, token, http, response, err);
	if (!rc && response->status == 401 && kube_client_renew(call->client, token))
		rc = kube_client_token(call->client, &renewed, err) ||
				     transfer(call, renewed, http, response, err)
			     ? -1
			     : 0;
	if (rc)
		call->answer->maybe_done = !is_get(call->request) && err->kind == ERR_RETRY &&
					   err->sys != ECONNREFUSED;
	return rc;
}

static int attempt(const struct call *call, int64_t deadline_ms, struct err *err)
{
	const struct kube_request *request = call->request;
	cleanup_http_response struct http_response response = {0};
	struct kube_asked asked = asked_of(request);
	struct http_request http = {.max_bytes = asked.max_bytes};

	if (wait_for_turn(call, deadline_ms, err))
		return err_wrap(err, "%s %s", asked.method, request->path);
	http.timeout_ms = deadline_ms - clock_mono_ms();
	if ((is_get(request) || request->repeatable) && http.timeout_ms > KUBE_ATTEMPT_TIMEOUT_MS)
		http.timeout_ms = KUBE_ATTEMPT_TIMEOUT_MS;
	if (http.timeout_ms <= 0)
		return err_set(err, ERR_RETRY, 0, "%s %s: no time left", asked.method,
			       request->path);
	if (exchange(call, &http, &response, err))
		return -1;
	return kube_status_read(&asked, &response, call->answer, err);
}

/* ---- retries ---- */

/* A request that failed with `why`. */
static bool may_repeat(const struct kube_request *request, const struct kube_answer *answer,
		       const struct err *why)
{
	if (why->kind != ERR_RETRY || answer->status == 410)
		return false;
	if (answer->status == 429 || (!answer->status && why->sys == ECONNREFUSED))
		return true;
	return is_get(request) || request->repeatable;
}

/* As kube_do(). */
static int attempts(const struct call *call, int64_t deadline_ms, struct err *err)
{
	struct kube_answer *answer = call->answer;
	bool maybe_done = false;

	for (int tries = 1;; tries++) {
		int64_t pause_ms = backoff_spread_ms(KUBE_PAUSE_MS, PAUSE_MAX_MS, tries);

		kube_answer_release(answer);
		if (attempt(call, deadline_ms, err) == 0)
			return 0;
		maybe_done |= answer->maybe_done;
		answer->maybe_done = maybe_done;
		if (answer->retry_after_ms > pause_ms)
			pause_ms = answer->retry_after_ms;
		if (http_stopped(call->http) || tries == KUBE_ATTEMPTS || pause_ms > PAUSE_MAX_MS ||
		    clock_mono_ms() + pause_ms >= deadline_ms ||
		    !may_repeat(call->request, answer, err) ||
		    http_pause(call->http, pause_ms, err))
			return -1;
		*err = (struct err){0};
	}
}

int kube_do(struct kube *kube, const struct kube_request *request, struct kube_answer *answer,
	    struct err *err)
{
	int64_t deadline_ms =
		clock_mono_ms() + (request->timeout_ms ? request->timeout_ms : KUBE_TIMEOUT_MS);
	struct call call = {.client = kube->client, .request = request, .answer = answer};
	struct err why = {0};
	int rc;

	kube_answer_release(answer);
	rc = kube_begin(kube, &call.http, &why);
	if (!rc) {
		rc = attempts(&call, deadline_ms, &why);
		kube_end(kube);
	} else {
		err_wrap(&why, "%s %s", method_of(request), request->path);
	}
	if (rc && err)
		*err = why;
	return rc;
}

/* ---- paths ---- */

int kube_check_name(const char *name, struct err *err)
{
	static const char alnum[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t len = name ? strlen(name) : 0;

	if (!len || len > NAME_MAX_CHARS ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") != len ||
	    !strchr(alnum, name[0]) || !strchr(alnum, name[len - 1]) || strstr(name, ".."))
		return err_set(err, ERR_CONFIG, 0, "'%.80s' is not the name of an object",
			       name ? name : "");
	return 0;
}
