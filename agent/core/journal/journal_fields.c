/*
 * What the journal holds, and how it is written. Every member is always written, an empty one as
 * null: so a member that is only in the old document belongs to a newer program, and is kept. A
 * member that is left out of a table is lost with the next write.
 */
#include "core/journal/journal_fields.h"

#include "base/mem.h"
#include "base/words.h"

static const char *const desired_states[] = {"running", "suspended", "cancelled", NULL};
static const char *const restore_kinds[] = {"none", "empty", "path", "newest", NULL};
static const char *const operation_kinds[] = {"none",    "savepoint",  "stop", "cancel",
					      "dispose", "checkpoint", NULL};
static const char *const reasons[] = {"none",      "periodic", "manual",    "suspend", "restart",
				      "terminate", "cancel",   "retention", "upgrade", NULL};
static const char *const outcome_kinds[] = {"none",    "finished",        "cancelled", "failed",
					    "unknown", "restoreMismatch", NULL};
/* drey 0.1.0 rejects a journal with a kind that it does not know; see write_order() */
static const char *const written_restore_kinds[] = {"none", "empty", "path", NULL};

/* ---- the intent ---- */

#define ORDER(name, kind, ...)  FIELD(name, kind, struct restore_request, __VA_ARGS__)
#define INTENT(name, kind, ...) FIELD(name, kind, struct intent, __VA_ARGS__)

static const struct field order_fields[] = {
	ORDER("kind", WORD, kind, .words = written_restore_kinds, .key = true),
	ORDER("token", TEXT, token),
	ORDER("path", TEXT, path),
	ORDER("allowNonRestored", BOOL, allow_non_restored),
	ORDER("foreign", BOOL, foreign),
	ORDER("askedUnixMs", KNOWN, asked_unix_ms),
	ORDER("generation", TEXT, generation, .sparse = true),
};
static const struct record order_table = RECORD(struct restore_request, order_fields);

/* RESTORE_NEWEST is a member of its own, which 0.1.0 ignores. */
static void write_order(struct json *to, const void *from)
{
	struct restore_request order = ((const struct intent *)from)->restore;
	bool newest = order.kind == RESTORE_NEWEST;
	struct json *object;

	/* a request without a path can never be carried out: not written, because it could not be
	 * read again */
	if (order.kind == RESTORE_NONE || (order.kind == RESTORE_PATH && !order.path)) {
		json_add_null(to, "restore");
		return;
	}
	object = json_add_object(to, "restore");
	if (newest) {
		json_add_bool(object, "newest", true);
		order.kind = RESTORE_NONE;
	}
	record_write(&order_table, &order, NULL, object);
}

static int read_order(const struct json *from, void *to, struct err *err)
{
	struct restore_request *order = &((struct intent *)to)->restore;
	const struct json *object;
	bool newest = false;
	int found = json_opt_object(from, "restore", &object, err);

	if (found <= 0)
		return found;
	if (record_read(&order_table, object, order, err) ||
	    json_opt_bool(object, "newest", &newest, err) < 0)
		return err_wrap(err, "restore");
	order->read_back = true;
	if (order->kind == RESTORE_NONE && newest)
		order->kind = RESTORE_NEWEST;
	if (order->kind == RESTORE_PATH && !order->path)
		return err_set(err, ERR_FORMAT, 0, "restore: 'path' is missing");
	return 0;
}

#define WANTED(name, kind, ...)  FIELD(name, kind, struct parallelism, __VA_ARGS__)
#define WANTEDS(name, kind, ...) FIELDS(name, kind, struct parallelism, __VA_ARGS__)

static const struct field vertex_fields[] = {
	FIELD("vertex", TEXT, struct vertex_parallelism, vertex, .needed = true),
	FIELD("parallelism", NUMBER, struct vertex_parallelism, parallelism, .needed = true),
};
static const struct record vertex_table = RECORD(struct vertex_parallelism, vertex_fields);

/* All are always written: a member of the last request must not come back in the next one. */
static const struct field parallelism_fields[] = {
	WANTED("nonce", TEXT, nonce, .key = true),
	WANTED("reset", BOOL, reset),
	WANTED("merge", BOOL, merge),
	WANTED("all", KNOWN, all),
	WANTEDS("vertices", LIST, vertices, vertex_count, .record = &vertex_table),
};
const struct record parallelism_table = RECORD(struct parallelism, parallelism_fields);

