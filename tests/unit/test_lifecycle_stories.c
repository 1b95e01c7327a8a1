/*
 * What goes wrong in real life between a stop, a crash and a start, one test each (S26-S50): failures
 * of operators, scripts and people. What each test asserts is what should have happened.
 */
#include "story.h"

/* ---- stop, savepoint, crash windows ---- */

STORY_TEST_FROM(story_runs, s26_a_crash_after_the_stop_finds_its_savepoint)
{
	desire(&s->l, DESIRED_SUSPENDED);
	operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
	savepoint(s, 2); /* and nobody lives to read the answer */
	container(s, "g1");
	observe(s);
	CHECK_PHASE(&s->l, PHASE_SUSPENDED);
	CHECK(s->l.life.journal.last_operation.ok);
	CHECK_STR(s->l.life.journal.last_operation.location, s->path);
	forget(&s->l);
	resume(s);
	observe(s);
	CHECK_STARTS(s, s->path);
}

TEST(s27_a_savepoint_counts_although_the_job_failed_at_its_stop)
{
	struct story s;

	for (int went_on = 0; went_on < 2; went_on++) {
		story_runs(&s);
		ask_restart(&s.l, "r1");
		operation(&s.l, STATUS_ACCEPTED, NULL, NULL);
		savepoint(&s, 2);
		operation(&s.l, STATUS_FAILED, s.path, "StopWithSavepointStoppingException");
		{
			struct event e = {.type = EVENT_INSPECTED,
					  .inspected = {.path = s.path,
							.readable = true,
							.complete = true,
							.checkpoint_id = 2}};

			step(&s.l, &e);
		}
		if (went_on) { /* it restarted, and has moved on: its checkpoint is the newest */
			pass(&s.l, 61000);
			checkpoint(&s, 3);
			exited(&s.l, KILLED(SIGKILL));
		} else {
			viewed(&s.l, job_in(JOB_FAILED));
			exited(&s.l, EXITED(1));
		}
		/* it is on record, and not only in the listing */
		CHECK_INT(s.l.life.journal.snapshot_count, ==, 1);
		CHECK_INT(s.l.life.journal.snapshots[0].checkpoint_id, ==, 2);
		CHECK(s.l.life.journal.snapshots[0].verified);
		forget(&s.l);
		if (!s.l.life.observing)
			pass(&s.l, 60000);
		observe(&s);
		CHECK_STARTS(&s, s.path);
		CHECK_INT(journal_launch(&s.l.life.journal)->restore_checkpoint_id, ==,
			  went_on ? 3 : 2);
		story_end(&s);
	}
}

STORY_TEST_FROM(story_runs, s28_a_stop_outlives_the_container)
{
	suspend(s, 2);
	for (int i = 0; i < 3; i++) { /* the kubelet restarts it */
		container(s, "g1");
		CHECK_PHASE(&s->l, PHASE_SUSPENDED);
		CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
	}
}

STORY_TEST_FROM(story_runs, s29_a_finished_job_never_runs_again_by_itself)
{
	viewed(&s->l, job_in(JOB_FINISHED));
	CHECK_STR(s->l.order, "WS"); /* on record before the only witness ends */
	exited(&s->l, EXITED(0));
	CHECK_PHASE(&s->l, PHASE_FINISHED);
	container(s, "g1");
	CHECK_PHASE(&s->l, PHASE_FINISHED);
	CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
}

STORY_TEST_FROM(story_runs, s30_a_failure_cause_is_a_failure)
{
	desire(&s->l, DESIRED_SUSPENDED);
	operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
	operation(&s->l, STATUS_FAILED, NULL, "Checkpoint expired before completing");
	CHECK_PHASE(&s->l, PHASE_RUNNING); /* the job is left alone */
	CHECK(!s->l.life.journal.last_operation.ok);
	CHECK_HAS(s->l.life.journal.last_operation.error, "expired");
	CHECK_NOTHING(&s->l, EFFECT_SIGNAL);
	CHECK_INT(s->l.life.journal.snapshot_count, ==, 0);
}

