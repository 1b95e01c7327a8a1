/*
 * loss - how much a start gives up, because what was newer can no longer be used. Pure.
 *
 * A snapshot that was completed and is damaged now is a loss of the time between it and what is
 * started instead. restore.maxLoss bounds it: within the bound drey starts, and says so until a person
 * or a newer savepoint settles it; beyond it, drey holds.
 */
#ifndef DREY_CORE_LOSS_H
#define DREY_CORE_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/journal/journal.h"

#define LOSS_DEFAULT_MS (10 * 60 * INT64_C(1000))
#define LOSS_MAX_AUTO   (-1) /* restore.maxLoss: auto */
#define LOSS_UNKNOWN    (-1) /* a date is not known, or contradicts the checkpoint ids */
#define LOSS_INTERVALS  2    /* a job whose checkpoints are rarer may lose this many of them */
/* Flink reports an endless interval. Nothing that is computed with a shorter one overflows. */
#define LOSS_NO_INTERVAL (INT64_MAX / 16)
#define LOSS_CLOCK_MS    (60 * INT64_C(1000)) /* the clocks of two writers may differ by this */

struct loss_limits {
	int64_t max_ms;      /* LOSS_MAX_AUTO: by the interval */
	int64_t interval_ms; /* of the job's checkpoints, as configured; 0 = not known */
};

/* Between two checkpoints: what the last launch that has one on record has reported, which its code has made of the
 * configuration, else the configured one; 0 = not known. */
int64_t loss_interval_ms(const struct loss_limits *limits, const struct journal *journal);

/* Two of these, within which a checkpoint completes; 0 = not known; LOSS_NO_INTERVAL: the job takes no periodic ones. */
int64_t loss_two_intervals_ms(const struct loss_limits *limits, const struct journal *journal);

/* What may be lost: 0 = nothing. By that interval. */
int64_t loss_limit_ms(const struct loss_limits *limits, const struct journal *journal);

/* The time between what was completed last and what is started; LOSS_UNKNOWN without a date, or when
 * what was completed last has the older date by more than clocks may differ. */
int64_t loss_between_ms(int64_t lost_unix_ms, int64_t started_unix_ms);

/* Must drey hold? */
bool loss_is_too_much(int64_t loss_ms, int64_t limit_ms);

#endif
