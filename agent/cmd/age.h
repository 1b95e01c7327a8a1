/* age - since when something has lasted, in words for people. Pure; times are UTC. */
#ifndef DREY_CMD_AGE_H
#define DREY_CMD_AGE_H

#include <stdint.h>

#define AGE_TEXT_BYTES 64

/* "45 s", "14 min", "5 h 3 min", "2 d 4 h"; less than a second and what lies ahead: "0 s". Returns `text`. */
const char *age_text(int64_t then_unix_ms, int64_t now_unix_ms, char text[AGE_TEXT_BYTES]);

/* "03:12 UTC", or with the date if that was at least 12 hours ago: "2026-11-25 03:12 UTC". Returns
 * `text`. */
const char *age_when(int64_t then_unix_ms, int64_t now_unix_ms, char text[AGE_TEXT_BYTES]);

#endif
