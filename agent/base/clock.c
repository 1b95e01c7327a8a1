#include "base/clock.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND_MS INT64_C(1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS   (60 * MINUTE_MS)
#define DAY_MS    (24 * HOUR_MS)

static int64_t read_ms(clockid_t id)
{
	struct timespec now = {0};

	clock_gettime(id, &now);
	return now.tv_sec * SECOND_MS + now.tv_nsec / 1000000;
}

int64_t clock_mono_ms(void)
{
	return read_ms(CLOCK_MONOTONIC);
}

int64_t clock_unix_ms(void)
{
	return read_ms(CLOCK_REALTIME);
}

const char *clock_rfc3339(int64_t unix_ms, char text[CLOCK_TEXT_BYTES])
{
	int64_t ms = unix_ms % SECOND_MS;
	time_t sec = unix_ms / SECOND_MS;
	struct tm tm = {0};

	if (ms < 0) {
		ms += SECOND_MS;
		sec--;
	}
	if (!gmtime_r(&sec, &tm) || tm.tm_year > 9999 - 1900 || tm.tm_year < -1900)
		snprintf(text, CLOCK_TEXT_BYTES, "%" PRId64 " ms", unix_ms);
	else
		snprintf(text, CLOCK_TEXT_BYTES, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
			 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
			 tm.tm_sec, (int)ms);
	return text;
}

#define DATE_CHARS (sizeof("2026-03-01") - 1)

/* A time that has no date, far away from now, stays as it is. */
const char *clock_time_of_day(int64_t unix_ms, char text[CLOCK_TEXT_BYTES])
{
	size_t len = sizeof("12:00:00") - 1;

	if (clock_rfc3339(unix_ms, text)[DATE_CHARS] != 'T')
		return text;
	memmove(text, text + DATE_CHARS + 1, len);
	text[len] = '\0';
	return text;
}

const char *clock_minute(int64_t unix_ms, char text[CLOCK_TEXT_BYTES])
{
	size_t len = sizeof("2026-03-01 12:00") - 1;

	if (clock_rfc3339(unix_ms, text)[DATE_CHARS] != 'T')
		return text;
	text[DATE_CHARS] = ' ';
	snprintf(text + len, CLOCK_TEXT_BYTES - len, " UTC");
	return text;
}

/* Exactly `count` digits; moves *at behind them. */
static bool take_digits(const char **at, int count, int *ret_value)
{
	int value = 0;

	for (int i = 0; i < count; i++, (*at)++) {
		if (!isdigit((unsigned char)**at))
			return false;
		value = value * 10 + (**at - '0');
	}
	*ret_value = value;
	return true;
}

static bool take_char(const char **at, const char *allowed)
{
	if (!**at || !strchr(allowed, **at))
		return false;
	(*at)++;
	return true;
}

/* ".123456" of any length; milliseconds, truncated. */
static bool take_fraction(const char **at, int *ret_ms)
{
	int ms = 0, weight = 100;

	if (!take_char(at, "."))
		return true;
	if (!isdigit((unsigned char)**at))
		return false;
	for (; isdigit((unsigned char)**at); (*at)++, weight /= 10)
		ms += (**at - '0') * weight;
	*ret_ms = ms;
	return true;
}