static const struct field intent_fields[] = {
	INTENT("state", WORD, state, .words = desired_states),
	INTENT("doNotRestart", BOOL, do_not_restart, .needed = true),
	INTENT("savepointNonce", TEXT, savepoint_nonce),
	INTENT("restartNonce", TEXT, restart_nonce),
	INTENT("restore", RECORD, restore, .record = &order_table, .write = write_order,
	       .read = read_order),
	INTENT("parallelism", RECORD, parallelism, .record = &parallelism_table),
};
const struct record intent_table = RECORD(struct intent, intent_fields);

/* ---- launches ---- */

#define LAUNCH(name, kind, ...) FIELD(name, kind, struct launch, __VA_ARGS__)
/* Some members of a launch that are an object of their own in JSON. */
#define PART_OF_LAUNCH(in_json, its_record)                                                        \
	{                                                                                          \
		.name = in_json, .kind = FIELD_RECORD, .record = &(its_record)                     \
	}

static const struct field restore_point_fields[] = {
	LAUNCH("path", TEXT, restore_path, .needed = true, .key = true),
	LAUNCH("kind", WORD, restore_kind, .words = snapshot_kind_words),
	LAUNCH("checkpointId", KNOWN, restore_checkpoint_id),
	LAUNCH("completedUnixMs", KNOWN, restore_completed_unix_ms),
};
static const struct record restore_point_table = RECORD(struct launch, restore_point_fields);

static const struct field last_checkpoint_fields[] = {
	LAUNCH("id", KNOWN, last_checkpoint_id, .key = true),
	LAUNCH("path", TEXT, last_checkpoint_path, .key = true),
	LAUNCH("completedUnixMs", KNOWN, last_checkpoint_unix_ms),
};
const struct record last_checkpoint_table = RECORD(struct launch, last_checkpoint_fields);

#define EFFECTIVE(name, kind, ...) FIELD(name, kind, struct effective, __VA_ARGS__)

static const struct field effective_fields[] = {
	EFFECTIVE("known", BOOL, known, .key = true),
	EFFECTIVE("checkpointingOff", BOOL, checkpointing_off, .sparse = true),
	EFFECTIVE("intervalMs", KNOWN, interval_ms),
	EFFECTIVE("retention", WORD, externalized, .words = externalized_words, .sparse = true),
	EFFECTIVE("storage", WORD, storage, .words = checkpoint_storage_words, .sparse = true),
	EFFECTIVE("backend", WORD, backend, .words = state_backend_words, .sparse = true),
	EFFECTIVE("changelog", BOOL, changelog, .sparse = true),
	EFFECTIVE("unaligned", BOOL, unaligned, .sparse = true),
	EFFECTIVE("restarts", WORD, restarts, .words = task_restarts_words, .sparse = true),
	EFFECTIVE("claimMode", WORD, claim, .words = claim_mode_words, .key = true, .sparse = true),
	EFFECTIVE("canonicalRefused", BOOL, canonical_refused, .key = true, .sparse = true),
};
const struct record effective_table = RECORD(struct effective, effective_fields);

static void write_wait_status(struct json *to, const void *from)
{
	const struct launch *launch = from;

	if (launch->ended_unix_ms && launch->wait_status >= 0)
		json_add_i64(to, "waitStatus", launch->wait_status);
	else
		json_add_null(to, "waitStatus");
}

/* Without a request for Flink's record, the end is what drey saw of the job. */
static int read_end_known(const struct json *from, void *to, struct err *err)
{
	struct launch *launch = to;

	launch->end_known = launch->job_ended;
	return json_opt_bool(from, "endKnown", &launch->end_known, err) < 0 ? -1 : 0;
}

