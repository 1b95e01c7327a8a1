#include "life.h"

/* ---- savepoints ---- */

LIFE_TEST(a_savepoint_is_announced_triggered_read_and_recorded)
{
	const struct operation_result *result;

	run_proven(l);
	l->hold_writes = true;
	ask_savepoint(l, "n1");
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_SAVEPOINT);
	l->hold_writes = false;
	written(l);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_STR(l->last[EFFECT_TRIGGER].id, trigger_of(l));
	CHECK_STR(l->life.journal.operation.path, "file:/sp");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	pass(l, 500);
	CHECK_INT(took(l, EFFECT_POLL_OPERATION), ==, 1);
	operation(l, STATUS_IN_PROGRESS, NULL, NULL);
	pass(l, 500);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	CHECK_STR(l->inspected, SAVEPOINT_1);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1); /* by Flink's word alone */
	CHECK_INT(l->life.journal.snapshots[0].checkpoint_id, ==, 0);
	CHECK(!l->life.journal.snapshots[0].verified);
	inspected(l, true, true);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
	CHECK_STR(l->life.journal.snapshots[0].path, SAVEPOINT_1);
	CHECK_INT(l->life.journal.snapshots[0].checkpoint_id, ==, 50);
	CHECK_INT(l->life.journal.snapshots[0].origin, ==, ORIGIN_MANUAL);
	CHECK(l->life.journal.snapshots[0].verified);
	CHECK_STR(l->life.journal.snapshots[0].job_id, job_of(l));
	CHECK_STR(l->life.journal.savepoint_nonce_done, "n1");
	result = &l->life.journal.last_operation;
	CHECK(result->ok);
	CHECK_STR(result->nonce, "n1");
	CHECK_STR(result->location, SAVEPOINT_1);
	forget(l);
	ask_savepoint(l, "n1"); /* the same wish is not a new one */
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	ask_savepoint(l, "n2");
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK(strcmp(trigger_of(l), result->trigger_id) != 0);
}

static const char *answer_to(struct life *l, const char *nonce)
{
	const struct savepoint_request *request =
		journal_savepoint_request(&l->life.journal, nonce);

	if (!request)
		return "not asked";
	if (!request->answered)
		return *request->trigger_id ? "running" : "waiting";
	return request->ok ? request->location : request->error;
}

static void take(struct life *l, const char *location)
{
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	pass(l, 500);
	operation(l, location ? STATUS_COMPLETED : STATUS_FAILED, location, "declined");
	if (location)
		inspected(l, true, true);
}

/* Whoever asks while a savepoint is under way shares the next one with all others who do. */
LIFE_TEST(each_request_for_a_savepoint_gets_an_answer)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	ask_savepoint(l, "n2");
	ask_savepoint(l, "n2"); /* once more */
	ask_savepoint(l, "n3");
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_STR(answer_to(l, "n1"), "running");
	CHECK_STR(answer_to(l, "n2"), "waiting");
	CHECK_STR(answer_to(l, "n3"), "waiting");
	take(l, SAVEPOINT_1);
	CHECK_STR(answer_to(l, "n1"), SAVEPOINT_1);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 2);
	CHECK_STR(answer_to(l, "n2"), "running");
	CHECK_STR(answer_to(l, "n3"), "running");
	take(l, NULL);
	CHECK_STR(answer_to(l, "n2"), "declined");
	CHECK_STR(answer_to(l, "n3"), "declined");
	CHECK_STR(answer_to(l, "n1"), SAVEPOINT_1);
	forget(l);
	ask_savepoint(l, "n3"); /* answered, also by a failure */
	CHECK_NOTHING(l, EFFECT_TRIGGER);
}

/* The newest nonce is one that was answered, because a file was put back: the others wait all the same. */
LIFE_TEST(a_request_is_not_lost_to_an_older_nonce)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	ask_savepoint(l, "n2");
	ask_savepoint(l, "n1");
	take(l, SAVEPOINT_1);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 2);
	CHECK_STR(answer_to(l, "n2"), "running");
	/* no job any more, and none is going to be */
	ask_savepoint(l, "n4");
	control(l, CONTROL_STATE, (struct intent){.state = DESIRED_CANCELLED});
	CHECK_STR(answer_to(l, "n2"), "superseded by cancel");
	CHECK_STR(answer_to(l, "n4"), "waiting");
}

