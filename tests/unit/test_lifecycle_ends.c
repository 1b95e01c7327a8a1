#include "life.h"

/* ---- the container ends ---- */

static void expect_exit(struct life *l)
{
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	CHECK_INT(l->last[EFFECT_EXIT].status, ==, 0);
	forget(l);
	pass(l, 3600000);
	CHECK_STR(l->order, "");
}

LIFE_TEST(sigterm_while_resolving_leaves_at_once)
{
	hello(l, NULL);
	forget(l);
	stopping(l, 30000);
	CHECK_INT(took(l, EFFECT_STOP_ACK), ==, 1);
	CHECK_PHASE(l, PHASE_TERMINATING);
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	expect_exit(l);
}

/* A Kubernetes Job takes 0 for its success, also from a Pod that was evicted. */
TEST(sigterm_is_no_success_where_0_means_that_the_job_has_finished)
{
	struct life l;

	life_begin(&l);
	l.config.exit_when_finished = true;
	run_proven(&l);
	stopping(&l, 30000);
	exited(&l, EXITED(143));
	CHECK_INT(took(&l, EFFECT_EXIT), ==, 1);
	CHECK_INT(l.last[EFFECT_EXIT].status, ==, 143);
	life_end(&l);

	life_begin(&l);
	l.config.exit_when_finished = true;
	hello(&l, NULL);
	l.hold_writes = true;
	stopping(&l, 30000);
	pass(&l, 30000);
	CHECK_INT(took(&l, EFFECT_EXIT), ==, 1);
	CHECK_INT(l.last[EFFECT_EXIT].status, ==, 143);
	life_end(&l);
}

LIFE_TEST(sigterm_in_the_backoff_cancels_the_next_attempt)
{
	launch_empty(l);
	exited(l, EXITED(1));
	forget(l);
	stopping(l, 30000);
	pass(l, 600000);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
	expect_exit(l);
}

LIFE_TEST(sigterm_while_the_intent_is_written_withdraws_it)
{
	hello(l, NULL);
	l->hold_writes = true;
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	stopping(l, 30000);
	CHECK_NOTHING(l, EFFECT_EXIT);
	l->hold_writes = false;
	written(l);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	CHECK(journal_launch(&l->life.journal)->ended_unix_ms);
	expect_exit(l);
}

TEST(sigterm_while_flink_is_being_started_ends_it_as_soon_as_it_is_there)
{
	struct life l;

	life_begin(&l);
	hello(&l, NULL);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_INT(took(&l, EFFECT_LAUNCH), ==, 1);
	stopping(&l, 30000);
	CHECK_NOTHING(&l, EFFECT_SIGNAL);
	CHECK_NOTHING(&l, EFFECT_EXIT);
	started(&l);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	exited(&l, EXITED(143));
	CHECK_INT(l.life.journal.failure_count, ==, 0);
	expect_exit(&l);
	life_end(&l);

	life_begin(&l);
	hello(&l, NULL);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	stopping(&l, 30000);
	launch_failed(&l);
	expect_exit(&l);
	life_end(&l);
}

/* S36, S37: SIGTERM is no stop request. */
TEST(sigterm_keeps_the_state_that_there_is)
{
	struct life l;

	for (int proven = 0; proven < 2; proven++) {
		life_begin(&l);
		launch_empty(&l);
		if (proven)
			prove(&l, 1);
		forget(&l);
		stopping(&l, 30000);
		CHECK_PHASE(&l, PHASE_TERMINATING);
		CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
		CHECK_INT(l.last[EFFECT_SIGNAL].signo, ==, SIGTERM);
		CHECK_NOTHING(&l, EFFECT_TRIGGER);
		CHECK_NOTHING(&l, EFFECT_EXIT);
		exited(&l, EXITED(143));
		CHECK_INT(l.life.journal.outcome.kind, ==, OUTCOME_NONE);
		CHECK_INT(l.life.journal.failure_count, ==, 0);
		CHECK_NOTHING(&l, EFFECT_OBSERVE);
		expect_exit(&l);
		life_end(&l);
	}
}

