#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle.h"
#include "core/lifecycle/lifecycle_adopt.h"
#include "core/lifecycle/lifecycle_cleanup.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_end.h"
#include "core/lifecycle/lifecycle_exited.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/lifecycle/lifecycle_fence.h"
#include "core/lifecycle/lifecycle_flip.h"
#include "core/lifecycle/lifecycle_halt.h"
#include "core/lifecycle/lifecycle_handover.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_launch.h"
#include "core/lifecycle/lifecycle_lease.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_loss.h"
#include "core/lifecycle/lifecycle_notice.h"
#include "core/lifecycle/lifecycle_operation.h"
#include "core/lifecycle/lifecycle_operation_answer.h"
#include "core/lifecycle/lifecycle_outside.h"
#include "core/lifecycle/lifecycle_pace.h"
#include "core/lifecycle/lifecycle_recorded.h"
#include "core/lifecycle/lifecycle_rescale.h"
#include "core/lifecycle/lifecycle_resolve.h"
#include "core/lifecycle/lifecycle_retention.h"
#include "core/lifecycle/lifecycle_review.h"
#include "core/lifecycle/lifecycle_stall.h"
#include "core/lifecycle/lifecycle_started.h"
#include "core/lifecycle/lifecycle_stop_failed.h"
#include "core/lifecycle/lifecycle_stopping.h"
#include "core/lifecycle/lifecycle_take_checkpoint.h"
#include "core/lifecycle/lifecycle_tasks.h"
#include "core/lifecycle/lifecycle_transition_gates.h"
#include "core/lifecycle/lifecycle_transition_wishes.h"
#include "core/lifecycle/lifecycle_view.h"

/* ---- desired state ---- */

/* A repeated request is not a new one, and a request that was there at the first reading may be of
 * any age. Dating one now that was carried out long ago would mean that its author knew its
 * consequences. */
static void date_restore(struct restore_request *restore, const struct restore_request *wanted,
			 unsigned fields, int64_t now_unix_ms)
{
	if (restore->kind != RESTORE_NONE && restore->token && wanted->token &&
	    !strcmp(restore->token, wanted->token))
		return;
	restore->asked_unix_ms = fields & CONTROL_STANDING ? 0 : now_unix_ms;
	restore->read_back = false;
}

static void take_intent(struct journal *journal, const struct intent *wanted, unsigned fields,
			int64_t now_unix_ms)
{
	struct intent *intent = &journal->intent;

	if (fields & CONTROL_STATE)
		intent->state = wanted->state;
	if (fields & CONTROL_DO_NOT_RESTART)
		intent->do_not_restart = wanted->do_not_restart;
	if ((fields & CONTROL_SAVEPOINT) && wanted->savepoint_nonce)
		journal_ask_savepoint(journal, wanted->savepoint_nonce);
	if (fields & CONTROL_RESTART)
		xstrset(&intent->restart_nonce, wanted->restart_nonce);
	if (fields & CONTROL_RESTORE) {
		date_restore(&intent->restore, &wanted->restore, fields, now_unix_ms);
		intent->restore.kind = wanted->restore.kind;
		intent->restore.allow_non_restored = wanted->restore.allow_non_restored;
		intent->restore.foreign = wanted->restore.foreign;
		xstrset(&intent->restore.token, wanted->restore.token);
		xstrset(&intent->restore.path, wanted->restore.path);
		xstrset(&intent->restore.generation, wanted->restore.generation);
	}
}

/* A restore request applies to the next launch. While a job runs and is not being stopped, the next
 * launch may be a recovery some days later, which would then unexpectedly go back. */
bool lifecycle_refuses_restore(const struct lifecycle *life)
{
	return life->launch_step > LAUNCH_WRITING &&
	       (life->phase == PHASE_RUNNING || life->phase == PHASE_LAUNCHING) &&
	       life->journal.intent.state == DESIRED_RUNNING;
}

/* A new request replaces the previous one, and a launch request without a restore withdraws it:
 * else one that cannot be carried out would hold forever. A rejected one changes nothing. */
static bool gives_up_restore(const struct journal *journal, const struct event *event,
			     unsigned fields)
{
	if (fields & CONTROL_RESTORE)
		return !xstrsame(event->control.intent.restore.token,
				 journal->intent.restore.token);
	return (fields & CONTROL_NEW_START) && !(event->control.fields & CONTROL_RESTORE);
}

