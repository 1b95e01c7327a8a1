/* attempts.whenProven: a version that has run before, and does not come to run any more, is tried for ever, with longer pauses. */
#include "life.h"

/* g1 has run, and its Flink has ended. */
static void begin(struct life *l)
{
	life_begin(l);
	l->config.max_attempts = 5;
	l->config.same_failures = 2;
	l->config.attempts_for_ever = true;
	l->config.generation = l->config.policy.generation = "g1";
	run_proven(l);
	put_on_record(l);
	exited(l, KILLED(SIGKILL));
}

#define REPEATED_TEST(name) TEST_WITH(name, struct life, l, begin, life_end)

/* main() throws after some seconds. */
static void fails(struct life *l)
{
	await_observe(l);
	observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
	started(l);
	pass(l, 6000);
	exited(l, EXITED(1));
}

static void fails_often(struct life *l, int times)
{
	for (int i = 0; i < times; i++)
		fails(l);
}

REPEATED_TEST(it_is_never_given_up)
{
	int64_t before_ms = 0, pause_ms;

	fails_often(l, 3); /* the end of the one that ran was the first */
	CHECK_PHASE(l, PHASE_RESOLVING);
	CHECK_INT(l->life.cause, ==, CAUSE_NONE);
	for (int i = 4; i < 40; i++) {
		fails(l);
		CHECK_PHASE(l, PHASE_RESOLVING);
		CHECK_INT(l->life.cause, ==, CAUSE_ATTEMPTS_REPEATED);
		pause_ms = l->life.retry_ms - l->now_ms;
		CHECK(pause_ms >= before_ms && pause_ms <= 300000);
		before_ms = pause_ms;
	}
	CHECK_INT(before_ms, ==, 300000);
	CHECK_HAS(l->life.reason, "attempt 39 failed: ");
	CHECK_HAS(l->life.reason, "this version has run before, so drey tries again, in 300 s");
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_NONE);
}

/* A quarter of the time that it has lasted: after an outage of two minutes it comes back within half a minute. */
REPEATED_TEST(after_a_short_outage_it_does_not_wait_long)
{
	int64_t began_ms = l->now_ms;

	while (l->now_ms < began_ms + 120000)
		fails(l);
	CHECK(l->life.retry_ms - l->now_ms <= 40000);
	await_observe(l);
	observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
	started(l);
	viewed(l, job_restored(JOB_RUNNING, 1, CHK(1)));
	CHECK_PHASE(l, PHASE_RUNNING);
	prove(l, 2);
	/* and then it is like any that has run */
	exited(l, KILLED(SIGKILL));
	fails(l);
	CHECK_INT(l->life.cause, ==, CAUSE_NONE);
}

/* Its checkpoints would be those of nobody. */
REPEATED_TEST(the_launch_that_ran_stays_in_the_journal)
{
	const struct journal *journal = &l->life.journal;

	fails_often(l, 3 * JOURNAL_MAX_LAUNCHES);
	CHECK_INT(journal->launch_count, <=, JOURNAL_MAX_LAUNCHES + 1);
	CHECK_INT(journal->launches[0].number, ==, 1);
	CHECK(journal->launches[0].proven_unix_ms);
	CHECK_INT(l->life.cause, ==, CAUSE_ATTEMPTS_REPEATED);
}

REPEATED_TEST(a_new_version_is_given_up)
{
	restart_as(l, "g2");
	hello(l, NULL);
	fails_often(l, 5);
	CHECK_PHASE(l, PHASE_FAILED);
}

/* A record that it cannot process: it would fail again, and has done something. */
REPEATED_TEST(a_job_that_runs_and_fails_is_given_up)
{
	for (int i = 0; i < 5 && l->life.phase != PHASE_FAILED; i++) {
		await_observe(l);
		observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
		started(l);
		l->life.journal.launches[l->life.journal.launch_count - 1].verified_unix_ms = 1;
		exited(l, EXITED(1));
	}
	CHECK_PHASE(l, PHASE_FAILED);
}

REPEATED_TEST(by_configuration_it_is_given_up)
{
	l->config.attempts_for_ever = false;
	fails_often(l, 5);
	CHECK_PHASE(l, PHASE_FAILED);
}

/* It may be a new version. */
REPEATED_TEST(without_generations_it_is_given_up)
{
	l->config.generation = l->config.policy.generation = NULL;
	fails_often(l, 5);
	CHECK_PHASE(l, PHASE_FAILED);
}
