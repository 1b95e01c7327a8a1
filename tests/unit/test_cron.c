#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/cron.h"
#include "tests/unit/tap.h"

/* 2026-01-01T00:00:00Z is a Thursday. */
#define NEW_YEAR_2026 1767225600LL
#define HOUR          3600LL
#define DAY           (24 * HOUR)

static int64_t next(const char *line, int64_t unix_s)
{
	struct err err = {0};
	struct cron cron;

	if (!CHECK_INT(cron_parse(line, &cron, &err), ==, 0)) {
		tap_note("%s", err.msg);
		return -1;
	}
	return cron_next_unix_s(&cron, NULL, unix_s);
}

TEST(fields_are_numbers_lists_ranges_steps_and_names)
{
	CHECK_INT(next("* * * * *", NEW_YEAR_2026), ==, NEW_YEAR_2026 + 60);
	CHECK_INT(next("* * * * *", NEW_YEAR_2026 + 59), ==, NEW_YEAR_2026 + 60);
	CHECK_INT(next("*/15 * * * *", NEW_YEAR_2026 + 60), ==, NEW_YEAR_2026 + 900);
	CHECK_INT(next("5/20 * * * *", NEW_YEAR_2026), ==, NEW_YEAR_2026 + 300);
	CHECK_INT(next("10,50 * * * *", NEW_YEAR_2026 + 601), ==, NEW_YEAR_2026 + 3000);
	CHECK_INT(next("0 3 * * *", NEW_YEAR_2026), ==, NEW_YEAR_2026 + 3 * HOUR);
	CHECK_INT(next("0 3 * * *", NEW_YEAR_2026 + 3 * HOUR), ==, NEW_YEAR_2026 + DAY + 3 * HOUR);
	CHECK_INT(next("0 9-17/4 * * *", NEW_YEAR_2026 + 10 * HOUR), ==, NEW_YEAR_2026 + 13 * HOUR);
	CHECK_INT(next("30 6 * mar *", NEW_YEAR_2026), ==,
		  NEW_YEAR_2026 + 59 * DAY + 6 * HOUR + 1800);
	CHECK_INT(next("0 0 * * Mon", NEW_YEAR_2026), ==, NEW_YEAR_2026 + 4 * DAY);
	CHECK_INT(next("0 0 * * 7", NEW_YEAR_2026), ==, NEW_YEAR_2026 + 3 * DAY);
	CHECK_INT(next("  0  0\t*  * sun-tue ", NEW_YEAR_2026), ==, NEW_YEAR_2026 + 3 * DAY);
	CHECK_INT(next("@daily", NEW_YEAR_2026), ==, NEW_YEAR_2026 + DAY);
	CHECK_INT(next("@yearly", NEW_YEAR_2026), ==, NEW_YEAR_2026 + 365 * DAY);
}

TEST(two_day_fields_mean_either_one)
{
	/* the 4th is a Sunday, the 2nd a Friday */
	CHECK_INT(next("0 0 4 * fri", NEW_YEAR_2026), ==, NEW_YEAR_2026 + DAY);
	CHECK_INT(next("0 0 4 * fri", NEW_YEAR_2026 + DAY), ==, NEW_YEAR_2026 + 3 * DAY);
	/* with a star in one, both have to match: the first Friday that is a 13th */
	CHECK_INT(next("0 0 13 * *", NEW_YEAR_2026), ==, NEW_YEAR_2026 + 12 * DAY);
}

TEST(a_leap_day_is_waited_for)
{
	/* 2028-02-29 */
	CHECK_INT(next("0 12 29 2 *", NEW_YEAR_2026), ==, 1835438400);
}

