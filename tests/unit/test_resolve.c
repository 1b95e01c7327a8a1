#include "resolve_world.h"

#include "core/resolve/lineage.h"
#include "core/snapshot.h"

TEST(spellings_of_one_path_are_the_same_snapshot)
{
	CHECK(snapshot_same_path("file:/a/b", "file:///a/b"));
	CHECK(snapshot_same_path("/a/b", "file:/a/b/"));
	CHECK(snapshot_same_path("/a/b/_metadata", "/a/b"));
	CHECK(snapshot_same_path("file:/a/b/_metadata", "file:///a/b//"));
	CHECK(snapshot_same_path("s3://bucket/a/", "s3://bucket/a"));
	CHECK(!snapshot_same_path("s3://bucket/a", "/bucket/a"));
	CHECK(!snapshot_same_path("/a/b", "/a/bc"));
	CHECK(!snapshot_same_path("/a/x_metadata", "/a/x"));
	CHECK(!snapshot_same_path("/a/chk-1", "/a/chk-10"));
	CHECK(!snapshot_same_path(NULL, "/a"));
	CHECK(!snapshot_same_path("/a/b", "/a/b/c"));
	CHECK(!snapshot_same_path("/a/b/_meta", "/a/b/_metadata"));
	CHECK(snapshot_same_path("/a/b//_metadata", "/a/b"));
	CHECK(!snapshot_same_path("/", "/a"));
	CHECK(snapshot_same_path("/", "file:///"));
	CHECK(!snapshot_same_path("", "/"));
	CHECK(!snapshot_same_path("/a", NULL));
	CHECK(!snapshot_same_path(NULL, NULL));
	CHECK(snapshot_same_path("/", "file:///"));
}

/* ---- rules 1 and 2 ---- */

WORLD_TEST(do_not_restart_parks_even_when_nothing_can_be_read)
{
	w->journal.intent.do_not_restart = true;
	w->journal.outcome.kind = OUTCOME_RESTORE_MISMATCH;
	request(w, RESTORE_EMPTY, NULL, "t1");
	for (int i = 0; i < SOURCE_COUNT; i++)
		facts_set_source(&w->facts, (enum source_kind)i, SOURCE_UNREADABLE, "timeout");
	CHECK_DECIDES(w, PARK);
	CHECK_INT(w->decision.rule, ==, 1);
	CHECK(!w->decision.token);
}

WORLD_TEST(suspended_and_cancelled_park)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	w->journal.intent.state = DESIRED_SUSPENDED;
	CHECK_DECIDES(w, PARK);
	CHECK_INT(w->decision.rule, ==, 1);
	CHECK_HAS(w->decision.reason, "suspended");
	w->journal.intent.state = DESIRED_CANCELLED;
	CHECK_DECIDES(w, PARK);
	CHECK_HAS(w->decision.reason, "cancelled");
	w->journal.intent.state = DESIRED_RUNNING;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-7");
}

/* S28, S29: the job has come to its end, and the container starts again. */
TEST(a_finished_job_never_runs_again_by_itself)
{
	static const enum outcome_kind ends[] = {OUTCOME_FINISHED, OUTCOME_CANCELLED,
						 OUTCOME_FAILED, OUTCOME_UNKNOWN};
	struct world w;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		begin(&w);
		proved(&w, JOB_A, NULL, 0, 7);
		found_checkpoint(&w, JOB_A, 7);
		w.journal.outcome.kind = ends[i];
		w.journal.outcome.reason = xstrdup("the reason");
		CHECK_DECIDES(&w, PARK);
		CHECK_INT(w.decision.rule, ==, 2);
		CHECK_HAS(w.decision.reason, "the reason");
		end(&w);
	}
}

WORLD_TEST(a_restore_mismatch_holds_until_a_person_has_looked)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	w->journal.outcome.kind = OUTCOME_RESTORE_MISMATCH;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 2);
}

/* ---- rule 4 ---- */

/* S21: somebody accepts the loss, once. */
WORLD_TEST(an_empty_start_is_carried_out_once)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	request(w, RESTORE_EMPTY, NULL, "t1");
	CHECK_DECIDES(w, START_EMPTY);
	CHECK_INT(w->decision.rule, ==, 4);
	CHECK_STR(w->decision.token, "t1");
	CHECK_INT(w->facts.candidates[0].verdict, ==, VERDICT_REJECTED);
	CHECK_HAS(w->facts.candidates[0].reason, "requested");

	journal_consume(&w->journal, "t1");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-7");
	CHECK(!w->decision.token);
}

