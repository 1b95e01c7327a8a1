/*
 * The condition CheckpointsFailing, and the notices of its changes: what a job that runs shows of its
 * checkpoints, step by step.
 */
#include "core/report/condition_checkpoints.h"
#include "life.h"

#define SECONDS 1000
#define MINUTES (60 * SECONDS)

static struct condition judged(const struct life *l)
{
	struct condition condition = {0};

	condition_checkpoints(&l->life, &condition);
	return condition;
}

static void check_condition(const struct life *l, const char *status, const char *reason)
{
	struct condition condition = judged(l);

	CHECK_STR(truth_name(condition.status), status);
	CHECK_STR(condition.reason, reason);
}

/* A job with an interval of 10 s, as a poll shows it. */
static struct view shown(int64_t completed_id, int64_t failures)
{
	struct view view = job_in(JOB_RUNNING);

	view.completed_id = completed_id;
	view.completed_path = completed_id ? CHK(1) : NULL;
	view.completed_unix_ms = UNIX_START;
	view.checkpointing = (struct checkpointing){.failures = failures};
	view.plan = (struct checkpoint_plan){.known = true, .interval_ms = 10 * SECONDS};
	if (failures)
		snprintf(view.checkpointing.failure, sizeof(view.checkpointing.failure),
			 "disk full");
	return view;
}

static void begin(struct life *l)
{
	life_begin(l);
	l->config.health = (struct health){.checkpoint_failures = 3,
					   .checkpoint_intervals = 10,
					   .checkpoint_age_ms = 5 * MINUTES};
	run_proven(l);
	shown_after(l, SECONDS, shown(2, 0));
	forget(l);
}

#define CHECKPOINTS_TEST(name) TEST_WITH(name, struct life, l, begin, life_end)

CHECKPOINTS_TEST(three_failures_in_a_row_are_told_once_and_so_is_their_end)
{
	check_condition(l, "False", "Completing");
	shown_after(l, SECONDS, shown(2, 2));
	check_condition(l, "False", "Completing");
	CHECK_INT(took(l, EFFECT_TELL), ==, 0);
	shown_after(l, SECONDS, shown(2, 3));
	check_condition(l, "True", "ManyFailures");
	CHECK_HAS(judged(l).message, "3 checkpoints failed since checkpoint 2 (2001-09-09T");
	CHECK_HAS(judged(l).message, "): disk full");
	CHECK_STR(l->told, "checkpoints");
	CHECK(!l->last[EFFECT_TELL].notice.ok);
	shown_after(l, SECONDS, shown(2, 4));
	CHECK_INT(took(l, EFFECT_TELL), ==, 1);
	shown_after(l, SECONDS, shown(3, 0));
	check_condition(l, "False", "Completing");
	CHECK_STR(l->told, "checkpoints checkpoints");
	CHECK(l->last[EFFECT_TELL].notice.ok);
	CHECK_HAS(l->notes, "the checkpoints of the job fail: 3 checkpoints failed");
	CHECK(l->life.phase == PHASE_RUNNING);
}

CHECKPOINTS_TEST(a_checkpoint_that_does_not_come_is_noticed_after_the_limit)
{
	/* 10 intervals are 100 s: at least 5 minutes */
	shown_after(l, 5 * MINUTES, shown(2, 0));
	check_condition(l, "False", "Completing");
	shown_after(l, 1, shown(2, 0));
	check_condition(l, "True", "TooOld");
	CHECK_HAS(judged(l).message, "no checkpoint completed since checkpoint 2 (2001-09-09T");
	CHECK_HAS(judged(l).message, "for longer than 300 s");
	shown_after(l, SECONDS, shown(3, 0));
	check_condition(l, "False", "Completing");
	CHECK_INT(took(l, EFFECT_TELL), ==, 2);
}

CHECKPOINTS_TEST(the_wall_clock_makes_nothing_late)
{
	l->wall_ms += 3600 * SECONDS;
	shown_after(l, SECONDS, shown(2, 0));
	check_condition(l, "False", "Completing");
	l->wall_ms -= 7200 * SECONDS;
	shown_after(l, 5 * MINUTES + 1, shown(2, 0));
	check_condition(l, "True", "TooOld");
}

