/*
 * The journal from JSON, strictly: every known member must be as expected, or the whole document is
 * rejected. A journal that is half understood is worse than a missing one.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "core/journal/journal.h"

typedef const char *(*name_fn)(int value);

/* The name functions take enums; one type for all of them keeps opt_word() one function. */
#define NAME_FN(fn, type)                                                                          \
	static const char *word_##fn(int value)                                                    \
	{                                                                                          \
		return fn((enum type)value);                                                       \
	}
NAME_FN(desired_state_name, desired_state)
NAME_FN(restore_request_kind_name, restore_request_kind)
NAME_FN(operation_kind_name, operation_kind)
NAME_FN(operation_reason_name, operation_reason)
NAME_FN(outcome_kind_name, outcome_kind)
NAME_FN(snapshot_kind_name, snapshot_kind)
NAME_FN(snapshot_origin_name, snapshot_origin)

/* Required: one of the words name(0) ... name(count - 1). */
static int need_word(const struct json *obj, const char *key, name_fn name, int count,
		     int *ret_value, struct err *err)
{
	const char *text;

	if (json_need_str(obj, key, &text, err))
		return -1;
	for (int i = 0; i < count; i++)
		if (!strcmp(text, name(i))) {
			*ret_value = i;
			return 0;
		}
	return err_set(err, ERR_FORMAT, 0, "'%s': unknown word \"%s\"", key, text);
}

static int opt_str(const struct json *obj, const char *key, char **slot, struct err *err)
{
	const char *text;
	int found = json_opt_str(obj, key, &text, err);

	if (found > 0)
		xstrset(slot, text);
	return found < 0 ? -1 : 0;
}

/* Absent leaves *slot unchanged; less than `min` is damage. */
static int opt_i64(const struct json *obj, const char *key, int64_t min, int64_t *slot,
		   struct err *err)
{
	int64_t value;
	int found = json_opt_i64(obj, key, &value, err);

	if (found < 0)
		return -1;
	if (found && value < min)
		return err_set(err, ERR_FORMAT, 0, "'%s': %lld is less than %lld", key,
			       (long long)value, (long long)min);
	if (found)
		*slot = value;
	return 0;
}

static int opt_bool(const struct json *obj, const char *key, bool *slot, struct err *err)
{
	return json_opt_bool(obj, key, slot, err) < 0 ? -1 : 0;
}

/* Lower-case hex digits: 32, or for a savepoint known by its name the first 6 only. */
static int opt_id(const struct json *obj, const char *key, char slot[JOB_ID_BYTES], struct err *err)
{
	const char *text;
	int found = json_opt_str(obj, key, &text, err);
	size_t len = found > 0 ? strlen(text) : 0;

	if (found <= 0)
		return found;
	if ((len != JOB_ID_BYTES - 1 && len != 6) || strspn(text, "0123456789abcdef") != len)
		return err_set(err, ERR_FORMAT, 0, "'%s': not an id of 32 hex digits", key);
	memcpy(slot, text, len + 1);
	return 0;
}

static int read_request(const struct json *intent, struct restore_request *request, struct err *err)
{
	const struct json *obj;
	int kind = 0;
	bool newest = false;
	int found = json_opt_object(intent, "restore", &obj, err);

	if (found <= 0)
		return found;
	if (need_word(obj, "kind", word_restore_request_kind_name, RESTORE_PATH + 1, &kind, err) ||
	    opt_str(obj, "token", &request->token, err) ||
	    opt_str(obj, "path", &request->path, err) ||
	    opt_bool(obj, "allowNonRestored", &request->allow_non_restored, err) ||
	    opt_bool(obj, "foreign", &request->foreign, err) ||
	    opt_bool(obj, "newest", &newest, err) ||
	    opt_str(obj, "generation", &request->generation, err) ||
	    opt_i64(obj, "askedUnixMs", 0, &request->asked_unix_ms, err))
		return err_wrap(err, "restore");
	request->read_back = true;
	request->kind =
		kind == RESTORE_NONE && newest ? RESTORE_NEWEST : (enum restore_request_kind)kind;
	if (request->kind == RESTORE_PATH && !request->path)
		return err_set(err, ERR_FORMAT, 0, "restore: 'path': missing");
	return 0;
}

