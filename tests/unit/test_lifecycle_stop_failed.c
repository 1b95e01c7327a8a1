/* A stop on request fails again and again: what follows is configured. */
#include "life.h"

static void begin(struct life *l, enum stop_failure then, int64_t retries)
{
	struct view view = job_in(JOB_RUNNING);

	l->config.on_stop_failure = then;
	l->config.stop_retries = retries;
	run_empty(l);
	view.completed_id = 7;
	view.completed_path = CHK(7);
	view.completed_unix_ms = UNIX_START;
	viewed(l, view);
	CHECK(journal_launch(&l->life.journal)->proven_unix_ms);
	forget(l);
}

static void stop_fails(struct life *l)
{
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_FAILED, NULL, "declined");
}

/* ... this often, with the pauses between them. */
static void stops_fail(struct life *l, int times)
{
	for (int i = 0; i < times; i++) {
		if (i)
			pass(l, l->config.stop_retry_ms);
		stop_fails(l);
	}
}

/* Flink tells its newest checkpoint. */
static void newest_is(struct life *l, int64_t id, const char *path)
{
	struct view view = job_in(JOB_RUNNING);

	view.completed_id = id;
	view.completed_path = path;
	view.completed_unix_ms = UNIX_START;
	shown_after(l, 1, view);
}

static void read_as(struct life *l, const char *path, bool readable, bool complete)
{
	struct event e = {.type = EVENT_INSPECTED,
			  .inspected = {.path = path,
					.readable = readable,
					.complete = complete,
					.error = complete ? NULL : "shared/1 is missing"}};

	step(l, &e);
}

static void newest_is_complete(struct life *l)
{
	newest_is(l, 7, CHK(7));
	read_as(l, CHK(7), true, true);
}

static void flink_has_gone(struct life *l)
{
	exited(l, EXITED(143));
}

LIFE_TEST(by_default_it_is_repeated_as_long_as_it_is_requested)
{
	begin(l, STOP_FAILURE_RETRY, 0);
	desire(l, DESIRED_SUSPENDED);
	stops_fail(l, 50);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 50);
	CHECK_HAS(l->life.reason, "retrying in 30 s");
	CHECK_INT(l->life.journal.intent.state, ==, DESIRED_SUSPENDED);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

LIFE_TEST(a_suspend_is_given_up_and_the_job_runs_on)
{
	begin(l, STOP_FAILURE_KEEP_RUNNING, 2);
	desire(l, DESIRED_SUSPENDED);
	stops_fail(l, 2);
	CHECK_HAS(l->life.reason, "retrying in 30 s");
	pass(l, l->config.stop_retry_ms);
	stop_fails(l);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 3);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_INT(l->life.cause, ==, CAUSE_STOP_FAILED);
	CHECK_HAS(l->life.reason,
		  "gave up the suspend after 3 failed stops, and the job runs on: declined");
	CHECK_HAS(l->life.journal.last_error, "gave up the suspend");
	CHECK_INT(l->life.journal.intent.state, ==, DESIRED_RUNNING);
	pass(l, 3600000);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 3);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	/* requested again: from the beginning */
	desire(l, DESIRED_SUSPENDED);
	stops_fail(l, 2);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 5);
	CHECK_INT(l->life.journal.intent.state, ==, DESIRED_SUSPENDED);
}

LIFE_TEST(a_restart_is_given_up_and_the_job_runs_on)
{
	begin(l, STOP_FAILURE_KEEP_RUNNING, 0);
	ask_restart(l, "r1");
	stop_fails(l);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_HAS(l->life.reason, "gave up the restart after 1 failed stops");
	CHECK_STR(l->life.journal.restart_nonce_done, "r1");
	pass(l, 3600000);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	ask_restart(l, "r2");
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 2);
}

LIFE_TEST(a_request_that_came_meanwhile_is_not_given_up_with_the_other)
{
	begin(l, STOP_FAILURE_KEEP_RUNNING, 0);
	ask_restart(l, "r1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	ask_restart(l, "r2");
	operation(l, STATUS_FAILED, NULL, "declined");
	CHECK_STR(l->life.journal.restart_nonce_done, "r1");
	CHECK(journal_restart_wanted(&l->life.journal));
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 2);
}