TEST(the_limit_follows_what_a_checkpoint_takes)
{
	static const struct {
		int64_t intervals, age_ms, interval_ms, pause_ms, took_ms, limit_ms;
	} rows[] = {
		{10, 5 * MINUTES, 10 * SECONDS, 0, 0, 5 * MINUTES},
		{10, 5 * MINUTES, 60 * SECONDS, 0, 0, 10 * MINUTES},
		{10, 0, 1 * SECONDS, 0, 0, 10 * SECONDS},
		{2, 0, 1 * SECONDS, 0, 30 * SECONDS, 60 * SECONDS},
		{2, 0, 1 * SECONDS, 10 * SECONDS, 30 * SECONDS, 80 * SECONDS},
		{0, 5 * MINUTES, 60 * SECONDS, 0, 0, 0}, /* off */
		{10, 5 * MINUTES, 0, 0, 0, 0},           /* no interval */
		{10, 5 * MINUTES, INT64_MAX / 2, 0, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct health health = {.checkpoint_intervals = rows[i].intervals,
					.checkpoint_age_ms = rows[i].age_ms};
		struct checkpoint_plan plan = {.known = true,
					       .interval_ms = rows[i].interval_ms,
					       .min_pause_ms = rows[i].pause_ms};
		struct checkpointing seen = {.duration_ms = rows[i].took_ms};

		CHECK_INT(checkpoints_limit_ms(&health, &plan, &seen), ==, rows[i].limit_ms);
	}
}

CHECKPOINTS_TEST(statistics_that_cannot_be_read_say_nothing)
{
	struct view failed = job_in(JOB_RUNNING), silent = {0}, less = job_in(JOB_RUNNING);

	shown_after(l, SECONDS, shown(2, 3));
	check_condition(l, "True", "ManyFailures");
	failed.statistics_known = false;
	failed.statistics_failed = true;
	shown_after(l, SECONDS, failed);
	check_condition(l, "Unknown", "NoStatistics");
	less.statistics_known = false; /* a poll that did not ask */
	shown_after(l, SECONDS, less);
	check_condition(l, "Unknown", "NoStatistics");
	shown_after(l, SECONDS, shown(2, 3));
	check_condition(l, "True", "ManyFailures");
	shown_after(l, SECONDS, less);
	check_condition(l, "True", "ManyFailures");
	shown_after(l, SECONDS, silent);
	check_condition(l, "Unknown", "NoStatistics");
	/* nobody was told that it is better, or again that it is bad */
	CHECK_INT(took(l, EFFECT_TELL), ==, 1);
	/* what was not seen for long is not late: the statistics are as old */
	shown_after(l, 60 * MINUTES, less);
	CHECK_STR(judged(l).reason, "ManyFailures");
}

CHECKPOINTS_TEST(an_age_is_that_of_the_last_statistics)
{
	struct view less = job_in(JOB_RUNNING);

	less.statistics_known = false;
	shown_after(l, 60 * MINUTES, less);
	check_condition(l, "False", "Completing");
}

CHECKPOINTS_TEST(an_interval_that_is_not_known_judges_no_age)
{
	struct view view = shown(2, 0);

	view.plan = (struct checkpoint_plan){0};
	memset(&l->life.seen.plan, 0, sizeof(l->life.seen.plan));
	shown_after(l, 5 * MINUTES, view);
	check_condition(l, "False", "Completing");
	shown_after(l, 1, view);
	check_condition(l, "Unknown", "NoStatistics");
	l->life.seen.checkpointing.failures = 3;
	check_condition(l, "True", "ManyFailures");
	l->life.seen.checkpointing.failures = 2;
	l->config.health.checkpoint_intervals = 0;
	check_condition(l, "False", "Completing");
	l->config.health.checkpoint_failures = 0;
	l->life.seen.checkpointing.failures = 10;
	check_condition(l, "False", "Completing");
}

/* Flink shows the cause of a failure up to 3 s late after that question. */
TEST(the_interval_is_asked_for_once_when_the_job_has_run_for_a_minute)
{
	struct life l;
	struct view view = shown(2, 0);

	view.plan = (struct checkpoint_plan){0};
	life_begin(&l);
	run_proven(&l);
	/* else they are urgent, since it has a checkpoint */
	journal_launch(&l.life.journal)->effective.known = true;
	for (int s = 0; s < 55; s += 5) {
		pass(&l, 5 * SECONDS);
		CHECK(took(&l, EFFECT_POLL) && !l.last[EFFECT_POLL].plan);
		viewed(&l, view);
	}
	pass(&l, 10 * SECONDS);
	viewed(&l, view);
	pass(&l, 5 * SECONDS);
	CHECK(l.last[EFFECT_POLL].plan);
	viewed(&l, shown(2, 0));
	pass(&l, 10 * SECONDS);
	CHECK(!l.last[EFFECT_POLL].plan);
	life_end(&l);
}

CHECKPOINTS_TEST(a_job_without_checkpoints_does_not_fail_to_make_them)
{
	struct view view = shown(2, 0);

	view.plan.interval_ms = 0;
	shown_after(l, 60 * MINUTES, view);
	check_condition(l, "False", "NoCheckpoints");
	view = job_in(JOB_RUNNING);
	view.statistics_known = false;
	view.checkpointing_off = true;
	shown_after(l, SECONDS, view);
	check_condition(l, "False", "NoCheckpoints");
	CHECK_INT(took(l, EFFECT_TELL), ==, 0);
}

CHECKPOINTS_TEST(tasks_that_do_not_run_make_no_checkpoint_late)
{
	struct view waits = shown(2, 0);

	waits.tasks_missing = true;
	shown_after(l, 4 * MINUTES, waits);
	check_condition(l, "Unknown", "NotRunning");
	shown_after(l, 30 * MINUTES, waits);
	shown_after(l, MINUTES, shown(2, 0));
	check_condition(l, "False", "Completing");
	shown_after(l, 5 * MINUTES, shown(2, 0));
	check_condition(l, "False", "Completing");
	shown_after(l, SECONDS, shown(2, 0));
	check_condition(l, "True", "TooOld");
}

CHECKPOINTS_TEST(a_savepoint_in_flight_makes_no_checkpoint_late)
{
	ask_savepoint(l, "n1");
	CHECK(l->life.operation.step != STEP_NONE);
	shown_after(l, 60 * MINUTES, shown(2, 0));
	check_condition(l, "False", "Completing");
}

CHECKPOINTS_TEST(a_job_that_does_not_run_here_has_no_verdict)
{
	desire(l, DESIRED_SUSPENDED);
	CHECK(l->life.phase == PHASE_STOPPING);
	check_condition(l, "Unknown", "NotRunning");
	CHECK_INT(took(l, EFFECT_TELL), ==, 1); /* the phase */
}
