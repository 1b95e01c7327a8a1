/* A checkpoint now: on request, and the periodic full one. */
#include "life.h"

static void ask_checkpoint(struct life *l, const char *nonce, bool full)
{
	struct event e = {.type = EVENT_CONTROL, .control.fields = CONTROL_CHECKPOINT};

	e.control.checkpoint_nonce = nonce;
	e.control.checkpoint_full = full;
	step(l, &e);
}

static void checkpoint_says(struct life *l, enum operation_status status, int64_t id,
			    const char *location)
{
	char trigger_id[JOB_ID_BYTES];
	struct event e = {
		.type = EVENT_CHECKPOINT,
		.checkpoint = {.trigger_id = trigger_id, .status = status, .checkpoint_id = id}};

	memcpy(trigger_id, l->life.checkpoint.id, JOB_ID_BYTES);
	e.checkpoint.location = location;
	e.checkpoint.error = status == STATUS_FAILED ? "declined" : NULL;
	step(l, &e);
}

static const struct checkpoint_request *asked(const struct life *l, size_t index)
{
	return &l->life.journal.checkpoint_requests[index];
}

static void view_while_it_runs(struct life *l)
{
	struct view view = job_in(JOB_RUNNING);

	view.completed_id = 1;
	view.completed_path = CHK(1);
	viewed(l, view);
}

static void in_flight(struct life *l)
{
	run_proven(l);
	ask_checkpoint(l, "n1", false);
	checkpoint_says(l, STATUS_ACCEPTED, 0, NULL);
}

LIFE_TEST(a_checkpoint_is_taken_and_its_request_answered)
{
	run_proven(l);
	l->hold_writes = true;
	ask_checkpoint(l, "n1", false);
	CHECK_NOTHING(l, EFFECT_TRIGGER_CHECKPOINT); /* the journal first */
	l->hold_writes = false;
	written(l);
	CHECK_INT(took(l, EFFECT_TRIGGER_CHECKPOINT), ==, 1);
	CHECK_HAS(buf_str(&l->durable_text), l->life.journal.checkpoint.trigger_id);
	CHECK_PHASE(l, PHASE_RUNNING);
	checkpoint_says(l, STATUS_ACCEPTED, 0, NULL);
	pass(l, 500);
	CHECK_INT(took(l, EFFECT_POLL_CHECKPOINT), ==, 1);
	checkpoint_says(l, STATUS_IN_PROGRESS, 0, NULL);
	pass(l, 500);
	checkpoint_says(l, STATUS_COMPLETED, 2, CHK(2));
	CHECK(asked(l, 0)->answered && asked(l, 0)->ok && !asked(l, 0)->full);
	CHECK_STR(asked(l, 0)->location, CHK(2));
	CHECK_INT(asked(l, 0)->checkpoint_id, ==, 2);
	CHECK_STR(l->life.journal.checkpoint.trigger_id, "");
	CHECK_INT(l->life.journal.full_checkpoint_unix_ms, ==, 0);
	CHECK_INT(l->last[EFFECT_TELL].notice.kind, ==, OPERATION_CHECKPOINT);
	CHECK_INT(l->last[EFFECT_TELL].notice.checkpoint_id, ==, 2);
	CHECK_INT(l->life.journal.last_operation.kind, ==, OPERATION_NONE);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_NOTHING(l, EFFECT_INSPECT);
}

LIFE_TEST(the_path_is_awaited_but_not_forever)
{
	in_flight(l);
	checkpoint_says(l, STATUS_COMPLETED, 2, NULL);
	CHECK(!asked(l, 0)->answered);
	pass(l, 1000);
	checkpoint_says(l, STATUS_COMPLETED, 2, CHK(2));
	CHECK_STR(asked(l, 0)->location, CHK(2));
	ask_checkpoint(l, "n2", false);
	for (int i = 0; i < 12; i++) {
		checkpoint_says(l, STATUS_COMPLETED, 3, NULL);
		pass(l, 1000);
	}
	CHECK(asked(l, 1)->answered && asked(l, 1)->ok);
	CHECK_STR(asked(l, 1)->location, NULL);
}

LIFE_TEST(those_who_wait_share_the_next_one_of_their_kind)
{
	in_flight(l);
	ask_checkpoint(l, "n2", true);
	ask_checkpoint(l, "n3", false);
	ask_checkpoint(l, "n4", true);
	ask_checkpoint(l, "n2", true); /* again: nothing happens */
	CHECK_INT(l->life.journal.checkpoint_request_count, ==, 4);
	CHECK_INT(took(l, EFFECT_TRIGGER_CHECKPOINT), ==, 1);
	checkpoint_says(l, STATUS_COMPLETED, 2, CHK(2));
	CHECK(asked(l, 0)->answered && !asked(l, 1)->answered);
	CHECK_INT(took(l, EFFECT_TRIGGER_CHECKPOINT), ==, 2);
	CHECK(l->life.journal.checkpoint.full);
	checkpoint_says(l, STATUS_COMPLETED, 3, CHK(3));
	CHECK(asked(l, 1)->answered && asked(l, 3)->answered && !asked(l, 2)->answered);
	CHECK_INT(l->life.journal.full_checkpoint_unix_ms, ==, UNIX_START + l->now_ms);
	CHECK(!l->life.journal.checkpoint.full);
	checkpoint_says(l, STATUS_FAILED, 0, NULL);
	CHECK(asked(l, 2)->answered && !asked(l, 2)->ok);
	CHECK_STR(asked(l, 2)->error, "declined");
}