/* The journal first: the error says what the next start will continue from. */
LIFE_TEST(suspended_without_a_savepoint)
{
	begin(l, STOP_FAILURE_LAST_STATE, 1);
	desire(l, DESIRED_SUSPENDED);
	stop_fails(l);
	pass(l, l->config.stop_retry_ms);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_FAILED, NULL, "declined");
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_HAS(l->life.reason, "drey reads its newest checkpoint");
	newest_is(l, 7, CHK(7));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 1);
	CHECK_STR(l->inspected, CHK(7));
	l->hold_writes = true;
	read_as(l, CHK(7), true, true);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	l->hold_writes = false;
	written(l);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGTERM);
	CHECK_PHASE(l, PHASE_STOPPING);
	CHECK_HAS(buf_str(&l->durable_text),
		  "suspend without a savepoint after 2 failed stops: declined; the job continues "
		  "from its newest checkpoint, " CHK(7) " (checkpoint id 7, ");
	flink_has_gone(l);
	CHECK_PHASE(l, PHASE_SUSPENDED);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
	CHECK_HAS(l->life.journal.last_error, "suspend without a savepoint");
	CHECK_NOTHING(l, EFFECT_LAUNCH);
}

LIFE_TEST(resumed_before_flink_was_told_to_end)
{
	begin(l, STOP_FAILURE_LAST_STATE, 0);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_FAILED, NULL, "declined");
	l->hold_writes = true;
	newest_is_complete(l);
	CHECK_PHASE(l, PHASE_STOPPING);
	desire(l, DESIRED_RUNNING);
	CHECK_PHASE(l, PHASE_RUNNING);
	l->hold_writes = false;
	written(l);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_PHASE(l, PHASE_RUNNING);
	desire(l, DESIRED_SUSPENDED);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 2);
}

LIFE_TEST(restarted_without_a_savepoint)
{
	begin(l, STOP_FAILURE_LAST_STATE, 0);
	ask_restart(l, "r1");
	stop_fails(l);
	newest_is_complete(l);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	/* an agent that finds this Flink alive tries again */
	CHECK(journal_restart_wanted(&l->life.journal));
	flink_has_gone(l);
	CHECK_STR(l->life.journal.restart_nonce_done, "r1");
	CHECK_PHASE(l, PHASE_RESOLVING);
	observed(l, DECISION_START_FROM, CHK(7), 7, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
}

/* Its end must not lose what only a savepoint would keep. */
TEST(a_job_without_a_checkpoint_to_continue_from_is_not_ended)
{
	static const char *const why[] = {"this launch has no checkpoint",
					  "restore.policy excludes checkpoints",
					  "older than restore.maxAge", "do-not-restart is on"};

	for (size_t i = 0; i < ARRAY_LEN(why); i++) {
		struct life world, *l = &world;

		life_begin(l);
		l->config.on_stop_failure = STOP_FAILURE_LAST_STATE;
		if (i == 0)
			run_empty(l);
		else
			begin(l, STOP_FAILURE_LAST_STATE, 0);
		l->config.policy.restore = i == 1 ? POLICY_SAVEPOINT : POLICY_LATEST;
		l->config.policy.max_age_ms = i == 2 ? 1 : 0;
		if (i == 3) {
			ask_restart(l, "r1");
			operation(l, STATUS_ACCEPTED, NULL, NULL);
			do_not_restart(l, true);
			operation(l, STATUS_FAILED, NULL, "declined");
		} else {
			desire(l, DESIRED_SUSPENDED);
			stop_fails(l);
		}
		shown_after(l, 1, job_in(JOB_RUNNING));
		CHECK_PHASE(l, PHASE_RUNNING);
		CHECK_HAS(l->life.reason, why[i]);
		CHECK_HAS(l->life.reason, "retrying in 30 s");
		CHECK_NOTHING(l, EFFECT_SIGNAL);
		pass(l, l->config.stop_retry_ms);
		CHECK_INT(took(l, EFFECT_TRIGGER), ==, i == 3 ? 1 : 2);
		life_end(l);
	}
}

/* What the next start would miss is known while the job runs. */
TEST(a_job_whose_newest_checkpoint_cannot_be_read_is_not_ended)
{
	for (int readable = 0; readable < 2; readable++) {
		struct life world, *l = &world;

		life_begin(l);
		begin(l, STOP_FAILURE_LAST_STATE, 0);
		desire(l, DESIRED_SUSPENDED);
		stop_fails(l);
		newest_is(l, 7, CHK(7));
		read_as(l, CHK(7), readable, false);
		/* Flink is asked once more whether there is a newer one */
		CHECK_NOTHING(l, EFFECT_SIGNAL);
		newest_is(l, 7, CHK(7));
		CHECK_INT(took(l, EFFECT_INSPECT), ==, 1);
		CHECK_PHASE(l, PHASE_RUNNING);
		CHECK_HAS(l->life.reason,
			  readable ? "its newest checkpoint " CHK(7) " is damaged"
				   : "its newest checkpoint " CHK(7) " cannot be read");
		CHECK_HAS(l->life.reason, "shared/1 is missing");
		CHECK_HAS(l->life.reason, "retrying in 30 s");
		pass(l, l->config.stop_retry_ms);
		CHECK_INT(took(l, EFFECT_TRIGGER), ==, 2);
		CHECK_NOTHING(l, EFFECT_SIGNAL);
		life_end(l);
	}
}

/* The job goes on while its checkpoint is read: Flink deletes that one, and it has a newer one. */
LIFE_TEST(a_checkpoint_that_was_replaced_meanwhile_is_no_obstacle)
{
	begin(l, STOP_FAILURE_LAST_STATE, 0);
	desire(l, DESIRED_SUSPENDED);
	stop_fails(l);
	newest_is(l, 7, CHK(7));
	read_as(l, CHK(7), true, false);
	newest_is(l, 8, CHK(8));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 2);
	CHECK_STR(l->inspected, CHK(8));
	read_as(l, CHK(7), true, true); /* an answer about another one */
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	read_as(l, CHK(8), true, true);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_HAS(l->life.journal.last_error, CHK(8));
}

