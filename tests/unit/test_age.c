#include "base/mem.h"
#include "cmd/age.h"
#include "tests/unit/tap.h"

#define NOW INT64_C(1795662720000) /* 2026-11-26 03:12:00 */
#define S   INT64_C(1000)

TEST(an_age_has_at_most_two_units)
{
	static const struct {
		int64_t age_ms;
		const char *text;
	} rows[] = {
		{-5 * S, "0 s"},
		{0, "0 s"},
		{999, "0 s"},
		{59 * S, "59 s"},
		{60 * S, "1 min"},
		{14 * 60 * S + 59 * S, "14 min"},
		{3600 * S, "1 h 0 min"},
		{86399 * S, "23 h 59 min"},
		{86400 * S, "1 d 0 h"},
		{400 * 86400 * S, "400 d 0 h"},
	};
	char text[AGE_TEXT_BYTES];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_STR(age_text(NOW - rows[i].age_ms, NOW, text), rows[i].text);
}

TEST(a_time_has_a_date_if_it_is_not_of_today)
{
	char text[AGE_TEXT_BYTES];

	CHECK_STR(age_when(NOW, NOW, text), "03:12 UTC");
	CHECK_STR(age_when(NOW - 11 * 3600 * S, NOW, text), "16:12 UTC");
	CHECK_STR(age_when(NOW - 12 * 3600 * S, NOW, text), "2026-11-25 15:12 UTC");
	CHECK_STR(age_when(NOW + 12 * 3600 * S, NOW, text), "2026-11-26 15:12 UTC");
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