LIFE_TEST(a_checkpoint_is_lost_with_the_leadership_of_flink)
{
	struct view view = job_in(JOB_RUNNING);

	run_proven(l);
	ask_checkpoint(l, "n1", false);
	checkpoint_says(l, STATUS_ACCEPTED, 0, NULL);
	view.job_unix_ms = UNIX_START;
	shown_after(l, 100, view);
	view.job_unix_ms = UNIX_START + 60000;
	shown_after(l, 100, view);
	checkpoint_says(l, STATUS_IN_PROGRESS, 0, NULL);
	CHECK(!asked(l, 0)->answered);
	pass(l, 10000);
	checkpoint_says(l, STATUS_IN_PROGRESS, 0, NULL);
	CHECK_STR(asked(l, 0)->error, "Flink has lost its leadership and recovered the job");
}

/* A POST without an answer may have been accepted: the result is queried before it is repeated. */
LIFE_TEST(a_lost_answer_asks_for_no_second_checkpoint)
{
	run_proven(l);
	ask_checkpoint(l, "n1", false);
	checkpoint_says(l, STATUS_UNREACHABLE, 0, NULL);
	pass(l, 1000);
	CHECK_INT(took(l, EFFECT_TRIGGER_CHECKPOINT), ==, 1);
	CHECK_INT(took(l, EFFECT_POLL_CHECKPOINT), ==, 1);
	checkpoint_says(l, STATUS_UNKNOWN_ID, 0, NULL);
	pass(l, 1000);
	CHECK_INT(took(l, EFFECT_TRIGGER_CHECKPOINT), ==, 2);
	CHECK_STR(l->last[EFFECT_TRIGGER_CHECKPOINT].id, l->life.journal.checkpoint.trigger_id);
	checkpoint_says(l, STATUS_ACCEPTED, 0, NULL);
	pass(l, 500);
	checkpoint_says(l, STATUS_UNKNOWN_ID, 0, NULL);
	CHECK_STR(asked(l, 0)->error, "Flink has forgotten the checkpoint");
}

LIFE_TEST(a_flink_that_does_not_accept_it_keeps_no_savepoint_waiting)
{
	run_proven(l);
	ask_checkpoint(l, "n1", false);
	ask_savepoint(l, "s1");
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	for (int i = 0; i < 61; i++) {
		checkpoint_says(l, STATUS_UNREACHABLE, 0, NULL);
		view_while_it_runs(l);
		pass(l, 1000);
	}
	CHECK_STR(asked(l, 0)->error, "Flink did not accept it within 60 s");
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
}

LIFE_TEST(a_savepoint_waits_for_it_and_a_due_one_does_not_spin)
{
	l->config.savepoints.interval_ms = 60000;
	in_flight(l);
	for (int i = 0; i < 120; i++) {
		pass(l, 1000);
		checkpoint_says(l, STATUS_IN_PROGRESS, 0, NULL);
		view_while_it_runs(l);
	}
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	checkpoint_says(l, STATUS_COMPLETED, 2, CHK(2));
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
}

/* It is lost without harm. */
LIFE_TEST(a_stop_does_not_wait_for_it)
{
	char trigger_id[JOB_ID_BYTES];

	in_flight(l);
	memcpy(trigger_id, l->life.checkpoint.id, JOB_ID_BYTES);
	desire(l, DESIRED_SUSPENDED);
	CHECK_PHASE(l, PHASE_STOPPING);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_STR(asked(l, 0)->error, "superseded by a stop of the job");
	/* Flink does not end as long as nobody has read the result */
	forget(l);
	pass(l, 1000);
	CHECK_INT(took(l, EFFECT_POLL_CHECKPOINT), ==, 1);
	CHECK_STR(l->last[EFFECT_POLL_CHECKPOINT].id, trigger_id);
	checkpoint_says(l, STATUS_IN_PROGRESS, 0, NULL);
	pass(l, 1000);
	CHECK_INT(took(l, EFFECT_POLL_CHECKPOINT), ==, 2);
	checkpoint_says(l, STATUS_FAILED, 0, NULL);
	pass(l, 5000);
	CHECK_INT(took(l, EFFECT_POLL_CHECKPOINT), ==, 2);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	viewed(l, job_in(JOB_FINISHED));
	exited(l, EXITED(0));
	CHECK_PHASE(l, PHASE_SUSPENDED);
}

