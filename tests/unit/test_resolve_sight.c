/* Jobs whose code writes checkpoints where drey cannot tell which is the newest. */
#include "resolve_world.h"

#define OWN_DIR "file:/own"

static void wrote_flat(struct world *w, int64_t id)
{
	struct launch *launch = proved(w, JOB_A, NULL, 0, id);

	free(launch->last_checkpoint_path);
	launch->last_checkpoint_path = xasprintf(OWN_DIR "/chk-%d", (int)id);
}

static void listed(struct world *w)
{
	facts_add_place(&w->facts, SOURCE_LINEAGE, SNAPSHOT_CHECKPOINT, OWN_DIR, SOURCE_PRESENT,
			"x");
}

static struct candidate *found_flat(struct world *w, int64_t id)
{
	cleanup_free char *path = xasprintf(OWN_DIR "/chk-%d", (int)id);

	return found(w, SOURCE_LINEAGE, path, SNAPSHOT_CHECKPOINT, "", id);
}

static void check_out_of_sight(struct world *w)
{
	CHECK_INT(decide(w), ==, DECISION_HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_CHECKPOINTS_OUT_OF_SIGHT);
}

#define CHECK_STARTS_AT(w, from_)                                                                  \
	do {                                                                                       \
		CHECK_INT(decide(w), ==, DECISION_START_FROM);                                     \
		CHECK_STR((w)->facts.candidates[(w)->decision.candidate].snapshot.path, from_);    \
	} while (0)

WORLD_TEST(a_newer_one_in_a_directory_of_no_job_is_not_passed_over)
{
	wrote_flat(w, 1);
	listed(w);
	found_flat(w, 1);
	found_flat(w, 26)->snapshot.completed_unix_ms = 50000;
	check_out_of_sight(w);
	CHECK(strstr(w->decision.reason, OWN_DIR "/chk-26") != NULL);
	CHECK(strstr(w->decision.reason, "resume --from") != NULL);
	request(w, RESTORE_PATH, OWN_DIR "/chk-26", "t1");
	CHECK_STARTS_AT(w, OWN_DIR "/chk-26");
}

WORLD_TEST(without_a_newer_one_the_last_that_was_seen_is_the_newest)
{
	wrote_flat(w, 26);
	listed(w);
	found_flat(w, 25);
	found_flat(w, 26);
	CHECK_STARTS_AT(w, OWN_DIR "/chk-26");
}

WORLD_TEST(a_directory_that_was_not_listed_may_hold_anything)
{
	wrote_flat(w, 1);
	found_flat(w, 1);
	check_out_of_sight(w);
}

WORLD_TEST(a_path_without_a_directory_may_hide_anything)
{
	struct launch *launch = proved(w, JOB_A, NULL, 0, 7);

	xstrset(&launch->last_checkpoint_path, "db://snapshots/7");
	found(w, SOURCE_JOURNAL, "db://snapshots/7", SNAPSHOT_CHECKPOINT, JOB_A, 7);
	check_out_of_sight(w);
	CHECK(strstr(w->decision.reason, "db://snapshots/7") != NULL);
}

WORLD_TEST(what_an_earlier_run_left_there_is_old)
{
	wrote_flat(w, 12);
	journal_launch(&w->journal)->intended_unix_ms = 100 * 60 * 1000;
	listed(w);
	found_flat(w, 12)->snapshot.completed_unix_ms = 110 * 60 * 1000;
	found_flat(w, 14)->snapshot.completed_unix_ms = 60 * 1000;
	CHECK_STARTS_AT(w, OWN_DIR "/chk-12");
	/* nearly at that time: a clock may be wrong */
	found_flat(w, 15)->snapshot.completed_unix_ms = 95 * 60 * 1000;
	check_out_of_sight(w);
}

WORLD_TEST(one_that_was_never_completed_is_no_newer_one)
{
	wrote_flat(w, 12);
	listed(w);
	found_flat(w, 12);
	broken(found_flat(w, 13), INTEGRITY_INCOMPLETE, "no _metadata");
	CHECK_STARTS_AT(w, OWN_DIR "/chk-12");
}

WORLD_TEST(nothing_comes_after_the_savepoint_of_a_stop)
{
	wrote_flat(w, 5);
	found_savepoint(w, JOB_A, 9);
	check_out_of_sight(w);
	w->journal.last_operation.kind = OPERATION_STOP;
	w->journal.last_operation.ok = true;
	xstrset(&w->journal.last_operation.location, "file:/sp/savepoint-aaaaaa-000000000009");
	CHECK_STARTS_AT(w, "file:/sp/savepoint-aaaaaa-000000000009");
}

/* Flink has replaced the one that drey has seen by newer ones: that one is not what is to be restored. */
WORLD_TEST(one_that_was_replaced_out_of_sight_is_not_missing)
{
	wrote_flat(w, 10);
	listed(w);
	found_savepoint(w, JOB_A, 8);
	found_flat(w, 14)->snapshot.completed_unix_ms = 50000;
	check_out_of_sight(w);
	CHECK(strstr(w->decision.reason, OWN_DIR "/chk-14") != NULL);
}

WORLD_TEST(what_was_started_from_the_savepoint_of_a_stop_comes_after_it)
{
	static const char savepoint[] = "file:/sp/savepoint-aaaaaa-000000000009";

	wrote_flat(w, 5);
	journal_launch(&w->journal)->job_ended = true;
	listed(w);
	found_savepoint(w, JOB_A, 9);
	w->journal.last_operation.kind = OPERATION_STOP;
	w->journal.last_operation.ok = true;
	xstrset(&w->journal.last_operation.location, savepoint);
	ran(w, JOB_B, savepoint, 9);
	CHECK_STARTS_AT(w, savepoint);
	found_flat(w, 10)->snapshot.completed_unix_ms = 50000;
	check_out_of_sight(w);
}

WORLD_TEST(the_end_of_a_job_shows_its_last_checkpoint)
{
	wrote_flat(w, 5);
	found_flat(w, 5);
	check_out_of_sight(w);
	journal_launch(&w->journal)->job_ended = true;
	CHECK_STARTS_AT(w, OWN_DIR "/chk-5");
}

WORLD_TEST(a_launch_without_a_checkpoint_is_like_the_one_before_it)
{
	wrote_flat(w, 5);
	listed(w);
	found_flat(w, 5);
	ran(w, JOB_B, OWN_DIR "/chk-5", 5);
	CHECK_STARTS_AT(w, OWN_DIR "/chk-5");
	found_flat(w, 6)->snapshot.completed_unix_ms = 50000;
	check_out_of_sight(w);
}

WORLD_TEST(flinks_own_high_availability_knows_the_newest)
{
	wrote_flat(w, 8);
	in_ha(w, found_flat(w, 8), JOB_A);
	same_as_ever(w);
	CHECK_INT(decide(w), ==, DECISION_CONTINUE);
}

WORLD_TEST(a_stateless_job_does_not_care)
{
	wrote_flat(w, 5);
	w->policy.restore = POLICY_NONE;
	CHECK_INT(decide(w), ==, DECISION_START_EMPTY);
}
