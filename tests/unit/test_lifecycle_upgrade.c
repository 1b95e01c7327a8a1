/* The container ends because another generation follows, and what a generation's failure binds. */
#include "life.h"

#define GRACE_MS 120000

static void upgrade(struct life *l, enum upgrade_mode mode)
{
	l->config.upgrade = mode;
	l->config.policy.stateless_upgrade = mode == UPGRADE_STATELESS;
	forget(l);
	stopping_for(l, GRACE_MS, UPGRADE_YES);
}

static void begin(struct life *l)
{
	life_begin(l);
	run_proven(l);
}

/* Attempts of a launch that dies before it has a checkpoint, until none is left. */
static void use_up_attempts(struct life *l)
{
	for (int i = 0; i < l->config.max_attempts && l->life.phase != PHASE_FAILED; i++) {
		observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
		started(l);
		exited(l, EXITED(1));
		if (l->life.phase == PHASE_RESOLVING)
			pass(l, 60000);
	}
}

/* ---- how the container ends ---- */

LIFE_TEST_FROM(begin, an_upgrade_stops_with_a_savepoint_inside_the_grace_period)
{
	upgrade(l, UPGRADE_BY_SAVEPOINT);
	CHECK_STR(l->order, "AWT");
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
	CHECK_STR(operation_reason_name(l->life.journal.operation.reason), "upgrade");
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(0));
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_NONE);

	restart_as(l, "g2"); /* the next generation is started, and from there */
	hello(l, NULL);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_HAS(l->notes, "generation g2 follows g1, from " SAVEPOINT_1);
}

LIFE_TEST_FROM(begin, without_a_savepoint_the_newest_checkpoint_has_to_do_and_that_is_said)
{
	upgrade(l, UPGRADE_BY_SAVEPOINT);
	operation(l, STATUS_FAILED, NULL, "not all tasks are running");
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGTERM);
	CHECK_HAS(
		l->notes,
		"no savepoint taken, although one was requested: not all tasks are running; the next "
		"launch continues from the newest checkpoint");
	CHECK_HAS(l->life.journal.last_error, "no savepoint taken, although one was requested");
	exited(l, EXITED(143));
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
}

LIFE_TEST_FROM(begin, a_savepoint_that_takes_too_long_is_given_up_in_time)
{
	upgrade(l, UPGRADE_BY_SAVEPOINT);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	pass(l, GRACE_MS - l->config.kill_after_ms - 1001);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 2);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_HAS(l->notes,
		  "no savepoint taken, although one was requested: the grace period is over");
}

/* Flink says that a stop is done when its job has ended: not to see that is no reason to call the stop failed. */
LIFE_TEST_FROM(begin, a_stop_that_flink_has_reported_needs_no_view_of_the_end)
{
	upgrade(l, UPGRADE_BY_SAVEPOINT);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	pass(l, GRACE_MS - l->config.kill_after_ms - 1001);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 2);
	CHECK(l->life.journal.last_operation.ok);
	CHECK_STR(l->life.journal.last_operation.location, SAVEPOINT_1);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_HAS(l->notes, "the grace period was over before the job was seen to end");
	CHECK(!strstr(l->notes, "no savepoint taken"));
	/* the answer to a poll of before the stop */
	forget(l);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

/* The same while the savepoint is still being inspected: Flink's word is on record. */
LIFE_TEST_FROM(begin, a_stop_that_flink_has_reported_is_none_that_failed)
{
	upgrade(l, UPGRADE_BY_SAVEPOINT);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	pass(l, GRACE_MS - l->config.kill_after_ms - 999);
	CHECK(l->life.journal.last_operation.ok);
	CHECK_STR(l->life.journal.last_operation.location, SAVEPOINT_1);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK(!strstr(l->notes, "no savepoint taken"));
}

