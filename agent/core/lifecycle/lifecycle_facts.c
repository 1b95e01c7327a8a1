/*
 * What is known of Flink, of its job, and of the drey of another place. Nothing here changes anything.
 */
#include "core/lifecycle/lifecycle_facts.h"

#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "core/report/condition_settings.h"

/* Whether the recovered job has the operation is not known: it is lost if it takes longer than savepoints do. */
#define LONG_SAVEPOINT_MS 600000

/* ---- Flink ---- */

bool flink_is_live(const struct lifecycle *life)
{
	return life->launch_step == LAUNCH_LIVE || life->foreign;
}

enum phase ending_phase(const struct lifecycle *life)
{
	return life->terminating ? PHASE_TERMINATING : PHASE_STOPPING;
}

/*
 * The code of a job may set that Flink deletes its checkpoints when the job is cancelled, or its Flink shut
 * down: then they are gone before the next launch could start from them. Such a Flink is ended by a stop with
 * savepoint, or by SIGKILL, which leaves it no time to delete anything.
 */
bool signal_deletes_checkpoints(const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);

	return launch && !launch->job_ended &&
	       effective_signal_deletes(journal_settings(&life->journal),
					launch->ha_cluster_id != NULL);
}

bool ended_well(const struct lifecycle *life)
{
	const struct outcome *outcome = &life->journal.outcome;

	return life->config->exit_when_finished &&
	       (outcome->kind == OUTCOME_FINISHED ||
		(outcome->kind == OUTCOME_CANCELLED && outcome->savepoint));
}

int end_status(const struct lifecycle *life)
{
	return life->config->exit_when_finished && !ended_well(life) ? 128 + SIGTERM : 0;
}

/* ---- the drey of another place ---- */

static bool is_of_other_place(const struct lifecycle *life, const char *writer)
{
	const char *place = life->config->place;
	size_t len = place ? strlen(place) : 0;

	return place && writer && (strncmp(writer, place, len) != 0 || writer[len] != '/');
}

bool is_elsewhere(const struct lifecycle *life, const struct launch *launch)
{
	return launch && is_of_other_place(life, launch->writer);
}

bool was_written_elsewhere(const struct lifecycle *life)
{
	const struct journal *journal = &life->journal;

	return journal->writer_count &&
	       is_of_other_place(life, journal->writers[journal->writer_count - 1]);
}

bool takeover_is_over(const struct lifecycle *life)
{
	return !life->takeover_pending && life->now_ms >= life->takeover_ms;
}

/* ---- the job ---- */

bool cause_may_come(const struct lifecycle *life, const struct view *view)
{
	return view->state == JOB_FAILED && !view->failure &&
	       life->now_ms < life->seen.picture_until_ms;
}

const char *checkpoint_excluded(const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	const struct policy *policy = &life->config->policy;
	int64_t age_ms = life->now_unix_ms - launch->last_checkpoint_unix_ms;

	if (!launch->proven_unix_ms || !launch->last_checkpoint_path)
		return "this launch has no checkpoint to continue from";
	if (policy->restore == POLICY_SAVEPOINT)
		return "restore.policy excludes checkpoints";
	if (policy->max_age_ms && age_ms > policy->max_age_ms)
		return "its newest checkpoint is older than restore.maxAge";
	return NULL;
}

/* In force, and this launch has not got it. */
bool parallelism_is_unasked(const struct lifecycle *life, const struct launch *launch)
{
	/* MUT: a launch does not get the parallelism that is in force */
	return !parallelism_is_empty(&life->journal.parallelism) &&
	       life->journal.parallelism_launch != launch->number;
}

bool parallelism_is_owed(const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);

	if (!launch || life->rescale.again_ms)
		return false;
	return life->journal.intent.parallelism.nonce || parallelism_is_unasked(life, launch) ||
	       life->rescale.settling;
}

bool checkpoint_in_flight(const struct lifecycle *life)
{
	return life->checkpoint.step != STEP_NONE && life->checkpoint.step != STEP_LEFT;
}

bool job_is_being_ended(const struct lifecycle *life)
{
	return life->operation.step != STEP_NONE &&
	       operation_ends_job(life->journal.operation.kind);
}

/* As Flink reports it. After a failed stop the job continues from its savepoint, and may finish. */
bool stop_has_ended_job(const struct lifecycle *life)
{
	return life->stop_location && (!life->operation_error || life->savepoint_damaged);
}

bool stop_is_reported(const struct lifecycle *life)
{
	/* MUT: a stop that Flink has reported fails because the end of its job was not seen in time */
	return life->journal.operation.kind == OPERATION_STOP &&
	       (life->operation.step == STEP_ENDING || life->operation.step == STEP_INSPECTING) &&
	       stop_has_ended_job(life);
}

/* ---- the job was recovered ---- */

bool job_was_recovered(const struct lifecycle *life, int64_t job_unix_ms, int64_t patience_ms)
{
	/* MUT: an operation of a job that was recovered is awaited for ever */
	if (!job_unix_ms || !life->seen.job_present || life->seen.job_unix_ms == job_unix_ms)
		return false;
	return life->now_ms - life->seen.job_since_ms >= patience_ms;
}

/* The job was recovered after that time. That the job before it still ran then is known by our steady clock; the date of a job is of
 * a clock that people set. */
static bool job_came_after(const struct lifecycle *life, int64_t ms, int64_t unix_ms)
{
	/* MUT: a clock that was set gives the operation to a job that was recovered after it */
	if (life->seen.operation_job_ms >= ms)
		return true;
	return life->seen.job_unix_ms > unix_ms;
}

/* The recovered job has the operation for sure: it was there before the operation was sent. */
bool operation_came_after_job(const struct lifecycle *life)
{
	if (!life->operation.sent_ms) /* not yet, or by an earlier agent at an unknown time */
		return life->operation.step == STEP_WRITING;
	return !job_came_after(life, life->operation.sent_ms, life->operation.sent_unix_ms);
}

bool operation_is_lost(const struct lifecycle *life)
{
	int64_t patience_ms = LONG_SAVEPOINT_MS;

	/* MUT: what Flink may have accepted for the recovered job is lost as soon as the rest */
	if (life->operation.accepted_ms &&
	    job_came_after(life, life->operation.accepted_ms, life->operation.accepted_unix_ms))
		patience_ms = RECOVERED_MS;
	return job_was_recovered(life, life->journal.operation.job_unix_ms, patience_ms);
}