/* Each is newer than the one before, and none can be read. */
LIFE_TEST(two_are_read_and_then_the_stop_is_tried_again)
{
	begin(l, STOP_FAILURE_LAST_STATE, 0);
	desire(l, DESIRED_SUSPENDED);
	stop_fails(l);
	newest_is(l, 7, CHK(7));
	read_as(l, CHK(7), false, false);
	newest_is(l, 8, CHK(8));
	read_as(l, CHK(8), false, false);
	CHECK_HAS(l->life.reason, CHK(8) " cannot be read");
	newest_is(l, 9, CHK(9));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 2);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

/* A poll that was under way before the stop failed may not know the newest checkpoint. */
LIFE_TEST(an_earlier_poll_does_not_count)
{
	begin(l, STOP_FAILURE_LAST_STATE, 0);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	l->life.polling = true;
	l->life.polled_ms = l->now_ms;
	l->now_ms += 1000;
	operation(l, STATUS_FAILED, NULL, "declined");
	CHECK_NOTHING(l, EFFECT_INSPECT);
	{
		struct event e = {.type = EVENT_VIEW, .view = job_in(JOB_RUNNING)};

		step(l, &e);
	}
	CHECK_NOTHING(l, EFFECT_INSPECT);
	newest_is(l, 8, CHK(8));
	CHECK_STR(l->inspected, CHK(8));
}

/* Nothing else is started while the checkpoint is read, and nothing is ended that is wanted again. */
TEST(what_came_meanwhile_counts)
{
	static const char *const what[] = {"resume", "the container ends", "Flink ends",
					   "do-not-restart"};

	for (size_t i = 0; i < ARRAY_LEN(what); i++) {
		struct life world, *l = &world;

		life_begin(l);
		begin(l, STOP_FAILURE_LAST_STATE, 0);
		ask_restart(l, "r1");
		stop_fails(l);
		newest_is(l, 7, CHK(7));
		pass(l, l->config.stop_retry_ms);
		CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
		forget(l);
		if (i == 0)
			desire(l, DESIRED_CANCELLED);
		else if (i == 1)
			stopping(l, 60000);
		else if (i == 2)
			exited(l, EXITED(1));
		else
			do_not_restart(l, true);
		forget(l);
		read_as(l, CHK(7), true, true);
		CHECK_NOTHING(l, EFFECT_SIGNAL);
		life_end(l);
	}
}

/* The end of the container has its grace period, and its own way without a savepoint. */
LIFE_TEST(the_stop_of_a_container_is_not_counted)
{
	begin(l, STOP_FAILURE_KEEP_RUNNING, 5);
	l->config.on_sigterm = SIGTERM_SAVEPOINT;
	stopping(l, 60000);
	stop_fails(l);
	CHECK_PHASE(l, PHASE_TERMINATING);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
}

/* ---- it is withdrawn ---- */

LIFE_TEST(a_savepoint_that_is_due_does_not_wait_for_a_stop_that_nobody_wants_any_more)
{
	l->config.savepoints.interval_ms = 60000;
	l->config.stop_retry_ms = 120000;
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	desire(l, DESIRED_RUNNING); /* too late to take it back */
	stop_fails(l);
	forget(l);
	pass(l, 60000);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_INT(l->life.journal.operation.reason, ==, REASON_PERIODIC);
}

LIFE_TEST(a_savepoint_that_is_due_waits_for_a_stop_that_is_repeated)
{
	l->config.savepoints.interval_ms = 60000;
	l->config.stop_retry_ms = 120000;
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	stop_fails(l);
	forget(l);
	pass(l, 119000);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	pass(l, 1000);
	CHECK_INT(l->life.journal.operation.reason, ==, REASON_SUSPEND);
}
