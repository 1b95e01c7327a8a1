#include "core/lifecycle/cron.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MINUTES_A_DAY 1440
/* 29 February on a given weekday recurs within 40 years, even across a century without a leap
 * year. */
#define SEARCH_YEARS 41

static const char *const month_names[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul",
					  "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const day_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

static const struct field {
	const char *name;
	int min, max;
	const char *const *names; /* of min, min + 1, ... */
} fields[] = {
	{"minute", 0, 59, NULL},          {"hour", 0, 23, NULL},
	{"day of month", 1, 31, NULL},    {"month", 1, 12, month_names},
	{"day of week", 0, 7, day_names},
};

static const struct shorthand {
	const char *name, *line;
} shorthands[] = {
	{"@hourly", "0 * * * *"},   {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
	{"@weekly", "0 0 * * 0"},   {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
	{"@annually", "0 0 1 1 *"},
};

/* ---- reading ---- */

static int wrong(const struct field *field, const char *item, int len, struct err *err)
{
	return err_set(err, ERR_CONFIG, 0, "%s: '%.*s' is not %s %d to %d", field->name, len, item,
		       field->names ? "a name, nor" : "a number from", field->min, field->max);
}

static bool is_name(const char *at, const char *name)
{
	for (int i = 0; i < 3; i++)
		if ((at[i] | 0x20) != name[i]) /* ASCII: lower case */
			return false;
	return true;
}

/* One number or name at *at, which is moved behind it. -1: there is none. */
static int number(const struct field *field, const char **at)
{
	char *end;
	long value;

	for (int i = 0; field->names && field->names[i]; i++)
		if (is_name(*at, field->names[i])) {
			*at += 3;
			return field->min + i;
		}
	if (**at < '0' || **at > '9')
		return -1;
	value = strtol(*at, &end, 10);
	*at = end;
	return value >= field->min && value <= field->max ? (int)value : -1;
}

/* One item of a list: "*", "5", "1-5", each with an optional "/2". */
static int read_item(const struct field *field, const char *item, int len, uint64_t *bits,
		     struct err *err)
{
	const char *at = item;
	int from = field->min, until = field->max, step = 1;

	if (*at == '*') {
		at++;
		until = field->max == 7 ? 6 : field->max;
	} else {
		from = until = number(field, &at);
		if (from < 0)
			return wrong(field, item, len, err);
		if (*at == '-') {
			at++;
			until = number(field, &at);
		} else if (*at == '/') {
			until = field->max;
		}
	}
	if (*at == '/') {
		char *end;
		long value = strtol(at + 1, &end, 10);

		if (end == at + 1 || value < 1 || value > field->max)
			return err_set(err, ERR_CONFIG, 0, "%s: '%.*s' has no step from 1 to %d",
				       field->name, len, item, field->max);
		step = (int)value;
		at = end;
	}
	if (at != item + len || until < 0)
		return wrong(field, item, len, err);
	if (from > until)
		return err_set(err, ERR_CONFIG, 0, "%s: '%.*s' ends before it starts", field->name,
			       len, item);
	for (int i = from; i <= until; i += step)
		*bits |= 1ULL << i;
	return 0;
}

static int read_field(const struct field *field, const char *text, int len, uint64_t *ret_bits,
		      struct err *err)
{
	uint64_t bits = 0;
	int start = 0;

	for (int i = 0; i <= len; i++)
		if (i == len || text[i] == ',') {
			if (read_item(field, text + start, i - start, &bits, err))
				return -1;
			start = i + 1;
		}
	*ret_bits = bits;
	return 0;
}

/* A day that exists in no year: accepted only when the weekday decides. */
static bool ever_comes(const struct cron *cron)
{
	static const int longest[] = {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	if (!cron->any_weekday)
		return true;
	for (int month = 1; month <= 12; month++)
		if (cron->months >> month & 1 &&
		    cron->days & ((1ULL << (longest[month] + 1)) - 1) & ~1ULL)
			return true;
	return false;
}

int cron_parse(const char *line, struct cron *ret_cron, struct err *err)
{
	uint64_t bits[ARRAY_LEN(fields)];
	struct cron cron = {0};
	const char *at = line;

	for (size_t i = 0; i < ARRAY_LEN(shorthands); i++)
		if (strcmp(line, shorthands[i].name) == 0)
			at = shorthands[i].line;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		size_t len;

		at += strspn(at, " \t");
		len = strcspn(at, " \t");
		if (!len)
			return err_set(
				err, ERR_CONFIG, 0,
				"'%s' has %zu fields; a cron line has five: minute, hour, day of month, month, day of week",
				line, i);
		if (read_field(&fields[i], at, (int)len, &bits[i], err))
			return err_wrap(err, "'%s'", line);
		cron.any_hour = i == 1 ? bits[i] == (1ULL << 24) - 1 : cron.any_hour;
		cron.any_day = i == 2 ? *at == '*' : cron.any_day;
		cron.any_weekday = i == 4 ? *at == '*' : cron.any_weekday;
		at += len;
	}
	if (at[strspn(at, " \t")])
		return err_set(err, ERR_CONFIG, 0, "'%s' has more than five fields", line);
	cron.minutes = bits[0];
	cron.hours = (uint32_t)bits[1];
	cron.days = (uint32_t)bits[2];
	cron.months = (uint32_t)bits[3];
	cron.weekdays = (uint8_t)((bits[4] & 0x7f) | (bits[4] >> 7 & 1));
	if (!ever_comes(&cron))
		return err_set(err, ERR_CONFIG, 0, "'%s' is a day that does not exist in any year",
			       line);
	*ret_cron = cron;
	return 0;
}

/* ---- time ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* Days to date: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days. */
void cron_time_of(int64_t local_minute, struct cron_time *ret)
{
	int64_t days = floor_div(local_minute, MINUTES_A_DAY);
	int64_t of_day = local_minute - days * MINUTES_A_DAY;
	int64_t shifted = days + 719468, era = floor_div(shifted, 146097);
	int64_t of_era = shifted - era * 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153;

	ret->minute = (int)(of_day % 60);
	ret->hour = (int)(of_day / 60);
	ret->day = (int)(of_year - (153 * month + 2) / 5 + 1);
	ret->month = (int)(month < 10 ? month + 3 : month - 9);
	ret->year = year + era * 400 + (ret->month <= 2);
	ret->weekday = (int)(days + 4 - 7 * floor_div(days + 4, 7));
}

static bool day_matches(const struct cron *cron, const struct cron_time *time)
{
	bool day = cron->days >> time->day & 1, weekday = cron->weekdays >> time->weekday & 1;

	if (!(cron->months >> time->month & 1))
		return false;
	return cron->any_day || cron->any_weekday ? day && weekday : day || weekday;
}

static bool matches(const struct cron *cron, int64_t local_minute)
{
	struct cron_time time;

	cron_time_of(local_minute, &time);
	return cron->minutes >> time.minute & 1 && cron->hours >> time.hour & 1 &&
	       day_matches(cron, &time);
}

static int64_t local_of(const struct cron_zone *zone, int64_t minute)
{
	return minute + (zone ? floor_div(zone->offset_s(zone->ctx, minute * 60), 60) : 0);
}

/* How many minutes to skip: on a day that does not match, until late evening. Clocks are not set
 * forward or back by more than the rest of the day. */
static int64_t skip(const struct cron *cron, int64_t local)
{
	struct cron_time time;

	cron_time_of(local, &time);
	if (day_matches(cron, &time))
		return 0;
	return time.hour < 21 ? (21 - time.hour) * 60 - time.minute : 0;
}

int64_t cron_next_unix_s(const struct cron *cron, const struct cron_zone *zone, int64_t unix_s)
{
	int64_t minute = floor_div(unix_s, 60) + 1;
	int64_t end = minute + (int64_t)SEARCH_YEARS * 366 * MINUTES_A_DAY;
	int64_t before = local_of(zone, minute - 1), repeated_until = before;

	while (minute < end) {
		int64_t local = local_of(zone, minute), left_out = skip(cron, local);

		if (left_out) {
			minute += left_out;
			before = local_of(zone, minute - 1);
			continue;
		}
		if (local <= before) /* set back: these local times occur twice */
			repeated_until = before;
		for (int64_t gone = before + 1; gone < local; gone++) /* set forward */
			if (matches(cron, gone))
				return minute * 60;
		if (matches(cron, local) && (cron->any_hour || local > repeated_until))
			return minute * 60;
		before = local;
		minute++;
	}
	return end * 60;
}
