#include "cmd/age.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"

#define MINUTE_S 60
#define HOUR_S   (60 * MINUTE_S)
#define DAY_S    (24 * HOUR_S)
#define TODAY_MS (INT64_C(1000) * 12 * HOUR_S)

const char *age_text(int64_t then_unix_ms, int64_t now_unix_ms, char text[AGE_TEXT_BYTES])
{
	int64_t seconds = now_unix_ms > then_unix_ms ? (now_unix_ms - then_unix_ms) / 1000 : 0;

	if (seconds < MINUTE_S)
		snprintf(text, AGE_TEXT_BYTES, "%" PRId64 " s", seconds);
	else if (seconds < HOUR_S)
		snprintf(text, AGE_TEXT_BYTES, "%" PRId64 " min", seconds / MINUTE_S);
	else if (seconds < DAY_S)
		snprintf(text, AGE_TEXT_BYTES, "%" PRId64 " h %" PRId64 " min", seconds / HOUR_S,
			 seconds % HOUR_S / MINUTE_S);
	else
		snprintf(text, AGE_TEXT_BYTES, "%" PRId64 " d %" PRId64 " h", seconds / DAY_S,
			 seconds % DAY_S / HOUR_S);
	return text;
}

const char *age_when(int64_t then_unix_ms, int64_t now_unix_ms, char text[AGE_TEXT_BYTES])
{
	char time[CLOCK_TEXT_BYTES];

	clock_rfc3339(then_unix_ms, time);
	if (now_unix_ms - then_unix_ms < TODAY_MS && then_unix_ms - now_unix_ms < TODAY_MS)
		snprintf(text, AGE_TEXT_BYTES, "%.5s UTC", time + 11);
	else
		snprintf(text, AGE_TEXT_BYTES, "%.10s %.5s UTC", time, time + 11);
	return text;
}
