#include "core/report/status.h"

#include <string.h>

#include "base/json.h"
#include "core/journal/journal_fields.h"
#include "core/lifecycle/lifecycle_waits.h"
#include "core/report/condition_rescale.h"
#include "core/report/status_snapshots.h"

static void status_add_launch(struct json *doc, const struct launch *launch)
{
	struct json *to;

	if (!launch) {
		json_add_null(doc, "launch");
		return;
	}
	to = json_add_object(doc, "launch");
	record_write(&launch_table, launch, "number jobId restorePoint startedUnixMs", to);
	json_add_bool(to, "restoreVerified", launch->verified_unix_ms != 0);
	json_add_bool(to, "proven", launch->proven_unix_ms != 0);
	record_write(&launch_table, launch, "flinkVersion generation", to);
	record_add(to, "effective", &effective_table, &launch->effective, NULL);
	record_write(&launch_table, launch, "reviewedId reviewedUnixMs unusable", to);
}

static void add_job(struct json *doc, const struct lifecycle *life)
{
	struct json *to = json_add_object(doc, "job");
	bool known = life->launch_step == LAUNCH_LIVE && life->seen.job_present;

	json_add_bool(to, "reachable", life->launch_step == LAUNCH_LIVE && life->seen.reachable);
	json_add_str(to, "state", known ? job_state_name(life->seen.state) : NULL);
	if (known && life->seen.restarts_known)
		json_add_i64(to, "restarts", life->seen.restarts);
	else
		json_add_null(to, "restarts");
}

/* Of the running Flink, as last reported; null = not reported yet. */
static void add_cluster(struct json *doc, const struct lifecycle *life)
{
	const struct cluster *cluster = &life->seen.cluster;
	bool live = life->launch_step == LAUNCH_LIVE;
	struct json *to;

	if (live && life->seen.job_present && cluster->tasks_known) {
		to = json_add_object(doc, "tasks");
		json_add_i64(to, "running", cluster->tasks_running);
		json_add_i64(to, "total", cluster->tasks_total);
	} else {
		json_add_null(doc, "tasks");
	}
	if (!live || !cluster->slots_known) {
		json_add_null(doc, "slots");
		json_add_null(doc, "taskManagers");
		return;
	}
	to = json_add_object(doc, "slots");
	json_add_i64(to, "free", cluster->slots_free);
	json_add_i64(to, "total", cluster->slots_total);
	json_add_i64(doc, "taskManagers", cluster->task_managers);
}

/* Of the running Flink, as last reported; null = not reported yet, or there are none. */
static void add_checkpoints(struct json *doc, const struct lifecycle *life)
{
	const struct checkpointing *seen = &life->seen.checkpointing;
	const struct checkpoint_plan *plan = &life->seen.plan;
	struct json *to;

	if (life->launch_step != LAUNCH_LIVE || !life->seen.statistics_ms) {
		json_add_null(doc, "checkpoints");
		return;
	}
	to = json_add_object(doc, "checkpoints");
	json_add_i64(to, "completed", seen->completed);
	json_add_i64(to, "failed", seen->failed);
	json_add_i64(to, "inProgress", seen->in_progress);
	json_add_i64(to, "failures", seen->failures);
	json_add_str(to, "failure", *seen->failure ? seen->failure : NULL);
	json_add_known(to, "failedUnixMs", seen->failed_unix_ms, 1);
	json_add_known(to, "intervalMs", plan->known ? plan->interval_ms : 0, 1);
	json_add_known(to, "durationMs", seen->duration_ms, 1);
	json_add_known(to, "sizeBytes", seen->size_bytes, 1);
	json_add_i64(to, "processedBytes", seen->processed_bytes);
	json_add_i64(to, "persistedBytes", seen->persisted_bytes);
}

/* Each waits for its own answer: the last operation is soon another one. */
static void add_savepoint_requests(struct json *doc, const struct journal *journal)
{
	struct json *array = json_add_array(doc, "savepointRequests");

	for (size_t i = 0; i < journal->savepoint_request_count; i++) {
		const struct savepoint_request *request = &journal->savepoint_requests[i];
		struct json *to = json_add_object(array, NULL);

		record_write(&savepoint_request_table, request, "nonce", to);
		json_add_str(to, "state",
			     request->answered      ? (request->ok ? "done" : "failed")
			     : *request->trigger_id ? "running"
						    : "waiting");
		record_write(&savepoint_request_table, request, "location error", to);
	}
}

static void add_checkpoint_requests(struct json *doc, const struct journal *journal)
{
	struct json *array = json_add_array(doc, "checkpointRequests");

	for (size_t i = 0; i < journal->checkpoint_request_count; i++) {
		const struct checkpoint_request *request = &journal->checkpoint_requests[i];
		struct json *to = json_add_object(array, NULL);

		record_write(&checkpoint_request_table, request, "nonce full", to);
		json_add_str(to, "state",
			     request->answered      ? (request->ok ? "done" : "failed")
			     : *request->trigger_id ? "running"
						    : "waiting");
		record_write(&checkpoint_request_table, request, "checkpointId location error", to);
	}
}

/* The operation in flight; a requested checkpoint is one, too, for people. */
static void add_operation(struct json *doc, const struct journal *journal)
{
	const struct checkpoint_operation *checkpoint = &journal->checkpoint;
	struct operation operation = journal->operation;

	if (operation.kind == OPERATION_NONE && *checkpoint->trigger_id) {
		operation = (struct operation){.kind = OPERATION_CHECKPOINT,
					       .reason = checkpoint->reason,
					       .started_unix_ms = checkpoint->started_unix_ms};
		memcpy(operation.trigger_id, checkpoint->trigger_id, JOB_ID_BYTES);
	}
	record_add(doc, "operation", &operation_table, &operation,
		   "kind reason format triggerId nonce startedUnixMs");
}