WORLD_TEST(an_empty_start_that_proved_nothing_is_made_again)
{
	proved(w, JOB_A, NULL, 0, 7);
	ran(w, JOB_B, NULL, 0);
	found_checkpoint(w, JOB_A, 7);
	broken(found_checkpoint(w, JOB_B, 1), INTEGRITY_INCOMPLETE, "no _metadata");
	request(w, RESTORE_EMPTY, NULL, "t1");
	carried_out(w);
	CHECK_DECIDES(w, START_EMPTY);
	CHECK_INT(w->decision.rule, ==, 4);

	/* as soon as it has left something, that is the newest state */
	found_checkpoint(w, JOB_B, 2);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_B "/chk-2");

	/* and without the request nobody remembers that empty was wanted */
	facts_release(&w->facts);
	request(w, RESTORE_NONE, NULL, NULL);
	found_checkpoint(w, JOB_A, 7);
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->facts.candidates[0].reason, "abandoned");
}

WORLD_TEST(a_request_whose_launch_never_started_stays_in_force)
{
	proved(w, JOB_A, NULL, 0, 7);
	intended(w, JOB_B, "file:/cp/" JOB_A "/chk-5", 5);
	found_checkpoint(w, JOB_A, 7);
	found_checkpoint(w, JOB_A, 5);
	request(w, RESTORE_PATH, "file:/cp/" JOB_A "/chk-5", "t1");
	w->journal.intent.restore.allow_non_restored = true;
	carried_out(w);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
	CHECK_INT(w->decision.rule, ==, 4);
	CHECK(w->decision.allow_non_restored);
}

/* S17: an old journal knows only of launches that have proven nothing, and what the one after them has left
 * is damaged. */
WORLD_TEST(a_damaged_foreign_snapshot_forbids_an_empty_start)
{
	ran(w, JOB_A, NULL, 0);
	CHECK_DECIDES(w, START_EMPTY);
	broken(found_checkpoint(w, JOB_FOREIGN, 9), INTEGRITY_DAMAGED, "a file is missing");
	w->facts.candidates[0].snapshot.completed_unix_ms = 6000;
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "from a backup");
}

/* S20: the permission to drop state belongs to one restore. */
WORLD_TEST(non_restored_state_is_allowed_once)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	request(w, RESTORE_PATH, "file:/cp/" JOB_A "/chk-7", "t1");
	w->journal.intent.restore.allow_non_restored = true;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-7");
	CHECK(w->decision.allow_non_restored);
	CHECK_STR(w->decision.token, "t1");

	proved(w, JOB_B, "file:/cp/" JOB_A "/chk-7", 7, 9);
	carried_out(w);
	found_checkpoint(w, JOB_B, 9);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_B "/chk-9");
	CHECK(!w->decision.allow_non_restored);
}

/* S2, S5: a foreign snapshot only ever by request. */
WORLD_TEST(a_foreign_snapshot_needs_a_request)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	found_checkpoint(w, JOB_FOREIGN, 99)->snapshot.completed_unix_ms = 6000;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-7");
	CHECK_INT(w->facts.candidates[1].verdict, ==, VERDICT_REJECTED);
	CHECK_HAS(w->facts.candidates[1].reason, "lineage");

	request(w, RESTORE_PATH, "file:///cp/" JOB_FOREIGN "/chk-99/_metadata", "t1");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_FOREIGN "/chk-99");
	CHECK_INT(w->facts.candidates[0].verdict, ==, VERDICT_REJECTED);
}

/* S11: a typo is not a reason to take something else. */
WORLD_TEST(a_request_for_what_is_not_there_holds)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	request(w, RESTORE_PATH, "file:/sp/savepiont", "t1");
	facts_set_source(&w->facts, SOURCE_REQUEST, SOURCE_ABSENT, "no such directory");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 4);
	CHECK_HAS(w->decision.reason, "file:/sp/savepiont");
	CHECK_HAS(w->decision.reason, "no such directory");

	request(w, RESTORE_PATH, "file:/cp/" JOB_A "/chk-7", "t2");
	broken(&w->facts.candidates[0], INTEGRITY_DAMAGED, "shared/1 is missing");
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "shared/1 is missing");
}

WORLD_TEST(a_request_without_a_token_holds)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	request(w, RESTORE_EMPTY, NULL, NULL);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 4);
}

WORLD_TEST(a_request_overrides_sources_that_cannot_be_read)
{
	proved(w, JOB_A, NULL, 0, 7);
	facts_set_source(&w->facts, SOURCE_CHECKPOINTS, SOURCE_UNREADABLE, "timeout");
	request(w, RESTORE_EMPTY, NULL, "t1");
	CHECK_DECIDES(w, START_EMPTY);

	/* but whether its launch has left something cannot be known then */
	ran(w, JOB_B, NULL, 0);
	carried_out(w);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 5);
}

/* ---- rule 5 ---- */

