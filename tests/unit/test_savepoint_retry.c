#include "life.h"

#define RETRY_MS 10000

static void begin(struct life *l, int64_t retries)
{
	l->config.savepoint_retries = retries;
	l->config.savepoint_retry_ms = RETRY_MS;
	run_proven(l);
	forget(l);
}

static void attempt_fails(struct life *l)
{
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	pass(l, 500);
	operation(l, STATUS_FAILED, NULL, "declined");
}

static void attempt_succeeds(struct life *l)
{
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	pass(l, 500);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
}

/* The pause, in which polls are answered. */
static void wait_for_retry(struct life *l)
{
	for (int i = 0; i < RETRY_MS / 500; i++) {
		pass(l, 500);
		viewed(l, job_in(JOB_RUNNING));
	}
}

static const struct savepoint_request *request(const struct life *l, const char *nonce)
{
	return journal_savepoint_request(&l->life.journal, nonce);
}

LIFE_TEST(one_failed_attempt_does_not_fail_the_request)
{
	begin(l, 2);
	ask_savepoint(l, "n1");
	attempt_fails(l);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK(!request(l, "n1")->answered);
	CHECK_INT(request(l, "n1")->failures, ==, 1);
	CHECK_STR(l->life.journal.savepoint_nonce_done, NULL);
	CHECK_INT(l->life.journal.last_operation.kind, ==, OPERATION_NONE);
	CHECK_STR(l->life.journal.last_error, NULL);
	CHECK_HAS(l->notes, "declined; retrying in 10 s");
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	pass(l, RETRY_MS - 1000);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	wait_for_retry(l);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 2);
	attempt_succeeds(l);
	CHECK(request(l, "n1")->answered && request(l, "n1")->ok);
	CHECK_STR(request(l, "n1")->location, SAVEPOINT_1);
	CHECK_STR(l->life.journal.savepoint_nonce_done, "n1");
}

TEST(the_number_of_attempts_is_bounded)
{
	for (int retries = 0; retries < 4; retries++) {
		struct life world, *l = &world;

		life_begin(l);
		begin(l, retries);
		ask_savepoint(l, "n1");
		for (int attempt = 1; attempt <= retries + 1; attempt++) {
			CHECK_INT(took(l, EFFECT_TRIGGER), ==, attempt);
			CHECK(!request(l, "n1")->answered);
			attempt_fails(l);
			wait_for_retry(l);
		}
		CHECK_INT(took(l, EFFECT_TRIGGER), ==, retries + 1);
		CHECK(request(l, "n1")->answered && !request(l, "n1")->ok);
		CHECK_STR(request(l, "n1")->error, "declined");
		CHECK_STR(l->life.journal.savepoint_nonce_done, "n1");
		CHECK_STR(l->life.journal.last_operation.nonce, "n1");
		CHECK(!l->life.journal.last_operation.ok);
		life_end(l);
	}
}

/* A person who asks again does not wait for the pause, and has attempts of his own. */
LIFE_TEST(each_request_counts_its_own_attempts)
{
	begin(l, 1);
	ask_savepoint(l, "n1");
	attempt_fails(l);
	ask_savepoint(l, "n2");
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 2);
	attempt_fails(l);
	CHECK(request(l, "n1")->answered && !request(l, "n1")->ok);
	CHECK(!request(l, "n2")->answered);
	wait_for_retry(l);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 3);
	attempt_succeeds(l);
	CHECK(request(l, "n2")->ok);
	CHECK(!request(l, "n1")->ok);
}

/* What waits for its next attempt is answered when there will be none. */
LIFE_TEST(a_job_that_is_cancelled_in_the_pause_answers_the_request)
{
	begin(l, 2);
	ask_savepoint(l, "n1");
	attempt_fails(l);
	desire(l, DESIRED_CANCELLED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	viewed(l, job_in(JOB_CANCELED));
	exited(l, EXITED(0));
	CHECK_PHASE(l, PHASE_CANCELLED);
	CHECK(request(l, "n1")->answered);
	CHECK_HAS(request(l, "n1")->error, "no job is running");
}

LIFE_TEST(other_operations_are_not_savepoints_to_retry)
{
	begin(l, 2);
	ask_restart(l, "r1");
	attempt_fails(l);
	CHECK(!l->life.journal.last_operation.ok);
	CHECK_INT(l->life.savepoint_retry_ms, ==, 0);
}
