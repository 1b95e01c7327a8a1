#include "base/log_seldom.h"

#include <stddef.h>

#include "tap.h"

TEST(a_trouble_is_said_once_and_then_every_five_minutes)
{
	struct log_seldom seldom = {0};

	CHECK(log_seldom_due(&seldom, "timeout", 1000));
	for (int64_t ms = 2000; ms < 1000 + LOG_SELDOM_MS; ms += 1000)
		CHECK(!log_seldom_due(&seldom, "timeout", ms));
	CHECK(log_seldom_due(&seldom, "timeout", 1000 + LOG_SELDOM_MS));
	CHECK(!log_seldom_due(&seldom, "timeout", 2000 + LOG_SELDOM_MS));
	log_seldom_release(&seldom);
}

TEST(another_text_is_said_at_once)
{
	struct log_seldom seldom = {0};

	CHECK(log_seldom_due(&seldom, "timeout", 1000));
	CHECK(log_seldom_due(&seldom, "denied", 2000));
	CHECK(log_seldom_due(&seldom, "timeout", 3000));
	log_seldom_release(&seldom);
}

TEST(what_comes_back_after_all_was_well_is_said)
{
	struct log_seldom seldom = {0};

	CHECK(!log_seldom_due(&seldom, NULL, 500));
	CHECK(log_seldom_due(&seldom, "timeout", 1000));
	CHECK(!log_seldom_due(&seldom, NULL, 2000));
	CHECK(log_seldom_due(&seldom, "timeout", 3000));
	log_seldom_release(&seldom);
}
