#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_internal.h"

/* ---- Flink ended, by drey or without it ---- */

static void send_term(struct lifecycle *life, bool after_write)
{
	struct effect *effect =
		after_write ? emit_after_write(life, EFFECT_SIGNAL) : emit(life, EFFECT_SIGNAL);

	memcpy(effect->id, journal_launch(&life->journal)->job_id, JOB_ID_BYTES);
	effect->signo = SIGTERM;
	if (signal_deletes_checkpoints(life)) {
		effect->signo = SIGKILL;
		effect->group = true;
		note(life, NOTE_WARNING,
		     "Flink is killed and gets no SIGTERM: the code of the job has set that Flink deletes its checkpoints when it shuts down");
	}
	if (after_write)
		return;
	life->kill_ms = life->now_ms + life->config->kill_after_ms;
	life->clean_ms = 0;
}

void terminate_flink(struct lifecycle *life)
{
	send_term(life, false);
}

bool flink_is_live(const struct lifecycle *life)
{
	return life->launch_step == LAUNCH_LIVE || life->foreign;
}

void kill_flink(struct lifecycle *life)
{
	struct effect *effect = emit(life, EFFECT_SIGNAL);

	memcpy(effect->id,
	       life->foreign ? life->foreign_id : journal_launch(&life->journal)->job_id,
	       JOB_ID_BYTES);
	effect->signo = SIGKILL;
	effect->group = true;
	life->kill_ms = life->now_ms + life->config->kill_after_ms;
	life->clean_ms = 0;
	life->end_wanted = true;
}

/* How a job has ended that was not stopped with a savepoint, only Flink can tell; and without HA data it recovers no job. */
void end_flink_unrecorded(struct lifecycle *life)
{
	if (!life->end_wanted || life->step != STEP_ENDING || !life->stop_location ||
	    life->journal.operation.kind != OPERATION_STOP ||
	    !journal_launch_const(&life->journal)->ha_cluster_id)
		return;
	/* MUT: a Flink whose job has stopped waits for the journal for ever */
	if (!withdraw(life, EFFECT_SIGNAL))
		return;
	note(life, NOTE_WARNING,
	     "the job has stopped, and that cannot be recorded now: killing Flink, before it runs the job again");
	kill_flink(life);
}

enum phase ending_phase(const struct lifecycle *life)
{
	return life->terminating ? PHASE_TERMINATING : PHASE_STOPPING;
}

/* Takes ownership of `reason`. */
static void end_with(struct lifecycle *life, bool after_write, bool counts, enum cause cause,
		     char *reason)
{
	enter_because(life, ending_phase(life), cause, "%s", reason ? reason : "ending Flink");
	if (!life->end_wanted) {
		free(life->end_reason);
		life->end_reason = reason;
		reason = NULL;
		life->end_counts = counts;
		life->end_wanted = true;
		if (life->launch_step == LAUNCH_LIVE)
			send_term(life, after_write);
	} else if (!after_write && (withdraw(life, EFFECT_SIGNAL) || life->clean_ms)) {
		send_term(life, false);
	}
	free(reason);
	life->ready_ms = 0;
}

void end_flink(struct lifecycle *life, bool after_write, bool counts, const char *fmt, ...)
{
	va_list ap;
	char *reason;

	va_start(ap, fmt);
	reason = xvasprintf(fmt, ap);
	va_end(ap);
	end_with(life, after_write, counts, CAUSE_NONE, reason);
}

void end_flink_because(struct lifecycle *life, enum cause cause, const char *fmt, ...)
{
	va_list ap;
	char *reason;

	va_start(ap, fmt);
	reason = xvasprintf(fmt, ap);
	va_end(ap);
	end_with(life, false, true, cause, reason);
}

static bool exited_with_0(int wait_status)
{
	return wait_status != -1 && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
}

/* How Flink ended when drey did not end it. */
static void flink_died(struct lifecycle *life, int wait_status, const char *meaning)
{
	struct outcome *outcome = &life->journal.outcome;

	if (exited_with_0(wait_status)) {
		/* Flink was configured not to exit on its own, so the cause is unknown: running the
		 * job again could repeat a finished one. */
		outcome_release(outcome);
		outcome->kind = OUTCOME_UNKNOWN;
		outcome->unix_ms = life->now_unix_ms;
		outcome->reason =
			xstrdup("Flink exited with status 0 before its final state was read");
		resolve_start(life, outcome->reason);
		return;
	}
	launch_failure(life, meaning);
}

static void forget_process(struct lifecycle *life)
{
	life->launch_step = LAUNCH_NONE;
	life->poll_ms = life->ready_ms = life->kill_ms = life->savepoint_ms = life->note_ms = 0;
	life->tasks_ms = life->polled_job_ms = life->polled_all_ms = 0;
	life->polling = false;
	life->look_ms = life->clean_ms = 0;
	life->stop_failures = 0;
	last_resort_forget(life);
	life->accepted_ms = 0;
	withdraw(life, EFFECT_SIGNAL);
	withdraw(life, EFFECT_DISPOSE);
	life->disposing = false;
	xstrset(&life->keeper, NULL);
	xstrset(&life->stalled, NULL);
	life->disposal_ms = life->stall_pause_ms = 0;
	rescale_forget(life);
	review_forget(life);
	memset(&life->seen, 0, sizeof(life->seen));
}

