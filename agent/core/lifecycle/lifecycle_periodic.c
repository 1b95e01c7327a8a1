/*
 * When the next periodic savepoint of the running job is due.
 */
#include "core/lifecycle/lifecycle_periodic.h"

void schedule_savepoint_after(struct lifecycle *life, int64_t pause_ms)
{
	const struct journal *journal = &life->journal;
	int64_t since_unix_ms = life->now_unix_ms, last_unix_ms = 0, due_unix_ms;
	uint32_t random = (uint32_t)rng_below(&life->rng, UINT32_MAX);

	life->savepoint_ms = 0;
	/* MUT: a savepoint is planned while the container ends */
	if (life->terminating) /* it would never start, and its due time would wake us up forever */
		return;
	/* MUT: a job in the shadow takes savepoints by schedule */
	if (life->config->handover.shadow)
		return;
	for (size_t i = 0; i < journal->snapshot_count; i++)
		if (journal->snapshots[i].kind == SNAPSHOT_SAVEPOINT &&
		    journal->snapshots[i].completed_unix_ms > last_unix_ms)
			last_unix_ms = journal->snapshots[i].completed_unix_ms;
	/* a job that never runs for a whole interval gets its savepoint anyway */
	if (journal->launch_count && journal->launches[0].proven_unix_ms)
		since_unix_ms = journal->launches[0].proven_unix_ms;
	due_unix_ms = schedule_next_unix_ms(&life->config->savepoints, last_unix_ms, since_unix_ms,
					    life->now_unix_ms + pause_ms, random);
	if (due_unix_ms >= 0)
		life->savepoint_ms = life->now_ms + due_unix_ms - life->now_unix_ms;
}

void schedule_savepoint(struct lifecycle *life)
{
	schedule_savepoint_after(life, 0);
}