TEST(an_error_names_the_field)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{"60 * * * *", "minute: '60'"},
		{"* 24 * * *", "hour: '24'"},
		{"* * 0 * *", "day of month: '0'"},
		{"* * * 13 *", "month: '13'"},
		{"* * * foo *", "month: 'foo'"},
		{"* * * * 8", "day of week: '8'"},
		{"* * * * monday", "day of week: 'monday'"},
		{"5-1 * * * *", "minute: '5-1' ends before it starts"},
		{"*/0 * * * *", "minute: '*/0' has no step"},
		{"*/x * * * *", "minute: '*/x' has no step"},
		{"1,,2 * * * *", "minute: ''"},
		{"-5 * * * *", "minute: '-5'"},
		{"1- * * * *", "minute: '1-'"},
		{"* * * *", "4 fields"},
		{"", "0 fields"},
		{"* * * * * *", "more than five fields"},
		{"@reboot", "minute: '@reboot'"},
		{"99999999999999999999 * * * *", "minute:"},
		{"0 0 31 4,6 *", "a day that does not exist in any year"},
		{"0 0 30 2 *", "a day that does not exist in any year"},
	};
	struct cron cron = {.minutes = 42};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = {0};

		CHECK_INT(cron_parse(cases[i].line, &cron, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		CHECK_HAS(err.msg, cases[i].says);
	}
	CHECK_INT(cron.minutes, ==, 42);
}

/* Central Europe in 2026: +1 h, from 29 March 01:00 UTC +2 h, from 25 October 01:00 UTC +1 h. */
static int64_t berlin(const void *ctx, int64_t unix_s)
{
	(void)ctx;
	return unix_s >= 1774746000 && unix_s < 1792890000 ? 2 * HOUR : HOUR;
}

static int64_t next_in_berlin(const char *line, int64_t unix_s)
{
	static const struct cron_zone zone = {.offset_s = berlin};
	struct cron cron;

	CHECK_INT(cron_parse(line, &cron, NULL), ==, 0);
	return cron_next_unix_s(&cron, &zone, unix_s);
}

TEST(local_time_counts)
{
	CHECK_INT(next_in_berlin("0 3 * * *", NEW_YEAR_2026), ==, NEW_YEAR_2026 + 2 * HOUR);
	/* in summer 3 o'clock is 01:00 UTC */
	CHECK_INT(next_in_berlin("0 3 * * *", 1780272000), ==, 1780272000 + HOUR);
}

TEST(what_falls_into_the_hour_that_is_left_out_comes_after_it)
{
	/* 29 March, 02:30 does not exist: 03:00 local, which is 01:00 UTC */
	CHECK_INT(next_in_berlin("30 2 * * *", 1774746000 - 12 * HOUR), ==, 1774746000);
	CHECK_INT(next_in_berlin("30 2 * * *", 1774746000), ==, 1774746000 + DAY - HOUR + HOUR / 2);
}

TEST(a_fixed_hour_comes_once_in_the_hour_that_is_there_twice)
{
	/* 25 October: 02:30 is at 00:30 UTC and again at 01:30 UTC */
	CHECK_INT(next_in_berlin("30 2 * * *", 1792890000 - 6 * HOUR), ==, 1792890000 - HOUR / 2);
	CHECK_INT(next_in_berlin("30 2 * * *", 1792890000 - HOUR / 2), ==,
		  1792890000 + DAY + HOUR / 2);
	/* a line for every hour goes on every hour */
	CHECK_INT(next_in_berlin("30 * * * *", 1792890000 - HOUR / 2), ==, 1792890000 + HOUR / 2);
}

TEST(dates_are_those_of_the_calendar)
{
	struct cron_time time;

	cron_time_of(0, &time);
	CHECK_INT(time.year, ==, 1970);
	CHECK_INT(time.month, ==, 1);
	CHECK_INT(time.day, ==, 1);
	CHECK_INT(time.weekday, ==, 4);
	cron_time_of(-1, &time);
	CHECK_INT(time.year, ==, 1969);
	CHECK_INT(time.month, ==, 12);
	CHECK_INT(time.day, ==, 31);
	CHECK_INT(time.hour, ==, 23);
	CHECK_INT(time.weekday, ==, 3);
	/* 2000-02-29T23:59 */
	cron_time_of(951868740 / 60, &time);
	CHECK_INT(time.month, ==, 2);
	CHECK_INT(time.day, ==, 29);
	CHECK_INT(time.minute, ==, 59);
	CHECK_INT(time.weekday, ==, 2);
}