LIFE_TEST(a_flink_that_ignores_sigterm_is_killed)
{
	run_proven(l);
	stopping(l, 30000);
	forget(l);
	pass(l, 19999);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 1);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	exited(l, KILLED(SIGKILL));
	expect_exit(l);
}

LIFE_TEST(a_second_sigterm_changes_nothing)
{
	run_proven(l);
	stopping(l, 30000);
	forget(l);
	stopping(l, 20000);
	CHECK_STR(l->order, "");
	exited(l, EXITED(143));
	stopping(l, 10000);
	expect_exit(l);
}

LIFE_TEST(with_the_savepoint_policy_sigterm_stops_the_job_first)
{
	l->config.on_sigterm = SIGTERM_SAVEPOINT;
	run_proven(l);
	stopping(l, 120000);
	CHECK_INT(l->life.journal.operation.reason, ==, REASON_TERMINATE);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_NONE);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
	expect_exit(l);
}

TEST(the_grace_period_bounds_the_savepoint)
{
	struct life l;

	life_begin(&l);
	l.config.on_sigterm = SIGTERM_SAVEPOINT;
	run_proven(&l);
	stopping(&l, 60000); /* Flink's end needs 20 s, the journal 1 s */
	operation(&l, STATUS_ACCEPTED, NULL, NULL);
	for (int i = 0; i < 38; i++) {
		pass(&l, 1000);
		operation(&l, STATUS_IN_PROGRESS, NULL, NULL);
	}
	CHECK_NOTHING(&l, EFFECT_SIGNAL);
	pass(&l, 1000);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	CHECK_PHASE(&l, PHASE_TERMINATING);
	exited(&l, EXITED(143));
	expect_exit(&l);
	life_end(&l);

	life_begin(&l);
	l.config.on_sigterm = SIGTERM_SAVEPOINT;
	run_proven(&l);
	stopping(&l, 20000); /* no time for one */
	CHECK_NOTHING(&l, EFFECT_TRIGGER);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	life_end(&l);
}

LIFE_TEST(a_failed_last_savepoint_does_not_keep_the_container)
{
	l->config.on_sigterm = SIGTERM_SAVEPOINT;
	run_proven(l);
	stopping(l, 120000);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_FAILED, NULL, "declined");
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	expect_exit(l);
}

LIFE_TEST(sigterm_during_a_savepoint_gives_it_up)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	stopping(l, 120000);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	/* whether it was taken is for the next container to find out */
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_SAVEPOINT);
	expect_exit(l);
}

LIFE_TEST(sigterm_during_a_suspend_lets_it_come_to_its_end)
{
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	stopping(l, 120000);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	viewed(l, job_in(JOB_FINISHED));
	exited(l, EXITED(143));
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
	CHECK(l->life.journal.intent.state == DESIRED_SUSPENDED);
	expect_exit(l);
}

LIFE_TEST(sigterm_does_not_wait_for_a_journal_write_to_end_flink)
{
	run_proven(l);
	l->hold_writes = true;
	viewed(l, job_in(JOB_CANCELED)); /* its end waits for the write */
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	stopping(l, 30000);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	l->hold_writes = false;
	written(l);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	expect_exit(l);
}

TEST(a_parked_application_leaves_at_once)
{
	static const enum desired_state states[] = {DESIRED_SUSPENDED, DESIRED_CANCELLED};
	struct life l;

	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		life_begin(&l);
		l.life.journal.intent.state = states[i];
		hello(&l, NULL);
		stopping(&l, 30000);
		expect_exit(&l);
		desire(&l, DESIRED_RUNNING);
		CHECK_NOTHING(&l, EFFECT_OBSERVE);
		life_end(&l);
	}
}

LIFE_TEST(a_journal_that_cannot_be_written_does_not_keep_the_container)
{
	run_proven(l);
	l->hold_writes = true;
	stopping(l, 30000);
	exited(l, EXITED(143));
	CHECK_NOTHING(l, EFFECT_EXIT);
	pass(l, 2999);
	CHECK_NOTHING(l, EFFECT_EXIT);
	pass(l, 1);
	expect_exit(l);
}

