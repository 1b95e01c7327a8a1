/*
 * lifecycle_internal - what the parts of the lifecycle share. Private to them.
 *
 *   lifecycle.c            the events, the deadlines, what to pursue
 *   lifecycle_check.c      what is always true between two steps
 *   lifecycle_halt.c       what is left when that is not true
 *   lifecycle_effects.c    effects, and those that wait for a journal write
 *   lifecycle_notice.c     notices, for hooks, Events and metrics
 *   lifecycle_fence.c      two dreys: which one owns the journal, and what the other may still run
 *   lifecycle_copy.c       the journal is lost, and made from its copy in storage
 *   lifecycle_launch.c     resolving, launching, failures
 *   lifecycle_view.c       polling the job: its restore, its checkpoints, its end
 *   lifecycle_tasks.c      its tasks, slots and TaskManagers
 *   lifecycle_ended.c      the job has ended
 *   lifecycle_outside.c    savepoints and stops requested from Flink by others
 *   lifecycle_stopping.c   the container is being stopped: upgrade, or not
 *   lifecycle_kept.c       whether the end of Flink would delete the checkpoints of its job
 *   lifecycle_cleanup.c    what Flink does after its job has ended, before drey ends it
 *   lifecycle_end.c        the end of Flink; a new agent that finds Flink running or ended
 *   lifecycle_operation.c  savepoint, stop, cancel
 *   lifecycle_take_checkpoint.c  a checkpoint now, on request or periodically
 *   lifecycle_stop_failed.c  a stop on request has failed: again, or what else
 *   lifecycle_settle.c     an operation interrupted by Flink's end
 *   lifecycle_retention.c  disposing of old savepoints
 *   lifecycle_review.c     reading completed checkpoints while the job runs
 *   lifecycle_stall.c      restarting a job that completes no checkpoint
 *   lifecycle_rescale.c    another parallelism for the running job
 *   lifecycle_handover*.c  hand-overs: the journal is given, claimed, returned
 *   lifecycle_transition*.c  hand-overs in which both versions run for a while (blue/green)
 */
#ifndef DREY_CORE_LIFECYCLE_INTERNAL_H
#define DREY_CORE_LIFECYCLE_INTERNAL_H

#include "core/lifecycle/lifecycle.h"

/* ---- lifecycle_effects.c ---- */

/* Append to the effects of this step; borrowed until the next call. */
struct effect *emit(struct lifecycle *life, enum effect_type type);

/* Like emit(), but the effect comes out once the journal, as it is at the end of this step, has
 * been written. */
struct effect *emit_after_write(struct lifecycle *life, enum effect_type type);
/* The one of this type that waits for the journal; NULL = none; borrowed. */
const struct effect *find_deferred(const struct lifecycle *life, enum effect_type type);

/* Release the effect and close the gap. */
void effects_remove(struct effects *effects, size_t index);
void effects_move(struct effects *from, size_t index, struct effects *to); /* to its end */

/* Withdraw deferred effects of this type; true if there were any. */
bool withdraw(struct lifecycle *life, enum effect_type type);

