/*
 * condition_checkpoints - the condition CheckpointsFailing: does a job that runs complete its
 * checkpoints? Pure.
 *
 * It is judged only while the tasks run, because a job whose tasks are missing makes none
 * (readiness.h says that), and from what Flink's statistics say: when they cannot be read, it is not
 * known. An age counts from the poll that first showed the newest completed checkpoint, or from the moment
 * since when there could be one (lifecycle.h: seen.progress_ms): what was not possible is not late.
 *
 * Sentences have no ages and no numbers of good checkpoints: they would be other ones at each look.
 */
#ifndef DREY_CORE_CONDITION_CHECKPOINTS_H
#define DREY_CORE_CONDITION_CHECKPOINTS_H

#include "core/lifecycle/lifecycle.h"
#include "core/report/condition.h"

/* How often there can be a checkpoint; 0 = not known, or never. What takes longer than the interval
 * cannot come more often. */
int64_t checkpoints_every_ms(const struct checkpoint_plan *plan, const struct checkpointing *seen);

/* How old the newest checkpoint may become; 0 = it is not judged by its age. */
int64_t checkpoints_limit_ms(const struct health *health, const struct checkpoint_plan *plan,
			     const struct checkpointing *seen);

/* Everything of it but its time. */
void condition_checkpoints(const struct lifecycle *life, struct condition *ret_condition);

#endif
