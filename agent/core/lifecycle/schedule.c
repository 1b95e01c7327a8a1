#include "core/lifecycle/schedule.h"

#include <string.h>

#define MINUTES_A_DAY 1440
#define MINUTE_MS     60000

/* ---- reading a blackout ---- */

static int time_of_day(const char **at)
{
	const char *p = *at;
	int hour, minute;

	for (int i = 0; i < 5; i++)
		if (i == 2 ? p[i] != ':' : p[i] < '0' || p[i] > '9')
			return -1;
	hour = (p[0] - '0') * 10 + p[1] - '0';
	minute = (p[3] - '0') * 10 + p[4] - '0';
	*at = p + 5;
	if (minute > 59 || hour > 24 || (hour == 24 && minute))
		return -1;
	return hour * 60 + minute;
}

/* The days are a day-of-week field of cron. */
static int read_days(const char *text, size_t len, uint8_t *ret, struct err *err)
{
	char line[64];
	struct cron cron;

	if (len > 40)
		return err_set(err, ERR_CONFIG, 0, "too many days");
	memcpy(line, "0 0 * * ", 8);
	memcpy(line + 8, text, len);
	line[8 + len] = '\0';
	if (cron_parse(line, &cron, NULL))
		return err_set(err, ERR_CONFIG, 0,
			       "'%.*s' is not a list of days, such as Mon-Fri or Sat,Sun", (int)len,
			       text);
	*ret = cron.weekdays;
	return 0;
}

int blackout_parse(const char *text, struct blackout *ret, struct err *err)
{
	struct blackout blackout = {.days = 0x7f};
	const char *at = text, *space = strrchr(text, ' ');

	if (space) {
		if (read_days(text, (size_t)(space - text), &blackout.days, err))
			return err_wrap(err, "'%s'", text);
		at = space + 1;
	}
	blackout.from_minute = time_of_day(&at);
	if (blackout.from_minute < 0 || *at++ != '-' ||
	    (blackout.until_minute = time_of_day(&at)) < 0 || *at)
		return err_set(
			err, ERR_CONFIG, 0,
			"'%s' is not a time window, such as 22:00-06:00 or Mon-Fri 08:00-18:00",
			text);
	if (blackout.from_minute == blackout.until_minute)
		return err_set(err, ERR_CONFIG, 0, "'%s' is empty", text);
	*ret = blackout;
	return 0;
}

/* ---- time ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static bool covers(const struct blackout *blackout, int64_t local_minute)
{
	struct cron_time time;
	int of_day, yesterday;

	cron_time_of(local_minute, &time);
	of_day = time.hour * 60 + time.minute;
	yesterday = (time.weekday + 6) % 7;
	if (blackout->from_minute < blackout->until_minute)
		return blackout->days >> time.weekday & 1 && of_day >= blackout->from_minute &&
		       of_day < blackout->until_minute;
	return (blackout->days >> time.weekday & 1 && of_day >= blackout->from_minute) ||
	       (blackout->days >> yesterday & 1 && of_day < blackout->until_minute);
}

static bool blacked_out(const struct schedule *schedule, int64_t unix_ms)
{
	int64_t unix_s = floor_div(unix_ms, 1000), offset_s = 0;

	if (schedule->zone.offset_s)
		offset_s = schedule->zone.offset_s(schedule->zone.ctx, unix_s);
	for (size_t i = 0; i < schedule->blackout_count; i++)
		if (covers(&schedule->blackouts[i], floor_div(unix_s + offset_s, 60)))
			return true;
	return false;
}

/* The first moment from `unix_ms` on that is in no blackout; they repeat every week. */
static int64_t let_pass(const struct schedule *schedule, int64_t unix_ms)
{
	int64_t end_ms = unix_ms + 8LL * MINUTES_A_DAY * MINUTE_MS;

	while (blacked_out(schedule, unix_ms)) {
		unix_ms = (floor_div(unix_ms, MINUTE_MS) + 1) * MINUTE_MS;
		if (unix_ms > end_ms)
			return -1;
	}
	return unix_ms;
}

static int64_t cron_due_ms(const struct schedule *schedule, int64_t from_unix_ms)
{
	const struct cron_zone *zone = schedule->zone.offset_s ? &schedule->zone : NULL;

	return cron_next_unix_s(&schedule->cron, zone, floor_div(from_unix_ms, 1000)) * 1000;
}

int64_t schedule_next_unix_ms(const struct schedule *schedule, int64_t last_unix_ms,
			      int64_t since_unix_ms, int64_t now_unix_ms, uint32_t random)
{
	int64_t from_ms = last_unix_ms ? last_unix_ms : since_unix_ms, due_ms;

	/* a clock that was set back must not delay the next one by as much */
	if (from_ms > now_unix_ms)
		from_ms = now_unix_ms;
	if (schedule->has_cron)
		due_ms = cron_due_ms(schedule, from_ms);
	else if (schedule->interval_ms)
		due_ms = from_ms + schedule->interval_ms;
	else
		return -1;
	if (due_ms < now_unix_ms)
		due_ms = now_unix_ms;
	due_ms += (int64_t)((double)random / UINT32_MAX * (double)schedule->jitter_ms);
	return let_pass(schedule, due_ms);
}
