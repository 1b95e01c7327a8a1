#include "core/report/status.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tap.h"

#define ID_A "0123456789abcdef0123456789abcdef"
#define NOW  1700000000000

static const struct lifecycle_config config = {.max_attempts = 5, .attempts_window_ms = 60000};

static void life_make(struct lifecycle *life)
{
	struct journal journal;
	struct rng rng;

	rng_seed(&rng, 1);
	journal_init(&journal, "orders");
	lifecycle_init(life, &config, &journal, &rng);
	life->now_unix_ms = NOW;
	life->now_ms = 5000;
}

static const char *text_at(const struct json *doc, const char *a, const char *b)
{
	return json_text(json_get(json_get(doc, a), b));
}

static const struct json *condition(const struct json *doc, const char *type)
{
	const struct json *each;

	json_each (each, json_get(doc, "conditions"))
		if (!strcmp(json_str(each, "type"), type))
			return each;
	return NULL;
}

static void check_conditions(const struct lifecycle *life, const char *ready,
			     const char *reconciling, const char *stalled)
{
	struct json *doc = status_document(life, NULL, NOW);

	CHECK_STR(json_str(condition(doc, "Ready"), "status"), ready);
	CHECK_STR(json_str(condition(doc, "Reconciling"), "status"), reconciling);
	CHECK_STR(json_str(condition(doc, "Stalled"), "status"), stalled);
	CHECK_STR(json_str(condition(doc, "Ready"), "reason"), phase_name(life->phase));
	CHECK_STR(json_str(condition(doc, "Stalled"), "message"), life->reason);
	json_free(doc);
}

#define LIFECYCLE_TEST(name) TEST_WITH(name, struct lifecycle, life, life_make, lifecycle_release)

LIFECYCLE_TEST(every_member_is_there_from_the_start)
{
	static const char *const members[] = {"application",
					      "phase",
					      "cause",
					      "reason",
					      "jobId",
					      "launch",
					      "job",
					      "checkpoints",
					      "lastCheckpoint",
					      "tasks",
					      "slots",
					      "taskManagers",
					      "lastSavepoint",
					      "snapshots",
					      "operation",
					      "lastOperation",
					      "desired",
					      "savepointRequests",
					      "checkpointRequests",
					      "waits",
					      "parallelism",
					      "attempts",
					      "stateLoss",
					      "outcome",
					      "lastError",
					      "lastErrorUnixMs",
					      "lastErrorLaunch",
					      "nextSavepointInMs",
					      "journal",
					      "conditions",
					      "transitions"};
	struct json *doc;

	doc = status_document(life, NULL, NOW);
	CHECK_INT(json_len(doc), ==, ARRAY_LEN(members));
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		CHECK(json_get(doc, members[i]) != NULL);
	CHECK_STR(json_str(doc, "application"), "orders");
	CHECK_STR(json_str(doc, "phase"), "Resolving");
	CHECK_INT(json_kind(json_get(doc, "launch")), ==, JSON_NULL);
	CHECK_INT(json_kind(json_get(doc, "jobId")), ==, JSON_NULL);
	CHECK_STR(text_at(doc, "desired", "state"), "running");
	CHECK_STR(json_str(condition(doc, "RestoreVerified"), "status"), "Unknown");
	CHECK_STR(json_str(condition(doc, "RestoreVerified"), "reason"), "NeverLaunched");
	json_free(doc);
}

/* "savepoint 3 2001-09-09T01:46:40.003Z 1000" for each; the caller frees. */
static char *snapshots_of(const struct lifecycle *life)
{
	struct json *doc = status_document(life, NULL, NOW);
	const struct json *each;
	cleanup_buf struct buf text = BUF_INIT;

	json_each (each, json_get(doc, "snapshots")) {
		const char *date = json_str(each, "completedAt");

		buf_addf(&text, "%s%s %d %s %d", text.len_bytes ? "; " : "", json_str(each, "path"),
			 (int)json_i64_or(each, "checkpointId", -1), date ? date : "?",
			 (int)json_i64_or(each, "sizeBytes", -1));
	}
	json_free(doc);
	return xstrdup(buf_str(&text));
}