TEST(the_list_of_requests_is_bounded)
{
	struct operation_result result = {.ok = true, .trigger_id = "t"};
	struct journal journal;

	journal_init(&journal, "orders");
	for (int i = 0; i < JOURNAL_MAX_REQUESTS + 5; i++) {
		cleanup_free char *nonce = xasprintf("n%d", i);

		journal_ask_savepoint(&journal, nonce);
		if (i == 3) { /* those that were answered go first */
			journal_join_savepoint(&journal, "t");
			journal_answer_savepoint(&journal, &result);
		}
	}
	CHECK_INT(journal.savepoint_request_count, ==, JOURNAL_MAX_REQUESTS);
	CHECK(!journal_savepoint_request(&journal, "n3"));
	CHECK(!journal_savepoint_request(&journal, "n4")); /* the oldest of all */
	CHECK(journal_savepoint_request(&journal, "n5") != NULL);
	journal_release(&journal);
}

LIFE_TEST(a_trigger_waits_out_a_journal_that_cannot_be_written)
{
	run_proven(l);
	l->hold_writes = true;
	ask_savepoint(l, "n1");
	write_failed(l, false);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	pass(l, 1000);
	CHECK_INT(took(l, EFFECT_WRITE_JOURNAL), ==, 2);
	written(l);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
}

/* Flink reports COMPLETED, with a failure cause. */
LIFE_TEST(a_failed_savepoint_is_answered_and_not_recorded)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_FAILED, NULL, "Checkpoint expired");
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK(!l->life.journal.last_operation.ok);
	CHECK_STR(l->life.journal.last_operation.error, "Checkpoint expired");
	CHECK_STR(l->life.journal.savepoint_nonce_done, "n1");
	CHECK_INT(l->life.journal.snapshot_count, ==, 0);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	forget(l);
	pass(l, 3600000);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
}

LIFE_TEST(a_savepoint_that_is_not_complete_is_a_failure)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, false);
	CHECK(!l->life.journal.last_operation.ok);
	CHECK_HAS(l->life.journal.last_operation.error, "shared/1 is missing");
	CHECK(journal_launch(&l->life.journal)->left_state); /* there was state, all the same */
	CHECK_STR(l->life.journal.last_operation.location, SAVEPOINT_1);
	CHECK_INT(l->life.journal.snapshot_count, ==, 0);
}

LIFE_TEST(a_savepoint_that_cannot_be_looked_at_is_recorded_unverified)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, false, false);
	CHECK(l->life.journal.last_operation.ok);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
	CHECK(!l->life.journal.snapshots[0].verified);
	CHECK_INT(l->life.journal.snapshots[0].size_bytes, ==, -1);
}

LIFE_TEST(success_without_a_place_is_a_failure)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, NULL, NULL);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK(!l->life.journal.last_operation.ok);
}

/* S42: the answer to the POST is lost; the same id makes it safe to send again. */
LIFE_TEST(a_lost_answer_is_asked_for_with_the_same_id)
{
	char id[JOB_ID_BYTES];

	run_proven(l);
	ask_savepoint(l, "n1");
	memcpy(id, trigger_of(l), JOB_ID_BYTES);
	operation(l, STATUS_UNREACHABLE, NULL, NULL);
	for (int i = 0; i < 5; i++) {
		pass(l, 1000);
		CHECK_INT(took(l, EFFECT_TRIGGER), ==, 2 + i);
		CHECK_STR(l->last[EFFECT_TRIGGER].id, id);
		operation(l, STATUS_UNREACHABLE, NULL, NULL);
	}
	pass(l, 1000);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	pass(l, 1000);
	CHECK_STR(l->last[EFFECT_POLL_OPERATION].id, id);
	/* unreachable while polling: nothing is known, so it is asked again, not sent again */
	operation(l, STATUS_UNREACHABLE, NULL, NULL);
	forget(l);
	pass(l, 1000);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_INT(took(l, EFFECT_POLL_OPERATION), ==, 1);
}

LIFE_TEST(an_operation_that_flink_has_forgotten_is_not_sent_again)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	pass(l, 500);
	forget(l);
	operation(l, STATUS_UNKNOWN_ID, NULL, NULL);
	CHECK_HAS(l->life.journal.last_operation.error, "forgotten");
	pass(l, 600000);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_PHASE(l, PHASE_RUNNING);
}

