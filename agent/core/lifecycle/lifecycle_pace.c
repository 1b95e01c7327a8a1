/*
 * Nothing that repeats runs without a pause. What follows from a failure has its own backoff; this is the limit
 * behind all of them, for what nobody thought of: so many starts of Flink in a moment, and in a minute. A start
 * that comes too early is decided again when its time has come, by what is true then.
 */
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_internal.h"

static const struct {
	int launches;
	int64_t within_ms;
} limits[] = {
	{4, 5000},
	{LAUNCHES_A_MINUTE, 60000},
};

int64_t pace_launch_ms(const struct lifecycle *life)
{
	int64_t due_ms = 0;

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		int64_t before_ms = life->launches_ms[limits[i].launches - 1];

		/* MUT: starts of Flink have no limit */
		if (before_ms && before_ms + limits[i].within_ms > due_ms)
			due_ms = before_ms + limits[i].within_ms;
	}
	return due_ms > life->now_ms ? due_ms : 0;
}

int pace_count(const struct lifecycle *life)
{
	int count = 0;

	while (count < LAUNCHES_A_MINUTE && life->launches_ms[count] &&
	       life->now_ms - life->launches_ms[count] < 60000)
		count++;
	return count;
}

void pace_launched(struct lifecycle *life)
{
	memmove(life->launches_ms + 1, life->launches_ms,
		sizeof(life->launches_ms) - sizeof(life->launches_ms[0]));
	life->launches_ms[0] = life->now_ms;
}

bool pace_is_kept(const struct lifecycle *life)
{
	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		int64_t before_ms = limits[i].launches < LAUNCHES_A_MINUTE
					    ? life->launches_ms[limits[i].launches]
					    : 0;

		if (before_ms && life->launches_ms[0] - before_ms < limits[i].within_ms)
			return false;
	}
	return true;
}
