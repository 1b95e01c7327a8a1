/*
 * A savepoint, a stop or a cancel (lifecycle_operation.c) in flight: what Flink answers, what a poll and an inspection
 * show of it, and its deadlines.
 */
#include "core/lifecycle/lifecycle_operation_answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_ended.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_ids.h"
#include "core/lifecycle/lifecycle_loss.h"
#include "core/lifecycle/lifecycle_operation.h"
#include "core/lifecycle/lifecycle_periodic.h"
#include "core/lifecycle/lifecycle_settle.h"
#include "core/lifecycle/lifecycle_stop_failed.h"
#include "core/lifecycle/lifecycle_stopping.h"

#define CRON_PAUSE_MS 60000 /* before a failed savepoint of a cron line is retried */

/* How long a job may take to reach its final state after its stop savepoint, or after a cancel. */
#define ENDING_PATIENCE_MS 60000

/* ---- it has failed, or the job runs on ---- */

/* The job continues. A failed periodic savepoint is retried sooner than after a whole interval. */
static void run_on(struct lifecycle *life, bool ok, const char *why)
{
	const struct lifecycle_config *config = life->config;
	int64_t pause_ms = config->savepoints.has_cron ? CRON_PAUSE_MS : ASK_AGAIN_MS;
	enum operation_reason reason = life->journal.operation.reason;
	cleanup_free char *nonce = xstrdup(life->journal.operation.nonce);
	/* the phase is Stopping too when the job ends while a savepoint of it is still being read */
	bool stop = operation_ends_job(life->journal.operation.kind);

	operation_clear(life);
	if (life->terminating)
		return;
	schedule_savepoint_after(life, ok ? 0 : config->savepoints.interval_ms / 10 + pause_ms);
	if (!ok && stop)
		handover_stop_failed(life, why);
	/* the job may have ended meanwhile: that is an outcome, and the stop is not repeated */
	if (!ok)
		life->poll_ms = life->now_ms + config->poll_fast_ms;
	if (stop)
		stop_failed(life, reason, nonce, why);
}

/* One failed attempt of Flink is no answer to a person yet. */
static bool retry_savepoint(struct lifecycle *life, const char *error, bool *ret_given_up)
{
	const struct operation *operation = &life->journal.operation;
	const struct lifecycle_config *config = life->config;
	bool retried;

	*ret_given_up = true;
	/* MUT: a requested savepoint is not retried */
	if (life->terminating || operation->kind != OPERATION_SAVEPOINT ||
	    operation->reason != REASON_MANUAL)
		return false;
	retried = journal_retry_savepoint(&life->journal, operation->trigger_id,
					  config->savepoint_retries, ret_given_up);
	if (!retried)
		return false;
	life->savepoint_retry_ms = life->now_ms + config->savepoint_retry_ms;
	life->want_write = true;
	note(life, NOTE_WARNING, "savepoint (manual) failed: %s; retrying in %lld s", error,
	     (long long)(config->savepoint_retry_ms / 1000));
	return true;
}

static void operation_failed(struct lifecycle *life, const char *location, const char *error)
{
	struct operation *operation = &life->journal.operation;
	bool given_up, retried = retry_savepoint(life, error, &given_up);

	if (given_up)
		operation_record(life, false, location, error);
	/* A savepoint that failed for good answers its request. A restart and a suspend remain
	 * requested: they are retried. */
	if (operation->reason == REASON_MANUAL && !retried)
		operation_remember(life, operation);
	if (life->terminating) {
		stopping_failed(life, operation->kind, error);
		operation_clear(life);
		return;
	}
	run_on(life, false, error);
}

/* ---- stop and cancel: the job's final state ---- */

void operation_await_end(struct lifecycle *life)
{
	life->operation.step = STEP_ENDING;
	life->operation.poll_ms = 0;
	if (!life->operation.deadline_ms)
		life->operation.deadline_ms = life->now_ms + ENDING_PATIENCE_MS;
	life->poll_ms = life->now_ms;
}

