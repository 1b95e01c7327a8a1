/* health.restartAfter: a job that runs and completes no checkpoint is restarted from its newest one, if that can help. */
#include "life.h"

#define SECONDS 1000
#define MINUTES (60 * SECONDS)

/* A job with an interval of 10 s, as a poll shows it. */
static struct view shown(int64_t completed_id)
{
	struct view view = job_in(JOB_RUNNING);

	view.completed_id = completed_id;
	view.completed_path = completed_id ? CHK(1) : NULL;
	view.completed_unix_ms = UNIX_START;
	view.plan = (struct checkpoint_plan){.known = true, .interval_ms = 10 * SECONDS};
	return view;
}

static void begin(struct life *l)
{
	life_begin(l);
	l->config.health.restart_after_ms = 15 * MINUTES;
	run_proven(l);
	shown_after(l, SECONDS, shown(2));
	forget(l);
}

#define STALL_TEST(name) TEST_WITH(name, struct life, l, begin, life_end)

static void newest_is(struct life *l, bool readable, bool complete)
{
	struct event e = {.type = EVENT_INSPECTED,
			  .inspected = {.path = CHK(1),
					.readable = readable,
					.complete = complete,
					.error = complete ? NULL : "no answer"}};

	step(l, &e);
}

static bool is_asked(const struct life *l)
{
	return took(l, EFFECT_INSPECT) && !strcmp(l->inspected, CHK(1));
}

STALL_TEST(it_is_restarted_when_its_newest_checkpoint_can_be_read)
{
	shown_after(l, 15 * MINUTES - 1, shown(2));
	CHECK(!is_asked(l));
	shown_after(l, 1, shown(2));
	CHECK(is_asked(l));
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 0);
	shown_after(l, SECONDS, shown(2));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 1); /* once */
	newest_is(l, true, true);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_HAS(l->life.end_reason, "no checkpoint has completed for 15 min");
	CHECK_HAS(l->life.end_reason, "(health.restartAfter); the newest is " CHK(1));
	exited(l, 143 << 8);
	/* a failed attempt; a proven launch is followed at once */
	CHECK_INT(l->life.journal.failure_count, ==, 1);
	CHECK_HAS(l->life.journal.last_error, "no checkpoint has completed");
	CHECK(l->life.observing);
}

STALL_TEST(it_runs_on_while_that_one_cannot_be_read)
{
	shown_after(l, 15 * MINUTES, shown(2));
	newest_is(l, false, false);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 0);
	CHECK_HAS(l->notes, "is not restarted (health.restartAfter)");
	CHECK_HAS(l->notes, "cannot be read: no answer");
	shown_after(l, 10 * MINUTES - 1, shown(2));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 1);
	shown_after(l, 1, shown(2));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 2);
	newest_is(l, true, false);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 0);
	CHECK_HAS(l->notes, "is damaged");
	CHECK(l->life.phase == PHASE_RUNNING);
}

STALL_TEST(a_checkpoint_that_completes_meanwhile_is_enough)
{
	shown_after(l, 15 * MINUTES, shown(2));
	shown_after(l, SECONDS, shown(3));
	newest_is(l, true, true);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 0);
	shown_after(l, 15 * MINUTES, shown(3));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 2);
}

/* What keeps it from being restarted. */
static void no_limit(struct life *l)
{
	l->config.health.restart_after_ms = 0;
}

static void unproven(struct life *l)
{
	struct launch *launch = journal_launch(&l->life.journal);

	launch->proven_unix_ms = launch->last_checkpoint_id = 0;
	xstrset(&launch->last_checkpoint_path, NULL);
}

static void do_not_restart_is_on(struct life *l)
{
	do_not_restart(l, true);
}

static void last_attempt(struct life *l)
{
	l->config.attempts_window_ms = 60 * MINUTES;
	while (l->life.journal.failure_count + 1 < (size_t)l->config.max_attempts)
		journal_add_failure(&l->life.journal, l->life.now_unix_ms);
}

static void journal_is_broken(struct life *l)
{
	l->life.journal_broken = true;
	l->life.journal_error = xstrdup("disk full");
	l->life.journal_retry_ms = l->now_ms + 60 * MINUTES;
}