LIFE_TEST(answers_with_another_id_are_ignored)
{
	struct event e = {.type = EVENT_OPERATION,
			  .operation = {.trigger_id = "00000000000000000000000000000000",
					.status = STATUS_COMPLETED,
					.location = SAVEPOINT_1}};
	struct event look = {
		.type = EVENT_INSPECTED,
		.inspected = {.path = "file:/sp/other", .readable = true, .complete = true}};

	run_proven(l);
	step(l, &e);
	ask_savepoint(l, "n1");
	step(l, &e);
	step(l, &look);
	e.operation.trigger_id = NULL;
	step(l, &e);
	CHECK_NOTHING(l, EFFECT_INSPECT);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	step(l, &look);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_SAVEPOINT);
	operation(l, STATUS_COMPLETED, "file:/sp/twice", NULL); /* the result is known already */
	inspected(l, true, true);
	CHECK(l->life.journal.last_operation.ok);
	inspected(l, true, true);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
}

LIFE_TEST(a_savepoint_that_is_not_found_once_stays_on_record)
{
	struct candidate c = {.snapshot = {.path = SAVEPOINT_1, .size_bytes = -1, .file_count = -1},
			      .integrity = INTEGRITY_INCOMPLETE,
			      .detail = "no _metadata"};
	struct event e;

	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspection_says(&c, false, &e);
	CHECK(!e.inspected.readable);
	step(l, &e);
	CHECK(journal_snapshot(&l->life.journal, SAVEPOINT_1) != NULL);
	CHECK(!journal_snapshot(&l->life.journal, SAVEPOINT_1)->verified);
	/* a checkpoint may be deleted while it is reviewed: Flink is asked */
	inspection_says(&c, true, &e);
	CHECK(e.inspected.readable && !e.inspected.complete);
	c.integrity = INTEGRITY_DAMAGED;
	inspection_says(&c, false, &e);
	CHECK(e.inspected.readable && !e.inspected.complete);
}

LIFE_TEST(a_savepoint_ends_with_flink)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	exited(l, KILLED(SIGKILL));
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	observed_settled(l, DECISION_START_EMPTY, SETTLEMENT_FAILED, NULL);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
	CHECK(!l->life.journal.last_operation.ok);
	CHECK_STR(l->life.journal.savepoint_nonce_done, "n1");
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
}

/* It has failed, but its savepoint is complete, and no end of the job. */
LIFE_TEST(a_stop_whose_savepoint_the_job_has_passed_has_failed_with_it)
{
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	exited(l, KILLED(SIGKILL));
	observed_settled(l, DECISION_PARK, SETTLEMENT_PASSED, SAVEPOINT_1);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
	CHECK(!l->life.journal.last_operation.ok);
	CHECK_STR(l->life.journal.last_operation.location, SAVEPOINT_1);
	CHECK_HAS(l->life.journal.last_operation.error, "it was not stopped");
	CHECK(journal_snapshot(&l->life.journal, SAVEPOINT_1));
	CHECK(!journal_launch_const(&l->life.journal)->job_ended);
}

LIFE_TEST(a_savepoint_of_a_job_that_does_not_run_is_refused)
{
	l->life.journal.intent.state = DESIRED_SUSPENDED;
	hello(l, NULL);
	CHECK_PHASE(l, PHASE_SUSPENDED);
	ask_savepoint(l, "n1");
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK(!l->life.journal.last_operation.ok);
	CHECK_HAS(l->life.journal.last_operation.error, "no job is running");
	CHECK_STR(l->life.journal.last_operation.nonce, "n1");
	CHECK_STR(l->life.journal.savepoint_nonce_done, "n1");
}

LIFE_TEST(a_savepoint_asked_for_during_a_launch_waits_for_the_job)
{
	launch_empty(l);
	ask_savepoint(l, "n1");
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
}

/* ---- periodic savepoints ---- */

static void run_periodic(struct life *l)
{
	life_begin(l);
	l->config.savepoints.interval_ms = 600000;
	run_proven(l);
}

static void take_savepoint(struct life *l)
{
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
}

