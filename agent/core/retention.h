/*
 * retention - which old savepoint may be disposed of. Pure.
 *
 * Only savepoints that drey itself made and recorded are ever named; by default only periodic ones.
 * Kept in any case: the newest verified savepoint, by date and by id, the result of the last operation, what an intent
 * or the operation in flight names, and everything while the current launch has not completed a
 * checkpoint of its own: until then its restore point, and what is older, is what there is to fall
 * back to. Flink does the deleting (savepoint-disposal); the journal says so before.
 */
#ifndef DREY_CORE_RETENTION_H
#define DREY_CORE_RETENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "core/journal.h"

struct retention {
	int64_t keep_count; /* of periodic savepoints; 0 = all */
	int64_t max_age_ms; /* 0 = any age */
	bool all_origins;   /* manual savepoints and those of stops as well */
};

/* The oldest snapshot of the journal that may go now; NULL: none. Borrowed. */
const struct snapshot *retention_next(const struct retention *retention,
				      const struct journal *journal, int64_t now_unix_ms);

/* The savepoint that is left in any case: the newest verified one, by id among those of the current job,
 * else what that was started from, else by date. NULL: there is none to rely on, and nothing may go.
 * Borrowed. */
const struct snapshot *retention_keeper(const struct journal *journal);

#endif
