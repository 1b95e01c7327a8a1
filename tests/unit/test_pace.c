#include "core/pace.h"

#include <stddef.h>

#include "tap.h"

#define NOW 1000000

/* At this time a request is due at due_ms, and may be sent up to early_ms sooner. */
struct look {
	int64_t at_ms, due_ms, early_ms;
	enum pace_verdict verdict;
	int64_t wait_ms; /* where the verdict is PACE_LATER */
};

static void check(const struct pace *pace, const struct look *look)
{
	int64_t wait_ms = -1;

	CHECK_INT(pace_next(pace, look->due_ms, look->early_ms, look->at_ms, &wait_ms), ==,
		  look->verdict);
	CHECK_INT(wait_ms, ==, look->verdict == PACE_LATER ? look->wait_ms : -1);
}

/* A request that fails as soon as it was sent. */
static int64_t fail(struct pace *pace, int64_t retry_after_ms)
{
	pace_begin(pace, NOW);
	pace_end(pace);
	pace_failed(pace, retry_after_ms, NOW);
	return pace_due_ms(pace, NOW) - NOW;
}

TEST(a_request_that_is_due_is_sent_and_an_early_one_where_it_may)
{
	static const struct look rows[] = {
		{NOW, 0, 0, PACE_NOW, 0},           {NOW, NOW, 0, PACE_NOW, 0},
		{NOW, NOW + 1, 0, PACE_LATER, 1},   {NOW, NOW + 700, 0, PACE_LATER, 700},
		{NOW, NOW + 700, 700, PACE_NOW, 0}, {NOW, NOW + 701, 700, PACE_LATER, 701},
	};
	struct pace pace = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(&pace, &rows[i]);
}

TEST(two_requests_are_a_gap_apart_from_begin_to_begin)
{
	struct pace pace = {0};

	CHECK_INT(pace_due_ms(&pace, NOW), <=, NOW);
	pace_begin(&pace, NOW);
	CHECK(pace.busy);
	pace_end(&pace);
	pace_succeeded(&pace);
	CHECK(!pace.busy);
	CHECK_INT(pace_due_ms(&pace, NOW + 400), ==, NOW + PACE_GAP_MS);
}

TEST(the_gap_doubles_with_each_failure_and_is_as_long_as_the_server_asks_for)
{
	static const struct {
		int64_t retry_after_ms, gap_ms;
	} rows[] = {{-1, 500},   {-1, 1000},  {5000, 5000}, {-1, 4000},     {-1, 8000},
		    {-1, 16000}, {-1, 30000}, {-1, 30000},  {60000, 60000}, {1000, 30000}};
	struct pace pace = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_INT(fail(&pace, rows[i].retry_after_ms), ==, rows[i].gap_ms);
}

TEST(a_success_makes_the_next_failure_the_first)
{
	struct pace pace = {0};

	fail(&pace, -1);
	CHECK_INT(fail(&pace, -1), ==, 2 * PACE_GAP_MS);
	pace_succeeded(&pace);
	CHECK_INT(fail(&pace, -1), ==, PACE_GAP_MS);
}

TEST(the_end_sends_what_is_due_at_once_and_the_rest_never)
{
	struct pace pace = {0};

	fail(&pace, 20000);
	check(&pace, &(struct look){NOW, pace_due_ms(&pace, NOW), 0, PACE_LATER, 20000});
	CHECK(pace_leave(&pace));
	check(&pace, &(struct look){NOW, pace_due_ms(&pace, NOW), 0, PACE_NOW, 0});
	check(&pace, &(struct look){NOW, pace_due_ms(&pace, NOW) + 50, 0, PACE_NEVER, 0});
}

TEST(the_end_waits_for_the_answer_that_is_under_way)
{
	struct pace pace = {0};

	CHECK(pace_leave(&pace));
	CHECK(pace_may_end(&pace));
	pace_begin(&pace, NOW);
	CHECK(!pace_leave(&pace));
	CHECK(!pace_may_end(&pace));
	pace_end(&pace);
	pace_succeeded(&pace);
	CHECK(pace_may_end(&pace));
}

TEST(the_end_does_not_wait_for_an_answer_that_does_not_come)
{
	struct pace pace = {0};

	pace_begin(&pace, NOW);
	pace_leave(&pace);
	pace_give_up(&pace);
	CHECK(pace_may_end(&pace));
}

TEST(the_end_does_not_wait_for_a_second_try)
{
	struct pace pace = {0};

	fail(&pace, -1);
	pace_begin(&pace, NOW);
	pace_leave(&pace);
	pace_end(&pace);
	pace_failed(&pace, -1, NOW);
	pace_begin(&pace, NOW);
	CHECK(pace_may_end(&pace));
}

TEST(a_failure_before_the_end_does_not_keep_it_from_waiting)
{
	struct pace pace = {0};

	fail(&pace, -1);
	pace_leave(&pace);
	pace_begin(&pace, NOW);
	CHECK(!pace_may_end(&pace));
}

TEST(what_is_refused_lasts_after_five_seconds)
{
	static const struct {
		int64_t after_ms;
		bool lasts;
	} rows[] = {{0, false}, {1000, false}, {4999, false}, {5000, true}, {60000, true}};
	int64_t since_ms = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_INT(pace_lasts(&since_ms, NOW + rows[i].after_ms), ==, rows[i].lasts);
	CHECK_INT(since_ms, ==, NOW);
}
