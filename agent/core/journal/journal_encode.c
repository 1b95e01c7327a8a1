/*
 * The journal as JSON. Every known member is always written, an empty one as null: so a member that
 * is only in the old document belongs to a newer program, and is kept.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/journal/journal.h"

/* Text from outside; cut at a character boundary. */
static void add_prose(struct json *to, const char *key, const char *text)
{
	char cut[JOURNAL_MAX_TEXT_BYTES + 4];
	size_t len = text ? strlen(text) : 0;

	if (len <= JOURNAL_MAX_TEXT_BYTES) {
		json_add_str(to, key, text);
		return;
	}
	len = JOURNAL_MAX_TEXT_BYTES;
	while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	snprintf(cut, sizeof(cut), "%.*s...", (int)len, text);
	json_add_str(to, key, cut);
}

/* A number whose `empty` value means "not known"; none of them can be negative. */
static void add_known(struct json *to, const char *key, int64_t value, int64_t empty)
{
	if (value == empty || value < 0)
		json_add_null(to, key);
	else
		json_add_i64(to, key, value);
}

static void add_id(struct json *to, const char *key, const char *id)
{
	json_add_str(to, key, *id ? id : NULL);
}

static void add_strings(struct json *to, const char *key, char *const *strings, size_t count)
{
	struct json *array = json_add_array(to, key);

	for (size_t i = 0; i < count; i++)
		json_add_str(array, NULL, strings[i]);
}

static void add_intent(struct json *doc, const struct intent *intent)
{
	struct json *to = json_add_object(doc, "intent");

	json_add_str(to, "state", desired_state_name(intent->state));
	json_add_bool(to, "doNotRestart", intent->do_not_restart);
	json_add_str(to, "savepointNonce", intent->savepoint_nonce);
	json_add_str(to, "restartNonce", intent->restart_nonce);
	/* a request without a path can never be carried out: not written, because it could not be
	 * read again */
	if (intent->restore.kind == RESTORE_NONE ||
	    (intent->restore.kind == RESTORE_PATH && !intent->restore.path)) {
		json_add_null(to, "restore");
		return;
	}
	to = json_add_object(to, "restore");
	/* drey 0.1.0 rejects a journal with a kind that it does not know, and ignores this
	 * member */
	if (intent->restore.kind == RESTORE_NEWEST)
		json_add_bool(to, "newest", true);
	json_add_str(to, "kind",
		     restore_request_kind_name(intent->restore.kind == RESTORE_NEWEST
						       ? RESTORE_NONE
						       : intent->restore.kind));
	json_add_str(to, "token", intent->restore.token);
	json_add_str(to, "path", intent->restore.path);
	json_add_bool(to, "allowNonRestored", intent->restore.allow_non_restored);
	json_add_bool(to, "foreign", intent->restore.foreign);
	add_known(to, "askedUnixMs", intent->restore.asked_unix_ms, 0);
	json_add_str_opt(to, "generation", intent->restore.generation);
}

static void add_restore_point(struct json *to, const struct launch *launch)
{
	struct json *point;

	if (!launch->restore_path) {
		json_add_null(to, "restorePoint");
		return;
	}
	point = json_add_object(to, "restorePoint");
	json_add_str(point, "path", launch->restore_path);
	json_add_str(point, "kind", snapshot_kind_name(launch->restore_kind));
	add_known(point, "checkpointId", launch->restore_checkpoint_id, 0);
}

static void add_last_checkpoint(struct json *to, const struct launch *launch)
{
	struct json *last;

	if (!launch->last_checkpoint_id && !launch->last_checkpoint_path) {
		json_add_null(to, "lastCheckpoint");
		return;
	}
	last = json_add_object(to, "lastCheckpoint");
	add_known(last, "id", launch->last_checkpoint_id, 0);
	json_add_str(last, "path", launch->last_checkpoint_path);
	add_known(last, "completedUnixMs", launch->last_checkpoint_unix_ms, 0);
}

