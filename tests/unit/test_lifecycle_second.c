/* A second job in our Flink: it may be an older copy of ours, so the whole Flink ends. */
#include <signal.h>

#include "life.h"

#define OTHER "0123456789abcdef0123456789abcdef"

static struct view with_other(struct view view)
{
	view.other_job = OTHER;
	return view;
}

static void is_ended(struct life *l)
{
	CHECK_PHASE(l, PHASE_STOPPING);
	CHECK_INT(l->life.cause, ==, CAUSE_SECOND_JOB);
	CHECK_HAS(l->life.reason, OTHER);
	CHECK_HAS(l->life.reason, job_of(l));
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGTERM);
}

LIFE_TEST(a_second_job_is_ended_with_the_whole_flink_and_said)
{
	run_proven(l);
	viewed(l, with_other(job_in(JOB_RUNNING)));
	is_ended(l);
	exited(l, KILLED(SIGTERM));
	CHECK_HAS(l->life.journal.last_error, "a second job is running in this Flink");
	CHECK_INT(l->life.journal.failure_count, ==, 1);
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1); /* and again, from the newest state */
}

LIFE_TEST(also_before_ours_is_there)
{
	struct view view = {.reachable = true};

	launch_empty(l);
	forget(l);
	viewed(l, with_other(view));
	is_ended(l);
}

LIFE_TEST(a_second_job_at_every_start_is_given_up)
{
	for (int i = 0; i < l->config.max_attempts; i++) {
		if (!l->life.observing)
			pass(l, 120000);
		launch_empty(l);
		viewed(l, with_other(job_in(JOB_INITIALIZING)));
		exited(l, KILLED(SIGTERM));
	}
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_FAILED);
	CHECK_HAS(l->life.journal.outcome.reason, OTHER);
}

LIFE_TEST(the_end_of_our_own_job_comes_first)
{
	run_proven(l);
	viewed(l, with_other(job_in(JOB_FINISHED)));
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_FINISHED);
	CHECK_HAS(l->life.reason, "the job is FINISHED");
}

LIFE_TEST(what_is_not_reachable_shows_no_second_job)
{
	struct view view = {0};

	run_proven(l);
	viewed(l, with_other(view));
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}