/* S12 storage unreachable, S13 half a listing, S14 no permission: an error is never absence. */
TEST(an_unreadable_source_holds)
{
	static const enum source_kind kinds[] = {SOURCE_JOURNAL, SOURCE_LINEAGE, SOURCE_CHECKPOINTS,
						 SOURCE_SAVEPOINTS};
	struct world w;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		for (int has_run = 0; has_run < 2; has_run++) {
			begin(&w);
			if (has_run)
				proved(&w, JOB_A, NULL, 0, 7);
			found_checkpoint(&w, JOB_A, 7);
			facts_set_source(&w.facts, kinds[i], SOURCE_UNREADABLE, "403 Forbidden");
			CHECK_DECIDES(&w, HOLD);
			CHECK_INT(w.decision.rule, ==, 5);
			CHECK_HAS(w.decision.reason, "403 Forbidden");
			end(&w);
		}
}

WORLD_TEST(an_unreadable_journal_holds_before_a_request_is_believed)
{
	request(w, RESTORE_EMPTY, NULL, "t1");
	facts_set_source(&w->facts, SOURCE_JOURNAL, SOURCE_UNREADABLE, "truncated");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 5);
}

WORLD_TEST(an_unreadable_initial_savepoint_matters_only_for_the_first_start)
{
	facts_set_source(&w->facts, SOURCE_INITIAL, SOURCE_UNREADABLE, "no route to host");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 5);
	CHECK_HAS(w->decision.reason, "no route to host");

	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-7");
}

WORLD_TEST(an_unreadable_newest_candidate_holds)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 6);
	broken(found_checkpoint(w, JOB_A, 7), INTEGRITY_UNREADABLE, "EIO");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 5);
	CHECK_HAS(w->decision.reason, "chk-7");

	/* an older one that cannot be read changes nothing */
	found_checkpoint(w, JOB_A, 8);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-8");
}

WORLD_TEST(what_cannot_be_read_and_has_no_id_could_be_the_newest)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	broken(found_savepoint(w, JOB_A, 0), INTEGRITY_UNREADABLE, "EACCES");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 5);
}

WORLD_TEST(what_has_no_id_yet_is_looked_at_first)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	found_savepoint(w, JOB_A, 0)->integrity = INTEGRITY_UNCHECKED;
	resolve(&w->journal, &w->facts, &w->policy, &w->decision);
	CHECK_INT(w->decision.kind, ==, DECISION_VERIFY);
	CHECK_INT(w->decision.candidate, ==, 1);
	w->facts.candidates[1].integrity = INTEGRITY_COMPLETE;
	w->facts.candidates[1].snapshot.checkpoint_id = 8;
	CHECK_STARTS_FROM(w, w->facts.candidates[1].snapshot.path);
}

/* ---- rule 6 ---- */

/* S1: the initial path is from before; S8: the newest counts, of whatever kind. */
WORLD_TEST(the_newest_wins_whatever_its_kind)
{
	given_initial(w, 900);
	proved(w, JOB_A, "file:/initial", 900, 905);
	found_checkpoint(w, JOB_A, 905);
	found_savepoint(w, JOB_A, 906);
	CHECK_STARTS_FROM(w, "file:/sp/savepoint-aaaaaa-000000000906");
	CHECK_INT(w->facts.candidates[1].verdict, ==, VERDICT_OLDER);
	found_checkpoint(w, JOB_A, 907);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-907");
}

/* S1: after the stop nothing but the initial path is left. */
TEST(the_initial_savepoint_never_comes_back_after_it_was_proven)
{
	struct world w;

	begin(&w);
	given_initial(&w, 900);
	proved(&w, JOB_A, "file:/initial", 900, 905);
	CHECK_DECIDES(&w, HOLD);
	end(&w);

	begin(&w);
	given_initial(&w, 900);
	proved(&w, JOB_A, NULL, 0, 5);
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.rule, ==, 8);
	CHECK_HAS(w.facts.candidates[0].reason, "first start only");
	end(&w);
}

/* S22: the first deploy never ran properly; the path is still to be used. */
WORLD_TEST(the_initial_savepoint_stays_valid_until_a_launch_is_proven)
{
	given_initial(w, 900);
	CHECK_STARTS_FROM(w, "file:/initial");
	ran(w, JOB_A, "file:/initial", 900);
	ran(w, JOB_B, "file:/initial", 900);
	broken(found_checkpoint(w, JOB_B, 901), INTEGRITY_INCOMPLETE, "no _metadata");
	CHECK_STARTS_FROM(w, "file:/initial");
}

