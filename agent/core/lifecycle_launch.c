#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "core/lifecycle_internal.h"

/* The checkpoint statistics are cached by Flink for 3 s: a restore that does not show up for this
 * long in a RUNNING job did not happen. */
#define RESTORE_PATIENCE_MS 10000

/* ---- resolving --------------------------------------------------------------------------------
 */

void resolve_start(struct lifecycle *life, const char *why)
{
	struct decision decision;

	if (resolve_parked(&life->journal, &decision)) {
		park(life, &decision);
		return;
	}
	enter(life, PHASE_RESOLVING, "%s", why);
	life->retry_ms = 0;
	if (life->observing) {
		life->observe_again = true;
		return;
	}
	life->observing = true;
	emit(life, EFFECT_OBSERVE);
}

static enum phase parked_phase(const struct journal *journal, const struct decision *decision)
{
	if (decision->kind == DECISION_HOLD || journal->intent.do_not_restart)
		return PHASE_HOLDING;
	if (journal->intent.state == DESIRED_SUSPENDED)
		return PHASE_SUSPENDED;
	if (journal->intent.state == DESIRED_CANCELLED)
		return PHASE_CANCELLED;
	switch (journal->outcome.kind) {
	case OUTCOME_FINISHED:
		return PHASE_FINISHED;
	case OUTCOME_CANCELLED:
		return PHASE_CANCELLED;
	default:
		return PHASE_FAILED;
	}
}

void park(struct lifecycle *life, const struct decision *decision)
{
	enum phase phase = parked_phase(&life->journal, decision);

	life->retry_ms = 0;
	life->holds = 0;
	if (life->phase == phase && !strcmp(life->reason, decision->reason))
		return;
	enter(life, phase, "%s", decision->reason);
	if (phase == PHASE_FINISHED && life->config->exit_when_finished)
		leave(life);
}

static void hold(struct lifecycle *life, const struct decision *decision)
{
	const struct lifecycle_config *config = life->config;

	life->holds++;
	life->retry_ms = life->now_ms + backoff_ms(config->hold_retry_first_ms,
						   config->hold_retry_max_ms, life->holds);
	enter(life, PHASE_HOLDING, "rule %d: %s", decision->rule, decision->reason);
}

/* ---- launching --------------------------------------------------------------------------------
 */

static void fill_launch(struct lifecycle *life, struct launch *launch, const struct candidate *from)
{
	const struct lifecycle_config *config = life->config;

	rng_hex_id(&life->rng, launch->job_id);
	if (config->result_store_dir)
		launch->job_result_path =
			xasprintf("%s/%s", config->result_store_dir, launch->job_id);
	if (config->application_ids) {
		rng_hex_id(&life->rng, launch->application_id);
		if (config->result_store_dir)
			launch->application_result_path =
				xasprintf("%s/application-%s", config->result_store_dir,
					  launch->application_id);
	}
	launch->generation = xstrdup(config->generation);
	launch->flink_version = xstrdup(config->flink_version);
	launch->intended_unix_ms = life->now_unix_ms;
	if (!from)
		return;
	launch->restore_path = xstrdup(from->snapshot.path);
	launch->restore_kind = from->snapshot.kind;
	launch->restore_checkpoint_id = from->snapshot.checkpoint_id;
}

/* To start from older state than there once was is never done without a word. */
static void tell_passed_over(struct lifecycle *life, const struct facts *facts)
{
	enum { SAID_AT_MOST = 4 };
	int count = 0;

	for (size_t i = 0; i < facts->candidate_count; i++) {
		const struct candidate *c = &facts->candidates[i];
		char *line;

		if (!c->passed_over || ++count > SAID_AT_MOST)
			continue;
		line = xasprintf("passed over: %s, %s", c->snapshot.path, c->reason);
		note(life, NOTE_WARNING, "%s", line);
		journal_add_log(&life->journal, life->now_unix_ms, line);
		free(line);
	}
	if (count > SAID_AT_MOST)
		note(life, NOTE_WARNING,
		     "and %d more were passed over; `drey resolve --explain` "
		     "names them",
		     count - SAID_AT_MOST);
}

