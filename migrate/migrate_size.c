#include "migrate/migrate_size.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DIGITS          "0123456789"
#define MAX_DIGITS      15
#define MAX_DURATION_MS (INT64_C(3650) * 86400 * 1000)

struct unit {
	const char *name;
	double factor;
};

/* How many bytes of the text are the word; -1: it begins with something else. */
static int match_word(const char *text, const char *word)
{
	int len = 0;

	for (; word[len]; len++) {
		char letter = text[len];

		if (letter >= 'A' && letter <= 'Z')
			letter = (char)(letter - 'A' + 'a');
		if (letter != word[len])
			return -1;
	}
	return len;
}

bool migrate_same(const char *text, const char *word)
{
	int len = match_word(text, word);

	return len >= 0 && !text[len];
}

bool migrate_contains(const char *text, const char *word)
{
	for (; *text; text++)
		if (match_word(text, word) >= 0)
			return true;
	return false;
}

/* "NUMBER UNIT": the unit; NULL if it does not begin with a number of at most 15 digits. */
static const char *split_number(const char *text, bool fraction, double *ret_number)
{
	char digits[MAX_DIGITS + 1];
	size_t len = strspn(text, fraction ? DIGITS "." : DIGITS);
	const char *point;

	if (!len || len > MAX_DIGITS || text[0] == '.' || text[len - 1] == '.')
		return NULL;
	memcpy(digits, text, len);
	digits[len] = '\0';
	point = strchr(digits, '.');
	if (point && strchr(point + 1, '.'))
		return NULL;
	*ret_number = strtod(digits, NULL);
	return text + len + strspn(text + len, " ");
}

static bool find_unit(const struct unit *units, const char *name, double *ret_factor)
{
	for (; units->name; units++) {
		if (!migrate_same(name, units->name))
			continue;
		*ret_factor = units->factor;
		return true;
	}
	return false;
}

#define KIB 1024.0
#define MIB (KIB * KIB)
#define GIB (MIB * KIB)
#define TIB (GIB * KIB)

bool migrate_mib(const char *text, int64_t *ret_mib)
{
	static const struct unit flink[] = {{"", 1},    {"b", 1},    {"bytes", 1},
					    {"k", KIB}, {"kb", KIB}, {"kibibytes", KIB},
					    {"m", MIB}, {"mb", MIB}, {"mebibytes", MIB},
					    {"g", GIB}, {"gb", GIB}, {"gibibytes", GIB},
					    {"t", TIB}, {"tb", TIB}, {"tebibytes", TIB},
					    {NULL, 0}};
	static const struct unit kubernetes[] = {
		{"ki", KIB},  {"mi", MIB},  {"gi", GIB}, {"ti", TIB},  {"kib", KIB}, {"mib", MIB},
		{"gib", GIB}, {"tib", TIB}, {"k", 1000}, {"kb", 1000}, {"m", 1e6},   {"mb", 1e6},
		{"g", 1e9},   {"gb", 1e9},  {"t", 1e12}, {"tb", 1e12}, {"", 1},      {NULL, 0}};
	double number, factor, mib;
	const char *unit = split_number(text, true, &number);

	if (!unit || (!find_unit(strchr(text, '.') ? kubernetes : flink, unit, &factor) &&
		      !find_unit(kubernetes, unit, &factor)))
		return false;
	mib = number * factor / MIB;
	if (mib > (double)INT32_MAX)
		return false;
	*ret_mib = (int64_t)mib + ((double)(int64_t)mib < mib);
	return true;
}

bool migrate_cpu(const char *text, char ret_text[MIGRATE_TEXT_BYTES])
{
	double number;
	const char *unit = split_number(text, true, &number);
	size_t len = unit ? (size_t)(unit - text) : 0;

	if (!unit || number <= 0 || (*unit && strcmp(unit, "m") != 0) || strchr(text, ' '))
		return false;
	memcpy(ret_text, text, len);
	ret_text[len] = '\0';
	if (strchr(ret_text, '.')) {
		while (ret_text[len - 1] == '0')
			ret_text[--len] = '\0';
		if (ret_text[len - 1] == '.')
			ret_text[--len] = '\0';
	}
	memcpy(ret_text + len, unit, strlen(unit) + 1);
	return true;
}

bool migrate_duration(const char *text, char ret_text[MIGRATE_TEXT_BYTES], int64_t *ret_ms)
{
	static const struct {
		const char *names, *unit;
		int64_t ms;
	} units[] = {
		{"  ms milli millis millisecond milliseconds ", "ms", 1},
		{" s sec secs second seconds ", "s", 1000},
		{" m min mins minute minutes ", "min", 60000},
		{" h hour hours ", "h", 3600000},
		{" d day days ", "d", 86400000},
	};
	char name[MIGRATE_TEXT_BYTES];
	double number;
	const char *unit = split_number(text, false, &number);

	if (!unit || number > 1e9 || strlen(unit) > 12 || strchr(unit, ' '))
		return false;
	snprintf(name, sizeof(name), " %s ", unit);
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (!strstr(units[i].names, name))
			continue;
		snprintf(ret_text, MIGRATE_TEXT_BYTES, "%lld%s", (long long)number, units[i].unit);
		*ret_ms = (int64_t)number * units[i].ms;
		return *ret_ms <= MAX_DURATION_MS;
	}
	return false;
}

bool migrate_number(const char *text, int64_t *ret_value)
{
	size_t len = strspn(text, DIGITS);

	if (!len || len > 9 || text[len])
		return false;
	*ret_value = strtoll(text, NULL, 10);
	return true;
}
