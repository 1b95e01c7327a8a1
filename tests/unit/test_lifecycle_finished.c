/* A job that comes to its own end while something else is done with it. */
#include "life.h"

static struct view finished_view(void)
{
	return job_in(JOB_FINISHED);
}

static void check_finished(struct life *l)
{
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_FINISHED);
	CHECK(journal_launch(&l->life.journal)->end_known);
	CHECK(journal_open_launch(&l->life.journal) == NULL);
}

LIFE_TEST(sigterm_looks_at_the_job_once_more)
{
	l->hold_last_poll = true;
	run_proven(l);
	stopping(l, 30000);
	CHECK_INT(took(l, EFFECT_POLL), ==, 1);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	viewed(l, finished_view());
	check_finished(l);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
}

/* Flink does not find the job any more, and nobody was to look at it for ten minutes. */
LIFE_TEST(a_stop_that_comes_too_late_looks_at_the_job_at_once)
{
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	forget(l);
	operation(l, STATUS_FAILED, NULL, "FlinkJobNotFoundException");
	pass(l, 1000);
	CHECK_INT(took(l, EFFECT_POLL), ==, 1);
	viewed(l, finished_view());
	check_finished(l);
}

LIFE_TEST(the_last_look_is_short)
{
	l->hold_last_poll = true;
	run_proven(l);
	stopping(l, 30000);
	pass(l, 999);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 1);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK(!journal_launch(&l->life.journal)->end_known);
}

LIFE_TEST(what_was_asked_before_sigterm_is_asked_again)
{
	l->hold_last_poll = true;
	run_proven(l);
	pass(l, 5000);
	CHECK_INT(took(l, EFFECT_POLL), ==, 1);
	pass(l, 10);
	stopping(l, 30000);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_INT(took(l, EFFECT_POLL), ==, 2);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
}

/* Its tasks were not all there yet, and the answer to the last look, or to the one before, shows them. A
 * periodic savepoint that is due then is not taken any more, and is no reason to wake up. */
TEST(a_job_that_runs_at_the_last_look_wakes_nobody)
{
	struct view runs = job_in(JOB_RUNNING);
	struct life l;

	runs.restored = true;
	runs.restored_id = 5;
	runs.restored_path = CHK(5);
	life_begin(&l);
	l.hold_last_poll = true;
	run_proven(&l);
	exited(&l, KILLED(9));
	pass(&l, 5000);
	observed(&l, DECISION_START_FROM, CHK(5), 5, NULL);
	started(&l);
	viewed(&l, job_in(JOB_INITIALIZING));
	l.wall_ms += 3600000; /* so long ago was the last one */
	l.config.savepoints.interval_ms = 60000;
	pass(&l, 510);
	stopping(&l, 36000);
	viewed(&l, runs);
	CHECK_PHASE(&l, PHASE_RUNNING);
	CHECK_INT(lifecycle_deadline_ms(&l.life), >, l.now_ms);
	pass(&l, 1000);
	CHECK_NOTHING(&l, EFFECT_TRIGGER);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	life_end(&l);
}

/* The stop is refused, because there is nothing to stop any more. */
LIFE_TEST(a_job_that_finishes_before_its_stop_has_finished)
{
	run_proven(l);
	ask_restart(l, "r1");
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	viewed(l, finished_view());
	operation(l, STATUS_FAILED, NULL, "the job is not running");
	viewed(l, finished_view());
	check_finished(l);
	CHECK_HAS(l->life.journal.last_operation.error, "the job finished before it could be");
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_FINISHED);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
}