/* Flink says that a stop is done when the job has ended. One that runs then was recovered (end_job_that_runs_again()). */
static bool runs_after_stop(const struct lifecycle *life, const struct view *view)
{
	int64_t stopped_unix_ms = life->journal.operation.job_unix_ms;

	if (life->operation.step != STEP_ENDING)
		return false;
	if (journal_launch_const(&life->journal)->job_ended)
		return true;
	/* by Flink's word, not only by the savepoint */
	return life->stop_location && !life->operation_error && stopped_unix_ms &&
	       view->job_unix_ms && view->job_unix_ms != stopped_unix_ms;
}

static void job_finished_first(struct lifecycle *life)
{
	bool cancel = life->journal.operation.kind == OPERATION_CANCEL;

	operation_record(life, cancel, life->stop_location,
			 cancel ? NULL : "the job finished before it could be stopped");
	operation_remember(life, &life->journal.operation);
	operation_clear(life);
	launch_end_is_known(life, journal_launch(&life->journal)->job_id);
	outcome_set(life, OUTCOME_FINISHED, "the job finished");
	end_flink(life, true, false, "the job is FINISHED: it finished before it could be %s",
		  cancel ? "cancelled" : "stopped");
}

bool operation_view(struct lifecycle *life, const struct view *view)
{
	enum operation_kind kind = life->journal.operation.kind;
	bool final = job_state_is_final(view->state);

	if (kind != OPERATION_STOP && kind != OPERATION_CANCEL)
		return false;
	if (!final) {
		/* MUT: a job that was recovered after its stop counts as one that did not stop */
		if (runs_after_stop(life, view))
			operation_stopped(life,
					  "stopped with a savepoint, and then recovered by Flink");
		return true;
	}
	if (kind == OPERATION_CANCEL && view->state == JOB_FINISHED) {
		job_finished_first(life);
		return true;
	}
	if (kind == OPERATION_CANCEL) {
		operation_stopped(life, "the job is cancelled");
		return true;
	}
	if (life->operation.step == STEP_ENDING && !stop_has_ended_job(life) &&
	    finished_by_itself(view)) {
		if (!end_is_unclear(life, view))
			job_finished_first(life);
		return true;
	}
	/* the result has the path of the savepoint: read it before Flink exits */
	if (life->operation.step == STEP_ENDING)
		operation_stopped(life, life->operation_error ? life->operation_error
							      : "stopped with a savepoint");
	return true;
}

/* ---- what Flink says ---- */

static void inspect(struct lifecycle *life, const char *location)
{
	if (!location) {
		operation_failed(life, NULL, "Flink reported success without a savepoint path");
		return;
	}
	xstrset(&life->stop_location, location);
	life->operation.step = STEP_INSPECTING;
	life->operation.poll_ms = 0;
	ask_begin(life, ASK_RESULT, NULL, location);
}

void operation_completed(struct lifecycle *life, const struct answer *answer)
{
	launch_has_left_state(life, journal_launch(&life->journal));
	inspect(life, answer->location);
}

void operation_unknown(struct lifecycle *life)
{
	if (life->operation.accepted_ms)
		operation_failed(life, NULL, "Flink has forgotten the operation");
	else
		ask_repeat(life, &life->operation);
}

void stop_unknown(struct lifecycle *life)
{
	if (life->seen.job_present && life->seen.state == JOB_FINISHED)
		operation_await_end(life);
	else if (life->seen.job_present && job_state_is_final(life->seen.state))
		operation_stopped(life, "the job has stopped");
	else
		operation_unknown(life);
}

void savepoint_refused(struct lifecycle *life, const char *location, const char *error)
{
	if (!location) {
		operation_failed(life, NULL, error);
		return;
	}
	/* the savepoint is complete although the stop failed: Flink fails the job then */
	xstrset(&life->operation_error, error);
	inspect(life, location);
}

