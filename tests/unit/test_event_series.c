#include "core/report/event_series.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

#define MINUTE 60000

static const struct event_series_slot *slot;

TEST(what_happens_again_becomes_a_series)
{
	static const struct {
		int64_t at_ms;
		enum event_verdict verdict;
		int64_t count;
	} rows[] = {
		{0, EVENT_CREATE, 1},
		{1000, EVENT_SERIES, 2},
		{2000, EVENT_COUNT_ONLY, 3},
		{5 * MINUTE, EVENT_COUNT_ONLY, 4},
		{10 * MINUTE, EVENT_COUNT_ONLY, 5},
		{15 * MINUTE, EVENT_COUNT_ONLY, 6},
		{20 * MINUTE, EVENT_COUNT_ONLY, 7},
		{25 * MINUTE, EVENT_COUNT_ONLY, 8},
		{31 * MINUTE, EVENT_SERIES, 9},
		{32 * MINUTE, EVENT_COUNT_ONLY, 10},
		{38 * MINUTE + 1, EVENT_CREATE, 1},
	};
	struct event_series series = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_INT(event_series_add(&series, "Normal/Running", rows[i].at_ms, &slot), ==,
			  rows[i].verdict);
		CHECK_INT(slot->count, ==, rows[i].count);
		event_series_stored(&series, "Normal/Running", "orders.1");
	}
}

TEST(kinds_are_apart)
{
	struct event_series series = {0};

	CHECK_INT(event_series_add(&series, "a", 0, &slot), ==, EVENT_CREATE);
	event_series_stored(&series, "a", "x.1");
	CHECK_INT(event_series_add(&series, "b", 0, &slot), ==, EVENT_CREATE);
	event_series_stored(&series, "b", "x.2");
	CHECK_INT(event_series_add(&series, "a", 1, &slot), ==, EVENT_SERIES);
	CHECK_STR(slot->name, "x.1");
}

TEST(what_was_not_stored_is_created_again)
{
	struct event_series series = {0};

	CHECK_INT(event_series_add(&series, "a", 0, &slot), ==, EVENT_CREATE);
	CHECK_INT(event_series_add(&series, "a", 1, &slot), ==, EVENT_CREATE);
	event_series_stored(&series, "a", "x.1");
	event_series_stored(&series, "a", NULL);
	CHECK_INT(event_series_add(&series, "a", 2, &slot), ==, EVENT_CREATE);
}

TEST(the_quietest_kind_is_forgotten)
{
	struct event_series series = {0};
	char key[16];

	for (int i = 0; i < EVENT_SERIES_MAX + 1; i++) {
		snprintf(key, sizeof(key), "%d", i);
		CHECK_INT(event_series_add(&series, key, i, &slot), ==, EVENT_CREATE);
		event_series_stored(&series, key, "x");
	}
	CHECK_INT(event_series_add(&series, "1", 100, &slot), ==, EVENT_SERIES);
	CHECK_INT(event_series_add(&series, "0", 100, &slot), ==, EVENT_CREATE);
}

TEST(a_long_key_is_a_key)
{
	struct event_series series = {0};
	char key[2 * EVENT_KEY_BYTES];

	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	CHECK_INT(event_series_add(&series, key, 0, &slot), ==, EVENT_CREATE);
	event_series_stored(&series, key, "x");
	CHECK_INT(event_series_add(&series, key, 0, &slot), ==, EVENT_SERIES);
}