LIFE_TEST_FROM(run_periodic, savepoints_are_taken_once_an_interval)
{
	for (int i = 0; i < 4; i++) {
		forget(l);
		pass(l, 599000);
		CHECK_NOTHING(l, EFFECT_TRIGGER);
		pass(l, 1000);
		CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
		CHECK_INT(l->life.journal.operation.reason, ==, REASON_PERIODIC);
		take_savepoint(l);
		CHECK_INT(l->life.journal.snapshots[0].origin, ==, ORIGIN_PERIODIC);
	}
}

/* S38 */
LIFE_TEST_FROM(run_periodic, a_slow_savepoint_is_not_triggered_again)
{
	pass(l, 600000);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	for (int i = 0; i < 2000; i++) {
		pass(l, 1000);
		operation(l, STATUS_IN_PROGRESS, NULL, NULL);
	}
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_INT(took(l, EFFECT_POLL_OPERATION), >, 1000);
}

LIFE_TEST_FROM(run_periodic, a_failed_periodic_savepoint_is_tried_again_sooner)
{
	pass(l, 600000);
	take_savepoint(l);
	pass(l, 600000);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_FAILED, NULL, "declined");
	forget(l);
	pass(l, 60999);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	pass(l, 1);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
}

LIFE_TEST_FROM(run_periodic, the_schedule_survives_the_agent)
{
	char job[JOB_ID_BYTES];

	pass(l, 600000);
	take_savepoint(l);
	snprintf(job, sizeof(job), "%s", job_of(l));
	pass(l, 400000);
	restart_agent(l);
	hello(l, job);
	viewed(l, job_in(JOB_RUNNING));
	pass(l, 199000);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	pass(l, 1000);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	/* overdue by hours: one, soon */
	take_savepoint(l);
	l->wall_ms += 36000000;
	restart_agent(l);
	hello(l, job);
	viewed(l, job_in(JOB_RUNNING));
	pass(l, 1000);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	take_savepoint(l);
	forget(l);
	pass(l, 599000);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
}

LIFE_TEST_FROM(run_periodic, a_clock_that_jumps_back_delays_by_one_interval_at_most)
{
	char job[JOB_ID_BYTES];

	pass(l, 600000);
	take_savepoint(l);
	snprintf(job, sizeof(job), "%s", job_of(l));
	l->wall_ms -= 360000000;
	restart_agent(l);
	hello(l, job);
	viewed(l, job_in(JOB_RUNNING));
	pass(l, 600000);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
}

LIFE_TEST_FROM(run_periodic, no_periodic_savepoint_while_the_job_restarts)
{
	viewed(l, job_in(JOB_RESTARTING));
	pass(l, 3600000);
	viewed(l, job_in(JOB_RESTARTING));
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
}

/* ---- suspend and resume ---- */

LIFE_TEST(a_suspend_stops_with_a_savepoint_and_parks)
{
	run_proven(l);
	l->config.drain_on_stop = true;
	desire(l, DESIRED_SUSPENDED);
	CHECK_PHASE(l, PHASE_STOPPING);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
	CHECK(l->life.journal.operation.drain);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	/* finished before the result was read: Flink has to live until it is */
	viewed(l, job_in(JOB_FINISHED));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	l->hold_writes = false;
	viewed(l, job_in(JOB_FINISHED));
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_NONE);
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_SUSPENDED);
	CHECK(l->life.journal.last_operation.ok);
	CHECK_INT(l->life.journal.snapshots[0].origin, ==, ORIGIN_STOP);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
	pass(l, 3600000);
	CHECK_NOTHING(l, EFFECT_OBSERVE);

	desire(l, DESIRED_RUNNING);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
}

static void is_lost_after_10_min(struct life *l)
{
	pass(l, 590000);
	operation(l, STATUS_IN_PROGRESS, NULL, NULL);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
	pass(l, 10000);
	operation(l, STATUS_IN_PROGRESS, NULL, NULL);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
}

/* A Flink 1.x that was cut off from the API server for 30 s recovers its job, and never reports how the stop of the job
 * before has ended. */
