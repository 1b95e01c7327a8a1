/*
 * An operation that Flink's end has interrupted. Nobody can be asked any more, but a savepoint that
 * was completed lies in storage, and is then the newest state: it has to be found before anything is
 * started or called a failure.
 */
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle_internal.h"

void operation_begin_settling(struct lifecycle *life)
{
	operation_enter(life, STEP_SETTLING);
}

static void record_found(struct lifecycle *life, const struct candidate *c)
{
	const struct operation *operation = &life->journal.operation;
	struct snapshot found = c->snapshot; /* borrows the path */

	/* somebody else may have asked for one at the same time: it is not ours to delete */
	found.origin = ORIGIN_FOUND;
	memcpy(found.job_id, operation->job_id, JOB_ID_BYTES);
	if (!found.completed_unix_ms)
		found.completed_unix_ms = life->now_unix_ms;
	if (found.verified && !found.verified_unix_ms)
		found.verified_unix_ms = life->now_unix_ms;
	found.metadata_version = c->metadata_version;
	journal_add_snapshot(&life->journal, &found);
	operation_record(life, true, found.path, NULL);
	operation_remember(life, operation);
}

static void record_failure(struct lifecycle *life, const struct candidate *damaged)
{
	const char *why = damaged ? (damaged->detail ? damaged->detail : "no detail")
				  : "its target directory has no savepoint of it";
	char *error = xasprintf("Flink ended before the operation did; %s%s",
				damaged ? "its savepoint is damaged: " : "", why);

	operation_record(life, false, damaged ? damaged->snapshot.path : NULL, error);
	/* a savepoint that was asked for is answered, also by a failure */
	if (life->journal.operation.reason == REASON_MANUAL)
		operation_remember(life, &life->journal.operation);
	free(error);
}

void operation_settle(struct lifecycle *life, const struct event *event)
{
	const struct decision *decision = event->observed.decision;
	const struct candidate *c = decision->settled == NO_CANDIDATE
					    ? NULL
					    : &event->observed.facts->candidates[decision->settled];

	if (life->step != STEP_SETTLING || decision->settlement == SETTLEMENT_NONE ||
	    decision->settlement == SETTLEMENT_OPEN)
		return;
	if (decision->settlement == SETTLEMENT_MADE && c)
		record_found(life, c);
	else
		record_failure(life, c);
	operation_clear(life);
}
