/* What Flink does after its job has ended, and when drey ends it. */
#include "life.h"

#define GRACE_MS 120000

static void begin(struct life *l)
{
	life_begin(l);
	l->config.ha_cluster_id = "sim";
	run_proven(l);
}

static struct view cleanup(enum cleanup cleanup)
{
	return (struct view){.cleanup = cleanup};
}

static void saved(struct life *l)
{
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	viewed(l, job_in(JOB_FINISHED));
}

/* The same, and the journal does not answer. */
static void saved_unrecorded(struct life *l)
{
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	forget(l);
	l->hold_writes = true;
	viewed(l, job_in(JOB_FINISHED));
}

static void upgrade(struct life *l)
{
	l->config.upgrade = UPGRADE_BY_SAVEPOINT;
	forget(l);
	stopping_for(l, GRACE_MS, UPGRADE_YES);
	saved(l);
}

static void ends_by(const struct life *l, int signo)
{
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, signo);
	CHECK_INT(l->last[EFFECT_SIGNAL].group, ==, signo == SIGKILL);
}

LIFE_TEST_FROM(begin, after_an_upgrade_flink_is_killed_as_soon_as_it_has_cleaned_up)
{
	upgrade(l);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_INT(l->last[EFFECT_POLL].depth, ==, POLL_CLEANUP);
	viewed(l, cleanup(CLEANUP_PENDING));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 50);
	viewed(l, cleanup(CLEANUP_DONE));
	ends_by(l, SIGKILL);
	exited(l, KILLED(SIGKILL));
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_NONE);
	CHECK(l->life.journal.last_operation.ok);
}

LIFE_TEST_FROM(begin, flink_is_not_killed_before_the_journal_has_the_end_of_the_job)
{
	l->config.upgrade = UPGRADE_BY_SAVEPOINT;
	stopping_for(l, GRACE_MS, UPGRADE_YES);
	saved_unrecorded(l);
	viewed(l, cleanup(CLEANUP_DONE)); /* whoever asked */
	pass(l, 4000);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	l->hold_writes = false;
	written(l);
	while (l->life.requested != l->life.acknowledged)
		written(l);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	viewed(l, cleanup(CLEANUP_DONE));
	ends_by(l, SIGKILL);
}

/* It cannot clean up where drey cannot write, and runs the job again when it has lost its leadership meanwhile. The savepoint of the
 * stop is found in storage by the next drey, if this one ends before it can write. */
LIFE_TEST_FROM(begin, flink_is_killed_although_the_end_of_a_stop_cannot_be_recorded)
{
	ask_restart(l, "r1");
	saved_unrecorded(l);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	write_failed(l, false);
	ends_by(l, SIGKILL);
	exited(l, KILLED(SIGKILL));
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	l->hold_writes = false;
	pass(l, 60000);
	CHECK(l->life.journal.last_operation.ok);
	CHECK_STR(l->life.journal.last_operation.location, SAVEPOINT_1);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
}

LIFE_TEST_FROM(begin, a_stop_that_ends_while_the_journal_is_broken_does_not_wait_for_it)
{
	ask_restart(l, "r1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	l->hold_writes = true;
	inspected(l, true, true);
	write_failed(l, false);
	forget(l);
	viewed(l, job_in(JOB_FINISHED));
	ends_by(l, SIGKILL);
}

LIFE_TEST_FROM(begin, nor_is_a_write_awaited_that_has_no_answer)
{
	ask_restart(l, "r1");
	saved_unrecorded(l);
	pass(l, 4999);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 1);
	ends_by(l, SIGKILL);
}

LIFE_TEST_FROM(begin, nor_does_it_wait_longer_for_the_journal_when_the_container_ends)
{
	ask_restart(l, "r1");
	saved_unrecorded(l);
	pass(l, 2000);
	stopping_for(l, GRACE_MS, UPGRADE_NO);
	pass(l, 2999);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 1);
	ends_by(l, SIGKILL);
}