static const struct field launch_fields[] = {
	LAUNCH("number", NUMBER, number, .needed = true),
	LAUNCH("jobId", ID, job_id, .needed = true),
	LAUNCH("launchId", ID, launch_id, .sparse = true),
	LAUNCH("jobResultPath", TEXT, job_result_path),
	LAUNCH("applicationId", ID, application_id),
	LAUNCH("applicationResultPath", TEXT, application_result_path),
	LAUNCH("generation", TEXT, generation),
	LAUNCH("flinkVersion", TEXT, flink_version),
	LAUNCH("checkpointDirectory", TEXT, checkpoint_dir),
	LAUNCH("savepointDirectory", TEXT, savepoint_dir),
	LAUNCH("haClusterId", TEXT, ha_cluster_id),
	LAUNCH("held", BOOL, held, .sparse = true),
	LAUNCH("outputSide", WORD, output_side, .words = side_words, .sparse = true),
	LAUNCH("allowNonRestored", BOOL, allow_non_restored),
	LAUNCH("requestToken", TEXT, request_token),
	LAUNCH("writer", TEXT, writer),
	PART_OF_LAUNCH("restorePoint", restore_point_table),
	LAUNCH("checkpointsBefore", KNOWN, checkpoints_before, .sparse = true),
	LAUNCH("intendedUnixMs", KNOWN, intended_unix_ms),
	LAUNCH("startedUnixMs", KNOWN, started_unix_ms),
	LAUNCH("verifiedUnixMs", KNOWN, verified_unix_ms),
	LAUNCH("provenUnixMs", KNOWN, proven_unix_ms),
	LAUNCH("endedUnixMs", KNOWN, ended_unix_ms),
	LAUNCH("waitStatus", SMALL, wait_status, .unknown = -1, .write = write_wait_status),
	LAUNCH("jobEnded", BOOL, job_ended),
	LAUNCH("endKnown", BOOL, end_known, .read = read_end_known),
	LAUNCH("mismatched", BOOL, mismatched),
	LAUNCH("leftState", BOOL, left_state),
	LAUNCH("neverStarted", BOOL, never_started),
	LAUNCH("adopted", BOOL, adopted, .sparse = true),
	LAUNCH("braked", BOOL, do_not_restart),
	PART_OF_LAUNCH("lastCheckpoint", last_checkpoint_table),
	LAUNCH("effective", RECORD, effective, .record = &effective_table, .sparse = true),
	LAUNCH("reviewedId", KNOWN, reviewed_id, .sparse = true),
	LAUNCH("reviewedUnixMs", KNOWN, reviewed_unix_ms, .sparse = true),
	LAUNCH("unusable", TEXT, unusable, .sparse = true, .max_bytes = 2048),
	LAUNCH("slots", KNOWN, slots, .sparse = true),
	LAUNCH("taskManagers", KNOWN, task_managers, .sparse = true),
};
const struct record launch_table = RECORD(struct launch, launch_fields);

/* ---- snapshots ---- */

#define SNAPSHOT(name, kind, ...) FIELD(name, kind, struct snapshot, __VA_ARGS__)

static const struct field snapshot_fields[] = {
	SNAPSHOT("path", TEXT, path, .needed = true),
	SNAPSHOT("kind", WORD, kind, .words = snapshot_kind_words),
	SNAPSHOT("origin", WORD, origin, .words = snapshot_origin_words),
	SNAPSHOT("format", WORD, format, .words = snapshot_format_words, .sparse = true),
	SNAPSHOT("checkpointId", KNOWN, checkpoint_id),
	SNAPSHOT("jobId", ID, job_id),
	SNAPSHOT("completedUnixMs", KNOWN, completed_unix_ms),
	SNAPSHOT("sizeBytes", KNOWN, size_bytes, .unknown = -1),
	SNAPSHOT("fileCount", KNOWN, file_count, .unknown = -1),
	SNAPSHOT("verified", BOOL, verified),
	SNAPSHOT("verifiedUnixMs", KNOWN, verified_unix_ms),
	SNAPSHOT("metadataUnixMs", KNOWN, metadata_unix_ms),
	SNAPSHOT("metadataBytes", KNOWN, metadata_bytes),
	SNAPSHOT("metadataVersion", SMALL, metadata_version),
};
const struct record snapshot_table = RECORD(struct snapshot, snapshot_fields);

/* ---- operations ---- */

