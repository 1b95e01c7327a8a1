/* attempts.sameFailure: a new version that fails alike, before Flink has restored anything, is not tried again and again. */
#include "life.h"

#define CAUSE_1 "main() threw: no such topic"
#define CAUSE_2 "main() threw: no broker"

/* g1 has run, and g2 follows. */
static void begin(struct life *l)
{
	life_begin(l);
	l->config.max_attempts = 5;
	l->config.same_failures = 2;
	l->config.generation = l->config.policy.generation = "g1";
	run_proven(l);
	put_on_record(l);
	restart_as(l, "g2");
	hello(l, NULL);
}

#define ALIKE_TEST(name) TEST_WITH(name, struct life, l, begin, life_end)

/* A launch, whose job fails like this. */
static void fails(struct life *l, const char *why)
{
	struct view view = job_in(JOB_FAILED);

	await_observe(l);
	observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
	started(l);
	view.failure = why;
	view.statistics_known = false;
	viewed(l, view);
	exited(l, 163 << 8);
}

ALIKE_TEST(a_new_version_that_fails_alike_is_given_up)
{
	fails(l, CAUSE_1);
	CHECK_PHASE(l, PHASE_RESOLVING);
	CHECK_INT(l->life.journal.failures_alike, ==, 1);
	fails(l, CAUSE_1);
	CHECK_PHASE(l, PHASE_FAILED);
	CHECK_STR(l->life.journal.outcome.reason,
		  "2 failed attempts, all of them alike: the job failed: " CAUSE_1);
	CHECK(journal_is_failed_generation(&l->life.journal, "g2"));
}

ALIKE_TEST(a_person_who_resumes_gives_it_as_many_again)
{
	struct intent intent = {.state = DESIRED_RUNNING};

	fails(l, CAUSE_1);
	fails(l, CAUSE_1);
	control(l, CONTROL_STATE | CONTROL_NEW_START, intent);
	fails(l, CAUSE_1);
	CHECK_PHASE(l, PHASE_RESOLVING);
	fails(l, CAUSE_1);
	CHECK_PHASE(l, PHASE_FAILED);
}

ALIKE_TEST(another_cause_is_another_failure)
{
	fails(l, CAUSE_1);
	fails(l, CAUSE_2);
	fails(l, CAUSE_1);
	CHECK_PHASE(l, PHASE_RESOLVING);
	CHECK_INT(l->life.journal.failures_alike, ==, 1);
	fails(l, CAUSE_1);
	CHECK_PHASE(l, PHASE_FAILED);
}

/* Three of them leave it to attempts.max. */
static void check_goes_on(struct life *l)
{
	for (int i = 0; i < 3; i++)
		fails(l, CAUSE_1);
	CHECK_PHASE(l, PHASE_RESOLVING);
	CHECK_INT(l->life.journal.failure_count, ==, 3);
}

ALIKE_TEST(it_can_be_switched_off)
{
	l->config.same_failures = 0;
	check_goes_on(l);
}

ALIKE_TEST(a_version_that_has_run_keeps_its_attempts)
{
	journal_launch(&l->life.journal)->generation[1] = '2';
	check_goes_on(l);
}

ALIKE_TEST(the_first_version_keeps_its_attempts)
{
	l->life.journal.ever_proven = false;
	check_goes_on(l);
}

/* A kill says nothing of the next attempt. */
ALIKE_TEST(a_process_that_ends_is_no_failure_of_the_job)
{
	for (int i = 0; i < 3; i++) {
		await_observe(l);
		observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
		started(l);
		exited(l, 9);
	}
	CHECK_PHASE(l, PHASE_RESOLVING);
	CHECK_INT(l->life.journal.failures_alike, ==, 0);
}

/* It was restored: its records may have been the cause. */
ALIKE_TEST(a_job_that_was_restored_has_not_failed_early)
{
	for (int i = 0; i < 3; i++) {
		struct view view = job_restored(JOB_FAILED, 1, CHK(1));

		await_observe(l);
		observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
		started(l);
		view.failure = CAUSE_1;
		viewed(l, view);
		exited(l, 163 << 8);
	}
	CHECK_PHASE(l, PHASE_RESOLVING);
	CHECK_INT(l->life.journal.failures_alike, ==, 0);
}