static int read_intent(const struct json *doc, struct intent *intent, struct err *err)
{
	const struct json *obj;
	int state = 0;

	if (json_need_object(doc, "intent", &obj, err))
		return -1;
	if (need_word(obj, "state", word_desired_state_name, DESIRED_CANCELLED + 1, &state, err) ||
	    json_need_bool(obj, "doNotRestart", &intent->do_not_restart, err) ||
	    opt_str(obj, "savepointNonce", &intent->savepoint_nonce, err) ||
	    opt_str(obj, "restartNonce", &intent->restart_nonce, err) ||
	    read_request(obj, &intent->restore, err))
		return err_wrap(err, "intent");
	intent->state = (enum desired_state)state;
	return 0;
}

static int read_restore_point(const struct json *obj, struct launch *launch, struct err *err)
{
	const struct json *point;
	const char *path;
	int kind = 0;
	int found = json_opt_object(obj, "restorePoint", &point, err);

	if (found <= 0)
		return found;
	if (json_need_str(point, "path", &path, err) ||
	    need_word(point, "kind", word_snapshot_kind_name, SNAPSHOT_SAVEPOINT + 1, &kind, err) ||
	    opt_i64(point, "checkpointId", 0, &launch->restore_checkpoint_id, err))
		return err_wrap(err, "restorePoint");
	xstrset(&launch->restore_path, path);
	launch->restore_kind = (enum snapshot_kind)kind;
	return 0;
}

static int read_last_checkpoint(const struct json *obj, struct launch *launch, struct err *err)
{
	const struct json *last;
	int found = json_opt_object(obj, "lastCheckpoint", &last, err);

	if (found <= 0)
		return found;
	if (opt_i64(last, "id", 0, &launch->last_checkpoint_id, err) ||
	    opt_str(last, "path", &launch->last_checkpoint_path, err) ||
	    opt_i64(last, "completedUnixMs", 0, &launch->last_checkpoint_unix_ms, err))
		return err_wrap(err, "lastCheckpoint");
	return 0;
}

static int read_wait_status(const struct json *obj, struct launch *launch, struct err *err)
{
	int64_t status = -1;

	if (opt_i64(obj, "waitStatus", -1, &status, err))
		return -1;
	if (status > INT32_MAX)
		return err_set(err, ERR_FORMAT, 0, "'waitStatus': out of range");
	launch->wait_status = (int)status;
	return 0;
}

/* Without a request for Flink's record, the end is what drey saw of the job. */
static int read_end(const struct json *obj, struct launch *launch, struct err *err)
{
	if (opt_bool(obj, "jobEnded", &launch->job_ended, err))
		return -1;
	launch->end_known = launch->job_ended;
	if (opt_bool(obj, "endKnown", &launch->end_known, err))
		return -1;
	return opt_bool(obj, "braked", &launch->do_not_restart, err);
}

static int read_launch(const struct json *obj, struct launch *launch, struct err *err)
{
	if (json_need_i64(obj, "number", &launch->number, err) ||
	    opt_id(obj, "jobId", launch->job_id, err) ||
	    opt_str(obj, "jobResultPath", &launch->job_result_path, err) ||
	    opt_id(obj, "applicationId", launch->application_id, err) ||
	    opt_str(obj, "applicationResultPath", &launch->application_result_path, err) ||
	    opt_str(obj, "generation", &launch->generation, err) ||
	    opt_str(obj, "flinkVersion", &launch->flink_version, err) ||
	    opt_str(obj, "checkpointDirectory", &launch->checkpoint_dir, err) ||
	    opt_str(obj, "savepointDirectory", &launch->savepoint_dir, err) ||
	    opt_str(obj, "haClusterId", &launch->ha_cluster_id, err) ||
	    opt_bool(obj, "allowNonRestored", &launch->allow_non_restored, err) ||
	    opt_str(obj, "requestToken", &launch->request_token, err) ||
	    opt_str(obj, "writer", &launch->writer, err) || read_restore_point(obj, launch, err) ||
	    opt_i64(obj, "intendedUnixMs", 0, &launch->intended_unix_ms, err) ||
	    opt_i64(obj, "startedUnixMs", 0, &launch->started_unix_ms, err) ||
	    opt_i64(obj, "verifiedUnixMs", 0, &launch->verified_unix_ms, err) ||
	    opt_i64(obj, "provenUnixMs", 0, &launch->proven_unix_ms, err) ||
	    opt_i64(obj, "endedUnixMs", 0, &launch->ended_unix_ms, err) ||
	    read_end(obj, launch, err) || opt_bool(obj, "mismatched", &launch->mismatched, err) ||
	    opt_bool(obj, "leftState", &launch->left_state, err) ||
	    opt_bool(obj, "neverStarted", &launch->never_started, err) ||
	    read_wait_status(obj, launch, err) || read_last_checkpoint(obj, launch, err))
		return -1;
	return *launch->job_id ? 0 : err_set(err, ERR_FORMAT, 0, "'jobId': missing");
}

