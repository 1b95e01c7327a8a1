/*
 * lifecycle_internal - what the parts of the lifecycle share. Not for anybody else.
 *
 *   lifecycle.c            the events, the deadlines, what to pursue
 *   lifecycle_effects.c    effects, and those that wait for a journal write
 *   lifecycle_notice.c     what has happened, for hooks, Events and metrics
 *   lifecycle_fence.c      two dreys: who has the journal, and what the other one may still run
 *   lifecycle_launch.c     resolving, launching, failures
 *   lifecycle_view.c       looking at the job: its restore, its checkpoints, its end
 *   lifecycle_tasks.c      its tasks, and what they run on
 *   lifecycle_ended.c      the job has come to its end
 *   lifecycle_outside.c    savepoints and stops that others ask Flink for
 *   lifecycle_stopping.c   the container ends: upgrade, or not
 *   lifecycle_end.c        the end of Flink; an agent that finds Flink running or ended
 *   lifecycle_operation.c  savepoint, stop, cancel
 *   lifecycle_settle.c     an operation that Flink's end has interrupted
 *   lifecycle_retention.c  disposing of old savepoints
 */
#ifndef DREY_CORE_LIFECYCLE_INTERNAL_H
#define DREY_CORE_LIFECYCLE_INTERNAL_H

#include "core/lifecycle.h"

/* ---- lifecycle_effects.c ---- */

/* Append to the effects of this step; borrowed until the next call. */
struct effect *emit(struct lifecycle *life, enum effect_type type);

/* Like emit(), but the effect comes out once the journal, as it is at the end of this step, has
 * been written. */
struct effect *emit_after_write(struct lifecycle *life, enum effect_type type);

/* Take back deferred effects of this type; true when there were any. */
bool withdraw(struct lifecycle *life, enum effect_type type);

