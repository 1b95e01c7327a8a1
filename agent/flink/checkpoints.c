#include "flink/checkpoints.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "flink/rest_call.h"

#define PATH_NOT_STORED "<checkpoint-not-externally-addressable>"

/* For a job without an interval Flink reports the largest number of the type. No job has an interval of a
 * hundred years. */
#define NO_INTERVAL_MS (INT64_C(100) * 365 * 24 * 3600 * 1000)

static char *first_line(const char *text)
{
	return text ? xstrndup(text, strcspn(text, "\r\n")) : NULL;
}

static void checkpoint_release(struct flink_checkpoint *checkpoint)
{
	free(checkpoint->path);
	free(checkpoint->failure);
}

static int read_status(const struct json *node, enum flink_checkpoint_status *ret, struct err *err)
{
	const char *status;

	if (json_need_str(node, "status", &status, err) < 0)
		return -1;
	if (strcmp(status, "COMPLETED") == 0)
		*ret = FLINK_CHECKPOINT_COMPLETED;
	else if (strcmp(status, "FAILED") == 0)
		*ret = FLINK_CHECKPOINT_FAILED;
	else if (strcmp(status, "IN_PROGRESS") == 0)
		*ret = FLINK_CHECKPOINT_IN_PROGRESS;
	else
		return err_set(err, ERR_FORMAT, 0, "checkpoint status '%.40s'", status);
	return 0;
}

static int read_checkpoint(const struct json *node, struct flink_checkpoint *ret, struct err *err)
{
	struct flink_checkpoint checkpoint = {.ack_unix_ms = -1};
	const char *type = "", *path = NULL, *failure = NULL;

	if (read_status(node, &checkpoint.status, err) < 0 ||
	    json_need_i64(node, "id", &checkpoint.id, err) < 0 ||
	    json_need_bool(node, "is_savepoint", &checkpoint.is_savepoint, err) < 0 ||
	    json_need_i64(node, "trigger_timestamp", &checkpoint.trigger_unix_ms, err) < 0 ||
	    json_opt_i64(node, "latest_ack_timestamp", &checkpoint.ack_unix_ms, err) < 0 ||
	    json_opt_i64(node, "end_to_end_duration", &checkpoint.duration_ms, err) < 0 ||
	    json_opt_i64(node, "state_size", &checkpoint.state_size_bytes, err) < 0 ||
	    json_opt_i64(node, "num_subtasks", &checkpoint.subtasks, err) < 0 ||
	    json_opt_i64(node, "num_acknowledged_subtasks", &checkpoint.acknowledged, err) < 0 ||
	    json_opt_i64(node, "processed_data", &checkpoint.processed_bytes, err) < 0 ||
	    json_opt_i64(node, "persisted_data", &checkpoint.persisted_bytes, err) < 0 ||
	    json_opt_i64(node, "failure_timestamp", &checkpoint.failure_unix_ms, err) < 0 ||
	    json_opt_str(node, "checkpoint_type", &type, err) < 0 ||
	    json_opt_str(node, "external_path", &path, err) < 0 ||
	    json_opt_bool(node, "discarded", &checkpoint.discarded, err) < 0 ||
	    json_opt_str(node, "failure_message", &failure, err) < 0)
		return -1;
	checkpoint.is_stop = strcmp(type, "SYNC_SAVEPOINT") == 0;
	if (path && strcmp(path, PATH_NOT_STORED) != 0)
		checkpoint.path = xstrdup(path);
	checkpoint.failure = first_line(failure);
	*ret = checkpoint;
	return 0;
}

/* A member that may be absent or null. */
static int read_latest(const struct json *latest, const char *key, struct flink_checkpoint **ret,
		       struct err *err)
{
	const struct json *node;
	int there = json_opt_object(latest, key, &node, err);

	if (there <= 0)
		return there;
	*ret = xcalloc(1, sizeof(**ret));
	if (read_checkpoint(node, *ret, err) < 0)
		return err_wrap(err, "latest.%s", key);
	return 0;
}