LIFE_TEST(a_stop_is_lost_with_the_leadership_of_flink)
{
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START));
	pass(l, 60000);
	operation(l, STATUS_IN_PROGRESS, NULL, NULL);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
	shown_after(l, 100, (struct view){.reachable = true});
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START + 60000));
	l->wall_ms -= 360000000;
	pass(l, 9000); /* it may be reported late */
	operation(l, STATUS_IN_PROGRESS, NULL, NULL);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
	pass(l, 1000);
	operation(l, STATUS_IN_PROGRESS, NULL, NULL);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
	CHECK(!l->life.journal.last_operation.ok);
	CHECK_STR(l->life.journal.last_operation.error,
		  "Flink has lost its leadership and recovered the job");
	/* it is still wanted, and that one is not lost */
	pass(l, 3600000);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START + 60000));
	CHECK_INT(took(l, EFFECT_TRIGGER), >=, 2);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	pass(l, 60000);
	operation(l, STATUS_IN_PROGRESS, NULL, NULL);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
}

/* Whether the recovered job has it is not known. */
LIFE_TEST(a_stop_that_was_lost_without_an_agent_is_lost)
{
	char job[JOB_ID_BYTES];

	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START));
	snprintf(job, sizeof(job), "%s", job_of(l));
	restart_agent(l);
	hello(l, job);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START - 60000));
	operation(l, STATUS_IN_PROGRESS, NULL, NULL);
	is_lost_after_10_min(l);
}

/* What was last seen of the job was older than its recovery. */
LIFE_TEST(a_stop_that_the_recovered_job_has_is_not_lost)
{
	run_proven(l);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START - 60000));
	l->now_ms += 100;
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START - 1000));
	pass(l, 60000);
	operation(l, STATUS_IN_PROGRESS, NULL, NULL);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
}

/* It could not be recorded, and was not sent, before Flink had recovered the job. */
LIFE_TEST(a_stop_that_was_decided_before_the_recovery_is_not_lost)
{
	run_proven(l);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START - 60000));
	l->hold_writes = true;
	desire(l, DESIRED_SUSPENDED);
	write_failed(l, false);
	pass(l, 20000);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START + l->now_ms - 5000));
	l->hold_writes = false;
	written(l);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	pass(l, 600000);
	operation(l, STATUS_IN_PROGRESS, NULL, NULL); /* its answer was lost */
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
}

/* No poll has shown the job between Flink's answer and the recovery. */
LIFE_TEST(a_stop_is_lost_although_its_job_was_not_seen_again)
{
	run_proven(l);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START - 60000));
	l->now_ms += 100;
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	pass(l, 30000);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START + l->now_ms - 5000));
	operation(l, STATUS_IN_PROGRESS, NULL, NULL);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
	pass(l, 10000);
	operation(l, STATUS_IN_PROGRESS, NULL, NULL);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
}

/* Flink's answer to the first was lost, and the job was recovered before it answered the next: which job has the stop? */
LIFE_TEST(a_stop_that_was_sent_before_the_recovery_is_lost_in_the_end)
{
	run_proven(l);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START));
	desire(l, DESIRED_SUSPENDED);
	l->now_ms += 20000;
	operation(l, STATUS_UNREACHABLE, NULL, NULL);
	pass(l, 20000);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START + l->now_ms - 5000));
	l->wall_ms -= 3600000;
	is_lost_after_10_min(l);
}

/* The agent that has sent it was no more when Flink answered. */
LIFE_TEST(a_stop_is_lost_although_no_agent_has_seen_that_it_was_accepted)
{
	char job[JOB_ID_BYTES];

	run_proven(l);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START));
	desire(l, DESIRED_SUSPENDED);
	snprintf(job, sizeof(job), "%s", job_of(l));
	restart_agent(l);
	hello(l, job);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START + 60000));
	pass(l, 600000);
	operation(l, STATUS_IN_PROGRESS, NULL, NULL);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
}

LIFE_TEST(flink_ends_only_after_the_stop_is_on_record)
{
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	l->hold_writes = true;
	inspected(l, true, true);
	written(l);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	write_failed(l, false);
	pass(l, 5000);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	written(l);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
}