static int read_launches(const struct json *doc, struct journal *journal, struct err *err)
{
	const struct json *array;
	const struct json *element;
	int64_t last = 0;

	if (json_need_array(doc, "launches", &array, err))
		return -1;
	json_each (element, array) {
		struct launch *launch = journal_add_launch(journal);

		if (read_launch(element, launch, err))
			return err_wrap(err, "launches[%zu]", journal->launch_count - 1);
		if (launch->number <= last || launch->number == INT64_MAX)
			return err_set(err, ERR_FORMAT, 0, "launches[%zu]: 'number': not ascending",
				       journal->launch_count - 1);
		last = launch->number;
	}
	return 0;
}

static int read_verification(const struct json *obj, struct snapshot *snapshot, struct err *err)
{
	int64_t version = 0;

	if (opt_bool(obj, "verified", &snapshot->verified, err) ||
	    opt_i64(obj, "verifiedUnixMs", 0, &snapshot->verified_unix_ms, err) ||
	    opt_i64(obj, "metadataUnixMs", 0, &snapshot->metadata_unix_ms, err) ||
	    opt_i64(obj, "metadataBytes", 0, &snapshot->metadata_bytes, err) ||
	    opt_i64(obj, "metadataVersion", 0, &version, err))
		return -1;
	if (version > INT32_MAX)
		return err_set(err, ERR_FORMAT, 0, "'metadataVersion': out of range");
	snapshot->metadata_version = (int)version;
	return 0;
}

static int read_snapshot(const struct json *obj, struct snapshot *snapshot, struct err *err)
{
	int kind = 0;
	int origin = 0;

	if (opt_str(obj, "path", &snapshot->path, err) ||
	    need_word(obj, "kind", word_snapshot_kind_name, SNAPSHOT_SAVEPOINT + 1, &kind, err) ||
	    need_word(obj, "origin", word_snapshot_origin_name, ORIGIN_REQUEST + 1, &origin, err) ||
	    opt_i64(obj, "checkpointId", 0, &snapshot->checkpoint_id, err) ||
	    opt_id(obj, "jobId", snapshot->job_id, err) ||
	    opt_i64(obj, "completedUnixMs", 0, &snapshot->completed_unix_ms, err) ||
	    opt_i64(obj, "sizeBytes", -1, &snapshot->size_bytes, err) ||
	    opt_i64(obj, "fileCount", -1, &snapshot->file_count, err) ||
	    read_verification(obj, snapshot, err))
		return -1;
	snapshot->kind = (enum snapshot_kind)kind;
	snapshot->origin = (enum snapshot_origin)origin;
	return snapshot->path ? 0 : err_set(err, ERR_FORMAT, 0, "'path': missing");
}

static int read_snapshots(const struct json *doc, struct journal *journal, struct err *err)
{
	const struct json *array;
	const struct json *element;
	size_t index = 0;

	if (json_need_array(doc, "snapshots", &array, err))
		return -1;
	json_each (element, array) {
		struct snapshot snapshot = {.size_bytes = -1, .file_count = -1};
		int failed = read_snapshot(element, &snapshot, err);

		if (!failed)
			journal_add_snapshot(journal, &snapshot);
		snapshot_release(&snapshot);
		if (failed)
			return err_wrap(err, "snapshots[%zu]", index);
		index++;
	}
	return 0;
}

/* Kind and reason of an operation or of its result. */
static int read_cause(const struct json *obj, enum operation_kind *ret_kind,
		      enum operation_reason *ret_reason, struct err *err)
{
	int kind = 0;
	int reason = 0;

	if (need_word(obj, "kind", word_operation_kind_name, OPERATION_DISPOSE + 1, &kind, err) ||
	    need_word(obj, "reason", word_operation_reason_name, REASON_COUNT, &reason, err))
		return -1;
	*ret_kind = (enum operation_kind)kind;
	*ret_reason = (enum operation_reason)reason;
	return 0;
}

