#include "kube/kube_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"

#if defined(__x86_64__)
#define ARCH "amd64"
#elif defined(__aarch64__)
#define ARCH "arm64"
#else
#define ARCH "other"
#endif
#define USER_AGENT "drey/" DREY_VERSION " (linux/" ARCH ")"

#define PAUSE_MAX_MS   5000 /* inside one kube_do(); a longer Retry-After is the caller's */
#define TOKEN_MILLI    1000 /* one request in the bucket */
#define NAME_MAX_CHARS 253

/* ---- life ---- */

struct kube *kube_new(const struct kube_config *config, struct err *err)
{
	struct http_config http_config = {
		.ca_file = config->ca_file,
		.ca_pem = config->ca_pem,
		.cert_file = config->cert_file,
		.key_file = config->key_file,
		.cert_pem = config->cert_pem,
		.key_pem = config->key_pem,
		.tls_name = config->tls_server_name,
		.proxy = config->proxy_url,
		.direct = true,
		.user_agent = USER_AGENT,
	};
	struct http *http;
	struct kube *kube;

	if (kube_config_check(config, err) || !(http = http_new(&http_config, err))) {
		err_wrap(err, "Kubernetes");
		return NULL;
	}
	kube = xcalloc(1, sizeof(*kube));
	kube->http = http;
	kube_token_init(&kube->token, config->token, config->token_file);
	kube->server = xstrdup(config->server);
	kube->namespace = xstrdup(config->namespace);
	kube->bucket_milli = (int64_t)KUBE_BURST * TOKEN_MILLI;
	kube->bucket_ms = clock_mono_ms();
	if (fs_random(&kube->random, sizeof(kube->random), NULL))
		kube->random = (uint64_t)kube->bucket_ms;
	kube->random |= 1;
	return kube;
}

void kube_free(struct kube *kube)
{
	if (!kube)
		return;
	http_free(kube->http);
	kube_token_release(&kube->token);
	free(kube->server);
	free(kube->namespace);
	free(kube);
}

void kube_stop(struct kube *kube)
{
	http_stop(kube->http);
}

const char *kube_namespace(const struct kube *kube)
{
	return kube->namespace;
}

/* ---- pauses ---- */

int kube_pause(struct kube *kube, int64_t pause_ms, struct err *err)
{
	return http_pause(kube->http, pause_ms, err);
}

int64_t kube_backoff_ms(struct kube *kube, int n, int64_t first_ms, int64_t most_ms)
{
	int64_t pause_ms = backoff_ms(first_ms, most_ms, n);

	kube->random ^= kube->random << 13;
	kube->random ^= kube->random >> 7;
	kube->random ^= kube->random << 17;
	return pause_ms / 2 + (int64_t)(kube->random % (uint64_t)(pause_ms / 2 + 1));
}

int64_t kube_bucket(struct kube *kube, bool take)
{
	const int64_t full = (int64_t)KUBE_BURST * TOKEN_MILLI;
	int64_t now_ms = clock_mono_ms(), wait_ms;

	/* KUBE_PER_SECOND requests a second are as many thousandths a millisecond */
	kube->bucket_milli += (now_ms - kube->bucket_ms) * KUBE_PER_SECOND;
	kube->bucket_ms = now_ms;
	if (kube->bucket_milli > full)
		kube->bucket_milli = full;
	wait_ms = (TOKEN_MILLI - kube->bucket_milli + KUBE_PER_SECOND - 1) / KUBE_PER_SECOND;
	if (take)
		kube->bucket_milli -= TOKEN_MILLI;
	return wait_ms > 0 ? wait_ms : 0;
}

/* Take one request out of the bucket; wait for it, but not beyond the deadline. */
static int wait_for_turn(struct kube *kube, int64_t deadline_ms, struct err *err)
{
	int64_t wait_ms = kube_bucket(kube, false);

	if (wait_ms && clock_mono_ms() + wait_ms >= deadline_ms)
		return err_set(err, ERR_RETRY, 0,
			       "too many requests: this one would have to wait %lld ms",
			       (long long)wait_ms);
	kube_bucket(kube, true);
	return wait_ms ? kube_pause(kube, wait_ms, err) : 0;
}

/* ---- one exchange ---- */

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

static int transfer(struct kube *kube, const struct kube_request *request,
		    struct http_request *call, struct http_response *response, struct err *err)
{
	const char *headers[3] = {"Accept: application/json"}, *token;
	cleanup_free char *authorization = NULL, *type = NULL;
	cleanup_free char *url = xasprintf("%s%s", kube->server, request->path);
	cleanup_buf struct buf body = BUF_INIT;

	if (kube_token_get(&kube->token, clock_mono_ms(), &token, err))
		return -1;
	call->method = request->method;
	call->url = url;
	call->headers = headers;
	call->header_count = 1;
	call->once = !is_get(request) && !request->repeatable;
	call->repeatable = request->repeatable;
	if (token)
		headers[call->header_count++] = authorization =
			xasprintf("Authorization: Bearer %s", token);
	if (request->body) {
		headers[call->header_count++] = type =
			xasprintf("Content-Type: %s", request->content_type ? request->content_type
									    : "application/json");
		json_print(request->body, &body);
		call->body = buf_str(&body);
		call->body_len_bytes = body.len_bytes;
	}
	return http_do(kube->http, call, response, err);
}