/* "Z" or "+02:00"; minutes east. */
static bool take_offset(const char **at, int *ret_minutes)
{
	bool west = **at == '-';
	int hours, minutes;

	if (take_char(at, "Zz"))
		return true;
	if (!take_char(at, "+-") || !take_digits(at, 2, &hours) || !take_char(at, ":") ||
	    !take_digits(at, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*ret_minutes = (hours * 60 + minutes) * (west ? -1 : 1);
	return true;
}

int clock_parse_rfc3339(const char *text, int64_t *ret_unix_ms, struct err *err)
{
	const char *at = text;
	struct tm tm = {0}, back;
	int ms = 0, offset_min = 0;
	time_t sec;

	if (!take_digits(&at, 4, &tm.tm_year) || !take_char(&at, "-") ||
	    !take_digits(&at, 2, &tm.tm_mon) || !take_char(&at, "-") ||
	    !take_digits(&at, 2, &tm.tm_mday) || !take_char(&at, "Tt ") ||
	    !take_digits(&at, 2, &tm.tm_hour) || !take_char(&at, ":") ||
	    !take_digits(&at, 2, &tm.tm_min) || !take_char(&at, ":") ||
	    !take_digits(&at, 2, &tm.tm_sec) || !take_fraction(&at, &ms) ||
	    !take_offset(&at, &offset_min) || *at || tm.tm_hour > 23 || tm.tm_min > 59 ||
	    tm.tm_sec > 60)
		return err_set(err, ERR_FORMAT, 0, "not a time such as 2026-03-01T12:00:00Z: %.60s",
			       text);
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	if (tm.tm_sec == 60)
		tm.tm_sec = 59;
	back = tm;
	sec = timegm(&back);
	/* timegm() turns February 30th into March 2nd */
	if (back.tm_mday != tm.tm_mday || back.tm_mon != tm.tm_mon)
		return err_set(err, ERR_FORMAT, 0, "this day does not exist: %.60s", text);
	*ret_unix_ms = (int64_t)sec * SECOND_MS + ms - offset_min * MINUTE_MS;
	return 0;
}

static void two_units(char *text, const char *sign, int64_t high, const char *high_unit,
		      int64_t low, const char *low_unit)
{
	int len = snprintf(text, CLOCK_TEXT_BYTES, "%s%" PRId64 " %s", sign, high, high_unit);

	if (low && len > 0 && len < CLOCK_TEXT_BYTES)
		snprintf(text + len, CLOCK_TEXT_BYTES - (size_t)len, " %" PRId64 " %s", low,
			 low_unit);
}

const char *clock_human(int64_t duration_ms, char text[CLOCK_TEXT_BYTES])
{
	const char *sign = duration_ms < 0 ? "-" : "";
	int64_t ms = duration_ms < 0 ? -(duration_ms + (duration_ms == INT64_MIN)) : duration_ms;

	if (ms < SECOND_MS)
		two_units(text, sign, ms, "ms", 0, "");
	else if (ms < MINUTE_MS)
		two_units(text, sign, ms / SECOND_MS, "s", 0, "");
	else if (ms < HOUR_MS)
		two_units(text, sign, ms / MINUTE_MS, "min", ms % MINUTE_MS / SECOND_MS, "s");
	else if (ms < DAY_MS)
		two_units(text, sign, ms / HOUR_MS, "h", ms % HOUR_MS / MINUTE_MS, "min");
	else
		two_units(text, sign, ms / DAY_MS, "d", ms % DAY_MS / HOUR_MS, "h");
	return text;
}

const char *clock_ago(int64_t then_unix_ms, int64_t now_unix_ms, char text[CLOCK_TEXT_BYTES])
{
	char human[CLOCK_TEXT_BYTES];
	int64_t age_ms = 0;

	if (__builtin_sub_overflow(now_unix_ms, then_unix_ms, &age_ms))
		age_ms = now_unix_ms > then_unix_ms ? INT64_MAX : -INT64_MAX;
	if (age_ms > -SECOND_MS && age_ms < SECOND_MS)
		snprintf(text, CLOCK_TEXT_BYTES, "now");
	else if (age_ms > 0)
		snprintf(text, CLOCK_TEXT_BYTES, "%.30s ago", clock_human(age_ms, human));
	else
		snprintf(text, CLOCK_TEXT_BYTES, "in %.30s", clock_human(-age_ms, human));
	return text;
}

int clock_parse_duration(const char *text, int64_t *ret_ms, struct err *err)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = {{"ms", 1},        {"s", SECOND_MS}, {"min", MINUTE_MS},
		     {"m", MINUTE_MS}, {"h", HOUR_MS},   {"d", DAY_MS}};
	size_t digits = strspn(text, "0123456789");
	const char *unit = text + digits + strspn(text + digits, " ");
	int64_t value = 0;

	if (digits < 1 || digits > 15)
		goto bad;
	for (size_t i = 0; i < digits; i++)
		value = value * 10 + (text[i] - '0');
	if (value == 0 && !*unit) {
		*ret_ms = 0;
		return 0;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].name) != 0)
			continue;
		if (value > 3653 * DAY_MS / units[i].ms)
			return err_set(err, ERR_CONFIG, 0, "more than ten years: '%.40s'", text);
		*ret_ms = value * units[i].ms;
		return 0;
	}
bad:
	return err_set(err, ERR_CONFIG, 0,
		       "not a duration such as 500ms, 30s, 5min, 1h or 7d: '%.40s'", text);
}