/* The intent goes into the journal first; EFFECT_LAUNCH comes out when it is there. */
static void begin_launch(struct lifecycle *life, const struct decision *decision,
			 const struct candidate *from)
{
	struct launch *launch = journal_add_launch(&life->journal);

	fill_launch(life, launch, from);
	launch->allow_non_restored = decision->allow_non_restored;
	if (decision->token)
		journal_consume(&life->journal, decision->token);
	xstrset(&life->journal.restart_nonce_done, life->journal.intent.restart_nonce);
	life->holds = 0;
	life->launch_step = LAUNCH_WRITING;
	enter(life, PHASE_LAUNCHING, "launch %" PRId64 ", job id %s, rule %d: %s", launch->number,
	      launch->job_id, decision->rule, decision->reason);
	emit_after_write(life, EFFECT_LAUNCH);
}

void on_observed(struct lifecycle *life, const struct event *event)
{
	const struct decision *decision = event->observed.decision;
	bool again = life->observe_again;

	life->observing = life->observe_again = false;
	if (life->terminating || life->fenced ||
	    (life->phase != PHASE_RESOLVING && life->phase != PHASE_HOLDING))
		return;
	if (again) {
		resolve_start(life, "what is wanted has changed");
		return;
	}
	switch (decision->kind) {
	case DECISION_START_FROM:
		tell_passed_over(life, event->observed.facts);
		begin_launch(life, decision,
			     &event->observed.facts->candidates[decision->candidate]);
		break;
	case DECISION_START_EMPTY:
		begin_launch(life, decision, NULL);
		break;
	case DECISION_PARK:
		park(life, decision);
		break;
	default:
		hold(life, decision);
		break;
	}
}

void launch_withdraw(struct lifecycle *life)
{
	struct launch *launch = journal_launch(&life->journal);

	if (life->launch_step != LAUNCH_WRITING)
		return;
	withdraw(life, EFFECT_LAUNCH);
	life->launch_step = LAUNCH_NONE;
	launch->ended_unix_ms = life->now_unix_ms;
	launch->wait_status = -1;
	life->want_write = true;
}

void launch_written(struct lifecycle *life)
{
	struct decision decision;

	if (life->launch_step != LAUNCH_WRITING)
		return;
	/* the brake may have been set, or the wish withdrawn, while the intent was being written */
	if (life->terminating || resolve_parked(&life->journal, &decision)) {
		launch_withdraw(life);
		if (life->terminating)
			leave(life);
		else
			resolve_start(life, "the launch was withdrawn");
		return;
	}
	life->launch_step = LAUNCH_STARTING;
	emit(life, EFFECT_LAUNCH);
}

static bool is_current(struct lifecycle *life, const char *launch_id)
{
	const struct launch *launch = journal_launch(&life->journal);

	return launch && launch_id && !strcmp(launch->job_id, launch_id);
}

void on_started(struct lifecycle *life, const struct event *event)
{
	if (!is_current(life, event->process.launch_id))
		return;
	journal_launch(&life->journal)->started_unix_ms = life->now_unix_ms;
	life->want_write = true;
	life->launch_step = LAUNCH_LIVE;
	memset(&life->seen, 0, sizeof(life->seen));
	if (life->end_wanted) { /* the container ends, and Flink was just being started */
		life->end_wanted = false;
		end_flink(life, false, life->end_counts, "the start was overtaken");
		return;
	}
	life->ready_ms = life->now_ms + life->config->ready_deadline_ms;
	life->poll_ms = life->now_ms + life->config->poll_fast_ms;
}

