#include "core/report/restart_history.h"

#include <string.h>

#define ENTRY_MS 60000 /* restarts are counted by the minute */
#define METRIC_AGE_MS                                                                              \
	15000 /* Flink's number is not older: the header's 10 s, and the answer's time */

static void add_restarts(struct restart_history *history, int64_t unix_ms, int64_t count)
{
	size_t last = history->entry_count;

	if (last && unix_ms - history->entries[last - 1].unix_ms < ENTRY_MS &&
	    unix_ms >= history->entries[last - 1].unix_ms) {
		history->entries[last - 1].count += count;
		return;
	}
	if (last == RESTART_HISTORY_ENTRIES) {
		history->entry_count = --last;
		memmove(history->entries, history->entries + 1, last * sizeof(history->entries[0]));
	}
	history->entries[last].unix_ms = unix_ms;
	history->entries[last].count = count;
	history->entry_count++;
}

/* The newest go first. Entries that were dropped meanwhile cannot be taken back. */
static void take_back_restarts(struct restart_history *history, int64_t count)
{
	while (count > 0 && history->entry_count) {
		int64_t *last = &history->entries[history->entry_count - 1].count;
		int64_t less = *last < count ? *last : count;

		*last -= less;
		count -= less;
		if (!*last)
			history->entry_count--;
	}
}

static void add_flinks(struct restart_history *history, int64_t unix_ms, int64_t count)
{
	add_restarts(history, unix_ms, count);
	if (!history->ran)
		history->starting += count;
}

static void see_first_run(struct restart_history *history, const struct lifecycle *life)
{
	if (history->ran || !life->seen.first_ran_ms)
		return;
	take_back_restarts(history, history->starting);
	history->ran = true;
	history->counted = false;
	history->told = history->glimpsed = 0;
}

static void count_flinks(struct restart_history *history, const struct lifecycle *life,
			 int64_t now_unix_ms)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	int64_t number = launch ? launch->number : 0, more;
	bool restarting = life->launch_step == LAUNCH_LIVE && life->seen.job_present &&
			  (life->seen.state == JOB_RESTARTING || life->seen.state == JOB_FAILING);

	if (number != history->launch) {
		/* a new launch begins with none; one that was taken over, with those that it had */
		history->counted = history->launch != 0;
		history->told = history->glimpsed = 0;
		history->launch = number;
		history->ran = false;
		history->starting = 0;
	}
	see_first_run(history, life);
	if (restarting && !history->restarting) {
		add_flinks(history, now_unix_ms, 1);
		history->glimpsed++;
	}
	history->restarting = restarting;
	if (!life->seen.restarts_known)
		return;
	if (!history->counted && history->ran &&
	    life->seen.restarts_ms - life->seen.first_ran_ms < METRIC_AGE_MS)
		return; /* it may lack restarts of the start */
	if (history->counted && life->seen.restarts == history->told)
		return;
	more = life->seen.restarts - history->told - history->glimpsed;
	if (history->counted && more > 0)
		add_flinks(history, now_unix_ms, more);
	history->counted = true;
	history->told = life->seen.restarts;
	history->glimpsed = more < 0 && history->told ? -more : 0;
}

void restart_history_update(struct restart_history *history, const struct lifecycle *life,
			    int64_t now_unix_ms)
{
	const struct journal *journal = &life->journal;

	for (size_t i = 0; i < journal->failure_count; i++) {
		int64_t unix_ms = journal->failures_unix_ms[i];

		if (unix_ms <= history->failure_unix_ms)
			continue;
		history->failure_unix_ms = unix_ms;
		add_restarts(history, unix_ms, 1);
	}
	count_flinks(history, life, now_unix_ms);
}

int64_t restart_history_since(const struct restart_history *history, int64_t unix_ms)
{
	int64_t count = 0;

	for (size_t i = 0; i < history->entry_count; i++)
		if (history->entries[i].unix_ms > unix_ms)
			count += history->entries[i].count;
	return count;
}
