#include "run/config/setup_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

#define HEAD "application: a\nstateDirectory: /s\nflink: {command: [java]}\nsavepoints: "

/* *ret_message is set when it is refused; the caller frees. */
static int read_keys(const char *savepoints, struct schedule *ret, char **ret_message)
{
	cleanup_free char *text = xasprintf("%s{%s}\n", HEAD, savepoints), *before = NULL;
	struct config config;
	struct err err = {0};
	int rc = config_parse(text, strlen(text), &config, &err);

	if (!rc) {
		rc = setup_schedule(&config, ret, &before, &err);
		config_release(&config);
	}
	if (rc)
		*ret_message = xstrdup(err.msg);
	return rc;
}

TEST(an_interval_or_a_cron_line_with_blackouts)
{
	cleanup_free char *message = NULL;
	struct schedule schedule = {0};

	CHECK_INT(read_keys("interval: 6h, jitter: 5min", &schedule, &message), ==, 0);
	CHECK_INT(schedule.interval_ms, ==, 6 * 3600000);
	CHECK_INT(schedule.jitter_ms, ==, 300000);
	CHECK(!schedule.has_cron);
	CHECK_INT(read_keys("cron: '0 3 * * *', jitter: 5min, timeZone: UTC, blackouts: "
			    "['Mon 02:00-04:00', '22:00-23:00']",
			    &schedule, &message),
		  ==, 0);
	CHECK(schedule.has_cron);
	CHECK_INT(schedule.blackout_count, ==, 2);
	CHECK_INT(schedule.blackouts[0].days, ==, 2);
	/* Monday 2026-01-05: put off to the end of the blackout, 04:00 */
	CHECK_INT(schedule_next_unix_ms(&schedule, 1767571200000, 0, 1767571200000, 0), ==,
		  1767571200000 + 4 * 3600000);
}

TEST(what_makes_no_sense_is_refused_by_its_key)
{
	static const struct {
		const char *savepoints, *says;
	} cases[] = {
		{"interval: 1h, cron: '@daily'", "exclude each other"},
		{"cron: '61 * * * *'", "savepoints.cron: '61 * * * *': minute: '61'"},
		{"cron: 'often'", "savepoints.cron: "},
		{"interval: 1h, blackouts: ['late']", "savepoints.blackouts: 'late' is not a time"},
		{"interval: 1h, timeZone: Mars/Base",
		 "savepoints.timeZone: time zone 'Mars/Base' not found"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup_free char *message = NULL;
		struct schedule schedule = {.jitter_ms = 42};

		CHECK_INT(read_keys(cases[i].savepoints, &schedule, &message), ==, -1);
		CHECK_HAS(message, cases[i].says);
		CHECK_INT(schedule.jitter_ms, ==, 42);
	}
}

TEST(the_time_zone_that_was_is_kept_for_flink)
{
	cleanup_free char *before = NULL;
	const char *text = HEAD "{cron: '@daily', timeZone: UTC}\n";
	struct schedule schedule;
	struct config config;

	setenv("TZ", "ABC-3", 1);
	CHECK_INT(config_parse(text, strlen(text), &config, NULL), ==, 0);
	CHECK_INT(setup_schedule(&config, &schedule, &before, NULL), ==, 0);
	CHECK_STR(before, "ABC-3");
	CHECK_STR(getenv("TZ"), "UTC");
	config_release(&config);
}