static void record_end(struct lifecycle *life, int wait_status)
{
	struct launch *launch = journal_launch(&life->journal);

	launch->ended_unix_ms = life->now_unix_ms;
	launch->wait_status = wait_status;
	if (exited_with_0(wait_status)) /* Flink exits with 0 only after its job has ended */
		/* MUT: that exit 0 is the end of a job is not recorded */
		launch->job_ended = true;
	life->want_write = true;
}

void on_exited(struct lifecycle *life, const struct event *event)
{
	enum operation_kind kind = life->journal.operation.kind;
	char *end_reason = life->end_reason;
	bool end_wanted = life->end_wanted;
	bool stopped;

	if (life->foreign) {
		life->foreign = life->end_wanted = false;
		life->kill_ms = 0;
		if (life->terminating && handover_frees_flink(life))
			leave(life);
		if (life->terminating || life->fenced)
			return;
		/* a recorded operation belongs to an earlier Flink, which cannot be asked any
		 * more */
		operation_flink_gone(life);
		resolve_start(life, "the unknown Flink has exited");
		return;
	}
	if (handover_held_exited(life, event))
		return;
	if (!is_current_launch(life, event->process.launch_id, event->process.number) ||
	    life->launch_step == LAUNCH_NONE)
		return;
	record_end(life, event->process.wait_status);
	forget_process(life);
	/* a clean exit during a stop is the result of that stop, although it was not reported */
	stopped = life->step == STEP_ENDING ||
		  (operation_ends_job(kind) && exited_with_0(event->process.wait_status));
	operation_flink_gone(life);
	life->end_wanted = false;
	life->end_reason = NULL;
	if (life->terminating) {
		enter(life, PHASE_TERMINATING, "Flink exited: %s", event->process.meaning);
		leave(life);
	} else if (life->fenced) {
		note(life, NOTE_WARNING, "the Flink of a drey that lost the journal has exited");
	} else if (life->handover.giving) {
		handover_rests(life);
	} else if (life->journal.outcome.kind == OUTCOME_RESTORE_MISMATCH &&
		   handover_returns(life, life->journal.outcome.reason)) {
		; /* the pod before takes what it was stopped with */
	} else if (event->process.shortcut && !stopped && end_wanted == life->end_counts &&
		   !exited_with_0(event->process.wait_status)) {
		/* the scripts may do it better; with 0 it could repeat a finished job */
		resolve_start(life, "a start without Flink's scripts has failed");
	} else if (end_wanted && life->end_counts) {
		launch_failure(life, end_reason ? end_reason : event->process.meaning);
	} else if (end_wanted || stopped) {
		resolve_start(life, end_reason ? end_reason : "the job was stopped");
	} else {
		flink_died(life, event->process.wait_status, event->process.meaning);
	}
	free(end_reason);
}

/* ---- the agent has (re)started ---- */

/* Whether its main() was let go is not known; that may be done twice. What forbids the launch may have
 * been recorded since it was decided, and the previous agent has not withdrawn it: then this Flink ends,
 * whether it waits or has just begun. */
static void adopt_held(struct lifecycle *life, struct launch *launch)
{
	struct decision decision;

	if (resolve_parked(&life->journal, &life->config->policy, &decision)) {
		life->launch_step = LAUNCH_LIVE;
		launch->started_unix_ms = life->now_unix_ms;
		end_flink(life, false, false, "%s", decision.reason);
		return;
	}
	life->launch_step = LAUNCH_STARTING;
	enter(life, PHASE_LAUNCHING, "launch %" PRId64 " (job %s) is let go", launch->number,
	      launch->job_id);
	/* the agent before may have died before it did */
	/* MUT: what waits in main() is let go by a new agent without a lease */
	if (life->config->lease_ms)
		lease_extend(life);
	emit(life, EFFECT_LAUNCH);
}

static void adopt_running(struct lifecycle *life, struct launch *launch)
{
	enum operation_kind kind = life->journal.operation.kind;

	if (launch->held && !launch->started_unix_ms) {
		adopt_held(life, launch);
		return;
	}
	life->launch_step = LAUNCH_LIVE;
	if (!launch->started_unix_ms)
		launch->started_unix_ms = life->now_unix_ms;
	note(life, NOTE_INFO, "launch %" PRId64 " (job %s) still runs: taken over", launch->number,
	     launch->job_id);
	life->poll_ms = life->now_ms;
	if (life->config->lease_ms)
		check_journal(life);
	if (life->journal.outcome.kind != OUTCOME_NONE) {
		end_flink(life, false, false, "ending Flink, the outcome is already recorded: %s",
			  life->journal.outcome.reason ? life->journal.outcome.reason : "");
		return;
	}
	/* the state that the previous agent knew may have changed */
	enter(life, PHASE_LAUNCHING, "drey has restarted and checks whether the job is running");
	life->ready_ms = life->now_ms + life->config->ready_deadline_ms;
	schedule_savepoint(life);
	checkpoint_adopt(life);
	if (kind == OPERATION_NONE)
		return;
	operation_adopt(life);
	if (operation_ends_job(kind))
		enter(life, PHASE_STOPPING, "continuing the %s of the previous agent",
		      operation_kind_name(kind));
}

