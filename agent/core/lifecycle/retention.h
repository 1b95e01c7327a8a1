/*
 * retention - which old savepoint may be disposed of. Pure.
 *
 * Only savepoints that drey itself made and recorded are ever named; by default only periodic ones.
 * Always kept: the newest verified savepoint, by date and by id, the result of the last operation,
 * what an intent, the operation in flight or a transition names, one to whose files another snapshot refers,
 * as far as that was seen (snapshot.needed_unix_ms), and everything while the current launch has not
 * completed a checkpoint of its own: until then its restore point, and older snapshots, are the
 * only fallback. Flink does the deleting (savepoint-disposal); the journal records it first.
 */
#ifndef DREY_CORE_RETENTION_H
#define DREY_CORE_RETENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/journal/journal.h"

/* So long a savepoint is passed over after another snapshot was seen to refer to its files. */
#define RETENTION_NEEDED_MS INT64_C(3600000)

struct retention {
	int64_t keep_count; /* of periodic savepoints; 0 = all */
	int64_t max_age_ms; /* 0 = any age */
	bool all_origins;   /* manual savepoints and those of stops as well */
};

/* The oldest snapshot of the journal that may be disposed of now; NULL: none. Borrowed. */
const struct snapshot *retention_next(const struct retention *retention,
				      const struct journal *journal, int64_t now_unix_ms);

/* The savepoint that is always kept: the newest verified one, by id among those of the current job,
 * else its restore point, else by date. NULL: there is none to rely on, and nothing may be disposed
 * of. Borrowed. */
const struct snapshot *retention_keeper(const struct journal *journal);

#endif