LIFE_TEST(an_outcome_that_is_not_on_record_keeps_the_container_as_long_as_may_be)
{
	run_proven(l);
	l->hold_writes = true;
	viewed(l, job_in(JOB_FINISHED));
	write_failed(l, false);
	stopping(l, 30000);
	exited(l, EXITED(143));
	pass(l, 26000);
	CHECK_NOTHING(l, EFFECT_EXIT);
	pass(l, 1000);
	expect_exit(l);
}

LIFE_TEST(nobody_ends_the_container_twice)
{
	hello(l, NULL);
	l->hold_writes = true;
	stopping(l, 30000);
	pass(l, 3000);
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	written(l);
	pass(l, 60000);
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
}

/* ---- a new agent, Flink lives ---- */

/* Another agent finds Flink alive. */
static void return_to(struct life *l)
{
	char job[JOB_ID_BYTES];

	snprintf(job, sizeof(job), "%s", job_of(l));
	restart_agent(l);
	hello(l, job);
}

LIFE_TEST(a_running_flink_is_taken_over_untouched)
{
	run_proven(l);
	return_to(l);
	CHECK_PHASE(l, PHASE_LAUNCHING); /* it has not looked yet */
	pass(l, 1);
	CHECK_INT(took(l, EFFECT_POLL), ==, 1);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
	CHECK_INT(l->life.journal.launch_count, ==, 1);
}

LIFE_TEST(a_flink_that_has_not_proved_its_restore_is_still_checked)
{
	hello(l, NULL);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	return_to(l); /* nobody was told that it started */
	CHECK_PHASE(l, PHASE_LAUNCHING);
	CHECK(l->life.journal.launches[0].started_unix_ms);
	viewed(l, job_restored(JOB_RUNNING, 7, CHK(7)));
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_RESTORE_MISMATCH);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
}

TEST(a_flink_that_the_journal_does_not_know_is_not_touched)
{
	struct life l;

	for (int journal = 0; journal < 2; journal++) {
		life_begin(&l);
		if (journal) {
			run_proven(&l);
			restart_agent(&l);
		}
		hello(&l, "99999999999999999999999999999999");
		CHECK_PHASE(&l, PHASE_HOLDING);
		desire(&l, DESIRED_CANCELLED);
		desire(&l, DESIRED_RUNNING);
		ask_savepoint(&l, "n1");
		pass(&l, 3600000);
		CHECK_NOTHING(&l, EFFECT_SIGNAL);
		CHECK_NOTHING(&l, EFFECT_OBSERVE);
		CHECK_NOTHING(&l, EFFECT_TRIGGER);
		exited(&l, EXITED(0));
		CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
		life_end(&l);
	}
}

LIFE_TEST(a_strange_flink_does_not_keep_the_container)
{
	hello(l, "99999999999999999999999999999999");
	stopping(l, 30000);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	pass(l, 30000);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
}

LIFE_TEST(an_outcome_on_record_ends_the_flink_that_is_left)
{
	run_proven(l);
	viewed(l, job_in(JOB_FINISHED));
	return_to(l);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_FINISHED);
}

TEST(a_stop_order_that_came_before_the_agent_is_carried_out)
{
	struct life l;
	struct event e = {.type = EVENT_HELLO, .hello = {.stopping = true, .grace_left_ms = 20000}};
	char job[JOB_ID_BYTES];

	life_begin(&l);
	run_proven(&l);
	snprintf(job, sizeof(job), "%s", job_of(&l));
	restart_agent(&l);
	e.hello.running = job;
	step(&l, &e);
	CHECK_INT(took(&l, EFFECT_STOP_ACK), ==, 1);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	exited(&l, EXITED(143));
	expect_exit(&l);
	life_end(&l);

	life_begin(&l);
	e.hello.running = NULL;
	step(&l, &e);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	expect_exit(&l);
	life_end(&l);
}

/* ---- a new agent, an operation is in the journal ---- */

static void finish_stop(struct life *l)
{
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_SUSPENDED);
	CHECK(l->life.journal.last_operation.ok);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
}

