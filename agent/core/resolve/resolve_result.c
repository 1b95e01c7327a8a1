/*
 * What Flink itself has left on record about the end of the last launch, where nobody saw it: the
 * container was ended, or its node, before drey could look. A job that has FINISHED is not run again.
 */
#include <stdio.h>
#include <string.h>

#include "core/resolve/resolve_internal.h"

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
	inquiry_park_outcome(in, outcome, decision->outcome_reason,
			     in->facts->ended == JOB_END_STOPPED ? in->facts->ended_detail : NULL);
	return true;
}

/* A new generation names the newest state of this launch: that is its person's word. */
static bool is_asked_for(struct inquiry *in, const struct launch *launch, const char *stop)
{
	if (!generation_names_newest(in, (int)(launch - in->journal->launches), stop))
		return false;
	in->promised = in->policy->initial_savepoint;
	return true;
}

/* Somebody else has stopped the job (`stop`), or cancelled it (NULL), while do-not-restart was on: a suspension.
 * One that drey has seen is on record as that (lifecycle_ended.c). */
static bool suspends(struct inquiry *in, const struct launch *launch, const char *stop)
{
	if (launch->braked)
		in->promised = stop;
	return launch->braked;
}

static bool judge(struct inquiry *in, const struct launch *launch)
{
	const char *detail = inquiry_detail(in->facts->ended_detail), *stop = NULL;

	switch (in->facts->ended) {
	case JOB_END_FINISHED:
		return !stop_was_made(in, launch) && !is_asked_for(in, launch, NULL) &&
		       park_ended(in, OUTCOME_FINISHED, "the job came to its end", "");
	case JOB_END_STOPPED:
		stop = in->facts->ended_detail;
		return !ended_by(in, launch, OPERATION_STOP) && !suspends(in, launch, stop) &&
		       !is_asked_for(in, launch, stop) &&
		       park_ended(in, OUTCOME_CANCELLED, "stopped from outside drey, with ",
				  detail);
	case JOB_END_CANCELED:
		return !ended_by(in, launch, OPERATION_CANCEL) && !suspends(in, launch, NULL) &&
		       !is_asked_for(in, launch, NULL) &&
		       park_ended(in, OUTCOME_CANCELLED, "cancelled from outside drey", "");
	case JOB_END_UNKNOWN:
		return !is_asked_for(in, launch, NULL) &&
		       park_ended(in, OUTCOME_UNKNOWN,
				  "it came to its end, and Flink's record of that is unusable: ",
				  detail);
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
		inquiry_hold(
			in, CAUSE_STORAGE_UNREADABLE, RULE_UNREADABLE,
			"whether job %s has come to its end cannot be read: %s; drey looks again",
			launch->job_id, inquiry_detail(source->detail));
		return true;
	}
	return !strcmp(in->facts->ended_job, launch->job_id) && judge(in, launch);
}

/* ---- what the job is to be continued from, and nothing else ---- */

const char *promise_of_outcome(const struct inquiry *in)
{
	const struct outcome *outcome = &in->journal->outcome;

	if (outcome_is_suspension(outcome))
		return outcome->savepoint;
	return generation_is_asked_for(in) ? in->policy->initial_savepoint : NULL;
}

bool promise_forbids(struct inquiry *in)
{
	const struct decision *decision = in->decision;
	bool named = snapshot_same_path(in->promised, in->policy->initial_savepoint);
	bool empty = decision->kind == DECISION_START_EMPTY && decision->rule == RULE_NOTHING;
	bool start = decision->kind == DECISION_START_FROM || decision->kind == DECISION_CONTINUE;
	const struct candidate *promised;
	struct candidate *chosen = NULL;

	if (!in->promised || !(start || empty) || decision->rule == RULE_REQUEST)
		return false;
	if (start)
		chosen = &in->facts->candidates[decision->candidate];
	if (start && snapshot_same_path(chosen->snapshot.path, in->promised))
		return false;
	promised = facts_find(in->facts, in->promised);
	if (start)
		inquiry_judge(chosen, VERDICT_REJECTED, "not what the job is to be continued from");
	inquiry_hold(
		in, named ? CAUSE_INITIAL_SAVEPOINT_UNUSABLE : CAUSE_NEWEST_STATE_MISSING,
		RULE_NEWEST,
		"%s %s (%s), and the newest usable state is another one: %s; `drey resume --from PATH` says what to start from",
		named ? "restore.initialSavepoint names" : "the job was stopped with", in->promised,
		promised ? inquiry_detail(promised->reason) : "not found",
		start ? chosen->snapshot.path : "none");
	return true;
}