/* Flink exited while no agent was running. */
static void adopt_ended(struct lifecycle *life, struct launch *launch, const struct event *event)
{
	bool seen = is_current_launch(life, event->hello.last, event->hello.last_number);
	bool stopping = operation_ends_job(life->journal.operation.kind);
	bool never_good;

	if (seen && !launch->started_unix_ms)
		launch->started_unix_ms = life->now_unix_ms; /* it had started, unreported */
	never_good = launch->started_unix_ms && !launch->proven_unix_ms;
	record_end(life, seen ? event->hello.last_wait_status : -1);
	operation_flink_gone(life);
	/* the previous agent ended Flink because of that: it is no failed attempt, which could take
	 * its place */
	if (life->journal.outcome.kind != OUTCOME_NONE)
		resolve_start(life, "Flink has exited after the end of its job");
	else if (life->handover.claim == CLAIM_TAKE) /* it ended at the other pod, as granted */
		resolve_start(life, "the job was handed over to this pod");
	else if (stopping)
		resolve_start(life, "Flink exited during a stop, while no agent was running");
	else if (seen)
		flink_died(life, event->hello.last_wait_status,
			   "Flink exited while no agent was running");
	else if (never_good)
		launch_failure(life, "the container ended before the launch was proven");
	else
		resolve_start(life, "this is a new container");
}

/* While this Flink ran, a later launch was decided, which only another drey can have done. */
static bool is_superseded(const struct lifecycle *life, const char *job_id)
{
	for (size_t i = 0; i < life->journal.launch_count; i++)
		if (!strcmp(life->journal.launches[i].job_id, job_id))
			return true;
	return false;
}

/* A launch is identified by its number and by the drey that decided it: one that continues has the
 * job id of its predecessor, and another drey may have decided it. */
static bool runs_here(struct lifecycle *life, const struct event *event)
{
	return is_current_launch(life, event->hello.running, event->hello.running_number) &&
	       !is_elsewhere(life, journal_launch(&life->journal));
}

/* Why this container has lost the journal, although nothing in it shows that; NULL = it has not. */
static const char *lost_before(struct lifecycle *life, const struct event *event)
{
	if (event->hello.fenced && event->hello.claim == CLAIM_NONE)
		return "the previous agent of this container saw it";
	if (event->hello.claim != CLAIM_NONE) /* the journal names us */
		return NULL;
	/* from its first write on, the other drey waits long enough for this one to notice */
	if (event->hello.running && runs_here(life, event) && was_written_elsewhere(life))
		return "it has written since the previous agent of this container did";
	if (!event->hello.running && event->hello.last &&
	    is_elsewhere(life, journal_launch(&life->journal)))
		return "it has decided a later launch than the last one of this container";
	return NULL;
}

/* It was recorded, but drey-init, which ran the one before, was never asked to start it. */
static bool was_never_asked_for(struct lifecycle *life, const struct launch *launch,
				const struct event *event)
{
	return event->hello.last && event->hello.last_number &&
	       event->hello.last_number < launch->number && !is_elsewhere(life, launch);
}

static void adopt_nothing(struct lifecycle *life, const struct event *event)
{
	struct launch *launch = journal_launch(&life->journal);

	takeover_begin(life);
	if (launch && !launch->ended_unix_ms && was_never_asked_for(life, launch, event)) {
		launch_never_started(life, launch);
		operation_flink_gone(life);
		resolve_start(life, "the last launch was decided, but never started");
	} else if (launch && !launch->ended_unix_ms) {
		adopt_ended(life, launch, event);
	} else {
		operation_flink_gone(life);
		resolve_start(life, "drey starts");
	}
}

void adopt(struct lifecycle *life, const struct event *event)
{
	const char *running = event->hello.running, *lost = lost_before(life, event);
	struct launch *launch = journal_launch(&life->journal);

	lease_begin(life);
	if (running && (lost || !runs_here(life, event))) {
		life->foreign = true;
		snprintf(life->foreign_id, JOB_ID_BYTES, "%s", running);
		if (lost || is_superseded(life, running)) {
			fence(life,
			      lost ? lost : "it has decided a later launch than the running one");
			return;
		}
		enter_because(
			life, PHASE_HOLDING, CAUSE_UNKNOWN_FLINK_RUNS,
			"a Flink is running (launch %s) that is not in the journal; drey waits until it exits",
			running);
		return;
	}
	if (running) {
		adopt_running(life, launch);
		return;
	}
	if (lost)
		fence(life, lost);
	else
		adopt_nothing(life, event);
}
