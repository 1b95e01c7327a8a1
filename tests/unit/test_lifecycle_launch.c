#include "life.h"

/* ---- the journal comes first ---- */

LIFE_TEST(the_intent_is_durable_before_flink_is_asked_for)
{
	l->hold_writes = true;
	hello(l, NULL);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_PHASE(l, PHASE_LAUNCHING);
	CHECK_INT(took(l, EFFECT_WRITE_JOURNAL), ==, 1);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	written(l); /* what was wanted before the decision */
	if (!took(l, EFFECT_LAUNCH))
		written(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_INT(strlen(job_of(l)), ==, 32);
	CHECK_INT(strlen(l->life.journal.launches[0].launch_id), ==, 32);
	CHECK_HAS(l->life.journal.launches[0].job_result_path,
		  l->life.journal.launches[0].launch_id);
	CHECK_STR(l->life.journal.launches[0].generation, "g1");
}

LIFE_TEST(a_launch_waits_out_a_journal_that_cannot_be_written)
{
	hello(l, NULL);
	forget(l);
	l->hold_writes = true;
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	for (int i = 0; i < 3; i++) {
		write_failed(l, false);
		CHECK_NOTHING(l, EFFECT_LAUNCH);
		pass(l, (1000 << i) - 1);
		CHECK_INT(took(l, EFFECT_WRITE_JOURNAL), ==, i + 1);
		pass(l, 1);
		CHECK_INT(took(l, EFFECT_WRITE_JOURNAL), ==, i + 2);
	}
	CHECK_HAS(l->notes, "No space left on device");
	CHECK(strstr(l->notes, "No space") == strrchr(l->notes, 'N')); /* said once */
	written(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_HAS(l->notes, "the journal is writable again");
}

LIFE_TEST(another_writer_means_hands_off)
{
	hello(l, NULL);
	forget(l);
	l->hold_writes = true;
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	write_failed(l, true);
	CHECK(l->life.fenced);
	CHECK_PHASE(l, PHASE_HOLDING);
	CHECK_INT(took(l, EFFECT_WRITE_JOURNAL), ==, 1);
	desire(l, DESIRED_SUSPENDED);
	desire(l, DESIRED_RUNNING);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	pass(l, 3600000);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	CHECK_INT(took(l, EFFECT_WRITE_JOURNAL), ==, 1);
	/* it still ends when it is told to */
	stopping(l, 30000);
	pass(l, 10000);
	CHECK_INT(took(l, EFFECT_STOP_ACK), ==, 1);
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
}

LIFE_TEST(another_writer_stops_a_running_operation_too)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	l->hold_writes = true;
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	do_not_restart(l, true);
	write_failed(l, true);
	exited(l, KILLED(9));
	forget(l);
	operation(l, STATUS_IN_PROGRESS, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	pass(l, 600000);
	CHECK_STR(l->order, "");
}

LIFE_TEST(a_do_not_restart_that_comes_during_the_write_stops_the_launch)
{
	char first[JOB_ID_BYTES];

	hello(l, NULL);
	l->hold_writes = true;
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	snprintf(first, sizeof(first), "%s", job_of(l));
	do_not_restart(l, true);
	l->hold_writes = false;
	written(l);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	CHECK_PHASE(l, PHASE_HOLDING);
	CHECK(journal_launch(&l->life.journal)->ended_unix_ms);
	CHECK(!journal_launch(&l->life.journal)->started_unix_ms);
	pass(l, 3600000);
	CHECK_NOTHING(l, EFFECT_LAUNCH);

	forget(l);
	do_not_restart(l, false);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_STR(first, job_of(l)); /* no Flink was given it */
	CHECK_INT(l->life.journal.launch_count, ==, 1);
}

LIFE_TEST(a_suspend_that_comes_during_the_write_stops_the_launch)
{
	hello(l, NULL);
	l->hold_writes = true;
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	desire(l, DESIRED_SUSPENDED);
	l->hold_writes = false;
	written(l);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	CHECK_PHASE(l, PHASE_SUSPENDED);
}

LIFE_TEST(a_wish_that_changes_during_the_look_is_looked_at_again)
{
	hello(l, NULL);
	desire(l, DESIRED_SUSPENDED);
	CHECK_PHASE(l, PHASE_SUSPENDED);
	desire(l, DESIRED_RUNNING);
	forget(l);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL); /* of before */
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
}

LIFE_TEST(a_request_is_used_up_in_the_write_that_announces_its_launch)
{
	hello(l, NULL);
	l->hold_writes = true;
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, "token-1");
	CHECK(journal_is_consumed(&l->life.journal, "token-1"));
	CHECK_STR(l->life.journal.launches[0].restore_path, SAVEPOINT_1);
	CHECK_INT(l->life.journal.launches[0].restore_checkpoint_id, ==, 50);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
}