/* One exchange; a second one when the first was a 401 and the token is another one now. */
static int exchange(struct kube *kube, const struct kube_request *request,
		    struct http_request *call, struct http_response *response,
		    struct kube_answer *answer, struct err *err)
{
	int rc = transfer(kube, request, call, response, err);

	if (!rc && response->status == 401 && kube_token_refresh(&kube->token, clock_mono_ms()))
		rc = transfer(kube, request, call, response, err);
	if (rc)
		answer->maybe_done =
			!is_get(request) && err->kind == ERR_RETRY && err->sys != ECONNREFUSED;
	return rc;
}

static int attempt(struct kube *kube, const struct kube_request *request, int64_t deadline_ms,
		   struct kube_answer *answer, struct err *err)
{
	cleanup_http_response struct http_response response = {0};
	struct kube_asked asked = asked_of(request);
	struct http_request call = {.max_bytes = asked.max_bytes};

	if (wait_for_turn(kube, deadline_ms, err))
		return err_wrap(err, "%s %s", asked.method, request->path);
	call.timeout_ms = deadline_ms - clock_mono_ms();
	if ((is_get(request) || request->repeatable) && call.timeout_ms > KUBE_ATTEMPT_TIMEOUT_MS)
		call.timeout_ms = KUBE_ATTEMPT_TIMEOUT_MS;
	if (call.timeout_ms <= 0)
		return err_set(err, ERR_RETRY, 0, "%s %s: no time left", asked.method,
			       request->path);
	if (exchange(kube, request, &call, &response, answer, err))
		return -1;
	return kube_status_read(&asked, &response, answer, err);
}

/* ---- again? ---- */

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

int kube_do(struct kube *kube, const struct kube_request *request, struct kube_answer *answer,
	    struct err *err)
{
	int64_t deadline_ms =
		clock_mono_ms() + (request->timeout_ms ? request->timeout_ms : KUBE_TIMEOUT_MS);
	bool maybe_done = false;

	for (int tries = 1;; tries++) {
		struct err why = {0};
		int64_t pause_ms;

		kube_answer_release(answer);
		if (attempt(kube, request, deadline_ms, answer, &why) == 0)
			return 0;
		maybe_done |= answer->maybe_done;
		answer->maybe_done = maybe_done;
		pause_ms = kube_backoff_ms(kube, tries, KUBE_PAUSE_MS, PAUSE_MAX_MS);
		if (answer->retry_after_ms > pause_ms)
			pause_ms = answer->retry_after_ms;
		if (http_stopped(kube->http) || tries == KUBE_ATTEMPTS || pause_ms > PAUSE_MAX_MS ||
		    clock_mono_ms() + pause_ms >= deadline_ms ||
		    !may_repeat(request, answer, &why) || kube_pause(kube, pause_ms, &why)) {
			if (err)
				*err = why;
			return -1;
		}
	}
}

int kube_stream(struct kube *kube, const struct kube_request *request,
		const struct kube_stream *stream, struct kube_answer *answer, struct err *err)
{
	cleanup_http_response struct http_response response = {0};
	struct kube_asked asked = asked_of(request);
	struct http_request call = {
		.timeout_ms = request->timeout_ms ? request->timeout_ms : KUBE_TIMEOUT_MS,
		.stall_ms = stream->stall_ms,
		.on_data = stream->on_data,
		.on_data_ctx = stream->ctx,
		.max_bytes = asked.max_bytes,
	};

	struct err why = {0};

	kube_answer_release(answer);
	if (wait_for_turn(kube, INT64_MAX, &why) ||
	    exchange(kube, request, &call, &response, answer, &why)) {
		if (err)
			*err = why;
		return -1;
	}
	if (response.status >= 200 && response.status < 300) {
		answer->status = response.status;
		answer->date_unix_ms = response.date_unix_ms;
		return 0;
	}
	return kube_status_read(&asked, &response, answer, err);
}

/* ---- paths ---- */

int kube_check_name(const char *name, struct err *err)
{
	static const char alnum[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t len = name ? strlen(name) : 0;

	if (!len || len > NAME_MAX_CHARS ||
	    strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") != len ||
	    !strchr(alnum, name[0]) || !strchr(alnum, name[len - 1]) || strstr(name, ".."))
		return err_set(err, ERR_CONFIG, 0, "'%.80s' is not a name of an object",
			       name ? name : "");
	return 0;
}

void kube_add_encoded(struct buf *path, const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._~";

	for (; *value; value++) {
		if (strchr(plain, *value))
			buf_addch(path, *value);
		else
			buf_addf(path, "%%%02X", (unsigned char)*value);
	}
}
