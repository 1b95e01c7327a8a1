#include "tests/unit/life.h"

/* A running, proven job with three periodic savepoints, two of which may be kept. */
static void begin(struct life *l)
{
	static const char *const paths[] = {"file:/sp/savepoint-1", "file:/sp/savepoint-2",
					    "file:/sp/savepoint-3"};

	life_begin(l);
	l->config.retention.keep_count = 2;
	run_proven(l);
	for (int i = 0; i < 3; i++) {
		struct snapshot snapshot = {.path = (char *)(uintptr_t)paths[i],
					    .kind = SNAPSHOT_SAVEPOINT,
					    .origin = ORIGIN_PERIODIC,
					    .completed_unix_ms = 1000 + i,
					    .verified = true};

		journal_add_snapshot(&l->life.journal, &snapshot);
	}
	forget(l);
}

static void disposed_of(struct life *l, const char *path, const char *error)
{
	struct event e = {.type = EVENT_DISPOSED, .disposed = {.path = path, .error = error}};

	step(l, &e);
}

static void disposed(struct life *l, const char *error)
{
	disposed_of(l, "file:/sp/savepoint-1", error);
}

LIFE_TEST_FROM(begin, an_old_savepoint_goes_after_the_journal_says_so)
{
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_DISPOSE), ==, 1);
	CHECK_STR(l->order, "IWD");
	CHECK_STR(l->last[EFFECT_DISPOSE].id, journal_launch(&l->life.journal)->job_id);
	CHECK_STR(l->life.journal.disposing, "file:/sp/savepoint-1");
	disposed(l, NULL);
	CHECK(!l->life.journal.disposing);
	CHECK_INT(l->life.journal.snapshot_count, ==, 2);
	CHECK_STR(l->life.journal.snapshots[0].path, "file:/sp/savepoint-2");
	forget(l);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_NOTHING(l, EFFECT_DISPOSE);
}

LIFE_TEST_FROM(begin, nothing_goes_unless_what_is_left_is_complete)
{
	l->hold_keeper_checks = true;
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 1);
	CHECK_STR(l->life.keeper.path, "file:/sp/savepoint-3");
	CHECK_NOTHING(l, EFFECT_DISPOSE);

	/* it cannot be seen now: later */
	keeper_checked(l, false, false);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 1);
	CHECK_NOTHING(l, EFFECT_DISPOSE);
	pass(l, 11 * 60 * 1000);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_INSPECT), ==, 2);

	/* damaged: it counts no more, and with two that are good none is too many */
	keeper_checked(l, true, false);
	CHECK_HAS(l->notes, "savepoint-3 is damaged");
	CHECK(!l->life.journal.snapshots[2].verified);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_NOTHING(l, EFFECT_DISPOSE);
	CHECK_INT(l->life.journal.snapshot_count, ==, 3);
}

/* A person has deleted it: nothing goes until there is another one. */
LIFE_TEST_FROM(begin, that_the_newest_cannot_be_read_is_told_once_with_the_way_out)
{
	static const char sentence[] =
		"savepoints.retention waits: the newest savepoint file:/sp/savepoint-3, which is to stay, cannot be read, so no older one is deleted: a file is missing; if it was deleted, take another one (`drey savepoint`)";
	struct snapshot fourth = {.path = (char *)(uintptr_t) "file:/sp/savepoint-4",
				  .kind = SNAPSHOT_SAVEPOINT,
				  .origin = ORIGIN_MANUAL,
				  .completed_unix_ms = 1003,
				  .verified = true};

	l->hold_keeper_checks = true;
	viewed(l, job_in(JOB_RUNNING));
	keeper_checked(l, false, false);
	CHECK_HAS(l->notes, sentence);
	for (int i = 0; i < 3; i++) {
		forget(l);
		pass(l, 11 * 60 * 1000);
		viewed(l, job_in(JOB_RUNNING));
		CHECK_INT(took(l, EFFECT_INSPECT), ==, 1);
		keeper_checked(l, false, false);
		CHECK_STR(l->notes, "");
	}
	journal_add_snapshot(&l->life.journal, &fourth);
	forget(l);
	l->hold_keeper_checks = false;
	pass(l, 11 * 60 * 1000);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_STR(l->life.journal.disposing, "file:/sp/savepoint-1");
	CHECK_STR(l->life.keeper_unread, NULL);
}

TEST(a_look_that_was_overtaken_lets_nothing_go)
{
	struct life l;

	begin(&l);
	l.hold_keeper_checks = true;
	viewed(&l, job_in(JOB_RUNNING));
	ask_savepoint(&l, "n1");
	keeper_checked(&l, true, true); /* an operation goes first */
	CHECK_NOTHING(&l, EFFECT_DISPOSE);
	life_end(&l);

	begin(&l);
	l.hold_keeper_checks = true;
	viewed(&l, job_in(JOB_RUNNING));
	exited(&l, 137);
	CHECK(!l.life.keeper.path);
	CHECK_NOTHING(&l, EFFECT_DISPOSE);
	life_end(&l);
}

LIFE_TEST_FROM(begin, a_disposal_that_failed_is_told_and_tried_again_in_an_hour)
{
	viewed(l, job_in(JOB_RUNNING));
	disposed(l, "access denied");
	CHECK_HAS(l->notes,
		  "could not dispose of the old savepoint file:/sp/savepoint-1: access denied");
	CHECK_INT(l->life.journal.snapshot_count, ==, 3);
	forget(l);
	pass(l, 3500 * 1000);
	CHECK_NOTHING(l, EFFECT_DISPOSE);
	pass(l, 200 * 1000);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_DISPOSE), ==, 1);
}