WORLD_TEST(an_initial_savepoint_may_be_given_after_a_failed_empty_start)
{
	ran(w, JOB_A, NULL, 0);
	given_initial(w, 900);
	CHECK_STARTS_FROM(w, "file:/initial");
	/* but not once that start has left something, whatever the numbers say */
	found_checkpoint(w, JOB_A, 3);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-3");
}

/* Lying world, 636118: the journal was lost and Flink's HA maps told the former jobs. A launch was requested from one
 * of their checkpoints, and never ran; then the request was withdrawn. */
WORLD_TEST(the_initial_savepoint_never_follows_a_launch_that_was_to_start_from_another)
{
	given_initial(w, 900);
	intended(w, JOB_B, "file:/cp/" JOB_A "/chk-974", 974);
	w->journal.snapshots = xcalloc(1, sizeof(*w->journal.snapshots));
	w->journal.snapshot_count = 1;
	w->journal.snapshots[0] = (struct snapshot){.path = xstrdup("file:/cp/" JOB_A "/chk-974"),
						    .kind = SNAPSHOT_CHECKPOINT,
						    .checkpoint_id = 974,
						    .completed_unix_ms = 974000};
	journal_add_former_job(&w->journal, JOB_A);
	found_checkpoint(w, JOB_A, 974);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_NO_USABLE_STATE);
	CHECK_HAS(w->decision.reason, "the newest that is there is file:/cp/" JOB_A "/chk-974");
	/* an initial savepoint that was configured before is none of these */
	xstrset(&w->journal.launches[0].restore_path, "file:/initial-of-before");
	xstrset(&w->journal.snapshots[0].path, "file:/initial-of-before");
	w->journal.snapshots[0].origin = ORIGIN_INITIAL;
	CHECK_STARTS_FROM(w, "file:/initial");
}

/* Lying world, 962632: its only savepoint was requested by somebody else, who knows where it is. */
WORLD_TEST(the_initial_savepoint_never_follows_a_launch_that_has_left_state)
{
	given_initial(w, 900);
	ran(w, JOB_A, NULL, 0)->left_state = true;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_NO_USABLE_STATE);
	w->journal.launches[0].mismatched = true;
	CHECK_STARTS_FROM(w, "file:/initial");
}

/* S3, S4: the journal is lost, the checkpoints are there; a stale initial path is configured. */
WORLD_TEST(a_lost_journal_does_not_bring_the_initial_savepoint_back)
{
	facts_set_source(&w->facts, SOURCE_JOURNAL, SOURCE_ABSENT, NULL);
	given_initial(w, 9000);
	w->facts.candidates[0].snapshot.completed_unix_ms = 99999999; /* copied lately */
	found_checkpoint(w, JOB_A, 12);
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "/chk-12");
	CHECK_INT(w->decision.rule, ==, 8);
	w->policy.adopt = true;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-12");
	CHECK_HAS(w->facts.candidates[0].reason, "if nothing is newer");
	broken(&w->facts.candidates[1], INTEGRITY_DAMAGED, "gone");
	CHECK_DECIDES(w, HOLD);
	broken(&w->facts.candidates[1], INTEGRITY_INCOMPLETE, "no _metadata");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 8);
	w->policy.adopt = false;
	CHECK_DECIDES(w, HOLD);
}

/* S7: neither the name nor the date decides inside a lineage. */
WORLD_TEST(the_checkpoint_id_is_the_order_inside_a_lineage)
{
	proved(w, JOB_A, NULL, 0, 10);
	found_checkpoint(w, JOB_A, 9)->snapshot.completed_unix_ms = 99999999;
	found_checkpoint(w, JOB_A, 10)->snapshot.completed_unix_ms = 1;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-10");
}

WORLD_TEST(jobs_are_compared_by_time_where_all_is_adopted)
{
	w->policy.adopt = true;
	found_checkpoint(w, JOB_A, 50)->snapshot.completed_unix_ms = 2000;
	found_checkpoint(w, JOB_B, 3)->snapshot.completed_unix_ms = 5000;
	found_checkpoint(w, JOB_B, 4)->snapshot.completed_unix_ms = 4000; /* copied */
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_B "/chk-4");
	/* a savepoint is of the job whose digits it has in its name */
	found_savepoint(w, JOB_B, 5)->snapshot.completed_unix_ms = 3000;
	CHECK_STARTS_FROM(w, "file:/sp/savepoint-bbbbbb-000000000005");
}

TEST(the_order_of_the_candidates_never_decides)
{
	struct world w;

	for (int turn = 0; turn < 2; turn++) {
		begin(&w);
		w.policy.adopt = true;
		found_checkpoint(&w, turn ? JOB_A : JOB_B, 5);
		found_checkpoint(&w, turn ? JOB_B : JOB_A, 5);
		CHECK_STARTS_FROM(&w, "file:/cp/" JOB_A "/chk-5");
		end(&w);
	}
}

