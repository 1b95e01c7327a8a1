/*
 * What Flink itself has left on record about the end of the last launch, where nobody saw it: the
 * container was ended, or its node, before drey could look. A job that has FINISHED is not run again.
 */
#include <stdio.h>
#include <string.h>

#include "core/resolve_internal.h"

/* Our own operation has ended the job, or was given up while it did: what it was for goes on. */
static bool ended_by(const struct inquiry *in, const struct launch *launch,
		     enum operation_kind kind)
{
	const struct operation *operation = &in->journal->operation;
	const struct operation_result *last = &in->journal->last_operation;

	if (operation->kind == kind && !strcmp(operation->job_id, launch->job_id))
		return true;
	return last->kind == kind && last->ended_unix_ms >= launch->intended_unix_ms &&
	       (!last->ok || !last->location ||
		snapshot_same_path(last->location, in->facts->ended_detail));
}

/* Only a savepoint of the stop that was in flight shows that it was the stop; rule 3 has looked for it. */
static bool stop_was_made(const struct inquiry *in, const struct launch *launch)
{
	const struct operation *operation = &in->journal->operation;

	return operation->kind == OPERATION_STOP && !strcmp(operation->job_id, launch->job_id) &&
	       in->decision->settled != NO_CANDIDATE;
}

static bool park_ended(struct inquiry *in, enum outcome_kind outcome, const char *what,
		       const char *detail)
{
	struct decision *decision = in->decision;

	decision->outcome = outcome;
	snprintf(decision->outcome_reason, sizeof(decision->outcome_reason), "%s%s", what, detail);
	inquiry_park_outcome(in, outcome, decision->outcome_reason);
	return true;
}

static bool judge(struct inquiry *in, const struct launch *launch)
{
	const char *detail = inquiry_detail(in->facts->ended_detail);

	switch (in->facts->ended) {
	case JOB_END_FINISHED:
		return !stop_was_made(in, launch) &&
		       park_ended(in, OUTCOME_FINISHED, "the job came to its end", "");
	case JOB_END_STOPPED:
		return !ended_by(in, launch, OPERATION_STOP) &&
		       park_ended(in, OUTCOME_CANCELLED, "stopped from outside drey, with ",
				  detail);
	case JOB_END_CANCELED:
		return !ended_by(in, launch, OPERATION_CANCEL) &&
		       park_ended(in, OUTCOME_CANCELLED, "cancelled from outside drey", "");
	case JOB_END_UNKNOWN:
		return park_ended(
			in, OUTCOME_UNKNOWN,
			"it came to its end, and Flink's record of that is unusable: ", detail);
	case JOB_END_FAILED: /* a failed attempt: it is tried again */
	case JOB_END_NONE:
		break;
	}
	return false;
}

bool result_decides(struct inquiry *in)
{
	const struct launch *launch = journal_open_launch(in->journal);
	const struct source_fact *source = &in->facts->sources[SOURCE_RESULTS];

	if (!launch)
		return false;
	if (source->state == SOURCE_UNREADABLE) {
		inquiry_hold(in, CAUSE_STORAGE_UNREADABLE, 5,
			     "whether job %s has come to its end cannot be read: %s; drey looks "
			     "again",
			     launch->job_id, inquiry_detail(source->detail));
		return true;
	}
	return !strcmp(in->facts->ended_job, launch->job_id) && judge(in, launch);
}
