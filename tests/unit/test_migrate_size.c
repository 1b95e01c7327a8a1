#include "migrate/migrate_size.h"

#include <inttypes.h>

#include "base/mem.h"
#include "tap.h"

static int64_t mib(const char *text)
{
	int64_t value = -1;

	return migrate_mib(text, &value) ? value : -1;
}

TEST(memory_has_the_units_of_flink_first)
{
	CHECK_INT(mib("2048m"), ==, 2048);
	CHECK_INT(mib("2g"), ==, 2048);
	CHECK_INT(mib("2G"), ==, 2048); /* powers of 1024, other than in Kubernetes */
	CHECK_INT(mib("1 gb"), ==, 1024);
	CHECK_INT(mib("1073741824"), ==, 1024);
	CHECK_INT(mib("1073741825"), ==, 1025); /* rounded up */
}

TEST(and_then_those_of_kubernetes)
{
	CHECK_INT(mib("1Gi"), ==, 1024);
	CHECK_INT(mib("2.5Gi"), ==, 2560);
	CHECK_INT(mib("1.5G"), ==, 1431); /* not Flink's: it has a fraction */
	CHECK_INT(mib("512MiB"), ==, 512);
}

TEST(what_is_no_memory_is_rejected)
{
	static const char *const texts[] = {
		"",     "m",  "much",  "-1g", "1.2.3Gi",          "1.",
		".5Gi", "1x", "1 g b", "1e3", "9999999999999999", "99999t"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		CHECK_INT(mib(texts[i]), ==, -1);
}

TEST(cpus_are_written_as_the_chart_takes_them)
{
	char text[MIGRATE_TEXT_BYTES];

	CHECK(migrate_cpu("1", text));
	CHECK_STR(text, "1");
	CHECK(migrate_cpu("1.50", text));
	CHECK_STR(text, "1.5");
	CHECK(migrate_cpu("2.0", text));
	CHECK_STR(text, "2");
	CHECK(migrate_cpu("500m", text));
	CHECK_STR(text, "500m");
	CHECK(!migrate_cpu("0", text));
	CHECK(!migrate_cpu("0.0", text));
	CHECK(!migrate_cpu("-1", text));
	CHECK(!migrate_cpu("1 ", text));
	CHECK(!migrate_cpu("1k", text));
	CHECK(!migrate_cpu("", text));
}

static const char *duration(const char *text)
{
	static char written[MIGRATE_TEXT_BYTES];
	int64_t ms;

	return migrate_duration(text, written, &ms) ? written : "";
}

TEST(durations_of_flink_are_written_as_those_of_drey)
{
	char text[MIGRATE_TEXT_BYTES];
	int64_t ms = 0;

	CHECK_STR(duration("6 h"), "6h");
	CHECK_STR(duration("15m"), "15min");
	CHECK_STR(duration("2 days"), "2d");
	CHECK_STR(duration("90s"), "90s");
	CHECK_STR(duration("300000"), "300000ms"); /* without a unit: milliseconds */
	CHECK(migrate_duration("2h", text, &ms));
	CHECK_INT(ms, ==, 7200000);
}

TEST(other_durations_are_rejected)
{
	static const char *const texts[] = {"",     "h",         "PT5M", "5 us",
					    "1.5h", "5 h 3 min", "-1h",  "99999999999d"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		CHECK_STR(duration(texts[i]), "");
}

TEST(a_number_has_only_digits)
{
	int64_t value = 0;

	CHECK(migrate_number("12", &value));
	CHECK_INT(value, ==, 12);
	CHECK(!migrate_number("", &value));
	CHECK(!migrate_number("-1", &value));
	CHECK(!migrate_number("1.0", &value));
	CHECK(!migrate_number("1234567890", &value));
}