static int read_operation(const struct json *doc, struct operation *operation, struct err *err)
{
	const struct json *obj;
	int found = json_opt_object(doc, "operation", &obj, err);

	if (found <= 0)
		return found;
	if (read_cause(obj, &operation->kind, &operation->reason, err) ||
	    opt_id(obj, "triggerId", operation->trigger_id, err) ||
	    opt_id(obj, "jobId", operation->job_id, err) ||
	    opt_str(obj, "nonce", &operation->nonce, err) ||
	    opt_str(obj, "path", &operation->path, err) ||
	    opt_str(obj, "directory", &operation->directory, err) ||
	    opt_bool(obj, "drain", &operation->drain, err) ||
	    opt_i64(obj, "startedUnixMs", 0, &operation->started_unix_ms, err))
		return err_wrap(err, "operation");
	return 0;
}

static int read_last_operation(const struct json *doc, struct operation_result *result,
			       struct err *err)
{
	const struct json *obj;
	int found = json_opt_object(doc, "lastOperation", &obj, err);

	if (found <= 0)
		return found;
	if (read_cause(obj, &result->kind, &result->reason, err) ||
	    opt_id(obj, "triggerId", result->trigger_id, err) ||
	    opt_str(obj, "nonce", &result->nonce, err) || opt_bool(obj, "ok", &result->ok, err) ||
	    opt_str(obj, "location", &result->location, err) ||
	    opt_str(obj, "error", &result->error, err) ||
	    opt_i64(obj, "endedUnixMs", 0, &result->ended_unix_ms, err))
		return err_wrap(err, "lastOperation");
	return 0;
}

static int read_savepoint_requests(const struct json *doc, struct journal *journal, struct err *err)
{
	const struct json *array;
	const struct json *element;
	int found = json_opt_array(doc, "savepointRequests", &array, err);

	if (found <= 0)
		return found;
	json_each (element, array) {
		struct savepoint_request *request;
		const char *nonce;

		if (json_need_str(element, "nonce", &nonce, err))
			return err_wrap(err, "savepointRequests");
		request = journal_add_savepoint_request(journal, nonce);
		if (opt_id(element, "triggerId", request->trigger_id, err) ||
		    opt_bool(element, "answered", &request->answered, err) ||
		    opt_bool(element, "ok", &request->ok, err) ||
		    opt_str(element, "location", &request->location, err) ||
		    opt_str(element, "error", &request->error, err))
			return err_wrap(err, "savepointRequests");
	}
	return 0;
}

static int read_outcome(const struct json *doc, struct outcome *outcome, struct err *err)
{
	const struct json *obj;
	int kind = 0;
	int found = json_opt_object(doc, "outcome", &obj, err);

	if (found <= 0)
		return found;
	if (need_word(obj, "kind", word_outcome_kind_name, OUTCOME_RESTORE_MISMATCH + 1, &kind,
		      err) ||
	    opt_id(obj, "jobId", outcome->job_id, err) ||
	    opt_str(obj, "reason", &outcome->reason, err) ||
	    opt_i64(obj, "unixMs", 0, &outcome->unix_ms, err) ||
	    opt_str(obj, "savepoint", &outcome->savepoint, err) ||
	    opt_bool(obj, "suspended", &outcome->suspended, err))
		return err_wrap(err, "outcome");
	outcome->kind = (enum outcome_kind)kind;
	return 0;
}

/* Tokens and generations: an array of strings, each handed to add(). */
static int read_strings(const struct json *doc, const char *key, struct journal *journal,
			void (*add)(struct journal *, const char *), struct err *err)
{
	const struct json *array;
	const struct json *element;
	int found = json_opt_array(doc, key, &array, err);

	if (found <= 0)
		return found;
	json_each (element, array) {
		if (!json_text(element))
			return err_set(err, ERR_FORMAT, 0, "'%s': must contain only strings", key);
		add(journal, json_text(element));
	}
	return 0;
}

static int read_job_ids(const struct json *doc, struct journal *journal, struct err *err)
{
	const struct json *obj;
	int found = json_opt_object(doc, "jobIds", &obj, err);

	if (found <= 0)
		return found;
	if (opt_str(obj, "space", &journal->id_space, err) ||
	    opt_i64(obj, "next", 0, &journal->id_next, err))
		return err_wrap(err, "jobIds");
	return 0;
}