/* The storage may not date it, but the journal does. */
LIFE_TEST(the_restore_point_has_its_completion_time)
{
	struct snapshot known = {.path = (char *)SAVEPOINT_1,
				 .kind = SNAPSHOT_SAVEPOINT,
				 .checkpoint_id = 50,
				 .completed_unix_ms = 777};

	journal_add_snapshot(&l->life.journal, &known);
	hello(l, NULL);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	CHECK_INT(l->life.journal.launches[0].restore_completed_unix_ms, ==, 777);
	exited(l, KILLED(9));
	pass(l, 60000);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_INT(journal_launch(&l->life.journal)->restore_completed_unix_ms, ==, 0);
}

/* ---- holding ---- */

LIFE_TEST(a_hold_looks_again_with_growing_patience)
{
	hello(l, NULL);
	for (int64_t wait_ms = 2000; wait_ms <= 32000; wait_ms *= 2) {
		observed(l, DECISION_HOLD, NULL, 0, NULL);
		CHECK_PHASE(l, PHASE_HOLDING);
		forget(l);
		pass(l, wait_ms - 1);
		CHECK_NOTHING(l, EFFECT_OBSERVE);
		pass(l, 1);
		CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	}
	observed(l, DECISION_HOLD, NULL, 0, NULL);
	forget(l);
	pass(l, 60000);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	observed(l, DECISION_HOLD, NULL, 0, NULL);
	forget(l);
	control(l, CONTROL_NEW_START, (struct intent){0});
	pass(l, 1);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1); /* a person does not wait */
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
}

LIFE_TEST(a_hold_wakes_nobody_while_it_says_the_same)
{
	hello(l, NULL);
	observed(l, DECISION_HOLD, NULL, 0, NULL);
	pass(l, 2000);
	forget(l);
	observed(l, DECISION_HOLD, NULL, 0, NULL);
	CHECK_NOTHING(l, EFFECT_NOTE);
	CHECK_NOTHING(l, EFFECT_WRITE_JOURNAL);
}

LIFE_TEST(do_not_restart_parks_without_looking_at_anything)
{
	l->life.journal.intent.do_not_restart = true;
	hello(l, NULL);
	CHECK_PHASE(l, PHASE_HOLDING);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
	CHECK_INT(lifecycle_deadline_ms(&l->life), ==, -1);
}

/* What the status shows before there is a journal, and that nothing may follow from it. */
TEST(a_journal_that_cannot_be_read_is_a_hold)
{
	static const struct lifecycle_config config = {0};
	struct lifecycle life;

	lifecycle_init_unread(&life, &config, "orders", "HTTP 403 Forbidden");
	CHECK_INT(life.phase, ==, PHASE_HOLDING);
	CHECK_INT(life.cause, ==, CAUSE_JOURNAL_UNREADABLE);
	CHECK_HAS(life.reason, "cannot be read");
	CHECK_HAS(life.reason, "HTTP 403 Forbidden");
	CHECK_STR(life.journal.application, "orders");
	CHECK_STR(life.journal_error, "HTTP 403 Forbidden");
	CHECK(life.journal_broken);
	CHECK_INT(lifecycle_deadline_ms(&life), ==, -1);
	lifecycle_release(&life);
}

/* ---- proving the restore ---- */

static void launch_from(struct life *l)
{
	life_begin(l);
	hello(l, NULL);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	started(l);
	forget(l);
}