/* How a job has ended that was not stopped with a savepoint, only Flink can tell. */
LIFE_TEST_FROM(begin, flink_stays_until_it_is_on_record_that_its_job_has_finished)
{
	l->hold_writes = true;
	shown_after(l, 100, job_in(JOB_FINISHED));
	pass(l, 4000);
	shown_after(l, 100, job_in(JOB_FINISHED));
	pass(l, 60000);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

LIFE_TEST_FROM(begin, a_restart_waits_for_the_end_of_flink_too)
{
	forget(l);
	ask_restart(l, "r1");
	saved(l);
	viewed(l, cleanup(CLEANUP_DONE));
	ends_by(l, SIGKILL);
	exited(l, KILLED(SIGKILL));
	CHECK_INT(took(l, EFFECT_OBSERVE), ==, 1);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
}

LIFE_TEST_FROM(begin, nothing_waits_for_the_end_of_a_suspended_flink)
{
	forget(l);
	desire(l, DESIRED_SUSPENDED);
	saved(l);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	viewed(l, cleanup(CLEANUP_PENDING));
	viewed(l, cleanup(CLEANUP_DONE));
	ends_by(l, SIGTERM);
	exited(l, EXITED(143));
	CHECK_INT(l->life.phase, ==, PHASE_SUSPENDED);
}

LIFE_TEST_FROM(begin, a_job_that_has_finished_gets_its_cleanup_too)
{
	forget(l);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_INT(l->durable.outcome, ==, OUTCOME_FINISHED);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	viewed(l, cleanup(CLEANUP_DONE));
	ends_by(l, SIGTERM);
}

LIFE_TEST_FROM(begin, what_nobody_can_know_ends_flink_in_good_order)
{
	upgrade(l);
	viewed(l, cleanup(CLEANUP_UNKNOWN));
	ends_by(l, SIGTERM);
	viewed(l, cleanup(CLEANUP_DONE)); /* too late */
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
}

LIFE_TEST_FROM(begin, a_cleanup_without_an_end_is_awaited_for_three_seconds)
{
	upgrade(l);
	for (int i = 0; i < 5; i++) {
		pass(l, 500);
		viewed(l, cleanup(CLEANUP_PENDING));
	}
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 501);
	ends_by(l, SIGTERM);
	CHECK_HAS(l->notes, "Flink has not recorded in time that it has cleaned up");
	pass(l, l->config.kill_after_ms - 3000); /* all in all, as long as without that */
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 2);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
}

LIFE_TEST_FROM(begin, a_flink_that_dies_meanwhile_is_not_awaited)
{
	upgrade(l);
	exited(l, EXITED(239));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	CHECK_INT(l->life.clean_ms, ==, 0);
}

LIFE_TEST_FROM(begin, the_container_of_a_suspended_job_ends_as_soon_as_flink_has_cleaned_up)
{
	forget(l);
	desire(l, DESIRED_SUSPENDED);
	saved(l);
	stopping_for(l, GRACE_MS, UPGRADE_YES);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	viewed(l, cleanup(CLEANUP_DONE));
	ends_by(l, SIGKILL);
}

LIFE_TEST_FROM(begin, a_fenced_drey_kills_without_waiting)
{
	upgrade(l);
	l->hold_writes = true;
	ask_savepoint(l, "n1");
	write_failed(l, true);
	CHECK(l->life.fenced);
	ends_by(l, SIGKILL);
	CHECK_INT(l->life.clean_ms, ==, 0);
}

LIFE_TEST(without_high_availability_flink_records_nothing_and_ends_in_good_order)
{
	run_proven(l);
	upgrade(l);
	ends_by(l, SIGTERM);
}

LIFE_TEST_FROM(begin, a_job_that_has_not_ended_cannot_be_cleaned_up_after)
{
	forget(l);
	desire(l, DESIRED_CANCELLED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	viewed(l, job_in(JOB_CANCELLING));
	pass(l, 60001);
	ends_by(l, SIGTERM);
}