static int read_restored(const struct json *latest, struct flink_checkpoints *to, struct err *err)
{
	const struct json *node;
	const char *path = NULL;
	int there = json_opt_object(latest, "restored", &node, err);

	if (there <= 0)
		return there;
	if (json_need_i64(node, "id", &to->restored.id, err) < 0 ||
	    json_need_i64(node, "restore_timestamp", &to->restored.unix_ms, err) < 0 ||
	    json_need_bool(node, "is_savepoint", &to->restored.is_savepoint, err) < 0 ||
	    json_opt_str(node, "external_path", &path, err) < 0)
		return err_wrap(err, "latest.restored");
	to->restored.present = true;
	if (path && strcmp(path, PATH_NOT_STORED) != 0)
		to->restored.path = xstrdup(path);
	return 0;
}

static int read_history(const struct json *list, struct flink_checkpoints *to, struct err *err)
{
	const struct json *node;

	to->history = xcalloc(json_len(list) + 1, sizeof(*to->history));
	json_each (node, list) {
		if (to->history_count == FLINK_CHECKPOINT_HISTORY_MAX)
			break;
		if (read_checkpoint(node, &to->history[to->history_count], err) < 0)
			return err_wrap(err, "history");
		to->history_count++;
	}
	return 0;
}

static int read_all(const struct json *doc, struct flink_checkpoints *to, struct err *err)
{
	const struct json *counts, *latest, *history;

	if (json_need_object(doc, "counts", &counts, err) < 0 ||
	    json_need_object(doc, "latest", &latest, err) < 0 ||
	    json_need_array(doc, "history", &history, err) < 0 ||
	    json_need_i64(counts, "restored", &to->restored_count, err) < 0 ||
	    json_need_i64(counts, "total", &to->total, err) < 0 ||
	    json_need_i64(counts, "in_progress", &to->in_progress, err) < 0 ||
	    json_need_i64(counts, "completed", &to->completed, err) < 0 ||
	    json_need_i64(counts, "failed", &to->failed, err) < 0 ||
	    read_latest(latest, "completed", &to->latest_completed, err) < 0 ||
	    read_latest(latest, "savepoint", &to->latest_savepoint, err) < 0 ||
	    read_latest(latest, "failed", &to->latest_failed, err) < 0 ||
	    read_restored(latest, to, err) < 0 || read_history(history, to, err) < 0)
		return -1;
	return 0;
}

enum flink_answer flink_rest_checkpoints(const struct flink_rest *rest, const char *job_id,
					 int64_t timeout_ms,
					 struct flink_checkpoints *ret_checkpoints,
					 bool *ret_disabled, struct err *err)
{
	cleanup_json struct json *doc = NULL;
	struct flink_checkpoints checkpoints = {0};
	struct err local = {0};
	enum flink_answer answer;

	err = err ? err : &local;
	answer = rest_get_job(rest, job_id, timeout_ms, &doc, err, "/checkpoints");
	if (answer == FLINK_ABSENT && ret_disabled)
		*ret_disabled = strstr(err->msg, "Checkpointing has not been enabled") != NULL;
	if (answer != FLINK_OK)
		return answer;
	if (read_all(doc, &checkpoints, err) < 0) {
		flink_checkpoints_release(&checkpoints);
		return rest_unexpected("/jobs/:id/checkpoints", err);
	}
	*ret_checkpoints = checkpoints;
	return FLINK_OK;
}

void flink_checkpoints_release(struct flink_checkpoints *checkpoints)
{
	if (!checkpoints)
		return;
	struct flink_checkpoint *const latest[] = {checkpoints->latest_completed,
						   checkpoints->latest_savepoint,
						   checkpoints->latest_failed};
	for (size_t i = 0; i < ARRAY_LEN(latest); i++) {
		if (latest[i])
			checkpoint_release(latest[i]);
		free(latest[i]);
	}
	for (size_t i = 0; i < checkpoints->history_count; i++)
		checkpoint_release(&checkpoints->history[i]);
	free(checkpoints->history);
	free(checkpoints->restored.path);
	*checkpoints = (struct flink_checkpoints){0};
}

const struct flink_checkpoint *flink_checkpoints_find(const struct flink_checkpoints *checkpoints,
						      int64_t id)
{
	const struct flink_checkpoint *newest = checkpoints->latest_completed;

	for (size_t i = 0; i < checkpoints->history_count; i++)
		if (checkpoints->history[i].id == id &&
		    checkpoints->history[i].status == FLINK_CHECKPOINT_COMPLETED)
			return &checkpoints->history[i];
	/* web.checkpoints.history may be 0 */
	return newest && newest->id == id ? newest : NULL;
}