static void on_control(struct lifecycle *life, const struct event *event)
{
	unsigned fields = event->control.fields;

	/* MUT: a restore request is accepted while the job runs */
	if ((fields & CONTROL_RESTORE) && lifecycle_refuses_restore(life)) {
		fields &= ~(unsigned)CONTROL_RESTORE;
		note(life, NOTE_WARNING,
		     "restore request rejected while the job is running: suspend or cancel first");
	}
	if ((fields & CONTROL_DO_NOT_RESTART) && !event->control.intent.do_not_restart)
		life->lifted_ms = life->now_ms;
	if (!transition_keeps_restore(life, fields) &&
	    gives_up_restore(&life->journal, event, fields))
		journal_give_up_restore(&life->journal, life->config->generation);
	take_intent(&life->journal, &event->control.intent, fields, life->now_unix_ms);
	if ((fields & CONTROL_CHECKPOINT) && event->control.checkpoint_nonce)
		journal_ask_checkpoint(&life->journal, event->control.checkpoint_nonce,
				       event->control.checkpoint_full);
	if (fields & CONTROL_PARALLELISM)
		rescale_take(life, &event->control.intent.parallelism);
	transition_wished(life, event);
	if (fields & CONTROL_ACKNOWLEDGE)
		loss_acknowledge(life, event->control.acknowledge_nonce);
	if (fields & CONTROL_NEW_START) {
		outcome_release(&life->journal.outcome);
		life->journal.failure_count = 0;
		life->journal.failures_alike = 0;
		journal_forgive_generation(&life->journal, life->config->generation);
		handover_forgive(life);
	}
	/* a launch whose record is still being written waits until this is recorded, too */
	for (size_t i = 0; i < life->deferred.count; i++)
		if (life->deferred.list[i].type == EFFECT_LAUNCH)
			life->deferred.list[i].sequence = 0;
	if ((fields & CONTROL_RESTORE) && life->launch_step == LAUNCH_WRITING) {
		launch_withdraw(life); /* it would start from something else */
		resolve_start(life, "the desired state has changed");
	}
	if (life->cause == CAUSE_STOP_FAILED && life->journal.intent.state == DESIRED_RUNNING &&
	    !journal_restart_wanted(&life->journal))
		enter(life, life->phase, "the job continues, and no stop is requested any more");
	if (fields & (CONTROL_STATE | CONTROL_RESTART))
		life->stop_failures = 0;
	stop_withdrawn(life);
	/* a person does not wait for a backoff */
	life->stop_retry_ms = life->savepoint_retry_ms = 0;
	life->holds = 0;
	life->want_write = true;
	if (life->observing)
		life->observe_again = true;
	else if (life->retry_ms)
		life->retry_ms = life->now_ms;
}

/* Start the operation that is due, unless one is in flight. */
static void pursue_running(struct lifecycle *life)
{
	const struct intent *intent = &life->journal.intent;
	bool may_stop = !life->stop_retry_ms && !life->last_resort.step;

	if (transition_defers(life))
		return;
	if (intent->state == DESIRED_CANCELLED) {
		/* its job has ended, and Flink cleans up after it */
		/* MUT: a cancel ends Flink whose job has stopped with a savepoint at once */
		if (stop_is_reported(life))
			return;
		if (life->step != STEP_NONE && life->journal.operation.kind != OPERATION_CANCEL)
			operation_abandon(life, "superseded by cancel");
		if (life->step == STEP_NONE)
			operation_start(life, OPERATION_CANCEL, REASON_CANCEL, NULL);
	} else if (life->step != STEP_NONE || life->phase != PHASE_RUNNING ||
		   life->rescale.asking) {
		return;
	} else if (intent->state == DESIRED_SUSPENDED) {
		if (may_stop)
			operation_start(life, OPERATION_STOP, REASON_SUSPEND, NULL);
	} else if (journal_restart_wanted(&life->journal)) {
		if (may_stop)
			operation_start(life, OPERATION_STOP, REASON_RESTART,
					intent->restart_nonce);
	} else if (checkpoint_in_flight(life)) {
		stall_pursue(life); /* it may be one more that does not complete */
	} else if (journal_savepoint_wanted(&life->journal) && !life->savepoint_retry_ms) {
		operation_start(life, OPERATION_SAVEPOINT, REASON_MANUAL, intent->savepoint_nonce);
	} else if (rescale_pursue(life)) {
		return;
	} else if (life->savepoint_ms && life->now_ms >= life->savepoint_ms &&
		   !transition_saves_not(life) && life->seen.state == JOB_RUNNING &&
		   !life->seen.tasks_missing) {
		operation_start(life, OPERATION_SAVEPOINT, REASON_PERIODIC, NULL);
	} else if (!stall_pursue(life) && !checkpoint_pursue(life)) {
		retention_pursue(life);
		review_pursue(life);
	}
}

