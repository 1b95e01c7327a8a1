#include "core/web/web_axis.h"

#include "tap.h"

#define DAY_MS INT64_C(86400000)

TEST(launches_of_seconds_and_of_months_are_both_seen)
{
	static struct web_axis axis;
	int64_t begin = 1000 * DAY_MS;

	/* 60 days, then three launches within 9 seconds */
	axis = (struct web_axis){0};
	for (int i = 0; i < 4; i++)
		web_axis_add(&axis, begin + 60 * DAY_MS + i * 3000);
	web_axis_add(&axis, begin);
	web_axis_scale(&axis, 100, 900);
	CHECK_INT(web_axis_x(&axis, begin), ==, 100);
	CHECK_INT(web_axis_x(&axis, begin + 60 * DAY_MS + 9000), ==, 900);
	for (int i = 0; i < 3; i++)
		CHECK_INT(web_axis_x(&axis, begin + 60 * DAY_MS + (i + 1) * 3000), >=,
			  web_axis_x(&axis, begin + 60 * DAY_MS + i * 3000) + 40);
	CHECK_INT(web_axis_x(&axis, begin + 60 * DAY_MS), >, 500);
}

TEST(what_is_within_a_second_is_apart)
{
	static struct web_axis axis;
	int from, to;

	axis = (struct web_axis){0};
	web_axis_add(&axis, 1000);
	web_axis_add(&axis, 1500);
	web_axis_add(&axis, 1000 + 90 * DAY_MS);
	web_axis_scale(&axis, 0, 1000);
	from = web_axis_x(&axis, 1000);
	to = web_axis_x(&axis, 1500);
	CHECK_INT(to - from, >=, 10);
}

TEST(later_is_never_left_of_earlier)
{
	static struct web_axis axis;
	int before = 0;

	axis = (struct web_axis){0};
	for (int i = 0; i < AXIS_TIMES + 50; i++) /* the last ones do not fit */
		web_axis_add(&axis, 1 + (i * INT64_C(7919)) % 1000 * (i * INT64_C(7919)) % 1000000);
	web_axis_scale(&axis, 0, 1000);
	for (int64_t at = -5; at < 1000100; at += 997) {
		int x = web_axis_x(&axis, at);

		CHECK(x >= before && x <= 1000);
		before = x;
	}
}

TEST(one_time_and_none_are_no_division_by_zero)
{
	static struct web_axis axis;

	axis = (struct web_axis){0};
	web_axis_add(&axis, 0);
	web_axis_add(&axis, -5);
	web_axis_scale(&axis, 10, 20);
	CHECK_INT(web_axis_x(&axis, 7), ==, 0);
	web_axis_add(&axis, 7);
	web_axis_add(&axis, 7);
	web_axis_scale(&axis, 10, 20);
	CHECK_INT(web_axis_x(&axis, 7), ==, 10);
	CHECK_INT(web_axis_x(&axis, INT64_MAX), ==, 10);
}