LIFE_TEST_FROM(launch_from, exactly_the_restore_point_is_accepted)
{
	viewed(l, job_restored(JOB_RUNNING, 50, "file:///sp/savepoint-1/"));
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK(journal_launch(&l->life.journal)->verified_unix_ms);
	CHECK(!journal_launch(&l->life.journal)->proven_unix_ms);
	CHECK_HAS(l->notes, "restored exactly");
}

static void expect_mismatch(struct life *l)
{
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGTERM);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_RESTORE_MISMATCH);
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_HOLDING);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
	forget(l);
	pass(l, 3600000);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
	/* until a person has looked */
	control(l, CONTROL_NEW_START, (struct intent){0});
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
}

TEST(any_other_restore_ends_the_job_and_holds)
{
	const struct view wrong[] = {
		job_restored(JOB_RUNNING, 49, SAVEPOINT_1), job_restored(JOB_RUNNING, 50, CHK(50)),
		job_restored(JOB_RUNNING, 51, CHK(51)), job_restored(JOB_RUNNING, 50, NULL)};
	struct life l;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		launch_from(&l);
		viewed(&l, wrong[i]);
		expect_mismatch(&l);
		life_end(&l);
	}
}

/* Its checkpoints look like good ones to the next agent, which could not ask it any more. */
LIFE_TEST_FROM(launch_from, a_wrong_restore_is_on_record_before_flink_ends)
{
	l->hold_writes = true;
	viewed(l, job_restored(JOB_RUNNING, 50, NULL));
	CHECK_PHASE(l, PHASE_STOPPING);
	write_failed(l, false);
	pass(l, 60000);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	l->hold_writes = false;
	written(l);
	CHECK(journal_launch(&l->life.journal)->mismatched);
	expect_mismatch(l);
}

/* Flink has lost its leadership and recovered the job: its statistics come late again. */
LIFE_TEST_FROM(launch_from, the_restore_of_a_recovered_job_is_awaited_anew)
{
	struct view view = job_in(JOB_RUNNING);

	view.job_unix_ms = UNIX_START;
	shown_after(l, 100, view);
	view.job_unix_ms = UNIX_START + 9000;
	shown_after(l, 9000, view);
	shown_after(l, 5000, view);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	shown_after(l, 5000, view);
	expect_mismatch(l);
}

LIFE_TEST(state_in_a_job_that_should_be_empty_is_a_mismatch)
{
	launch_empty(l);
	forget(l);
	viewed(l, job_restored(JOB_RUNNING, 7, CHK(7)));
	expect_mismatch(l);
}

/* Flink's statistics come late, and the job completes checkpoints faster than it is looked at. */
LIFE_TEST(state_that_shows_with_the_first_checkpoint_is_a_mismatch)
{
	struct view view = job_restored(JOB_RUNNING, 7, CHK(7));

	launch_empty(l);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_PHASE(l, PHASE_RUNNING);
	forget(l);
	view.completed_id = 8;
	view.completed_path = CHK(8);
	viewed(l, view);
	expect_mismatch(l);
}

LIFE_TEST(state_of_its_own_after_a_failover_is_no_mismatch_of_an_empty_start)
{
	char own[200];
	struct view view;

	launch_empty(l);
	viewed(l, job_in(JOB_RUNNING));
	snprintf(own, sizeof(own), "file:/sp/savepoint-%.6s-0123456789ab", job_of(l));
	viewed(l, job_restored(JOB_RUNNING, 1, own));
	CHECK_PHASE(l, PHASE_RUNNING);
	snprintf(own, sizeof(own), "file:/cp/%s/chk-2", job_of(l));
	view = job_restored(JOB_RUNNING, 2, own);
	view.completed_id = 3;
	view.completed_path = CHK(3);
	viewed(l, view);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

LIFE_TEST_FROM(launch_from, a_checkpoint_of_its_own_after_a_failover_is_no_mismatch)
{
	char own[200];

	snprintf(own, sizeof(own), "file:/cp/%s/chk-53", job_of(l));
	viewed(l, job_restored(JOB_RUNNING, 53, own));
	CHECK_PHASE(l, PHASE_RUNNING);
}

LIFE_TEST_FROM(launch_from, late_statistics_are_waited_for)
{
	struct view late = job_in(JOB_RUNNING);

	late.statistics_known = false;
	for (int i = 0; i < 60; i++) {
		pass(l, 1000);
		viewed(l, late);
	}
	CHECK_PHASE(l, PHASE_LAUNCHING);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	viewed(l, job_restored(JOB_RUNNING, 50, SAVEPOINT_1));
	CHECK_PHASE(l, PHASE_RUNNING);
}

LIFE_TEST_FROM(launch_from, a_restore_that_does_not_show_is_waited_for_ten_seconds)
{
	viewed(l, job_in(JOB_RUNNING));
	pass(l, 9999);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_PHASE(l, PHASE_LAUNCHING);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 501);
	viewed(l, job_in(JOB_RUNNING));
	expect_mismatch(l);
}