void stop_refused(struct lifecycle *life, const char *location, const char *error)
{
	if (!location && life->seen.job_present && life->seen.state == JOB_FINISHED) {
		/* stopped or finished: its last completed savepoint tells */
		xstrset(&life->operation_error, error);
		operation_await_end(life);
	} else if (!location && life->seen.job_present && life->seen.state == JOB_CANCELED) {
		operation_stopped(life, error);
	} else {
		savepoint_refused(life, location, error);
	}
}

/* Unknown or already in a final state: cancel keeps no state, so ending Flink is enough. */
void cancel_refused(struct lifecycle *life, const char *location, const char *error)
{
	(void)location;
	operation_stopped(life, error);
}

bool operation_lost(struct lifecycle *life)
{
	if (!operation_is_lost(life))
		return false;
	operation_failed(life, NULL, LOST_WITH_JOB_MASTER);
	return true;
}

/* ---- the savepoint was inspected ---- */

static void record_savepoint(struct lifecycle *life, const struct event *event)
{
	const struct operation *operation = &life->journal.operation;
	const struct snapshot *told = journal_snapshot(&life->journal, life->stop_location);
	struct snapshot snapshot = {
		.path = life->stop_location,
		.kind = SNAPSHOT_SAVEPOINT,
		.origin = operation_origin(operation),
		.format = operation->format,
		.checkpoint_id = event->inspected.readable ? event->inspected.checkpoint_id
				 : told                    ? told->checkpoint_id
							   : 0,
		.completed_unix_ms = life->now_unix_ms,
		.size_bytes = event->inspected.readable ? event->inspected.size_bytes : -1,
		.file_count = event->inspected.readable ? event->inspected.file_count : -1,
		.verified = event->inspected.readable && event->inspected.complete,
	};

	snapshot.verified_unix_ms = snapshot.verified ? life->now_unix_ms : 0;
	memcpy(snapshot.job_id, operation->job_id, JOB_ID_BYTES);
	journal_add_snapshot(&life->journal, &snapshot);
	if (snapshot.verified)
		loss_saved(life, snapshot.path, operation->started_unix_ms);
}

void operation_read(struct lifecycle *life, const struct event *event)
{
	const char *error = event->inspected.error;
	char *location, *why;

	if (life->operation.step != STEP_INSPECTING)
		return;
	if (!event->inspected.readable)
		note(life, NOTE_WARNING, "cannot verify %s now: %s", life->stop_location,
		     error ? error : "");
	if (!event->inspected.readable || event->inspected.complete)
		record_savepoint(life, event);
	else
		operation_disprove(life, life->stop_location);
	if (life->journal.operation.kind == OPERATION_STOP) {
		if (event->inspected.readable && !event->inspected.complete) {
			life->savepoint_damaged = true;
			free(life->operation_error);
			life->operation_error = xasprintf(
				"the savepoint of the stop is damaged: %s", error ? error : "");
		}
		operation_await_end(life);
		return;
	}
	if (event->inspected.readable && !event->inspected.complete) {
		location = xstrdup(life->stop_location);
		why = xasprintf("Flink reported it as complete, but it is not: %s",
				error ? error : "");
		operation_failed(life, location, why);
		free(location);
		free(why);
		return;
	}
	operation_record(life, true, life->stop_location, NULL);
	operation_remember(life, &life->journal.operation);
	run_on(life, true, NULL);
}

/* ---- time ---- */

static void stopped_unseen(struct lifecycle *life)
{
	life->seen.stopped_ms = life->now_ms;
	operation_stopped(
		life,
		"stopped with a savepoint; the grace period was over before the job was seen to end");
}

void operation_late(struct lifecycle *life)
{
	if (life->end_wanted)
		end_flink_unrecorded(life);
	else if (life->terminating && stop_is_reported(life))
		stopped_unseen(life);
	else if (life->terminating)
		operation_failed(life, life->stop_location, "the grace period is over");
	else if (life->operation.step == STEP_ENDING)
		operation_failed(life, life->stop_location,
				 "the savepoint was taken, but the job did not stop");
}

void cancel_late(struct lifecycle *life)
{
	operation_stopped(life, "the job does not react to cancel: ending Flink");
}