LIFE_TEST(a_failed_stop_leaves_the_job_running_and_is_tried_again)
{
	char first[JOB_ID_BYTES];

	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	memcpy(first, trigger_of(l), JOB_ID_BYTES);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_FAILED, NULL, "not all tasks are running");
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_HAS(l->life.reason, "not all tasks are running");
	CHECK_STR(cause_name(l->life.cause), "StopFailed");
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	forget(l);
	pass(l, 29999);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	pass(l, 1);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK(strcmp(first, trigger_of(l)) != 0);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_FAILED, NULL, "again");
	forget(l);
	desire(l, DESIRED_SUSPENDED); /* a person does not wait */
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_FAILED, NULL, "again");
	forget(l);
	CHECK_INT(l->life.cause, ==, CAUSE_STOP_FAILED);
	desire(l, DESIRED_RUNNING);
	CHECK_INT(l->life.cause, ==, CAUSE_NONE);
	CHECK_HAS(l->life.reason, "no stop is requested any more");
	pass(l, 3600000);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_PHASE(l, PHASE_RUNNING);
}

/* S27: Flink fails the job then; the savepoint is what counts. */
LIFE_TEST(a_savepoint_that_survives_a_failed_stop_is_used)
{
	struct view view = job_in(JOB_FAILED);

	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_FAILED, SAVEPOINT_1, "the savepoint was taken, the job failed");
	CHECK_STR(l->inspected, SAVEPOINT_1);
	inspected(l, true, true);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
	viewed(l, view);
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_SUSPENDED);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
	CHECK_STR(l->life.journal.last_operation.location, SAVEPOINT_1);
}

TEST(a_stop_whose_savepoint_is_damaged_is_not_called_a_success)
{
	struct life l;

	for (int seen = 0; seen < 2; seen++) {
		life_begin(&l);
		run_proven(&l);
		desire(&l, DESIRED_SUSPENDED);
		operation(&l, STATUS_ACCEPTED, NULL, NULL);
		operation(&l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
		inspected(&l, true, false);
		CHECK_INT(l.life.journal.snapshot_count, ==, 0);
		if (seen)
			viewed(&l, job_in(JOB_FINISHED));
		exited(&l, EXITED(143));
		CHECK_PHASE(&l, PHASE_SUSPENDED);
		CHECK(!l.life.journal.last_operation.ok);
		CHECK_HAS(l.life.journal.last_operation.error, "shared/1 is missing");
		CHECK_STR(l.life.journal.last_operation.location, SAVEPOINT_1);
		life_end(&l);
	}
}

LIFE_TEST(a_job_that_goes_on_after_its_stop_savepoint_is_a_failed_stop)
{
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	for (int i = 0; i < 70; i++) {
		pass(l, 1000);
		if (l->life.phase == PHASE_STOPPING)
			viewed(l, job_in(JOB_RUNNING));
	}
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK(!l->life.journal.last_operation.ok);
	CHECK_STR(l->life.journal.last_operation.location, SAVEPOINT_1);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
}

/* S35, S26: Flink has gone before the result could be read. */
LIFE_TEST(a_stop_whose_result_was_lost_looks_in_storage)
{
	run_proven(l);
	ask_restart(l, "r1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	exited(l, EXITED(0));
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_NONE);
	CHECK_PHASE(l, PHASE_RESOLVING);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
}

LIFE_TEST(a_restart_waits_until_do_not_restart_is_lifted)
{
	run_proven(l);
	do_not_restart(l, true);
	ask_restart(l, "r1");
	pass(l, 600000);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
	ask_savepoint(l, "n1");
	CHECK_INT(l->life.journal.operation.reason, ==, REASON_MANUAL);
	take_savepoint(l);
	do_not_restart(l, false);
	CHECK_INT(l->life.journal.operation.reason, ==, REASON_RESTART);
}

LIFE_TEST(a_restart_stops_with_a_savepoint_and_starts_again_once)
{
	run_proven(l);
	ask_restart(l, "r1");
	CHECK_INT(l->life.journal.operation.reason, ==, REASON_RESTART);
	take_savepoint(l);
	viewed(l, job_in(JOB_FINISHED));
	exited(l, EXITED(143));
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	started(l);
	forget(l);
	viewed(l, job_restored(JOB_RUNNING, 50, SAVEPOINT_1));
	CHECK_PHASE(l, PHASE_RUNNING);
	pass(l, 3600000);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_STR(l->life.journal.restart_nonce_done, "r1");
}

/* S39 */
LIFE_TEST_FROM(run_periodic, a_suspend_waits_for_the_savepoint_that_is_on_its_way)
{
	pass(l, 600000);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	forget(l);
	desire(l, DESIRED_SUSPENDED);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_SAVEPOINT);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
}

/* ---- cancel ---- */

