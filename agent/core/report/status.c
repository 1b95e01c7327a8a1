#include "core/report/status.h"

#include "base/json.h"

/* 0 (or for ids "") means "not known". */
static void add_known(struct json *to, const char *key, int64_t value)
{
	if (value > 0)
		json_add_i64(to, key, value);
	else
		json_add_null(to, key);
}

static void add_id(struct json *to, const char *key, const char *id)
{
	json_add_str(to, key, *id ? id : NULL);
}

static void add_launch(struct json *doc, const struct launch *launch)
{
	struct json *to, *point;

	if (!launch) {
		json_add_null(doc, "launch");
		return;
	}
	to = json_add_object(doc, "launch");
	json_add_i64(to, "number", launch->number);
	add_id(to, "jobId", launch->job_id);
	if (launch->restore_path) {
		point = json_add_object(to, "restorePoint");
		json_add_str(point, "path", launch->restore_path);
		json_add_str(point, "kind", snapshot_kind_name(launch->restore_kind));
		add_known(point, "checkpointId", launch->restore_checkpoint_id);
	} else {
		json_add_null(to, "restorePoint");
	}
	add_known(to, "startedUnixMs", launch->started_unix_ms);
	json_add_bool(to, "restoreVerified", launch->verified_unix_ms != 0);
	json_add_bool(to, "proven", launch->proven_unix_ms != 0);
	json_add_str(to, "flinkVersion", launch->flink_version);
	json_add_str(to, "generation", launch->generation);
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

/* Of the newest launch that completed one: a new launch does not hide it. */
static void add_last_checkpoint(struct json *doc, const struct journal *journal)
{
	for (size_t i = journal->launch_count; i-- > 0;) {
		const struct launch *launch = &journal->launches[i];
		struct json *to;

		if (!launch->last_checkpoint_id)
			continue;
		to = json_add_object(doc, "lastCheckpoint");
		json_add_i64(to, "id", launch->last_checkpoint_id);
		json_add_str(to, "path", launch->last_checkpoint_path);
		add_known(to, "completedUnixMs", launch->last_checkpoint_unix_ms);
		return;
	}
	json_add_null(doc, "lastCheckpoint");
}

static void add_last_savepoint(struct json *doc, const struct journal *journal)
{
	for (size_t i = journal->snapshot_count; i-- > 0;) {
		const struct snapshot *snapshot = &journal->snapshots[i];
		struct json *to;

		if (snapshot->kind != SNAPSHOT_SAVEPOINT)
			continue;
		to = json_add_object(doc, "lastSavepoint");
		json_add_str(to, "path", snapshot->path);
		add_known(to, "checkpointId", snapshot->checkpoint_id);
		add_known(to, "completedUnixMs", snapshot->completed_unix_ms);
		json_add_str(to, "origin", snapshot_origin_name(snapshot->origin));
		json_add_bool(to, "verified", snapshot->verified);
		return;
	}
	json_add_null(doc, "lastSavepoint");
}

static void add_operation(struct json *doc, const struct operation *operation)
{
	struct json *to;

	if (operation->kind == OPERATION_NONE) {
		json_add_null(doc, "operation");
		return;
	}
	to = json_add_object(doc, "operation");
	json_add_str(to, "kind", operation_kind_name(operation->kind));
	json_add_str(to, "reason", operation_reason_name(operation->reason));
	add_id(to, "triggerId", operation->trigger_id);
	json_add_str(to, "nonce", operation->nonce);
	add_known(to, "startedUnixMs", operation->started_unix_ms);
}

static void add_last_operation(struct json *doc, const struct operation_result *result)
{
	struct json *to;

	if (result->kind == OPERATION_NONE) {
		json_add_null(doc, "lastOperation");
		return;
	}
	to = json_add_object(doc, "lastOperation");
	json_add_str(to, "kind", operation_kind_name(result->kind));
	json_add_str(to, "reason", operation_reason_name(result->reason));
	json_add_str(to, "nonce", result->nonce);
	json_add_bool(to, "ok", result->ok);
	json_add_str(to, "location", result->location);
	json_add_str(to, "error", result->error);
	add_known(to, "endedUnixMs", result->ended_unix_ms);
}

/* Each waits for its own answer: the last operation is soon another one. */
static void add_savepoint_requests(struct json *doc, const struct journal *journal)
{
	struct json *array = json_add_array(doc, "savepointRequests");

	for (size_t i = 0; i < journal->savepoint_request_count; i++) {
		const struct savepoint_request *request = &journal->savepoint_requests[i];
		struct json *to = json_add_object(array, NULL);

		json_add_str(to, "nonce", request->nonce);
		json_add_str(to, "state",
			     request->answered      ? (request->ok ? "done" : "failed")
			     : *request->trigger_id ? "running"
						    : "waiting");
		json_add_str(to, "location", request->location);
		json_add_str(to, "error", request->error);
	}
}

static void add_attempts(struct json *doc, const struct lifecycle *life, int64_t now_unix_ms)
{
	const struct journal *journal = &life->journal;
	struct json *to = json_add_object(doc, "attempts");
	int64_t failed = 0;

	for (size_t i = 0; i < journal->failure_count; i++)
		failed += journal->failures_unix_ms[i] >
			  now_unix_ms - life->config->attempts_window_ms;
	json_add_i64(to, "failed", failed);
	json_add_i64(to, "max", life->config->max_attempts);
	json_add_i64(to, "windowMs", life->config->attempts_window_ms);
}

static void add_outcome(struct json *doc, const struct outcome *outcome)
{
	struct json *to;

	if (outcome->kind == OUTCOME_NONE) {
		json_add_null(doc, "outcome");
		return;
	}
	to = json_add_object(doc, "outcome");
	json_add_str(to, "kind", outcome_kind_name(outcome->kind));
	json_add_str(to, "reason", outcome->reason);
	add_known(to, "unixMs", outcome->unix_ms);
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

static void add_transitions(struct json *doc, const struct journal *journal)
{
	struct json *array = json_add_array(doc, "transitions");

	for (size_t i = 0; i < journal->log_count; i++) {
		struct json *entry = json_add_object(array, NULL);

		json_add_i64(entry, "unixMs", journal->log[i].unix_ms);
		json_add_str(entry, "text", journal->log[i].text);
	}
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
	json_add_str(doc, "phase", phase_name(life->phase));
	json_add_str(doc, "cause", cause_name(conditions_cause(conditions, life)));
	json_add_str(doc, "reason", conditions_reason(conditions, life));
	add_id(doc, "jobId", launch ? launch->job_id : "");
	add_launch(doc, launch);
	add_job(doc, life);
	add_cluster(doc, life);
	add_last_checkpoint(doc, journal);
	add_last_savepoint(doc, journal);
	add_operation(doc, &journal->operation);
	add_last_operation(doc, &journal->last_operation);
	add_savepoint_requests(doc, journal);
	to = json_add_object(doc, "desired");
	json_add_str(to, "state", desired_state_name(journal->intent.state));
	json_add_bool(to, "doNotRestart", journal->intent.do_not_restart);
	add_attempts(doc, life, now_unix_ms);
	add_outcome(doc, &journal->outcome);
	json_add_str(doc, "lastError", journal->last_error);
	add_known(doc, "lastErrorUnixMs", journal->last_error_unix_ms);
	add_known(doc, "lastErrorLaunch", journal->last_error_launch);
	add_next_savepoint(doc, life, now_unix_ms);
	to = json_add_object(doc, "journal");
	json_add_i64(to, "sequence", life->acknowledged);
	json_add_bool(to, "broken", life->journal_broken || life->fenced);
	json_add_str(to, "error", life->journal_error);
	add_conditions(doc, conditions);
	add_transitions(doc, journal);
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
	if (!routine)
		json_remove(rest, "lastCheckpoint");
	json_print(rest, ret_text);
}
