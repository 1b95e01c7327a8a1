#include "core/pace.h"

#include "base/backoff.h"

int64_t pace_due_ms(const struct pace *pace, int64_t now_ms)
{
	return pace->leaving ? now_ms : pace->not_before_ms;
}

enum pace_verdict pace_next(const struct pace *pace, int64_t due_ms, int64_t early_ms,
			    int64_t now_ms, int64_t *ret_wait_ms)
{
	if (now_ms >= due_ms - early_ms)
		return PACE_NOW;
	if (pace->leaving)
		return PACE_NEVER;
	*ret_wait_ms = due_ms - now_ms;
	return PACE_LATER;
}

void pace_begin(struct pace *pace, int64_t now_ms)
{
	pace->busy = true;
	pace->not_before_ms = now_ms + PACE_GAP_MS;
}

void pace_end(struct pace *pace)
{
	pace->busy = false;
}

void pace_succeeded(struct pace *pace)
{
	pace->failures = 0;
}

void pace_failed(struct pace *pace, int64_t retry_after_ms, int64_t now_ms)
{
	int64_t wait_ms = backoff_ms(PACE_GAP_MS, PACE_RETRY_MS, ++pace->failures);

	if (wait_ms < retry_after_ms)
		wait_ms = retry_after_ms;
	pace->not_before_ms = now_ms + wait_ms;
	/* a retry may fail as well: shutdown does not wait for it */
	pace->left |= pace->leaving;
}

bool pace_leave(struct pace *pace)
{
	bool first = !pace->leaving;

	pace->leaving = true;
	return first;
}

void pace_give_up(struct pace *pace)
{
	pace->left = true;
}

bool pace_may_end(const struct pace *pace)
{
	return pace->left || !pace->busy;
}

bool pace_lasts(int64_t *since_ms, int64_t now_ms)
{
	if (!*since_ms)
		*since_ms = now_ms;
	return now_ms - *since_ms >= PACE_DENIED_MS;
}