void launch_failure(struct lifecycle *life, const char *why)
{
	const struct lifecycle_config *config = life->config;
	const struct launch *launch = journal_launch(&life->journal);
	struct journal *journal = &life->journal;
	bool proven = launch && launch->proven_unix_ms;
	int failures = 0;
	int64_t wait_ms;

	xstrset(&journal->last_error, why);
	journal_add_failure(journal, life->now_unix_ms);
	for (size_t i = 0; i < journal->failure_count; i++)
		failures += journal->failures_unix_ms[i] >
			    life->now_unix_ms - config->attempts_window_ms;
	if (failures >= config->max_attempts) {
		outcome_release(&journal->outcome);
		journal->outcome.kind = OUTCOME_FAILED;
		journal->outcome.unix_ms = life->now_unix_ms;
		journal->outcome.reason =
			xasprintf("%d failed attempts, the last: %s", failures, why);
		if (config->generation && !proven)
			journal_add_failed_generation(journal, config->generation);
		resolve_start(life, why); /* parks as Failed */
		return;
	}
	wait_ms = proven && failures == 1
			  ? 0
			  : backoff_ms(config->backoff_first_ms, config->backoff_max_ms, failures);
	if (!wait_ms) {
		resolve_start(life, why);
		return;
	}
	enter(life, PHASE_RESOLVING, "attempt %d of %d failed: %s; tried again in %lld s", failures,
	      config->max_attempts, why, (long long)((wait_ms + 999) / 1000));
	life->retry_ms = life->now_ms + wait_ms;
}

void on_launch_failed(struct lifecycle *life, const struct event *event)
{
	struct launch *launch = journal_launch(&life->journal);

	if (!is_current(life, event->process.launch_id) || life->launch_step != LAUNCH_STARTING)
		return;
	life->launch_step = LAUNCH_NONE;
	life->end_wanted = false;
	launch->ended_unix_ms = life->now_unix_ms;
	launch->wait_status = -1;
	life->want_write = true;
	if (life->terminating)
		leave(life);
	else
		launch_failure(life, event->process.error);
}

/* ---- the end of Flink -------------------------------------------------------------------------
 */

static void send_term(struct lifecycle *life, bool after_write)
{
	struct effect *effect =
		after_write ? emit_after_write(life, EFFECT_SIGNAL) : emit(life, EFFECT_SIGNAL);

	effect->signo = SIGTERM;
	if (!after_write)
		life->kill_ms = life->now_ms + life->config->kill_after_ms;
}

void end_flink(struct lifecycle *life, bool after_write, bool counts, const char *fmt, ...)
{
	enum phase phase = life->terminating ? PHASE_TERMINATING : PHASE_STOPPING;
	char *reason = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&reason, fmt, ap) < 0)
		reason = NULL;
	va_end(ap);
	enter(life, phase, "%s", reason ? reason : "Flink is to end");
	if (!life->end_wanted) {
		free(life->end_reason);
		life->end_reason = reason;
		reason = NULL;
		life->end_counts = counts;
		life->end_wanted = true;
		if (life->launch_step == LAUNCH_LIVE)
			send_term(life, after_write);
	} else if (!after_write && withdraw(life, EFFECT_SIGNAL)) {
		send_term(life, false);
	}
	free(reason);
	life->ready_ms = 0;
}

static bool exited_with_0(int wait_status)
{
	return wait_status != -1 && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
}

/* How a Flink that nobody asked to end has ended. */
static void flink_died(struct lifecycle *life, int wait_status, const char *meaning)
{
	struct outcome *outcome = &life->journal.outcome;

	if (exited_with_0(wait_status)) {
		/* Flink was told not to end by itself, so nobody knows what this was: running the
		 * job again could repeat a finished one. */
		outcome_release(outcome);
		outcome->kind = OUTCOME_UNKNOWN;
		outcome->unix_ms = life->now_unix_ms;
		outcome->reason = xstrdup("Flink ended with exit status 0 before its final state "
					  "could be read");
		resolve_start(life, outcome->reason);
		return;
	}
	launch_failure(life, meaning);
}

static void forget_process(struct lifecycle *life)
{
	life->launch_step = LAUNCH_NONE;
	life->poll_ms = life->ready_ms = life->kill_ms = life->savepoint_ms = 0;
	life->polling = false;
	life->accepted = false;
	withdraw(life, EFFECT_SIGNAL);
	memset(&life->seen, 0, sizeof(life->seen));
}