void note(struct lifecycle *life, enum note_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Change the phase; the transition is written to the journal and to the log. */
void enter(struct lifecycle *life, enum phase phase, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, when the desired state is not reached. */
void enter_because(struct lifecycle *life, enum phase phase, enum cause cause, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Emit the write of the journal if something has changed and none is in flight. */
void flush_journal(struct lifecycle *life);
void on_journal_written(struct lifecycle *life, const struct event *event);
void on_journal_failed(struct lifecycle *life, const struct event *event);

/* ---- lifecycle_notice.c ---- */

/* Emit a notice, with phase, cause and launch as they are; the caller fills in the rest, before the
 * next effect. Borrowed. */
struct notice *tell(struct lifecycle *life, enum notice_type type);

/* started_unix_ms: 0 = not known. */
void tell_operation(struct lifecycle *life, const struct operation_result *result,
		    int64_t started_unix_ms);

/* What a step may change, and of which only the difference is reported. */
struct standing {
	enum phase phase;
	enum cause cause;
	bool fenced;
};
struct standing standing(const struct lifecycle *life,
			 const struct event *event); /* before the step */
void tell_changes(struct lifecycle *life, const struct event *event, const struct standing *before);

/* ---- lifecycle_halt.c ---- */

/* life->contradiction was found in the step of this event: withdraw what the step would have done,
 * and hold. `before`: the standing before that step. */
void halt(struct lifecycle *life, const struct event *event, const struct standing *before);
void halted_step(struct lifecycle *life, const struct event *event, const struct standing *before);

/* ---- lifecycle_notice.c, continued ---- */

/* The end that the previous agent reported; PHASE_COUNT = none. */
enum phase end_on_record(const struct journal *journal);

/* ---- lifecycle_fence.c ---- */

/* Another drey has written the journal: this one stops acting, and kills its Flink. */
void fence(struct lifecycle *life, const char *why);

/* Was it decided by a drey in another place? */
bool is_elsewhere(const struct lifecycle *life, const struct launch *launch);
/* Was the journal, as read, last written by a drey in another place? */
bool was_written_elsewhere(const struct lifecycle *life);

/* A new agent: must it wait for a launch of another place whose end was not observed? */
void takeover_begin(struct lifecycle *life);
/* No launch of another place can still be running. */
bool takeover_is_over(const struct lifecycle *life);
/* True if a start is decided but must still wait; it is reconsidered when it may happen. */
bool takeover_waits(struct lifecycle *life);

/* While Flink is alive: when to check the journal next, and until when may Flink run? */
void watch_journal(struct lifecycle *life);
void check_journal(struct lifecycle *life); /* now, unless that is under way */
void on_journal_seen(struct lifecycle *life, const struct event *event);
/* The journal requested at that time was ours. */
void journal_is_ours(struct lifecycle *life, int64_t asked_ms);

/* ---- lifecycle_lease.c: until when may Flink run? ---- */

void lease_begin(struct lifecycle *life);
void lease_extend(struct lifecycle *life);
void lease_watch(struct lifecycle *life, bool live);
/* When the next start of Flink is due; 0 = it is. */
int64_t pace_launch_ms(const struct lifecycle *life);
void pace_launched(struct lifecycle *life);
int pace_count(
	const struct lifecycle *life); /* starts in the last minute, as far as they are kept */
/* At the end of a step: what would come too often waits, and the rest of its kind behind it. */
void pace_effects(struct lifecycle *life);
/* For lifecycle_check(). */
bool pace_is_kept(const struct lifecycle *life);
/* A Flink that is started now need not be killed at once. */
bool lease_leaves_time(const struct lifecycle *life);
/* Else: of which lease, and a sentence. */
enum cause lease_that_ends(const struct lifecycle *life, const char **ret_why);
bool lease_is_awaited(const struct lifecycle *life); /* a launch was held for the journal alone */
void lease_ran_out(struct lifecycle *life);
void on_lease(struct lifecycle *life, const struct event *event);

/* ---- lifecycle_resolve.c ---- */

/* Request the facts; while the Flink of another place may still be alive, no start is decided from
 * them. */
void observe(struct lifecycle *life);

/* Decide what to start from, or park if no launch is desired. */
void resolve_start(struct lifecycle *life, const char *why);
void park(struct lifecycle *life, const struct decision *decision);
void on_observed(struct lifecycle *life, const struct event *event);
void on_refused(struct lifecycle *life, const struct event *event);

/* Nothing can be started now; the facts are gathered again later. */
void hold(struct lifecycle *life, const struct decision *decision);
void look_again(struct lifecycle *life);

/* A snapshot of it was seen, or reported by Flink: it may have been deleted by the next
 * observation, and must not count as never made then. */
void launch_has_left_state(struct lifecycle *life, struct launch *launch);

/* ---- lifecycle_launch.c ---- */

/* The intent is written to the journal first; EFFECT_LAUNCH comes out after that. */
void begin_launch(struct lifecycle *life, const struct decision *decision,
		  const struct facts *facts);

/* A launch that was intended but not requested yet is no longer desired. */
void launch_withdraw(struct lifecycle *life);
void launch_never_started(struct lifecycle *life, struct launch *launch); /* for certain */
void launch_written(struct lifecycle *life); /* the deferred EFFECT_LAUNCH is due */
void on_started(struct lifecycle *life, const struct event *event);
void on_launch_failed(struct lifecycle *life, const struct event *event);
void on_launch_refused(struct lifecycle *life, const struct event *event);
/* number: of the launch, 0 = not known; a launch that continues has the job id of the previous
 * one. */
bool is_current_launch(struct lifecycle *life, const char *launch_id, int64_t number);

/* A launch failed: count it, then retry later or give up. */
void launch_failure(struct lifecycle *life, const char *why);

/* ---- lifecycle.c ---- */

/* Ask Flink about the job, if that is not under way. */
void poll_now(struct lifecycle *life);

/* ---- lifecycle_view.c ---- */

void on_view(struct lifecycle *life, const struct event *event);

/* The journal is being written, including the newest checkpoint. */
void checkpoint_noted(struct lifecycle *life);

/* Flink has lost its leadership, with the JobMaster, and has recovered the job that had this job_unix_ms (0 = not known:
 * false), and that was seen for so long. Flink 1.x reports what the JobMaster had under way as in progress until Flink ends. */
bool job_was_recovered(const struct lifecycle *life, int64_t job_unix_ms, int64_t patience_ms);
#define RECOVERED_MS 10000 /* Flink may still report how an operation has ended */

/* That has happened to the operation in flight. */
bool operation_is_lost(const struct lifecycle *life);
#define LOST_WITH_JOB_MASTER "Flink has lost its leadership and recovered the job"

/* ---- lifecycle_tasks.c ---- */

/* Remember what a poll showed of the tasks. */
void see_tasks(struct lifecycle *life, const struct view *view);

/* Are the tasks running, or for how long may they be missing? Called again at tasks_ms. */
void watch_tasks(struct lifecycle *life);

/* The tasks have not all run for as long as a start may take (ready_ms). */
void not_ready(struct lifecycle *life);

/* What the next poll requests. */
enum poll_depth poll_depth(const struct lifecycle *life, const struct launch *launch);

/* ---- lifecycle_checkpoints.c ---- */

/* Remember what a poll showed of the checkpoints; after see_tasks(). */
void see_statistics(struct lifecycle *life, const struct view *view);
/* The next poll asks for the settings of the job, too: once for each JobMaster, and not soon after the job began
 * to run, unless it has a checkpoint. */
bool plan_is_due(const struct lifecycle *life);
/* Record what a poll showed of them; the date of the job is known. */
void see_settings(struct lifecycle *life, struct launch *launch, const struct view *view);
void settings_forget(struct lifecycle *life);

/* Why the next start would not continue from the newest checkpoint of the live launch; NULL = it would, if
 * nothing is newer. */
const char *checkpoint_excluded(const struct lifecycle *life);

/* Report that they fail, and that they do not any more. */
void watch_checkpoints(struct lifecycle *life);

/* ---- lifecycle_ended.c ---- */

/* Record how the job of the current launch ended; nothing is launched automatically any more. */
void outcome_set(struct lifecycle *life, enum outcome_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The end of this job is recorded, and Flink's own record of it is not needed. */
void launch_end_is_known(struct lifecycle *life, const char *job_id);

/* The job ended without our request. */
void job_ended(struct lifecycle *life, const struct view *view);

/* The job is FAILED, and the picture without a cause may be older than that. */
bool cause_may_come(const struct lifecycle *life, const struct view *view);

/* The same, or it is FINISHED, but the savepoints shown may be older: poll again. */
bool end_is_unclear(struct lifecycle *life, const struct view *view);

/* FINISHED, and not by a stop with savepoint. */
bool finished_by_itself(const struct view *view);

/* The same while it was being stopped or cancelled: FINISHED is what counts. */
void job_finished_first(struct lifecycle *life);

/* The same while Flink is being stopped. */
void job_finished_meanwhile(struct lifecycle *life, const struct view *view);

/* Flink stores the end of a job after it has removed the HA data of the job. If it cannot, and loses its leadership, it recovers
 * the job when it leads again, from a checkpoint that is older than the end: SIGKILL, before that job writes anything. */
void end_job_that_runs_again(struct lifecycle *life, const struct view *view);

/* ---- lifecycle_outside.c ---- */

/* Record the savepoints of the running launch that drey did not request. */
void outside_savepoints(struct lifecycle *life, const struct view *view);

/* The savepoint of a stop, if it is the last one that the job completed; else NULL. Borrowed. */
const struct seen_savepoint *shown_stop(const struct view *view);

/* The savepoint with which the FINISHED job was stopped by others, now recorded; NULL: it finished
 * on its own, or drey stopped it. Borrowed from the view. */
const struct seen_savepoint *outside_stop(struct lifecycle *life, const struct view *view);

/* After each step: remember that the job runs while do-not-restart is on. */
void watch_do_not_restart(struct lifecycle *life);

/* A poll has shown that the job has not ended: do-not-restart counts as off from now on if it is
 * off. */
void seen_without_do_not_restart(struct lifecycle *life);

/* ---- lifecycle_stopping.c ---- */

void on_stopping(struct lifecycle *life, int64_t grace_left_ms, enum upgrade upgrade);

/* After every event of a container that ends: what follows for the job (the table in
 * lifecycle_stopping.c). Nothing happens twice. */
void stopping_pursue(struct lifecycle *life);

/* The container is being stopped, and this operation has failed; `error` is copied. A stop is not
 * repeated then; the failure of another operation does not prevent the stop. */
void stopping_failed(struct lifecycle *life, enum operation_kind kind, const char *error);

/* The container is being stopped: exit as soon as the journal is written. */
void leave(struct lifecycle *life);

/* With exit_when_finished: the job has finished, or was stopped with a savepoint through Flink. The
 * container then exits with 0. */
bool ended_well(const struct lifecycle *life);

/* With exit_when_finished, exit status 0 of the container means that the job has finished: before
 * that it exits as by SIGTERM. */
int end_status(const struct lifecycle *life);

/* The job has ended as a stop or a cancel wanted it, or does not end: record that, and end Flink. */
void operation_stopped(struct lifecycle *life, const char *how);

/* ---- lifecycle_kept.c ---- */

/* Would SIGTERM make the running Flink delete the checkpoints of its job? */
bool signal_deletes_checkpoints(const struct lifecycle *life);
/* A cancel was decided. True: it would delete them, so Flink is ended without one. */
bool cancel_by_kill(struct lifecycle *life);

/* ---- lifecycle_cleanup.c ---- */

/* The end of the job is recorded, and Flink may be ended. True: it is not ended yet, because it
 * still cleans up after its job. */
bool cleanup_begin(struct lifecycle *life);
void cleanup_seen(struct lifecycle *life, enum cleanup cleanup);
void cleanup_gives_up(struct lifecycle *life); /* clean_ms has come */

/* ---- lifecycle_end.c ---- */

/* SIGTERM to Flink now, SIGKILL after kill_after_ms. */
void terminate_flink(struct lifecycle *life);

/* End Flink: SIGTERM now (or after the journal write), SIGKILL later. When it has ended, what
 * follows is resolve_start(), a counted failure, or the exit if the container is being stopped. */
void end_flink(struct lifecycle *life, bool after_write, bool counts, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same immediately, as a failed attempt with its own cause. */
void end_flink_because(struct lifecycle *life, enum cause cause, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The end of a job cannot be recorded. After a stop whose savepoint is known Flink is killed all the same: it may run the job again
 * (end_job_that_runs_again()), and the savepoint is found in storage, as after the death of an agent. */
void end_flink_unrecorded(struct lifecycle *life);
enum phase ending_phase(const struct lifecycle *life); /* while Flink is being ended */
bool flink_is_live(const struct lifecycle *life);      /* also one that is not in the journal */
void kill_flink(struct lifecycle *life); /* SIGKILL now, to its whole group, until it has ended */
void on_exited(struct lifecycle *life, const struct event *event);

/* The first event: is Flink running, or how did it end while no agent was running? */
void adopt(struct lifecycle *life, const struct event *event);

/* ---- lifecycle_operation.c ---- */

void operation_start(struct lifecycle *life, enum operation_kind kind, enum operation_reason reason,
		     const char *nonce);

/* The operation cannot continue (Flink has ended, or something is more urgent): record it as
 * failed. */
void operation_abandon(struct lifecycle *life, const char *why);

/* Its request was answered: the same nonce no longer requests anything. */
void operation_remember(struct lifecycle *life, const struct operation *operation);

/* Record how it ended; the operation itself stays until operation_clear(). */
void operation_record(struct lifecycle *life, bool ok, const char *location, const char *error);
void operation_clear(struct lifecycle *life);

/* Forget requests in flight and what earlier answers showed. */
void operation_enter(struct lifecycle *life, enum operation_step step);
enum snapshot_origin operation_origin(const struct operation *operation);

/* Flink has ended: an operation that only waited for that has succeeded; one that may have left a
 * savepoint is settled by the next observation of storage, before anything is started; any other is
 * abandoned. */
void operation_flink_gone(struct lifecycle *life);

void operation_begin_settling(struct lifecycle *life);

/* What the observation of storage showed about the operation to settle. */
void operation_settle(struct lifecycle *life, const struct event *event);

/* Flink has named a complete savepoint. It is recorded, whatever the state of the operation and of
 * Flink: the answer may arrive after both have ended. */
void operation_told(struct lifecycle *life, const struct event *event);

/* It was inspected and is damaged: a savepoint known only from Flink's answer does not count. */
void operation_disprove(struct lifecycle *life, const char *location);

/* The first POST for the operation goes out now. */
void operation_sent(struct lifecycle *life);

/* Flink has said that the stop in flight is done, which it does when the job has ended; that was not seen yet. */
bool stop_is_reported(const struct lifecycle *life);

/* An operation of the previous agent is in the journal and Flink is still running: continue it. */
void operation_adopt(struct lifecycle *life);

void on_operation(struct lifecycle *life, const struct event *event);
void on_inspected(struct lifecycle *life, const struct event *event);

/* A view of the job while an operation is in flight; true if the operation handled it. */
bool operation_view(struct lifecycle *life, const struct view *view);

void operation_tick(struct lifecycle *life);

/* ---- lifecycle_periodic.c ---- */

/* Plan the next periodic savepoint, but not within `pause_ms`. */
void schedule_savepoint(struct lifecycle *life);
void schedule_savepoint_after(struct lifecycle *life, int64_t pause_ms);

/* ---- lifecycle_stop_failed.c ---- */

void stop_flink_gone(struct lifecycle *life); /* a restart that has ended it is done */
/* A resume has come before Flink was told to end for a suspend: it runs on. */
void stop_withdrawn(struct lifecycle *life);

/* A stop with savepoint has failed for good, and the job runs. nonce: of a restart. */
void stop_failed(struct lifecycle *life, enum operation_reason reason, const char *nonce,
		 const char *why);

/* The job runs, and its stop is tried again after a pause, if it is still requested. */
void stop_again(struct lifecycle *life, const char *why);

/* ---- lifecycle_last_resort.c ---- */

/* End the job without a savepoint, once its newest checkpoint was read: else stop_again(). nonce: of a restart. */
void last_resort_begin(struct lifecycle *life, enum operation_reason reason, const char *nonce,
		       const char *why);
void last_resort_viewed(struct lifecycle *life);
bool last_resort_inspected(struct lifecycle *life,
			   const struct event *event); /* true: it was for this */
void last_resort_forget(struct lifecycle *life); /* the request was withdrawn, or Flink has ended */

/* ---- lifecycle_take_checkpoint.c ---- */

/* Start the checkpoint that is wanted or due, while no operation is in flight; false: there is none. */
bool checkpoint_pursue(struct lifecycle *life);
bool checkpoint_in_flight(const struct lifecycle *life);
void checkpoint_schedule(struct lifecycle *life); /* the next periodic full one */

/* Something more urgent begins: the one in flight counts as failed. */
void checkpoint_give_up(struct lifecycle *life, const char *why);
void checkpoint_flink_gone(struct lifecycle *life);
void checkpoint_forget(struct lifecycle *life); /* the journal is another drey's */
void checkpoint_refuse(
	struct lifecycle *life); /* no job runs, or is about to: answer the requests */

/* Flink still runs, and the previous agent may have asked it for a checkpoint. */
void checkpoint_adopt(struct lifecycle *life);
void on_checkpoint(struct lifecycle *life, const struct event *event);
void checkpoint_tick(struct lifecycle *life);

/* ---- lifecycle_handover*.c ---- */

/* At the first event, before it is taken: with what right is the journal ours? */
void handover_begin(struct lifecycle *life, const struct event *event);
void on_candidate(struct lifecycle *life, const struct event *event);

/* After each event: what follows for a hand-over. True: the journal is given away, or another's, and
 * nothing else is to be pursued. */
bool handover_stepped(struct lifecycle *life);
void handover_deadline(struct lifecycle *life);

/* The journal is about to be written: may it be? It was written. */
bool handover_may_write(struct lifecycle *life);
void handover_written(struct lifecycle *life);

/* The job has ended as a stop wanted it, and the result is recorded: the journal goes to the candidate
 * with that record. */
void handover_stopped(struct lifecycle *life);
void handover_stop_failed(struct lifecycle *life, const char *why);

/* A launch has failed, and its Flink is dead. True: the job goes back to the pod before. */
bool handover_returns(struct lifecycle *life, const char *why);
void handover_runs(struct lifecycle *life); /* the job runs, from the decided state */

/* The container is being stopped, and no Flink runs: who gets the journal? */
void handover_leaves(struct lifecycle *life);
/* It is being stopped, and the job runs: the stop is that of a hand-over if the candidate is prepared. */
void handover_stops_for_upgrade(struct lifecycle *life, int64_t budget_ms);
void handover_rests(struct lifecycle *life); /* the phase of one that has given */

/* Another pod may take the journal although nothing runs here. */
bool handover_must_check(const struct lifecycle *life);
void handover_forgive(struct lifecycle *life); /* a person asks for a start */
int64_t handover_takeover_ms(const struct lifecycle *life);

/* The id of the Flink that waits in main(), if this start can be its. */
bool handover_held_id(const struct lifecycle *life, const struct decision *decision,
		      const struct facts *facts, char job_id[JOB_ID_BYTES]);
/* No Flink waits in main() any more; false: it is being killed. */
bool handover_frees_flink(struct lifecycle *life);
/* It has exited: true: that was all. */
bool handover_held_exited(struct lifecycle *life, const struct event *event);
void handover_release_seen(struct lifecycle *life);

/* ---- lifecycle_transition*.c ---- */

void on_gate(struct lifecycle *life, const struct event *event);
void on_flip(struct lifecycle *life, const struct event *event);
/* After each step: what the gates here are to be told. */
void transition_tell_gates(struct lifecycle *life);

/* No Flink is started now: the job has ended for the candidate, or starts again from before the cut. True:
 * that is the phase from now on. */
bool transition_rests(struct lifecycle *life);
/* What people want waits until it is over. */
bool transition_defers(const struct lifecycle *life);
/* From the choice of the cut until it is forgotten no savepoints are taken by schedule: what a job has that
 * starts from one depends on the gates. */
bool transition_saves_not(const struct lifecycle *life);
/* A launch was to be made for the replay, and was decided otherwise. */
void transition_observed(struct lifecycle *life, const struct event *event);

/* With these fields a person would withdraw the order for the replay. True: it stays. One who says what to start
 * from instead knows better. */
bool transition_keeps_restore(struct lifecycle *life, unsigned fields);
/* The side that a launch from there is told, for its output (launch.output_side). While two jobs may run, each keeps its
 * own, whatever a person restores. */
enum side transition_output_side(const struct lifecycle *life, const struct snapshot *from);

/* A stop of the transition has failed, and the job runs. */
void transition_stop_failed(struct lifecycle *life);

/* CONTROL_PROMOTE, CONTROL_ABORT */
void transition_wished(struct lifecycle *life, const struct event *event);

/* ---- lifecycle_loss.c ---- */

/* A launch is decided: what it gives up is recorded with it, and told; or what an earlier one gave up is
 * usable again. */
void loss_begin(struct lifecycle *life, const struct decision *decision, const struct facts *facts,
		const struct launch *launch);
/* A savepoint is complete and was checked; its operation began then. */
void loss_saved(struct lifecycle *life, const char *savepoint, int64_t begun_unix_ms);
/* CONTROL_ACKNOWLEDGE; the nonce counts once. */
void loss_acknowledge(struct lifecycle *life, const char *nonce);

/* ---- lifecycle_retention.c ---- */

/* The job is running and nothing else is pending: dispose of an old savepoint, if there is one. */
void retention_pursue(struct lifecycle *life);
void on_disposed(struct lifecycle *life, const struct event *event);

/* True if it concerns the savepoint to keep when an older one is disposed of. */
bool retention_inspected(struct lifecycle *life, const struct event *event);

/* ---- lifecycle_stall.c ---- */

/* The job runs and nothing else is pending: is it to be restarted, because it completes no checkpoint?
 * True while that is being found out. */
bool stall_pursue(struct lifecycle *life);

/* True if it concerns the checkpoint to restart from. */
bool stall_inspected(struct lifecycle *life, const struct event *event);

/* ---- lifecycle_review.c ---- */

/* The job runs, and nothing else is due: is a completed checkpoint to be read? */
void review_pursue(struct lifecycle *life);

/* After each event: a review ends when something else needs the job. */
void review_give_way(struct lifecycle *life);
void review_soon(struct lifecycle *life); /* the job was built anew: the next one that completes */
void review_inspected(struct lifecycle *life, const struct event *event);
void review_viewed(struct lifecycle *life,
		   const struct view *view); /* after the next poll was planned */
void review_forget(struct lifecycle *life);

/* ---- lifecycle_rescale.c ---- */

/* The job runs and no stop is requested: is another parallelism, and has this launch got it? True while
 * Flink is being asked. */
bool rescale_pursue(struct lifecycle *life);
/* A new request (CONTROL_PARALLELISM), which has a nonce, replaces one that is not answered. */
void rescale_take(struct lifecycle *life, const struct parallelism *wanted);
void on_rescaled(struct lifecycle *life, const struct event *event);
void rescale_forget(struct lifecycle *life); /* the Flink has ended */
/* An operation begins: bounds that Flink has not got yet would end it. */
void rescale_yield(struct lifecycle *life);

/* ---- lifecycle_copy.c ---- */

/* DECISION_ADOPT: facts->copy becomes the journal, and is empty afterwards. */
void copy_adopt(struct lifecycle *life, const struct decision *decision, struct facts *facts);
/* A launch was decided although the copy knows of others: their ids are not drawn again. */
void copy_remember_jobs(struct journal *journal, const struct facts *facts);

#endif
