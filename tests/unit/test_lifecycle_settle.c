/* An operation that Flink's end has interrupted; new ids, and those of a launch that goes on. */
#include "life.h"

/* The agent is a new one: the same journal, nothing else. */
static void restart(struct life *l)
{
	restart_agent(l);
	hello(l, NULL);
}

static void suspend_and_die(struct life *l)
{
	life_begin(l);
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	forget(l);
	restart(l);
}

/* S26: the container dies between the savepoint and the journal write. */
LIFE_TEST_FROM(suspend_and_die, s26_a_suspend_whose_savepoint_is_there_is_a_suspend)
{
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	CHECK_PHASE(l, PHASE_RESOLVING);
	observed_settled(l, DECISION_PARK, SETTLEMENT_MADE, SAVEPOINT_1);
	CHECK_PHASE(l, PHASE_SUSPENDED);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
	CHECK(l->life.journal.last_operation.ok);
	CHECK_INT(l->life.journal.last_operation.reason, ==, REASON_SUSPEND);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
	CHECK_STR(l->life.journal.snapshots[0].path, SAVEPOINT_1);
	CHECK_INT(l->life.journal.snapshots[0].origin, ==, ORIGIN_FOUND);
	CHECK_STR(l->life.journal.snapshots[0].job_id, job_of(l));
}

LIFE_TEST_FROM(suspend_and_die,
	       s26_a_suspend_without_a_savepoint_has_failed_and_is_parked_all_the_same)
{
	observed_settled(l, DECISION_PARK, SETTLEMENT_FAILED, NULL);
	CHECK_PHASE(l, PHASE_SUSPENDED);
	CHECK(!l->life.journal.last_operation.ok);
	CHECK_HAS(l->life.journal.last_operation.error, "no savepoint of it");
	CHECK_INT(l->life.journal.snapshot_count, ==, 0);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
}

LIFE_TEST_FROM(suspend_and_die, a_damaged_savepoint_of_an_interrupted_stop_is_named)
{
	observed_settled(l, DECISION_PARK, SETTLEMENT_FAILED, SAVEPOINT_1);
	CHECK(!l->life.journal.last_operation.ok);
	CHECK_STR(l->life.journal.last_operation.location, SAVEPOINT_1);
	CHECK_HAS(l->life.journal.last_operation.error, "a file is gone");
	CHECK_INT(l->life.journal.snapshot_count, ==, 0);
}

LIFE_TEST_FROM(suspend_and_die, a_storage_that_cannot_be_read_leaves_the_operation_open)
{
	forget(l);
	observed_settled(l, DECISION_PARK, SETTLEMENT_OPEN, NULL);
	/* parked, because nothing is to be started anyway; and looked for again */
	CHECK_PHASE(l, PHASE_SUSPENDED);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
	pass(l, 3000);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	observed_settled(l, DECISION_PARK, SETTLEMENT_OPEN, NULL);
	pass(l, 3000);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1); /* more and more patiently */
	pass(l, 3000);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 2);
	observed_settled(l, DECISION_PARK, SETTLEMENT_MADE, SAVEPOINT_1);
	CHECK_PHASE(l, PHASE_SUSPENDED);
	CHECK(l->life.journal.last_operation.ok);
	pass(l, 600000);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 2);
}

/* The journal is put back from a backup that was made in the middle of a stop, while a Flink of later runs. */
LIFE_TEST(a_stop_of_an_old_journal_is_settled_when_the_unknown_flink_has_ended)
{
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	restart_agent(l);
	hello(l, "99999999999999999999999999999999");
	CHECK_PHASE(l, PHASE_HOLDING);
	desire(l, DESIRED_RUNNING);
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_RESOLVING);
	observed_settled(l, DECISION_START_FROM, SETTLEMENT_MADE, SAVEPOINT_1);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
}

#define STRANGE "99999999999999999999999999999999"