static void record_end(struct lifecycle *life, int wait_status)
{
	struct launch *launch = journal_launch(&life->journal);

	launch->ended_unix_ms = life->now_unix_ms;
	launch->wait_status = wait_status;
	life->want_write = true;
}

void on_exited(struct lifecycle *life, const struct event *event)
{
	enum operation_kind kind = life->journal.operation.kind;
	char *end_reason = life->end_reason;
	bool end_wanted = life->end_wanted;
	bool stopped;

	if (life->foreign) {
		life->foreign = false;
		if (life->terminating)
			return;
		resolve_start(life, "the Flink that the journal does not know has ended");
		return;
	}
	if (!is_current(life, event->process.launch_id) || life->launch_step == LAUNCH_NONE)
		return;
	record_end(life, event->process.wait_status);
	forget_process(life);
	/* a clean end in the middle of a stop is that stop, although its result was not seen */
	stopped = life->step == STEP_ENDING ||
		  ((kind == OPERATION_STOP || kind == OPERATION_CANCEL) &&
		   exited_with_0(event->process.wait_status));
	operation_flink_gone(life);
	life->end_wanted = false;
	life->end_reason = NULL;
	if (life->terminating) {
		enter(life, PHASE_TERMINATING, "Flink has ended: %s", event->process.meaning);
		leave(life);
	} else if (end_wanted && life->end_counts) {
		launch_failure(life, end_reason ? end_reason : event->process.meaning);
	} else if (end_wanted || stopped) {
		resolve_start(life, end_reason ? end_reason : "the job was stopped");
	} else {
		flink_died(life, event->process.wait_status, event->process.meaning);
	}
	free(end_reason);
}

/* ---- looking at the job -----------------------------------------------------------------------
 */

