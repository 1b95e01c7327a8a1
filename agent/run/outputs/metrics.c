#include "run/outputs/metrics.h"

#include <inttypes.h>

#include "base/mem.h"
#include "run/outputs/exposition.h"
#include "run/outputs/metrics_handover.h"

enum restore_label {
	RESTORED_CHECKPOINT,
	RESTORED_SAVEPOINT,
	RESTORED_NOTHING,
};

static const char *const restore_labels[] = {"checkpoint", "savepoint", "empty"};
static const char *const source_labels[METRICS_SOURCES] = {"socket", "directory"};

/* ---- counting ---- */

static void count_operation(struct metrics *metrics, const struct notice *notice)
{
	if ((size_t)notice->kind < METRICS_OPERATION_KINDS &&
	    (size_t)notice->reason < METRICS_OPERATION_REASONS)
		metrics->operations[notice->kind][notice->reason][notice->ok]++;
	/* the wall clock may have been set back */
	if (notice->ok && notice->path && notice->took_ms >= 0)
		metrics->savepoint_duration_ms = notice->took_ms;
}

static enum restore_label restore_label(const struct notice *notice)
{
	if (!notice->path)
		return RESTORED_NOTHING;
	return notice->restored == SNAPSHOT_SAVEPOINT ? RESTORED_SAVEPOINT : RESTORED_CHECKPOINT;
}

void metrics_notice(struct metrics *metrics, const struct notice *notice)
{
	switch (notice->type) {
	case NOTICE_PHASE:
		/* a pod that has given the job away waits for no other */
		metrics->holds += notice->phase == PHASE_HOLDING && notice->from != PHASE_HOLDING &&
				  notice->cause != CAUSE_STANDING_BY &&
				  notice->cause != CAUSE_HANDOVER_RETURNED;
		break;
	case NOTICE_OPERATION:
		count_operation(metrics, notice);
		break;
	case NOTICE_ATTEMPT_FAILED:
		metrics->failed_attempts++;
		break;
	case NOTICE_RESTORE_VERIFIED:
		metrics->restores[restore_label(notice)]++;
		break;
	default: /* no counter */
		break;
	}
}

void metrics_event(struct metrics *metrics, const struct event *event)
{
	metrics->journal_writes += event->type == EVENT_JOURNAL_WRITTEN;
	metrics->journal_failures += event->type == EVENT_JOURNAL_FAILED;
	metrics->ends += event->type == EVENT_EXITED;
	metrics->oom_kills += event->type == EVENT_EXITED && event->process.oom_killed;
}

/* ---- the text ---- */

static void add_build(struct buf *text, const struct lifecycle *life)
{
	exposition_family(text, "drey_build_info", "gauge", "Always 1; the version of drey.");
	buf_addstr(text, "drey_build_info{");
	exposition_label(text, "version", DREY_VERSION);
	buf_addch(text, ',');
	exposition_label(text, "application", life ? life->journal.application : "");
	buf_addch(text, ',');
	exposition_label(text, "flink_version", life ? life->config->flink_version : "");
	buf_addstr(text, "} 1\n");
}

static void add_phase(struct buf *text, const struct lifecycle *life,
		      const struct conditions *conditions)
{
	exposition_family(text, "drey_phase", "gauge",
			  "1 for the current phase of the application, 0 for the others.");
	for (int i = 0; i < PHASE_COUNT; i++)
		exposition_labelled(text, "drey_phase", "phase", phase_name((enum phase)i),
				    (int)lifecycle_phase(life) == i);
	exposition_family(text, "drey_cause", "gauge",
			  "1 for the cause of the current hold or failure.");
	if (conditions_cause(conditions, life))
		exposition_labelled(text, "drey_cause", "cause",
				    cause_name(conditions_cause(conditions, life)), 1);
	exposition_number(text, "drey_ready", "gauge",
			  "1 when /readyz answers 200: the job and all its tasks are running.",
			  conditions_ready(conditions, life));
}