static int read_failures(const struct json *doc, struct journal *journal, struct err *err)
{
	const struct json *array;
	const struct json *element;
	int found = json_opt_array(doc, "failuresUnixMs", &array, err);

	if (found <= 0)
		return found;
	json_each (element, array) {
		int64_t unix_ms;

		if (json_to_i64(element, &unix_ms, err))
			return err_wrap(err, "'failuresUnixMs'");
		journal_add_failure(journal, unix_ms);
	}
	return 0;
}

static int read_log(const struct json *doc, struct journal *journal, struct err *err)
{
	const struct json *array;
	const struct json *element;
	int found = json_opt_array(doc, "log", &array, err);

	if (found <= 0)
		return found;
	json_each (element, array) {
		int64_t unix_ms;
		const char *text;

		if (json_need_i64(element, "unixMs", &unix_ms, err) ||
		    json_need_str(element, "text", &text, err))
			return err_wrap(err, "log[%zu]", journal->log_count);
		journal_add_log(journal, unix_ms, text);
	}
	return 0;
}

static int read_schema(const struct json *doc, struct err *err)
{
	int64_t schema;

	if (json_kind(doc) != JSON_OBJECT)
		return err_set(err, ERR_FORMAT, 0, "not a JSON object");
	if (json_need_i64(doc, "schema", &schema, err))
		return -1;
	if (schema > JOURNAL_SCHEMA)
		return err_set(
			err, ERR_CONFIG, 0,
			"written by a newer drey (schema %lld, this one knows %d): run that version again; this one leaves the journal unchanged",
			(long long)schema, JOURNAL_SCHEMA);
	if (schema < 1)
		return err_set(err, ERR_FORMAT, 0, "'schema': %lld does not exist",
			       (long long)schema);
	return 0;
}

static int read_document(const struct json *doc, struct journal *journal, struct err *err)
{
	const char *application;

	if (read_schema(doc, err) || json_need_str(doc, "application", &application, err) ||
	    json_need_i64(doc, "sequence", &journal->sequence, err))
		return -1;
	if (journal->sequence < 0 || journal->sequence == INT64_MAX)
		return err_set(err, ERR_FORMAT, 0, "'sequence': out of range");
	xstrset(&journal->application, application);
	if (opt_str(doc, "writer", &journal->writer, err) ||
	    opt_str(doc, "disposing", &journal->disposing, err) ||
	    opt_str(doc, "phase", &journal->phase, err) ||
	    json_need_bool(doc, "everProven", &journal->ever_proven, err) ||
	    read_intent(doc, &journal->intent, err) ||
	    opt_str(doc, "savepointNonceDone", &journal->savepoint_nonce_done, err) ||
	    opt_str(doc, "restartNonceDone", &journal->restart_nonce_done, err) ||
	    read_launches(doc, journal, err) || read_job_ids(doc, journal, err) ||
	    read_strings(doc, "formerJobIds", journal, journal_add_former_job, err) ||
	    read_snapshots(doc, journal, err) || read_operation(doc, &journal->operation, err) ||
	    read_last_operation(doc, &journal->last_operation, err) ||
	    read_savepoint_requests(doc, journal, err) ||
	    read_outcome(doc, &journal->outcome, err) || read_failures(doc, journal, err) ||
	    opt_str(doc, "lastError", &journal->last_error, err) ||
	    opt_i64(doc, "lastErrorUnixMs", 0, &journal->last_error_unix_ms, err) ||
	    opt_i64(doc, "lastErrorLaunch", 0, &journal->last_error_launch, err) ||
	    read_strings(doc, "consumedTokens", journal, journal_consume, err) ||
	    read_strings(doc, "failedGenerations", journal, journal_add_failed_generation, err) ||
	    read_strings(doc, "writers", journal, journal_add_writer, err) ||
	    read_log(doc, journal, err))
		return -1;
	return 0;
}

int journal_decode(const char *text, size_t len_bytes, struct journal *ret_journal, struct err *err)
{
	struct journal journal = {0};

	journal.origin = json_parse(text, len_bytes, JOURNAL_MAX_BYTES, err);
	if (!journal.origin)
		return err_wrap(err, "journal");
	if (read_document(journal.origin, &journal, err)) {
		journal_release(&journal);
		return err_wrap(err, "journal");
	}
	*ret_journal = journal;
	return 0;
}
