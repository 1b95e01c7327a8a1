/*
 * What goes wrong in real life with the choice of the state to start from, one test each: S1-S26 and
 * S51 are failures of operators, scripts and people; P1-P9 were seen on a cluster with the best
 * operator there is. What each test asserts is what should have happened.
 */
#include "core/resolve/flink_choice.h"
#include "resolve_world.h"

#define CHK_A(n)  "file:/cp/" JOB_A "/chk-" #n
#define CHK_B(n)  "file:/cp/" JOB_B "/chk-" #n
#define SAVE_A(n) "file:/sp/savepoint-aaaaaa-0000000000" #n
#define DAY_MS    (24 * 3600 * INT64_C(1000))

/* Will Flink, with this job id, do what was decided? */
static bool obeys(const struct world *w, const char *job_id)
{
	char *why = NULL;
	bool yes = flink_obeys(&w->facts, &w->decision, job_id, chosen(w), &why);

	CHECK(yes == !why);
	free(why);
	return yes;
}

TEST(s1_the_restore_argument_of_the_first_start_is_not_used_again)
{
	struct world w;

	begin(&w);
	facts_set_source(&w.facts, SOURCE_HA, SOURCE_ABSENT, "the stop has emptied it");
	given_initial(&w, 3); /* T1 */
	proved(&w, JOB_A, "file:/initial", 3, 20);
	found_savepoint(&w, JOB_A, 21); /* T3, the stop's */
	CHECK_STARTS_FROM(&w, SAVE_A(21));
	CHECK(obeys(&w, JOB_C));

	broken(&w.facts.candidates[1], INTEGRITY_INCOMPLETE, "gone");
	CHECK_DECIDES(&w, HOLD); /* never T1 */
	end(&w);

	/* the argument stays for ever: nor later, nor when its file looks new */
	begin(&w);
	given_initial(&w, 3)->snapshot.completed_unix_ms = 999999;
	proved(&w, JOB_A, "file:/initial", 3, 20);
	proved(&w, JOB_B, SAVE_A(21), 21, 25);
	found_savepoint(&w, JOB_A, 21);
	found_checkpoint(&w, JOB_B, 25);
	CHECK_STARTS_FROM(&w, CHK_B(25));
	end(&w);

	/* nor when nobody knows any more that it was used */
	begin(&w);
	facts_set_source(&w.facts, SOURCE_JOURNAL, SOURCE_ABSENT, "a new volume");
	given_initial(&w, 3);
	found_savepoint(&w, JOB_A, 21);
	CHECK_DECIDES(&w, HOLD);
	CHECK_HAS(w.decision.reason, SAVE_A(21));
	end(&w);
}

WORLD_TEST(s2_stale_ha_data_do_not_beat_a_request)
{
	proved(w, JOB_A, NULL, 0, 100);
	in_ha(w, found_checkpoint(w, JOB_A, 100), JOB_A);
	found_savepoint(w, JOB_A, 50);
	same_as_ever(w);
	request(w, RESTORE_PATH, SAVE_A(50), "t1");
	CHECK_STARTS_FROM(w, SAVE_A(50));
	CHECK(!obeys(w, JOB_A)); /* under the old id Flink would take chk-100 */
	CHECK(obeys(w, JOB_C));
}

WORLD_TEST(s3_lost_ha_data_are_made_good_by_the_storage)
{
	proved(w, JOB_A, NULL, 0, 7);
	same_as_ever(w);
	facts_set_source(&w->facts, SOURCE_HA, SOURCE_ABSENT, "no map");
	CHECK_DECIDES(w, HOLD);
	found_checkpoint(w, JOB_A, 7);
	CHECK_STARTS_FROM(w, CHK_A(7));
}