static void add_states(struct buf *text, const struct lifecycle *life,
		       const struct conditions *conditions)
{
	const struct intent *intent = &life->journal.intent;
	bool live = life->launch_step == LAUNCH_LIVE;
	bool seen = live && life->seen.job_present;

	add_phase(text, life, conditions);
	exposition_family(text, "drey_desired_state", "gauge", "1 for the desired state.");
	for (int i = 0; i <= DESIRED_CANCELLED; i++)
		exposition_labelled(text, "drey_desired_state", "state",
				    desired_state_name((enum desired_state)i),
				    (int)intent->state == i);
	exposition_number(text, "drey_do_not_restart", "gauge",
			  "1 while do-not-restart forbids a launch.", intent->do_not_restart);
	exposition_number(text, "drey_fenced", "gauge",
			  "1 once another drey has written the journal.", life->fenced);
	exposition_family(text, "drey_job_state", "gauge",
			  "1 for the last known state of the Flink job.");
	for (int i = 0; i <= JOB_RECONCILING; i++)
		exposition_labelled(text, "drey_job_state", "state",
				    job_state_name((enum job_state)i),
				    (seen ? (int)life->seen.state : JOB_UNKNOWN) == i);
	exposition_number(text, "drey_flink_reachable", "gauge",
			  "1 when Flink's REST API answered the last request.",
			  live && life->seen.reachable);
}

/* As Flink told last. */
static void add_cluster(struct buf *text, const struct lifecycle *life)
{
	const struct cluster *cluster = &life->seen.cluster;
	bool live = life->launch_step == LAUNCH_LIVE;
	bool tasks = live && life->seen.job_present && cluster->tasks_known;
	bool slots = live && cluster->slots_known;

	exposition_known(text, "drey_tasks", "Tasks of the job.", tasks, cluster->tasks_total);
	exposition_known(text, "drey_tasks_running",
			 "Tasks of the job that are running or have finished.", tasks,
			 cluster->tasks_running);
	exposition_known(text, "drey_task_managers", "TaskManagers registered with Flink.", slots,
			 cluster->task_managers);
	exposition_known(text, "drey_slots", "Slots of the registered TaskManagers.", slots,
			 cluster->slots_total);
	exposition_known(text, "drey_slots_free", "Free slots of the registered TaskManagers.",
			 slots, cluster->slots_free);
	exposition_known(text, "drey_job_restarts",
			 "Restarts of the job by Flink since its launch.",
			 live && life->seen.restarts_known, life->seen.restarts);
}

/* As Flink told last, of this JobManager process. */
static void add_checkpoints(struct buf *text, const struct lifecycle *life,
			    const struct conditions *conditions)
{
	const struct checkpointing *seen = &life->seen.checkpointing;
	const struct checkpoint_plan *plan = &life->seen.plan;
	enum truth failing = conditions->list[CONDITION_CHECKPOINTS_FAILING].status;
	enum truth unusable = conditions->list[CONDITION_CHECKPOINTS_UNUSABLE].status;
	enum truth overridden = conditions->list[CONDITION_SETTINGS_OVERRIDDEN].status;
	bool live = life->launch_step == LAUNCH_LIVE && life->seen.statistics_ms;
	bool last = live && seen->duration_ms > 0;

	exposition_known(text, "drey_checkpoints_failing",
			 "1 while the condition CheckpointsFailing is true.",
			 failing != TRUTH_UNKNOWN, failing == TRUTH_TRUE);
	exposition_known(text, "drey_checkpoints_unusable",
			 "1 while the condition CheckpointsUnusable is true.",
			 unusable != TRUTH_UNKNOWN, unusable == TRUTH_TRUE);
	exposition_known(text, "drey_settings_overridden",
			 "1 while the condition SettingsOverridden is true.",
			 overridden != TRUTH_UNKNOWN, overridden == TRUTH_TRUE);
	exposition_known(text, "drey_checkpoints_completed",
			 "Completed checkpoints and savepoints since this JobManager was started.",
			 live, seen->completed);
	exposition_known(text, "drey_checkpoints_failed",
			 "Failed checkpoints and savepoints since this JobManager was started.",
			 live, seen->failed);
	exposition_known(text, "drey_checkpoints_in_progress",
			 "Checkpoints and savepoints in progress.", live, seen->in_progress);
	exposition_known(text, "drey_checkpoint_failures",
			 "Failed checkpoints since the newest completed one.", live,
			 seen->failures);
	exposition_seconds(text, "drey_checkpoint_interval_seconds",
			   "Interval of the job's checkpoints.",
			   live && plan->known && plan->interval_ms, plan->interval_ms);
	exposition_seconds(text, "drey_checkpoint_last_duration_seconds",
			   "Duration of the newest completed checkpoint.", last, seen->duration_ms);
	exposition_known(text, "drey_checkpoint_last_size_bytes",
			 "Size of the state of the newest completed checkpoint.", last,
			 seen->size_bytes);
	exposition_known(text, "drey_checkpoint_last_processed_bytes",
			 "Data that was processed while its barriers were aligned.", last,
			 seen->processed_bytes);
	exposition_known(text, "drey_checkpoint_last_persisted_bytes",
			 "In-flight data that is stored with it.", last, seen->persisted_bytes);
}

