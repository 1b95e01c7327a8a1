/* Savepoints, stops and cancels that others ask Flink for (S40). */
#include "life.h"

#define THEIRS "file:/elsewhere/savepoint-9"

static struct seen_savepoint theirs(int64_t id)
{
	return (struct seen_savepoint){.id = id, .path = THEIRS, .completed_unix_ms = 123};
}

static void show(struct life *l, enum job_state state, const struct seen_savepoint *savepoints,
		 size_t count)
{
	struct view view = job_in(state);

	view.completed_id = 1;
	view.completed_path = CHK(1);
	view.savepoints = savepoints;
	view.savepoint_count = count;
	viewed(l, view);
}

LIFE_TEST(a_savepoint_of_somebody_else_is_recorded_once)
{
	struct seen_savepoint savepoint = theirs(5);

	run_proven(l);
	show(l, JOB_RUNNING, &savepoint, 1);
	CHECK_INT(took(l, EFFECT_WRITE_JOURNAL), ==, 1);
	CHECK_HAS(l->notes, THEIRS " (checkpoint id 5) was requested from outside drey");
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
	if (l->life.journal.snapshot_count == 1) {
		const struct snapshot *s = &l->life.journal.snapshots[0];

		CHECK_STR(s->path, THEIRS);
		CHECK_INT(s->kind, ==, SNAPSHOT_SAVEPOINT);
		CHECK_INT(s->origin, ==, ORIGIN_FOUND);
		CHECK_INT(s->checkpoint_id, ==, 5);
		CHECK_INT(s->completed_unix_ms, ==, 123);
		CHECK_STR(s->job_id, job_of(l));
		CHECK(!s->verified);
	}
	forget(l);
	show(l, JOB_RUNNING, &savepoint, 1);
	CHECK_NOTHING(l, EFFECT_WRITE_JOURNAL);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
}

LIFE_TEST(dreys_own_savepoint_is_not_taken_for_somebody_elses)
{
	struct seen_savepoint ours = {.id = 50, .path = SAVEPOINT_1};

	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	show(l, JOB_RUNNING, &ours, 1); /* complete, and not yet asked for */
	CHECK_INT(l->life.journal.snapshot_count, ==, 0);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	show(l, JOB_RUNNING, &ours, 1);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
	CHECK_INT(l->life.journal.snapshots[0].origin, ==, ORIGIN_MANUAL);
}

LIFE_TEST(a_savepoint_that_flink_shows_during_an_operation_is_known_to_have_been)
{
	struct seen_savepoint ours = {.id = 50, .path = SAVEPOINT_1};

	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	CHECK(!journal_launch(&l->life.journal)->left_state);
	show(l, JOB_RUNNING, &ours, 1);
	CHECK(journal_launch(&l->life.journal)->left_state);
}

LIFE_TEST(a_damaged_savepoint_of_drey_is_not_recorded_by_the_back_door)
{
	struct seen_savepoint ours = {.id = 50, .path = SAVEPOINT_1};

	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, false);
	show(l, JOB_RUNNING, &ours, 1);
	show(l, JOB_RUNNING, &ours, 1);
	CHECK_INT(l->life.journal.snapshot_count, ==, 0);
}

LIFE_TEST(one_of_somebody_else_during_an_operation_is_recorded_after_it)
{
	struct seen_savepoint both[] = {theirs(49), {.id = 48, .path = SAVEPOINT_1}};

	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	show(l, JOB_RUNNING, both, 2);
	CHECK_INT(l->life.journal.snapshot_count, ==, 0);
	operation(l, STATUS_FAILED, NULL, "timeout");
	show(l, JOB_RUNNING, both, 1);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
	CHECK_STR(l->life.journal.snapshots[0].path, THEIRS);
}

LIFE_TEST(one_that_drey_has_disposed_of_does_not_come_back)
{
	struct seen_savepoint all[] = {{.id = 3, .path = "file:/sp/savepoint-3"},
				       {.id = 4, .path = "file:/sp/savepoint-4"}};
	struct snapshot kept = {.path = (char *)"file:/sp/savepoint-4",
				.kind = SNAPSHOT_SAVEPOINT,
				.origin = ORIGIN_PERIODIC,
				.checkpoint_id = 4,
				.completed_unix_ms = 1000,
				.verified = true};

	run_proven(l);
	snprintf(kept.job_id, sizeof(kept.job_id), "%s", job_of(l));
	journal_add_snapshot(&l->life.journal, &kept);
	show(l, JOB_RUNNING, all, 2);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
}

