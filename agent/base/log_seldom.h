/*
 * log_seldom - a trouble that is met again and again, such as at each try: it is logged when it is met first, when its text
 * changes, and then every 5 minutes. Pure.
 *
 * Life cycle: a zeroed one -> log_seldom_due() after each try -> log_seldom_release().
 */
#ifndef DREY_BASE_LOG_SELDOM_H
#define DREY_BASE_LOG_SELDOM_H

#include <stdbool.h>
#include <stdint.h>

#define LOG_SELDOM_MS 300000

struct log_seldom {
	char *said;      /* owned; NULL = all is well */
	int64_t said_ms; /* monotonic */
};

/* Is this text to be logged now? NULL: there is no trouble any more, and the next one is logged. */
bool log_seldom_due(struct log_seldom *seldom, const char *text, int64_t now_ms);

void log_seldom_release(struct log_seldom *seldom); /* zeroed afterwards */

#endif