static void handed_over(struct life *l)
{
	l->life.journal.handover.state = HANDOVER_STOPPING;
}

static void two_intervals_are_longer(struct life *l)
{
	l->life.seen.plan.interval_ms = 8 * MINUTES;
}

static void long_interval(struct life *l)
{
	l->life.seen.plan.interval_ms = INT64_MAX - 1;
}

static void no_interval(struct life *l)
{
	l->life.seen.plan.interval_ms = 0;
}

/* The next start would go back behind its newest checkpoint, or hold. */
static void checkpoints_are_excluded(struct life *l)
{
	l->config.policy.restore = POLICY_SAVEPOINT;
}

static void too_old_to_start_from(struct life *l)
{
	l->config.policy.max_age_ms = 10 * MINUTES;
	journal_launch(&l->life.journal)->last_checkpoint_unix_ms =
		l->life.now_unix_ms - 11 * MINUTES;
}

TEST(nothing_is_done_where_a_restart_could_not_help)
{
	static void (*const reasons[])(struct life *) = {no_limit,
							 unproven,
							 do_not_restart_is_on,
							 last_attempt,
							 handed_over,
							 journal_is_broken,
							 two_intervals_are_longer,
							 long_interval,
							 no_interval,
							 checkpoints_are_excluded,
							 too_old_to_start_from};

	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		struct view view = shown(reasons[i] == unproven ? 0 : 2);
		struct life l;

		begin(&l);
		reasons[i](&l);
		view.plan = (struct checkpoint_plan){0}; /* not asked again */
		shown_after(&l, 15 * MINUTES, view);
		if (!CHECK_INT(took(&l, EFFECT_INSPECT), ==, 0))
			tap_note("reason %zu", i);
		life_end(&l);
	}
}

STALL_TEST(what_flink_does_not_say_is_no_stall)
{
	struct view silent = {0}, failed = shown(2), off = shown(0), less = shown(2);

	shown_after(l, 60 * MINUTES, silent);
	failed.statistics_known = false;
	failed.statistics_failed = true;
	shown_after(l, SECONDS, failed);
	less.statistics_known = false; /* a poll that did not ask */
	shown_after(l, SECONDS, less);
	off.statistics_known = false;
	off.checkpointing_off = true;
	shown_after(l, SECONDS, off);
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 0);
	shown_after(l, SECONDS, shown(2));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 1);
	/* a stop has begun while it was checked */
	desire(l, DESIRED_SUSPENDED);
	newest_is(l, true, true);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 0);
}

STALL_TEST(the_answer_about_the_last_flink_counts_no_more)
{
	shown_after(l, 15 * MINUTES, shown(2));
	exited(l, 1 << 8);
	newest_is(l, true, true);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 0);
	CHECK(l->life.stalled.step == STEP_NONE);
}

static void ask_checkpoint(struct life *l)
{
	struct event e = {.type = EVENT_CONTROL, .control.fields = CONTROL_CHECKPOINT};

	e.control.checkpoint_nonce = "n1";
	step(l, &e);
}

/* It is one more that does not complete. */
STALL_TEST(a_requested_checkpoint_does_not_delay_it)
{
	ask_checkpoint(l);
	CHECK_INT(took(l, EFFECT_TRIGGER_CHECKPOINT), ==, 1);
	shown_after(l, 15 * MINUTES, shown(2));
	CHECK(is_asked(l));
	newest_is(l, true, true);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, 143 << 8);
	CHECK_HAS(l->life.journal.checkpoint_requests[0].error, "Flink exited");
}

STALL_TEST(a_due_full_checkpoint_waits_for_the_look_and_does_not_spin)
{
	l->config.full_checkpoint_ms = 15 * MINUTES;
	l->life.full_checkpoint_ms = l->now_ms + 15 * MINUTES + SECONDS;
	shown_after(l, 15 * MINUTES, shown(2));
	CHECK(is_asked(l));
	pass(l, MINUTES);
	CHECK_NOTHING(l, EFFECT_TRIGGER_CHECKPOINT);
	newest_is(l, false, false);
	CHECK_INT(took(l, EFFECT_TRIGGER_CHECKPOINT), ==, 1);
}
