/*
 * Flink cannot remove the HA data of a job that has ended, loses its leadership, and recovers the job when it leads again, from a
 * checkpoint that is older than the end: what it writes then is there twice.
 */
#include <signal.h>

#include "life.h"

static void is_killed(struct life *l)
{
	CHECK_INT(took(l, EFFECT_SIGNAL), >=, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
}

/* Its savepoint is known, and the view shows that it is complete. */
static void stop_is_done(struct life *l)
{
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START));
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
}

static void suspended_with_its_savepoint(struct life *l)
{
	exited(l, KILLED(SIGKILL));
	written(l);
	CHECK_PHASE(l, PHASE_SUSPENDED);
	CHECK(l->life.journal.last_operation.ok);
	CHECK_STR(l->life.journal.last_operation.location, SAVEPOINT_1);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_NONE);
}

static void is_killed_when_recovered(struct life *l, struct view view)
{
	pass(l, 5000);
	shown_after(l, 100, view);
	is_killed(l);
	suspended_with_its_savepoint(l);
}

/* The end of the stop cannot be written, so Flink is not told to end before it has recovered the job. */
LIFE_TEST(a_stopped_job_that_flink_recovers_is_killed_at_once)
{
	stop_is_done(l);
	l->hold_writes = true;
	shown_after(l, 100, job_since(JOB_FINISHED, UNIX_START));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 35000);
	shown_after(l, 100, (struct view){.reachable = false});
	shown_after(l, 100, (struct view){.reachable = true});
	shown_after(l, 100, job_since(JOB_SUSPENDED, UNIX_START));
	l->last[EFFECT_SIGNAL].signo = 0;
	shown_after(l, 100, job_since(JOB_INITIALIZING, UNIX_START + 40000));
	is_killed(l);
	suspended_with_its_savepoint(l);
}

LIFE_TEST(a_job_whose_end_was_not_seen_is_killed_when_flink_recovers_it)
{
	stop_is_done(l);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START)); /* it is about to end */
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	is_killed_when_recovered(l, job_since(JOB_CREATED, UNIX_START + 40000));
}

/* The date of a job is of a clock that people set. */
LIFE_TEST(a_clock_that_was_set_forward_does_not_give_the_stop_to_a_recovered_job)
{
	stop_is_done(l);
	l->wall_ms += 3600000;
	is_killed_when_recovered(l, job_since(JOB_RUNNING, UNIX_START + 40000));
}

/* Now the recovery has a date from before the stop. */
LIFE_TEST(a_clock_that_was_set_back_does_not_give_the_stop_to_a_recovered_job)
{
	stop_is_done(l);
	l->wall_ms -= 3600000;
	is_killed_when_recovered(l, job_since(JOB_RUNNING, UNIX_START - 3550000));
}

/* Its end is on record, and the agent that has recorded it is no more. */
LIFE_TEST(the_next_agent_kills_a_job_that_runs_again)
{
	char job[JOB_ID_BYTES];

	stop_is_done(l);
	shown_after(l, 100, job_since(JOB_FINISHED, UNIX_START));
	snprintf(job, sizeof(job), "%s", job_of(l));
	restart_agent(l);
	hello(l, job);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START + 40000));
	is_killed(l);
}

/* The stop is on record with the date of its job, and nothing of what came after it. */
LIFE_TEST(the_next_agent_ends_the_job_of_a_stop_that_is_done)
{
	char job[JOB_ID_BYTES];

	run_proven(l);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START));
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	snprintf(job, sizeof(job), "%s", job_of(l));
	restart_agent(l);
	hello(l, job);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START + 40000));
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	inspected(l, true, true);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START + 40000));
	is_killed(l);
	suspended_with_its_savepoint(l);
}

/* From the savepoint nothing can start, so the job may as well run on from where it is. */
LIFE_TEST(a_recovered_job_whose_stop_left_no_good_savepoint_runs_on)
{
	run_proven(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START));
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, false);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START + 40000));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 60000);
	shown_after(l, 100, job_since(JOB_RUNNING, UNIX_START + 40000));
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

LIFE_TEST(a_job_that_has_finished_and_runs_again_stays_finished)
{
	run_proven(l);
	l->hold_writes = true;
	shown_after(l, 100, job_since(JOB_FINISHED, UNIX_START));
	pass(l, 4000);
	shown_after(l, 100, job_since(JOB_FINISHED, UNIX_START));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 35000);
	shown_after(l, 100, job_since(JOB_INITIALIZING, UNIX_START + 40000));
	is_killed(l);
	exited(l, KILLED(SIGKILL));
	written(l);
	CHECK_PHASE(l, PHASE_FINISHED);
}

/* Its last savepoint was still being read when it ended. */
LIFE_TEST(a_savepoint_that_ends_after_its_job_is_no_failed_stop)
{
	run_proven(l);
	ask_savepoint(l, "s1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	l->hold_writes = true;
	shown_after(l, 100, job_since(JOB_FINISHED, UNIX_START));
	pass(l, 4000);
	shown_after(l, 100, job_since(JOB_FINISHED, UNIX_START));
	CHECK_PHASE(l, PHASE_STOPPING);
	inspected(l, true, true);
	CHECK_PHASE(l, PHASE_STOPPING);
	CHECK_HAS(l->life.reason, "the job is FINISHED");
	CHECK(l->life.journal.last_operation.ok);
	CHECK_INT(l->life.stop_retry_ms, ==, 0);
}

/* How it has ended was not clear yet, and a savepoint of it is due. */
LIFE_TEST(a_job_that_runs_again_after_an_unclear_end_is_not_running)
{
	run_proven(l);
	ask_savepoint(l, "s1");
	shown_after(l, 100,
		    (struct view){.reachable = true,
				  .job_present = true,
				  .state = JOB_FINISHED,
				  .job_unix_ms = UNIX_START});
	CHECK_PHASE(l, PHASE_RUNNING);
	shown_after(l, 30000, job_since(JOB_RUNNING, UNIX_START + 40000));
	is_killed(l);
	CHECK_PHASE(l, PHASE_STOPPING);
	CHECK_INT(lifecycle_deadline_ms(&l->life), >, l->now_ms);
}

/* An unknown word is no state in which a job runs. */
LIFE_TEST(a_state_that_is_not_known_ends_nothing)
{
	stop_is_done(l);
	l->hold_writes = true;
	shown_after(l, 100, job_since(JOB_FINISHED, UNIX_START));
	shown_after(l, 100, job_since(JOB_UNKNOWN, UNIX_START));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}
