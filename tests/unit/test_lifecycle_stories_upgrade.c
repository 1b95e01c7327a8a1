/*
 * What goes wrong in real life with upgrades, rollbacks, detection and retention, one test each
 * (S51-S67). What each test asserts is what should have happened.
 */
#include "story.h"

/* The container of g1 ends for an upgrade, with savepoint `id`. */
static void hand_over(struct story *s, int64_t id)
{
	stopping_for(&s->l, 120000, UPGRADE_YES);
	operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
	savepoint(s, id);
	reported(s, id);
	viewed(&s->l, job_in(JOB_FINISHED));
	exited(&s->l, EXITED(0));
	CHECK_INT(took(&s->l, EFFECT_EXIT), ==, 1);
}

static void fail_for_good(struct story *s)
{
	for (int i = 0; i < s->l.config.max_attempts; i++) {
		observe(s);
		started(&s->l);
		exited(&s->l, EXITED(1));
		if (s->l.life.phase == PHASE_RESOLVING)
			pass(&s->l, 60000);
	}
	CHECK_PHASE(&s->l, PHASE_FAILED);
}

/* ---- upgrade and rollback ---- */

STORY_TEST_FROM(story_runs, s51_state_that_this_flink_cannot_read_is_never_replaced)
{
	store(s, SNAPSHOT_SAVEPOINT, 2)->version = 6;
	exited(&s->l, KILLED(SIGKILL));
	forget(&s->l);
	s->max_version = 5; /* an older Flink than the one that wrote it */
	observe(s);
	CHECK_PHASE(&s->l, PHASE_HOLDING);
	CHECK_HAS(s->l.life.reason, "written by a newer Flink");
	CHECK_NOTHING(&s->l, EFFECT_LAUNCH);
	s->max_version = 6;
	pass(&s->l, 60000);
	observe(s);
	CHECK_STARTS(s, s->path);
}

STORY_TEST_FROM(story_runs, s52_a_rollback_starts_from_the_upgrades_savepoint)
{
	char path[128];

	hand_over(s, 2);
	snprintf(path, sizeof(path), "%s", s->path);
	container(s, "g2");
	fail_for_good(s);
	container(s, "g1");
	observe(s);
	CHECK_STARTS(s, path);
	start(s);

	/* one that has moved on is newer; its state, or a person's choice */
	checkpoint(s, 3);
	stopping_for(&s->l, 120000, UPGRADE_NO);
	exited(&s->l, EXITED(143));
	container(s, "g3");
	observe(s);
	CHECK_STARTS(s, s->path);
	started(&s->l);
	exited(&s->l, EXITED(1));
	forget(&s->l);
	control(&s->l, CONTROL_NEW_START | CONTROL_RESTORE,
		(struct intent){
			.restore = {.kind = RESTORE_PATH, .token = (char *)"t1", .path = path}});
	pass(&s->l, 60000);
	{
		struct facts facts = {0};
		struct decision decision;
		struct event e = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};

		gather(s, &facts);
		facts_set_source(&facts, SOURCE_REQUEST, SOURCE_PRESENT, path);
		resolve(&s->l.life.journal, &facts, &s->l.config.policy, &decision);
		step(&s->l, &e);
		facts_release(&facts);
	}
	CHECK_STARTS(s, path);
}

STORY_TEST_FROM(story_runs, s53_a_rollback_waits_until_the_new_side_is_dead)
{
	char job[JOB_ID_BYTES];

	hand_over(s, 2);
	container(s, "g2");
	observe(s);
	started(&s->l);
	snprintf(job, sizeof(job), "%s", job_of(&s->l));
	restart_as(&s->l, "g1"); /* the configuration is the old one again, Flink is the new one */
	hello(&s->l, job);
	CHECK_PHASE(&s->l, PHASE_LAUNCHING);
	CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
	stopping_for(&s->l, 120000, UPGRADE_YES);
	CHECK_NOTHING(&s->l, EFFECT_EXIT); /* not before it has gone */
	exited(&s->l, EXITED(143));
	CHECK_INT(took(&s->l, EFFECT_EXIT), ==, 1);
	container(s, "g1");
	observe(s);
	CHECK_STARTS(s, s->path);
}