LIFE_TEST(a_cancel_takes_no_savepoint_and_parks)
{
	run_proven(l);
	desire(l, DESIRED_CANCELLED);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_CANCEL);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	viewed(l, job_in(JOB_CANCELLING));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	viewed(l, job_in(JOB_CANCELED));
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_CANCELLED);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_NONE);
	pass(l, 3600000);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
}

TEST(a_cancel_overtakes_a_savepoint_and_a_stop)
{
	struct life l;

	for (int stop = 0; stop < 2; stop++) {
		life_begin(&l);
		run_proven(&l);
		if (stop)
			desire(&l, DESIRED_SUSPENDED);
		else
			ask_savepoint(&l, "n1");
		operation(&l, STATUS_ACCEPTED, NULL, NULL);
		forget(&l);
		desire(&l, DESIRED_CANCELLED);
		CHECK_INT(l.life.journal.operation.kind, ==, OPERATION_CANCEL);
		CHECK_INT(took(&l, EFFECT_TRIGGER), ==, 1);
		CHECK_HAS(l.life.journal.last_operation.error, "superseded");
		operation(&l, STATUS_ACCEPTED, NULL, NULL);
		viewed(&l, job_in(JOB_CANCELED));
		exited(&l, EXITED(143));
		CHECK_PHASE(&l, PHASE_CANCELLED);
		life_end(&l);
	}
}

/* Flink has said that the job has stopped: it cleans up, and is not killed. */
LIFE_TEST(a_cancel_waits_for_the_end_of_a_job_that_has_stopped)
{
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	forget(l);
	desire(l, DESIRED_CANCELLED);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	viewed(l, job_in(JOB_FINISHED));
	CHECK(l->life.journal.last_operation.ok);
	exited(l, EXITED(0));
	CHECK_PHASE(l, PHASE_CANCELLED);
}

LIFE_TEST(a_cancel_during_the_launch_does_not_wait_for_it)
{
	launch_empty(l);
	desire(l, DESIRED_CANCELLED);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_CANCEL);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	viewed(l, job_in(JOB_CANCELED));
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_CANCELLED);
}

/* S41: a job that ignores cancel. */
LIFE_TEST(a_cancel_that_is_not_obeyed_ends_flink)
{
	run_proven(l);
	desire(l, DESIRED_CANCELLED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	for (int i = 0; i < 60; i++) {
		pass(l, 1000);
		viewed(l, job_in(JOB_CANCELLING));
	}
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	pass(l, 20000);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	exited(l, KILLED(SIGKILL));
	CHECK_PHASE(l, PHASE_CANCELLED);
}

LIFE_TEST(a_cancel_of_a_silent_flink_ends_it)
{
	run_proven(l);
	desire(l, DESIRED_CANCELLED);
	for (int i = 0; i < 61; i++) {
		operation(l, STATUS_UNREACHABLE, NULL, NULL);
		pass(l, 1000);
	}
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
}

TEST(a_job_that_ends_while_it_is_cancelled_counts_as_cancelled)
{
	static const enum job_state ends[] = {JOB_FINISHED, JOB_FAILED, JOB_CANCELED};
	struct life l;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		life_begin(&l);
		run_proven(&l);
		desire(&l, DESIRED_CANCELLED);
		operation(&l, STATUS_ACCEPTED, NULL, NULL);
		viewed(&l, job_in(ends[i]));
		exited(&l, EXITED(143));
		CHECK_PHASE(&l, PHASE_CANCELLED);
		CHECK_INT(l.life.journal.failure_count, ==, 0);
		life_end(&l);
	}
}

/* ---- the job ends by itself, meanwhile ---- */

LIFE_TEST(a_job_that_finishes_during_a_savepoint_is_finished)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_FINISHED);
	operation(l, STATUS_FAILED, NULL, "the job is gone");
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_FINISHED);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
	CHECK_STR(l->life.journal.savepoint_nonce_done, "n1");
}

LIFE_TEST(a_job_that_fails_during_a_failed_stop_is_started_again_or_parked)
{
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	viewed(l, job_in(JOB_FAILED));
	operation(l, STATUS_FAILED, NULL, "the job failed");
	CHECK_PHASE(l, PHASE_RUNNING);
	viewed(l, job_in(JOB_FAILED));
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_SUSPENDED);
	desire(l, DESIRED_RUNNING);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
}
