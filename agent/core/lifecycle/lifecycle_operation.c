#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_claim.h"

/* How long a job may take to reach its final state after its stop savepoint, or after a cancel. */
#define ENDING_PATIENCE_MS 60000

/* A journal write that takes longer counts as failed for end_flink_unrecorded(). Flink, which may not reach its API server either,
 * loses its leadership after 13 s. */
#define UNRECORDED_MS 5000

#define ASK_AGAIN_MS      1000
#define CRON_PAUSE_MS     60000 /* before a failed savepoint of a cron line is retried */
#define SLOW_OPERATION_MS 10000 /* after this the result is polled less often */

/* ---- start and end of an operation ---- */

void operation_start(struct lifecycle *life, enum operation_kind kind, enum operation_reason reason,
		     const char *nonce)
{
	struct operation *operation = &life->journal.operation;
	const struct launch *launch = journal_launch(&life->journal);

	checkpoint_give_up(life, "superseded by a stop of the job");
	rescale_yield(life);
	operation_release(operation);
	operation->kind = kind;
	operation->reason = reason;
	rng_hex_id(&life->rng, operation->trigger_id);
	memcpy(operation->job_id, launch->job_id, JOB_ID_BYTES);
	operation->nonce = xstrdup(nonce);
	if (reason == REASON_MANUAL)
		journal_join_savepoint(&life->journal, operation->trigger_id);
	if (kind != OPERATION_CANCEL)
		operation->path = xstrdup(life->config->savepoint_dir);
	if (!xstrsame(operation->path, life->config->listed_savepoint_dir) &&
	    kind != OPERATION_CANCEL)
		operation->directory = xstrdup(life->config->listed_savepoint_dir);
	operation->drain = kind == OPERATION_STOP && life->config->drain_on_stop;
	operation->format = operation_format(life, kind, reason);
	operation->started_unix_ms = life->now_unix_ms;
	life->step = STEP_WRITING;
	life->asking = true;
	life->accepted_ms = life->savepoint_ms = 0;
	/* MUT: an operation is recorded without the job that it is for */
	operation->job_unix_ms = life->seen.job_unix_ms;
	life->sent_ms = 0;
	if (kind == OPERATION_CANCEL)
		life->operation_deadline_ms = life->now_ms + ENDING_PATIENCE_MS;
	life->savepoint_damaged = false;
	xstrset(&life->stop_location, NULL);
	xstrset(&life->operation_error, NULL);
	if (operation_ends_job(kind))
		enter(life, PHASE_STOPPING, "%s (%s)",
		      kind == OPERATION_STOP ? "stop with savepoint" : "cancel without savepoint",
		      operation_reason_name(reason));
	if (kind == OPERATION_CANCEL && cancel_by_kill(life))
		return;
	memcpy(emit_after_write(life, EFFECT_TRIGGER)->id, operation->trigger_id, JOB_ID_BYTES);
	if (!operation_ends_job(kind))
		note(life, NOTE_INFO, "savepoint (%s) requested", operation_reason_name(reason));
}

void operation_sent(struct lifecycle *life)
{
	life->sent_ms = life->now_ms;
	life->sent_unix_ms = life->now_unix_ms;
}

void operation_adopt(struct lifecycle *life)
{
	bool cancel = life->journal.operation.kind == OPERATION_CANCEL;

	/* Ask for the result first: the POST may have been accepted, and its trigger id is
	 * known. */
	life->step = cancel ? STEP_TRIGGERING : STEP_POLLING;
	life->operation_poll_ms = life->now_ms;
	if (cancel)
		life->operation_deadline_ms = life->now_ms + ENDING_PATIENCE_MS;
}

void operation_remember(struct lifecycle *life, const struct operation *operation)
{
	if (operation->reason == REASON_MANUAL)
		xstrset(&life->journal.savepoint_nonce_done, operation->nonce);
	if (operation->reason == REASON_RESTART)
		xstrset(&life->journal.restart_nonce_done, operation->nonce);
}