STORY_TEST_FROM(story_runs, s31_nothing_is_started_while_a_slow_stop_goes_on)
{
	ask_restart(&s->l, "r1");
	operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
	for (int i = 0; i < 60; i++) { /* an hour */
		operation(&s->l, STATUS_IN_PROGRESS, NULL, NULL);
		viewed(&s->l, job_in(JOB_RUNNING));
		pass(&s->l, 60000);
	}
	CHECK_PHASE(&s->l, PHASE_STOPPING);
	CHECK_NOTHING(&s->l, EFFECT_LAUNCH);
	CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
	CHECK_INT(took(&s->l, EFFECT_TRIGGER), ==, 1);
}

STORY_TEST_FROM(story_runs, s32_one_wish_is_one_stop)
{
	char trigger[JOB_ID_BYTES], job[JOB_ID_BYTES];

	ask_restart(&s->l, "r1");
	snprintf(trigger, sizeof(trigger), "%s", trigger_of(&s->l));
	ask_restart(&s->l, "r1"); /* said twice */
	CHECK_INT(took(&s->l, EFFECT_TRIGGER), ==, 1);
	snprintf(job, sizeof(job), "%s", job_of(&s->l));
	restart_agent(&s->l); /* and by an agent that knows only the record */
	hello(&s->l, job);
	CHECK_STR(trigger_of(&s->l), trigger);
	pass(&s->l, 1);
	CHECK_NOTHING(&s->l, EFFECT_TRIGGER); /* it asks first */
	CHECK_INT(took(&s->l, EFFECT_POLL_OPERATION), ==, 1);
	operation(&s->l, STATUS_IN_PROGRESS, NULL, NULL);
	savepoint(s, 2);
	reported(s, 2);
	viewed(&s->l, job_in(JOB_FINISHED));
	exited(&s->l, EXITED(0));
	observe(s);
	CHECK_STARTS(s, s->path);
	start(s);
	ask_restart(&s->l, "r1"); /* the new job is not stopped for the old wish */
	CHECK_PHASE(&s->l, PHASE_RUNNING);
	CHECK_NOTHING(&s->l, EFFECT_TRIGGER);
}

STORY_TEST_FROM(story_runs, s33_suspend_is_one_stop_with_savepoint)
{
	desire(&s->l, DESIRED_SUSPENDED);
	CHECK_INT(s->l.life.journal.operation.kind, ==, OPERATION_STOP);
	operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
	savepoint(s, 2);
	reported(s, 2);
	CHECK_INT(took(&s->l, EFFECT_TRIGGER), ==, 1); /* no cancel after it */
	CHECK_NOTHING(&s->l, EFFECT_SIGNAL);           /* not before the job has ended */
}

STORY_TEST_FROM(story_runs, s34_a_job_that_cannot_be_stopped_is_left_running)
{
	desire(&s->l, DESIRED_SUSPENDED);
	operation(&s->l, STATUS_FAILED, NULL, "not all required tasks are currently running");
	CHECK_PHASE(&s->l, PHASE_RUNNING);
	CHECK_HAS(s->l.life.reason, "not all required tasks");
	pass(&s->l, s->l.config.stop_retry_ms);
	CHECK_INT(took(&s->l, EFFECT_TRIGGER), ==, 2); /* tried again, under another id */
	desire(&s->l, DESIRED_CANCELLED);              /* cancel is another word */
	CHECK_INT(s->l.life.journal.operation.kind, ==, OPERATION_CANCEL);
}

STORY_TEST_FROM(story_runs, s35_a_result_that_was_never_read_is_looked_for)
{
	desire(&s->l, DESIRED_SUSPENDED);
	operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
	savepoint(s, 2);
	operation(&s->l, STATUS_UNREACHABLE, NULL, "connection refused");
	exited(&s->l, EXITED(2));
	observe(s);
	CHECK_PHASE(&s->l, PHASE_SUSPENDED);
	CHECK_STR(s->l.life.journal.last_operation.location, s->path);
}