/* A savepoint was requested while no job is running or about to run: answer it. */
static void refuse_savepoint(struct lifecycle *life)
{
	struct journal *journal = &life->journal;
	struct operation *operation = &journal->operation;
	char *error;

	if (journal->operation.kind != OPERATION_NONE || !journal_savepoint_wanted(journal))
		return;
	operation->kind = OPERATION_SAVEPOINT;
	operation->reason = REASON_MANUAL;
	operation->nonce = xstrdup(journal->intent.savepoint_nonce);
	error = xasprintf("no job is running (%s), so no savepoint can be taken",
			  phase_name(life->phase));
	operation_abandon(life, error);
	free(error);
}

/* No Flink runs: park when no launch is desired, resolve when one is desired again. */
static void pursue_idle(struct lifecycle *life)
{
	struct decision decision;
	bool parked = resolve_parked(&life->journal, &life->config->policy, &decision);

	if (parked && life->step == STEP_SETTLING && (life->observing || life->retry_ms))
		return; /* no launch is desired, but an operation must still be settled */
	if (parked && life->step != STEP_SETTLING) {
		park(life, &decision);
		refuse_savepoint(life);
		checkpoint_refuse(life);
		return;
	}
	if (life->phase == PHASE_RESOLVING || (life->phase == PHASE_HOLDING && life->retry_ms) ||
	    life->observing)
		return;
	resolve_start(life, "a launch is desired");
}

/* Level-triggered: compare the desired with the actual state, whatever the event. */
static void pursue(struct lifecycle *life)
{
	if (life->fenced || life->foreign || life->terminating)
		return;
	switch (life->phase) {
	case PHASE_LAUNCHING:
	case PHASE_RUNNING:
		if (life->launch_step == LAUNCH_LIVE && !life->end_wanted)
			pursue_running(life);
		break;
	case PHASE_STOPPING: /* a cancel overtakes a stop that does not end */
		if (life->journal.operation.kind == OPERATION_STOP && !life->end_wanted &&
		    life->journal.intent.state == DESIRED_CANCELLED)
			pursue_running(life);
		break;
	case PHASE_RESOLVING:
	case PHASE_HOLDING:
	case PHASE_SUSPENDED:
	case PHASE_CANCELLED:
	case PHASE_FINISHED:
	case PHASE_FAILED:
		pursue_idle(life);
		break;
	default:
		break;
	}
}

/* ---- time ---- */

static bool due(struct lifecycle *life, int64_t *deadline_ms)
{
	if (!*deadline_ms || life->now_ms < *deadline_ms)
		return false;
	*deadline_ms = 0;
	return true;
}

static void on_tick(struct lifecycle *life)
{
	if (due(life, &life->journal_retry_ms))
		life->want_write = true;
	if (due(life, &life->note_ms))
		life->want_write = true;
	if (due(life, &life->retry_ms) && !life->observing)
		observe(life);
	if (due(life, &life->poll_ms))
		poll_now(life);
	due(life, &life->stop_retry_ms);
	due(life, &life->savepoint_retry_ms);
	due(life, &life->disposal_ms);
	due(life, &life->rescale.again_ms);
	/* slightly early if a poll wakes up then anyway */
	if (life->polling && life->polled_ms == life->now_ms && life->check_ms &&
	    life->check_ms - life->now_ms < life->config->journal_check_ms / 6)
		life->check_ms = life->now_ms;
	if (due(life, &life->check_ms))
		check_journal(life);
	if (due(life, &life->lease_end_ms))
		lease_ran_out(life);
	operation_tick(life);
	checkpoint_tick(life);
	if (due(life, &life->tasks_ms))
		watch_tasks(life);
	if (due(life, &life->ready_ms))
		not_ready(life);
	/* MUT: the cleanup is awaited forever */
	if (due(life, &life->clean_ms))
		cleanup_gives_up(life);
	if (due(life, &life->handover.deadline_ms))
		handover_deadline(life);
	due(life, &life->handover.ask_again_ms);
	due(life, &life->handover.held_kill_ms);
	due(life, &life->transition.again_ms);
	/* MUT: SIGKILL never comes */
	if (due(life, &life->kill_ms) && flink_is_live(life)) {
		kill_flink(life);
		note(life, NOTE_WARNING, "Flink did not exit in time; sending SIGKILL");
	}
	if (due(life, &life->exit_ms)) {
		withdraw(life, EFFECT_EXIT);
		emit(life, EFFECT_EXIT)->status = end_status(life);
		life->left = true;
	}
}

