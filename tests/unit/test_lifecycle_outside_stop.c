/*
 * A job that is stopped or cancelled in Flink itself, by its REST API: with do-not-restart on this is a
 * suspension, and a new generation that names exactly the savepoint of the stop starts it again. Told as
 * stories: resolve() and the life cycle together.
 */
#include "story.h"

/* Somebody stops the job in Flink, with savepoint `id`; drey sees that at its next look. */
static void stopped_outside(struct story *s, int64_t id)
{
	struct view view = restored_view(s, JOB_FINISHED);
	struct seen_savepoint theirs = {.id = id, .stop = true};

	savepoint(s, id);
	theirs.path = s->path;
	theirs.completed_unix_ms = story_now(s);
	view.savepoints = &theirs;
	view.savepoint_count = 1;
	viewed(&s->l, view);
}

static void cancelled_outside(struct story *s)
{
	viewed(&s->l, restored_view(s, JOB_CANCELED));
}

/* The container ends without a Flink, and the next one is of this generation. */
static void replaced(struct story *s, const char *generation, const char *initial)
{
	stopping_for(&s->l, 120000, UPGRADE_YES);
	CHECK_INT(took(&s->l, EFFECT_EXIT), ==, 1);
	s->l.config.policy.initial_savepoint = initial;
	container(s, generation);
}

/* ---- do-not-restart is on: a suspension ---- */

STORY_TEST_FROM(story_runs, the_written_procedure_goes_on_from_the_savepoint_of_the_stop)
{
	do_not_restart(&s->l, true);
	stopped_outside(s, 2);
	CHECK_STR(s->l.order, "WWS"); /* do-not-restart; the outcome, before Flink ends */
	exited(&s->l, EXITED(0));
	CHECK_PHASE(&s->l, PHASE_HOLDING);
	CHECK_INT(s->l.life.cause, ==, CAUSE_DO_NOT_RESTART);
	CHECK_HAS(s->l.life.reason, "stopped from outside drey, with ");
	CHECK_HAS(s->l.life.reason, s->path);
	forget(&s->l);
	replaced(s, "g2", s->path);
	CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
	do_not_restart(&s->l, false);
	observe(s);
	CHECK_STARTS(s, s->path);
	CHECK_INT(s->l.life.journal.outcome.kind, ==, OUTCOME_NONE);
	start(s);
}

STORY_TEST_FROM(story_runs, the_same_generation_goes_on_as_well)
{
	do_not_restart(&s->l, true);
	stopped_outside(s, 2);
	exited(&s->l, EXITED(0));
	forget(&s->l);
	do_not_restart(&s->l, false);
	observe(s);
	CHECK_STARTS(s, s->path);
}

TEST(a_cancel_goes_on_from_the_newest_checkpoint)
{
	char newest[128];
	struct story s;

	story_runs(&s);
	checkpoint(&s, 2);
	snprintf(newest, sizeof(newest), "%s", s.path);
	do_not_restart(&s.l, true);
	cancelled_outside(&s);
	exited(&s.l, EXITED(0));
	CHECK_HAS(s.l.life.reason, "cancelled from outside drey");
	forget(&s.l);
	do_not_restart(&s.l, false);
	observe(&s);
	CHECK_STARTS(&s, newest);
	story_end(&s);

	/* the job's own code lets Flink delete its checkpoints: never an older one, never none */
	story_runs(&s);
	checkpoint(&s, 2);
	do_not_restart(&s.l, true);
	cancelled_outside(&s);
	exited(&s.l, EXITED(0));
	s.count--;
	forget(&s.l);
	do_not_restart(&s.l, false);
	observe(&s);
	CHECK_PHASE(&s.l, PHASE_HOLDING);
	CHECK_NOTHING(&s.l, EFFECT_LAUNCH);
	story_end(&s);
}