LIFE_TEST_FROM(launch_from, a_slow_answer_counts_as_of_when_it_was_asked_for)
{
	viewed(l, job_in(JOB_RUNNING));
	pass(l, 20000); /* one poll is under way all that time */
	viewed(l, job_in(JOB_RUNNING));
	CHECK_PHASE(l, PHASE_LAUNCHING);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	viewed(l, job_restored(JOB_RUNNING, 50, SAVEPOINT_1));
	CHECK_PHASE(l, PHASE_RUNNING);
}

TEST(a_job_without_checkpoints_cannot_have_restored)
{
	struct view off = job_in(JOB_RUNNING);
	struct life l;

	off.statistics_known = false;
	off.checkpointing_off = true;
	launch_from(&l);
	viewed(&l, off);
	pass(&l, 10000);
	viewed(&l, off);
	pass(&l, 1000);
	viewed(&l, off);
	expect_mismatch(&l);
	life_end(&l);

	life_begin(&l);
	launch_empty(&l);
	viewed(&l, off);
	CHECK_PHASE(&l, PHASE_RUNNING);
	life_end(&l);
}

LIFE_TEST_FROM(launch_from, nothing_is_concluded_while_rest_does_not_answer)
{
	for (int i = 0; i < 100; i++) {
		pass(l, 1000);
		viewed(l, (struct view){.reachable = i & 1});
	}
	CHECK_PHASE(l, PHASE_LAUNCHING);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 20000); /* the deadline of the launch */
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	CHECK_INT(l->life.journal.failure_count, ==, 1);
}

LIFE_TEST_FROM(launch_from, the_first_own_checkpoint_proves_the_launch)
{
	struct view view = job_restored(JOB_RUNNING, 50, SAVEPOINT_1);

	journal_add_failure(&l->life.journal, UNIX_START);
	view.completed_id = 50; /* what it was started from proves nothing */
	viewed(l, view);
	CHECK(!l->life.journal.ever_proven);
	view.completed_id = 51;
	view.completed_path = CHK(51);
	viewed(l, view);
	CHECK(journal_launch(&l->life.journal)->proven_unix_ms);
	CHECK(l->life.journal.ever_proven);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
	CHECK_STR(journal_launch(&l->life.journal)->last_checkpoint_path, CHK(51));
}

LIFE_TEST_FROM(launch_from, a_checkpoint_is_no_proof_before_the_restore_is_verified)
{
	struct view view = job_in(JOB_RUNNING);

	view.completed_id = 51;
	view.completed_path = CHK(51);
	viewed(l, view);
	CHECK(!l->life.journal.ever_proven);
	view.restored = true;
	view.restored_id = 50;
	view.restored_path = SAVEPOINT_1;
	viewed(l, view);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK(l->life.journal.ever_proven);
}

/* ---- failures ---- */