static void beside_an_unknown_flink(struct life *l)
{
	life_begin(l);
	l->config.journal_check_ms = 30000;
	run_proven(l);
	restart_agent(l);
	hello(l, STRANGE);
	CHECK_PHASE(l, PHASE_HOLDING);
	forget(l);
}

/* Whoever waits for it must notice that another drey owns the journal, and may start the job. */
LIFE_TEST_FROM(beside_an_unknown_flink, an_unknown_flink_ends_when_another_drey_has_the_journal)
{
	pass(l, l->config.journal_check_ms + 1000);
	CHECK_INT(took(l, EFFECT_CHECK_JOURNAL), >=, 1);
	l->life.has_written = true;
	write_failed(l, true);
	CHECK(l->life.fenced);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	CHECK_STR(l->last[EFFECT_SIGNAL].id, STRANGE);
}

LIFE_TEST_FROM(beside_an_unknown_flink, an_unknown_flink_does_not_outlive_its_container)
{
	stopping_for(l, 60000, UPGRADE_NO);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	CHECK_STR(l->last[EFFECT_SIGNAL].id, STRANGE);
	CHECK_HAS(l->notes, "killing the Flink that is not in the journal");
	CHECK_NOTHING(l, EFFECT_EXIT);
	exited(l, KILLED(SIGKILL));
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
}

LIFE_TEST_FROM(suspend_and_die, a_resume_waits_until_the_stop_before_it_is_settled)
{
	observed_settled(l, DECISION_PARK, SETTLEMENT_OPEN, NULL);
	forget(l);
	desire(l, DESIRED_RUNNING);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	observed_settled(l, DECISION_HOLD, SETTLEMENT_OPEN, NULL);
	CHECK_PHASE(l, PHASE_HOLDING);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	pass(l, 60000);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 2);
	observed_settled(l, DECISION_START_FROM, SETTLEMENT_MADE, SAVEPOINT_1);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_STR(journal_launch(&l->life.journal)->restore_path, SAVEPOINT_1);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
}

LIFE_TEST(do_not_restart_parks_with_an_operation_still_open)
{
	run_proven(l);
	ask_restart(l, "r1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	do_not_restart(l, true);
	restart(l);
	observed_settled(l, DECISION_PARK, SETTLEMENT_OPEN, NULL);
	CHECK_PHASE(l, PHASE_HOLDING);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	pass(l, 600000);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
}

LIFE_TEST(a_restart_that_was_interrupted_goes_on_from_its_savepoint)
{
	run_proven(l);
	ask_restart(l, "r1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	restart(l);
	observed_settled(l, DECISION_START_FROM, SETTLEMENT_MADE, SAVEPOINT_1);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_STR(journal_launch(&l->life.journal)->restore_path, SAVEPOINT_1);
	CHECK_STR(l->life.journal.restart_nonce_done, "r1");
	CHECK(l->life.journal.last_operation.ok);
}

LIFE_TEST(a_periodic_savepoint_that_was_interrupted_is_recorded)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	exited(l, KILLED(SIGKILL));
	observed_settled(l, DECISION_START_FROM, SETTLEMENT_MADE, SAVEPOINT_1);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
	CHECK_INT(l->life.journal.snapshots[0].origin, ==, ORIGIN_FOUND);
	CHECK_STR(l->life.journal.savepoint_nonce_done, "n1");
	CHECK(l->life.journal.last_operation.ok);
}

LIFE_TEST(a_savepoint_that_was_never_sent_is_not_looked_for)
{
	run_proven(l);
	l->hold_writes = true;
	ask_savepoint(l, "n1");
	exited(l, KILLED(SIGKILL));
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
	CHECK_STR(l->life.journal.savepoint_nonce_done, "n1");
	CHECK(!l->life.journal.last_operation.ok);
}

/* Its success is on record, the operation is only still there because Flink was to end. */
LIFE_TEST(a_stop_that_is_on_record_is_not_settled_again)
{
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	viewed(l, job_in(JOB_FINISHED));
	CHECK(l->life.journal.last_operation.ok);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
	forget(l);
	restart(l);
	CHECK_PHASE(l, PHASE_SUSPENDED);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
	CHECK(l->life.journal.last_operation.ok);
	CHECK(journal_launch(&l->life.journal)->job_ended);
}

LIFE_TEST(the_end_of_the_container_leaves_the_question_to_the_next)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	stopping(l, 120000);
	exited(l, EXITED(143));
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	restart(l);
	observed_settled(l, DECISION_START_FROM, SETTLEMENT_MADE, SAVEPOINT_1);
	CHECK(l->life.journal.last_operation.ok);
	CHECK_STR(l->life.journal.savepoint_nonce_done, "n1");
}

