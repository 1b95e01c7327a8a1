#include "store/store_http.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/mem.h"

#define UNDER_WAY INT64_MAX

/* Calls in a pause need a slot too, but not one of those in flight. */
#define PLACES (2 * HTTP_MAX_IN_FLIGHT)

struct place {
	bool taken;
	size_t index;
	int attempts, repairs;
	int64_t due_ms; /* end of the pause, or UNDER_WAY */
	struct store_call call;
};

struct run {
	const struct store_http_ops *ops;
	void *ctx;
	size_t count, next_index;
	struct place places[PLACES];
};

static void call_release(struct store_call *call)
{
	free(call->url);
	free(call->server);
	for (size_t i = 0; i < call->header_count; i++) {
		/* may contain a token */
		explicit_bzero(call->headers[i], strlen(call->headers[i]));
		free(call->headers[i]);
	}
	*call = (struct store_call){0};
}

static struct http_request request_of(const struct store_call *call)
{
	return (struct http_request){
		.method = call->method,
		.url = call->url,
		.headers = (const char *const *)call->headers,
		.header_count = call->header_count,
		.body = call->body,
		.body_len_bytes = call->body_len_bytes,
		.max_bytes = call->max_bytes,
		.timeout_ms = call->timeout_ms,
	};
}

int64_t store_http_pause_ms(int attempt, uint32_t random)
{
	int64_t pause_ms = backoff_ms(STORE_HTTP_PAUSE_MS, STORE_HTTP_PAUSE_MAX_MS, attempt - 1);

	return pause_ms / 2 + pause_ms / 2 * random / UINT32_MAX;
}

static uint32_t random_number(void)
{
	uint32_t number = 0;

	/* without it all pauses would be alike */
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return UINT32_MAX;
	return number;
}

/* The call ended without an answer. */
static int give_up(struct run *run, struct place *place, const struct err *why, struct err *err)
{
	call_release(&place->call);
	place->taken = false;
	if (run->ops->failed)
		return run->ops->failed(run->ctx, place->index, why, err) < 0 ? -1 : 0;
	return err_pass(err, why);
}

static struct place *begin_next(struct run *run)
{
	struct place *place = run->places;

	if (run->ops->count)
		run->count = run->ops->count(run->ctx);
	if (run->next_index == run->count)
		return NULL;
	while (place->taken)
		if (++place == run->places + PLACES)
			return NULL;
	*place = (struct place){.taken = true, .index = run->next_index++};
	return place;
}

/* A call whose pause is over, else a new one; or NULL and the time until the next pause is over, -1
 * if none is. */
static struct place *choose_call(struct run *run, int64_t *ret_wait_ms)
{
	int64_t now_ms = clock_mono_ms();
	struct place *first = NULL, *place;

	for (place = run->places; place < run->places + PLACES; place++)
		if (place->taken && place->due_ms != UNDER_WAY &&
		    (!first || place->due_ms < first->due_ms))
			first = place;
	if (first && first->due_ms <= now_ms)
		return first;
	place = begin_next(run);
	if (!place)
		*ret_wait_ms = first ? first->due_ms - now_ms : -1;
	return place;
}

static int next(void *ctx, struct http_request *ret_request, void **ret_tag, int64_t *ret_wait_ms,
		struct err *err)
{
	struct run *run = ctx;
	struct place *place;

	while ((place = choose_call(run, ret_wait_ms))) {
		struct err why = {0};

		place->due_ms = UNDER_WAY;
		if (!run->ops->prepare(run->ctx, place->index, &place->call, &why)) {
			place->attempts++;
			*ret_request = request_of(&place->call);
			*ret_tag = place;
			return 1;
		}
		if (give_up(run, place, &why, err))
			return -1;
	}
	return 0;
}

/* Retry after a pause: 0, or -1 with *why completed when it is time to give up. */
static int pause_call(const struct run *run, struct place *place, int64_t retry_after_ms,
		      struct err *why)
{
	int most = run->ops->attempts ? run->ops->attempts : STORE_HTTP_ATTEMPTS;
	int counted = place->attempts - place->repairs;
	char text[CLOCK_TEXT_BYTES];
	int64_t pause_ms;

	if (retry_after_ms > STORE_HTTP_PAUSE_MAX_MS) {
		why->kind = ERR_RETRY;
		return err_wrap(why, "the store requests a pause of %s",
				clock_human(retry_after_ms, text));
	}
	if (counted >= most && most == 1)
		return -1;
	if (counted >= most)
		return err_wrap(why, "gave up after %d attempts, the last one", counted);
	pause_ms = store_http_pause_ms(counted + 1, random_number());
	if (pause_ms < retry_after_ms)
		pause_ms = retry_after_ms;
	place->due_ms = clock_mono_ms() + pause_ms;
	return 0;
}

static enum store_verdict store_http_judge(struct run *run, const struct place *place,
					   const struct http_response *response, struct err *why)
{
	enum store_verdict verdict = run->ops->judge(run->ctx, place->index, response, why);
	struct http_request request = request_of(&place->call);

	if (verdict != STORE_DONE && verdict != STORE_MORE && why->kind == ERR_NONE)
		http_status_err(&request, response, why);
	return verdict;
}

static int store_http_done(void *ctx, void *tag, const struct http_response *response,
			   const struct err *why, struct err *err)
{
	struct run *run = ctx;
	struct place *place = tag;
	enum store_verdict verdict;
	struct err reason = {0};

	if (why) {
		reason = *why;
		if (place->call.server)
			err_wrap(&reason, "%s", place->call.server);
		verdict = why->kind == ERR_RETRY ? STORE_BUSY : STORE_FAILED;
	} else {
		verdict = store_http_judge(run, place, response, &reason);
	}
	call_release(&place->call);
	switch (verdict) {
	case STORE_DONE:
		place->taken = false;
		return 0;
	case STORE_MORE:
		place->attempts = place->repairs = 0;
		place->due_ms = 0;
		return 0;
	case STORE_REPAIRED:
		if (place->repairs >= STORE_HTTP_REPAIRS)
			break;
		place->repairs++;
		place->due_ms = 0;
		return 0;
	case STORE_BUSY:
		if (pause_call(run, place, response->retry_after_ms, &reason))
			break;
		return 0;
	case STORE_FAILED:
		break;
	}
	return give_up(run, place, &reason, err);
}

int store_http_many(struct http *http, const struct store_http_ops *ops, void *ctx, size_t count,
		    size_t in_flight, struct err *err)
{
	struct run *run = xcalloc(1, sizeof(*run));
	struct http_many many = {
		.in_flight = in_flight, .next = next, .done = store_http_done, .ctx = run};
	int rc;

	run->ops = ops;
	run->ctx = ctx;
	run->count = count;
	rc = http_many(http, &many, err);
	for (size_t i = 0; i < PLACES; i++)
		call_release(&run->places[i].call);
	free(run);
	return rc;
}

int store_http_one(struct http *http, const struct store_http_ops *ops, void *ctx, struct err *err)
{
	struct store_http_ops alone = *ops;

	alone.failed = NULL;
	return store_http_many(http, &alone, ctx, 1, 1, err);
}
