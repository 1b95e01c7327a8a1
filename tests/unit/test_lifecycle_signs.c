/* A launch of which Flink's REST API says nothing: it is not ended while storage or HA show that it lives. */
#include "life.h"

#define WHY  "http://127.0.0.1:8081: the certificate is not trusted"
#define RUNS "checkpoint 12 of job x was completed"

static struct view silence(void)
{
	return (struct view){.silence = WHY};
}

static void wait_silently(struct life *l, int64_t ms)
{
	for (int64_t end_ms = l->now_ms + ms; l->now_ms < end_ms;) {
		viewed(l, silence());
		pass(l, 5000);
	}
}

/* A launch that does not answer until its deadline has come: drey asks for signs of life. */
static void begin_silent(struct life *l)
{
	life_begin(l);
	l->hold_signs = true;
	launch_empty(l);
	viewed(l, silence());
	CHECK_NOTHING(l, EFFECT_SIGNS);
	wait_silently(l, l->config.ready_deadline_ms);
	CHECK_INT(took(l, EFFECT_SIGNS), ==, 1);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	forget(l);
}

LIFE_TEST_FROM(begin_silent, a_launch_that_does_nothing_is_ended_at_the_deadline)
{
	signs_show(l, SIGNS_NONE, "");
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_HAS(l->life.reason, "not running 120 s after the launch");
	CHECK_HAS(l->life.reason, WHY);
}

LIFE_TEST_FROM(begin_silent, a_launch_that_lives_is_never_ended_by_the_deadline)
{
	signs_show(l, SIGNS_ALIVE, RUNS);
	CHECK_PHASE(l, PHASE_LAUNCHING);
	CHECK_INT(l->life.cause, ==, CAUSE_CLUSTER_UNREACHABLE);
	CHECK_HAS(l->life.reason, RUNS);
	CHECK_HAS(l->life.reason, WHY);
	for (int i = 0; i < 20; i++) {
		wait_silently(l, l->config.ready_deadline_ms);
		signs_show(l, SIGNS_ALIVE, "checkpoint 13 of job x was completed");
	}
	CHECK_INT(took(l, EFFECT_SIGNS), >, 10);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_HAS(l->life.reason, "checkpoint 13");
	/* one line in the log, not one each time */
	CHECK(!strstr(l->notes, "checkpoint 13"));
}

LIFE_TEST_FROM(begin_silent, what_cannot_be_read_is_no_absence)
{
	signs_show(l, SIGNS_UNREADABLE, "403 Forbidden");
	CHECK_INT(l->life.cause, ==, CAUSE_CLUSTER_UNREACHABLE);
	CHECK_HAS(l->life.reason, "403 Forbidden");
	/* it is asked again, with pauses that grow */
	for (int i = 0; i < 8; i++) {
		pass(l, l->config.hold_retry_max_ms);
		signs_show(l, SIGNS_UNREADABLE, "403 Forbidden");
	}
	CHECK_INT(took(l, EFFECT_SIGNS), >, 4);
	CHECK_INT(took(l, EFFECT_SIGNS), <, 10);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, l->config.hold_retry_max_ms);
	signs_show(l, SIGNS_NONE, "");
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
}

LIFE_TEST_FROM(begin_silent, a_flink_that_answers_again_is_judged_by_its_answers)
{
	signs_show(l, SIGNS_ALIVE, RUNS);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_INT(l->life.cause, ==, CAUSE_NONE);
}

LIFE_TEST_FROM(begin_silent, it_answers_while_storage_is_read)
{
	viewed(l, job_in(JOB_RUNNING));
	CHECK_PHASE(l, PHASE_RUNNING);
	signs_show(l, SIGNS_NONE, "");
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_PHASE(l, PHASE_RUNNING);
}

LIFE_TEST_FROM(begin_silent, an_answer_about_another_launch_is_ignored)
{
	struct event e = {.type = EVENT_SIGNS, .signs.launch = 77};

	step(l, &e);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	signs_show(l, SIGNS_NONE, "");
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	/* and one that was not asked for */
	forget(l);
	signs_show(l, SIGNS_ALIVE, RUNS);
	CHECK_PHASE(l, PHASE_STOPPING);
}