#define OPERATION(name, kind, ...) FIELD(name, kind, struct operation, __VA_ARGS__)
#define RESULT(name, kind, ...)    FIELD(name, kind, struct operation_result, __VA_ARGS__)
#define REQUEST(name, kind, ...)   FIELD(name, kind, struct savepoint_request, __VA_ARGS__)
#define OUTCOME(name, kind, ...)   FIELD(name, kind, struct outcome, __VA_ARGS__)
#define PROSE                      .max_bytes = JOURNAL_MAX_TEXT_BYTES

static const struct field operation_fields[] = {
	OPERATION("kind", WORD, kind, .words = operation_kinds, .key = true),
	OPERATION("reason", WORD, reason, .words = reasons),
	OPERATION("triggerId", ID, trigger_id),
	OPERATION("jobId", ID, job_id),
	OPERATION("nonce", TEXT, nonce),
	OPERATION("path", TEXT, path),
	OPERATION("directory", TEXT, directory),
	OPERATION("drain", BOOL, drain),
	OPERATION("format", WORD, format, .words = snapshot_format_words, .sparse = true),
	OPERATION("startedUnixMs", KNOWN, started_unix_ms),
	OPERATION("jobUnixMs", KNOWN, job_unix_ms, .sparse = true),
};
const struct record operation_table = RECORD(struct operation, operation_fields);

static const struct field result_fields[] = {
	RESULT("kind", WORD, kind, .words = operation_kinds, .key = true),
	RESULT("reason", WORD, reason, .words = reasons),
	RESULT("triggerId", ID, trigger_id),
	RESULT("nonce", TEXT, nonce),
	RESULT("ok", BOOL, ok),
	RESULT("format", WORD, format, .words = snapshot_format_words, .sparse = true),
	RESULT("location", TEXT, location),
	RESULT("error", TEXT, error, PROSE),
	RESULT("endedUnixMs", KNOWN, ended_unix_ms),
};
const struct record operation_result_table = RECORD(struct operation_result, result_fields);

static const struct field request_fields[] = {
	REQUEST("nonce", TEXT, nonce, .needed = true),
	REQUEST("triggerId", ID, trigger_id),
	REQUEST("answered", BOOL, answered),
	REQUEST("ok", BOOL, ok),
	REQUEST("location", TEXT, location),
	REQUEST("error", TEXT, error, PROSE),
	REQUEST("failures", KNOWN, failures, .sparse = true),
};
const struct record savepoint_request_table = RECORD(struct savepoint_request, request_fields);

#define CHECKPOINT(name, kind, ...) FIELD(name, kind, struct checkpoint_operation, __VA_ARGS__)
#define ASKED(name, kind, ...)      FIELD(name, kind, struct checkpoint_request, __VA_ARGS__)

static const struct field checkpoint_fields[] = {
	CHECKPOINT("reason", WORD, reason, .words = reasons),
	CHECKPOINT("triggerId", ID, trigger_id, .key = true),
	CHECKPOINT("jobId", ID, job_id),
	CHECKPOINT("full", BOOL, full),
	CHECKPOINT("startedUnixMs", KNOWN, started_unix_ms),
};
static const struct record checkpoint_table =
	RECORD(struct checkpoint_operation, checkpoint_fields);

static const struct field checkpoint_request_fields[] = {
	ASKED("nonce", TEXT, nonce, .needed = true),
	ASKED("full", BOOL, full),
	ASKED("triggerId", ID, trigger_id),
	ASKED("answered", BOOL, answered),
	ASKED("ok", BOOL, ok),
	ASKED("checkpointId", KNOWN, checkpoint_id),
	ASKED("location", TEXT, location),
	ASKED("error", TEXT, error, PROSE),
};
const struct record checkpoint_request_table =
	RECORD(struct checkpoint_request, checkpoint_request_fields);

static const struct field outcome_fields[] = {
	OUTCOME("kind", WORD, kind, .words = outcome_kinds, .key = true),
	OUTCOME("jobId", ID, job_id),
	OUTCOME("reason", TEXT, reason, PROSE),
	OUTCOME("unixMs", KNOWN, unix_ms),
	OUTCOME("savepoint", TEXT, savepoint),
	OUTCOME("suspended", BOOL, suspended),
};
const struct record outcome_table = RECORD(struct outcome, outcome_fields);

#define LOSS(name, kind, ...) FIELD(name, kind, struct state_loss, __VA_ARGS__)