STORY_TEST_FROM(story_runs, s36_sigterm_in_a_savepoint_is_no_stop)
{
	ask_savepoint(&s->l, "n1");
	operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
	forget(&s->l);
	stopping(&s->l, 30000);
	CHECK_STR(s->l.order, "ASW");
	CHECK_INT(s->l.last[EFFECT_SIGNAL].signo, ==, SIGTERM);
	savepoint(s, 2); /* it was just completed */
	exited(&s->l, EXITED(143));
	container(s, "g1");
	observe(s);
	CHECK_STARTS(s, s->path);
	CHECK_STR(s->l.life.journal.last_operation.location, s->path);
}

STORY_TEST_FROM(story_runs, s37_an_eviction_needs_no_person)
{
	for (int64_t id = 2; id < 5; id++) { /* node after node */
		checkpoint(s, id);
		stopping_for(&s->l, 30000, UPGRADE_NO);
		CHECK_NOTHING(&s->l, EFFECT_TRIGGER); /* nor a savepoint */
		exited(&s->l, EXITED(143));
		CHECK_INT(took(&s->l, EFFECT_EXIT), ==, 1);
		CHECK_INT(s->l.life.journal.intent.state, ==, DESIRED_RUNNING);
		container(s, "g1");
		observe(s);
		CHECK_STARTS(s, s->path);
		CHECK_INT(journal_launch(&s->l.life.journal)->restore_checkpoint_id, ==, id);
		start(s);
	}
	CHECK_INT(s->l.life.journal.snapshot_count, ==, 0);
}

STORY_TEST(s38_a_slow_periodic_savepoint_is_not_triggered_again)
{
	s->l.config.savepoints.interval_ms = 60000;
	hello(&s->l, NULL);
	observe(s);
	start(s);
	checkpoint(s, 1);
	pass(&s->l, 61000);
	CHECK_INT(took(&s->l, EFFECT_TRIGGER), ==, 1);
	operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
	for (int i = 0; i < 10; i++) {
		operation(&s->l, STATUS_IN_PROGRESS, NULL, NULL);
		pass(&s->l, 60000);
	}
	CHECK_INT(took(&s->l, EFFECT_TRIGGER), ==, 1);
}

STORY_TEST_FROM(story_runs, s39_an_upgrade_waits_for_the_savepoint_in_flight)
{
	ask_savepoint(&s->l, "n1");
	operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
	stopping_for(&s->l, 120000, UPGRADE_YES);
	CHECK_INT(took(&s->l, EFFECT_TRIGGER), ==, 1);
	savepoint(s, 2);
	reported(s, 2);
	CHECK_INT(took(&s->l, EFFECT_TRIGGER), ==, 2);
	CHECK_INT(s->l.life.journal.operation.kind, ==, OPERATION_STOP);
	operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
	savepoint(s, 3);
	reported(s, 3);
	viewed(&s->l, job_in(JOB_FINISHED));
	exited(&s->l, EXITED(0));
	CHECK_INT(s->l.life.journal.snapshot_count, ==, 2);
	container(s, "g2");
	observe(s);
	CHECK_STARTS(s, s->path);
	CHECK_INT(journal_launch(&s->l.life.journal)->restore_checkpoint_id, ==, 3);
}

