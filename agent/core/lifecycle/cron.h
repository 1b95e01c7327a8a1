/*
 * cron - five-field cron lines: "minute hour day-of-month month day-of-week". Pure.
 *
 * Source: crontab(5) of cronie. Lists, ranges, steps, names of months and days (three letters, any
 * case), day of week 0-7 with Sunday as 0 and 7, and @hourly @daily @midnight @weekly @monthly
 * @yearly @annually. When both day fields are restricted, a day that matches either one counts.
 *
 * Changes of daylight saving time, as in cronie: a time in the hour that is skipped comes right
 * after it; a line with a fixed hour comes once in the hour that is repeated.
 */
#ifndef DREY_CORE_CRON_H
#define DREY_CORE_CRON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct cron {
	uint64_t minutes;             /* bit n: minute n */
	uint32_t hours, days, months; /* bit n: hour n, day 1-31, month 1-12 */
	uint8_t weekdays;             /* bit n: day n, Sunday is 0 */
	bool any_day, any_weekday;    /* the field began with '*' */
	bool any_hour;                /* all 24 hours */
};

/* Seconds east of UTC at a moment. */
struct cron_zone {
	int64_t (*offset_s)(const void *ctx, int64_t unix_s);
	const void *ctx;
};

/* ERR_CONFIG names the field and what is wrong with it; a line that never matches (31 February) is
 * refused as well. */
int cron_parse(const char *line, struct cron *ret_cron, struct err *err);

/* The first time after `unix_s`. NULL zone: UTC. */
int64_t cron_next_unix_s(const struct cron *cron, const struct cron_zone *zone, int64_t unix_s);

/* Broken-down local time of minute `local_minute` since 1970-01-01T00:00. */
struct cron_time {
	int minute, hour, day, month, weekday; /* day and month from 1, Sunday is 0 */
	int64_t year;
};
void cron_time_of(int64_t local_minute, struct cron_time *ret);

#endif