TEST(s4_a_stale_initial_path_does_not_replay_two_years)
{
	struct world w;

	begin(&w);
	facts_set_source(&w.facts, SOURCE_JOURNAL, SOURCE_ABSENT, "a new volume");
	w.facts.now_unix_ms = 1000 * DAY_MS;
	given_initial(&w, 5)->snapshot.completed_unix_ms = 340 * DAY_MS;
	found_checkpoint(&w, JOB_A, 900)->snapshot.completed_unix_ms = 999 * DAY_MS;
	CHECK_DECIDES(&w, HOLD);
	CHECK_HAS(w.decision.reason, "/chk-900");
	end(&w);

	/* nothing else is there: then it is the age that speaks */
	begin(&w);
	w.facts.now_unix_ms = 1000 * DAY_MS;
	given_initial(&w, 5)->snapshot.completed_unix_ms = 340 * DAY_MS;
	CHECK_STARTS_FROM(&w, "file:/initial");
	w.policy.max_age_ms = 7 * DAY_MS;
	CHECK_DECIDES(&w, HOLD);
	CHECK_HAS(w.decision.reason, "660");
	CHECK_HAS(w.decision.reason, "--from file:/initial");
	request(&w, RESTORE_PATH, "file:/initial", "t1");
	CHECK_STARTS_FROM(&w, "file:/initial");
	end(&w);
}

WORLD_TEST(s5_a_siblings_path_pasted_by_hand_holds)
{
	proved(w, JOB_A, NULL, 0, 7);
	with_operators(found_checkpoint(w, JOB_A, 7), "pqr");
	with_operators(found_checkpoint(w, JOB_FOREIGN, 5), "xyz");
	request(w, RESTORE_PATH, "file:/cp/" JOB_FOREIGN "/chk-5", "t1");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 4);
	CHECK_HAS(w->decision.reason, "none of the operators");
	CHECK_HAS(w->decision.reason, "--foreign");

	w->journal.intent.restore.foreign = true;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_FOREIGN "/chk-5");
	w->journal.intent.restore.foreign = false;

	/* a copy of our own state under another job id is one of ours */
	with_operators(&w->facts.candidates[1], "pqx");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_FOREIGN "/chk-5");
	CHECK_HAS(w->decision.reason, "Flink rejects");
	w->journal.intent.restore.allow_non_restored = true;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_FOREIGN "/chk-5");
	CHECK(!strstr(w->decision.reason, "Flink rejects"));
}

WORLD_TEST(s6_what_another_environment_writes_beside_ours_is_not_taken)
{
	proved(w, JOB_A, NULL, 0, 7);
	with_operators(found_checkpoint(w, JOB_A, 7), "pqr");
	with_operators(found_checkpoint(w, JOB_FOREIGN, 90), "xyz");
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK_HAS(w->facts.candidates[1].reason, "none of the operators");
	with_operators(&w->facts.candidates[1], "pqr"); /* the same job in another environment */
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "restore.foreign: ignore");
	w->policy.foreign = FOREIGN_IGNORE;
	CHECK_STARTS_FROM(w, CHK_A(7));
}

WORLD_TEST(s7_neither_names_nor_dates_are_an_order)
{
	proved(w, JOB_A, NULL, 0, 9);
	found_savepoint(w, JOB_A, 11)->snapshot.completed_unix_ms = 5;
	found_checkpoint(w, JOB_A, 10)->snapshot.completed_unix_ms = 999999;
	found_checkpoint(w, JOB_A, 9)->snapshot.completed_unix_ms = 9999999; /* copied */
	CHECK_STARTS_FROM(w, SAVE_A(11));
}

WORLD_TEST(s8_an_older_savepoint_does_not_beat_a_newer_checkpoint)
{
	proved(w, JOB_A, NULL, 0, 12);
	found_savepoint(w, JOB_A, 10);
	found_checkpoint(w, JOB_A, 12);
	CHECK_STARTS_FROM(w, CHK_A(12));
	w->policy.restore = POLICY_SAVEPOINT;
	CHECK_STARTS_FROM(w, SAVE_A(10));
}

WORLD_TEST(s9_a_checkpoint_without_metadata_was_never_one)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	broken(found_checkpoint(w, JOB_A, 8), INTEGRITY_INCOMPLETE, "no _metadata");
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK(!w->facts.candidates[1].passed_over);
}