TEST(s40_what_others_do_is_noticed)
{
	struct seen_savepoint seen = {.id = 2};
	char stopped[128];
	struct view view;
	struct story s;

	/* a savepoint becomes a candidate */
	story_runs(&s);
	s.l.config.retention = (struct retention){.max_age_ms = 1, .all_origins = true};
	savepoint(&s, 2);
	seen.path = s.path;
	view = restored_view(&s, JOB_RUNNING);
	view.savepoints = &seen;
	view.savepoint_count = 1;
	viewed(&s.l, view);
	CHECK_INT(s.l.life.journal.snapshot_count, ==, 1);
	pass(&s.l, 3600000);
	viewed(&s.l, view);
	CHECK_NOTHING(&s.l, EFFECT_DISPOSE);
	exited(&s.l, KILLED(SIGKILL));
	observe(&s);
	CHECK_STARTS(&s, s.path);
	start(&s);

	/* and stays when there are newer ones of ours, and nothing stands on it any more */
	checkpoint(&s, 3);
	exited(&s.l, KILLED(SIGKILL));
	if (!s.l.life.observing)
		pass(&s.l, 60000);
	observe(&s);
	start(&s);
	checkpoint(&s, 4);
	ask_savepoint(&s.l, "n1");
	operation(&s.l, STATUS_ACCEPTED, NULL, NULL);
	savepoint(&s, 5);
	reported(&s, 5);
	checkpoint(&s, 6);
	pass(&s.l, 3600000);
	viewed(&s.l, restored_view(&s, JOB_RUNNING));
	CHECK_NOTHING(&s.l, EFFECT_DISPOSE);
	CHECK_INT(s.l.life.journal.snapshot_count, ==, 2);

	/* a cancel is a wish */
	viewed(&s.l, job_in(JOB_CANCELED));
	exited(&s.l, EXITED(0));
	CHECK_PHASE(&s.l, PHASE_CANCELLED);
	container(&s, "g1");
	CHECK_PHASE(&s.l, PHASE_CANCELLED);
	CHECK_NOTHING(&s.l, EFFECT_LAUNCH);
	story_end(&s);

	/* and so is a stop, with the savepoint that it has made */
	story_runs(&s);
	savepoint(&s, 2);
	memcpy(stopped, s.path, sizeof(stopped));
	seen = (struct seen_savepoint){.id = 2, .path = stopped};
	view = restored_view(&s, JOB_FINISHED);
	view.savepoints = &seen;
	view.savepoint_count = 1;
	viewed(&s.l, view);
	exited(&s.l, EXITED(0));
	container(&s, "g1");
	CHECK_NOTHING(&s.l, EFFECT_LAUNCH);
	CHECK_INT(s.l.life.journal.snapshot_count, ==, 1);
	story_end(&s);
}

STORY_TEST_FROM(story_runs, s41_an_end_is_always_reached)
{
	s->l.config.on_sigterm = SIGTERM_SAVEPOINT;
	stopping(&s->l, 60000);
	operation(&s->l, STATUS_ACCEPTED, NULL, NULL);
	for (int i = 0; i < 59; i++) {
		operation(&s->l, STATUS_IN_PROGRESS, NULL, NULL);
		pass(&s->l, 1000);
	}
	CHECK_INT(s->l.last[EFFECT_SIGNAL].signo, ==, SIGKILL); /* SIGTERM before it */
	CHECK_INT(took(&s->l, EFFECT_SIGNAL), ==, 2);
	exited(&s->l, KILLED(SIGKILL));
	CHECK_INT(took(&s->l, EFFECT_EXIT), ==, 1);
}

/* ---- launch and duplicates ---- */

STORY_TEST(s42_a_start_that_nobody_confirmed_is_not_repeated)
{
	char job[JOB_ID_BYTES];

	hello(&s->l, NULL);
	observe(s);
	snprintf(job, sizeof(job), "%s", job_of(&s->l));
	pass(&s->l, 3600000); /* no answer from drey-init */
	CHECK_INT(took(&s->l, EFFECT_LAUNCH), ==, 1);
	restart_agent(&s->l);
	hello(&s->l, job); /* it does run: taken over by its id */
	CHECK_PHASE(&s->l, PHASE_LAUNCHING);
	CHECK_NOTHING(&s->l, EFFECT_LAUNCH);
	CHECK_INT(s->l.life.journal.launch_count, ==, 1);
}

STORY_TEST_FROM(story_runs, s43_of_two_agents_one_acts)
{
	s->l.hold_writes = true;
	ask_restart(&s->l, "r1");
	write_failed(&s->l, true);
	CHECK(s->l.life.fenced);
	CHECK_PHASE(&s->l, PHASE_HOLDING);
	CHECK_NOTHING(&s->l, EFFECT_TRIGGER);
	CHECK_INT(took(&s->l, EFFECT_SIGNAL), ==, 1); /* its own Flink does not run on */
	exited(&s->l, KILLED(9));
	desire(&s->l, DESIRED_CANCELLED);
	pass(&s->l, 3600000);
	CHECK_NOTHING(&s->l, EFFECT_TRIGGER);
	CHECK_NOTHING(&s->l, EFFECT_LAUNCH);
	CHECK_INT(took(&s->l, EFFECT_SIGNAL), ==, 1);
}