TEST(a_savepoint_that_is_not_usable_is_never_replaced_by_an_older_state)
{
	for (int damaged = 0; damaged < 2; damaged++) {
		struct story s;

		story_runs(&s);
		do_not_restart(&s.l, true);
		stopped_outside(&s, 2);
		exited(&s.l, EXITED(0));
		if (damaged)
			s.stored[s.count - 1].integrity = INTEGRITY_DAMAGED;
		else
			s.count--;
		forget(&s.l);
		do_not_restart(&s.l, false);
		observe(&s);
		CHECK_PHASE(&s.l, PHASE_HOLDING);
		CHECK_INT(s.l.life.cause, ==, CAUSE_NEWEST_STATE_MISSING);
		CHECK_HAS(s.l.life.reason, s.path);
		CHECK_NOTHING(&s.l, EFFECT_LAUNCH);
		story_end(&s);
	}
}

STORY_TEST_FROM(story_runs, what_was_done_before_do_not_restart_stays_done)
{
	stopped_outside(s, 2);
	exited(&s->l, EXITED(0));
	CHECK_PHASE(&s->l, PHASE_CANCELLED);
	do_not_restart(&s->l, true);
	CHECK_PHASE(&s->l, PHASE_HOLDING);
	forget(&s->l);
	do_not_restart(&s->l, false);
	CHECK_PHASE(&s->l, PHASE_CANCELLED);
	CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
}

STORY_TEST_FROM(story_runs, a_do_not_restart_that_is_off_again_while_the_job_runs_means_nothing)
{
	do_not_restart(&s->l, true);
	do_not_restart(&s->l, false);
	viewed(&s->l, restored_view(s, JOB_RUNNING)); /* asked before that was known */
	pass(&s->l, 6000);
	viewed(&s->l, restored_view(s, JOB_RUNNING));
	stopped_outside(s, 2);
	exited(&s->l, EXITED(0));
	CHECK_PHASE(&s->l, PHASE_CANCELLED);
}

STORY_TEST_FROM(story_runs, a_do_not_restart_that_is_lifted_right_after_the_stop_was_on_at_the_stop)
{
	do_not_restart(&s->l, true);
	pass(&s->l, 5000);
	CHECK_INT(took(&s->l, EFFECT_POLL), >=, 1);
	do_not_restart(&s->l, false);
	viewed(&s->l, restored_view(s, JOB_RUNNING)); /* asked before it was lifted */
	stopped_outside(s, 2);
	forget(&s->l);
	exited(&s->l, EXITED(0));
	observe(s);
	CHECK_STARTS(s, s->path);
}

STORY_TEST_FROM(story_runs, a_job_that_finishes_under_do_not_restart_has_finished)
{
	do_not_restart(&s->l, true);
	viewed(&s->l, restored_view(s, JOB_FINISHED));
	exited(&s->l, EXITED(0));
	forget(&s->l);
	do_not_restart(&s->l, false);
	CHECK_PHASE(&s->l, PHASE_FINISHED);
	CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
}

TEST(another_agent_knows_that_it_is_a_suspension)
{
	struct story s;

	/* the agent dies before Flink has ended */
	story_runs(&s);
	do_not_restart(&s.l, true);
	stopped_outside(&s, 2);
	{
		char job[JOB_ID_BYTES];

		snprintf(job, sizeof(job), "%s", job_of(&s.l));
		restart_agent(&s.l);
		hello(&s.l, job);
	}
	CHECK_INT(took(&s.l, EFFECT_SIGNAL), ==, 1);
	do_not_restart(&s.l, false);
	exited(&s.l, EXITED(0));
	observe(&s);
	CHECK_STARTS(&s, s.path);
	story_end(&s);
}

STORY_TEST_FROM(story_runs, a_person_who_wants_it_cancelled_goes_first)
{
	do_not_restart(&s->l, true);
	stopped_outside(s, 2);
	exited(&s->l, EXITED(0));
	desire(&s->l, DESIRED_CANCELLED);
	forget(&s->l);
	do_not_restart(&s->l, false);
	CHECK_PHASE(&s->l, PHASE_CANCELLED);
	CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
}