/* What was requested or is due, and why it has not begun. */
static void add_waits(struct json *doc, const struct lifecycle *life)
{
	struct json *array = json_add_array(doc, "waits");
	struct life_wait waits[LIFE_WAITS_MAX];
	size_t count = lifecycle_waits(life, waits);

	for (size_t i = 0; i < count; i++) {
		struct json *to = json_add_object(array, NULL), *clauses;
		const char *clause;

		json_add_str(to, "what", waits[i].what);
		clauses = json_add_array(to, "for");
		for (size_t n = 0; (clause = life_wait_clause(&waits[i], n)); n++)
			json_add_str(clauses, NULL, clause);
	}
}

static void add_attempts(struct json *doc, const struct lifecycle *life, int64_t now_unix_ms)
{
	struct json *to = json_add_object(doc, "attempts");

	json_add_i64(to, "failed",
		     journal_failures_since(&life->journal,
					    now_unix_ms - life->config->attempts_window_ms));
	json_add_i64(to, "max", life->config->max_attempts);
	json_add_i64(to, "windowMs", life->config->attempts_window_ms);
}

/* The deadline is monotonic; the wall clock shows how long ago the last step was. */
static void add_next_savepoint(struct json *doc, const struct lifecycle *life, int64_t now_unix_ms)
{
	int64_t since_step_ms = now_unix_ms - life->now_unix_ms;
	int64_t wait_ms;

	if (!life->savepoint_ms) {
		json_add_null(doc, "nextSavepointInMs");
		return;
	}
	if (since_step_ms < 0) /* the clock was set back */
		since_step_ms = 0;
	wait_ms = life->savepoint_ms - life->now_ms - since_step_ms;
	json_add_i64(doc, "nextSavepointInMs", wait_ms > 0 ? wait_ms : 0);
}

static void add_conditions(struct json *doc, const struct conditions *conditions)
{
	if (conditions->generation)
		json_add_i64(doc, "observedGeneration", conditions->generation);
	conditions_add(conditions, doc, "conditions");
}

struct json *status_document(const struct lifecycle *life, const struct conditions *conditions,
			     int64_t now_unix_ms)
{
	const struct journal *journal = &life->journal;
	const struct launch *launch = journal_launch_const(journal);
	static const struct conditions_outside nothing;
	struct conditions fresh = {0};
	struct json *doc = json_object();
	struct json *to;

	if (!conditions) {
		conditions_update(&fresh, life, &nothing, now_unix_ms);
		conditions = &fresh;
	}
	json_add_str(doc, "application", journal->application);
	json_add_str(doc, "phase", phase_name(lifecycle_phase(life)));
	json_add_str(doc, "cause", cause_name(conditions_cause(conditions, life)));
	json_add_str(doc, "reason", conditions_reason(conditions, life));
	json_add_str(doc, "jobId", launch && *launch->job_id ? launch->job_id : NULL);
	status_add_launch(doc, launch);
	add_job(doc, life);
	add_cluster(doc, life);
	add_checkpoints(doc, life);
	/* of the newest launch that completed one: a new launch does not hide it */
	record_add(doc, "lastCheckpoint", &last_checkpoint_table,
		   journal_last_checkpointed(journal), NULL);
	record_add(doc, "lastSavepoint", &snapshot_table, journal_last_savepoint(journal),
		   "path checkpointId completedUnixMs origin format verified");
	status_add_snapshots(doc, life, STATUS_SNAPSHOTS);
	add_operation(doc, journal);
	record_add(doc, "lastOperation", &operation_result_table, &journal->last_operation,
		   "kind reason nonce ok format location error endedUnixMs");
	add_savepoint_requests(doc, journal);
	add_checkpoint_requests(doc, journal);
	add_waits(doc, life);
	record_add(doc, "desired", &intent_table, &journal->intent, "state doNotRestart");
	status_add_rescale(doc, life);
	add_attempts(doc, life, now_unix_ms);
	record_add(doc, "stateLoss", &state_loss_table, &journal->loss, NULL);
	record_add(doc, "outcome", &outcome_table, &journal->outcome, "kind reason unixMs");
	record_write(&journal_table, journal, "lastError lastErrorUnixMs lastErrorLaunch", doc);
	add_next_savepoint(doc, life, now_unix_ms);
	to = json_add_object(doc, "journal");
	json_add_i64(to, "sequence", life->acknowledged);
	json_add_bool(to, "broken", life->journal_broken || life->fenced);
	json_add_str(to, "error", life->journal_error);
	add_conditions(doc, conditions);
	record_add_list(doc, "transitions", &log_table, journal->log, journal->log_count);
	return doc;
}

/* ---- what is worth telling ---- */

static void forget(struct json *doc, const char *parent, const char *key)
{
	const struct json *from = json_get(doc, parent);
	struct json *rest;

	if (json_kind(from) != JSON_OBJECT)
		return;
	rest = json_copy(from);
	json_remove(rest, key);
	json_remove(doc, parent);
	json_add(doc, parent, rest);
}

void status_digest(const struct json *document, bool routine, struct buf *ret_text)
{
	cleanup_json struct json *rest = json_copy(document);

	json_remove(rest, "nextSavepointInMs");
	forget(rest, "control", "readUnixMs");
	forget(rest, "journal", "sequence");
	if (!routine) {
		json_remove(rest, "lastCheckpoint");
		json_remove(rest, "checkpoints");
		json_remove(rest, "spare");
		status_snapshots_without_checkpoints(rest);
	}
	json_print(rest, ret_text);
}
