/*
 * schedule - when periodic savepoints are due. Pure.
 *
 * An interval counts from the last savepoint, a cron line from the clock. Missed times (the agent
 * was down, a blackout) are made up for once, not once each.
 */
#ifndef DREY_CORE_SCHEDULE_H
#define DREY_CORE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/lifecycle/cron.h"

#define SCHEDULE_MAX_BLACKOUTS 16

/* No periodic savepoint begins in [from, until) of the local time on these days. until <= from
 * spans midnight and belongs to the day on which it begins. */
struct blackout {
	uint8_t days; /* bit n: day n, Sunday is 0 */
	int from_minute, until_minute;
};

struct schedule {
	int64_t interval_ms; /* 0 = none */
	struct cron cron;
	bool has_cron;
	int64_t jitter_ms;
	struct blackout blackouts[SCHEDULE_MAX_BLACKOUTS];
	size_t blackout_count;
	struct cron_zone zone; /* no function: UTC */
};

/* "22:00-06:00", "Mon-Fri 08:00-18:00", "Sat,Sun 00:00-24:00". ERR_CONFIG says what is wrong. */
int blackout_parse(const char *text, struct blackout *ret, struct err *err);

/*
 * Wall clock of the next one, never before `now`. `last`: when the last one began (0 = none yet),
 * `since`: what an interval or a cron line then counts from (when the job began to run). `random`
 * spreads it over the jitter. -1: there are no periodic savepoints, or blackouts leave no time.
 */
int64_t schedule_next_unix_ms(const struct schedule *schedule, int64_t last_unix_ms,
			      int64_t since_unix_ms, int64_t now_unix_ms, uint32_t random);

#endif