TEST(the_newest_snapshots_are_listed_with_their_dates)
{
	struct snapshot snapshot = {.path = (char *)"file:/sp/1", .size_bytes = 1000};
	struct launch *launch;
	struct lifecycle life;
	cleanup_free char *text = NULL, *few = NULL, *many = NULL;
	struct json *doc;

	life_make(&life);
	text = snapshots_of(&life);
	CHECK_STR(text, "");
	snapshot.kind = SNAPSHOT_SAVEPOINT;
	snapshot.completed_unix_ms = 1000000000000;
	journal_add_snapshot(&life.journal, &snapshot);
	snapshot = (struct snapshot){.path = (char *)"file:/sp/2",
				     .kind = SNAPSHOT_SAVEPOINT,
				     .size_bytes = -1,
				     .checkpoint_id = 4};
	journal_add_snapshot(&life.journal, &snapshot);
	launch = journal_add_launch(&life.journal);
	launch->last_checkpoint_id = 9;
	launch->last_checkpoint_path = xstrdup("file:/cp/chk-9");
	launch->last_checkpoint_unix_ms = 1000000000500;
	life.seen.checkpointing.size_bytes = 77; /* of a Flink that does not run any more */
	few = snapshots_of(&life);
	CHECK_STR(few, "file:/cp/chk-9 9 2001-09-09T01:46:40.500Z -1; "
		       "file:/sp/1 -1 2001-09-09T01:46:40.000Z 1000; file:/sp/2 4 ? -1");
	for (int i = 0; i < 30; i++) {
		cleanup_free char *path = xasprintf("file:/sp/x%02d", i);

		snapshot.path = path;
		snapshot.completed_unix_ms = 1000000000001 + i;
		journal_add_snapshot(&life.journal, &snapshot);
	}
	/* restored from what is also the newest checkpoint of the launch before */
	snapshot.path = launch->last_checkpoint_path;
	snapshot.kind = SNAPSHOT_CHECKPOINT;
	snapshot.completed_unix_ms = launch->last_checkpoint_unix_ms;
	journal_add_snapshot(&life.journal, &snapshot);
	many = snapshots_of(&life);
	CHECK_HAS(many, "file:/cp/chk-9 4 2001-09-09T01:46:40.500Z -1; file:/sp/x29");
	CHECK_HAS(many, "file:/sp/x11");
	CHECK(!strstr(many, "file:/sp/x10"));
	doc = status_document(&life, NULL, NOW);
	CHECK_INT(json_len(json_get(doc, "snapshots")), ==, 20);
	json_free(doc);
	lifecycle_release(&life);
}

TEST(a_requested_checkpoint_is_shown_as_an_operation)
{
	const struct checkpoint_result result = {
		.ok = true, .checkpoint_id = 7, .location = "file:/cp/chk-7"};
	struct lifecycle life;
	struct json *doc;

	life_make(&life);
	journal_ask_checkpoint(&life.journal, "n1", true);
	life.journal.checkpoint = (struct checkpoint_operation){.reason = REASON_MANUAL,
								.trigger_id = "0123",
								.full = true,
								.started_unix_ms = NOW};
	journal_join_checkpoint(&life.journal, &life.journal.checkpoint);
	doc = status_document(&life, NULL, NOW);
	CHECK_STR(text_at(doc, "operation", "kind"), "checkpoint");
	CHECK_STR(text_at(doc, "operation", "reason"), "manual");
	CHECK_STR(json_str(json_at(json_get(doc, "checkpointRequests"), 0), "state"), "running");
	json_free(doc);
	journal_answer_checkpoint(&life.journal, "0123", &result);
	life.journal.checkpoint = (struct checkpoint_operation){0};
	doc = status_document(&life, NULL, NOW);
	CHECK_INT(json_kind(json_get(doc, "operation")), ==, JSON_NULL);
	CHECK_STR(json_str(json_at(json_get(doc, "checkpointRequests"), 0), "state"), "done");
	CHECK_INT(json_i64_or(json_at(json_get(doc, "checkpointRequests"), 0), "checkpointId", 0),
		  ==, 7);
	json_free(doc);
	lifecycle_release(&life);
}

/* "savepoint: an operation is in flight; not all tasks run, ..." */
static char *waits_of(const struct lifecycle *life)
{
	struct json *doc = status_document(life, NULL, NOW);
	cleanup_buf struct buf text = BUF_INIT;
	const struct json *wait, *clause;

	json_each (wait, json_get(doc, "waits")) {
		buf_addf(&text, "%s%s:", text.len_bytes ? ", " : "", json_str(wait, "what"));
		json_each (clause, json_get(wait, "for"))
			buf_addf(&text, " %s;", json_text(clause));
	}
	json_free(doc);
	return buf_steal(&text);
}

static void check_waits(const struct lifecycle *life, const char *expected)
{
	cleanup_free char *waits = waits_of(life);

	CHECK_STR(waits ? waits : "", expected);
}

