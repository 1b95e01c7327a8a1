#include "core/lifecycle/savepoint_format.h"
#include "life.h"

TEST(the_format_of_each_operation)
{
	static const struct {
		enum operation_kind kind;
		enum operation_reason reason;
		enum snapshot_format by_itself; /* auto */
	} rows[] = {
		{OPERATION_STOP, REASON_RESTART, FORMAT_NATIVE},
		{OPERATION_STOP, REASON_SUSPEND, FORMAT_CANONICAL},
		{OPERATION_STOP, REASON_TERMINATE, FORMAT_CANONICAL},
		{OPERATION_STOP, REASON_UPGRADE, FORMAT_CANONICAL},
		{OPERATION_SAVEPOINT, REASON_PERIODIC, FORMAT_CANONICAL},
		{OPERATION_SAVEPOINT, REASON_MANUAL, FORMAT_CANONICAL},
		{OPERATION_CANCEL, REASON_CANCEL, FORMAT_UNKNOWN},
		{OPERATION_CANCEL, REASON_UPGRADE, FORMAT_UNKNOWN},
		{OPERATION_DISPOSE, REASON_RETENTION, FORMAT_UNKNOWN},
		{OPERATION_NONE, REASON_RESTART, FORMAT_UNKNOWN},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool saves = rows[i].by_itself != FORMAT_UNKNOWN;

		CHECK_INT(savepoint_format(FORMAT_POLICY_AUTO, rows[i].kind, rows[i].reason,
					   NATIVE_SAFE, false),
			  ==, rows[i].by_itself);
		/* of asynchronous state there is no other */
		CHECK_INT(savepoint_format(FORMAT_POLICY_AUTO, rows[i].kind, rows[i].reason,
					   NATIVE_UNKNOWN, true),
			  ==, saves ? FORMAT_NATIVE : FORMAT_UNKNOWN);
		CHECK_INT(savepoint_format(FORMAT_POLICY_CANONICAL, rows[i].kind, rows[i].reason,
					   NATIVE_SAFE, true),
			  ==, saves ? FORMAT_CANONICAL : FORMAT_UNKNOWN);
		CHECK_INT(savepoint_format(FORMAT_POLICY_NATIVE, rows[i].kind, rows[i].reason,
					   NATIVE_CLAIMED, false),
			  ==, saves ? FORMAT_NATIVE : FORMAT_UNKNOWN);
	}
}

/* A native savepoint that is claimed is the end of all checkpoints after it, where Flink has FLINK-39964. */
TEST(a_native_savepoint_is_safe_only_where_it_is_known_to_be)
{
	static const struct {
		bool loses_claimed;
		enum claim_mode claim;
		enum state_backend backend;
		enum native_risk risk;
	} rows[] = {
		{true, CLAIM_MODE_CLAIM, STATE_BACKEND_ROCKSDB, NATIVE_CLAIMED},
		{true, CLAIM_MODE_CLAIM, STATE_BACKEND_UNKNOWN, NATIVE_CLAIMED},
		{true, CLAIM_MODE_CLAIM, STATE_BACKEND_OTHER, NATIVE_CLAIMED},
		/* it writes all of its state each time, or has no other format */
		{true, CLAIM_MODE_CLAIM, STATE_BACKEND_HASHMAP, NATIVE_SAFE},
		{true, CLAIM_MODE_CLAIM, STATE_BACKEND_FORST, NATIVE_SAFE},
		{true, CLAIM_MODE_NO_CLAIM, STATE_BACKEND_ROCKSDB, NATIVE_SAFE},
		{true, CLAIM_MODE_NO_CLAIM, STATE_BACKEND_UNKNOWN, NATIVE_SAFE},
		{true, CLAIM_MODE_UNKNOWN, STATE_BACKEND_ROCKSDB, NATIVE_UNKNOWN},
		{true, CLAIM_MODE_UNKNOWN, STATE_BACKEND_UNKNOWN, NATIVE_UNKNOWN},
		{true, CLAIM_MODE_UNKNOWN, STATE_BACKEND_HASHMAP, NATIVE_SAFE},
		{false, CLAIM_MODE_CLAIM, STATE_BACKEND_ROCKSDB, NATIVE_SAFE},
		{false, CLAIM_MODE_UNKNOWN, STATE_BACKEND_UNKNOWN, NATIVE_SAFE},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		enum native_risk risk =
			native_risk(rows[i].loses_claimed, rows[i].claim, rows[i].backend);

		if (!CHECK_INT(risk, ==, rows[i].risk))
			tap_note("row %zu", i);
		CHECK_INT(savepoint_format(FORMAT_POLICY_AUTO, OPERATION_STOP, REASON_RESTART, risk,
					   false),
			  ==, risk == NATIVE_SAFE ? FORMAT_NATIVE : FORMAT_CANONICAL);
	}
}