STORY_TEST_FROM(story_runs, s44_a_start_that_fails_has_used_up_nothing)
{
	char first[128];

	suspend(s, 2);
	snprintf(first, sizeof(first), "%s", s->path);
	resume(s);
	observe(s);
	CHECK_STARTS(s, first);
	CHECK_STR(s->l.durable.job_id, job_of(&s->l)); /* recorded first */
	started(&s->l);
	exited(&s->l, EXITED(1));
	forget(&s->l);
	pass(&s->l, 60000);
	observe(s);
	CHECK_STARTS(s, first);
}

STORY_TEST_FROM(story_runs, s45_a_restore_that_fails_is_never_followed_by_an_empty_start)
{
	suspend(s, 2);
	resume(s);
	for (int i = 0; i < s->l.config.max_attempts; i++) {
		observe(s);
		CHECK_STR(journal_launch(&s->l.life.journal)->restore_path, s->path);
		started(&s->l);
		viewed(&s->l, job_in(JOB_FAILED)); /* cannot map the state */
		exited(&s->l, EXITED(1));
		if (s->l.life.phase == PHASE_RESOLVING)
			pass(&s->l, 60000);
	}
	CHECK_PHASE(&s->l, PHASE_FAILED);
}

STORY_TEST(s46_a_main_that_throws_ends_after_some_attempts)
{
	struct view view = job_in(JOB_FAILED);

	hello(&s->l, NULL);
	view.failure = "IllegalArgumentException: --rate";
	for (int i = 0; i < s->l.config.max_attempts; i++) {
		observe(s);
		started(&s->l);
		viewed(&s->l, view);
		exited(&s->l, EXITED(1));
		if (s->l.life.phase == PHASE_RESOLVING)
			pass(&s->l, 60000);
	}
	CHECK_PHASE(&s->l, PHASE_FAILED);
	CHECK_HAS(s->l.life.journal.outcome.reason, "IllegalArgumentException: --rate");
	forget(&s->l);
	pass(&s->l, 24 * 3600000);
	CHECK_NOTHING(&s->l, EFFECT_LAUNCH);
}

/* A storm with progress goes on, but each restart is counted, and said. */
STORY_TEST_FROM(story_runs, s47_a_restart_storm_without_progress_ends)
{
	for (int i = 0; i < 3; i++) {
		exited(&s->l, KILLED(SIGKILL));
		CHECK_HAS(s->l.notes, "failed attempt: it ended");
		forget(&s->l);
		observe(s);
		start(s);
		checkpoint(s, 2 + i);
		pass(&s->l, 2000); /* more often than this, it would have to wait */
	}
	exited(&s->l, KILLED(SIGKILL));
	observe(s);
	for (int i = 1; i < s->l.config.max_attempts; i++) {
		started(&s->l);
		forget(&s->l);
		exited(&s->l, EXITED(1));
		if (s->l.life.phase != PHASE_RESOLVING)
			break;
		pass(&s->l, 60000);
		observe(s);
	}
	CHECK_PHASE(&s->l, PHASE_FAILED);
}

STORY_TEST_FROM(story_runs, s48_a_jvm_that_was_killed_is_a_failed_attempt_with_its_signal)
{
	struct event e = {.type = EVENT_EXITED,
			  .process = {.wait_status = KILLED(SIGKILL),
				      .oom_killed = true,
				      .meaning = "Flink was killed: out of memory"}};

	e.process.launch_id = job_of(&s->l);
	step(&s->l, &e);
	CHECK_INT(journal_launch(&s->l.life.journal)->wait_status, ==, SIGKILL);
	CHECK_STR(s->l.life.journal.last_error, "Flink was killed: out of memory");
	observe(s);
	CHECK_STARTS(s, s->path);
}

STORY_TEST_FROM(story_runs, s49_nothing_is_decided_before_the_process_is_gone)
{
	viewed(&s->l, job_in(JOB_FAILED)); /* the job is at its end, its Flink is not */
	CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
	pass(&s->l, 15000);
	CHECK_NOTHING(&s->l, EFFECT_OBSERVE);
	exited(&s->l, EXITED(1));
	CHECK_INT(took(&s->l, EFFECT_OBSERVE), ==, 1);
}