TEST(what_has_not_begun_says_what_it_waits_for)
{
	struct lifecycle life;

	life_make(&life);
	life.phase = PHASE_RUNNING;
	life.launch_step = LAUNCH_LIVE;
	life.seen.reachable = life.seen.job_present = true;
	life.seen.state = JOB_RUNNING;
	check_waits(&life, "");
	journal_ask_savepoint(&life.journal, "n1");
	check_waits(&life, ""); /* nothing is in its way: it begins at once */
	life.journal.checkpoint.reason = REASON_MANUAL;
	life.checkpoint.step = STEP_POLLING;
	check_waits(&life, "savepoint: a requested checkpoint is in flight;");
	life.operation.step = STEP_POLLING;
	life.journal.operation.kind = OPERATION_SAVEPOINT;
	check_waits(&life, "");
	life.journal.intent.state = DESIRED_SUSPENDED;
	check_waits(&life, "stop: an operation is in flight;");
	life.journal.operation.kind = OPERATION_STOP;
	check_waits(&life,
		    "savepoint: an operation is in flight; a requested checkpoint is in flight;");
	lifecycle_release(&life);
}

TEST(each_phase_has_its_conditions)
{
	static const struct {
		enum phase phase;
		const char *ready, *reconciling, *stalled;
	} rows[] = {
		{PHASE_RESOLVING, "False", "True", "False"},
		{PHASE_HOLDING, "False", "True", "False"},
		{PHASE_LAUNCHING, "False", "True", "False"},
		{PHASE_RUNNING, "True", "False", "False"},
		{PHASE_STOPPING, "False", "True", "False"},
		{PHASE_SUSPENDED, "False", "False", "False"},
		{PHASE_CANCELLED, "False", "False", "False"},
		{PHASE_FINISHED, "True", "False", "False"},
		{PHASE_FAILED, "False", "False", "True"},
		{PHASE_TERMINATING, "False", "True", "False"},
		{PHASE_STANDBY, "False", "False", "False"},
		{PHASE_PREPARED, "False", "False", "False"},
		{PHASE_HANDED_OVER, "False", "False", "False"},
		{PHASE_SHADOW, "False", "False", "False"},
	};
	struct lifecycle life;

	CHECK_INT(ARRAY_LEN(rows), ==, PHASE_COUNT);
	life_make(&life);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		life.phase = rows[i].phase;
		check_conditions(&life, rows[i].ready, rows[i].reconciling, rows[i].stalled);
	}
	/* somebody else has taken over: nothing that we say about the job is worth much */
	life.phase = PHASE_RUNNING;
	life.fenced = true;
	check_conditions(&life, "False", "False", "True");
	lifecycle_release(&life);
}

static void launch_make(struct lifecycle *life)
{
	struct launch *launch = journal_add_launch(&life->journal);

	memcpy(launch->job_id, ID_A, sizeof(ID_A));
	xstrset(&launch->restore_path, "file:/sp/one");
	launch->restore_kind = SNAPSHOT_SAVEPOINT;
	launch->restore_checkpoint_id = 7;
	launch->restore_completed_unix_ms = NOW - 5000;
	xstrset(&launch->generation, "g");
	launch->started_unix_ms = NOW - 1000;
	launch->last_checkpoint_id = 9;
	xstrset(&launch->last_checkpoint_path, "file:/cp/chk-9");
}