/* ---- ids ---- */

static void observe_with(struct life *l, struct facts *facts, enum decision_kind kind)
{
	struct decision decision = {
		.kind = kind, .rule = 6, .cause = cause_of(kind), .settled = NO_CANDIDATE};
	struct event e = {.type = EVENT_OBSERVED, .observed = {facts, &decision}};

	step(l, &e);
}

/* S24: its checkpoints would be in the way; S2: its HA data would win. */
TEST(s24_a_job_id_that_left_a_trace_is_drawn_again)
{
	struct facts facts = {0};
	struct snapshot trace = {.path = (char *)"file:/cp/x/chk-1", .checkpoint_id = 1};
	char first[JOB_ID_BYTES];
	struct life l;

	life_begin(&l);
	hello(&l, NULL);
	observe_with(&l, &facts, DECISION_START_EMPTY);
	snprintf(first, sizeof(first), "%s", job_of(&l));
	life_end(&l);

	for (int ha = 0; ha < 2; ha++) {
		struct candidate *c = facts_add(&facts, SOURCE_CHECKPOINTS, &trace);

		snprintf(ha ? c->ha_job_id : c->snapshot.job_id, JOB_ID_BYTES, "%s", first);
		c->in_ha = ha;
		life_begin(&l); /* the same seed draws the same id */
		hello(&l, NULL);
		observe_with(&l, &facts, DECISION_START_EMPTY);
		CHECK_INT(took(&l, EFFECT_LAUNCH), ==, 1);
		CHECK(strcmp(job_of(&l), first) != 0);
		life_end(&l);
		facts_release(&facts);
	}
	facts_release(&facts);
}

TEST(what_was_verified_is_remembered_with_its_launch)
{
	struct facts facts = {0};
	struct snapshot snapshot = {.path = (char *)"file:/cp/a/chk-7",
				    .checkpoint_id = 7,
				    .size_bytes = 500,
				    .verified = true,
				    .metadata_unix_ms = 12345,
				    .metadata_bytes = 99};
	const struct snapshot *known;
	struct life l;

	life_begin(&l);
	hello(&l, NULL);
	facts_add(&facts, SOURCE_CHECKPOINTS, &snapshot)->metadata_version = 4;
	observe_with(&l, &facts, DECISION_START_FROM);
	CHECK_INT(l.life.journal.snapshot_count, ==, 1);
	known = &l.life.journal.snapshots[0];
	CHECK_STR(known->path, "file:/cp/a/chk-7");
	CHECK(known->verified);
	CHECK_INT(known->verified_unix_ms, ==, UNIX_START + l.now_ms);
	CHECK_INT(known->metadata_unix_ms, ==, 12345);
	CHECK_INT(known->metadata_bytes, ==, 99);
	CHECK_INT(known->metadata_version, ==, 4);
	CHECK_INT(known->origin, ==, ORIGIN_FOUND);
	life_end(&l);

	/* among others it has its place by age */
	for (int64_t others_ms = 10; others_ms <= 1000; others_ms += 990) {
		struct snapshot other = {.path = (char *)"file:/sp/1",
					 .completed_unix_ms = others_ms};

		life_begin(&l);
		journal_add_snapshot(&l.life.journal, &other);
		hello(&l, NULL);
		facts.candidates[0].snapshot.completed_unix_ms = 500;
		observe_with(&l, &facts, DECISION_START_FROM);
		CHECK_INT(l.life.journal.snapshot_count, ==, 2);
		CHECK_INT(l.life.journal.snapshots[others_ms < 500].checkpoint_id, ==, 7);
		life_end(&l);
	}
	facts_release(&facts);
}

