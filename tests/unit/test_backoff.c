#include "base/backoff.h"

#include <limits.h>
#include <stddef.h>

#include "tap.h"

TEST(each_failure_doubles_the_wait_up_to_the_most)
{
	static const struct {
		int failures;
		int64_t wait_ms;
	} rows[] = {{0, 100}, {1, 100},  {2, 200},  {3, 400},
		    {4, 800}, {5, 1000}, {6, 1000}, {INT_MAX, 1000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_INT(backoff_ms(100, 1000, rows[i].failures), ==, rows[i].wait_ms);
}

TEST(the_most_counts_for_the_first_wait_too)
{
	CHECK_INT(backoff_ms(5000, 1000, 1), ==, 1000);
}

TEST(a_spread_wait_is_half_of_it_or_more)
{
	for (int failures = 1; failures < 200; failures++) {
		int64_t full_ms = backoff_ms(100, 3000, failures);
		int64_t wait_ms = backoff_spread_ms(100, 3000, failures);

		CHECK_INT(wait_ms, >=, full_ms / 2);
		CHECK_INT(wait_ms, <=, full_ms);
	}
	CHECK_INT(backoff_spread_ms(0, 0, 1), ==, 0);
}