/* The savepoint is complete, but the job continued from it: Flink reports that the stop failed. */
TEST(a_job_that_finishes_after_a_failed_stop_has_finished)
{
	struct seen_savepoint stop = {.id = 50, .path = SAVEPOINT_1, .stop = true};
	struct view runs = job_in(JOB_RUNNING), ends = finished_view();
	struct life l;

	runs.savepoints = ends.savepoints = &stop;
	runs.savepoint_count = ends.savepoint_count = 1;
	runs.completed_id = ends.completed_id = 52;
	life_begin(&l);
	run_proven(&l);
	ask_restart(&l, "r1");
	operation(&l, STATUS_FAILED, SAVEPOINT_1, "a savepoint was created, but the job continued");
	inspected(&l, true, true);
	viewed(&l, runs);
	viewed(&l, ends);
	check_finished(&l);
	CHECK(!l.life.journal.last_operation.ok);
	CHECK_STR(l.life.journal.last_operation.location, SAVEPOINT_1);
	exited(&l, EXITED(143));
	CHECK_PHASE(&l, PHASE_FINISHED);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	life_end(&l);
}

TEST(the_savepoint_of_the_stop_shows_that_it_was_stopped)
{
	struct seen_savepoint stop = {.id = 50, .path = SAVEPOINT_1, .stop = true};
	struct view view = finished_view();
	struct life l;

	view.savepoints = &stop;
	view.savepoint_count = 1;
	life_begin(&l);
	run_proven(&l);
	ask_restart(&l, "r1");
	viewed(&l, view);
	operation(&l, STATUS_FAILED, NULL, "the answer was lost");
	viewed(&l, view);
	CHECK_INT(l.life.journal.outcome.kind, ==, OUTCOME_NONE);
	life_end(&l);
}

LIFE_TEST(a_job_that_finishes_before_its_cancel_has_finished)
{
	run_proven(l);
	desire(l, DESIRED_CANCELLED);
	viewed(l, finished_view());
	check_finished(l);
	CHECK(l->life.journal.last_operation.ok);
	exited(l, EXITED(143));
	CHECK_PHASE(l, PHASE_CANCELLED);
	desire(l, DESIRED_RUNNING); /* no new start was asked for */
	CHECK_PHASE(l, PHASE_FINISHED);
}

/* It may have come to its own end before: Flink's record of it decides. */
TEST(a_cancel_that_flink_never_answered_does_not_tell_how_the_job_ended)
{
	struct life l;

	life_begin(&l);
	run_proven(&l);
	desire(&l, DESIRED_CANCELLED);
	for (int i = 0; i < 61; i++) {
		operation(&l, STATUS_UNREACHABLE, NULL, NULL);
		pass(&l, 1000);
	}
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	exited(&l, EXITED(143));
	CHECK_PHASE(&l, PHASE_CANCELLED);
	CHECK(!journal_launch(&l.life.journal)->end_known);
	life_end(&l);

	life_begin(&l);
	run_proven(&l);
	desire(&l, DESIRED_CANCELLED);
	operation(&l, STATUS_ACCEPTED, NULL, NULL);
	viewed(&l, job_in(JOB_CANCELED));
	exited(&l, EXITED(143));
	CHECK(journal_launch(&l.life.journal)->end_known);
	life_end(&l);
}

LIFE_TEST(a_record_that_nobody_saw_becomes_the_outcome)
{
	struct decision decision = {.kind = DECISION_PARK,
				    .rule = 2,
				    .settled = NO_CANDIDATE,
				    .cause = CAUSE_FINISHED,
				    .outcome = OUTCOME_FINISHED,
				    .outcome_reason = "the job finished",
				    .reason = "the job is finished"};
	struct facts facts = {0};
	struct event e = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};

	run_proven(l);
	CHECK(journal_open_launch(&l->life.journal) != NULL);
	exited(l, KILLED(9));
	step(l, &e);
	check_finished(l);
	CHECK_PHASE(l, PHASE_FINISHED);
	restart_agent(l);
	hello(l, NULL);
	CHECK_PHASE(l, PHASE_FINISHED);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
}

/* A person asks: what the launch before has left is not asked about again. */
LIFE_TEST(a_new_start_is_not_stopped_by_the_old_end)
{
	run_proven(l);
	viewed(l, finished_view());
	exited(l, EXITED(143));
	control(l, CONTROL_STATE | CONTROL_NEW_START, (struct intent){.state = DESIRED_RUNNING});
	CHECK(journal_open_launch(&l->life.journal) == NULL);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
}