/* ---- whether the running job claims ---- */

static void begin_losing(struct life *l)
{
	life_begin(l);
	l->config.native_loses_claimed = true;
	l->config.generation = l->config.policy.generation = "g1";
}

#define CLAIM_TEST(name) LIFE_TEST_FROM(begin_losing, name)

/* The job runs, restored from this checkpoint. */
static struct view restored(const char *path, int64_t id, bool as_own)
{
	struct view view = job_in(JOB_RUNNING);

	view.restored = true;
	view.restored_as_own = as_own;
	view.restored_id = id;
	view.restored_path = path;
	return view;
}

static void run_restored(struct life *l, bool as_own)
{
	hello(l, NULL);
	observed(l, DECISION_START_FROM, CHK(4), 4, NULL);
	started(l);
	viewed(l, restored(CHK(4), 4, as_own));
	forget(l);
}

static enum claim_mode claim_of(struct life *l)
{
	return journal_launch(&l->life.journal)->effective.claim;
}

static enum snapshot_format restart_format(struct life *l)
{
	ask_restart(l, "r1");
	return l->life.journal.operation.format;
}

CLAIM_TEST(a_job_that_claims_is_restarted_with_a_canonical_savepoint)
{
	run_restored(l, true);
	CHECK_INT(claim_of(l), ==, CLAIM_MODE_CLAIM);
	CHECK_INT(restart_format(l), ==, FORMAT_CANONICAL);
	CHECK_HAS(l->notes, "the savepoint is a canonical one: the job claims");
}

CLAIM_TEST(one_that_does_not_claim_with_a_native_one)
{
	run_restored(l, false);
	CHECK_INT(claim_of(l), ==, CLAIM_MODE_NO_CLAIM);
	CHECK_INT(restart_format(l), ==, FORMAT_NATIVE);
}

/* Nothing has shown it yet. */
CLAIM_TEST(one_that_was_started_empty_with_a_canonical_one)
{
	run_proven(l);
	CHECK_INT(claim_of(l), ==, CLAIM_MODE_UNKNOWN);
	CHECK_INT(restart_format(l), ==, FORMAT_CANONICAL);
	CHECK_HAS(l->notes, "may claim");
}

CLAIM_TEST(unless_its_state_is_on_the_heap)
{
	struct view view = job_in(JOB_RUNNING);

	run_proven(l);
	view.effective = (struct effective){.known = true, .backend = STATE_BACKEND_HASHMAP};
	viewed(l, view);
	CHECK_INT(restart_format(l), ==, FORMAT_NATIVE);
}

CLAIM_TEST(what_it_does_is_on_record_whatever_else_it_says)
{
	struct view view = restored(CHK(4), 4, true);

	run_restored(l, true);
	view.effective = (struct effective){.known = true, .backend = STATE_BACKEND_ROCKSDB};
	viewed(l, view);
	CHECK_INT(claim_of(l), ==, CLAIM_MODE_CLAIM);
	CHECK_HAS(buf_str(&l->durable_text), "\"claimMode\": \"CLAIM\"");
	restart_agent(l);
	CHECK_INT(claim_of(l), ==, CLAIM_MODE_CLAIM);
}

/* Flink restores a checkpoint that the job has made itself, which tells nothing. */
CLAIM_TEST(a_failover_does_not_look_like_a_claim)
{
	run_restored(l, false);
	viewed(l, restored(CHK(5), 5, true));
	CHECK_INT(claim_of(l), ==, CLAIM_MODE_NO_CLAIM);
}

CLAIM_TEST(nor_does_a_launch_that_continues_by_high_availability)
{
	struct facts facts = {0};
	struct snapshot snapshot = {.path = (char *)CHK(9), .checkpoint_id = 9};
	struct decision decision = {.kind = DECISION_CONTINUE, .rule = 7, .settled = NO_CANDIDATE};
	struct event e = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};

	run_proven(l);
	restart_agent(l);
	hello(l, NULL);
	facts_mark_ha(facts_add(&facts, SOURCE_HA, &snapshot), job_of(l), job_of(l));
	step(l, &e);
	started(l);
	viewed(l, restored(CHK(9), 9, true));
	facts_release(&facts);
	if (!CHECK_INT(l->life.journal.launch_count, ==, 2))
		return;
	CHECK_STR(l->life.journal.launches[1].job_id, l->life.journal.launches[0].job_id);
	CHECK(journal_launch(&l->life.journal)->verified_unix_ms);
	CHECK_INT(claim_of(l), ==, CLAIM_MODE_UNKNOWN);
}