/* A savepoint that the journal has keeps what it knows of it, and the trust keeps its age. */
TEST(a_trusted_verification_does_not_become_younger)
{
	struct facts facts = {0};
	struct snapshot known = {.path = (char *)"file:/sp/savepoint-1",
				 .kind = SNAPSHOT_SAVEPOINT,
				 .origin = ORIGIN_STOP,
				 .checkpoint_id = 7,
				 .completed_unix_ms = 77,
				 .job_id = "0123456789abcdef0123456789abcdef",
				 .verified = true,
				 .verified_unix_ms = UNIX_START};
	struct snapshot found = {.path = (char *)"file:///sp/savepoint-1/",
				 .kind = SNAPSHOT_SAVEPOINT,
				 .checkpoint_id = 7,
				 .job_id = "012345",
				 .verified = true,
				 .verified_unix_ms = UNIX_START,
				 .metadata_unix_ms = 1,
				 .metadata_bytes = 2};
	const struct snapshot *now;
	struct life l;

	life_begin(&l);
	journal_add_snapshot(&l.life.journal, &known);
	hello(&l, NULL);
	facts_add(&facts, SOURCE_SAVEPOINTS, &found);
	observe_with(&l, &facts, DECISION_START_FROM);
	CHECK_INT(l.life.journal.snapshot_count, ==, 1);
	now = &l.life.journal.snapshots[0];
	CHECK_INT(now->origin, ==, ORIGIN_STOP);
	CHECK_STR(now->job_id, known.job_id);
	CHECK_INT(now->completed_unix_ms, ==, 77);
	CHECK_INT(now->verified_unix_ms, ==, UNIX_START);
	CHECK_INT(now->metadata_bytes, ==, 2);
	life_end(&l);
	facts_release(&facts);
}

LIFE_TEST(a_remembered_checkpoint_is_no_savepoint_to_the_schedule)
{
	struct snapshot checkpoint = {.path = (char *)CHK(3), .completed_unix_ms = UNIX_START};

	l->config.savepoints.interval_ms = 60000;
	l->now_ms = 50000;
	journal_add_snapshot(&l->life.journal, &checkpoint);
	run_proven(l);
	CHECK_INT(l->life.savepoint_ms, ==, l->now_ms + 60000);
}

/* Rule 7: to Flink it is the same launch. */
TEST(a_launch_that_goes_on_keeps_its_ids)
{
	struct facts facts = {0};
	struct snapshot snapshot = {.path = (char *)CHK(9), .checkpoint_id = 9};
	const struct launch *launches;
	struct life l;

	life_begin(&l);
	run_proven(&l);
	restart(&l);
	facts_mark_ha(facts_add(&facts, SOURCE_HA, &snapshot), job_of(&l), job_of(&l));
	observe_with(&l, &facts, DECISION_CONTINUE);
	CHECK_INT(took(&l, EFFECT_LAUNCH), >=, 1);
	launches = l.life.journal.launches;
	CHECK_INT(l.life.journal.launch_count, ==, 2);
	CHECK_STR(launches[1].job_id, launches[0].job_id);
	CHECK_STR(launches[1].job_result_path, launches[0].job_result_path);
	CHECK_STR(launches[1].restore_path, CHK(9));
	CHECK_INT(launches[1].number, ==, 2);
	life_end(&l);
	facts_release(&facts);
}

/* A job in Flink's HA that the journal does not know makes drey hold: once it has been decided over, with that
 * in view, it is no news. */