WORLD_TEST(s10_a_damaged_newest_gives_way_loudly_and_never_to_nothing)
{
	proved(w, JOB_A, NULL, 0, 8);
	found_checkpoint(w, JOB_A, 7);
	broken(found_checkpoint(w, JOB_A, 8), INTEGRITY_DAMAGED, "shared/1 is missing");
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK(w->facts.candidates[1].passed_over);
	CHECK(w->decision.loss.is_one);
	CHECK_INT(w->decision.loss.ms, ==, 1000);
	CHECK_HAS(w->decision.reason, "1 s of state are lost, because " CHK_A(8) " is damaged");
	/* more than may be lost: a person decides */
	w->facts.candidates[1].snapshot.completed_unix_ms += LOSS_DEFAULT_MS;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_NEWEST_STATE_DAMAGED);
	CHECK_HAS(w->decision.reason, "10 min 1 s older");
	CHECK_HAS(w->decision.reason, "--from " CHK_A(7));
	request(w, RESTORE_PATH, CHK_A(7), "t1");
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK(!w->decision.loss.is_one);
	request(w, RESTORE_NONE, NULL, NULL);
	broken(&w->facts.candidates[0], INTEGRITY_DAMAGED, "truncated");
	w->facts.sources[SOURCE_CHECKPOINTS].left_out = 40;
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "shared/1 is missing");
	CHECK_HAS(w->decision.reason, "40 older");
}

TEST(s11_a_path_that_is_not_there_is_kept_and_holds)
{
	struct world w;

	begin(&w);
	facts_set_source(&w.facts, SOURCE_INITIAL, SOURCE_ABSENT, "file:/typo: not there");
	CHECK_DECIDES(&w, HOLD);
	CHECK_HAS(w.decision.reason, "file:/typo");
	end(&w);

	begin(&w);
	proved(&w, JOB_A, NULL, 0, 7);
	found_checkpoint(&w, JOB_A, 7);
	request(&w, RESTORE_PATH, "file:/typo", "t1");
	facts_set_source(&w.facts, SOURCE_REQUEST, SOURCE_ABSENT, "not there");
	CHECK_DECIDES(&w, HOLD);
	CHECK_HAS(w.decision.reason, "file:/typo");
	end(&w);
}

TEST(s12_s13_s14_what_cannot_be_read_is_not_empty)
{
	static const struct {
		enum source_kind source;
		const char *detail;
	} cases[] = {{SOURCE_SAVEPOINTS, "s3: connection timed out"},
		     {SOURCE_CHECKPOINTS, "page 3 of the listing: broken off"},
		     {SOURCE_HA, "403: cannot list configmaps"},
		     {SOURCE_JOURNAL, "403: cannot get configmaps"}};
	struct world w;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (int ran_before = 0; ran_before < 2; ran_before++) {
			begin(&w);
			if (ran_before) {
				proved(&w, JOB_A, NULL, 0, 7);
				found_checkpoint(&w, JOB_A, 7);
			}
			facts_set_source(&w.facts, cases[i].source, SOURCE_UNREADABLE,
					 cases[i].detail);
			CHECK_DECIDES(&w, HOLD);
			CHECK_INT(w.decision.rule, ==, 5);
			CHECK_HAS(w.decision.reason, cases[i].detail);
			end(&w);
		}
}

/* The map of the leader, a map without keys: there is something, and nothing to recover from. */
WORLD_TEST(s15_p1_ha_maps_without_an_entry_are_no_state)
{
	proved(w, JOB_A, NULL, 0, 1);
	same_as_ever(w);
	facts_set_source(&w->facts, SOURCE_HA, SOURCE_PRESENT, "2 maps, no entry");
	found_checkpoint(w, JOB_A, 1);
	CHECK_STARTS_FROM(w, CHK_A(1));
	CHECK(obeys(w, JOB_C));
}