/* S26, S32: whatever the old agent had reached, the trigger id is the same. */
TEST(an_operation_goes_on_from_every_step)
{
	char id[JOB_ID_BYTES];
	struct life l;

	for (int reached = 0; reached < 6; reached++) {
		life_begin(&l);
		run_proven(&l);
		if (reached == 0)
			l.hold_writes = true;
		desire(&l, DESIRED_SUSPENDED); /* 0, 1: the POST may or may not have been sent */
		memcpy(id, trigger_of(&l), JOB_ID_BYTES);
		if (reached >= 2)
			operation(&l, STATUS_ACCEPTED, NULL, NULL);
		if (reached >= 3)
			operation(&l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
		if (reached >= 4)
			inspected(&l, true, true);
		if (reached >= 5)
			viewed(&l, job_in(JOB_FINISHED));
		write_lands(&l);
		return_to(&l);
		CHECK_PHASE(&l, PHASE_STOPPING);
		CHECK_NOTHING(&l, EFFECT_SIGNAL);
		pass(&l, 1);
		CHECK_NOTHING(&l, EFFECT_TRIGGER); /* first ask for the result */
		CHECK_INT(took(&l, EFFECT_POLL_OPERATION), ==, 1);
		CHECK_STR(l.last[EFFECT_POLL_OPERATION].id, id);
		if (reached < 2) {
			operation(&l, STATUS_UNKNOWN_ID, NULL, NULL);
			pass(&l, 1000);
			CHECK_INT(took(&l, EFFECT_TRIGGER), ==, 1);
			CHECK_STR(l.last[EFFECT_TRIGGER].id, id);
			operation(&l, STATUS_ACCEPTED, NULL, NULL);
			pass(&l, 500);
		}
		finish_stop(&l);
		life_end(&l);
	}
}

LIFE_TEST(a_savepoint_goes_on_without_disturbing_the_job)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	return_to(l);
	pass(l, 1);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	CHECK(l->life.journal.last_operation.ok);
	CHECK_STR(l->life.journal.savepoint_nonce_done, "n1");
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 0);
}

LIFE_TEST(a_cancel_goes_on)
{
	run_proven(l);
	desire(l, DESIRED_CANCELLED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	return_to(l);
	CHECK_PHASE(l, PHASE_STOPPING);
	pass(l, 1);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1); /* cancel twice is cancel */
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	viewed(l, job_in(JOB_CANCELED));
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_CANCELLED);
}

TEST(a_stop_whose_job_has_finished_unseen_is_done)
{
	struct seen_savepoint stop = {.id = 50, .path = SAVEPOINT_1, .stop = true};
	struct view view = job_in(JOB_FINISHED);
	struct life l;

	view.savepoints = &stop;
	view.savepoint_count = 1;

	life_begin(&l);
	run_proven(&l);
	desire(&l, DESIRED_SUSPENDED);
	operation(&l, STATUS_ACCEPTED, NULL, NULL);
	return_to(&l);
	viewed(&l, view);
	pass(&l, 1);
	operation(&l, STATUS_UNKNOWN_ID, NULL, NULL); /* the result was dropped after 5 minutes */
	viewed(&l, view);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	exited(&l, EXITED(143));
	CHECK_HAS(l.life.journal.last_operation.error, "searching the storage for it");
	observed_settled(&l, DECISION_PARK, SETTLEMENT_MADE, SAVEPOINT_1);
	CHECK_PHASE(&l, PHASE_SUSPENDED);
	CHECK(l.life.journal.last_operation.ok);
	CHECK_STR(l.life.journal.last_operation.location, SAVEPOINT_1);
	life_end(&l);
}

/* ---- a new agent, Flink has ended ---- */

/* Another agent finds that Flink ended meanwhile. */
static void return_too_late(struct life *l, int wait_status)
{
	char job[JOB_ID_BYTES];

	snprintf(job, sizeof(job), "%s", job_of(l));
	restart_agent(l);
	hello_ended(l, job, wait_status);
}

LIFE_TEST(a_flink_that_died_unseen_is_started_again)
{
	run_proven(l);
	return_too_late(l, KILLED(SIGKILL));
	CHECK_PHASE(l, PHASE_RESOLVING);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	CHECK_INT(l->life.journal.failure_count, ==, 1);
	CHECK_INT(l->life.journal.launches[0].wait_status, ==, SIGKILL);
}