/* A hand-over gives the id that Flink waits with to the next try. */
CLAIM_TEST(the_claim_is_seen_of_a_launch_with_the_id_of_one_that_never_started)
{
	struct launch *before;

	hello(l, NULL);
	observed(l, DECISION_START_FROM, CHK(4), 4, NULL);
	launch_failed(l);
	observed(l, DECISION_START_FROM, CHK(4), 4, NULL);
	if (!CHECK_INT(l->life.journal.launch_count, ==, 2))
		return;
	before = &l->life.journal.launches[0];
	CHECK(before->never_started);
	memcpy(before->job_id, job_of(l), JOB_ID_BYTES);
	started(l);
	viewed(l, restored(CHK(4), 4, true));
	CHECK_INT(claim_of(l), ==, CLAIM_MODE_CLAIM);
}

/* It has the code of the one before, of which it is known. */
CLAIM_TEST(a_launch_that_has_shown_nothing_does_what_its_version_did)
{
	run_restored(l, false);
	exited(l, KILLED(SIGKILL));
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	started(l);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(claim_of(l), ==, CLAIM_MODE_UNKNOWN);
	CHECK_INT(restart_format(l), ==, FORMAT_NATIVE);
}

/* ---- a checkpoint after a native savepoint that cannot be restored ---- */

#define NATIVE "file:/sp/native"

/* The job runs, restored from a native savepoint that Flink shows as one that is not claimed. */
static void run_from_native(struct life *l)
{
	struct snapshot native = {.path = (char *)NATIVE,
				  .kind = SNAPSHOT_SAVEPOINT,
				  .format = FORMAT_NATIVE,
				  .checkpoint_id = 4,
				  .verified = true};

	hello(l, NULL);
	journal_add_snapshot(&l->life.journal, &native);
	observed(l, DECISION_START_FROM, NATIVE, 4, NULL);
	started(l);
	viewed(l, restored(NATIVE, 4, false));
	CHECK_INT(claim_of(l), ==, CLAIM_MODE_NO_CLAIM);
	xstrset(&journal_launch(&l->life.journal)->unusable, "a file is not where it should be");
	forget(l);
}

/* It may be LEGACY: Flink builds upon the savepoint all the same. */
CLAIM_TEST(in_legacy_mode_no_second_native_savepoint_is_taken)
{
	l->config.legacy_claim = true;
	run_from_native(l);
	CHECK(native_may_be_claimed(&l->life.journal, journal_launch(&l->life.journal), true));
	CHECK_INT(restart_format(l), ==, FORMAT_CANONICAL);
}

CLAIM_TEST(where_there_is_no_legacy_mode_the_damage_has_another_cause)
{
	run_from_native(l);
	CHECK_INT(restart_format(l), ==, FORMAT_NATIVE);
}

CLAIM_TEST(nor_is_it_the_format_if_the_savepoint_was_canonical)
{
	l->config.legacy_claim = true;
	run_restored(l, false);
	xstrset(&journal_launch(&l->life.journal)->unusable, "a file is missing");
	CHECK_INT(restart_format(l), ==, FORMAT_NATIVE);
}

/* ---- a job that has no canonical savepoints ---- */

static void run_with(struct life *l, enum state_backend backend)
{
	struct view view = job_in(JOB_RUNNING);

	run_proven(l);
	view.effective = (struct effective){.known = true, .backend = backend};
	viewed(l, view);
	forget(l);
}

/* The claim mode is not known, and a canonical one would restart all tasks. */
CLAIM_TEST(a_job_with_forst_is_restarted_with_a_native_savepoint)
{
	run_with(l, STATE_BACKEND_FORST);
	CHECK_INT(restart_format(l), ==, FORMAT_NATIVE);
	CHECK(!strstr(l->notes, "the savepoint is a canonical one"));
}

CLAIM_TEST(and_suspended_with_one)
{
	run_with(l, STATE_BACKEND_FORST);
	desire(l, DESIRED_SUSPENDED);
	CHECK_INT(l->life.journal.operation.format, ==, FORMAT_NATIVE);
}

CLAIM_TEST(also_if_only_the_configuration_says_so)
{
	l->config.forst = true;
	run_proven(l);
	CHECK_INT(restart_format(l), ==, FORMAT_NATIVE);
}

CLAIM_TEST(but_not_if_the_job_says_that_it_has_another_backend)
{
	l->config.forst = true;
	run_with(l, STATE_BACKEND_ROCKSDB);
	CHECK_INT(restart_format(l), ==, FORMAT_CANONICAL);
}