LIFE_TEST(a_proven_launch_that_dies_is_started_again_at_once)
{
	run_proven(l);
	exited(l, KILLED(SIGKILL));
	CHECK_PHASE(l, PHASE_RESOLVING);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	CHECK_INT(l->life.journal.launches[0].wait_status, ==, SIGKILL);

	/* the next one fails before it has proven itself: with patience */
	observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
	started(l);
	forget(l);
	exited(l, EXITED(1));
	CHECK_PHASE(l, PHASE_RESOLVING);
	pass(l, 9999);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
	pass(l, 1);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
	started(l);
	forget(l);
	exited(l, EXITED(1));
	CHECK_PHASE(l, PHASE_FAILED);
	CHECK_HAS(l->life.reason, "3 failed attempts");
	/* it has run before: it is not the generation that is bad */
	CHECK_INT(l->life.journal.failed_generation_count, ==, 0);
	pass(l, 3600000);
	CHECK_NOTHING(l, EFFECT_OBSERVE);

	control(l, CONTROL_NEW_START, (struct intent){0});
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
}

LIFE_TEST(a_launch_that_has_ended_does_not_start)
{
	hello(l, NULL);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	exited(l, EXITED(1));
	CHECK_PHASE(l, PHASE_RESOLVING);
	started(l);
	CHECK_PHASE(l, PHASE_RESOLVING);
	CHECK_INT(journal_launch(&l->life.journal)->started_unix_ms, ==, 0);
}

LIFE_TEST(failures_outside_the_window_do_not_count)
{
	hello(l, NULL);
	for (int i = 0; i < 10; i++) {
		observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
		started(l);
		pass(l, 200000 - 1000);
		forget(l);
		exited(l, EXITED(1));
		pass(l, 200000);
		CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	}
}

LIFE_TEST(a_flink_that_cannot_be_started_is_a_failed_attempt)
{
	hello(l, NULL);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
		observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
		launch_failed(l);
		CHECK_STR(l->life.journal.last_error, "no such file: java");
		forget(l);
		pass(l, 60000);
	}
	CHECK_PHASE(l, PHASE_FAILED);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
}

LIFE_TEST(a_start_without_scripts_that_fails_is_no_failed_attempt)
{
	struct event e = {
		.type = EVENT_EXITED,
		.process = {.meaning = "it ended", .wait_status = EXITED(1), .shortcut = true}};

	launch_empty(l);
	forget(l);
	e.process.launch_id = job_of(l);
	step(l, &e);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	e.type = EVENT_LAUNCH_FAILED;
	e.process.error = "cannot start java";
	e.process.launch_id = job_of(l);
	step(l, &e);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 2);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
}

LIFE_TEST(a_failed_job_ends_flink_and_is_started_again)
{
	struct view view = job_in(JOB_FAILED);

	run_proven(l);
	view.failure = "java.lang.ArithmeticException";
	viewed(l, view);
	CHECK_PHASE(l, PHASE_STOPPING);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	viewed(l, view);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	CHECK_INT(l->life.journal.failure_count, ==, 1);
	CHECK_HAS(l->life.journal.last_error, "ArithmeticException");
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
}

LIFE_TEST(the_last_error_has_its_time_and_launch_until_the_next_one_is_proven)
{
	struct view view = job_in(JOB_FAILED);
	const struct journal *journal = &l->life.journal;

	run_proven(l);
	view.failure = "java.lang.ArithmeticException";
	viewed(l, view);
	exited(l, EXITED(143));
	CHECK_INT(journal->last_error_launch, ==, 1);
	CHECK_INT(journal->last_error_unix_ms, ==, UNIX_START + l->now_ms);
	observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
	started(l);
	CHECK_HAS(journal->last_error, "ArithmeticException");
	view = job_in(JOB_RUNNING);
	view.restored = view.statistics_known = true;
	view.restored_id = 1;
	view.restored_path = CHK(1);
	viewed(l, view);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_HAS(journal->last_error, "ArithmeticException");
	view.completed_id = 2;
	view.completed_path = CHK(2);
	viewed(l, view);
	CHECK(journal->launches[1].proven_unix_ms != 0);
	CHECK_STR(journal->last_error, NULL);
	CHECK_INT(journal->last_error_unix_ms, ==, 0);
	CHECK_INT(journal->last_error_launch, ==, 0);
}