/* One of drey's own is in flight: the stop is somebody else's all the same, and no end of the job. */
STORY_TEST_FROM(story_runs, a_stop_during_a_savepoint_of_drey_is_a_stop)
{
	do_not_restart(&s->l, true);
	ask_savepoint(&s->l, "n1");
	operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
	stopped_outside(s, 2);
	CHECK_INT(s->l.life.journal.outcome.kind, ==, OUTCOME_CANCELLED);
	exited(&s->l, EXITED(0));
	pass(&s->l, 10000);
	if (s->l.life.observing)
		observe(s);
	do_not_restart(&s->l, false);
	forget(&s->l);
	if (s->l.life.observing)
		observe(s);
	CHECK_STARTS(s, s->path);
}

/* ---- a new generation that names exactly the newest savepoint ---- */

STORY_TEST_FROM(story_runs, a_new_generation_with_exactly_this_savepoint_is_a_persons_word)
{
	stopped_outside(s, 2);
	exited(&s->l, EXITED(0));
	CHECK_PHASE(&s->l, PHASE_CANCELLED);
	replaced(s, "g2", s->path);
	observe(s);
	CHECK_STARTS(s, s->path);
	CHECK_INT(s->l.life.journal.outcome.kind, ==, OUTCOME_NONE);
	start(s);
}

STORY_TEST_FROM(story_runs, anything_else_keeps_the_job_parked)
{
	char path[128];

	stopped_outside(s, 2);
	snprintf(path, sizeof(path), "%s", s->path);
	exited(&s->l, EXITED(0));
	replaced(s, "g2", NULL);
	CHECK_PHASE(&s->l, PHASE_CANCELLED);
	CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
	CHECK_HAS(s->l.life.reason, "restore.initialSavepoint: ");
	CHECK_HAS(s->l.life.reason, path);
	replaced(s, "g2", "file:/elsewhere/savepoint-1");
	CHECK_PHASE(&s->l, PHASE_CANCELLED);
	CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
	replaced(s, "g1", path); /* the very same generation: nobody has changed anything */
	CHECK_PHASE(&s->l, PHASE_CANCELLED);
	CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
}

/* The key stayed in the values since the launch before: nobody has said that the job is to start again. */
STORY_TEST_FROM(story_runs, a_savepoint_of_the_launch_before_is_no_new_word)
{
	char path[128];

	stopped_outside(s, 2);
	snprintf(path, sizeof(path), "%s", s->path);
	exited(&s->l, EXITED(0));
	replaced(s, "g2", path);
	observe(s);
	start(s);
	cancelled_outside(s);
	exited(&s->l, EXITED(0));
	replaced(s, "g3", path);
	CHECK_PHASE(&s->l, PHASE_CANCELLED);
	CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
}

TEST(an_older_savepoint_is_no_word_to_go_back)
{
	char path[128];
	struct story s;

	/* a savepoint, then a newer checkpoint, then a cancel */
	story_runs(&s);
	ask_savepoint(&s.l, "n1");
	operation(&s.l, STATUS_ACCEPTED, NULL, NULL);
	savepoint(&s, 2);
	reported(&s, 2);
	snprintf(path, sizeof(path), "%s", s.path);
	checkpoint(&s, 3);
	cancelled_outside(&s);
	exited(&s.l, EXITED(0));
	replaced(&s, "g2", path);
	CHECK_PHASE(&s.l, PHASE_CANCELLED);
	CHECK_NOTHING(&s.l, EFFECT_OBSERVE);
	story_end(&s);
}

