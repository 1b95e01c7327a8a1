/*
 * restart_history - how often the job was restarted lately: failed attempts, and the restarts that
 * Flink makes itself. Pure.
 *
 * Flink's own number (the metric numRestarts) is late: 10 s by default
 * (metrics.fetcher.update-interval), and it is asked for at slow polls only. A restart that a poll sees meanwhile counts
 * immediately, and not twice.
 *
 * The restarts of a start count until it succeeds. A job that is deployed before all its TaskManagers
 * are there restarts once or twice before all its tasks run; without this rule three upgrades within ten
 * minutes made a healthy job JobFailing. What Flink reports of a launch then counts from its first
 * report that has these restarts.
 *
 * Zeroed before the first use; owns nothing.
 */
#ifndef DREY_CORE_RESTART_HISTORY_H
#define DREY_CORE_RESTART_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lifecycle/lifecycle.h"

#define RESTART_HISTORY_ENTRIES 64

struct restart_history {
	struct {
		int64_t unix_ms, count;     /* those of about a minute are one entry */
	} entries[RESTART_HISTORY_ENTRIES]; /* oldest first */
	size_t entry_count;
	int64_t failure_unix_ms; /* the newest failed attempt counted so far */
	bool restarting;         /* the job, when last seen */
	int64_t launch;          /* number of the one whose restarts are counted */
	bool ran;                /* with all its tasks, in this launch */
	int64_t starting;        /* restarts of this launch before it ran */
	bool counted;            /* Flink has reported how many */
	int64_t told, glimpsed;  /* as last reported; seen since then by polling the job */
};

/* Count what is new in `life`. */
void restart_history_update(struct restart_history *history, const struct lifecycle *life,
			    int64_t now_unix_ms);

/* How many there were after `unix_ms`; those of an entry count by the time of its first one. */
int64_t restart_history_since(const struct restart_history *history, int64_t unix_ms);

#endif