static void sticky_mismatch(struct lifecycle *life, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The promise is broken if this job goes on: end it, and hold until a person has looked. */
static void sticky_mismatch(struct lifecycle *life, const char *fmt, ...)
{
	struct outcome *outcome = &life->journal.outcome;
	va_list ap;

	outcome_release(outcome);
	outcome->kind = OUTCOME_RESTORE_MISMATCH;
	journal_launch(&life->journal)->mismatched = true;
	outcome->unix_ms = life->now_unix_ms;
	va_start(ap, fmt);
	if (vasprintf(&outcome->reason, fmt, ap) < 0)
		outcome->reason = NULL;
	va_end(ap);
	end_flink(life, false, false, "%s", outcome->reason ? outcome->reason : "wrong restore");
}

/* The job restarted by itself before we looked: it then shows a checkpoint that it made itself. */
static bool restored_own_checkpoint(const struct launch *launch, const struct view *view)
{
	return view->restored_id > launch->restore_checkpoint_id && view->restored_path &&
	       strstr(view->restored_path, launch->job_id);
}

static void verified(struct lifecycle *life, struct launch *launch)
{
	launch->verified_unix_ms = life->now_unix_ms;
	life->want_write = true;
	if (launch->restore_path)
		note(life, NOTE_INFO, "Flink restored exactly %s (checkpoint id %" PRId64 ")",
		     launch->restore_path, launch->restore_checkpoint_id);
	else
		note(life, NOTE_INFO, "Flink started without state, as decided");
}

/* latest.restored must equal the decision. */
static void check_restore(struct lifecycle *life, struct launch *launch, const struct view *view)
{
	if (launch->verified_unix_ms || view->state == JOB_INITIALIZING || !view->job_present)
		return;
	if (view->restored) {
		bool same = launch->restore_path &&
			    view->restored_id == launch->restore_checkpoint_id &&
			    snapshot_same_path(view->restored_path, launch->restore_path);

		if (same || restored_own_checkpoint(launch, view))
			verified(life, launch);
		else
			sticky_mismatch(life,
					"decided to start from %s (%" PRId64
					"), but Flink restored %s (%" PRId64 ")",
					launch->restore_path ? launch->restore_path : "nothing",
					launch->restore_checkpoint_id,
					view->restored_path ? view->restored_path : "?",
					view->restored_id);
		return;
	}
	if (view->state != JOB_RUNNING && view->state != JOB_FINISHED)
		return;
	if (!launch->restore_path) {
		if (view->statistics_known || view->checkpointing_off)
			verified(life, launch);
		return;
	}
	if (!view->statistics_known && !view->checkpointing_off)
		return;
	if (!life->seen.not_restored_ms)
		life->seen.not_restored_ms = life->now_ms;
	if (life->now_ms - life->seen.not_restored_ms >= RESTORE_PATIENCE_MS)
		sticky_mismatch(life, "decided to start from %s, but Flink restored nothing%s",
				launch->restore_path,
				view->checkpointing_off ? " (the job has no checkpoints)" : "");
}

/* A job that has FINISHED quickly may do so before its statistics show the restore. */
static bool awaits_restore_report(const struct lifecycle *life, const struct launch *launch,
				  const struct view *view)
{
	return view->state == JOB_FINISHED && !launch->verified_unix_ms &&
	       life->seen.not_restored_ms;
}

static void see_checkpoints(struct lifecycle *life, struct launch *launch, const struct view *view)
{
	if (!view->statistics_known)
		return;
	if (view->completed_id > launch->last_checkpoint_id &&
	    view->completed_id > launch->restore_checkpoint_id) {
		launch->last_checkpoint_id = view->completed_id;
		xstrset(&launch->last_checkpoint_path, view->completed_path);
		launch->last_checkpoint_unix_ms = view->completed_unix_ms;
	}
	if (launch->proven_unix_ms || !launch->verified_unix_ms || !launch->last_checkpoint_id)
		return;
	launch->proven_unix_ms = life->now_unix_ms;
	life->journal.ever_proven = true;
	life->journal.failure_count = 0;
	life->want_write = true;
	note(life, NOTE_INFO, "checkpoint %" PRId64 " completed: launch %" PRId64 " is proven",
	     launch->last_checkpoint_id, launch->number);
}

/* The job came to an end that we did not ask for. */
static void job_ended(struct lifecycle *life, const struct view *view)
{
	struct outcome *outcome = &life->journal.outcome;
	const struct launch *launch = journal_launch(&life->journal);

	if (view->state == JOB_FAILED) {
		end_flink(life, false, true, "the job failed: %s",
			  view->failure ? view->failure : "Flink names no cause");
		return;
	}
	outcome_release(outcome);
	outcome->kind = view->state == JOB_FINISHED ? OUTCOME_FINISHED : OUTCOME_CANCELLED;
	outcome->unix_ms = life->now_unix_ms;
	memcpy(outcome->job_id, launch->job_id, JOB_ID_BYTES);
	outcome->reason = xstrdup(view->state == JOB_FINISHED ? "the job came to its end"
							      : "cancelled from outside drey");
	/* the outcome has to be on record before the only witness ends */
	end_flink(life, true, false, "the job is %s: %s", job_state_name(view->state),
		  outcome->reason);
}

static void schedule_poll(struct lifecycle *life, const struct launch *launch)
{
	const struct lifecycle_config *config = life->config;
	int64_t wait_ms = config->poll_fast_ms;

	if (life->phase == PHASE_RUNNING && life->step == STEP_NONE)
		wait_ms = launch->proven_unix_ms ? config->poll_slow_ms : 4 * config->poll_fast_ms;
	life->poll_ms = life->now_ms + wait_ms;
}

static void remember_view(struct lifecycle *life, const struct view *view)
{
	bool worse = view->state == JOB_RESTARTING || view->state == JOB_FAILING;

	if (view->failure && worse && life->seen.state != view->state) {
		xstrset(&life->journal.last_error, view->failure);
		note(life, NOTE_WARNING, "the job is %s: %s", job_state_name(view->state),
		     view->failure);
	}
	life->seen.reachable = view->reachable;
	if (!view->reachable)
		return; /* what was seen last is still the best that is known */
	life->seen.job_present = view->job_present;
	life->seen.state = view->state;
}

void on_view(struct lifecycle *life, const struct event *event)
{
	const struct view *view = &event->view;
	struct launch *launch = journal_launch(&life->journal);

	life->polling = false;
	if (life->launch_step != LAUNCH_LIVE || !launch || life->fenced)
		return;
	remember_view(life, view);
	if (view->reachable && view->job_present && !life->end_wanted) {
		check_restore(life, launch, view);
		see_checkpoints(life, launch, view);
	}
	if (view->reachable && view->job_present && !life->end_wanted &&
	    !operation_view(life, view) && !awaits_restore_report(life, launch, view)) {
		if (view->state == JOB_FINISHED || view->state == JOB_FAILED ||
		    view->state == JOB_CANCELED)
			job_ended(life, view);
		else if (life->phase == PHASE_LAUNCHING && view->state == JOB_RUNNING &&
			 launch->verified_unix_ms) {
			life->ready_ms = 0;
			enter(life, PHASE_RUNNING, "job %s runs%s%s", launch->job_id,
			      launch->restore_path ? ", restored from " : "",
			      launch->restore_path ? launch->restore_path : "");
			schedule_savepoint(life);
		}
	}
	schedule_poll(life, launch);
}

/* ---- the agent has (re)started ----------------------------------------------------------------
 */

static void adopt_running(struct lifecycle *life, struct launch *launch)
{
	enum operation_kind kind = life->journal.operation.kind;

	life->launch_step = LAUNCH_LIVE;
	if (!launch->started_unix_ms)
		launch->started_unix_ms = life->now_unix_ms;
	note(life, NOTE_INFO, "launch %" PRId64 " (job %s) still runs: taken over", launch->number,
	     launch->job_id);
	life->poll_ms = life->now_ms;
	if (life->journal.outcome.kind != OUTCOME_NONE) {
		end_flink(life, false, false, "its outcome is on record: %s",
			  life->journal.outcome.reason ? life->journal.outcome.reason : "");
		return;
	}
	if (launch->verified_unix_ms)
		enter(life, PHASE_RUNNING, "taken over from the agent before");
	else
		enter(life, PHASE_LAUNCHING, "taken over from the agent before");
	life->ready_ms =
		launch->verified_unix_ms ? 0 : life->now_ms + life->config->ready_deadline_ms;
	schedule_savepoint(life);
	if (kind == OPERATION_NONE)
		return;
	operation_adopt(life);
	if (kind == OPERATION_STOP || kind == OPERATION_CANCEL)
		enter(life, PHASE_STOPPING, "the %s of the agent before goes on",
		      operation_kind_name(kind));
}

/* Flink ended while no agent looked. */
static void adopt_ended(struct lifecycle *life, struct launch *launch, const struct event *event)
{
	bool seen = event->hello.last && !strcmp(event->hello.last, launch->job_id);
	bool stopping = life->journal.operation.kind == OPERATION_STOP ||
			life->journal.operation.kind == OPERATION_CANCEL;
	bool never_good;

	if (seen && !launch->started_unix_ms)
		launch->started_unix_ms = life->now_unix_ms; /* it was, but nobody was told */
	never_good = launch->started_unix_ms && !launch->proven_unix_ms;
	record_end(life, seen ? event->hello.last_wait_status : -1);
	operation_flink_gone(life);
	if (stopping)
		resolve_start(life, "Flink ended during a stop, while no agent looked");
	else if (seen)
		flink_died(life, event->hello.last_wait_status,
			   "Flink ended while no agent looked");
	else if (never_good)
		launch_failure(life, "the container ended before the launch was proven");
	else
		resolve_start(life, "the container is new");
}

void adopt(struct lifecycle *life, const struct event *event)
{
	const char *running = event->hello.running;
	struct launch *launch = journal_launch(&life->journal);

	if (running && !is_current(life, running)) {
		life->foreign = true;
		enter(life, PHASE_HOLDING,
		      "a Flink runs (launch %s) that the journal does not know; drey does nothing "
		      "until it has ended",
		      running);
		return;
	}
	if (running) {
		adopt_running(life, launch);
		return;
	}
	if (launch && !launch->ended_unix_ms)
		adopt_ended(life, launch, event);
	else {
		operation_flink_gone(life);
		resolve_start(life, "drey starts");
	}
}
