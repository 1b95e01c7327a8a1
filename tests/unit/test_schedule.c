#include "base/mem.h"
#include "core/lifecycle/schedule.h"
#include "tests/unit/tap.h"

/* Monday, 2026-01-05T00:00:00Z */
#define MONDAY 1767571200000LL
#define MINUTE 60000LL
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

static struct schedule of_line(const char *line)
{
	struct schedule schedule = {.has_cron = true};

	CHECK_INT(cron_parse(line, &schedule.cron, NULL), ==, 0);
	return schedule;
}

static void add(struct schedule *schedule, const char *window)
{
	struct err err = {0};

	if (!CHECK_INT(
		    blackout_parse(window, &schedule->blackouts[schedule->blackout_count++], &err),
		    ==, 0))
		tap_note("%s", err.msg);
}

TEST(an_interval_counts_from_the_last_one)
{
	struct schedule hourly = {.interval_ms = HOUR};

	CHECK_INT(schedule_next_unix_ms(&hourly, MONDAY, 0, MONDAY + MINUTE, 0), ==, MONDAY + HOUR);
	CHECK_INT(schedule_next_unix_ms(&hourly, 0, MONDAY + MINUTE, MONDAY + MINUTE, 0), ==,
		  MONDAY + MINUTE + HOUR);
}

TEST(a_missed_one_is_due_at_once_and_only_once)
{
	struct schedule hourly = {.interval_ms = HOUR}, nightly = of_line("0 3 * * *");

	CHECK_INT(schedule_next_unix_ms(&hourly, MONDAY, 0, MONDAY + 9 * HOUR, 0), ==,
		  MONDAY + 9 * HOUR);
	CHECK_INT(schedule_next_unix_ms(&nightly, MONDAY - 3 * DAY, 0, MONDAY, 0), ==, MONDAY);
	CHECK_INT(schedule_next_unix_ms(&nightly, MONDAY, 0, MONDAY, 0), ==, MONDAY + 3 * HOUR);
}

TEST(nothing_is_due_without_a_schedule)
{
	struct schedule none = {.jitter_ms = HOUR};

	CHECK_INT(schedule_next_unix_ms(&none, MONDAY, MONDAY, MONDAY, 7), ==, -1);
}

TEST(jitter_spreads)
{
	struct schedule nightly = of_line("0 3 * * *");

	nightly.jitter_ms = 10 * MINUTE;
	CHECK_INT(schedule_next_unix_ms(&nightly, MONDAY, 0, MONDAY, 0), ==, MONDAY + 3 * HOUR);
	CHECK_INT(schedule_next_unix_ms(&nightly, MONDAY, 0, MONDAY, UINT32_MAX), ==,
		  MONDAY + 3 * HOUR + 10 * MINUTE);
}

TEST(a_clock_that_was_put_back_does_not_put_off_the_next_one)
{
	struct schedule hourly = {.interval_ms = HOUR};

	CHECK_INT(schedule_next_unix_ms(&hourly, MONDAY + 30 * DAY, 0, MONDAY, 0), ==,
		  MONDAY + HOUR);
}

TEST(a_blackout_puts_it_off_to_its_end)
{
	struct schedule hourly = {.interval_ms = HOUR};

	add(&hourly, "Mon-Fri 08:00-18:00");
	CHECK_INT(schedule_next_unix_ms(&hourly, MONDAY + 6 * HOUR, 0, MONDAY + 6 * HOUR, 0), ==,
		  MONDAY + 7 * HOUR);
	CHECK_INT(schedule_next_unix_ms(&hourly, MONDAY + 7 * HOUR, 0, MONDAY + 7 * HOUR, 0), ==,
		  MONDAY + 18 * HOUR);
	/* Saturday */
	CHECK_INT(schedule_next_unix_ms(&hourly, MONDAY + 5 * DAY + 9 * HOUR, 0,
					MONDAY + 5 * DAY + 9 * HOUR, 0),
		  ==, MONDAY + 5 * DAY + 10 * HOUR);
}

TEST(a_blackout_over_midnight_belongs_to_the_day_on_which_it_begins)
{
	struct schedule often = {.interval_ms = MINUTE};

	add(&often, "Mon 22:00-06:00");
	CHECK_INT(schedule_next_unix_ms(&often, MONDAY, 0, MONDAY + HOUR, 0), ==, MONDAY + HOUR);
	CHECK_INT(schedule_next_unix_ms(&often, MONDAY, 0, MONDAY + 23 * HOUR, 0), ==,
		  MONDAY + DAY + 6 * HOUR);
	CHECK_INT(schedule_next_unix_ms(&often, MONDAY, 0, MONDAY + DAY + 5 * HOUR, 0), ==,
		  MONDAY + DAY + 6 * HOUR);
	CHECK_INT(schedule_next_unix_ms(&often, MONDAY, 0, MONDAY + DAY + 23 * HOUR, 0), ==,
		  MONDAY + DAY + 23 * HOUR);
}

TEST(blackouts_that_leave_no_time_mean_never)
{
	struct schedule often = {.interval_ms = MINUTE};

	add(&often, "00:00-12:00");
	add(&often, "12:00-24:00");
	CHECK_INT(schedule_next_unix_ms(&often, MONDAY, 0, MONDAY, 0), ==, -1);
}

static int64_t two_hours_east(const void *ctx, int64_t unix_s)
{
	(void)ctx;
	(void)unix_s;
	return 7200;
}

TEST(blackouts_and_lines_are_in_local_time)
{
	struct schedule nightly = of_line("0 3 * * *");

	nightly.zone.offset_s = two_hours_east;
	CHECK_INT(schedule_next_unix_ms(&nightly, MONDAY, 0, MONDAY, 0), ==, MONDAY + HOUR);
	add(&nightly, "02:00-04:00");
	CHECK_INT(schedule_next_unix_ms(&nightly, MONDAY, 0, MONDAY, 0), ==, MONDAY + 2 * HOUR);
}

TEST(a_wrong_blackout_is_refused)
{
	static const char *const wrong[] = {
		"",
		"08:00",
		"8:00-9:00",
		"08:00-25:00",
		"08:60-09:00",
		"08:00-08:00",
		"08:00 -09:00",
		"Foo 08:00-09:00",
		"08:00-09:00x",
		"Mon",
		"24:30-06:00",
		"Mon 08:00-",
		"Mon, 08:00-09:00",
		"08:00-09:00 Mon",
		"Mon-Fri,Sat-Sun,Mon-Fri,Sat-Sun,Mon-Fri,Sat-Sun 08:00-09:00",
	};
	struct blackout blackout = {.days = 5};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct err err = {0};

		if (!CHECK_INT(blackout_parse(wrong[i], &blackout, &err), ==, -1))
			tap_note("taken: '%s'", wrong[i]);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
	}
	CHECK_INT(blackout.days, ==, 5);
}