LIFE_TEST(a_restarting_job_is_left_alone_and_said_once)
{
	struct view view = job_in(JOB_RESTARTING);

	run_proven(l);
	view.failure = "checkpoint expired";
	for (int i = 0; i < 20; i++) {
		pass(l, 1000);
		viewed(l, view);
	}
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_HAS(l->notes, "the job is RESTARTING: checkpoint expired");
	CHECK_HAS(l->notes, "not ready: no task is running");
	CHECK_INT(took(l, EFFECT_NOTE), ==, 2);
}

LIFE_TEST(a_launch_that_never_gets_ready_is_ended_and_killed)
{
	launch_empty(l);
	forget(l);
	pass(l, 120000);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGTERM);
	pass(l, 20000);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 2);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	CHECK(l->last[EFFECT_SIGNAL].group);
	pass(l, 20000);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 3);
	exited(l, KILLED(SIGKILL));
	CHECK_INT(l->life.journal.failure_count, ==, 1);
	CHECK_HAS(l->life.journal.last_error, "not running 120 s after the launch");
}

static const struct view absent = {.reachable = true};

/* A job that was well, and that Flink does not know for almost as long as it may. */
static void begin_absent(struct life *l)
{
	life_begin(l);
	run_proven(l);
	forget(l);
	viewed(l, absent);
	pass(l, 119000);
}

LIFE_TEST_FROM(begin_absent, a_flink_that_does_not_know_its_job_any_more_is_ended)
{
	viewed(l, absent);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 1000);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGTERM);
	exited(l, EXITED(143));
	CHECK_INT(l->life.journal.failure_count, ==, 1);
	CHECK_HAS(l->life.journal.last_error, "has not known its job for 120 s");
}

LIFE_TEST_FROM(begin_absent, a_job_that_comes_back_or_is_not_seen_goes_on)
{
	const struct view silent = {0};

	viewed(l, job_in(JOB_RUNNING));
	pass(l, 119000);
	viewed(l, absent);
	pass(l, 119000);
	viewed(l, silent);
	pass(l, 600000);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_PHASE(l, PHASE_RUNNING);
}

/* ---- ends ---- */

LIFE_TEST(the_end_of_the_job_is_on_record_before_its_witness_ends)
{
	run_proven(l);
	l->hold_writes = true;
	viewed(l, job_in(JOB_FINISHED));
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_FINISHED);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	write_failed(l, false);
	pass(l, 2000);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	l->hold_writes = false;
	written(l);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_FINISHED);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
	CHECK_NOTHING(l, EFFECT_EXIT);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
}

TEST(a_job_that_finishes_at_once_is_verified_first)
{
	struct life l;

	launch_from(&l);
	viewed(&l, job_in(JOB_FINISHED));
	CHECK_NOTHING(&l, EFFECT_SIGNAL);
	pass(&l, 3000);
	{
		struct view view = job_restored(JOB_RUNNING, 50, SAVEPOINT_1);

		view.state = JOB_FINISHED;
		viewed(&l, view);
	}
	CHECK_INT(l.life.journal.outcome.kind, ==, OUTCOME_FINISHED);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	life_end(&l);

	launch_from(&l);
	viewed(&l, job_in(JOB_FINISHED));
	pass(&l, 10000);
	viewed(&l, job_in(JOB_FINISHED));
	pass(&l, 1000);
	viewed(&l, job_in(JOB_FINISHED));
	expect_mismatch(&l);
	life_end(&l);
}

LIFE_TEST(a_finished_job_ends_the_container_when_asked_to)
{
	l->config.exit_when_finished = true;
	run_proven(l);
	viewed(l, job_in(JOB_FINISHED));
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_FINISHED);
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	CHECK_INT(l->last[EFFECT_EXIT].status, ==, 0);
}

LIFE_TEST(a_job_cancelled_from_outside_stays_cancelled)
{
	run_proven(l);
	viewed(l, job_in(JOB_CANCELED));
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_CANCELLED);
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_CANCELLED);
	pass(l, 3600000);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
}

LIFE_TEST(an_exit_with_0_that_nobody_can_explain_is_not_repeated)
{
	run_proven(l);
	exited(l, EXITED(0));
	CHECK_PHASE(l, PHASE_FAILED);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_UNKNOWN);
	pass(l, 3600000);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
}