TEST(ha_data_that_a_decision_had_in_view_are_known_from_then_on)
{
	struct facts facts = {0};
	struct snapshot snapshot = {.path = (char *)CHK(9), .checkpoint_id = 9};
	const char *job_id = "cccccccccccccccccccccccccccccccc";
	struct life l;

	life_begin(&l);
	run_proven(&l);
	restart(&l);
	facts_mark_ha(facts_add(&facts, SOURCE_HA, &snapshot), job_id, job_of(&l));
	observe_with(&l, &facts, DECISION_HOLD);
	CHECK(!journal_knows_job(&l.life.journal, job_id));
	observe_with(&l, &facts, DECISION_START_EMPTY);
	CHECK(journal_knows_job(&l.life.journal, job_id));
	CHECK(journal_knows_job(&l.life.journal, job_of(&l)));
	CHECK_INT(l.life.journal.former_job_count, ==, 1);
	life_end(&l);
	facts_release(&facts);
}

/* The second look at the same facts, from Flink's side. */
TEST(what_flink_would_not_do_is_not_launched)
{
	struct facts facts = {0};
	struct snapshot newer = {.path = (char *)CHK(10), .checkpoint_id = 10};
	struct snapshot older = {.path = (char *)CHK(9), .checkpoint_id = 9};
	struct life l;

	life_begin(&l);
	run_proven(&l);
	restart(&l);
	forget(&l);
	facts_mark_ha(facts_add(&facts, SOURCE_HA, &older), job_of(&l), NULL);
	facts_mark_ha(facts_add(&facts, SOURCE_HA, &newer), job_of(&l), NULL);
	observe_with(&l, &facts, DECISION_CONTINUE); /* from the older one */
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK_PHASE(&l, PHASE_HOLDING);
	CHECK_HAS(l.life.reason, "its own HA data");
	life_end(&l);
	facts_release(&facts);
}

/* ---- an answer of Flink that comes when Flink is over ---- */

static void told_late(struct life *l, const char *trigger_id, const char *job_id,
		      const char *location)
{
	struct event e = {.type = EVENT_OPERATION,
			  .operation = {.trigger_id = trigger_id,
					.job_id = job_id,
					.status = STATUS_COMPLETED,
					.location = location}};

	step(l, &e);
}