CLAIM_TEST(asynchronous_state_of_any_backend_has_no_canonical_one)
{
	l->config.async_state = true;
	run_with(l, STATE_BACKEND_ROCKSDB);
	CHECK_INT(restart_format(l), ==, FORMAT_NATIVE);
}

static const char refusal[] =
	"java.lang.Exception: Could not perform checkpoint 5 for operator Map (1/1)#0. (java.lang.UnsupportedOperationException: Not supported yet.)";

/* Flink fails the stop by its failover; the task has failed for this reason. */
static void stop_fails(struct life *l, const char *failure)
{
	struct view view = job_in(JOB_RESTARTING);

	operation(l, STATUS_ACCEPTED, NULL, NULL);
	pass(l, 500);
	operation(l, STATUS_FAILED, NULL, "FailoverRegion is restarting");
	view.failure = failure;
	viewed(l, view);
	viewed(l, job_in(JOB_RUNNING));
	pass(l, l->config.stop_retry_ms);
}

CLAIM_TEST(what_flink_has_refused_is_not_asked_for_again)
{
	run_with(l, STATE_BACKEND_ROCKSDB);
	CHECK_INT(restart_format(l), ==, FORMAT_CANONICAL);
	stop_fails(l, refusal);
	CHECK_HAS(l->notes, "no canonical savepoint of this job's state");
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
	CHECK_INT(l->life.journal.operation.format, ==, FORMAT_NATIVE);
	CHECK_HAS(buf_str(&l->durable_text), "\"canonicalRefused\": true");
	/* whatever else the job says of itself */
	restart_agent(l);
	CHECK(journal_launch(&l->life.journal)->effective.canonical_refused);
}

CLAIM_TEST(a_task_that_fails_for_another_reason_refuses_nothing)
{
	run_with(l, STATE_BACKEND_ROCKSDB);
	CHECK_INT(restart_format(l), ==, FORMAT_CANONICAL);
	stop_fails(l, "java.lang.UnsupportedOperationException: by the code of the job");
	CHECK_INT(l->life.journal.operation.format, ==, FORMAT_CANONICAL);
}

CLAIM_TEST(nor_does_one_that_nobody_has_asked_for_a_savepoint)
{
	struct view view = job_in(JOB_RESTARTING);

	run_with(l, STATE_BACKEND_ROCKSDB);
	view.failure = refusal;
	viewed(l, view);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(restart_format(l), ==, FORMAT_CANONICAL);
}

/* An agent that finds the operation of another one repeats it as it was begun. */
LIFE_TEST(the_format_is_on_record_with_the_operation)
{
	struct journal read;
	struct err err = {0};

	run_proven(l);
	ask_restart(l, "r1");
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_INT(l->life.journal.operation.format, ==, FORMAT_NATIVE);
	CHECK_INT(journal_decode(buf_str(&l->durable_text), l->durable_text.len_bytes, &read, &err),
		  ==, 0);
	CHECK_INT(read.operation.format, ==, FORMAT_NATIVE);
	journal_release(&read);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	pass(l, 500);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	/* by Flink's word alone */
	CHECK_INT(journal_snapshot(&l->life.journal, SAVEPOINT_1)->format, ==, FORMAT_NATIVE);
	inspected(l, true, true);
	CHECK_INT(journal_snapshot(&l->life.journal, SAVEPOINT_1)->format, ==, FORMAT_NATIVE);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_INT(l->life.journal.last_operation.format, ==, FORMAT_NATIVE);
}

LIFE_TEST(a_configured_format_holds_for_all)
{
	l->config.format = FORMAT_POLICY_CANONICAL;
	run_proven(l);
	ask_restart(l, "r1");
	CHECK_INT(l->life.journal.operation.format, ==, FORMAT_CANONICAL);
}

/* An operation that drey 0.1.0 has begun has no format. */
TEST(a_journal_without_formats_is_read)
{
	static const char text[] =
		"{\"schema\":1,\"application\":\"a\",\"sequence\":1,\"everProven\":false,"
		"\"intent\":{\"state\":\"running\",\"doNotRestart\":false},\"launches\":[],"
		"\"snapshots\":[{\"path\":\"file:/a\",\"kind\":\"savepoint\",\"origin\":\"stop\"}],"
		"\"operation\":{\"kind\":\"stop\",\"reason\":\"restart\"}}";
	struct journal journal;
	struct err err = {0};

	if (!CHECK(journal_decode(text, strlen(text), &journal, &err) == 0))
		return;
	CHECK_INT(journal.operation.format, ==, FORMAT_UNKNOWN);
	CHECK_INT(journal.snapshots[0].format, ==, FORMAT_UNKNOWN);
	journal_release(&journal);
}