/* S9 */
WORLD_TEST(an_incomplete_snapshot_is_no_candidate)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	broken(found_checkpoint(w, JOB_A, 8), INTEGRITY_INCOMPLETE, "no _metadata");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-7");
	CHECK_HAS(w->facts.candidates[1].reason, "incomplete");
}

/* S10, S16: the newest is damaged; the next older one, loudly, and never empty. */
WORLD_TEST(a_damaged_newest_gives_way_to_the_next_older_one)
{
	proved(w, JOB_A, NULL, 0, 8);
	found_checkpoint(w, JOB_A, 7);
	broken(found_checkpoint(w, JOB_A, 8), INTEGRITY_DAMAGED, "shared/3 is missing");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-7");
	CHECK_HAS(w->facts.candidates[1].reason, "shared/3 is missing");
	broken(&w->facts.candidates[0], INTEGRITY_DAMAGED, "0 bytes");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 8);
}

/* S3, S17: what is known to have been completed cannot be found at all. */
WORLD_TEST(a_known_checkpoint_that_is_nowhere_holds)
{
	proved(w, JOB_A, NULL, 0, 8);
	found_checkpoint(w, JOB_A, 7);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 6);
	CHECK_HAS(w->decision.reason, "chk-8");
	CHECK_INT(w->facts.candidates[0].verdict, ==, VERDICT_REJECTED);
	/* a damaged one of somebody else does not explain it */
	broken(found_checkpoint(w, JOB_FOREIGN, 50), INTEGRITY_DAMAGED, "0 bytes");
	CHECK_DECIDES(w, HOLD);
}

WORLD_TEST(a_restore_point_that_has_gone_holds)
{
	proved(w, JOB_A, NULL, 0, 8);
	ran(w, JOB_B, "file:/cp/" JOB_A "/chk-8", 8);
	found_checkpoint(w, JOB_A, 7);
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "chk-8");
}

WORLD_TEST(a_recorded_savepoint_that_has_gone_holds)
{
	struct snapshot made = {.path = (char *)"file:/sp/elsewhere",
				.kind = SNAPSHOT_SAVEPOINT,
				.checkpoint_id = 9,
				.job_id = JOB_A};

	proved(w, JOB_A, NULL, 0, 8);
	journal_add_snapshot(&w->journal, &made);
	found_checkpoint(w, JOB_A, 8);
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "file:/sp/elsewhere");
}

WORLD_TEST(a_snapshot_of_a_newer_flink_holds)
{
	proved(w, JOB_A, NULL, 0, 8);
	found_checkpoint(w, JOB_A, 7);
	found_checkpoint(w, JOB_A, 8)->metadata_version = 6;
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "version 6");
	w->facts.max_metadata_version = 0; /* not known: Flink will tell */
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-8");
}

WORLD_TEST(the_savepoint_policy_leaves_checkpoints_out)
{
	w->policy.restore = POLICY_SAVEPOINT;
	proved(w, JOB_A, NULL, 0, 8);
	found_checkpoint(w, JOB_A, 8);
	found_savepoint(w, JOB_A, 5);
	CHECK_STARTS_FROM(w, "file:/sp/savepoint-aaaaaa-000000000005");
	CHECK_HAS(w->facts.candidates[0].reason, "policy");
	/* a launch that a person has started from a checkpoint keeps it until it is proven */
	ran(w, JOB_B, "file:/cp/" JOB_A "/chk-8", 8);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-8");
}

/* S26, S27, S40: a savepoint that nobody recorded is found by its name. */
WORLD_TEST(a_savepoint_that_nobody_recorded_counts)
{
	proved(w, JOB_A, NULL, 0, 8);
	found_checkpoint(w, JOB_A, 8);
	found_savepoint(w, JOB_A, 9);
	CHECK_STARTS_FROM(w, "file:/sp/savepoint-aaaaaa-000000000009");
	/* S27: the stop failed, the job went on, and its newest checkpoint wins */
	found_checkpoint(w, JOB_A, 10);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-10");
}

/* S6: others write to the same directory. */
WORLD_TEST(somebody_elses_snapshots_are_never_taken)
{
	proved(w, JOB_A, NULL, 0, 8);
	found_checkpoint(w, JOB_FOREIGN, 99);
	found_savepoint(w, JOB_FOREIGN, 98);
	CHECK_DECIDES(w, HOLD);
	found_checkpoint(w, JOB_A, 8);
	CHECK_DECIDES(w, HOLD); /* newer than all that is ours */
	w->policy.foreign = FOREIGN_IGNORE;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-8");
}