LIFE_TEST(one_that_was_not_sent_is_withdrawn_for_a_stop)
{
	run_proven(l);
	l->hold_writes = true;
	ask_checkpoint(l, "n1", false);
	desire(l, DESIRED_CANCELLED);
	l->hold_writes = false;
	written(l);
	CHECK_NOTHING(l, EFFECT_TRIGGER_CHECKPOINT);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_INT(l->life.checkpoint.step, ==, STEP_NONE);
}

LIFE_TEST(the_end_of_the_container_does_not_wait_for_it)
{
	in_flight(l);
	stopping(l, 60000);
	CHECK_PHASE(l, PHASE_TERMINATING);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_STR(asked(l, 0)->error, "the container ends");
}

/* What it has made is found by listing, as any other checkpoint: nothing is to be settled. */
LIFE_TEST(flink_ends_during_it_and_the_next_start_waits_for_nothing)
{
	in_flight(l);
	exited(l, KILLED(9));
	CHECK_STR(asked(l, 0)->error, "Flink exited before it was complete");
	CHECK_INT(l->life.operation.step, ==, STEP_NONE);
	CHECK_PHASE(l, PHASE_RESOLVING);
	observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
}

LIFE_TEST(the_next_agent_asks_for_the_result)
{
	char job_id[JOB_ID_BYTES];

	in_flight(l);
	snprintf(job_id, JOB_ID_BYTES, "%s", job_of(l));
	put_on_record(l);
	restart_agent(l);
	hello(l, job_id);
	pass(l, 0);
	CHECK_INT(took(l, EFFECT_POLL_CHECKPOINT), ==, 1);
	CHECK_NOTHING(l, EFFECT_TRIGGER_CHECKPOINT);
	checkpoint_says(l, STATUS_COMPLETED, 2, CHK(2));
	CHECK_STR(asked(l, 0)->location, CHK(2));
	put_on_record(l);
	CHECK(!strstr(buf_str(&l->durable_text), "\"checkpoint\":"));
}

/* An older drey keeps this member of the journal, and launches another job. */
LIFE_TEST(one_of_another_job_is_not_continued)
{
	char job_id[JOB_ID_BYTES];

	in_flight(l);
	snprintf(job_id, JOB_ID_BYTES, "%s", job_of(l));
	l->life.journal.checkpoint.job_id[0] ^= 1;
	put_on_record(l);
	restart_agent(l);
	hello(l, job_id);
	CHECK(asked(l, 0)->answered && !asked(l, 0)->ok);
	CHECK_INT(l->life.checkpoint.step, ==, STEP_NONE);
	viewed(l, job_in(JOB_RUNNING));
	ask_checkpoint(l, "n2", false);
	CHECK_INT(took(l, EFFECT_TRIGGER_CHECKPOINT), ==, 1);
}

LIFE_TEST(without_a_job_the_request_is_refused)
{
	run_proven(l);
	desire(l, DESIRED_CANCELLED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	viewed(l, job_in(JOB_CANCELED));
	exited(l, EXITED(0));
	ask_checkpoint(l, "n1", false);
	CHECK_STR(asked(l, 0)->error,
		  "no job is running (Cancelled), so no checkpoint can be taken");
}

LIFE_TEST(full_ones_are_taken_periodically)
{
	l->config.full_checkpoint_ms = 600000;
	run_proven(l);
	for (int i = 0; i < 599; i++) {
		pass(l, 1000);
		view_while_it_runs(l);
	}
	CHECK_NOTHING(l, EFFECT_TRIGGER_CHECKPOINT);
	pass(l, 2000);
	CHECK_INT(took(l, EFFECT_TRIGGER_CHECKPOINT), ==, 1);
	CHECK(l->life.journal.checkpoint.full);
	CHECK_INT(l->life.journal.checkpoint.reason, ==, REASON_PERIODIC);
	checkpoint_says(l, STATUS_FAILED, 0, NULL);
	forget(l);
	for (int i = 0; i < 62; i++) { /* a tenth of the interval */
		pass(l, 1000);
		view_while_it_runs(l);
	}
	CHECK_INT(took(l, EFFECT_TRIGGER_CHECKPOINT), ==, 1);
	checkpoint_says(l, STATUS_COMPLETED, 5, CHK(5));
	forget(l);
	/* a requested one counts */
	for (int i = 0; i < 300; i++) {
		pass(l, 1000);
		view_while_it_runs(l);
	}
	ask_checkpoint(l, "n1", true);
	checkpoint_says(l, STATUS_COMPLETED, 6, CHK(6));
	for (int i = 0; i < 599; i++) {
		pass(l, 1000);
		view_while_it_runs(l);
	}
	CHECK_INT(took(l, EFFECT_TRIGGER_CHECKPOINT), ==, 1);
	pass(l, 2000);
	CHECK_INT(took(l, EFFECT_TRIGGER_CHECKPOINT), ==, 2);
}