void note(struct lifecycle *life, enum note_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Change the phase; the transition goes to the journal and to people. */
void enter(struct lifecycle *life, enum phase phase, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same where what is wanted is not done. */
void enter_because(struct lifecycle *life, enum phase phase, enum cause cause, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Emit the write of the journal if something has changed and none is in flight. */
void flush_journal(struct lifecycle *life);
void on_journal_written(struct lifecycle *life, const struct event *event);
void on_journal_failed(struct lifecycle *life, const struct event *event);

/* ---- lifecycle_notice.c ---- */

/* Say that this has happened: a notice with phase, cause and launch as they are; the caller adds the
 * rest, before the next effect. Borrowed. */
struct notice *tell(struct lifecycle *life, enum notice_type type);

/* started_unix_ms: 0 = not known. */
void tell_operation(struct lifecycle *life, const struct operation_result *result,
		    int64_t started_unix_ms);

/* What a step may change, and of which only the difference is told. */
struct standing {
	enum phase phase;
	enum cause cause;
	bool fenced;
};
struct standing standing(const struct lifecycle *life,
			 const struct event *event); /* before the step */
void tell_changes(struct lifecycle *life, const struct event *event, const struct standing *before);

/* The end that the agent before has told; PHASE_COUNT = none. */
enum phase end_on_record(const struct journal *journal);

/* ---- lifecycle_fence.c ---- */

/* Another drey has written the journal: this one does nothing more, and ends its Flink. */
void fence(struct lifecycle *life, const char *why);

/* Was it decided by a drey in another place? */
bool is_elsewhere(const struct lifecycle *life, const struct launch *launch);
/* Was the journal, as it was read, written last by a drey in another place? */
bool was_written_elsewhere(const struct lifecycle *life);

/* A new agent: does the launch of another place that nobody has seen end have to be waited for? */
void takeover_begin(struct lifecycle *life);
/* No launch of another place may still run. */
bool takeover_is_over(const struct lifecycle *life);
/* A start is decided, but is not made yet: true, and looked at again when it may be. */
bool takeover_waits(struct lifecycle *life);

/* While Flink lives: when is the journal to be looked at next, and until when may it go on? */
void watch_journal(struct lifecycle *life);
void check_journal(struct lifecycle *life); /* now, unless that is under way */
void on_journal_seen(struct lifecycle *life, const struct event *event);
/* Asked at that time, it was ours. */
void journal_is_ours(struct lifecycle *life, int64_t asked_ms);
void lease_ran_out(struct lifecycle *life);

/* ---- lifecycle_resolve.c ---- */

/* Asks for the facts; while the Flink of another place may still live, a start is not decided on them. */
void observe(struct lifecycle *life);

/* Find out what to start from, or park when a launch is not wanted. */
void resolve_start(struct lifecycle *life, const char *why);
void park(struct lifecycle *life, const struct decision *decision);
void on_observed(struct lifecycle *life, const struct event *event);

/* Nothing can be started now; the facts are gathered again after a while. */
void hold(struct lifecycle *life, const struct decision *decision);
void look_again(struct lifecycle *life);

/* A snapshot of it was seen, or Flink has told of one: it may be gone at the next look, and must not count as
 * never made then. */
void launch_has_left_state(struct lifecycle *life, struct launch *launch);

/* ---- lifecycle_launch.c ---- */

/* The intent goes into the journal first; EFFECT_LAUNCH comes out when it is there. */
void begin_launch(struct lifecycle *life, const struct decision *decision,
		  const struct facts *facts);

/* A launch that was intended but not asked for yet is not wanted any more. */
void launch_withdraw(struct lifecycle *life);
void launch_never_started(struct lifecycle *life, struct launch *launch); /* for certain */
void launch_written(struct lifecycle *life); /* the deferred EFFECT_LAUNCH is due */
void on_started(struct lifecycle *life, const struct event *event);
void on_launch_failed(struct lifecycle *life, const struct event *event);
/* number: of the launch, 0 = not known; one that goes on has the job id of the one before. */
bool is_current_launch(struct lifecycle *life, const char *launch_id, int64_t number);

/* A launch failed: count it, then try again after a while or give up. */
void launch_failure(struct lifecycle *life, const char *why);

/* ---- lifecycle.c ---- */

/* Ask Flink about the job, if that is not under way. */
void poll_now(struct lifecycle *life);

/* ---- lifecycle_view.c ---- */

void on_view(struct lifecycle *life, const struct event *event);

/* The journal is being written as it is: with the newest checkpoint. */
void checkpoint_noted(struct lifecycle *life);

/* ---- lifecycle_tasks.c ---- */

/* Remember what a look has shown of the tasks. */
void see_tasks(struct lifecycle *life, const struct view *view);

/* They run, or for how long may they not? Again when tasks_ms has come. */
void watch_tasks(struct lifecycle *life);

/* The tasks have not all run for as long as a start may take (ready_ms). */
void not_ready(struct lifecycle *life);

/* What the next poll asks for. */
enum poll_depth poll_depth(const struct lifecycle *life, const struct launch *launch);

/* ---- lifecycle_ended.c ---- */

/* Record how the job of the current launch has ended; nothing is launched by itself any more. */
void outcome_set(struct lifecycle *life, enum outcome_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* What became of this job is on record, and Flink need not be asked for its own record of that. */
void launch_end_is_known(struct lifecycle *life, const char *job_id);

/* The job came to an end that we did not ask for. */
void job_ended(struct lifecycle *life, const struct view *view);

/* The job is FINISHED, and what is shown of its savepoints may be older than that: ask again. */
bool end_is_unclear(struct lifecycle *life, const struct view *view);

/* FINISHED, and not by a stop with savepoint. */
bool finished_by_itself(const struct view *view);

/* The same while it was being stopped or cancelled: that is what counts. */
void job_finished_first(struct lifecycle *life);

/* The same while Flink is being ended. */
void job_finished_meanwhile(struct lifecycle *life, const struct view *view);

/* ---- lifecycle_outside.c ---- */

/* Record the savepoints of the running launch that drey has not asked for. */
void outside_savepoints(struct lifecycle *life, const struct view *view);

/* The savepoint of a stop, when it is the last thing that the job has completed; NULL = it is not. Borrowed. */
const struct seen_savepoint *shown_stop(const struct view *view);

/* The savepoint with which somebody else has stopped the job that is FINISHED, on record; NULL: it came to
 * its own end, or the stop was drey's. Borrowed from the view. */
const struct seen_savepoint *outside_stop(struct lifecycle *life, const struct view *view);

/* After each step: remember that the job runs while do-not-restart is on. */
void watch_brake(struct lifecycle *life);

/* A look has shown the job, and that it has not ended: do-not-restart counts as off from now on if it is. */
void seen_without_brake(struct lifecycle *life);

/* ---- lifecycle_stopping.c ---- */

void on_stopping(struct lifecycle *life, int64_t grace_left_ms, enum upgrade upgrade);

/* Before Flink is ended a job that may have come to its end is looked at once more: call it with every
 * answer, and when the time for it is over. */
void stopping_looked(struct lifecycle *life);

/* The container ends, and the operation that was in flight is over: the stop that has waited for it,
 * or the end of Flink. `error`: why there is no savepoint of a stop; NULL = it was no stop, and went
 * well. */
void stopping_goes_on(struct lifecycle *life, const char *error);

/* The container ends: leave as soon as the journal is written. */
void leave(struct lifecycle *life);

/* With exit_when_finished: the job has come to its end, or somebody has stopped it with a savepoint in Flink.
 * Then the container ends with 0. */
bool ended_well(const struct lifecycle *life);

/* With exit_when_finished whoever started the container takes 0 for the end of the job: before that
 * it ends as by SIGTERM. */
int end_status(const struct lifecycle *life);

/* ---- lifecycle_end.c ---- */

/* End Flink: SIGTERM now (or after the journal write), SIGKILL later. When it has gone the way leads
 * to resolve_start(), to a counted failure, or out when the container ends. */
void end_flink(struct lifecycle *life, bool after_write, bool counts, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same at once, as a failed attempt that has a word of its own. */
void end_flink_because(struct lifecycle *life, enum cause cause, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void kill_flink(struct lifecycle *life); /* SIGKILL now, to its whole group, until it has gone */
void on_exited(struct lifecycle *life, const struct event *event);

/* The first event: is Flink running, or how did it end while no agent looked? */
void adopt(struct lifecycle *life, const struct event *event);

/* ---- lifecycle_operation.c ---- */

void operation_start(struct lifecycle *life, enum operation_kind kind, enum operation_reason reason,
		     const char *nonce);

/* The operation cannot go on (Flink has gone, something more urgent): record it as failed. */
void operation_abandon(struct lifecycle *life, const char *why);

/* Its request was answered: the same nonce asks for nothing any more. */
void operation_remember(struct lifecycle *life, const struct operation *operation);

/* Record how it ended; the operation itself stays until operation_clear(). */
void operation_record(struct lifecycle *life, bool ok, const char *location, const char *error);
void operation_clear(struct lifecycle *life);

/* Nothing is asked and nothing is known from answers any more. */
void operation_enter(struct lifecycle *life, enum operation_step step);
enum snapshot_origin operation_origin(const struct operation *operation);

/* Flink has gone: an operation that only waited for that has succeeded; one that may have left a
 * savepoint is settled by the next look at storage, before anything is started; any other is
 * abandoned. */
void operation_flink_gone(struct lifecycle *life);

void operation_begin_settling(struct lifecycle *life);

/* What the look at storage has shown of the operation that is to be settled. */
void operation_settle(struct lifecycle *life, const struct event *event);

/* Flink has named a complete savepoint. From now on it is known, whatever has become of the operation
 * and of Flink meanwhile: the answer may come when both are over. */
void operation_told(struct lifecycle *life, const struct event *event);

/* It was looked at and is damaged: a savepoint that is known by Flink's word alone is none. */
void operation_disprove(struct lifecycle *life, const char *location);

/* An operation of the agent before is in the journal and Flink still runs: go on with it. */
void operation_adopt(struct lifecycle *life);

/* A savepoint was asked for while no job runs and none is going to: answer it. */
void operation_refuse_savepoint(struct lifecycle *life);

void on_operation(struct lifecycle *life, const struct event *event);
void on_inspected(struct lifecycle *life, const struct event *event);

/* A look at the job while an operation is in flight; true when the operation dealt with it. */
bool operation_view(struct lifecycle *life, const struct view *view);

void operation_tick(struct lifecycle *life);
void schedule_savepoint(struct lifecycle *life);

/* ---- lifecycle_retention.c ---- */

/* The job runs and nothing else is to be done: let an old savepoint go, if there is one. */
void retention_pursue(struct lifecycle *life);
void on_disposed(struct lifecycle *life, const struct event *event);

/* True when it is about the savepoint that is to be left when an older one goes. */
bool retention_inspected(struct lifecycle *life, const struct event *event);

#endif