LIFECYCLE_TEST(a_launch_says_what_it_started_from)
{
	struct json *doc;

	launch_make(life);
	life->launch_step = LAUNCH_LIVE;
	life->seen.reachable = life->seen.job_present = true;
	life->seen.state = JOB_RUNNING;
	doc = status_document(life, NULL, NOW);
	CHECK_STR(json_str(doc, "jobId"), ID_A);
	CHECK_STR(json_text(json_get(json_get(json_get(doc, "launch"), "restorePoint"), "path")),
		  "file:/sp/one");
	CHECK_STR(json_text(json_get(json_get(json_get(doc, "launch"), "restorePoint"), "kind")),
		  "savepoint");
	CHECK_INT(json_i64_or(json_get(json_get(doc, "launch"), "restorePoint"), "checkpointId", 0),
		  ==, 7);
	CHECK_INT(json_i64_or(json_get(json_get(doc, "launch"), "restorePoint"), "completedUnixMs",
			      0),
		  ==, NOW - 5000);
	CHECK(!json_bool_or(json_get(doc, "launch"), "restoreVerified", true));
	CHECK_STR(text_at(doc, "job", "state"), "RUNNING");
	CHECK_INT(json_i64_or(json_get(doc, "lastCheckpoint"), "id", 0), ==, 9);
	CHECK_STR(json_str(condition(doc, "RestoreVerified"), "reason"), "Pending");
	json_free(doc);

	journal_launch(&life->journal)->verified_unix_ms = NOW;
	doc = status_document(life, NULL, NOW);
	CHECK_STR(json_str(condition(doc, "RestoreVerified"), "status"), "True");
	CHECK_STR(json_str(condition(doc, "RestoreVerified"), "message"), "file:/sp/one");
	json_free(doc);

	life->journal.outcome.kind = OUTCOME_RESTORE_MISMATCH;
	xstrset(&life->journal.outcome.reason, "restored nothing");
	life->launch_step = LAUNCH_NONE;
	doc = status_document(life, NULL, NOW);
	CHECK_STR(json_str(condition(doc, "RestoreVerified"), "status"), "False");
	CHECK_STR(json_str(condition(doc, "RestoreVerified"), "message"), "restored nothing");
	CHECK_STR(text_at(doc, "outcome", "kind"), "restoreMismatch");
	CHECK_INT(json_kind(json_get(json_get(doc, "job"), "state")), ==, JSON_NULL);
	CHECK(!json_bool_or(json_get(doc, "job"), "reachable", true));
	json_free(doc);
}

LIFECYCLE_TEST(a_fresh_launch_does_not_hide_the_last_checkpoint)
{
	struct json *doc;

	launch_make(life);
	memcpy(journal_add_launch(&life->journal)->job_id, ID_A, sizeof(ID_A));
	doc = status_document(life, NULL, NOW);
	CHECK_INT(json_i64_or(json_get(doc, "launch"), "number", 0), ==, 2);
	CHECK_STR(text_at(doc, "lastCheckpoint", "path"), "file:/cp/chk-9");
	CHECK_INT(json_kind(json_get(json_get(doc, "launch"), "restorePoint")), ==, JSON_NULL);
	json_free(doc);
}

LIFECYCLE_TEST(the_last_savepoint_is_the_newest_one)
{
	struct snapshot snapshot = {.path = (char *)"file:/sp/a",
				    .kind = SNAPSHOT_SAVEPOINT,
				    .origin = ORIGIN_PERIODIC,
				    .checkpoint_id = 3,
				    .verified = true};
	struct json *doc;

	journal_add_snapshot(&life->journal, &snapshot);
	snapshot.path = (char *)"file:/sp/b";
	snapshot.origin = ORIGIN_STOP;
	journal_add_snapshot(&life->journal, &snapshot);
	snapshot.path = (char *)"file:/cp/c";
	snapshot.kind = SNAPSHOT_CHECKPOINT;
	journal_add_snapshot(&life->journal, &snapshot);
	doc = status_document(life, NULL, NOW);
	CHECK_STR(text_at(doc, "lastSavepoint", "path"), "file:/sp/b");
	CHECK_STR(text_at(doc, "lastSavepoint", "origin"), "stop");
	CHECK(json_bool_or(json_get(doc, "lastSavepoint"), "verified", false));
	json_free(doc);
}

LIFECYCLE_TEST(operations_attempts_and_journal_are_shown)
{
	struct json *doc;

	life->journal.operation.kind = OPERATION_STOP;
	life->journal.operation.reason = REASON_SUSPEND;
	life->journal.last_operation.kind = OPERATION_SAVEPOINT;
	life->journal.last_operation.reason = REASON_MANUAL;
	xstrset(&life->journal.last_operation.nonce, "n-1");
	xstrset(&life->journal.last_operation.error, "declined");
	journal_add_failure(&life->journal, NOW - 70000);
	journal_add_failure(&life->journal, NOW - 50000);
	journal_add_failure(&life->journal, NOW - 10);
	xstrset(&life->journal.last_error, "oh");
	journal_add_log(&life->journal, NOW, "it began");
	life->journal.intent.state = DESIRED_SUSPENDED;
	life->journal.intent.do_not_restart = true;
	life->journal_broken = true;
	life->acknowledged = 12;
	doc = status_document(life, NULL, NOW);
	CHECK_STR(text_at(doc, "operation", "kind"), "stop");
	CHECK_STR(text_at(doc, "operation", "reason"), "suspend");
	CHECK_STR(text_at(doc, "lastOperation", "nonce"), "n-1");
	CHECK_STR(text_at(doc, "lastOperation", "error"), "declined");
	CHECK(!json_bool_or(json_get(doc, "lastOperation"), "ok", true));
	CHECK_INT(json_i64_or(json_get(doc, "attempts"), "failed", -1), ==, 2);
	CHECK_INT(json_i64_or(json_get(doc, "attempts"), "max", -1), ==, 5);
	CHECK_INT(json_i64_or(json_get(doc, "attempts"), "windowMs", -1), ==, 60000);
	CHECK_STR(json_str(doc, "lastError"), "oh");
	CHECK_STR(json_str(json_at(json_get(doc, "transitions"), 0), "text"), "it began");
	CHECK_STR(text_at(doc, "desired", "state"), "suspended");
	CHECK(json_bool_or(json_get(doc, "desired"), "doNotRestart", false));
	CHECK(json_bool_or(json_get(doc, "journal"), "broken", false));
	CHECK_INT(json_i64_or(json_get(doc, "journal"), "sequence", -1), ==, 12);
	json_free(doc);
}