LIFE_TEST_FROM(begin_silent, a_job_whose_end_flink_has_recorded_is_ended_without_counting)
{
	signs_show(l, SIGNS_ENDED, "Flink has recorded that job x has finished");
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_HAS(l->life.reason, "has finished");
	exited(l, KILLED(SIGTERM));
	CHECK_INT(l->life.journal.failure_count, ==, 0);
	CHECK_PHASE(l, PHASE_RESOLVING);
}

LIFE_TEST(a_job_whose_checkpoints_are_rare_has_time_for_its_first)
{
	l->config.policy.max_loss.interval_ms = 300000;
	l->hold_signs = true;
	launch_empty(l);
	wait_silently(l, l->config.ready_deadline_ms + 1000);
	CHECK_NOTHING(l, EFFECT_SIGNS);
	CHECK_INT(l->life.cause, ==, CAUSE_CLUSTER_UNREACHABLE);
	CHECK_HAS(l->life.reason, "the first checkpoint of the job may not be complete yet");
	wait_silently(l, 600000 - l->config.ready_deadline_ms);
	CHECK_INT(took(l, EFFECT_SIGNS), ==, 1);
	signs_show(l, SIGNS_NONE, "");
	CHECK_HAS(l->life.reason, "not running 600 s after the launch");
}

LIFE_TEST(a_job_without_periodic_checkpoints_has_the_deadline_only)
{
	l->config.policy.max_loss.interval_ms = INT64_MAX;
	l->hold_signs = true;
	launch_empty(l);
	wait_silently(l, l->config.ready_deadline_ms + 1000);
	CHECK_INT(took(l, EFFECT_SIGNS), ==, 1);
}

LIFE_TEST(a_job_that_flink_does_not_know_any_more_but_that_moves_is_left_alone)
{
	struct view unknown = {.reachable = true};

	launch_empty(l);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_PHASE(l, PHASE_RUNNING);
	l->hold_signs = true;
	viewed(l, unknown);
	for (int i = 0; i < 30; i++) {
		pass(l, 5000);
		viewed(l, unknown);
	}
	CHECK_INT(took(l, EFFECT_SIGNS), ==, 1);
	signs_show(l, SIGNS_ALIVE, RUNS);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_HAS(l->life.reason, "does not know job");
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(l->life.cause, ==, CAUSE_NONE);
}

/* ---- a JobManager that hangs ---- */

#define AFTER_MS 900000

static struct view mute(void)
{
	return (struct view){.silence = "connection refused", .mute = true};
}

/* No answer, for so long; the poll is repeated. */
static void wait_mute(struct life *l, int64_t ms)
{
	for (int64_t end_ms = l->now_ms + ms; l->now_ms < end_ms;) {
		viewed(l, mute());
		pass(l, 5000);
	}
}

static void signs_show_newest(struct life *l, enum signs_verdict verdict, int64_t id)
{
	struct event e = {.type = EVENT_SIGNS,
			  .signs = {.launch = journal_launch(&l->life.journal)->number,
				    .signs = {.verdict = verdict, .newest_id = id}}};

	step(l, &e);
}

static void begin_mute(struct life *l)
{
	life_begin(l);
	l->config.health.unreachable_after_ms = AFTER_MS;
	l->hold_signs = true;
	launch_empty(l);
	viewed(l, job_in(JOB_RUNNING));
	prove(l, 3);
	forget(l);
}

/* Each look shows what the one before has shown. */
static void hangs(struct life *l, enum signs_verdict verdict, int64_t id)
{
	for (int i = 0; i < 4 && !took(l, EFFECT_SIGNAL); i++) {
		wait_mute(l, AFTER_MS / 3 + 5000);
		signs_show_newest(l, verdict, id);
	}
}