static void add_launches(struct buf *text, const struct metrics *metrics,
			 const struct lifecycle *life, int64_t now_unix_ms)
{
	const struct journal *journal = &life->journal;
	const struct launch *launch = journal_launch_const(journal);
	int failed =
		journal_failures_since(journal, now_unix_ms - life->config->attempts_window_ms);

	exposition_number(text, "drey_launches_total", "counter",
			  "Launches of Flink since the application was created.",
			  launch ? launch->number : 0);
	exposition_seconds(text, "drey_launch_start_timestamp_seconds", "Time of the last launch.",
			   launch && launch->started_unix_ms, launch ? launch->started_unix_ms : 0);
	exposition_number(
		text, "drey_launch_restore_verified", "gauge",
		"1 when Flink has confirmed that it restored exactly the chosen snapshot.",
		launch && launch->verified_unix_ms);
	exposition_number(text, "drey_launch_proven", "gauge",
			  "1 when the last launch has completed a checkpoint.",
			  launch && launch->proven_unix_ms);
	exposition_family(text, "drey_restores_total", "counter",
			  "Verified launches, by what was restored.");
	for (size_t i = 0; i < ARRAY_LEN(restore_labels); i++)
		exposition_labelled(text, "drey_restores_total", "kind", restore_labels[i],
				    metrics->restores[i]);
	exposition_number(text, "drey_failed_attempts_total", "counter",
			  "Failed attempts to run the job.", metrics->failed_attempts);
	exposition_number(text, "drey_attempts_failed", "gauge",
			  "Failed attempts within the window of the limit.", failed);
	exposition_number(text, "drey_attempts_max", "gauge",
			  "Number of failed attempts at which drey gives up.",
			  life->config->max_attempts);
	exposition_number(text, "drey_holds_total", "counter",
			  "Number of times drey started to hold.", metrics->holds);
	exposition_number(text, "drey_flink_ends_total", "counter", "Exits of the Flink process.",
			  metrics->ends);
	exposition_number(
		text, "drey_flink_oom_kills_total", "counter",
		"Exits of the Flink process in which the kernel killed a process of the container for lack of memory.",
		metrics->oom_kills);
}

static void add_spare(struct buf *text, const struct metrics *metrics)
{
	exposition_number(text, "drey_spare_ready", "gauge",
			  "1 while a spare JVM waits to take over.", metrics->spare_ready);
	exposition_number(text, "drey_spares_total", "counter", "Spare JVMs that drey asked for.",
			  metrics->spares);
	exposition_number(text, "drey_spare_launches_total", "counter",
			  "Launches that ran in a spare JVM.", metrics->spare_launches);
}

static void add_gc(struct buf *text, const struct metrics *metrics)
{
	exposition_number(text, "drey_cleanup_deleted_files_total", "counter",
			  "Files of dead launches that drey has deleted.", metrics->gc_files);
	exposition_number(text, "drey_cleanup_deleted_bytes_total", "counter",
			  "Bytes of these files.", metrics->gc_bytes);
	exposition_known(text, "drey_cleanup_doubt_files",
			 "Files of dead launches that are kept because they cannot be judged.",
			 metrics->gc_on, metrics->gc_doubt_files);
	exposition_known(text, "drey_cleanup_doubt_bytes", "Bytes of these files.", metrics->gc_on,
			 metrics->gc_doubt_bytes);
	exposition_known(text, "drey_cleanup_stopped",
			 "1 when the last run could not judge or delete everything.",
			 metrics->gc_on, metrics->gc_stopped);
	exposition_seconds(text, "drey_cleanup_last_timestamp_seconds", "End of the last run.",
			   metrics->gc_on, metrics->gc_last_unix_ms);
}