/* Record how it ended; the operation itself stays until operation_clear(). */
void operation_record(struct lifecycle *life, bool ok, const char *location, const char *error)
{
	const struct operation *operation = &life->journal.operation;
	struct operation_result *result = &life->journal.last_operation;

	operation_result_release(result);
	result->kind = operation->kind;
	result->reason = operation->reason;
	memcpy(result->trigger_id, operation->trigger_id, JOB_ID_BYTES);
	result->nonce = xstrdup(operation->nonce);
	result->ok = ok;
	result->format = operation->format;
	result->location = xstrdup(location);
	result->error = xstrdup(error);
	result->ended_unix_ms = life->now_unix_ms;
	if (operation->reason == REASON_MANUAL)
		journal_answer_savepoint(&life->journal, result);
	life->want_write = true;
	if (!ok)
		journal_set_error(&life->journal, error, life->now_unix_ms);
	note(life, ok ? NOTE_INFO : NOTE_ERROR, "%s (%s) %s%s%s%s%s",
	     operation_kind_name(operation->kind), operation_reason_name(operation->reason),
	     ok ? "done" : "failed", location ? ": " : "", location ? location : "",
	     error ? ": " : "", error ? error : "");
	tell_operation(life, result, operation->started_unix_ms);
}

void operation_enter(struct lifecycle *life, enum operation_step step)
{
	life->step = step;
	life->asking = false;
	life->operation_poll_ms = life->operation_deadline_ms = life->accepted_ms = 0;
	life->savepoint_damaged = false;
	xstrset(&life->stop_location, NULL);
	xstrset(&life->operation_error, NULL);
	life->want_write = true;
}

void operation_clear(struct lifecycle *life)
{
	withdraw(life, EFFECT_TRIGGER);
	operation_release(&life->journal.operation);
	operation_enter(life, STEP_NONE);
}

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

void operation_abandon(struct lifecycle *life, const char *why)
{
	if (life->step == STEP_NONE && life->journal.operation.kind == OPERATION_NONE)
		return;
	operation_record(life, false, life->stop_location, why);
	if (life->journal.operation.reason == REASON_MANUAL)
		operation_remember(life, &life->journal.operation);
	operation_clear(life);
}

/* ---- stop and cancel: the job's final state ---- */

/* Record the result of a stop or cancel whose job has ended. */
static void record_end_of_job(struct lifecycle *life)
{
	const struct operation *operation = &life->journal.operation;
	const char *error = NULL;

	if (operation->kind == OPERATION_STOP && !life->stop_location)
		error = "the job stopped, but the path of its savepoint is unknown; searching the storage for it";
	else if (operation->kind == OPERATION_STOP && life->savepoint_damaged)
		error = life->operation_error ? life->operation_error : "its savepoint is damaged";
	/* without a known savepoint or a reported cancel, the job may have finished on its own */
	if (operation->kind == OPERATION_CANCEL ? life->seen.state == JOB_CANCELED
						: life->stop_location != NULL)
		launch_end_is_known(life, operation->job_id);
	operation_record(life, !error, life->stop_location, error);
	operation_remember(life, operation);
}

/* The job has ended as requested. The operation stays in the journal until Flink has exited: if the
 * agent dies in between, the next one finds it and does not misread the end. */
void operation_stopped(struct lifecycle *life, const char *how)
{
	if (life->end_wanted)
		return;
	record_end_of_job(life);
	life->step = STEP_ENDING;
	life->operation_poll_ms = 0;
	life->operation_deadline_ms = life->now_ms + UNRECORDED_MS;
	handover_stopped(life);
	end_flink(life, true, false, "%s", how);
	if (life->journal_broken)
		end_flink_unrecorded(life);
}

static void wait_for_end(struct lifecycle *life)
{
	life->step = STEP_ENDING;
	life->operation_poll_ms = 0;
	if (!life->operation_deadline_ms)
		life->operation_deadline_ms = life->now_ms + ENDING_PATIENCE_MS;
	life->poll_ms = life->now_ms;
}

/* As Flink reports it. After a failed stop the job continues from its savepoint, and may finish. */
static bool ended_by_stop(const struct lifecycle *life)
{
	return life->stop_location && (!life->operation_error || life->savepoint_damaged);
}