LIFE_TEST_FROM(begin_mute, a_job_manager_that_hangs_shows_its_threads_and_is_ended)
{
	hangs(l, SIGNS_NONE, 0);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGQUIT);
	CHECK(!l->last[EFFECT_SIGNAL].group);
	CHECK_HAS(l->notes, "asking the JVM for its threads");
	CHECK_PHASE(l, PHASE_RUNNING);
	wait_mute(l, 10000);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGTERM);
	CHECK_HAS(l->life.reason,
		  "the JobManager hangs: Flink's REST API has not answered for 15 min");
	exited(l, KILLED(SIGKILL));
	CHECK_INT(l->life.journal.failure_count, ==, 1);
}

LIFE_TEST_FROM(begin_mute, one_that_completes_checkpoints_does_not_hang)
{
	for (int64_t id = 4; id < 20; id++) {
		wait_mute(l, AFTER_MS / 3 + 5000);
		signs_show_newest(l, SIGNS_ALIVE, id);
	}
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_INT(took(l, EFFECT_SIGNS), >, 10);
	/* the last one, again and again */
	hangs(l, SIGNS_ALIVE, 19);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGQUIT);
}

LIFE_TEST_FROM(begin_mute, one_that_may_wait_for_its_storage_does_not_hang)
{
	for (int i = 0; i < 12; i++) {
		wait_mute(l, AFTER_MS / 3 + 5000);
		signs_show_newest(l, SIGNS_UNREADABLE, 0);
	}
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	hangs(l, SIGNS_NONE, 0);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
}

LIFE_TEST_FROM(begin_mute, one_that_answers_again_does_not_hang)
{
	wait_mute(l, AFTER_MS / 3 + 5000);
	signs_show_newest(l, SIGNS_NONE, 0);
	viewed(l, job_in(JOB_RUNNING));
	wait_mute(l, AFTER_MS - 10000);
	signs_show_newest(l, SIGNS_NONE, 0);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	/* after its threads were written, too */
	hangs(l, SIGNS_NONE, 0);
	viewed(l, job_in(JOB_RUNNING));
	pass(l, 60000);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_PHASE(l, PHASE_RUNNING);
}

/* A certificate that has expired, a login in front of it. */
LIFE_TEST_FROM(begin_mute, one_that_answers_badly_does_not_hang)
{
	wait_silently(l, 4 * AFTER_MS);
	CHECK_NOTHING(l, EFFECT_SIGNS);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

LIFE_TEST_FROM(begin_mute, checkpoints_that_are_rare_are_waited_for)
{
	l->config.policy.max_loss.interval_ms = AFTER_MS;
	hangs(l, SIGNS_NONE, 0);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	hangs(l, SIGNS_NONE, 0);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
}

LIFE_TEST_FROM(begin_mute, a_job_without_periodic_checkpoints_is_never_taken_for_one_that_hangs)
{
	l->config.policy.max_loss.interval_ms = INT64_MAX;
	hangs(l, SIGNS_NONE, 0);
	hangs(l, SIGNS_NONE, 0);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

LIFE_TEST_FROM(begin_mute, by_configuration_it_is_watched_for_ever)
{
	l->config.health.unreachable_after_ms = 0;
	wait_mute(l, 4 * AFTER_MS);
	CHECK_NOTHING(l, EFFECT_SIGNS);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

/* Checkpoints wait for it. */
LIFE_TEST_FROM(begin_mute, a_savepoint_in_flight_has_more_time)
{
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	hangs(l, SIGNS_NONE, 0);
	hangs(l, SIGNS_NONE, 0);
	CHECK(l->now_ms > 2 * AFTER_MS);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	hangs(l, SIGNS_NONE, 0);
	hangs(l, SIGNS_NONE, 0);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
}

/* A request that Flink has not accepted, and never will. */
LIFE_TEST_FROM(begin_mute, a_stop_that_is_not_accepted_keeps_nothing)
{
	desire(l, DESIRED_SUSPENDED);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	operation(l, STATUS_UNREACHABLE, NULL, NULL);
	CHECK_PHASE(l, PHASE_STOPPING);
	hangs(l, SIGNS_NONE, 0);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	wait_mute(l, 10000);
	exited(l, KILLED(SIGKILL));
	observed_settled(l, DECISION_PARK, SETTLEMENT_FAILED, NULL);
	CHECK_PHASE(l, PHASE_SUSPENDED);
}