static void add_operations(struct buf *text, const struct metrics *metrics,
			   const struct lifecycle *life)
{
	const struct operation *operation = &life->journal.operation;
	struct operation checkpoint = {
		0}; /* that was requested: for people it is an operation, too */

	exposition_family(
		text, "drey_operations_total", "counter",
		"Completed or failed savepoints, stops, cancels, disposals and requested checkpoints.");
	for (int kind = 1; kind < METRICS_OPERATION_KINDS; kind++)
		for (int reason = 0; reason < METRICS_OPERATION_REASONS; reason++)
			for (int ok = 0; ok < 2; ok++) {
				if (!metrics->operations[kind][reason][ok])
					continue;
				buf_addf(text,
					 "drey_operations_total{kind=\"%s\",reason=\"%s\","
					 "result=\"%s\"} %" PRId64 "\n",
					 operation_kind_name((enum operation_kind)kind),
					 operation_reason_name((enum operation_reason)reason),
					 ok ? "ok" : "failed",
					 metrics->operations[kind][reason][ok]);
			}
	exposition_family(text, "drey_operation_start_timestamp_seconds", "gauge",
			  "Start time of the operation in progress.");
	if (operation->kind == OPERATION_NONE && *life->journal.checkpoint.trigger_id) {
		checkpoint.kind = OPERATION_CHECKPOINT;
		checkpoint.reason = life->journal.checkpoint.reason;
		checkpoint.started_unix_ms = life->journal.checkpoint.started_unix_ms;
		operation = &checkpoint;
	}
	if (operation->kind != OPERATION_NONE)
		buf_addf(text,
			 "drey_operation_start_timestamp_seconds{kind=\"%s\",reason=\"%s\"} "
			 "%" PRId64 ".%03d\n",
			 operation_kind_name(operation->kind),
			 operation_reason_name(operation->reason),
			 operation->started_unix_ms / 1000,
			 (int)(operation->started_unix_ms % 1000));
}

static void add_snapshots(struct buf *text, const struct metrics *metrics,
			  const struct lifecycle *life)
{
	static const struct snapshot none = {.size_bytes = -1};
	const struct journal *journal = &life->journal;
	const struct snapshot *savepoint = journal_last_savepoint(journal);
	const struct launch *launch = journal_last_checkpointed(journal);

	if (!savepoint)
		savepoint = &none;
	exposition_seconds(text, "drey_savepoint_last_timestamp_seconds",
			   "Completion time of the last savepoint.",
			   savepoint->completed_unix_ms > 0, savepoint->completed_unix_ms);
	exposition_known(text, "drey_savepoint_last_size_bytes",
			 "Size of all files of the last savepoint.", savepoint->size_bytes >= 0,
			 savepoint->size_bytes);
	exposition_known(text, "drey_savepoint_last_checkpoint_id",
			 "Checkpoint id of the last savepoint.", savepoint->checkpoint_id > 0,
			 savepoint->checkpoint_id);
	exposition_seconds(
		text, "drey_savepoint_last_duration_seconds",
		"Duration of the last savepoint made since drey started, until it was recorded.",
		metrics->savepoint_duration_ms > 0, metrics->savepoint_duration_ms);
	exposition_seconds(text, "drey_savepoint_next_timestamp_seconds",
			   "Time at which the next periodic savepoint is due.",
			   life->savepoint_ms != 0,
			   life->now_unix_ms + life->savepoint_ms - life->now_ms);
	exposition_seconds(
		text, "drey_lost_state_seconds",
		"Time of the state that launches have given up, and that nobody has acknowledged.",
		true, life->journal.loss.unix_ms ? life->journal.loss.total_ms : 0);
	exposition_known(text, "drey_checkpoint_last_id",
			 "Id of the newest known completed checkpoint.", launch != NULL,
			 launch ? launch->last_checkpoint_id : 0);
	exposition_seconds(text, "drey_checkpoint_last_timestamp_seconds",
			   "Completion time of the newest known checkpoint.",
			   launch && launch->last_checkpoint_unix_ms > 0,
			   launch ? launch->last_checkpoint_unix_ms : 0);
}