static int64_t next_savepoint(const struct lifecycle *life, int64_t now_unix_ms)
{
	struct json *doc = status_document(life, NULL, now_unix_ms);
	int64_t wait_ms = json_i64_or(doc, "nextSavepointInMs", -1);

	json_free(doc);
	return wait_ms;
}

LIFECYCLE_TEST(the_next_savepoint_counts_down_on_any_clock)
{
	CHECK_INT(next_savepoint(life, NOW), ==, -1);
	life->savepoint_ms = life->now_ms + 30000;
	CHECK_INT(next_savepoint(life, NOW), ==, 30000);
	CHECK_INT(next_savepoint(life, NOW + 10000), ==, 20000);
	CHECK_INT(next_savepoint(life, NOW + 90000), ==, 0);
	CHECK_INT(next_savepoint(life, NOW - 86400000), ==, 30000);
}

LIFECYCLE_TEST(the_checkpoints_of_the_running_flink_are_told)
{
	struct json *doc;
	const struct json *told;

	life->launch_step = LAUNCH_LIVE;
	doc = status_document(life, NULL, NOW);
	CHECK_INT(json_kind(json_get(doc, "checkpoints")), ==, JSON_NULL);
	json_free(doc);
	life->seen.statistics_ms = 1;
	life->seen.checkpointing =
		(struct checkpointing){.completed = 7, .failures = 2, .failure = "disk full"};
	doc = status_document(life, NULL, NOW);
	told = json_get(doc, "checkpoints");
	CHECK_INT(json_i64_or(told, "completed", -1), ==, 7);
	CHECK_INT(json_i64_or(told, "failures", -1), ==, 2);
	CHECK_STR(json_str(told, "failure"), "disk full");
	CHECK_INT(json_kind(json_get(told, "intervalMs")), ==, JSON_NULL);
	CHECK_INT(json_kind(json_get(told, "durationMs")), ==, JSON_NULL);
	json_free(doc);
	life->launch_step = LAUNCH_NONE;
	doc = status_document(life, NULL, NOW);
	CHECK_INT(json_kind(json_get(doc, "checkpoints")), ==, JSON_NULL);
	json_free(doc);
}

static bool same_digest(const struct json *a, const struct json *b, bool routine)
{
	cleanup_buf struct buf one = BUF_INIT, other = BUF_INIT;

	status_digest(a, routine, &one);
	status_digest(b, routine, &other);
	return !strcmp(buf_str(&one), buf_str(&other));
}

LIFECYCLE_TEST(what_only_time_changes_is_not_worth_a_write)
{
	struct conditions conditions = {0};
	const struct conditions_outside outside = {.generation = 2};
	struct json *before, *after;

	launch_make(life);
	life->savepoint_ms = life->now_ms + 30000;
	conditions_update(&conditions, life, &outside, NOW);
	before = status_document(life, &conditions, NOW);
	CHECK_INT(json_i64_or(before, "observedGeneration", 0), ==, 2);
	life->acknowledged++;
	conditions_update(&conditions, life, &outside, NOW + 5000);
	after = status_document(life, &conditions, NOW + 5000);
	CHECK(same_digest(before, after, true));
	json_free(after);
	journal_launch(&life->journal)->last_checkpoint_id++;
	after = status_document(life, &conditions, NOW + 5000);
	CHECK(same_digest(before, after, false));
	CHECK(!same_digest(before, after, true));
	json_free(after);
	life->phase = PHASE_RUNNING;
	after = status_document(life, &conditions, NOW + 5000);
	CHECK(!same_digest(before, after, false));
	json_free(after);
	json_free(before);
}