static bool periodic_must_wait(const struct lifecycle *life)
{
	return life->phase != PHASE_RUNNING || life->step != STEP_NONE ||
	       life->seen.state != JOB_RUNNING || life->seen.tasks_missing || life->stop_retry_ms ||
	       life->last_resort.step || life->rescale.asking || checkpoint_in_flight(life) ||
	       transition_saves_not(life) || transition_defers(life);
}

int64_t lifecycle_deadline_ms(const struct lifecycle *life)
{
	enum { SAVEPOINT, FULL_CHECKPOINT };
	const int64_t all[] = {life->savepoint_ms,
			       life->checkpoint.due_ms,
			       life->checkpoint.poll_ms,
			       life->checkpoint.accept_by_ms,
			       life->poll_ms,
			       life->retry_ms,
			       life->ready_ms,
			       life->kill_ms,
			       life->journal_retry_ms,
			       life->stop_retry_ms,
			       life->savepoint_retry_ms,
			       life->operation_poll_ms,
			       life->operation_deadline_ms,
			       life->exit_ms,
			       life->check_ms,
			       life->lease_end_ms,
			       life->disposal_ms,
			       life->rescale.again_ms,
			       life->note_ms,
			       life->tasks_ms,
			       life->look_ms,
			       life->clean_ms,
			       life->handover.deadline_ms,
			       life->handover.ask_again_ms,
			       life->handover.held_kill_ms,
			       life->transition.again_ms,
			       life->postponed_ms};
	int64_t next = -1;

	if (life->contradiction)
		return life->check_ms ? life->check_ms : -1;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		/* a due savepoint that may not start now (a requested stop goes first) is no reason
		 * to wake up */
		if ((i == SAVEPOINT || i == FULL_CHECKPOINT) && periodic_must_wait(life))
			continue;
		if (i == FULL_CHECKPOINT && life->stalled) /* its end may come first */
			continue;
		if (all[i] && (next < 0 || all[i] < next))
			next = all[i];
	}
	return next;
}

/* ---- one step ---- */

static void dispatch(struct lifecycle *life, const struct event *event)
{
	switch (event->type) {
	case EVENT_HELLO:
		handover_begin(life, event);
		adopt(life, event);
		if (event->hello.stopping)
			on_stopping(life, event->hello.grace_left_ms, event->hello.upgrade);
		break;
	case EVENT_TICK:
		on_tick(life);
		break;
	case EVENT_OBSERVED:
		on_observed(life, event);
		break;
	case EVENT_JOURNAL_WRITTEN:
		on_journal_written(life, event);
		break;
	case EVENT_JOURNAL_FAILED:
		on_journal_failed(life, event);
		break;
	case EVENT_JOURNAL_SEEN:
		on_journal_seen(life, event);
		break;
	case EVENT_STARTED:
		on_started(life, event);
		break;
	case EVENT_LAUNCH_FAILED:
		on_launch_failed(life, event);
		break;
	case EVENT_REFUSED:
		on_refused(life, event);
		break;
	case EVENT_EXITED:
		on_exited(life, event);
		break;
	case EVENT_VIEW:
		on_view(life, event);
		break;
	case EVENT_OPERATION:
		on_operation(life, event);
		break;
	case EVENT_DISPOSED:
		on_disposed(life, event);
		break;
	case EVENT_INSPECTED:
		on_inspected(life, event);
		break;
	case EVENT_CONTROL:
		/* MUT: a job in the shadow follows what people request of the owner */
		if (!life->config->handover.shadow)
			on_control(life, event);
		break;
	case EVENT_STOPPING:
		on_stopping(life, event->stopping.grace_left_ms, event->stopping.upgrade);
		break;
	case EVENT_CANDIDATE:
		on_candidate(life, event);
		break;
	case EVENT_CHECKPOINT:
		on_checkpoint(life, event);
		break;
	case EVENT_RESCALED:
		on_rescaled(life, event);
		break;
	case EVENT_LEASE:
		on_lease(life, event);
		break;
	case EVENT_GATE:
		on_gate(life, event);
		break;
	case EVENT_FLIP:
		on_flip(life, event);
		break;
	case EVENT_COUNT:
		break;
	}
}

