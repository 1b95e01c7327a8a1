#include "base/clock.h"

#include "tap.h"

TEST(formats_rfc_3339_in_utc)
{
	char text[CLOCK_TEXT_BYTES];

	CHECK_STR(clock_rfc3339(0, text), "1970-01-01T00:00:00.000Z");
	CHECK_STR(clock_rfc3339(1772366400123, text), "2026-03-01T12:00:00.123Z");
	CHECK_STR(clock_rfc3339(-1, text), "1969-12-31T23:59:59.999Z");
	CHECK_STR(clock_rfc3339(INT64_MAX, text), "9223372036854775807 ms");
}

static void times(const char *text, int64_t want_ms)
{
	int64_t got_ms = -7;
	struct err err = {0};

	CHECK_INT(clock_parse_rfc3339(text, &got_ms, &err), ==, 0);
	CHECK_INT(got_ms, ==, want_ms);
}

TEST(parses_rfc_3339)
{
	times("2026-03-01T12:00:00Z", 1772366400000);
	times("2026-03-01T12:00:00.123456Z", 1772366400123);
	times("2026-03-01T12:00:00.5Z", 1772366400500);
	times("2026-03-01T14:00:00+02:00", 1772366400000);
	times("2026-03-01T09:30:00-02:30", 1772366400000);
	times("2024-02-29T00:00:00Z", 1709164800000);
	times("2016-12-31T23:59:60Z", 1483228799000);
}

TEST(refuses_other_times)
{
	static const char *const bad[] = {"",
					  "2026-03-01",
					  "2026-03-01T12:00:00",
					  "2026-03-01T12:00:00Zx",
					  "2026-3-01T12:00:00Z",
					  "2026-13-01T12:00:00Z",
					  "2026-02-30T12:00:00Z",
					  "2026-00-10T12:00:00Z",
					  "2026-03-01T24:00:00Z",
					  "2026-03-01T12:60:00Z",
					  "2026-03-01T12:00:61Z",
					  "2026-03-01T12:00:00.Z",
					  "2026-03-01T12:00:00+0200",
					  "2026-03-01T12:00:00+24:00"};
	int64_t ms = 5;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!CHECK_INT(clock_parse_rfc3339(bad[i], &ms, NULL), ==, -1))
			tap_note("'%s'", bad[i]);
	}
	CHECK_INT(ms, ==, 5);
}

TEST(says_durations_for_people)
{
	char text[CLOCK_TEXT_BYTES];

	CHECK_STR(clock_human(0, text), "0 ms");
	CHECK_STR(clock_human(850, text), "850 ms");
	CHECK_STR(clock_human(42999, text), "42 s");
	CHECK_STR(clock_human(200000, text), "3 min 20 s");
	CHECK_STR(clock_human(180000, text), "3 min");
	CHECK_STR(clock_human(5 * 3600000 + 3 * 60000, text), "5 h 3 min");
	CHECK_STR(clock_human(2 * 86400000 + 4 * 3600000, text), "2 d 4 h");
	CHECK_STR(clock_human(-5000, text), "-5 s");
	CHECK_STR(clock_human(INT64_MIN, text), "-106751991167 d 7 h");
}

TEST(says_how_long_ago)
{
	char text[CLOCK_TEXT_BYTES];

	CHECK_STR(clock_ago(1000, 201000, text), "3 min 20 s ago");
	CHECK_STR(clock_ago(6000, 1000, text), "in 5 s");
	CHECK_STR(clock_ago(1000, 1999, text), "now");
	CHECK_STR(clock_ago(INT64_MIN, INT64_MAX, text), "106751991167 d 7 h ago");
	CHECK_STR(clock_ago(INT64_MAX, INT64_MIN, text), "in 106751991167 d 7 h");
}

static void lasts(const char *text, int64_t want_ms)
{
	int64_t got_ms = -7;
	struct err err = {0};

	CHECK_INT(clock_parse_duration(text, &got_ms, &err), ==, 0);
	CHECK_INT(got_ms, ==, want_ms);
}

TEST(parses_durations)
{
	lasts("500ms", 500);
	lasts("30s", 30000);
	lasts("5min", 300000);
	lasts("5 min", 300000);
	lasts("5m", 300000);
	lasts("1h", 3600000);
	lasts("7d", 604800000);
	lasts("0", 0);
	lasts("0s", 0);
}

TEST(refuses_other_durations)
{
	static const char *const bad[] = {
		"",    "5",   "s",       "-5s", "+5s",   "1.5h",  "5 sec",
		"5s ", " 5s", "1h30min", "5S",  "PT15S", "4000d", "99999999999999999999s"};
	int64_t ms = 5;
	struct err err = {0};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!CHECK_INT(clock_parse_duration(bad[i], &ms, &err), ==, -1))
			tap_note("'%s'", bad[i]);
	}
	CHECK_INT(ms, ==, 5);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
}

TEST(the_monotonic_clock_does_not_go_back)
{
	int64_t last_ms = clock_mono_ms();

	for (int i = 0; i < 1000; i++) {
		int64_t now_ms = clock_mono_ms();

		CHECK_INT(now_ms, >=, last_ms);
		last_ms = now_ms;
	}
	CHECK_INT(clock_unix_ms(), >, 1700000000000);
}

TEST(a_time_is_told_as_a_time_of_day_and_to_the_minute)
{
	char text[CLOCK_TEXT_BYTES];

	CHECK_STR(clock_time_of_day(INT64_C(1772366404123), text), "12:00:04");
	CHECK_STR(clock_minute(INT64_C(1772366404123), text), "2026-03-01 12:00 UTC");
	CHECK_STR(clock_minute(INT64_MAX / 2, text), "4611686018427387903 ms");
}
