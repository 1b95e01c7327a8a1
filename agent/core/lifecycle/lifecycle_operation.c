/*
 * A savepoint, a stop or a cancel: its intent is recorded before Flink is asked, and its result when it is known. What Flink
 * answers is lifecycle_operation_answer.c.
 */
#include "core/lifecycle/lifecycle_operation.h"

#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_asks.h"
#include "core/lifecycle/lifecycle_claim.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_ended.h"
#include "core/lifecycle/lifecycle_handover_give.h"
#include "core/lifecycle/lifecycle_notice.h"
#include "core/lifecycle/lifecycle_rescale.h"
#include "core/lifecycle/lifecycle_take_checkpoint.h"

/* A journal write that takes longer counts as failed for end_flink_unrecorded(). Flink, which may not reach its API server either,
 * loses its leadership after 13 s. */
#define UNRECORDED_MS 5000

/* ---- start and end of an operation ---- */

static enum ask_kind ask_kind(enum operation_kind kind)
{
	return kind == OPERATION_STOP     ? ASK_STOP
	       : kind == OPERATION_CANCEL ? ASK_CANCEL
					  : ASK_SAVEPOINT;
}

/* With a cancel, too (signal_deletes_checkpoints()). */
static bool cancel_by_kill(struct lifecycle *life)
{
	/* MUT: a cancel deletes the checkpoints of the job */
	if (journal_launch_const(&life->journal)->job_ended ||
	    !effective_cancel_deletes(journal_settings(&life->journal)))
		return false;
	operation_stopped(life,
			  "ended without a cancel, with which Flink would delete the checkpoints");
	return true;
}

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
	life->savepoint_ms = 0;
	/* MUT: an operation is recorded without the job that it is for */
	operation->job_unix_ms = life->seen.job_unix_ms;
	if (operation_ends_job(kind))
		enter(life, PHASE_STOPPING, "%s (%s)",
		      kind == OPERATION_STOP ? "stop with savepoint" : "cancel without savepoint",
		      operation_reason_name(reason));
	if (kind == OPERATION_CANCEL && cancel_by_kill(life))
		return;
	ask_begin(life, ask_kind(kind), operation->trigger_id, NULL);
	if (!operation_ends_job(kind))
		note(life, NOTE_INFO, "savepoint (%s) requested", operation_reason_name(reason));
}

void operation_adopt(struct lifecycle *life, enum ask_kind kind)
{
	const struct operation *operation = &life->journal.operation;

	if (operation->kind != OPERATION_NONE && ask_kind(operation->kind) == kind)
		ask_adopt(life, kind, operation->trigger_id, operation->started_unix_ms);
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

static void operation_enter(struct lifecycle *life, enum ask_step step)
{
	ask_enter(&life->operation, step);
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

void operation_abandon(struct lifecycle *life, const char *why)
{
	if (life->operation.step == STEP_NONE && life->journal.operation.kind == OPERATION_NONE)
		return;
	operation_record(life, false, life->stop_location, why);
	if (life->journal.operation.reason == REASON_MANUAL)
		operation_remember(life, &life->journal.operation);
	operation_clear(life);
}

/* ---- stop and cancel: the job's final state ---- */

/* Record the result of a stop or cancel whose job has ended. */
void operation_record_end(struct lifecycle *life)
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
	operation_record_end(life);
	life->operation.step = STEP_ENDING;
	life->operation.poll_ms = 0;
	life->operation.deadline_ms = life->now_ms + UNRECORDED_MS;
	handover_stopped(life);
	end_flink(life, true, false, "%s", how);
	if (life->journal_broken)
		end_flink_unrecorded(life);
}

void operation_begin_settling(struct lifecycle *life)
{
	operation_enter(life, STEP_SETTLING);
}

enum snapshot_origin operation_origin(const struct operation *operation)
{
	if (operation->kind == OPERATION_STOP)
		return ORIGIN_STOP;
	/* the seed of a transition is one more like those: it was not requested by name */
	return operation->reason == REASON_PERIODIC || operation->reason == REASON_UPGRADE
		       ? ORIGIN_PERIODIC
		       : ORIGIN_MANUAL;
}