LIFE_TEST(a_flink_that_ended_well_unseen_is_not_started_again)
{
	run_proven(l);
	return_too_late(l, EXITED(0));
	CHECK_PHASE(l, PHASE_FAILED);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_UNKNOWN);
	CHECK(journal_launch(&l->life.journal)->job_ended);
}

/* drey ends the Flink of a job that has ended: its exit is no failed attempt, which could become the
 * outcome in place of the recorded one, and let a finished job run again. */
LIFE_TEST(a_flink_that_was_left_over_and_died_unseen_changes_no_outcome)
{
	l->config.max_attempts = 1;
	run_proven(l);
	viewed(l, job_in(JOB_FINISHED));
	return_too_late(l, KILLED(SIGKILL));
	CHECK_PHASE(l, PHASE_FINISHED);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_FINISHED);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
}

TEST(a_stop_that_ended_unseen_is_no_unknown_end)
{
	struct life l;

	life_begin(&l);
	run_proven(&l);
	desire(&l, DESIRED_SUSPENDED);
	operation(&l, STATUS_ACCEPTED, NULL, NULL);
	return_too_late(&l, EXITED(0));
	observed_settled(&l, DECISION_PARK, SETTLEMENT_MADE, SAVEPOINT_1);
	CHECK_PHASE(&l, PHASE_SUSPENDED);
	CHECK_INT(l.life.journal.outcome.kind, ==, OUTCOME_NONE);
	CHECK_INT(l.life.journal.operation.kind, ==, OPERATION_NONE);
	life_end(&l);

	life_begin(&l);
	run_proven(&l);
	ask_restart(&l, "r1");
	return_too_late(&l, EXITED(143));
	CHECK_PHASE(&l, PHASE_RESOLVING);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	CHECK_INT(l.life.journal.failure_count, ==, 0);
	life_end(&l);
}

LIFE_TEST(a_new_container_continues)
{
	run_proven(l);
	restart_agent(l);
	hello(l, NULL);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
	CHECK_INT(l->life.journal.launches[0].wait_status, ==, -1);
}

/* S47: the node kills the container whenever the job starts. */
LIFE_TEST(containers_that_end_before_the_job_is_proven_are_failed_attempts)
{
	for (int i = 1; i <= 3; i++) {
		launch_empty(l);
		restart_agent(l);
		hello(l, NULL);
		CHECK_INT(l->life.journal.failure_count, ==, i);
		forget(l);
		pass(l, 10000);
	}
	CHECK_PHASE(l, PHASE_FAILED);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
}

TEST(a_launch_that_was_only_intended_costs_nothing)
{
	struct life l;

	for (int landed = 0; landed < 2; landed++) {
		life_begin(&l);
		hello(&l, NULL);
		l.hold_writes = true;
		observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
		if (landed)
			write_lands(&l);
		restart_agent(&l);
		hello(&l, NULL);
		CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
		CHECK_INT(l.life.journal.failure_count, ==, 0);
		CHECK_INT((int)l.life.journal.launch_count, ==, landed);
		CHECK(!landed || !l.life.journal.launches[0].started_unix_ms);
		life_end(&l);
	}

	/* but drey-init knows better when it has run it */
	life_begin(&l);
	hello(&l, NULL);
	observed(&l, DECISION_START_EMPTY, NULL, 0, NULL);
	return_too_late(&l, EXITED(1));
	CHECK(l.life.journal.launches[0].started_unix_ms);
	CHECK_INT(l.life.journal.failure_count, ==, 1);
	life_end(&l);
}

LIFE_TEST(what_is_parked_stays_parked_in_a_new_container)
{
	run_proven(l);
	viewed(l, job_in(JOB_FINISHED));
	exited(l, EXITED(143));
	restart_agent(l);
	hello(l, NULL);
	CHECK_PHASE(l, PHASE_FINISHED);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
	/* S28: suspended, and the kubelet restarts the container */
	l->life.journal.intent.state = DESIRED_SUSPENDED;
	put_on_record(l);
	restart_agent(l);
	hello(l, NULL);
	CHECK_PHASE(l, PHASE_SUSPENDED);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
}
