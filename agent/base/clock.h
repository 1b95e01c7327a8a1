/*
 * clock - the time, and times as text.
 *
 * Two clocks that must not be mixed: `..._ms` is monotonic and for waiting, `..._unix_ms` is the
 * wall clock (UTC) and for people and records; the wall clock may step in both directions.
 */
#ifndef DREY_BASE_CLOCK_H
#define DREY_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define CLOCK_TEXT_BYTES 40 /* enough for every text made here */

int64_t clock_mono_ms(void);
int64_t clock_unix_ms(void);

/* "2026-03-01T12:00:00.123Z" (RFC 3339, UTC). Returns `text`. */
const char *clock_rfc3339(int64_t unix_ms, char text[CLOCK_TEXT_BYTES]);

/* "12:00:00", the time of day of that. Returns `text`. */
const char *clock_time_of_day(int64_t unix_ms, char text[CLOCK_TEXT_BYTES]);

/* "2026-03-01 12:00 UTC", for a sentence. Returns `text`. */
const char *clock_minute(int64_t unix_ms, char text[CLOCK_TEXT_BYTES]);

/* RFC 3339 with any fraction and `Z` or an offset; a leap second counts as the second before it.
 * ERR_FORMAT. */
int clock_parse_rfc3339(const char *text, int64_t *ret_unix_ms, struct err *err);

/* "850 ms", "42 s", "3 min 20 s", "5 h 3 min", "2 d 4 h"; negative with "-". Returns `text`. */
const char *clock_human(int64_t duration_ms, char text[CLOCK_TEXT_BYTES]);

/* "3 min 20 s ago", "in 5 s", "now" (within a second). Returns `text`. */
const char *clock_ago(int64_t then_unix_ms, int64_t now_unix_ms, char text[CLOCK_TEXT_BYTES]);

/*
 * A whole number with one unit: ms, s, min, m (minutes), h, d; a space between them is allowed:
 * "500ms", "30s", "5 min", "1h". No unit (except for 0), a sign, a fraction, or more than ten years
 * are refused. ERR_CONFIG.
 */
int clock_parse_duration(const char *text, int64_t *ret_ms, struct err *err);

#endif