static void add_launch(struct json *array, const struct launch *launch)
{
	struct json *to = json_add_object(array, NULL);

	json_add_i64(to, "number", launch->number);
	add_id(to, "jobId", launch->job_id);
	json_add_str(to, "jobResultPath", launch->job_result_path);
	add_id(to, "applicationId", launch->application_id);
	json_add_str(to, "applicationResultPath", launch->application_result_path);
	json_add_str(to, "generation", launch->generation);
	json_add_str(to, "flinkVersion", launch->flink_version);
	json_add_str(to, "checkpointDirectory", launch->checkpoint_dir);
	json_add_str(to, "savepointDirectory", launch->savepoint_dir);
	json_add_str(to, "haClusterId", launch->ha_cluster_id);
	json_add_bool(to, "allowNonRestored", launch->allow_non_restored);
	json_add_str(to, "requestToken", launch->request_token);
	json_add_str(to, "writer", launch->writer);
	add_restore_point(to, launch);
	add_known(to, "intendedUnixMs", launch->intended_unix_ms, 0);
	add_known(to, "startedUnixMs", launch->started_unix_ms, 0);
	add_known(to, "verifiedUnixMs", launch->verified_unix_ms, 0);
	add_known(to, "provenUnixMs", launch->proven_unix_ms, 0);
	add_known(to, "endedUnixMs", launch->ended_unix_ms, 0);
	add_known(to, "waitStatus", launch->ended_unix_ms ? launch->wait_status : -1, -1);
	json_add_bool(to, "jobEnded", launch->job_ended);
	json_add_bool(to, "endKnown", launch->end_known);
	json_add_bool(to, "mismatched", launch->mismatched);
	json_add_bool(to, "leftState", launch->left_state);
	json_add_bool(to, "neverStarted", launch->never_started);
	json_add_bool(to, "braked", launch->do_not_restart);
	add_last_checkpoint(to, launch);
}

static void add_snapshot(struct json *array, const struct snapshot *snapshot)
{
	struct json *to = json_add_object(array, NULL);

	json_add_str(to, "path", snapshot->path);
	json_add_str(to, "kind", snapshot_kind_name(snapshot->kind));
	json_add_str(to, "origin", snapshot_origin_name(snapshot->origin));
	add_known(to, "checkpointId", snapshot->checkpoint_id, 0);
	add_id(to, "jobId", snapshot->job_id);
	add_known(to, "completedUnixMs", snapshot->completed_unix_ms, 0);
	add_known(to, "sizeBytes", snapshot->size_bytes, -1);
	add_known(to, "fileCount", snapshot->file_count, -1);
	json_add_bool(to, "verified", snapshot->verified);
	add_known(to, "verifiedUnixMs", snapshot->verified_unix_ms, 0);
	add_known(to, "metadataUnixMs", snapshot->metadata_unix_ms, 0);
	add_known(to, "metadataBytes", snapshot->metadata_bytes, 0);
	add_known(to, "metadataVersion", snapshot->metadata_version, 0);
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
	add_id(to, "jobId", operation->job_id);
	json_add_str(to, "nonce", operation->nonce);
	json_add_str(to, "path", operation->path);
	json_add_str(to, "directory", operation->directory);
	json_add_bool(to, "drain", operation->drain);
	add_known(to, "startedUnixMs", operation->started_unix_ms, 0);
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
	add_id(to, "triggerId", result->trigger_id);
	json_add_str(to, "nonce", result->nonce);
	json_add_bool(to, "ok", result->ok);
	json_add_str(to, "location", result->location);
	add_prose(to, "error", result->error);
	add_known(to, "endedUnixMs", result->ended_unix_ms, 0);
}

static void add_savepoint_requests(struct json *doc, const struct journal *journal)
{
	struct json *array = json_add_array(doc, "savepointRequests");

	for (size_t i = 0; i < journal->savepoint_request_count; i++) {
		const struct savepoint_request *request = &journal->savepoint_requests[i];
		struct json *to = json_add_object(array, NULL);

		json_add_str(to, "nonce", request->nonce);
		add_id(to, "triggerId", request->trigger_id);
		json_add_bool(to, "answered", request->answered);
		json_add_bool(to, "ok", request->ok);
		json_add_str(to, "location", request->location);
		add_prose(to, "error", request->error);
	}
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
	add_id(to, "jobId", outcome->job_id);
	add_prose(to, "reason", outcome->reason);
	add_known(to, "unixMs", outcome->unix_ms, 0);
	json_add_str(to, "savepoint", outcome->savepoint);
	json_add_bool(to, "suspended", outcome->suspended);
}

static void add_history(struct json *doc, const struct journal *journal)
{
	struct json *array = json_add_array(doc, "failuresUnixMs");

	for (size_t i = 0; i < journal->failure_count; i++)
		json_add_i64(array, NULL, journal->failures_unix_ms[i]);
	add_prose(doc, "lastError", journal->last_error);
	add_known(doc, "lastErrorUnixMs", journal->last_error_unix_ms, 0);
	add_known(doc, "lastErrorLaunch", journal->last_error_launch, 0);
	add_strings(doc, "consumedTokens", journal->consumed, journal->consumed_count);
	add_strings(doc, "failedGenerations", journal->failed_generations,
		    journal->failed_generation_count);
	add_strings(doc, "writers", journal->writers, journal->writer_count);
	array = json_add_array(doc, "log");
	for (size_t i = 0; i < journal->log_count; i++) {
		struct json *entry = json_add_object(array, NULL);

		json_add_i64(entry, "unixMs", journal->log[i].unix_ms);
		add_prose(entry, "text", journal->log[i].text);
	}
}