static void add_records(struct buf *text, const struct metrics *metrics,
			const struct lifecycle *life)
{
	exposition_number(text, "drey_journal_writes_total", "counter", "Writes of the journal.",
			  metrics->journal_writes);
	exposition_number(text, "drey_journal_write_failures_total", "counter",
			  "Failed writes of the journal.", metrics->journal_failures);
	exposition_number(text, "drey_journal_sequence", "gauge",
			  "Number of the last acknowledged write.", life->acknowledged);
	exposition_number(text, "drey_journal_broken", "gauge",
			  "1 while the journal cannot be written.",
			  life->journal_broken || life->fenced);
	exposition_family(text, "drey_control_changes_total", "counter",
			  "Accepted requests and changes of the desired state.");
	for (int i = 0; i < METRICS_SOURCES; i++)
		exposition_labelled(text, "drey_control_changes_total", "source", source_labels[i],
				    metrics->control[i]);
	exposition_family(text, "drey_hooks_total", "counter", "Executed hooks.");
	for (int i = 0; i < HOOK_EVENTS; i++)
		for (int ok = 0; ok < 2; ok++)
			if (metrics->hooks[i][ok])
				buf_addf(text,
					 "drey_hooks_total{hook=\"%s\",result=\"%s\"} %" PRId64
					 "\n",
					 hook_event_name((enum hook_event)i), ok ? "ok" : "failed",
					 metrics->hooks[i][ok]);
	exposition_number(text, "drey_events_total", "counter", "Kubernetes Events posted.",
			  metrics->events_told);
	exposition_number(text, "drey_events_dropped_total", "counter",
			  "Kubernetes Events that could not be posted.", metrics->events_dropped);
	exposition_number(text, "drey_notifications_total", "counter",
			  "Notifications that the webhook has accepted.",
			  metrics->notifications_sent);
	exposition_number(text, "drey_notifications_dropped_total", "counter",
			  "Notifications that the webhook refused, or could not be given in time.",
			  metrics->notifications_dropped);
	exposition_family(text, "drey_control_refusals_total", "counter",
			  "Refused requests and changes of the desired state.");
	for (int i = 0; i < METRICS_SOURCES; i++)
		exposition_labelled(text, "drey_control_refusals_total", "source", source_labels[i],
				    metrics->refused[i]);
}

static void add_copy(struct buf *text, const struct metrics *metrics,
		     const struct conditions *conditions)
{
	enum truth failing = conditions->list[CONDITION_JOURNAL_COPY_FAILING].status;

	exposition_seconds(text, "drey_journal_copy_timestamp_seconds",
			   "Date of the copy of the journal in storage.", metrics->copy_unix_ms > 0,
			   metrics->copy_unix_ms);
	exposition_known(text, "drey_journal_copy_failing",
			 "1 while the condition JournalCopyFailing is true.",
			 failing != TRUTH_UNKNOWN, failing == TRUTH_TRUE);
}

void metrics_text(const struct metrics *metrics, const struct lifecycle *life,
		  const struct standby *standby, const struct conditions *conditions,
		  int64_t now_unix_ms, struct buf *text)
{
	add_build(text, life);
	if (!life)
		return;
	metrics_role(life, standby, text);
	if (standby) { /* of the application the owner tells */
		add_phase(text, life, conditions);
		return;
	}
	add_states(text, life, conditions);
	add_cluster(text, life);
	add_checkpoints(text, life, conditions);
	add_launches(text, metrics, life, now_unix_ms);
	add_spare(text, metrics);
	add_gc(text, metrics);
	add_operations(text, metrics, life);
	add_snapshots(text, metrics, life);
	add_records(text, metrics, life);
	add_copy(text, metrics, conditions);
	metrics_handover(life, text);
}
