#include "base/backoff.h"

int64_t backoff_ms(int64_t first_ms, int64_t most_ms, int failures)
{
	int64_t wait_ms = first_ms;

	for (int i = 1; i < failures && wait_ms < most_ms; i++)
		wait_ms *= 2;
	return wait_ms < most_ms ? wait_ms : most_ms;
}