/* A savepoint of a job that was never proven is under way, and Flink dies. */
static void die_with_a_savepoint(struct life *l, char trigger[JOB_ID_BYTES])
{
	life_begin(l);
	run_empty(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	snprintf(trigger, JOB_ID_BYTES, "%s", trigger_of(l));
	forget(l);
	exited(l, EXITED(1));
	CHECK_INT(l->life.operation.step, ==, STEP_SETTLING);
}

static void check_known(const struct life *l)
{
	const struct journal *journal = &l->life.journal;

	CHECK(journal->launches[0].left_state);
	if (!CHECK_INT(journal->snapshot_count, ==, 1))
		return;
	CHECK_STR(journal->snapshots[0].path, SAVEPOINT_1);
	CHECK_INT(journal->snapshots[0].checkpoint_id, ==, 0);
	CHECK_STR(journal->snapshots[0].job_id, journal->launches[0].job_id);
}

/* The history that the simulator found: the answer comes when Flink was seen dead, the savepoint vanishes before
 * anybody looks, and the launch had completed nothing else. */
TEST(an_answer_after_the_death_of_flink_is_not_dropped)
{
	char trigger[JOB_ID_BYTES];
	struct decision decision;
	struct facts facts = {0};
	struct life l;

	die_with_a_savepoint(&l, trigger);
	told_late(&l, trigger, job_of(&l), SAVEPOINT_1);
	check_known(&l);
	CHECK_INT(took(&l, EFFECT_WRITE_JOURNAL), ==, 2);
	/* an upgrade without state would start the same generation empty, once more */
	l.config.policy.stateless_upgrade = true;
	for (int i = 0; i < SOURCE_COUNT; i++)
		facts_set_source(&facts, (enum source_kind)i, SOURCE_ABSENT, "nothing");
	facts_set_source(&facts, SOURCE_INITIAL, SOURCE_NOT_CONFIGURED, NULL);
	facts_add_place(&facts, SOURCE_SAVEPOINTS, SNAPSHOT_SAVEPOINT, "file:/sp", SOURCE_ABSENT,
			"nothing");
	resolve(&l.life.journal, &facts, &l.config.policy, &decision);
	CHECK_INT(decision.kind, ==, DECISION_HOLD);
	CHECK_INT(decision.cause, ==, CAUSE_NO_USABLE_STATE);
	CHECK_INT(decision.settlement, ==, SETTLEMENT_FAILED);
	facts_release(&facts);
	life_end(&l);
}

TEST(an_answer_after_the_question_was_settled_is_not_dropped_either)
{
	char trigger[JOB_ID_BYTES];
	struct life l;

	die_with_a_savepoint(&l, trigger);
	pass(&l, 6000);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	observed_settled(&l, DECISION_HOLD, SETTLEMENT_FAILED, NULL);
	CHECK_INT(l.life.journal.operation.kind, ==, OPERATION_NONE);
	told_late(&l, trigger, job_of(&l), SAVEPOINT_1);
	check_known(&l);
	told_late(&l, trigger, job_of(&l), SAVEPOINT_1);
	CHECK_INT(l.life.journal.snapshot_count, ==, 1);
	life_end(&l);
}

TEST(a_start_that_was_decided_without_the_answer_is_decided_again)
{
	char trigger[JOB_ID_BYTES], job[JOB_ID_BYTES];
	struct life l;

	/* while storage is looked at */
	die_with_a_savepoint(&l, trigger);
	pass(&l, 6000);
	told_late(&l, trigger, job_of(&l), SAVEPOINT_1);
	forget(&l);
	observed_settled(&l, DECISION_START_EMPTY, SETTLEMENT_FAILED, NULL);
	CHECK_INT(l.life.journal.launch_count, ==, 1);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	life_end(&l);

	/* while the launch is being written down */
	die_with_a_savepoint(&l, trigger);
	snprintf(job, sizeof(job), "%s", job_of(&l));
	pass(&l, 6000);
	l.hold_writes = true;
	observed_settled(&l, DECISION_START_EMPTY, SETTLEMENT_FAILED, NULL);
	CHECK_INT(l.life.launch_step, ==, LAUNCH_WRITING);
	forget(&l);
	told_late(&l, trigger, job, SAVEPOINT_1);
	check_known(&l);
	l.hold_writes = false;
	written(&l);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	life_end(&l);
}

/* Nobody asked for it: the savepoint of a job that no launch had is none of ours. */
TEST(an_answer_about_a_strange_job_is_nothing)
{
	char trigger[JOB_ID_BYTES];
	struct life l;

	die_with_a_savepoint(&l, trigger);
	told_late(&l, "00000000000000000000000000000001", "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
		  SAVEPOINT_1);
	CHECK_INT(l.life.journal.snapshot_count, ==, 0);
	CHECK(!l.life.journal.launches[0].left_state);
	/* of a trigger that is not on record any more, but of our job */
	told_late(&l, "00000000000000000000000000000001", job_of(&l), SAVEPOINT_1);
	check_known(&l);
	life_end(&l);
}

/* The agent had the place in hand, and was looking at it. */
TEST(flink_dies_while_its_savepoint_is_looked_at)
{
	struct life l;

	life_begin(&l);
	run_empty(&l);
	ask_savepoint(&l, "n1");
	operation(&l, STATUS_ACCEPTED, NULL, NULL);
	pass(&l, 500);
	operation(&l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	exited(&l, EXITED(1));
	check_known(&l);
	life_end(&l);

	/* it is looked at, and is none */
	life_begin(&l);
	run_empty(&l);
	ask_savepoint(&l, "n1");
	operation(&l, STATUS_ACCEPTED, NULL, NULL);
	pass(&l, 500);
	operation(&l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(&l, true, false);
	CHECK_INT(l.life.journal.snapshot_count, ==, 0);
	life_end(&l);
}