int64_t flink_checkpoints_failures(const struct flink_checkpoints *checkpoints,
				   const struct flink_checkpoint **ret_newest)
{
	const struct flink_checkpoint *newest = NULL;
	int64_t after = checkpoints->latest_completed ? checkpoints->latest_completed->id : 0;
	int64_t count = 0;

	for (size_t i = 0; i < checkpoints->history_count; i++) {
		const struct flink_checkpoint *c = &checkpoints->history[i];

		if (c->is_savepoint || c->status != FLINK_CHECKPOINT_FAILED || c->id <= after)
			continue;
		count++;
		if (!newest || c->id > newest->id)
			newest = c;
	}
	if (ret_newest)
		*ret_newest = newest;
	return count;
}

static int read_names(const struct json *doc, struct flink_checkpoint_config *to, struct err *err)
{
	const char *backend = "", *storage = "";

	if (json_opt_str(doc, "state_backend", &backend, err) < 0 ||
	    json_opt_str(doc, "checkpoint_storage", &storage, err) < 0)
		return -1;
	snprintf(to->state_backend, sizeof(to->state_backend), "%s", backend);
	snprintf(to->checkpoint_storage, sizeof(to->checkpoint_storage), "%s", storage);
	return 0;
}

static int read_config(const struct json *doc, struct flink_checkpoint_config *to, struct err *err)
{
	const struct json *external;
	int there;

	if (json_need_i64(doc, "interval", &to->interval_ms, err) < 0 ||
	    json_opt_i64(doc, "min_pause", &to->min_pause_ms, err) < 0 ||
	    json_opt_bool(doc, "unaligned_checkpoints", &to->unaligned, err) < 0 ||
	    json_opt_bool(doc, "state_changelog_enabled", &to->changelog, err) < 0 ||
	    read_names(doc, to, err) < 0)
		return -1;
	if (to->interval_ms < 0 || to->interval_ms >= NO_INTERVAL_MS)
		to->interval_ms = 0;
	there = json_opt_object(doc, "externalization", &external, err);
	if (there <= 0)
		return there;
	to->externalization_known = true;
	if (json_need_bool(external, "enabled", &to->externalized, err) < 0 ||
	    json_need_bool(external, "delete_on_cancellation", &to->delete_on_cancellation, err) <
		    0)
		return err_wrap(err, "externalization");
	return 0;
}

enum flink_answer flink_rest_checkpoint_config(const struct flink_rest *rest, const char *job_id,
					       int64_t timeout_ms,
					       struct flink_checkpoint_config *ret_config,
					       struct err *err)
{
	struct flink_checkpoint_config config = {0};
	cleanup_json struct json *doc = NULL;
	enum flink_answer answer;

	answer = rest_get_job(rest, job_id, timeout_ms, &doc, err, "/checkpoints/config");
	if (answer != FLINK_OK)
		return answer;
	if (read_config(doc, &config, err) < 0)
		return rest_unexpected("/jobs/:id/checkpoints/config", err);
	*ret_config = config;
	return FLINK_OK;
}

enum flink_answer flink_rest_restart_strategy(const struct flink_rest *rest, const char *job_id,
					      int64_t timeout_ms,
					      char ret_strategy[FLINK_STRATEGY_BYTES],
					      struct err *err)
{
	cleanup_json struct json *doc = NULL;
	const struct json *execution;
	const char *strategy = "";
	enum flink_answer answer;

	answer = rest_get_job(rest, job_id, timeout_ms, &doc, err, "/config");
	if (answer != FLINK_OK)
		return answer;
	if (json_need_object(doc, "execution-config", &execution, err) < 0 ||
	    json_opt_str(execution, "restart-strategy", &strategy, err) < 0)
		return rest_unexpected("/jobs/:id/config", err);
	snprintf(ret_strategy, FLINK_STRATEGY_BYTES, "%s",
		 strlen(strategy) < FLINK_STRATEGY_BYTES ? strategy : "");
	return FLINK_OK;
}