LIFE_TEST(a_start_that_must_not_be_made_now_is_held_and_counts_as_no_attempt)
{
	struct event e = {.type = EVENT_REFUSED,
			  .refused = {.effect = EFFECT_LAUNCH,
				      .cause = CAUSE_HA_NOT_PREPARED,
				      .why = "another Flink may live"}};

	hello(l, NULL);
	for (int64_t wait_ms = 2000; wait_ms <= 8000; wait_ms *= 2) {
		observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
		CHECK_PHASE(l, PHASE_LAUNCHING);
		e.refused.launch_id = "0123"; /* another one */
		step(l, &e);
		CHECK_PHASE(l, PHASE_LAUNCHING);
		e.refused.launch_id = job_of(l);
		step(l, &e);
		CHECK_PHASE(l, PHASE_HOLDING);
		CHECK_INT(l->life.cause, ==, CAUSE_HA_NOT_PREPARED);
		CHECK_HAS(l->life.reason, "another Flink may live");
		CHECK_INT(l->life.journal.failure_count, ==, 0);
		CHECK_INT(lifecycle_deadline_ms(&l->life) - l->now_ms, ==, wait_ms);
		forget(l);
		pass(l, wait_ms);
		CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	}
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	started(l);
	CHECK_PHASE(l, PHASE_LAUNCHING);
}

/* A hook, the control inputs or a lock say no: the facts count, the decision does not. */
LIFE_TEST(a_decision_that_is_refused_is_a_hold_and_its_facts_count)
{
	struct event e = {.type = EVENT_REFUSED,
			  .refused = {.effect = EFFECT_OBSERVE,
				      .cause = CAUSE_HOOK_REFUSED,
				      .why = "not on a Friday"}};
	struct decision decision = {
		.kind = DECISION_START_EMPTY, .settled = NO_CANDIDATE, .rule = 8, .token = "t1"};
	struct facts facts = {0};

	hello(l, NULL);
	e.refused.facts = &facts;
	e.refused.decision = &decision;
	for (int64_t wait_ms = 2000; wait_ms <= 8000; wait_ms *= 2) {
		step(l, &e);
		CHECK_PHASE(l, PHASE_HOLDING);
		CHECK_INT(l->life.cause, ==, CAUSE_HOOK_REFUSED);
		CHECK_STR(l->life.reason, "not on a Friday");
		CHECK_INT(l->life.journal.launch_count, ==, 0);
		CHECK_INT(l->life.journal.failure_count, ==, 0);
		CHECK(!journal_is_consumed(&l->life.journal, "t1"));
		CHECK_INT(lifecycle_deadline_ms(&l->life) - l->now_ms, ==, wait_ms);
		forget(l);
		pass(l, wait_ms);
		CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	}
	e.refused.facts = NULL; /* nothing was gathered: another Flink runs */
	e.refused.decision = NULL;
	e.refused.cause = CAUSE_FLINK_STILL_RUNS;
	step(l, &e);
	CHECK_INT(l->life.cause, ==, CAUSE_FLINK_STILL_RUNS);
	CHECK_PHASE(l, PHASE_HOLDING);
}

/* ---- what comes too late ---- */

LIFE_TEST(answers_about_another_launch_are_ignored)
{
	struct event e = {.type = EVENT_EXITED,
			  .process = {.launch_id = "0123", .meaning = "late", .wait_status = 256}};

	run_proven(l);
	step(l, &e);
	CHECK_PHASE(l, PHASE_RUNNING);
	e.type = EVENT_LAUNCH_FAILED;
	step(l, &e);
	e.process.launch_id = job_of(l);
	step(l, &e); /* it was started: this cannot be about now */
	CHECK_PHASE(l, PHASE_RUNNING);
	e.type = EVENT_STARTED;
	e.process.launch_id = NULL;
	step(l, &e);
	exited(l, EXITED(1));
	CHECK_PHASE(l, PHASE_RESOLVING);
	forget(l);
	exited(l, EXITED(1)); /* twice */
	viewed(l, job_in(JOB_RUNNING));
	viewed(l, job_in(JOB_FINISHED));
	CHECK_PHASE(l, PHASE_RESOLVING);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_NONE);
	CHECK_INT(l->life.journal.failure_count, ==, 1);
}

