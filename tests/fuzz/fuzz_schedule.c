/*
 * Any lines as a time zone, a moment, a cron line and windows without savepoints: each is refused as
 * a mistake of the user's, or has a next time, which is in the future, on the minute, and outside of
 * the windows.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/zone.h"
#include "core/lifecycle/schedule.h"
#include "must.h"

#define DAY_S INT64_C(86400)

/* The next line, cut out of *at; NULL behind the last. */
static char *next_line(char **at)
{
	char *line = *at, *end;

	if (!line)
		return NULL;
	end = strchr(line, '\n');
	*at = end ? end + 1 : NULL;
	if (end)
		*end = '\0';
	return line;
}

static void check_refusal(const struct err *err)
{
	must(err->kind == ERR_CONFIG && err->msg[0]);
}

static void check_cron(const struct cron *cron, const struct cron_zone *zone, int64_t now_s)
{
	int64_t next_s = cron_next_unix_s(cron, zone, now_s);

	must(next_s > now_s && next_s % 60 == 0);
	must(cron_next_unix_s(cron, zone, next_s - 1) == next_s);
	/* what is due at noon in UTC is what the line says: no clock is put forward there */
	if (!zone && next_s - now_s < 40 * 366 * DAY_S) {
		struct cron_time time;

		cron_time_of(next_s / 60, &time);
		must(cron->minutes >> time.minute & 1);
		must(cron->hours >> time.hour & 1);
		must(cron->months >> time.month & 1);
		must(cron->days >> time.day & 1 || cron->weekdays >> time.weekday & 1);
	}
}

static void check_schedule(const struct schedule *schedule, int64_t now_s, uint32_t random)
{
	int64_t now_ms = now_s * 1000, next_ms;

	next_ms = schedule_next_unix_ms(schedule, 0, now_ms - 1000, now_ms, random);
	if (next_ms < 0) {
		must(schedule->blackout_count > 0);
		return;
	}
	must(next_ms >= now_ms);
	if (schedule->blackout_count) {
		struct schedule soon = *schedule;

		/* at that moment nothing is in the way */
		soon.has_cron = false;
		soon.interval_ms = 1;
		soon.jitter_ms = 0;
		must(schedule_next_unix_ms(&soon, 0, next_ms - 1, next_ms, 0) == next_ms);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	cleanup_free char *text = xstrndup((const char *)data, size_bytes);
	char *at = text, *zone = next_line(&at), *moment = next_line(&at), *line = next_line(&at);
	struct schedule schedule = {.interval_ms = 3600000, .jitter_ms = 60000};
	long long now_s = 1790000000;
	uint32_t random = 0;
	struct err err = {0};

	if (zone_use(zone, &err) == 0)
		schedule.zone.offset_s = zone_offset_s;
	else
		check_refusal(&err);
	if (moment)
		(void)sscanf(moment, "%11lld %10u", &now_s, &random);
	now_s = now_s < 0 ? 0 : now_s;
	if (line && cron_parse(line, &schedule.cron, &err) == 0)
		schedule.has_cron = true;
	else if (line)
		check_refusal(&err);
	if (schedule.has_cron) {
		check_cron(&schedule.cron, NULL, now_s);
		if (schedule.zone.offset_s)
			check_cron(&schedule.cron, &schedule.zone, now_s);
	}
	while ((line = next_line(&at)) && schedule.blackout_count < SCHEDULE_MAX_BLACKOUTS) {
		err = (struct err){0};
		if (blackout_parse(line, &schedule.blackouts[schedule.blackout_count], &err) == 0)
			schedule.blackout_count++;
		else
			check_refusal(&err);
	}
	check_schedule(&schedule, now_s, random);
	return 0;
}