static struct json *document(const struct journal *journal)
{
	struct json *doc = json_object();
	struct json *array;

	json_add_i64(doc, "schema", JOURNAL_SCHEMA);
	json_add_str(doc, "application", journal->application);
	json_add_i64(doc, "sequence", journal->sequence);
	json_add_str(doc, "writer", journal->writer);
	json_add_str(doc, "disposing", journal->disposing);
	json_add_str(doc, "phase", journal->phase);
	json_add_bool(doc, "everProven", journal->ever_proven);
	add_intent(doc, &journal->intent);
	json_add_str(doc, "savepointNonceDone", journal->savepoint_nonce_done);
	json_add_str(doc, "restartNonceDone", journal->restart_nonce_done);
	array = json_add_array(doc, "launches");
	for (size_t i = 0; i < journal->launch_count; i++)
		add_launch(array, &journal->launches[i]);
	if (journal->id_space) {
		struct json *ids = json_add_object(doc, "jobIds");

		json_add_str(ids, "space", journal->id_space);
		json_add_i64(ids, "next", journal->id_next);
	} else {
		json_add_null(doc, "jobIds");
	}
	add_strings(doc, "formerJobIds", journal->former_jobs, journal->former_job_count);
	array = json_add_array(doc, "snapshots");
	for (size_t i = 0; i < journal->snapshot_count; i++)
		add_snapshot(array, &journal->snapshots[i]);
	add_operation(doc, &journal->operation);
	add_last_operation(doc, &journal->last_operation);
	add_savepoint_requests(doc, journal);
	add_outcome(doc, &journal->outcome);
	add_history(doc, journal);
	return doc;
}

/* The same text, or the same absence of it. */
static bool same_text(const struct json *a, const struct json *b, const char *key)
{
	const char *left = json_str(a, key);
	const char *right = json_str(b, key);

	return left && right && !strcmp(left, right);
}

static bool same_element(const struct json *a, const struct json *b, const char *key)
{
	int64_t number = json_i64_or(a, key, -1);

	return same_text(a, b, key) || (number >= 0 && number == json_i64_or(b, key, -1));
}

/* json_merge_unknown() leaves arrays alone: elements belong together by `key`, not by position. */
static void merge_elements(struct json *array, const struct json *old, const char *key)
{
	const struct json *element;
	const struct json *before;

	json_each (element, array)
		json_each (before, old)
			if (same_element(element, before, key))
				json_merge_unknown((struct json *)element, before);
}

/* A new operation, result or outcome must not inherit members. */
static void forget_other(const struct json *doc, struct json *origin, const char *member,
			 const char *key)
{
	if (!same_element(json_get(doc, member), json_get(origin, member), key))
		json_remove(origin, member);
}

static void keep_unknown(struct json *doc, const struct json *origin_as_read)
{
	cleanup_json struct json *origin = NULL;

	if (!origin_as_read)
		return;
	origin = json_copy(origin_as_read);
	forget_other(doc, origin, "operation", "triggerId");
	forget_other(doc, origin, "lastOperation", "triggerId");
	forget_other(doc, origin, "outcome", "unixMs");
	json_merge_unknown(doc, origin);
	merge_elements((struct json *)json_get(doc, "launches"), json_get(origin, "launches"),
		       "number");
	merge_elements((struct json *)json_get(doc, "snapshots"), json_get(origin, "snapshots"),
		       "path");
}

int journal_encode(struct journal *journal, struct buf *ret_text, struct err *err)
{
	journal_trim(journal);
	do {
		cleanup_json struct json *doc = document(journal);
		cleanup_buf struct buf text = BUF_INIT;

		keep_unknown(doc, journal->origin);
		json_print_pretty(doc, &text);
		if (text.len_bytes <= JOURNAL_MAX_BYTES) {
			buf_add(ret_text, text.data, text.len_bytes);
			return 0;
		}
	} while (journal_shrink(journal));
	return err_set(err, ERR_FORMAT, 0, "journal: larger than %d bytes, although shortened",
		       JOURNAL_MAX_BYTES);
}