TEST(s50_the_old_image_resumes_after_a_bad_one)
{
	char path[128];
	struct story s;

	for (int started_at_all = 0; started_at_all < 2; started_at_all++) {
		story_runs(&s);
		stopping_for(&s.l, 120000, UPGRADE_YES);
		operation(&s.l, STATUS_ACCEPTED, NULL, NULL);
		savepoint(&s, 2);
		reported(&s, 2);
		snprintf(path, sizeof(path), "%s", s.path);
		viewed(&s.l, job_in(JOB_FINISHED));
		exited(&s.l, EXITED(0));
		if (started_at_all) { /* drey of the bad image runs, its Flink cannot be executed */
			container(&s, "g2");
			for (int i = 0; i < s.l.config.max_attempts; i++) {
				observe(&s);
				launch_failed(&s.l);
				if (s.l.life.phase == PHASE_RESOLVING)
					pass(&s.l, 60000);
			}
			CHECK_PHASE(&s.l, PHASE_FAILED);
		}
		container(&s, "g1");
		observe(&s);
		CHECK_STARTS(&s, path);
		story_end(&s);
	}
}

/* A first launch, whose checkpoint drey never saw over REST, but once in storage. */
STORY_TEST(what_was_seen_once_was_there)
{
	hello(&s->l, NULL);
	observe(s);
	start(s);
	store(s, SNAPSHOT_CHECKPOINT, 1);
	store(s, SNAPSHOT_SAVEPOINT, 2)->integrity = INTEGRITY_UNREADABLE;
	exited(&s->l, KILLED(SIGKILL));
	pass(&s->l, 60000);
	observe(s);
	CHECK_PHASE(&s->l, PHASE_HOLDING);
	CHECK(journal_launch(&s->l.life.journal)->left_state);
	s->count = 0; /* all of it is gone */
	pass(&s->l, 60000);
	observe(s);
	CHECK_PHASE(&s->l, PHASE_HOLDING);
	CHECK_HAS(s->l.life.reason, "has run before");
}

/* The same, but the store never answers for what it lists (lying world, seed 2219782). */
STORY_TEST(what_was_listed_and_never_read_was_there)
{
	struct stored *listed;

	hello(&s->l, NULL);
	observe(s);
	start(s);
	listed = store(s, SNAPSHOT_SAVEPOINT, 1);
	listed->integrity = INTEGRITY_UNREADABLE;
	exited(&s->l, KILLED(SIGKILL));
	pass(&s->l, 60000);
	observe(s);
	CHECK_PHASE(&s->l, PHASE_HOLDING);
	CHECK(!journal_launch(&s->l.life.journal)->left_state); /* nothing has shown it */
	listed->metadata_bytes = 1000;
	pass(&s->l, 60000);
	observe(s);
	CHECK(journal_launch(&s->l.life.journal)->left_state);
	s->count = 0;
	pass(&s->l, 60000);
	observe(s);
	CHECK_PHASE(&s->l, PHASE_HOLDING);
	CHECK_HAS(s->l.life.reason, "has run before");
}

/* The same, but all that is left of it at the first look is the entry in Flink's HA data. */
STORY_TEST(what_flink_has_recorded_was_there)
{
	struct stored *gone;

	hello(&s->l, NULL);
	observe(s);
	start(s);
	gone = store(s, SNAPSHOT_CHECKPOINT, 1);
	gone->integrity = INTEGRITY_INCOMPLETE;
	gone->in_ha = true;
	exited(&s->l, KILLED(SIGKILL));
	pass(&s->l, 60000);
	observe(s);
	CHECK_PHASE(&s->l, PHASE_HOLDING);
	CHECK(journal_launch(&s->l.life.journal)->left_state);
	s->count = 0; /* the map goes, too */
	pass(&s->l, 60000);
	observe(s);
	CHECK_PHASE(&s->l, PHASE_HOLDING);
	CHECK_HAS(s->l.life.reason, "has run before");
}