/* A stop for another reason has its savepoint, and the container ends before the job is seen to end. */
TEST(no_time_is_no_failure_of_a_stop_that_has_its_savepoint)
{
	for (int inspects = 0; inspects < 2; inspects++) {
		struct life l;

		begin(&l);
		desire(&l, DESIRED_SUSPENDED);
		operation(&l, STATUS_ACCEPTED, NULL, NULL);
		operation(&l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
		if (inspects)
			inspected(&l, true, true);
		forget(&l);
		stopping_for(&l, l.config.kill_after_ms, UPGRADE_YES);
		CHECK(!strstr(l.notes, "no savepoint taken"));
		CHECK_HAS(l.notes, "the job ends by its stop with savepoint");
		CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
		CHECK_INT(l.last[EFFECT_SIGNAL].signo, ==, SIGTERM);
		life_end(&l);
	}
}

TEST(no_time_or_no_running_job_is_no_savepoint)
{
	struct life l;

	begin(&l);
	forget(&l);
	stopping_for(&l, l.config.kill_after_ms, UPGRADE_YES);
	CHECK_STR(l.order, "ASW");
	CHECK_HAS(l.notes, "the grace period is too short");
	life_end(&l);

	life_begin(&l);
	launch_empty(&l);
	upgrade(&l, UPGRADE_BY_SAVEPOINT);
	CHECK_STR(l.order, "ASW");
	CHECK_HAS(l.notes, "the job is not running");
	life_end(&l);
}

TEST(a_stop_for_the_upgrade_follows_the_savepoint_in_flight)
{
	struct life l;

	for (int ok = 0; ok < 2; ok++) {
		begin(&l);
		ask_savepoint(&l, "n1");
		operation(&l, STATUS_ACCEPTED, NULL, NULL);
		upgrade(&l, UPGRADE_BY_SAVEPOINT);
		CHECK_STR(l.order, "AW");
		CHECK_INT(l.life.journal.operation.kind, ==, OPERATION_SAVEPOINT);
		if (ok) {
			operation(&l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
			inspected(&l, true, true);
		} else {
			operation(&l, STATUS_FAILED, NULL, "expired");
		}
		CHECK_INT(l.life.journal.operation.kind, ==, OPERATION_STOP);
		CHECK_INT(took(&l, EFFECT_TRIGGER), ==, 1);
		CHECK_STR(l.life.journal.savepoint_nonce_done, "n1");
		operation(&l, STATUS_ACCEPTED, NULL, NULL);
		pass(&l, GRACE_MS - l.config.kill_after_ms - 1000);
		CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
		life_end(&l);
	}
}

LIFE_TEST_FROM(begin, a_savepoint_in_flight_that_takes_too_long_costs_the_stop)
{
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	upgrade(l, UPGRADE_BY_SAVEPOINT);
	pass(l, GRACE_MS - l->config.kill_after_ms - 1000);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_HAS(l->notes, "no savepoint taken, although one was requested");
}

LIFE_TEST_FROM(begin, by_last_state_nothing_is_taken)
{
	upgrade(l, UPGRADE_BY_LAST_STATE);
	CHECK_STR(l->order, "ASW");
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
}

TEST(stateless_cancels)
{
	struct life l;

	for (int in_flight = 0; in_flight < 2; in_flight++) {
		begin(&l);
		if (in_flight) {
			ask_savepoint(&l, "n1");
			operation(&l, STATUS_ACCEPTED, NULL, NULL);
		}
		upgrade(&l, UPGRADE_STATELESS);
		CHECK_STR(l.order, "AWT");
		CHECK_INT(l.life.journal.operation.kind, ==, OPERATION_CANCEL);
		operation(&l, STATUS_ACCEPTED, NULL, NULL);
		viewed(&l, job_in(JOB_CANCELED));
		CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
		exited(&l, EXITED(0));
		CHECK_INT(took(&l, EFFECT_EXIT), ==, 1);
		CHECK_INT(l.life.journal.outcome.kind, ==, OUTCOME_NONE);
		life_end(&l);
	}
}

LIFE_TEST_FROM(begin, a_cancel_that_is_not_obeyed_ends_in_time)
{
	l->config.upgrade = UPGRADE_STATELESS;
	stopping_for(l, 40000, UPGRADE_YES);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	pass(l, 40000 - l->config.kill_after_ms - 1001);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 2);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
}

TEST(an_eviction_keeps_the_state_whatever_is_configured)
{
	struct life l;

	for (int mode = UPGRADE_BY_SAVEPOINT; mode <= UPGRADE_STATELESS; mode++) {
		for (int policy = SIGTERM_KEEP; policy <= SIGTERM_UPGRADE; policy++) {
			begin(&l);
			l.config.upgrade = (enum upgrade_mode)mode;
			l.config.on_sigterm = (enum sigterm_policy)policy;
			stopping_for(&l, GRACE_MS, UPGRADE_NO);
			CHECK_STR(l.order, "ASW");
			CHECK_INT(l.life.journal.operation.kind, ==, OPERATION_NONE);
			life_end(&l);
		}
	}
}

TEST(as_long_as_nobody_tells_the_configuration_decides)
{
	static const struct {
		enum sigterm_policy policy;
		enum upgrade_mode mode;
		enum operation_kind kind;
	} cases[] = {
		{SIGTERM_KEEP, UPGRADE_BY_SAVEPOINT, OPERATION_NONE},
		{SIGTERM_KEEP, UPGRADE_STATELESS, OPERATION_NONE},
		{SIGTERM_SAVEPOINT, UPGRADE_STATELESS, OPERATION_STOP},
		{SIGTERM_UPGRADE, UPGRADE_BY_SAVEPOINT, OPERATION_STOP},
		{SIGTERM_UPGRADE, UPGRADE_BY_LAST_STATE, OPERATION_NONE},
		{SIGTERM_UPGRADE, UPGRADE_STATELESS, OPERATION_CANCEL},
	};
	struct life l;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		begin(&l);
		l.config.on_sigterm = cases[i].policy;
		l.config.upgrade = cases[i].mode;
		stopping(&l, GRACE_MS);
		CHECK_INT(l.life.journal.operation.kind, ==, cases[i].kind);
		life_end(&l);
	}
}