LIFE_TEST(an_answer_to_an_older_write_releases_nothing)
{
	struct event old = {.type = EVENT_JOURNAL_WRITTEN};

	hello(l, NULL);
	l->hold_writes = true;
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	old.journal.sequence = l->life.requested - 1;
	step(l, &old);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	old.type = EVENT_JOURNAL_FAILED;
	old.journal.conflict = true;
	step(l, &old);
	CHECK(!l->life.fenced);
}

TEST(every_name_is_its_own)
{
	for (int i = 0; i < PHASE_COUNT; i++)
		for (int k = 0; k <= i; k++)
			CHECK_INT(!strcmp(phase_name((enum phase)i), phase_name((enum phase)k)), ==,
				  i == k);
	for (int i = 0; i < EVENT_COUNT; i++)
		for (int k = 0; k <= i; k++)
			CHECK_INT(!strcmp(event_type_name((enum event_type)i),
					  event_type_name((enum event_type)k)),
				  ==, i == k);
	for (int i = 0; i <= JOB_RECONCILING; i++)
		CHECK_INT(job_state_parse(job_state_name((enum job_state)i)), ==, i);
	CHECK_INT(job_state_parse("SOMETHING_NEW"), ==, JOB_UNKNOWN);
	CHECK_STR(phase_name(PHASE_COUNT), "unknown");
	CHECK_STR(effect_type_name(EFFECT_NOTE), "note");
}

LIFE_TEST(a_job_runs_when_all_its_tasks_do_however_long_that_takes)
{
	struct view view = job_in(JOB_RUNNING);

	launch_empty(l);
	view.statistics_known = true;
	view.tasks_missing = true;
	viewed(l, view);
	CHECK_PHASE(l, PHASE_LAUNCHING);
	CHECK_HAS(l->life.reason, "not all its tasks are running yet");
	/* restoring a lot of state is no reason to kill it */
	for (int i = 0; i < 10; i++) {
		pass(l, l->config.ready_deadline_ms);
		viewed(l, view);
	}
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	view.tasks_missing = false;
	viewed(l, view);
	CHECK_PHASE(l, PHASE_RUNNING);
}

/* ---- the side of the output ---- */

LIFE_TEST(the_side_of_the_output_goes_with_the_state)
{
	struct journal *journal = &l->life.journal;

	run_proven(l);
	CHECK_INT(journal_launch(journal)->output_side, ==, SIDE_BLUE);
	journal_launch(journal)->output_side = SIDE_GREEN; /* as a transition leaves it */
	exited(l, KILLED(9));
	pass(l, 10000);
	l->config.ha_cluster_id = "orders"; /* of the HA maps, and nothing else */
	observed(l, DECISION_START_FROM, CHK(2), 2, NULL);
	CHECK_INT(journal->launch_count, ==, 2);
	CHECK_INT(journal_launch(journal)->output_side, ==, SIDE_GREEN);
}

TEST(an_older_snapshot_brings_its_side_back)
{
	struct journal journal;
	struct snapshot snapshot = {0};

	journal_init(&journal, "orders");
	CHECK_INT(journal_output_side(&journal, NULL), ==, SIDE_BLUE);
	memcpy(journal_add_launch(&journal)->job_id, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	       JOB_ID_BYTES);
	memcpy(journal_add_launch(&journal)->job_id, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
	       JOB_ID_BYTES);
	journal_launch(&journal)->output_side = SIDE_GREEN;
	CHECK_INT(journal_output_side(&journal, NULL), ==, SIDE_GREEN);
	CHECK_INT(journal_output_side(&journal, &snapshot), ==, SIDE_GREEN); /* of an unknown job */
	strcpy(snapshot.job_id, "cccccc");
	CHECK_INT(journal_output_side(&journal, &snapshot), ==, SIDE_GREEN);
	strcpy(snapshot.job_id, "aaaaaa"); /* a savepoint that was found by its name */
	CHECK_INT(journal_output_side(&journal, &snapshot), ==, SIDE_BLUE);
	journal_release(&journal);
}