TEST(s16_an_ha_backup_that_points_to_a_deleted_checkpoint_does_not_decide)
{
	struct world w;
	struct candidate *entry;

	begin(&w);
	proved(&w, JOB_A, NULL, 0, 40);
	found_checkpoint(&w, JOB_A, 40);
	entry = in_ha(&w, found(&w, SOURCE_HA, CHK_A(30), SNAPSHOT_CHECKPOINT, JOB_A, 30), JOB_A);
	broken(entry, INTEGRITY_INCOMPLETE, "no _metadata");
	entry->recovery = INTEGRITY_DAMAGED;
	same_as_ever(&w);
	CHECK_STARTS_FROM(&w, CHK_A(40));
	CHECK_HAS(w.decision.reason, "older than a known snapshot");
	end(&w);

	/* the newest that is known is the deleted one: the map and the storage contradict each other */
	begin(&w);
	proved(&w, JOB_A, NULL, 0, 20);
	found_checkpoint(&w, JOB_A, 20);
	entry = in_ha(&w, found(&w, SOURCE_HA, CHK_A(30), SNAPSHOT_CHECKPOINT, JOB_A, 30), JOB_A);
	broken(entry, INTEGRITY_INCOMPLETE, "no _metadata");
	entry->recovery = INTEGRITY_DAMAGED;
	same_as_ever(&w);
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.cause, ==, CAUSE_NEWEST_STATE_MISSING);
	CHECK_HAS(w.decision.reason, "--from " CHK_A(20));
	CHECK_HAS(w.decision.reason, "according to Flink's HA data, not listed");
	end(&w);
}

TEST(s17_a_journal_from_a_backup_does_not_rewind)
{
	struct world w;

	begin(&w);
	proved(&w, JOB_A, NULL, 0, 7);
	found_checkpoint(&w, JOB_A, 7);
	found_checkpoint(&w, JOB_B, 90); /* of a launch that the backup does not know */
	CHECK_DECIDES(&w, HOLD);
	CHECK_HAS(w.decision.reason, CHK_B(90));
	CHECK_HAS(w.decision.reason, "backup");
	CHECK_HAS(w.decision.reason, "--from");
	request(&w, RESTORE_PATH, CHK_B(90), "t1");
	CHECK_STARTS_FROM(&w, CHK_B(90));
	end(&w);

	/* also when the backup is so old that nothing was completed then */
	begin(&w);
	ran(&w, JOB_A, NULL, 0);
	found_checkpoint(&w, JOB_B, 90);
	CHECK_DECIDES(&w, HOLD);
	CHECK_HAS(w.decision.reason, "backup");
	end(&w);
}

WORLD_TEST(s18_state_that_is_too_old_for_its_sources_holds_and_says_so)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7)->snapshot.completed_unix_ms = 10 * DAY_MS;
	found_checkpoint(w, JOB_A, 6)->snapshot.completed_unix_ms = 21 * DAY_MS; /* copied */
	w->policy.max_age_ms = 7 * DAY_MS;
	w->facts.now_unix_ms = 17 * DAY_MS;
	CHECK_STARTS_FROM(w, CHK_A(7));
	w->facts.now_unix_ms = 21 * DAY_MS;
	CHECK_DECIDES(w, HOLD); /* and not chk-6 */
	CHECK_HAS(w->decision.reason, "11 d");
	CHECK_HAS(w->decision.reason, "7 d");
	CHECK_HAS(w->decision.reason, "--from " CHK_A(7));
	request(w, RESTORE_PATH, CHK_A(7), "t1");
	CHECK_STARTS_FROM(w, CHK_A(7));
}

/* REST and storage speak of milliseconds. */
WORLD_TEST(s19_ages_are_milliseconds_everywhere)
{
	proved(w, JOB_A, NULL, 0, 7)->last_checkpoint_unix_ms = 1700000000000;
	found_checkpoint(w, JOB_A, 7)->snapshot.completed_unix_ms = 0; /* the journal knows it */
	w->policy.max_age_ms = 60000;
	w->facts.now_unix_ms = 1700000000000 + 60000;
	CHECK_STARTS_FROM(w, CHK_A(7));
	w->facts.now_unix_ms++;
	CHECK_DECIDES(w, HOLD);
	w->journal.launches[0].last_checkpoint_unix_ms = 0;
	CHECK_DECIDES(w, HOLD); /* nobody knows */
	CHECK_HAS(w->decision.reason, "unknown age");
}

