/* Many reads at the same time. Those that do not succeed at the first try are left to kube_do(),
 * one by one. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "kube/kube_internal.h"

/* What a request needs until it ends. */
struct slot {
	char *url, *token;
	struct kube_headers headers;
};

struct reading {
	struct kube *kube;
	const char *const *paths;
	size_t count, begun;
	struct slot *slots; /* of each path */
	bool *again;        /* idem: left to kube_do() */
	kube_each_fn *each;
	void *ctx;
	int64_t deadline_ms;
};

static int next(void *ctx, struct http_request *ret_request, void **ret_tag, int64_t *ret_wait_ms,
		struct err *err)
{
	struct reading *reading = ctx;
	struct kube_client *client = reading->kube->client;
	int64_t wait_ms = kube_client_rate(client, false), left_ms;
	struct slot *slot;

	left_ms = reading->deadline_ms - clock_mono_ms();
	if (reading->begun == reading->count || left_ms <= 0) {
		*ret_wait_ms = -1;
		return 0;
	}
	if (wait_ms) {
		*ret_wait_ms = wait_ms < left_ms ? wait_ms : left_ms;
		return 0;
	}
	slot = &reading->slots[reading->begun];
	if (kube_client_token(client, &slot->token, err))
		return -1;
	kube_client_rate(client, true);
	slot->url = xasprintf("%s%s", kube_client_server(client), reading->paths[reading->begun++]);
	kube_client_headers(client, slot->token, &slot->headers);
	*ret_request = (struct http_request){
		.url = slot->url,
		.headers = kube_headers_lines(&slot->headers),
		.header_count = slot->headers.count,
		.timeout_ms = left_ms < KUBE_ATTEMPT_TIMEOUT_MS ? left_ms : KUBE_ATTEMPT_TIMEOUT_MS,
		.max_bytes = KUBE_MAX_BYTES,
	};
	*ret_tag = slot;
	return 1;
}

static int kube_many_done(void *ctx, void *tag, const struct http_response *response,
			  const struct err *why, struct err *err)
{
	struct reading *reading = ctx;
	struct slot *slot = tag;
	size_t index = (size_t)(slot - reading->slots);
	struct kube_asked asked = {
		.method = "GET", .path = reading->paths[index], .max_bytes = KUBE_MAX_BYTES};
	cleanup_kube_answer struct kube_answer answer = {0};
	struct err failed = {0};
	int rc = 0;

	if (why)
		reading->again[index] = why->kind == ERR_RETRY;
	else if (kube_status_read(&asked, response, &answer, &failed))
		reading->again[index] = failed.kind == ERR_RETRY || answer.status == 401;
	if (!reading->again[index])
		rc = reading->each(reading->ctx, index, &answer,
				   why           ? why
				   : failed.kind ? &failed
						 : NULL,
				   err);
	return rc < 0 ? -1 : 0;
}

/* The rest: those that failed, and those that did not start in time. */
static int one_by_one(struct reading *reading, struct err *err)
{
	for (size_t i = 0; i < reading->count; i++) {
		cleanup_kube_answer struct kube_answer answer = {0};
		struct kube_request request = {.path = reading->paths[i]};
		struct err why = {0};
		int rc;

		if (!reading->again[i] && i < reading->begun)
			continue;
		request.timeout_ms = reading->deadline_ms - clock_mono_ms();
		if (request.timeout_ms <= 0)
			request.timeout_ms = 1;
		rc = kube_do(reading->kube, &request, &answer, &why);
		if (reading->each(reading->ctx, i, &answer, rc ? &why : NULL, err) < 0)
			return -1;
	}
	return 0;
}

int kube_get_many(struct kube *kube, const char *const *paths, size_t count, int64_t timeout_ms,
		  kube_each_fn *each, void *ctx, struct err *err)
{
	struct reading reading = {
		.kube = kube,
		.paths = paths,
		.count = count,
		.each = each,
		.ctx = ctx,
		.slots = xcalloc(count + 1, sizeof(struct slot)),
		.again = xcalloc(count + 1, sizeof(bool)),
		.deadline_ms = clock_mono_ms() + (timeout_ms ? timeout_ms : KUBE_TIMEOUT_MS),
	};
	struct http_many many = {
		.in_flight = KUBE_IN_FLIGHT, .next = next, .done = kube_many_done, .ctx = &reading};
	struct http *http;
	int rc = kube_begin(kube, &http, err);

	if (!rc) {
		rc = http_many(http, &many, err);
		kube_end(kube);
	}
	if (!rc)
		rc = one_by_one(&reading, err);
	for (size_t i = 0; i < count; i++) {
		free(reading.slots[i].url);
		free(reading.slots[i].token);
		kube_headers_release(&reading.slots[i].headers);
	}
	free(reading.slots);
	free(reading.again);
	return rc;
}