LIFE_TEST(what_the_job_was_started_from_is_no_news)
{
	struct seen_savepoint origin = {.id = 50, .path = SAVEPOINT_1};
	struct view view = job_restored(JOB_RUNNING, 50, SAVEPOINT_1);

	hello(l, NULL);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	started(l);
	view.savepoints = &origin;
	view.savepoint_count = 1;
	viewed(l, view);
	CHECK_INT(l->life.journal.snapshot_count, ==, 0);
}

LIFE_TEST(statistics_that_could_not_be_read_say_nothing)
{
	struct seen_savepoint savepoint = theirs(5);
	struct view view = job_in(JOB_RUNNING);

	run_proven(l);
	view.statistics_known = false;
	view.savepoints = &savepoint;
	view.savepoint_count = 1;
	viewed(l, view);
	CHECK_INT(l->life.journal.snapshot_count, ==, 0);
}

LIFE_TEST(retention_never_touches_what_others_have_made)
{
	struct seen_savepoint savepoint = theirs(5);

	l->config.retention =
		(struct retention){.keep_count = 1, .max_age_ms = 1, .all_origins = true};
	run_proven(l);
	show(l, JOB_RUNNING, &savepoint, 1);
	for (int i = 0; i < 3; i++) {
		char path[] = "file:/sp/savepoint-x1";
		struct snapshot ours = {.path = path,
					.kind = SNAPSHOT_SAVEPOINT,
					.origin = ORIGIN_PERIODIC,
					.checkpoint_id = 10 + i,
					.completed_unix_ms = 2000 + i,
					.verified = true};

		path[strlen(path) - 1] = "123"[i];
		journal_add_snapshot(&l->life.journal, &ours);
	}
	pass(l, 11 * 60 * 1000);
	for (int i = 0; i < 5; i++) {
		struct event e = {.type = EVENT_DISPOSED};
		char *path;

		show(l, JOB_RUNNING, &savepoint, 1);
		path = xstrdup(l->life.journal.disposing);
		if (!path)
			break;
		CHECK(!snapshot_same_path(path, THEIRS));
		e.disposed.path = path;
		step(l, &e);
		free(path);
	}
	CHECK_INT(l->life.journal.snapshot_count, ==, 2); /* theirs and the newest of ours */
	CHECK_STR(l->life.journal.snapshots[0].path, THEIRS);
}

LIFE_TEST(a_stop_by_somebody_else_is_a_wish_and_no_end_of_the_job)
{
	struct seen_savepoint savepoint = theirs(5);

	l->config.exit_when_finished = true;
	run_proven(l);
	savepoint.stop = true;
	show(l, JOB_FINISHED, &savepoint, 1);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_CANCELLED);
	CHECK_HAS(l->life.journal.outcome.reason, "stopped from outside drey, with " THEIRS);
	CHECK_STR(l->order, "WS"); /* on record before Flink ends */
	exited(l, EXITED(0));
	CHECK_PHASE(l, PHASE_CANCELLED);
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1); /* a Job is complete then */
	CHECK_INT(l->last[EFFECT_EXIT].status, ==, 0);
	CHECK_INT(l->life.journal.snapshot_count, ==, 1);
}

TEST(a_job_that_finished_after_somebodys_savepoint_has_finished)
{
	struct seen_savepoint savepoints[] = {theirs(5), theirs(1)};
	struct life l;

	for (int i = 0; i < 2; i++) {
		life_begin(&l);
		run_proven(&l);
		savepoints[1].stop = true; /* a stop that failed: the job went on to checkpoint 1 */
		show(&l, JOB_FINISHED, &savepoints[i], 1);
		CHECK_INT(l.life.journal.outcome.kind, ==, OUTCOME_FINISHED);
		life_end(&l);
	}
}

LIFE_TEST(a_cancel_by_somebody_else_stays)
{
	run_proven(l);
	show(l, JOB_CANCELED, NULL, 0);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_CANCELLED);
	CHECK_STR(l->life.journal.outcome.reason, "cancelled from outside drey");
	exited(l, EXITED(0));
	restart_agent(l);
	hello(l, NULL);
	CHECK_PHASE(l, PHASE_CANCELLED);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
}