STORY_TEST_FROM(story_runs, s54_a_generation_that_failed_is_not_tried_again)
{
	hand_over(s, 2);
	container(s, "g2");
	fail_for_good(s);
	container(s, "g1");
	observe(s);
	start(s);
	checkpoint(s, 3);
	exited(&s->l, KILLED(SIGKILL));
	for (int i = 0; i < 3; i++) {
		container(s, "g2");
		CHECK_PHASE(&s->l, PHASE_FAILED);
		CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
		CHECK_HAS(s->l.life.reason, "generation g2 has used up its attempts");
	}
	resume(s); /* a person may */
	observe(s);
	CHECK_STARTS(s, s->path);
}

STORY_TEST_FROM(story_runs, s55_nothing_but_the_generation_is_an_upgrade)
{
	char job[JOB_ID_BYTES];

	snprintf(job, sizeof(job), "%s", job_of(&s->l));
	s->l.config.max_attempts = 9; /* another drey, another drey.yaml */
	s->l.config.savepoints.interval_ms = 3600000;
	restart_agent(&s->l);
	hello(&s->l, job);
	viewed(&s->l, restored_view(s, JOB_RUNNING));
	pass(&s->l, 60000);
	CHECK_PHASE(&s->l, PHASE_RUNNING);
	CHECK_NOTHING(&s->l, EFFECT_SIGNAL);
	CHECK_NOTHING(&s->l, EFFECT_TRIGGER);
	CHECK_STR(job_of(&s->l), job);
}

TEST(s56_a_cancel_for_the_upgrade_is_no_end)
{
	struct story s;

	for (int seen = 0; seen < 2; seen++) {
		story_runs(&s);
		s.l.config.upgrade = UPGRADE_STATELESS;
		s.l.config.policy.stateless_upgrade = true;
		stopping_for(&s.l, 120000, UPGRADE_YES);
		operation(&s.l, STATUS_ACCEPTED, NULL, NULL);
		if (seen) { /* else the container dies in the middle of it */
			viewed(&s.l, job_in(JOB_CANCELED));
			exited(&s.l, EXITED(0));
		}
		container(&s, "g2");
		CHECK_INT(s.l.life.journal.outcome.kind, ==, OUTCOME_NONE);
		observe(&s);
		CHECK_STARTS(&s, NULL);
		story_end(&s);
	}
}

STORY_TEST_FROM(story_runs, s57_a_checkpoint_after_the_savepoint_is_newer)
{
	suspend(s, 2);
	resume(s);
	observe(s);
	start(s);
	checkpoint(s, 3);
	viewed(&s->l, job_in(JOB_FAILED));
	exited(&s->l, KILLED(SIGKILL));
	forget(&s->l);
	if (!s->l.life.observing)
		pass(&s->l, 60000);
	observe(s);
	CHECK_STARTS(s, s->path);
	CHECK_INT(journal_launch(&s->l.life.journal)->restore_checkpoint_id, ==, 3);
}

/* A new version of a finished job is a person's word away, and not blocked. */
TEST(s58_a_finished_job_runs_again_when_a_person_says_so)
{
	struct story s;

	story_runs(&s);
	viewed(&s.l, job_in(JOB_FINISHED));
	exited(&s.l, EXITED(0));
	s.count = 0; /* Flink deletes the checkpoints of a job that is finished */
	container(&s, "g2");
	CHECK_PHASE(&s.l, PHASE_FINISHED);
	resume(&s);
	observe(&s);
	CHECK_PHASE(&s.l, PHASE_HOLDING); /* it has run before: not empty without a word */
	CHECK_HAS(s.l.life.reason, "drey resume --empty");
	control(&s.l, CONTROL_NEW_START | CONTROL_RESTORE,
		(struct intent){.restore = {.kind = RESTORE_EMPTY, .token = (char *)"t1"}});
	pass(&s.l, 1);
	observe(&s);
	CHECK_STARTS(&s, NULL);
	story_end(&s);

	story_runs(&s); /* declared stateless: resume is enough */
	s.l.config.policy.restore = POLICY_NONE;
	viewed(&s.l, job_in(JOB_FINISHED));
	exited(&s.l, EXITED(0));
	resume(&s);
	observe(&s);
	CHECK_STARTS(&s, NULL);
	story_end(&s);
}