WORLD_TEST(s20_non_restored_state_is_allowed_once)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	request(w, RESTORE_PATH, CHK_A(7), "t1");
	w->journal.intent.restore.allow_non_restored = true;
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK(w->decision.allow_non_restored);
	CHECK_STR(w->decision.token, "t1");
	proved(w, JOB_B, CHK_A(7), 7, 9);
	carried_out(w);
	found_checkpoint(w, JOB_B, 9);
	CHECK_STARTS_FROM(w, CHK_B(9));
	CHECK(!w->decision.allow_non_restored);
}

WORLD_TEST(s21_an_empty_start_can_be_had_and_does_not_stick)
{
	proved(w, JOB_A, NULL, 0, 7);
	broken(found_checkpoint(w, JOB_A, 7), INTEGRITY_DAMAGED, "gone");
	CHECK_DECIDES(w, HOLD);
	request(w, RESTORE_EMPTY, NULL, "t1");
	CHECK_DECIDES(w, START_EMPTY);
	CHECK_STR(w->decision.token, "t1");
	proved(w, JOB_B, NULL, 0, 2);
	carried_out(w);
	found_checkpoint(w, JOB_B, 2);
	CHECK_STARTS_FROM(w, CHK_B(2));
}

TEST(s22_the_initial_path_is_valid_until_a_start_from_it_is_proven)
{
	struct world w;

	begin(&w);
	given_initial(&w, 5);
	CHECK_STARTS_FROM(&w, "file:/initial");
	ran(&w, JOB_A, "file:/initial", 5); /* the image was broken */
	CHECK_STARTS_FROM(&w, "file:/initial");
	proved(&w, JOB_B, "file:/initial", 5, 6);
	CHECK_DECIDES(&w, HOLD); /* checkpoint 6 is known */
	found_checkpoint(&w, JOB_B, 6);
	CHECK_STARTS_FROM(&w, CHK_B(6));
	broken(&w.facts.candidates[1], INTEGRITY_INCOMPLETE, "no _metadata");
	CHECK_DECIDES(&w, HOLD); /* not the initial path again, which is whole */
	end(&w);

	/* its restore is proven, and it has completed nothing since: it is as good as ever */
	begin(&w);
	given_initial(&w, 5);
	proved(&w, JOB_A, "file:/initial", 5, 0);
	CHECK_STARTS_FROM(&w, "file:/initial");
	end(&w);

	/* which launch it was is not known any more, only that one was proven */
	begin(&w);
	given_initial(&w, 5);
	w.journal.ever_proven = true;
	CHECK_DECIDES(&w, HOLD);
	end(&w);
}

WORLD_TEST(s23_ha_data_of_an_older_id_are_not_forgotten)
{
	proved(w, JOB_A, NULL, 0, 7);
	intended(w, JOB_B, CHK_A(7), 7); /* never started */
	same_as_ever(w);
	in_ha(w, found(w, SOURCE_HA, CHK_A(9), SNAPSHOT_CHECKPOINT, JOB_A, 9), JOB_A);
	CHECK_STARTS_FROM(w, CHK_A(9));
}

WORLD_TEST(s24_an_id_that_left_any_trace_counts_as_used)
{
	CHECK(!flink_id_is_used(&w->journal, &w->facts, JOB_A));
	found_savepoint(w, JOB_A, 3);
	CHECK(flink_id_is_used(&w->journal, &w->facts, JOB_A)); /* six digits are a trace */
	CHECK(!flink_id_is_used(&w->journal, &w->facts, JOB_B));
	in_ha(w, &w->facts.candidates[0], JOB_B);
	CHECK(flink_id_is_used(&w->journal, &w->facts, JOB_B));
	CHECK(!flink_id_is_used(&w->journal, &w->facts, JOB_C));
	intended(w, JOB_C, NULL, 0);
	CHECK(flink_id_is_used(&w->journal, &w->facts, JOB_C));
	CHECK(!flink_id_is_used(&w->journal, &w->facts, JOB_FOREIGN));
	journal_add_former_job(&w->journal, JOB_FOREIGN);
	CHECK(flink_id_is_used(&w->journal, &w->facts, JOB_FOREIGN));
}