/* Savepoint 6 is complete before checkpoint 5, which was begun before it: by the time of completion the checkpoint
 * would be the newer one. The answer about the savepoint names a place only, storage does not answer at that
 * moment; what Flink shows of its savepoints has the id. */
TEST(the_id_of_a_savepoint_is_learned_from_what_flink_shows)
{
	struct seen_savepoint own = {.id = 6, .path = SAVEPOINT_1, .completed_unix_ms = 123};
	struct life l;

	for (int looked_at = 0; looked_at < 2; looked_at++) {
		life_begin(&l);
		run_proven(&l);
		ask_savepoint(&l, "n1");
		operation(&l, STATUS_ACCEPTED, NULL, NULL);
		operation(&l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
		if (looked_at)
			inspected(&l, false, false);
		CHECK_INT(l.life.journal.snapshots[0].checkpoint_id, ==, 0);
		forget(&l);
		show(&l, JOB_RUNNING, &own, 1);
		CHECK_INT(l.life.journal.snapshot_count, ==, 1);
		CHECK_INT(l.life.journal.snapshots[0].checkpoint_id, ==, 6);
		CHECK_INT(took(&l, EFFECT_WRITE_JOURNAL), ==, 1);
		if (!looked_at)
			inspected(&l, false, false);
		CHECK_INT(l.life.journal.snapshots[0].checkpoint_id, ==, 6);
		CHECK_INT(l.life.journal.snapshots[0].origin, ==, ORIGIN_MANUAL);
		life_end(&l);
	}
	/* a look that shows damage takes it off the record all the same */
	life_begin(&l);
	run_proven(&l);
	ask_savepoint(&l, "n1");
	operation(&l, STATUS_ACCEPTED, NULL, NULL);
	operation(&l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	show(&l, JOB_RUNNING, &own, 1);
	inspected(&l, true, false);
	CHECK_INT(l.life.journal.snapshot_count, ==, 0);
	life_end(&l);
}

/* ---- Flink has cancelled the job, because main() has failed (Flink 2.3) ---- */

static struct view cancelled_by(enum application application, const char *failure)
{
	struct view view = job_in(JOB_CANCELED);

	view.application = application;
	view.failure = failure;
	return view;
}

LIFE_TEST(a_job_that_flink_has_cancelled_is_a_failed_attempt)
{
	run_proven(l);
	viewed(l, cancelled_by(APPLICATION_FAILED, "IllegalStateException: main() has failed"));
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_NONE);
	exited(l, EXITED(163));
	CHECK_PHASE(l, PHASE_RESOLVING);
	CHECK_HAS(l->life.journal.last_error, "main() has failed");
	CHECK_HAS(l->life.journal.last_error, "Flink cancelled its job");
}

LIFE_TEST(flink_may_say_a_moment_later_why_it_has_cancelled_the_job)
{
	run_proven(l);
	viewed(l, cancelled_by(APPLICATION_FAILING, NULL));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_NONE);
	l->now_ms += 2000;
	viewed(l, cancelled_by(APPLICATION_FAILED, "IllegalStateException: main() has failed"));
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_HAS(l->life.end_reason, "main() has failed");
}

LIFE_TEST(an_application_that_never_comes_to_its_end_has_failed_all_the_same)
{
	run_proven(l);
	for (int i = 0; i < 10; i++) {
		viewed(l, cancelled_by(APPLICATION_FAILING, NULL));
		l->now_ms += 2000;
	}
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_NONE);
	CHECK_HAS(l->life.end_reason, "Flink reports no cause");
}

LIFE_TEST(a_person_has_cancelled_the_job_if_its_application_has_not_failed)
{
	run_proven(l);
	viewed(l, cancelled_by(APPLICATION_OTHER, NULL));
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_CANCELLED);
	CHECK_STR(l->life.journal.outcome.reason, "cancelled from outside drey");
}

LIFE_TEST(or_if_nothing_can_be_learned_of_it)
{
	run_proven(l);
	viewed(l, cancelled_by(APPLICATION_UNREAD, NULL));
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_NONE);
	for (int i = 0; i < 10; i++) {
		l->now_ms += 2000;
		viewed(l, cancelled_by(APPLICATION_UNREAD, NULL));
	}
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_CANCELLED);
}