/* ---- detection, reporting, retention ---- */

STORY_TEST(s59_a_job_without_slots_does_not_run)
{
	struct view view;

	hello(&s->l, NULL);
	observe(s);
	started(&s->l);
	view = restored_view(s, JOB_RUNNING);
	view.tasks_missing = true;
	for (int i = 0; i < 10; i++) {
		viewed(&s->l, view);
		CHECK_PHASE(&s->l, PHASE_LAUNCHING);
	}
	view.tasks_missing = false;
	viewed(&s->l, view);
	CHECK_PHASE(&s->l, PHASE_RUNNING);
	CHECK(!journal_launch(&s->l.life.journal)->proven_unix_ms); /* not before a checkpoint */
	checkpoint(s, 1);
	CHECK(journal_launch(&s->l.life.journal)->proven_unix_ms);
}

STORY_TEST_FROM(story_runs, s60_a_job_that_is_gone_is_reported_as_long_as_it_is)
{
	s->l.config.max_attempts = 1;
	exited(&s->l, EXITED(1));
	CHECK_PHASE(&s->l, PHASE_FAILED); /* and Running alone is ready */
	CHECK_HAS(s->l.notes, "Failed: ");
	pass(&s->l, 30 * 3600000);
	CHECK_PHASE(&s->l, PHASE_FAILED);
	CHECK_STR(s->l.life.journal.phase, "Failed");
	CHECK_HAS(s->l.life.journal.last_error, "it ended");
}

/* What is configured is in force: no limit waits for another switch. */
STORY_TEST(s61_each_limit_works_by_itself)
{
	s->l.config.ready_deadline_ms = 120000;
	s->l.config.max_attempts = 1;
	hello(&s->l, NULL);
	observe(s);
	started(&s->l);
	for (int i = 0; i < 13; i++) {
		viewed(&s->l, (struct view){.reachable = false});
		pass(&s->l, 10000);
	}
	CHECK_INT(s->l.last[EFFECT_SIGNAL].signo, ==, SIGTERM);
	exited(&s->l, EXITED(143));
	CHECK_PHASE(&s->l, PHASE_FAILED);
	CHECK_HAS(s->l.life.journal.last_error, "not running 120 s after the launch");
}

STORY_TEST(s62_a_slow_first_checkpoint_ends_nothing)
{
	hello(&s->l, NULL);
	observe(s);
	start(s);
	for (int i = 0; i < 48; i++) { /* two days of catching up */
		viewed(&s->l, job_in(JOB_RUNNING));
		pass(&s->l, 3600000);
	}
	CHECK_PHASE(&s->l, PHASE_RUNNING);
	CHECK_NOTHING(&s->l, EFFECT_SIGNAL);
}

TEST(s63_what_is_over_is_not_restarted_for_its_health)
{
	struct story s;

	for (int i = 0; i < 2; i++) {
		story_runs(&s);
		s.l.config.max_attempts = 1;
		viewed(&s.l, job_in(i ? JOB_FINISHED : JOB_FAILED));
		exited(&s.l, EXITED(i ? 0 : 1));
		CHECK_PHASE(&s.l, i ? PHASE_FINISHED : PHASE_FAILED);
		forget(&s.l);
		pass(&s.l, 7 * 24 * INT64_C(3600000));
		CHECK_STR(s.l.order, "");
		story_end(&s);
	}
}

STORY_TEST_FROM(story_runs, s64_a_look_that_is_never_answered_stops_nothing_else)
{
	pass(&s->l, 3600000); /* REST hangs */
	CHECK_INT(took(&s->l, EFFECT_POLL), ==, 1);
	ask_savepoint(&s->l, "n1");
	CHECK_INT(took(&s->l, EFFECT_TRIGGER), ==, 1);
	desire(&s->l, DESIRED_CANCELLED);
	pass(&s->l, 61000); /* nor is that answered: Flink is ended */
	CHECK_INT(took(&s->l, EFFECT_SIGNAL), ==, 1);
	exited(&s->l, EXITED(143));
	CHECK_PHASE(&s->l, PHASE_CANCELLED);
}