LIFE_TEST_FROM(begin, a_new_agent_is_told_what_the_end_is_for)
{
	struct event e = {
		.type = EVENT_HELLO,
		.hello = {.stopping = true, .grace_left_ms = GRACE_MS, .upgrade = UPGRADE_YES}};
	char job_id[JOB_ID_BYTES];

	snprintf(job_id, sizeof(job_id), "%s", job_of(l));
	restart_agent(l);
	e.hello.running = job_id;
	step(l, &e);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
}

LIFE_TEST_FROM(begin, an_upgrade_from_a_checkpoint_is_said_aloud)
{
	exited(l, KILLED(SIGKILL));
	restart_as(l, "g2");
	hello(l, NULL);
	{
		struct facts facts = {0};
		struct snapshot snapshot = {
			.path = (char *)CHK(1), .kind = SNAPSHOT_CHECKPOINT, .checkpoint_id = 1};
		struct decision decision = {.kind = DECISION_START_FROM, .rule = 6};
		struct event e = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};

		facts_add(&facts, SOURCE_CHECKPOINTS, &snapshot);
		step(l, &e);
		facts_release(&facts);
	}
	CHECK_HAS(
		l->notes,
		"generation g2 follows g1, from the newest checkpoint, since there is no newer savepoint: " CHK(
			1));
}

/* ---- what a failure binds ---- */

LIFE_TEST_FROM(begin, a_generation_that_has_failed_is_not_tried_again_by_itself)
{
	exited(l, KILLED(SIGKILL));
	restart_as(l, "g2");
	hello(l, NULL);
	use_up_attempts(l);
	CHECK_PHASE(l, PHASE_FAILED);
	CHECK(journal_is_failed_generation(&l->life.journal, "g2"));
	restart_agent(l);
	hello(l, NULL);
	CHECK_PHASE(l, PHASE_FAILED);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
}

LIFE_TEST_FROM(begin, the_one_before_comes_back_and_starts)
{
	exited(l, KILLED(SIGKILL));
	restart_as(l, "g2");
	hello(l, NULL);
	use_up_attempts(l);
	restart_as(l, "g1");
	hello(l, NULL);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_NONE);
	CHECK_INT(l->life.journal.failure_count, ==, 0);

	/* and the bad one is remembered while it runs, and after it */
	started(l);
	exited(l, KILLED(SIGKILL));
	restart_as(l, "g2");
	hello(l, NULL);
	CHECK_PHASE(l, PHASE_FAILED);
	CHECK_HAS(l->life.reason, "generation g2 has used up its attempts without");
	CHECK_NOTHING(l, EFFECT_OBSERVE);
}

LIFE_TEST_FROM(begin, a_person_may_try_it_once_more)
{
	exited(l, KILLED(SIGKILL));
	restart_as(l, "g2");
	hello(l, NULL);
	use_up_attempts(l);
	forget(l);
	control(l, CONTROL_NEW_START, (struct intent){0});
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	CHECK(!journal_is_failed_generation(&l->life.journal, "g2"));
}

LIFE_TEST_FROM(begin, another_generation_has_attempts_of_its_own)
{
	exited(l, EXITED(1));
	observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
	started(l);
	exited(l, EXITED(1));
	CHECK_INT(l->life.journal.failure_count, ==, 2);
	restart_as(l, "g2");
	hello(l, NULL);
	observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
}

LIFE_TEST_FROM(begin, a_generation_that_has_run_well_once_is_never_called_bad)
{
	exited(l, EXITED(1));
	use_up_attempts(l);
	CHECK_PHASE(l, PHASE_FAILED);
	CHECK(!journal_is_failed_generation(&l->life.journal, "g1"));
}

/* What has come to its end, or was cancelled, is not started by a new image. */
TEST(only_a_failure_is_left_behind_by_another_generation)
{
	static const enum outcome_kind kinds[] = {OUTCOME_FINISHED, OUTCOME_CANCELLED,
						  OUTCOME_UNKNOWN, OUTCOME_RESTORE_MISMATCH};
	struct life l;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		begin(&l);
		exited(&l, KILLED(SIGKILL));
		l.life.journal.outcome.kind = kinds[i];
		put_on_record(&l);
		restart_as(&l, "g2");
		hello(&l, NULL);
		CHECK_NOTHING(&l, EFFECT_OBSERVE);
		life_end(&l);
	}
}