/* Others write to the same directory, but nobody else has such a job id, and Flink's HA is ours alone. */
TEST(what_can_only_be_ours_is_never_ignored)
{
	struct world w;

	begin(&w);
	w.policy.foreign = FOREIGN_IGNORE;
	proved(&w, JOB_A, NULL, 0, 8);
	found_checkpoint(&w, JOB_A, 8);
	found_checkpoint(&w, JOB_FOREIGN, 99);
	found_checkpoint(&w, JOB_B, 20);
	CHECK_STARTS_FROM(&w, "file:/cp/" JOB_A "/chk-8");
	facts_add_job(&w.facts, JOB_B);
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.cause, ==, CAUSE_UNKNOWN_NEWER_STATE);
	CHECK_HAS(w.decision.reason, "/" JOB_B "/chk-20 is newer than every snapshot");
	CHECK(!strstr(w.decision.reason, "restore.foreign"));
	/* as a savepoint's name has it, and unless it is another job's by what it holds */
	end(&w);

	begin(&w);
	w.policy.foreign = FOREIGN_IGNORE;
	proved(&w, JOB_A, NULL, 0, 8);
	with_operators(found_checkpoint(&w, JOB_A, 8), "a");
	facts_add_job(&w.facts, JOB_B);
	with_operators(found_savepoint(&w, JOB_B, 20), "b");
	CHECK_STARTS_FROM(&w, "file:/cp/" JOB_A "/chk-8");
	with_operators(found_savepoint(&w, JOB_B, 21), "ab");
	CHECK_DECIDES(&w, START_FROM); /* one of the same six digits has none of ours */
	with_operators(found_checkpoint(&w, JOB_B, 22), "b");
	CHECK_DECIDES(&w, HOLD);
	end(&w);
}

/* An old journal has a launch that left nothing, so that its number was given again. */
TEST(what_a_later_launch_with_the_same_number_has_left_is_newer_state)
{
	static const struct {
		int64_t id; /* completed at 1000 times this; the launch after it began at 2000 */
		bool numbered, proven, given_up, newer;
	} rows[] = {
		{20, true, false, false, true},
		{20, false, false, false, false}, /* random ids are not given again */
		{20, true, true, false,
		 false}, /* a launch that has left something keeps its number */
		{20, true, false, true, false}, /* a person knew it; the clock was set */
		{2, true, false, false, false}, /* its own, as far as can be told */
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;

		begin(&w);
		xstrset(&w.journal.id_space, rows[i].numbered ? "default/orders/" : NULL);
		if (rows[i].proven)
			proved(&w, JOB_B, NULL, 0, 1);
		else
			ran(&w, JOB_B, NULL, 0);
		xstrset(&proved(&w, JOB_A, NULL, 0, 8)->request_token,
			rows[i].given_up ? "t1" : NULL);
		facts_add_job(&w.facts, JOB_B);
		found_checkpoint(&w, JOB_A, 8);
		found_checkpoint(&w, JOB_B, rows[i].id);
		if (rows[i].newer) {
			CHECK_DECIDES(&w, HOLD);
			CHECK_INT(w.decision.cause, ==, CAUSE_UNKNOWN_NEWER_STATE);
			CHECK_HAS(w.decision.reason, "/" JOB_B "/chk-20 is newer");
			request(&w, RESTORE_EMPTY, NULL, "t2");
			w.journal.intent.restore.asked_unix_ms = 15000; /* of another clock */
			/* one from a backup may have been carried out by the launch that is not there */
			w.journal.intent.restore.read_back = true;
			CHECK_DECIDES(&w, HOLD);
			w.journal.intent.restore.read_back = false;
			CHECK_DECIDES(&w, START_EMPTY);
		} else {
			CHECK_STARTS_FROM(&w, "file:/cp/" JOB_A "/chk-8");
		}
		end(&w);
	}
}

/* The same where the launch of old has been trimmed away (world lease, 71027281). */
TEST(what_a_later_launch_with_a_number_of_old_has_left_is_newer_state)
{
	static const struct {
		int64_t id; /* completed at 1000 times this; the last launch began at 1000 */
		bool numbered, given_up, newer;
	} rows[] = {
		{20, true, false, true},
		{20, false, false, false},
		{20, true, true, false},
		{40, true, false,
		 false}, /* the clock was set back: it has not come to that date yet */
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;

		begin(&w);
		w.facts.now_unix_ms = 30000;
		xstrset(&w.journal.id_space, rows[i].numbered ? "default/orders/" : NULL);
		xstrset(&proved(&w, JOB_A, NULL, 0, 8)->request_token,
			rows[i].given_up ? "t1" : NULL);
		journal_add_former_job(&w.journal, JOB_B);
		facts_add_job(&w.facts, JOB_B);
		found_checkpoint(&w, JOB_A, 8);
		found_checkpoint(&w, JOB_B, rows[i].id);
		if (rows[i].newer) {
			CHECK_DECIDES(&w, HOLD);
			CHECK_INT(w.decision.cause, ==, CAUSE_UNKNOWN_NEWER_STATE);
		} else {
			CHECK_STARTS_FROM(&w, "file:/cp/" JOB_A "/chk-8");
		}
		end(&w);
	}
}

