#include "core/resolve/loss.h"

int64_t loss_interval_ms(const struct loss_limits *limits, const struct journal *journal)
{
	for (size_t i = journal->launch_count; i-- > 0;)
		if (journal->launches[i].effective.known &&
		    journal->launches[i].effective.interval_ms)
			return journal->launches[i].effective.interval_ms;
	return limits->interval_ms;
}

int64_t loss_two_intervals_ms(const struct loss_limits *limits, const struct journal *journal)
{
	int64_t interval_ms = loss_interval_ms(limits, journal);

	return interval_ms < LOSS_NO_INTERVAL / LOSS_INTERVALS ? LOSS_INTERVALS * interval_ms
							       : LOSS_NO_INTERVAL;
}

int64_t loss_limit_ms(const struct loss_limits *limits, const struct journal *journal)
{
	int64_t two_ms;

	if (limits->max_ms != LOSS_MAX_AUTO)
		return limits->max_ms;
	two_ms = loss_two_intervals_ms(limits, journal);
	return two_ms > LOSS_DEFAULT_MS && two_ms < LOSS_NO_INTERVAL ? two_ms : LOSS_DEFAULT_MS;
}

int64_t loss_between_ms(int64_t lost_unix_ms, int64_t started_unix_ms)
{
	int64_t loss_ms = lost_unix_ms - started_unix_ms;

	if (!lost_unix_ms || !started_unix_ms || loss_ms < -LOSS_CLOCK_MS)
		return LOSS_UNKNOWN;
	return loss_ms < 0 ? 0 : loss_ms;
}

bool loss_is_too_much(int64_t loss_ms, int64_t limit_ms)
{
	return loss_ms == LOSS_UNKNOWN || !limit_ms || loss_ms > limit_ms;
}
