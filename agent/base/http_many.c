#include <stdlib.h>

#include "base/clock.h"
#include "base/http_call.h"
#include "base/mem.h"

#define ASK_NOW   0
#define ASK_NEVER INT64_MAX

struct slot {
	struct http_call call;
	struct http_response response;
	void *tag;
	bool busy;
};

struct run {
	struct http *http;
	const struct http_many *many;
	size_t slot_count, busy_count;
	int64_t ask_at_ms; /* when next() wants to be asked again, if no call ends before */
	struct slot slots[HTTP_MAX_IN_FLIGHT];
};

static int finish(struct run *run, struct slot *slot, const struct err *why, struct err *err)
{
	run->ask_at_ms = ASK_NOW;
	return run->many->done(run->many->ctx, slot->tag, &slot->response, why, err) < 0 ? -1 : 0;
}

/* 1 one more was begun (and may have ended), 0 none now, -1 with *err: end. */
static int begin_one(struct run *run, struct err *err)
{
	struct http_request request = {0};
	struct err why = {0};
	struct slot *slot = run->slots;
	int64_t wait_ms = -1;
	int rc;

	while (slot->busy)
		slot++;
	rc = run->many->next(run->many->ctx, &request, &slot->tag, &wait_ms, err);
	if (!rc)
		run->ask_at_ms = wait_ms < 0 ? ASK_NEVER : clock_mono_ms() + wait_ms;
	if (rc <= 0)
		return rc;
	if (http_call_begin(run->http, &slot->call, &request, &slot->response, &why))
		return finish(run, slot, &why, err) ? -1 : 1;
	slot->busy = true;
	run->busy_count++;
	return 1;
}

static int begin_some(struct run *run, struct err *err)
{
	int more = 1;

	while (more > 0 && run->busy_count < run->slot_count && clock_mono_ms() >= run->ask_at_ms)
		more = begin_one(run, err);
	return more < 0 ? -1 : 0;
}

/* Some may have ended while next() or done() did a call of its own. */
static bool has_ended(const struct run *run)
{
	for (size_t i = 0; i < run->slot_count; i++)
		if (run->slots[i].busy && run->slots[i].call.ended)
			return true;
	return false;
}

/* Also those that are not waited for any longer. */
static int finish_ended(struct run *run, struct err *err)
{
	for (struct slot *slot = run->slots; slot < run->slots + run->slot_count; slot++) {
		const char *hopeless = NULL;
		struct err why = {0};
		bool failed;

		if (slot->busy && !slot->call.ended && !http_stopped(run->http))
			hopeless = http_call_hopeless(run->http, &slot->call);
		if (!slot->busy || (!slot->call.ended && !hopeless))
			continue;
		if (hopeless)
			failed = http_call_give_up(run->http, &slot->call, hopeless, &why);
		else
			failed = http_call_end(run->http, &slot->call, &why);
		slot->busy = false;
		run->busy_count--;
		if (finish(run, slot, failed ? &why : NULL, err))
			return -1;
	}
	return 0;
}

static int64_t wait_of(const struct run *run)
{
	int64_t wait_ms = HTTP_WAIT_MAX_MS, now_ms = clock_mono_ms();

	if (run->busy_count < run->slot_count && run->ask_at_ms - now_ms < wait_ms)
		wait_ms = run->ask_at_ms - now_ms;
	for (size_t i = 0; i < run->slot_count; i++)
		if (run->slots[i].busy && http_call_left_ms(&run->slots[i].call) < wait_ms)
			wait_ms = http_call_left_ms(&run->slots[i].call);
	return wait_ms > 0 ? wait_ms : 0;
}

int http_many(struct http *http, const struct http_many *many, struct err *err)
{
	struct run *run = xcalloc(1, sizeof(*run));
	int rc = 0;

	run->http = http;
	run->many = many;
	run->slot_count = many->in_flight;
	if (!run->slot_count || run->slot_count > HTTP_MAX_IN_FLIGHT)
		run->slot_count = run->slot_count ? HTTP_MAX_IN_FLIGHT : 1;
	/* what is idle counts, and makes room for another host */
	curl_multi_setopt(http->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)run->slot_count);
	while (!(rc = begin_some(run, err)) && (run->busy_count || run->ask_at_ms != ASK_NEVER)) {
		if (http_stopped(http)) {
			rc = err_set(err, ERR_RETRY, 0, "stopped");
			break;
		}
		if (!has_ended(run))
			http_calls_wait(http, wait_of(run));
		if (atomic_exchange(&http->woken, false))
			run->ask_at_ms = ASK_NOW;
		rc = finish_ended(run, err);
		if (rc)
			break;
	}
	curl_multi_setopt(http->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, 0L);
	for (size_t i = 0; i < run->slot_count; i++) {
		http_call_abort(http, &run->slots[i].call);
		http_response_release(&run->slots[i].response);
	}
	free(run);
	return rc;
}