static const struct field lost_fields[] = {
	LOSS("path", TEXT, lost_path),
	LOSS("kind", WORD, lost_kind, .words = snapshot_kind_words),
	LOSS("checkpointId", KNOWN, lost_checkpoint_id),
	LOSS("completedUnixMs", KNOWN, lost_unix_ms),
};
static const struct record lost_table = RECORD(struct state_loss, lost_fields);

static const struct field started_fields[] = {
	LOSS("path", TEXT, path),
	LOSS("kind", WORD, kind, .words = snapshot_kind_words),
	LOSS("checkpointId", KNOWN, checkpoint_id),
	LOSS("completedUnixMs", KNOWN, completed_unix_ms),
};
static const struct record started_table = RECORD(struct state_loss, started_fields);

static const struct field loss_fields[] = {
	{.name = "lost", .kind = FIELD_RECORD, .record = &lost_table},
	{.name = "started", .kind = FIELD_RECORD, .record = &started_table},
	LOSS("reason", TEXT, reason, PROSE),
	/* 0 is a loss, too: dates of some stores have whole seconds */
	LOSS("ms", NUMBER, ms),
	LOSS("totalMs", NUMBER, total_ms),
	LOSS("count", KNOWN, count),
	LOSS("unixMs", KNOWN, unix_ms, .key = true),
	LOSS("launch", KNOWN, launch),
};
const struct record state_loss_table = RECORD(struct state_loss, loss_fields);

#define RESCALED(name, kind, ...) FIELD(name, kind, struct rescaled, __VA_ARGS__)

static const struct field rescaled_fields[] = {
	RESCALED("nonce", TEXT, nonce, .key = true), RESCALED("ok", BOOL, ok),
	RESCALED("error", TEXT, error, PROSE),       RESCALED("leftOut", TEXT, left_out, PROSE),
	RESCALED("launch", KNOWN, launch),           RESCALED("unixMs", KNOWN, unix_ms),
};
const struct record rescaled_table = RECORD(struct rescaled, rescaled_fields);

/* ---- the document ---- */

#define JOURNAL(name, kind, ...)  FIELD(name, kind, struct journal, __VA_ARGS__)
#define JOURNALS(name, kind, ...) FIELDS(name, kind, struct journal, __VA_ARGS__)

static const struct field log_fields[] = {
	FIELD("unixMs", NUMBER, struct log_entry, unix_ms, .needed = true),
	FIELD("text", TEXT, struct log_entry, text, .needed = true, PROSE),
};
const struct record log_table = RECORD(struct log_entry, log_fields);

static const struct field job_ids_fields[] = {
	JOURNAL("space", TEXT, id_space, .key = true),
	JOURNAL("next", NUMBER, id_next),
};
static const struct record job_ids_table = RECORD(struct journal, job_ids_fields);

static void write_failures(struct json *to, const void *from)
{
	const struct journal *journal = from;
	struct json *array = json_add_array(to, "failuresUnixMs");

	for (size_t i = 0; i < journal->failure_count; i++)
		json_add_i64(array, NULL, journal->failures_unix_ms[i]);
}

/* The newest ones, as many as there is room for. */
static int read_failures(const struct json *from, void *to, struct err *err)
{
	struct journal *journal = to;
	const struct json *array = NULL;
	const struct json *element;
	size_t left;

	if (json_opt_array(from, "failuresUnixMs", &array, err) < 0)
		return -1;
	left = json_len(array);
	json_each (element, array) {
		int64_t unix_ms;

		if (json_to_i64(element, &unix_ms, err))
			return err_wrap(err, "'failuresUnixMs'");
		if (left-- <= JOURNAL_MAX_FAILURES)
			journal->failures_unix_ms[journal->failure_count++] = unix_ms;
	}
	return 0;
}