static void decide(struct lifecycle *life, const struct event *event, const struct standing *before)
{
	dispatch(life, event);
	if (life->terminating && !life->foreign)
		stopping_pursue(life);
	if (!handover_stepped(life))
		pursue(life);
	review_give_way(life);
	watch_do_not_restart(life);
	tell_changes(life, event, before);
	flush_journal(life);
	transition_tell_gates(life);
	watch_journal(life);
	pace_effects(life);
	life->contradiction = lifecycle_check(life);
	if (life->contradiction)
		halt(life, event, before);
}

void lifecycle_step(struct lifecycle *life, const struct event *event, int64_t now_ms,
		    int64_t now_unix_ms, struct effects *ret_effects)
{
	struct standing before;

	life->now_ms = now_ms;
	life->now_unix_ms = now_unix_ms;
	life->out = ret_effects;
	before = standing(life, event);
	if (life->contradiction)
		halted_step(life, event, &before);
	else
		decide(life, event, &before);
	life->out = NULL;
}

void lifecycle_init(struct lifecycle *life, const struct lifecycle_config *config,
		    struct journal *journal, const struct rng *rng)
{
	memset(life, 0, sizeof(*life));
	life->config = config;
	life->journal = *journal;
	memset(journal, 0, sizeof(*journal));
	life->rng = *rng;
	life->phase = PHASE_RESOLVING;
	snprintf(life->reason, sizeof(life->reason), "drey starts");
	life->ended = end_on_record(&life->journal);
	life->requested = life->acknowledged = life->journal.sequence;
	/* drey 0.1.0 did not record where to find the savepoint of an operation */
	if (!life->journal.operation.directory && life->journal.operation.path &&
	    xstrsame(life->journal.operation.path, config->savepoint_dir) &&
	    !xstrsame(config->savepoint_dir, config->listed_savepoint_dir))
		life->journal.operation.directory = xstrdup(config->listed_savepoint_dir);
	if (journal_launch(&life->journal))
		life->noted_checkpoint_id = journal_launch(&life->journal)->last_checkpoint_id;
}

void lifecycle_init_unread(struct lifecycle *life, const struct lifecycle_config *config,
			   const char *application, const char *why)
{
	struct journal journal;
	struct rng rng = {0};

	journal_init(&journal, application);
	lifecycle_init(life, config, &journal, &rng);
	life->phase = PHASE_HOLDING;
	life->cause = CAUSE_JOURNAL_UNREADABLE;
	life->journal_broken = true;
	xstrset(&life->journal_error, why);
	snprintf(life->reason, sizeof(life->reason),
		 "the journal cannot be read, nothing is started until it can: %.440s", why);
}

void lifecycle_init_standing(struct lifecycle *life, const struct lifecycle_config *config,
			     const char *application, enum phase phase, enum cause cause,
			     const char *why)
{
	struct journal journal;
	struct rng rng = {0};

	journal_init(&journal, application);
	lifecycle_init(life, config, &journal, &rng);
	life->phase = phase;
	life->cause = cause;
	snprintf(life->reason, sizeof(life->reason), "%s", why);
}

void lifecycle_release(struct lifecycle *life)
{
	if (!life)
		return;
	journal_release(&life->journal);
	handover_release_seen(life);
	rescale_forget(life);
	effects_clear(&life->deferred);
	effects_clear(&life->postponed);
	free(life->end_reason);
	free(life->keeper);
	free(life->keeper_unread);
	free(life->stalled);
	free(life->stop_location);
	free(life->stop_error);
	free(life->operation_error);
	free(life->ended_restart);
	last_resort_forget(life);
	review_forget(life);
	free(life->journal_error);
	memset(life, 0, sizeof(*life));
}