LIFE_TEST_FROM(begin, nothing_goes_while_the_job_does_not_run)
{
	viewed(l, job_in(JOB_RESTARTING));
	CHECK_NOTHING(l, EFFECT_DISPOSE);
}

LIFE_TEST_FROM(begin, flinks_end_takes_a_disposal_back)
{
	l->hold_writes = true;
	viewed(l, job_in(JOB_RUNNING));
	CHECK_NOTHING(l, EFFECT_DISPOSE);
	exited(l, 137);
	l->hold_writes = false;
	written(l);
	CHECK_NOTHING(l, EFFECT_DISPOSE);
	disposed(l, NULL); /* a late answer is no answer any more */
	CHECK_INT(l->life.journal.snapshot_count, ==, 3);
}

LIFE_TEST_FROM(begin, the_answer_of_an_interrupted_disposal_is_not_that_of_the_next_one)
{
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_DISPOSE), ==, 1);
	disposed_of(l, "file:/sp/savepoint-0", NULL);
	CHECK_STR(l->life.journal.disposing, "file:/sp/savepoint-1");
	disposed(l, "busy");
	CHECK(!l->life.journal.disposing);

	/* announced again, and not yet asked for */
	forget(l);
	pass(l, 3500 * 1000);
	l->hold_writes = true;
	pass(l, 200 * 1000);
	viewed(l, job_in(JOB_RUNNING));
	disposed(l, NULL);
	CHECK_INT(l->life.journal.snapshot_count, ==, 3);
	l->hold_writes = false;
	written(l);
	CHECK_INT(took(l, EFFECT_DISPOSE), ==, 1);
}

static void refused(struct life *l, const char *path, const char *why)
{
	struct event e = {.type = EVENT_DISPOSED, .disposed = {.path = path, .needed = why}};

	step(l, &e);
}

LIFE_TEST_FROM(begin, one_that_another_snapshot_needs_stays_and_is_told_once)
{
	viewed(l, job_in(JOB_RUNNING));
	refused(l, "file:/sp/savepoint-1", "file:/ck/x/chk-7 refers to its file a");
	CHECK_HAS(l->notes,
		  "the old savepoint file:/sp/savepoint-1 stays: file:/ck/x/chk-7 refers");
	CHECK_INT(l->life.journal.snapshot_count, ==, 3);
	CHECK(!l->life.journal.disposing);
	forget(l);
	pass(l, 3500 * 1000);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_NOTHING(l, EFFECT_DISPOSE);

	/* what needs it may have gone */
	pass(l, 200 * 1000);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_DISPOSE), ==, 1);
	refused(l, "file:/sp/savepoint-1", "file:/ck/x/chk-7 refers to its file a");
	CHECK_STR(l->notes, "");
}

LIFE_TEST_FROM(begin, one_that_is_needed_does_not_keep_others)
{
	l->config.retention.keep_count = 1;
	viewed(l, job_in(JOB_RUNNING));
	CHECK_STR(l->life.journal.disposing, "file:/sp/savepoint-1");
	refused(l, "file:/sp/savepoint-1", "something refers to it");
	viewed(l, job_in(JOB_RUNNING));
	CHECK_STR(l->life.journal.disposing, "file:/sp/savepoint-2");
}

/* Three savepoints of now, which stay for an hour. */
static void begin_age(struct life *l)
{
	begin(l);
	l->config.retention = (struct retention){.max_age_ms = 3600 * 1000};
	for (size_t i = 0; i < 3; i++)
		l->life.journal.snapshots[i].completed_unix_ms = l->life.now_unix_ms + (int64_t)i;
	viewed(l, job_in(JOB_RUNNING));
	CHECK_NOTHING(l, EFFECT_DISPOSE);
}

LIFE_TEST_FROM(begin_age, age_comes_by_itself)
{
	pass(l, 3600 * 1000);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_NOTHING(l, EFFECT_DISPOSE);
	pass(l, 1000);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_DISPOSE), ==, 1);
}

LIFE_TEST_FROM(begin_age, age_counts_for_a_job_that_restarts_every_few_minutes)
{
	pass(l, 2 * 3600 * 1000);
	exited(l, KILLED(SIGKILL));
	forget(l);
	observed(l, DECISION_START_FROM, "file:/sp/savepoint-3", 3, NULL);
	started(l);
	viewed(l, (struct view){.reachable = true,
				.job_present = true,
				.statistics_known = true,
				.state = JOB_RUNNING,
				.restored = true,
				.restored_id = 3,
				.restored_path = "file:/sp/savepoint-3"});
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_NOTHING(l, EFFECT_DISPOSE); /* it may not complete anything */
	prove(l, 4);
	CHECK_INT(took(l, EFFECT_DISPOSE), ==, 1);
}

LIFE_TEST_FROM(begin_age, one_too_many_goes_at_once_although_age_is_looked_at_as_well)
{
	struct snapshot fourth = {.path = (char *)(uintptr_t) "file:/sp/savepoint-4",
				  .kind = SNAPSHOT_SAVEPOINT,
				  .origin = ORIGIN_PERIODIC,
				  .verified = true};

	l->config.retention.keep_count = 3;
	viewed(l, job_in(JOB_RUNNING));
	CHECK_NOTHING(l, EFFECT_DISPOSE);
	fourth.completed_unix_ms = l->life.now_unix_ms + 3;
	journal_add_snapshot(&l->life.journal, &fourth);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_DISPOSE), ==, 1);
}