/* Under the same id Flink would run its stored job graph: new jar and parallelism would be ignored. */
WORLD_TEST(s25_another_generation_gets_new_ids)
{
	proved(w, JOB_A, NULL, 0, 7);
	in_ha(w, found_checkpoint(w, JOB_A, 7), JOB_A);
	same_as_ever(w);
	CHECK_CONTINUES(w, CHK_A(7));
	CHECK(obeys(w, JOB_A));
	w->policy.generation = "g2";
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK_HAS(w->decision.reason, "generation has changed");
	CHECK(obeys(w, JOB_C));
	w->policy.generation = NULL;
	CHECK_STARTS_FROM(w, CHK_A(7)); /* not known is not the same */
}

WORLD_TEST(s26_a_crash_after_the_stop_finds_its_savepoint)
{
	proved(w, JOB_A, NULL, 0, 7);
	w->journal.intent.state = DESIRED_SUSPENDED;
	w->journal.operation = (struct operation){.kind = OPERATION_STOP,
						  .reason = REASON_SUSPEND,
						  .job_id = JOB_A,
						  .path = xstrdup("file:/sp"),
						  .started_unix_ms = 7500};
	found_checkpoint(w, JOB_A, 7);
	found_savepoint(w, JOB_A, 8)->integrity = INTEGRITY_UNCHECKED;
	CHECK_DECIDES(w, PARK);
	CHECK_INT(w->rounds, ==, 2);
	CHECK_INT(w->decision.settlement, ==, SETTLEMENT_MADE);
	CHECK_INT(w->decision.settled, ==, 1);

	w->facts.candidates[1].snapshot.completed_unix_ms = 6000; /* one of before */
	CHECK_DECIDES(w, PARK);
	CHECK_INT(w->decision.settlement, ==, SETTLEMENT_FAILED);
	CHECK(w->decision.settled == NO_CANDIDATE);
}

WORLD_TEST(s51_state_of_a_newer_flink_holds)
{
	proved(w, JOB_A, NULL, 0, 7);
	in_ha(w, found_checkpoint(w, JOB_A, 7), JOB_A)->metadata_version = 6;
	same_as_ever(w);
	w->policy.flink_version = "1.20.5"; /* gone back: HA data of another minor are unreadable */
	w->facts.max_metadata_version = 4;
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "newer Flink");
	found_savepoint(w, JOB_A, 8);
	CHECK_STARTS_FROM(w, SAVE_A(08));
}

WORLD_TEST(p2_a_savepoint_newer_than_the_newest_ha_checkpoint_wins)
{
	proved(w, JOB_A, NULL, 0, 7);
	in_ha(w, found_checkpoint(w, JOB_A, 7), JOB_A);
	found_savepoint(w, JOB_A, 8)->integrity = INTEGRITY_UNCHECKED;
	same_as_ever(w);
	CHECK_STARTS_FROM(w, SAVE_A(08));
	CHECK(obeys(w, JOB_C));
	CHECK(!obeys(w, JOB_A));
	w->truth = INTEGRITY_DAMAGED;
	w->facts.candidates[1].integrity = INTEGRITY_UNCHECKED;
	CHECK_CONTINUES(w, CHK_A(7));
	CHECK(w->facts.candidates[1].passed_over); /* not without a word */
}