TEST(a_lost_journal_is_seen_by_what_can_only_be_ours)
{
	struct world w;

	for (int ha = 0; ha < 2; ha++) {
		struct candidate *c;

		begin(&w);
		w.policy.foreign = FOREIGN_IGNORE;
		found_checkpoint(&w, JOB_FOREIGN, 99);
		CHECK_DECIDES(&w, START_EMPTY);
		c = found_checkpoint(&w, JOB_A, 5);
		CHECK_DECIDES(&w, START_EMPTY);
		if (ha)
			in_ha(&w, c, JOB_A);
		else
			facts_add_job(&w.facts, JOB_A);
		CHECK_DECIDES(&w, HOLD);
		CHECK_INT(w.decision.cause, ==, CAUSE_JOURNAL_LOST);
		CHECK_HAS(w.decision.reason, "1 snapshots");
		CHECK(!strstr(w.decision.reason, "restore.foreign"));
		end(&w);
	}
}

/* S24: chk-20 of the branch that was left has a higher number than anything since. */
WORLD_TEST(an_abandoned_branch_does_not_come_back)
{
	proved(w, JOB_A, NULL, 0, 20);
	found_checkpoint(w, JOB_A, 20);
	found_checkpoint(w, JOB_A, 10);
	proved(w, JOB_B, "file:/cp/" JOB_A "/chk-10", 10, 11);
	found_checkpoint(w, JOB_B, 11);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_B "/chk-11");
	CHECK_HAS(w->facts.candidates[0].reason, "abandoned");
	CHECK_INT(w->facts.candidates[1].verdict, ==, VERDICT_OLDER);
}

WORLD_TEST(going_back_to_an_older_branch_makes_it_the_living_one)
{
	proved(w, JOB_A, NULL, 0, 10);
	proved(w, JOB_B, "file:/cp/" JOB_A "/chk-8", 8, 20);
	ran(w, JOB_C, "file:/cp/" JOB_A "/chk-10", 10); /* requested */
	found_checkpoint(w, JOB_A, 8);
	found_checkpoint(w, JOB_A, 10);
	found_checkpoint(w, JOB_B, 9);
	found_checkpoint(w, JOB_B, 10);
	found_checkpoint(w, JOB_B, 20);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-10");
	CHECK_INT(w->facts.candidates[0].verdict, ==, VERDICT_OLDER);
	for (int i = 2; i < 5; i++)
		CHECK_HAS(w->facts.candidates[i].reason, "abandoned");
}

WORLD_TEST(a_foreign_restore_point_starts_a_lineage_of_its_own)
{
	proved(w, JOB_A, NULL, 0, 10);
	ran(w, JOB_B, "file:/cp/" JOB_FOREIGN "/chk-500", 500); /* requested */
	found_checkpoint(w, JOB_A, 10);
	found_checkpoint(w, JOB_FOREIGN, 500);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_FOREIGN "/chk-500");
	CHECK_HAS(w->facts.candidates[0].reason, "abandoned");
	broken(&w->facts.candidates[1], INTEGRITY_DAMAGED, "gone");
	CHECK_DECIDES(w, HOLD); /* never back behind the request */
}

WORLD_TEST(a_launch_whose_start_was_not_reported_counts_by_what_it_left)
{
	proved(w, JOB_A, NULL, 0, 10);
	intended(w, JOB_B, "file:/cp/" JOB_A "/chk-8", 8);
	found_checkpoint(w, JOB_A, 10);
	found_checkpoint(w, JOB_A, 8);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-10"); /* it never ran */
	found_checkpoint(w, JOB_B, 9);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_B "/chk-9"); /* it did */
}

WORLD_TEST(a_snapshot_without_a_job_id_is_known_by_the_journal)
{
	xstrset(&proved(w, JOB_A, NULL, 0, 8)->last_checkpoint_path, "file:/flat/chk-8");
	facts_add_place(&w->facts, SOURCE_LINEAGE, SNAPSHOT_CHECKPOINT, "file:/flat",
			SOURCE_PRESENT, "1 found");
	found(w, SOURCE_CHECKPOINTS, "file:/flat/chk-8", SNAPSHOT_CHECKPOINT, "", 8);
	CHECK_STARTS_FROM(w, "file:/flat/chk-8");
}