STORY_TEST_FROM(story_runs, s65_the_last_snapshot_is_never_disposed_of)
{
	/* nothing but the rule itself keeps it: no count does */
	s->l.config.retention = (struct retention){.max_age_ms = 1000, .all_origins = true};
	suspend(s, 2);
	resume(s);
	observe(s);
	start(s);
	pass(&s->l, 24 * 3600000); /* old, but all that there is */
	viewed(&s->l, restored_view(s, JOB_RUNNING));
	CHECK_NOTHING(&s->l, EFFECT_DISPOSE);
	checkpoint(s, 3); /* the launch stands on its own, and it is still the newest savepoint */
	pass(&s->l, 24 * 3600000);
	viewed(&s->l, restored_view(s, JOB_RUNNING));
	CHECK_NOTHING(&s->l, EFFECT_DISPOSE);
	/* nor when the next job does not stand on it, and it is the result of nothing any more */
	exited(&s->l, KILLED(SIGKILL));
	if (!s->l.life.observing)
		pass(&s->l, 60000);
	observe(s);
	CHECK_STARTS(s, s->path);
	start(s);
	checkpoint(s, 4);
	ask_savepoint(&s->l, "n1");
	operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
	operation(&s->l, STATUS_FAILED, NULL, "no space left");
	CHECK(!s->l.life.journal.last_operation.location);
	pass(&s->l, 24 * 3600000);
	viewed(&s->l, restored_view(s, JOB_RUNNING));
	CHECK_NOTHING(&s->l, EFFECT_DISPOSE);
	CHECK_INT(s->l.life.journal.snapshot_count, ==, 1);
}

STORY_TEST_FROM(story_runs, s66_old_savepoints_go)
{
	s->l.config.retention.keep_count = 2;
	for (int i = 0; i < 10; i++) {
		struct event e = {.type = EVENT_DISPOSED};
		char *path;

		s->l.life.savepoint_ms = s->l.now_ms + 1000;
		pass(&s->l, 1001);
		CHECK_INT(s->l.life.journal.operation.reason, ==, REASON_PERIODIC);
		operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
		savepoint(s, 2 + i);
		reported(s, 2 + i);
		viewed(&s->l, restored_view(s, JOB_RUNNING));
		path = xstrdup(s->l.life.journal.disposing);
		e.disposed.path = path;
		if (path)
			step(&s->l, &e);
		free(path);
	}
	CHECK_INT(s->l.life.journal.snapshot_count, ==, 2);
	CHECK_STR(s->l.life.journal.snapshots[1].path, s->path);
}

/* Until the present job has a full snapshot of its own, what it was started from may hold its files. */
STORY_TEST_FROM(story_runs, s67_what_the_job_stands_on_stays)
{
	struct snapshot newer = {.path = (char *)"file:/sp/savepoint-other",
				 .kind = SNAPSHOT_SAVEPOINT,
				 .origin = ORIGIN_PERIODIC,
				 .verified = true};

	s->l.config.retention = (struct retention){.keep_count = 1, .all_origins = true};
	suspend(s, 2);
	resume(s);
	observe(s);
	start(s);
	newer.completed_unix_ms = story_now(s) + 1; /* so that it is not the newest any more */
	journal_add_snapshot(&s->l.life.journal, &newer);
	xstrset(&s->l.life.journal.last_operation.location, newer.path);
	for (int i = 0; i < 5; i++) {
		pass(&s->l, 3600000);
		viewed(&s->l, restored_view(s, JOB_RUNNING));
		CHECK_NOTHING(&s->l, EFFECT_DISPOSE);
	}
	/* Flink's HA may name it for some checkpoints more: it stays as long as the job does */
	checkpoint(s, 3);
	CHECK_NOTHING(&s->l, EFFECT_DISPOSE);

	/* nothing else has kept it: the next job stands on a checkpoint, and it goes */
	exited(&s->l, KILLED(SIGKILL));
	if (!s->l.life.observing)
		pass(&s->l, 60000);
	observe(s);
	CHECK_STARTS(s, s->path);
	start(s);
	checkpoint(s, 4);
	pass(&s->l, 3600000);
	viewed(&s->l, restored_view(s, JOB_RUNNING));
	CHECK_INT(took(&s->l, EFFECT_DISPOSE), ==, 1);
}
