/*
 * How the last launch ended according to Flink's own record, if the container or its node ended
 * before drey could see it. A job that has FINISHED is not run again.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "core/journal/journal_copy.h"
#include "core/resolve/resolve_internal.h"

/* Our own operation ended the job, or was given up meanwhile: its purpose remains in force. */
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

/* Only a savepoint of the stop in flight proves the stop; rule 3 has searched for it. */
static bool stop_was_made(const struct inquiry *in, const struct launch *launch)
{
	const struct operation *operation = &in->journal->operation;

	return operation->kind == OPERATION_STOP && !strcmp(operation->job_id, launch->job_id) &&
	       in->decision->settled != NO_CANDIDATE &&
	       in->decision->settlement != SETTLEMENT_PASSED;
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

/* A new generation names the newest state of this launch, which counts as a request. */
static bool is_asked_for(struct inquiry *in, const struct launch *launch, const char *stop)
{
	if (!generation_names_newest(in, (int)(launch - in->journal->launches), stop))
		return false;
	in->promised = in->policy->initial_savepoint;
	return true;
}

/* The job was stopped (`stop`) or cancelled (NULL) from outside drey while do-not-restart was on: a
 * suspension. If drey saw it, it is recorded as such (lifecycle_ended.c). */
static bool suspends(struct inquiry *in, const struct launch *launch, const char *stop)
{
	if (launch->do_not_restart)
		in->promised = stop;
	return launch->do_not_restart;
}

/* The journal is older than an end that drey itself has brought about, which its copy in storage knows. Not
 * a guess about a person, but the desired state decides, and only the savepoint of that stop counts. */
static bool own_end_decides(struct inquiry *in, const char *stop)
{
	/* MUT: what the copy says of the desired state is overruled */
	if (copy_end_holds(in))
		return true;
	in->promised = stop;
	return false;
}

/*
 * Nothing but its copy tells a stop that drey itself has made, and that a backup of the journal does not have, from one by
 * another: the savepoint has Flink's name, and Flink's record does not say who asked.
 */
static bool copy_knows(const struct inquiry *in)
{
	return in->facts->sources[SOURCE_COPY].state == SOURCE_PRESENT && in->facts->copy;
}

/* To park is for good: not as long as the copy cannot be read. */
static bool unread_copy_holds(struct inquiry *in, const struct launch *launch)
{
	const struct source_fact *copy = &in->facts->sources[SOURCE_COPY];

	/* MUT: a job is parked although the copy that may know its stop cannot be read */
	if (copy->state != SOURCE_UNREADABLE)
		return false;
	inquiry_hold(
		in, CAUSE_STORAGE_UNREADABLE, RULE_UNREADABLE,
		"job %s has ended, and only the copy of the journal can tell whether drey stopped it, but it cannot be read: %s; drey retries; make the copy readable, or delete it if nobody has put the journal back",
		launch->job_id, inquiry_detail(copy->detail));
	return true;
}

static bool park_stopped(struct inquiry *in, const struct launch *launch, const char *stop)
{
	cleanup_buf struct buf how = BUF_INIT;

	if (unread_copy_holds(in, launch))
		return true;
	if (stop)
		buf_addf(&how, ", with %s", stop);
	if (!copy_knows(in))
		buf_addstr(
			&how,
			", or by drey itself, if this journal is an older one that was put back: no copy of it tells");
	return park_ended(in, OUTCOME_CANCELLED,
			  stop ? "stopped from outside drey" : "cancelled from outside drey",
			  buf_str(&how));
}

static bool judge_end(struct inquiry *in, const struct launch *launch)
{
	const char *detail = inquiry_detail(in->facts->ended_detail), *stop = NULL;

	switch (in->facts->ended) {
	case JOB_END_FINISHED:
		/* without an archive Flink's record does not tell a stop from an end */
		if (copy_made_end(in, launch, OPERATION_STOP, NULL))
			return own_end_decides(in, journal_copy_stop(in->facts->copy));
		return !stop_was_made(in, launch) && !is_asked_for(in, launch, NULL) &&
		       park_ended(in, OUTCOME_FINISHED, "the job finished", "");
	case JOB_END_STOPPED:
		stop = in->facts->ended_detail;
		if (copy_made_end(in, launch, OPERATION_STOP, stop))
			return own_end_decides(in, stop);
		return !ended_by(in, launch, OPERATION_STOP) && !suspends(in, launch, stop) &&
		       !is_asked_for(in, launch, stop) && park_stopped(in, launch, detail);
	case JOB_END_CANCELED:
		if (copy_made_end(in, launch, OPERATION_CANCEL, NULL))
			return own_end_decides(in, NULL);
		return !ended_by(in, launch, OPERATION_CANCEL) && !suspends(in, launch, NULL) &&
		       !is_asked_for(in, launch, NULL) && park_stopped(in, launch, NULL);
	case JOB_END_UNKNOWN:
		return !is_asked_for(in, launch, NULL) &&
		       park_ended(in, OUTCOME_UNKNOWN,
				  "the job ended, and Flink's record of its end is unusable: ",
				  detail);
	case JOB_END_FAILED: /* a failed attempt: drey retries */
	case JOB_END_NONE:
		break;
	}
	return false;
}

/*
 * A drey up to 0.2.0 named the directory of the record by the job id. If that id was used in an earlier life
 * of the application, whose journal was lost, Flink has found its record ("already in a globally-terminal
 * state"), and has not run this job at all. The clocks of storage and drey may differ; a job that was seen
 * to run has made the record itself.
 */
#define CLOCKS_DIFFER_MS INT64_C(300000)

static bool is_of_another_life(const struct inquiry *in, const struct launch *launch)
{
	return !*launch->launch_id && !launch->verified_unix_ms && !launch->proven_unix_ms &&
	       !launch->last_checkpoint_id && in->facts->ended_unix_ms &&
	       in->facts->ended_unix_ms + CLOCKS_DIFFER_MS < launch->intended_unix_ms;
}

bool result_decides(struct inquiry *in)
{
	const struct launch *launch = journal_open_launch(in->journal);
	const struct source_fact *source = &in->facts->sources[SOURCE_RESULTS];

	if (!launch)
		return false;
	if (source->state == SOURCE_UNREADABLE) {
		inquiry_hold(in, CAUSE_STORAGE_UNREADABLE, RULE_UNREADABLE,
			     "Flink's record of how job %s ended cannot be read: %s; drey retries",
			     launch->job_id, inquiry_detail(source->detail));
		return true;
	}
	/* MUT: the record of an earlier life counts as the end of this job */
	if (is_of_another_life(in, launch))
		return false;
	return !strcmp(in->facts->ended_job, launch->job_id) && judge_end(in, launch);
}

/* ---- the only snapshot that the job may continue from ---- */

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
		inquiry_judge(chosen, VERDICT_REJECTED,
			      "not the snapshot that the job must continue from");
	inquiry_hold(
		in, named ? CAUSE_INITIAL_SAVEPOINT_UNUSABLE : CAUSE_NEWEST_STATE_MISSING,
		RULE_NEWEST,
		"%s %s (%s), but the newest usable snapshot is another one: %s; use `drey resume --from PATH` to choose the snapshot",
		named ? "restore.initialSavepoint names" : "the job was stopped with", in->promised,
		promised ? inquiry_detail(promised->reason) : "not found",
		start ? chosen->snapshot.path : "none");
	return true;
}