/* Flink says that a stop is done when the job has ended. One that runs then was recovered (end_job_that_runs_again()). */
static bool runs_after_stop(const struct lifecycle *life, const struct view *view)
{
	int64_t stopped_unix_ms = life->journal.operation.job_unix_ms;

	if (life->step != STEP_ENDING)
		return false;
	if (journal_launch_const(&life->journal)->job_ended)
		return true;
	/* by Flink's word, not only by the savepoint */
	return life->stop_location && !life->operation_error && stopped_unix_ms &&
	       view->job_unix_ms && view->job_unix_ms != stopped_unix_ms;
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
	if (life->step == STEP_ENDING && !ended_by_stop(life) && finished_by_itself(view)) {
		if (!end_is_unclear(life, view))
			job_finished_first(life);
		return true;
	}
	/* the result has the path of the savepoint: read it before Flink exits */
	if (life->step == STEP_ENDING)
		operation_stopped(life, life->operation_error ? life->operation_error
							      : "stopped with a savepoint");
	return true;
}

void operation_flink_gone(struct lifecycle *life)
{
	const struct operation_result *last = &life->journal.last_operation;
	enum operation_kind kind = life->journal.operation.kind;
	bool saves = kind == OPERATION_SAVEPOINT || kind == OPERATION_STOP;

	checkpoint_flink_gone(life);
	stop_flink_gone(life);
	if (kind == OPERATION_NONE)
		return;
	/* its success is recorded; the previous agent only waited for Flink's exit */
	if (last->ok && !strcmp(last->trigger_id, life->journal.operation.trigger_id)) {
		operation_clear(life);
		return;
	}
	if (life->step == STEP_ENDING && (life->end_wanted || life->stop_location)) {
		if (!life->end_wanted) /* it exited before its final state was seen */
			record_end_of_job(life);
		if (kind == OPERATION_STOP && !life->stop_location)
			operation_begin_settling(life);
		else
			operation_clear(life);
		return;
	}
	/* one that was never sent has left nothing */
	if (saves && !withdraw(life, EFFECT_TRIGGER))
		operation_begin_settling(life);
	else
		operation_abandon(life, "Flink exited during the operation");
}

/* ---- answers ---- */

static void inspect(struct lifecycle *life, const char *location)
{
	if (!location) {
		operation_failed(life, NULL, "Flink reported success without a savepoint path");
		return;
	}
	xstrset(&life->stop_location, location);
	life->step = STEP_INSPECTING;
	life->operation_poll_ms = 0;
	emit(life, EFFECT_INSPECT)->text = xstrdup(location);
}

/* The JobManager does not know the trigger id. */
static void unknown_id(struct lifecycle *life)
{
	bool final = job_state_is_final(life->seen.state);

	if (life->journal.operation.kind == OPERATION_STOP && life->seen.job_present &&
	    life->seen.state == JOB_FINISHED) {
		wait_for_end(life);
		return;
	}
	if (life->journal.operation.kind == OPERATION_STOP && final && life->seen.job_present) {
		operation_stopped(life, "the job has stopped");
		return;
	}
	if (life->accepted_ms) {
		operation_failed(life, NULL, "Flink has forgotten the operation");
		return;
	}
	/* The POST of an earlier agent was never accepted: the same id makes it safe to repeat. */
	life->step = STEP_TRIGGERING;
	life->operation_poll_ms = life->now_ms + ASK_AGAIN_MS;
}

static void flink_says_failed(struct lifecycle *life, const struct event *event)
{
	const char *error =
		event->operation.error ? event->operation.error : "Flink reports no reason";
	enum operation_kind kind = life->journal.operation.kind;

	if (kind == OPERATION_CANCEL) {
		/* unknown or already in a final state: cancel keeps no state, so ending Flink is
		 * enough */
		operation_stopped(life, error);
		return;
	}
	if (event->operation.location) {
		/* the savepoint is complete although the stop failed: Flink fails the job then */
		xstrset(&life->operation_error, error);
		inspect(life, event->operation.location);
		return;
	}
	if (kind == OPERATION_STOP && life->seen.job_present && life->seen.state == JOB_FINISHED) {
		/* stopped or finished: its last completed savepoint tells */
		xstrset(&life->operation_error, error);
		wait_for_end(life);
		return;
	}
	if (kind == OPERATION_STOP && life->seen.job_present && life->seen.state == JOB_CANCELED) {
		operation_stopped(life, error);
		return;
	}
	operation_failed(life, NULL, error);
}

static void ask_again(struct lifecycle *life, enum operation_status status)
{
	int64_t running_ms = life->now_unix_ms - life->journal.operation.started_unix_ms;
	int64_t wait_ms = life->config->poll_fast_ms;

	if (status == STATUS_UNREACHABLE || running_ms > SLOW_OPERATION_MS)
		wait_ms = ASK_AGAIN_MS;
	life->operation_poll_ms = life->now_ms + wait_ms;
}