static const struct field journal_fields[] = {
	JOURNAL("application", TEXT, application, .needed = true),
	JOURNAL("sequence", NUMBER, sequence, .needed = true),
	JOURNAL("writer", TEXT, writer),
	JOURNAL("disposing", TEXT, disposing),
	/* left out without hand-overs, as drey 0.1.0 wrote it */
	JOURNAL("owner", RECORD, owner, .record = &party_table, .sparse = true),
	JOURNAL("handover", RECORD, handover, .record = &handover_table, .sparse = true),
	JOURNAL("leaseId", TEXT, lease_id, .sparse = true),
	JOURNAL("leaseLongestMs", NUMBER, lease_longest_ms, .sparse = true),
	JOURNAL("phase", TEXT, phase),
	JOURNAL("everProven", BOOL, ever_proven, .needed = true),
	JOURNAL("intent", RECORD, intent, .record = &intent_table),
	JOURNAL("savepointNonceDone", TEXT, savepoint_nonce_done),
	JOURNAL("restartNonceDone", TEXT, restart_nonce_done),
	JOURNALS("launches", LIST, launches, launch_count, .record = &launch_table, .needed = true),
	{.name = "jobIds", .kind = FIELD_RECORD, .record = &job_ids_table},
	JOURNALS("formerJobIds", TEXTS, former_jobs, former_job_count),
	JOURNALS("unknownJobIds", TEXTS, unknown_jobs, unknown_job_count, .sparse = true),
	JOURNALS("snapshots", LIST, snapshots, snapshot_count, .record = &snapshot_table,
		 .needed = true),
	JOURNAL("operation", RECORD, operation, .record = &operation_table),
	JOURNAL("lastOperation", RECORD, last_operation, .record = &operation_result_table),
	JOURNALS("savepointRequests", LIST, savepoint_requests, savepoint_request_count,
		 .record = &savepoint_request_table),
	JOURNAL("checkpoint", RECORD, checkpoint, .record = &checkpoint_table, .sparse = true),
	JOURNALS("checkpointRequests", LIST, checkpoint_requests, checkpoint_request_count,
		 .record = &checkpoint_request_table, .sparse = true),
	JOURNAL("fullCheckpointUnixMs", KNOWN, full_checkpoint_unix_ms, .sparse = true),
	JOURNAL("parallelism", RECORD, parallelism, .record = &parallelism_table),
	JOURNAL("parallelismLaunch", KNOWN, parallelism_launch),
	JOURNAL("rescaled", RECORD, rescaled, .record = &rescaled_table),
	JOURNAL("outcome", RECORD, outcome, .record = &outcome_table),
	JOURNAL("stateLoss", RECORD, loss, .record = &state_loss_table, .sparse = true),
	{.name = "failuresUnixMs", .write = write_failures, .read = read_failures},
	JOURNAL("lastError", TEXT, last_error, PROSE),
	JOURNAL("lastErrorUnixMs", KNOWN, last_error_unix_ms),
	JOURNAL("lastErrorLaunch", KNOWN, last_error_launch),
	JOURNAL("failuresAlike", NUMBER, failures_alike, .sparse = true),
	JOURNALS("consumedTokens", TEXTS, consumed, consumed_count),
	JOURNALS("failedGenerations", TEXTS, failed_generations, failed_generation_count),
	JOURNALS("writers", TEXTS, writers, writer_count),
	JOURNALS("log", LIST, log, log_count, .record = &log_table),
};
const struct record journal_table = RECORD(struct journal, journal_fields);

/* ---- what else follows from the tables ---- */

void operation_release(struct operation *operation)
{
	record_release(&operation_table, operation);
}

void operation_result_release(struct operation_result *result)
{
	record_release(&operation_result_table, result);
}

void rescaled_release(struct rescaled *rescaled)
{
	record_release(&rescaled_table, rescaled);
}

void state_loss_release(struct state_loss *loss)
{
	record_release(&state_loss_table, loss);
}

void outcome_release(struct outcome *outcome)
{
	record_release(&outcome_table, outcome);
}

WORDS_OF(desired_states, desired_state_name, enum desired_state, "unknown");
WORDS_OF(restore_kinds, restore_request_kind_name, enum restore_request_kind, "unknown");
WORDS_OF(operation_kinds, operation_kind_name, enum operation_kind, "unknown");

bool operation_ends_job(enum operation_kind kind)
{
	return kind == OPERATION_STOP || kind == OPERATION_CANCEL;
}

WORDS_OF(reasons, operation_reason_name, enum operation_reason, "unknown");

/* "unknown" is a real outcome, so a value out of range has a word of its own */
WORDS_OF(outcome_kinds, outcome_kind_name, enum outcome_kind, "invalid");