STORY_TEST_FROM(story_runs, the_word_holds_when_something_newer_is_found)
{
	char path[128];

	stopped_outside(s, 2);
	snprintf(path, sizeof(path), "%s", s->path);
	exited(&s->l, EXITED(0));
	store(s, SNAPSHOT_CHECKPOINT, 3); /* of the same job, and the journal knows nothing of it */
	replaced(s, "g2", path);
	observe(s);
	CHECK_PHASE(&s->l, PHASE_HOLDING);
	CHECK_INT(s->l.life.cause, ==, CAUSE_INITIAL_SAVEPOINT_UNUSABLE);
	CHECK_HAS(s->l.life.reason, path);
	CHECK_NOTHING(&s->l, EFFECT_LAUNCH);
	/* damaged: the checkpoint before is older, and that is not what was said */
	s->count--;
	s->stored[s->count - 1].integrity = INTEGRITY_DAMAGED;
	pass(&s->l, 60000);
	observe(s);
	CHECK_PHASE(&s->l, PHASE_HOLDING);
	CHECK_NOTHING(&s->l, EFFECT_LAUNCH);
	/* a person goes on all the same */
	resume(s);
	pass(&s->l, 1);
	observe(s);
	CHECK_INT(took(&s->l, EFFECT_LAUNCH), ==, 1);
}

TEST(do_not_restart_and_the_desired_state_go_before_the_word)
{
	struct story s;

	story_runs(&s);
	stopped_outside(&s, 2);
	exited(&s.l, EXITED(0));
	do_not_restart(&s.l, true);
	replaced(&s, "g2", s.path);
	CHECK_PHASE(&s.l, PHASE_HOLDING);
	CHECK_NOTHING(&s.l, EFFECT_OBSERVE);
	do_not_restart(&s.l, false);
	observe(&s);
	CHECK_STARTS(&s, s.path);
	story_end(&s);

	story_runs(&s);
	suspend(&s, 2);
	replaced(&s, "g2", s.path);
	CHECK_PHASE(&s.l, PHASE_SUSPENDED);
	story_end(&s);
}

STORY_TEST_FROM(story_runs, a_generation_that_failed_for_good_is_not_started_by_that)
{
	stopped_outside(s, 2);
	exited(&s->l, EXITED(0));
	journal_add_failed_generation(&s->l.life.journal, "g2");
	put_on_record(&s->l);
	replaced(s, "g2", s->path);
	CHECK_PHASE(&s->l, PHASE_FAILED);
	CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
}

/* ---- kind: Job ---- */

TEST(a_bounded_application_is_complete_after_a_stop)
{
	for (int on = 0; on < 2; on++) {
		struct story s;

		story_begin(&s);
		s.l.config.exit_when_finished = true;
		hello(&s.l, NULL);
		observe(&s);
		start(&s);
		checkpoint(&s, 1);
		if (on)
			do_not_restart(&s.l, true);
		stopped_outside(&s, 2);
		exited(&s.l, EXITED(0));
		CHECK_INT(took(&s.l, EFFECT_EXIT), ==, 1);
		CHECK_INT(s.l.last[EFFECT_EXIT].status, ==, 0);
		/* Kubernetes has missed that, and makes another Pod of this Job */
		forget(&s.l);
		container(&s, "g1");
		CHECK_INT(took(&s.l, EFFECT_EXIT), ==, 1);
		CHECK_INT(s.l.last[EFFECT_EXIT].status, ==, 0);
		CHECK_NOTHING(&s.l, EFFECT_OBSERVE);
		/* the Job is deleted and made anew */
		s.l.config.policy.initial_savepoint = s.path;
		container(&s, "g2");
		if (on)
			do_not_restart(&s.l, false);
		observe(&s);
		CHECK_STARTS(&s, s.path);
		story_end(&s);
	}
}

STORY_TEST(a_bounded_application_that_was_cancelled_is_not_complete)
{
	s->l.config.exit_when_finished = true;
	hello(&s->l, NULL);
	observe(s);
	start(s);
	checkpoint(s, 1);
	cancelled_outside(s);
	exited(&s->l, EXITED(0));
	CHECK_PHASE(&s->l, PHASE_CANCELLED);
	CHECK_NOTHING(&s->l, EFFECT_EXIT);
}