void on_operation(struct lifecycle *life, const struct event *event)
{
	const struct operation *operation = &life->journal.operation;
	enum operation_status status = event->operation.status;

	if (!life->fenced && event->operation.location)
		operation_told(life, event);
	if (operation->kind == OPERATION_NONE || !event->operation.trigger_id ||
	    strcmp(operation->trigger_id, event->operation.trigger_id) != 0)
		return;
	life->asking = false;
	if (life->fenced)
		return;
	if (life->step != STEP_TRIGGERING && life->step != STEP_POLLING &&
	    life->step != STEP_WRITING)
		return;
	if (life->step == STEP_WRITING)
		life->step = STEP_TRIGGERING;
	switch (status) {
	case STATUS_ACCEPTED:
		life->accepted_ms = life->now_ms;
		life->accepted_unix_ms = life->now_unix_ms;
		life->step = STEP_POLLING;
		if (operation->kind == OPERATION_CANCEL)
			wait_for_end(life);
		else
			ask_again(life, status);
		break;
	case STATUS_IN_PROGRESS:
		if (operation_is_lost(life))
			operation_failed(life, NULL, LOST_WITH_JOB_MASTER);
		else
			ask_again(life, status);
		break;
	case STATUS_UNREACHABLE:
		ask_again(life, status);
		break;
	case STATUS_COMPLETED:
		launch_has_left_state(life, journal_launch(&life->journal));
		inspect(life, event->operation.location);
		break;
	case STATUS_FAILED:
		flink_says_failed(life, event);
		break;
	case STATUS_UNKNOWN_ID:
		unknown_id(life);
		break;
	}
}

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

void on_inspected(struct lifecycle *life, const struct event *event)
{
	const char *error = event->inspected.error;
	char *location, *why;

	if (event->inspected.background) {
		review_inspected(life, event);
		return;
	}
	if (life->fenced || retention_inspected(life, event) || stall_inspected(life, event) ||
	    last_resort_inspected(life, event) || life->step != STEP_INSPECTING ||
	    !life->stop_location || !event->inspected.path ||
	    strcmp(event->inspected.path, life->stop_location) != 0)
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
		wait_for_end(life);
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

bool stop_is_reported(const struct lifecycle *life)
{
	/* MUT: a stop that Flink has reported fails because the end of its job was not seen in time */
	return life->journal.operation.kind == OPERATION_STOP &&
	       (life->step == STEP_ENDING || life->step == STEP_INSPECTING) && ended_by_stop(life);
}

static void stopped_unseen(struct lifecycle *life)
{
	life->seen.stopped_ms = life->now_ms;
	operation_stopped(
		life,
		"stopped with a savepoint; the grace period was over before the job was seen to end");
}

static void deadline_passed(struct lifecycle *life)
{
	enum operation_kind kind = life->journal.operation.kind;

	if (life->end_wanted)
		end_flink_unrecorded(life);
	else if (kind == OPERATION_CANCEL)
		operation_stopped(life, "the job does not react to cancel: ending Flink");
	else if (life->terminating && stop_is_reported(life))
		stopped_unseen(life);
	else if (life->terminating)
		operation_failed(life, life->stop_location, "the grace period is over");
	else if (life->step == STEP_ENDING)
		operation_failed(life, life->stop_location,
				 "the savepoint was taken, but the job did not stop");
}

void operation_tick(struct lifecycle *life)
{
	const struct operation *operation = &life->journal.operation;
	bool triggers;

	if (life->operation_deadline_ms && life->now_ms >= life->operation_deadline_ms) {
		life->operation_deadline_ms = 0;
		deadline_passed(life);
	}
	if (!life->operation_poll_ms || life->now_ms < life->operation_poll_ms)
		return;
	life->operation_poll_ms = 0;
	if (life->asking || (life->step != STEP_TRIGGERING && life->step != STEP_POLLING))
		return;
	life->asking = true;
	triggers = life->step == STEP_TRIGGERING;
	if (triggers && !life->sent_ms) /* Flink does not know what was sent earlier */
		operation_sent(life);
	memcpy(emit(life, triggers ? EFFECT_TRIGGER : EFFECT_POLL_OPERATION)->id,
	       operation->trigger_id, JOB_ID_BYTES);
}