TEST(what_a_launch_with_a_wrong_restore_has_made_is_never_used)
{
	struct world w;

	begin(&w); /* the very first launch: nothing else tells of a lineage */
	ran(&w, JOB_A, "file:/initial", 900)->mismatched = true;
	given_initial(&w, 900);
	found_checkpoint(&w, JOB_A, 7);
	CHECK_STARTS_FROM(&w, "file:/initial");
	CHECK_HAS(w.facts.candidates[1].reason, "something other than");
	end(&w);

	begin(&w);
	proved(&w, JOB_A, NULL, 0, 8);
	ran(&w, JOB_B, "file:/cp/" JOB_A "/chk-8", 8)->mismatched = true;
	found_checkpoint(&w, JOB_A, 8);
	found_checkpoint(&w, JOB_B, 99);
	CHECK_STARTS_FROM(&w, "file:/cp/" JOB_A "/chk-8");
	end(&w);
}

/* ---- rule 8 ---- */

WORLD_TEST(the_very_first_start_is_empty)
{
	facts_set_source(&w->facts, SOURCE_JOURNAL, SOURCE_ABSENT, NULL);
	facts_set_source(&w->facts, SOURCE_CHECKPOINTS, SOURCE_ABSENT, NULL);
	facts_set_source(&w->facts, SOURCE_SAVEPOINTS, SOURCE_NOT_CONFIGURED, NULL);
	CHECK_DECIDES(w, START_EMPTY);
	CHECK_INT(w->decision.rule, ==, 8);
	/* and again, as long as nothing has completed a checkpoint */
	ran(w, JOB_A, NULL, 0);
	broken(found_checkpoint(w, JOB_A, 1), INTEGRITY_INCOMPLETE, "no _metadata");
	CHECK_DECIDES(w, START_EMPTY);
}

/* S3 */
TEST(an_application_that_has_run_never_starts_empty)
{
	struct world w;

	begin(&w);
	proved(&w, JOB_A, NULL, 0, 8);
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.rule, ==, 8);
	CHECK_HAS(w.decision.reason, "drey resume");
	end(&w);

	begin(&w);
	w.journal.ever_proven = true; /* the launches were trimmed */
	CHECK_DECIDES(&w, HOLD);
	end(&w);
}

/* S11 for the configuration. */
WORLD_TEST(a_missing_initial_savepoint_holds)
{
	facts_set_source(&w->facts, SOURCE_INITIAL, SOURCE_ABSENT, "no such directory");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 8);
	CHECK_HAS(w->decision.reason, "no such directory");
}

WORLD_TEST(traces_without_a_journal_forbid_an_empty_start)
{
	broken(found_checkpoint(w, JOB_A, 4), INTEGRITY_INCOMPLETE, "no _metadata");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 8);
	CHECK_HAS(w->decision.reason, "chk-4");
}

/* ---- what the caller relies on ---- */

WORLD_TEST(nothing_is_verified_that_does_not_matter)
{
	proved(w, JOB_A, NULL, 0, 8);
	for (int id = 1; id <= 8; id++)
		found_checkpoint(w, JOB_A, id)->integrity = INTEGRITY_UNCHECKED;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-8");
	CHECK_INT(w->rounds, ==, 2);
	w->truth = INTEGRITY_DAMAGED;
	w->facts.candidates[7].integrity = INTEGRITY_UNCHECKED;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->rounds, ==, 9);
}

WORLD_TEST(verdicts_of_the_call_before_are_forgotten)
{
	proved(w, JOB_A, NULL, 0, 8);
	found_checkpoint(w, JOB_A, 8);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-8");
	w->journal.intent.do_not_restart = true;
	CHECK_DECIDES(w, PARK);
	CHECK_INT(w->facts.candidates[0].verdict, ==, VERDICT_NONE);
	CHECK(!w->facts.candidates[0].reason);
}

WORLD_TEST(a_long_reason_is_cut_not_overrun)
{
	char path[2000];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	w->policy.adopt = true;
	found(w, SOURCE_SAVEPOINTS, path, SNAPSHOT_SAVEPOINT, "", 3);
	CHECK_STARTS_FROM(w, path);
	CHECK_INT(strlen(w->decision.reason), ==, sizeof(w->decision.reason) - 1);
}

TEST(every_decision_has_its_own_name)
{
	for (int i = 0; i <= DECISION_HOLD; i++)
		for (int k = 0; k < i; k++)
			CHECK(strcmp(decision_kind_name((enum decision_kind)i),
				     decision_kind_name((enum decision_kind)k)) != 0);
	CHECK_STR(decision_kind_name(DECISION_START_FROM), "START_FROM");
	CHECK_STR(decision_kind_name((enum decision_kind)99), "unknown");
}
