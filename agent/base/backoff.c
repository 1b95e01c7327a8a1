#include "base/backoff.h"

#include "base/fs.h"

int64_t backoff_ms(int64_t first_ms, int64_t most_ms, int failures)
{
	int64_t wait_ms = first_ms;

	for (int i = 1; i < failures && wait_ms < most_ms; i++)
		wait_ms *= 2;
	return wait_ms < most_ms ? wait_ms : most_ms;
}

int64_t backoff_spread_ms(int64_t first_ms, int64_t most_ms, int failures)
{
	int64_t half_ms = backoff_ms(first_ms, most_ms, failures) / 2;
	uint64_t random = 0;

	/* without randomness they are not spread, which does no harm */
	(void)fs_random(&random, sizeof(random), NULL);
	return half_ms + (int64_t)(random % (uint64_t)(half_ms + 1));
}