TEST(p3_p4_a_path_that_does_not_exist_holds_and_is_named)
{
	struct world w;

	begin(&w);
	proved(&w, JOB_A, NULL, 0, 7);
	found_checkpoint(&w, JOB_A, 7);
	request(&w, RESTORE_PATH, "s3://b/none", "t1");
	broken(found(&w, SOURCE_REQUEST, "s3://b/none", SNAPSHOT_SAVEPOINT, "", 0),
	       INTEGRITY_INCOMPLETE, "no _metadata");
	facts_set_source(&w.facts, SOURCE_REQUEST, SOURCE_ABSENT, "no _metadata");
	CHECK_DECIDES(&w, HOLD);
	CHECK_HAS(w.decision.reason, "s3://b/none");
	end(&w);

	begin(&w);
	broken(given_initial(&w, 0), INTEGRITY_INCOMPLETE, "no _metadata");
	facts_set_source(&w.facts, SOURCE_INITIAL, SOURCE_ABSENT, "no _metadata");
	CHECK_DECIDES(&w, HOLD);
	CHECK_HAS(w.decision.reason, "file:/initial");
	CHECK_STR(cause_name(w.decision.cause), "InitialSavepointUnusable");
	end(&w);
}

WORLD_TEST(p5_storage_that_comes_back_is_gone_on_with)
{
	proved(w, JOB_A, NULL, 0, 7);
	facts_set_source(&w->facts, SOURCE_CHECKPOINTS, SOURCE_UNREADABLE, "no route to host");
	facts_set_source(&w->facts, SOURCE_HA, SOURCE_ABSENT, "no map");
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "drey retries");
	facts_set_source(&w->facts, SOURCE_CHECKPOINTS, SOURCE_PRESENT, "1 found");
	found_checkpoint(w, JOB_A, 7);
	CHECK_STARTS_FROM(w, CHK_A(7));
}

WORLD_TEST(p6_the_fix_starts_from_what_the_old_version_left)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	same_as_ever(w);
	ran(w, JOB_B, CHK_A(7), 7)->generation = xstrdup("g2"); /* main() threw */
	w->policy.generation = "g3";
	facts_set_source(&w->facts, SOURCE_HA, SOURCE_ABSENT, "no map");
	CHECK_STARTS_FROM(w, CHK_A(7));
}

WORLD_TEST(p7_ha_maps_and_deployment_gone_the_checkpoint_is_used)
{
	proved(w, JOB_A, NULL, 0, 1);
	facts_set_source(&w->facts, SOURCE_HA, SOURCE_ABSENT, "no map");
	found_checkpoint(w, JOB_A, 1)->integrity = INTEGRITY_UNCHECKED;
	CHECK_STARTS_FROM(w, CHK_A(1));
}

WORLD_TEST(p8_a_missing_state_file_is_named_not_retried_for_ever)
{
	struct candidate *newest;

	proved(w, JOB_A, NULL, 0, 8);
	in_ha(w, found_checkpoint(w, JOB_A, 7), JOB_A);
	newest = in_ha(w, found_checkpoint(w, JOB_A, 8), JOB_A);
	broken(newest, INTEGRITY_DAMAGED, "shared/abc is missing");
	newest->recovery = INTEGRITY_DAMAGED; /* Flink would read that file, too */
	same_as_ever(w);
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK(obeys(w, JOB_C)); /* new ids: under the old one Flink takes the damaged one */
	CHECK_HAS(w->facts.candidates[1].reason, "shared/abc is missing");
	broken(&w->facts.candidates[0], INTEGRITY_DAMAGED, "shared/abc is missing");
	w->facts.candidates[0].recovery = INTEGRITY_DAMAGED;
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "shared/abc is missing");
}

TEST(p9_metadata_that_is_gone_does_not_keep_ha_from_recovering_and_is_said)
{
	static const enum integrity damages[] = {INTEGRITY_INCOMPLETE, INTEGRITY_DAMAGED,
						 INTEGRITY_UNREADABLE};
	struct world w;

	for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
		begin(&w);
		proved(&w, JOB_A, NULL, 0, 7);
		broken(in_ha(&w, found_checkpoint(&w, JOB_A, 7), JOB_A), damages[i],
		       "_metadata: 0 bytes");
		same_as_ever(&w);
		CHECK_CONTINUES(&w, CHK_A(7));
		CHECK_HAS(w.decision.reason, "unverified");
		CHECK_HAS(w.decision.reason, "_metadata: 0 bytes");
		w.policy.generation = "g2"; /* new ids need it */
		CHECK_DECIDES(&w, HOLD);
		end(&w);
	}
}
