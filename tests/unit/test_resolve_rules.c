/* The rules about Flink's HA data, foreign snapshots, ages, stateless jobs and trusted verifications, in the cases
 * that no story tells. */
#include "core/resolve/flink_choice.h"
#include "resolve_world.h"

#define CHK_A(n)  "file:/cp/" JOB_A "/chk-" #n
#define SAVEPOINT "file:/sp/savepoint-1"
#define CHK_B(n)  "file:/cp/" JOB_B "/chk-" #n

/* Launch A runs, Flink's HA has checkpoint 7 of it. */
static struct candidate *begin_ha(struct world *w)
{
	struct candidate *entry;

	begin(w);
	proved(w, JOB_A, NULL, 0, 7);
	same_as_ever(w);
	entry = found_checkpoint(w, JOB_A, 7);
	return in_ha(w, entry, JOB_A);
}

/* ---- rule 7 ---- */

WORLD_TEST_FROM(begin_ha, every_entry_is_looked_at_because_flink_reads_every_entry)
{
	struct candidate *older;

	older = in_ha(w, found_checkpoint(w, JOB_A, 6), JOB_A);
	older->recovery = INTEGRITY_UNCHECKED;
	CHECK_CONTINUES(w, CHK_A(7));
	CHECK_INT(w->rounds, ==, 2);
	older = &w->facts.candidates[1];
	older->recovery = INTEGRITY_DAMAGED;
	CHECK_STARTS_FROM(w, CHK_A(7)); /* under new ids the older one does not matter */
	CHECK_HAS(w->decision.reason, "one of them is damaged)");
	older->recovery_detail = xstrdup("the counter is not a number");
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK_HAS(w->decision.reason, "one of them is damaged: the counter is not a number)");
	older->recovery = INTEGRITY_UNREADABLE;
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK_HAS(w->decision.reason, "cannot be read");
}

TEST(a_checkpoint_that_was_never_acknowledged_does_not_beat_flinks_own_truth)
{
	struct world w;
	struct candidate *entry = begin_ha(&w);

	found_checkpoint(&w, JOB_A, 8)->integrity = INTEGRITY_UNCHECKED;
	CHECK_CONTINUES(&w, CHK_A(7));
	CHECK_HAS(w.decision.reason, "8 is newer, but Flink never acknowledged it");
	CHECK_HAS(w.facts.candidates[1].reason, "never acknowledged");
	CHECK_INT(w.facts.candidates[1].verdict, ==, VERDICT_REJECTED);
	CHECK_INT(w.rounds, ==, 1); /* and need not be looked at */

	w.policy.generation = "g2"; /* without its HA data it is simply the newest */
	CHECK_STARTS_FROM(&w, CHK_A(8));
	w.policy.generation = "g1";
	entry = &w.facts.candidates[0];
	entry->recovery = INTEGRITY_DAMAGED;
	CHECK_STARTS_FROM(&w, CHK_A(8));
	end(&w);
}

/* A map out of a backup: Flink had begun the newer ones under a higher counter, and acknowledged them all. */
TEST(a_complete_checkpoint_beyond_the_counter_shows_that_the_map_is_old)
{
	struct world w;
	struct candidate *c;

	begin_ha(&w)->ha_counter = 9; /* 8 was being taken */
	found_checkpoint(&w, JOB_A, 8)->integrity = INTEGRITY_UNCHECKED;
	CHECK_CONTINUES(&w, CHK_A(7)); /* and was not acknowledged */
	c = found_checkpoint(&w, JOB_A, 9);
	c->integrity = INTEGRITY_INCOMPLETE;
	CHECK_CONTINUES(&w, CHK_A(7)); /* nothing newer was completed */
	c = &w.facts.candidates[2];
	c->integrity = INTEGRITY_UNCHECKED;
	CHECK_STARTS_FROM(&w, CHK_A(9));
	CHECK_HAS(w.decision.reason, "a later checkpoint, so they are from a backup: " CHK_A(9));
	CHECK_INT(w.rounds, ==, 2); /* that one alone is looked at */
	found_checkpoint(&w, JOB_A, 12)->integrity = INTEGRITY_UNREADABLE;
	CHECK_DECIDES(&w, HOLD);
	broken(&w.facts.candidates[3], INTEGRITY_DAMAGED, "a file is gone");
	CHECK_STARTS_FROM(&w, CHK_A(9));
	CHECK(w.facts.candidates[3].passed_over); /* with a word */
	end(&w);
}

/* With `restore.policy: savepoint` it is not what is started from, but proves the same: under the old ids Flink
 * would complete chk-375 a second time. */
WORLD_TEST(a_checkpoint_that_may_not_be_chosen_shows_an_old_map_as_well)
{
	struct launch *launch;

	launch = ran(w, JOB_A, SAVEPOINT, 374);
	launch->restore_kind = SNAPSHOT_SAVEPOINT;
	w->journal.ever_proven = true;
	same_as_ever(w);
	w->policy.restore = POLICY_SAVEPOINT;
	in_ha(w, found(w, SOURCE_JOURNAL, SAVEPOINT, SNAPSHOT_SAVEPOINT, "", 374), JOB_A)
		->ha_counter = 375;
	CHECK_CONTINUES(w, SAVEPOINT);
	found_checkpoint(w, JOB_A, 375)->integrity = INTEGRITY_INCOMPLETE;
	CHECK_CONTINUES(w, SAVEPOINT);
	w->facts.candidates[1].integrity = INTEGRITY_UNCHECKED;
	CHECK_STARTS_FROM(w, SAVEPOINT);
	CHECK_HAS(w->decision.reason, "a later checkpoint, so they are from a backup: " CHK_A(375));
}

/* HA was switched off, or has another cluster id: Flink would not find it. */
TEST(no_launch_goes_on_with_ha_data_of_a_former_cluster_id)
{
	struct flink_choice choice;
	struct world w;

	begin_ha(&w)->ha_former = true;
	CHECK_STARTS_FROM(&w, CHK_A(7));
	flink_choose(&w.facts, JOB_A, NULL, &choice);
	CHECK_INT(choice.source, ==, FLINK_EMPTY);
	/* but it tells that there was newer state */
	broken(in_ha(&w, found_checkpoint(&w, JOB_A, 8), JOB_A), INTEGRITY_INCOMPLETE,
	       "no directory");
	w.facts.candidates[1].ha_former = true;
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.cause, ==, CAUSE_NEWEST_STATE_MISSING);
	CHECK_HAS(w.decision.reason, "no directory");
	end(&w);
}

/* A branch of another launch has ids of its own. */
TEST(another_jobs_checkpoint_says_nothing_about_the_counter)
{
	struct world w;

	begin_ha(&w)->ha_counter = 8;
	w.policy.foreign = FOREIGN_IGNORE;
	found_checkpoint(&w, JOB_FOREIGN, 99);
	CHECK_CONTINUES(&w, CHK_A(7));
	end(&w);
}

WORLD_TEST_FROM(begin_ha, what_rest_has_shown_was_acknowledged)
{
	w->journal.launches[0].last_checkpoint_id = 8;
	found_checkpoint(w, JOB_A, 8);
	CHECK_STARTS_FROM(w, CHK_A(8));
	CHECK_HAS(w->decision.reason, "older than a known snapshot");
	w->facts.candidates[1].snapshot.path[0] =
		'x'; /* it is not there: the HA data are a backup */
	snprintf(w->facts.candidates[1].snapshot.job_id, JOB_ID_BYTES, "%s", JOB_FOREIGN);
	w->policy.foreign = FOREIGN_IGNORE;
	CHECK_DECIDES(w, HOLD);
}

WORLD_TEST_FROM(begin_ha, a_launch_whose_job_has_ended_is_not_gone_on_with)
{
	w->journal.launches[0].job_ended = true;
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK_HAS(w->decision.reason, "its job has ended");
}

WORLD_TEST_FROM(begin_ha, another_flink_version_gets_new_ids)
{
	w->policy.flink_version = "2.3.1";
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK_HAS(w->decision.reason, "Flink version");
}

WORLD_TEST_FROM(begin_ha, a_launch_that_has_restored_something_else_is_not_gone_on_with)
{
	w->journal.launches[0].mismatched = true;
	CHECK_DECIDES(w, HOLD);
}

/* What a launch was started from is in its map, too, with dates of 0. */
WORLD_TEST(a_launch_without_a_checkpoint_of_its_own_goes_on_from_its_restore_point)
{
	struct candidate *entry;

	proved(w, JOB_A, NULL, 0, 7);
	ran(w, JOB_B, CHK_A(7), 7);
	same_as_ever(w);
	entry = in_ha(w, found_checkpoint(w, JOB_A, 7), JOB_B);
	entry->snapshot.completed_unix_ms = 0;
	CHECK_CONTINUES(w, CHK_A(7));
	CHECK_HAS(w->decision.reason, JOB_B);
}

WORLD_TEST_FROM(begin_ha, a_launch_that_went_on_goes_on_again)
{
	proved(w, JOB_A, CHK_A(7), 7, 9); /* the same ids */
	same_as_ever(w);
	in_ha(w, found_checkpoint(w, JOB_A, 9), JOB_A);
	CHECK_CONTINUES(w, CHK_A(9));
}

WORLD_TEST(an_entry_that_cannot_be_read_does_not_hide_the_retained_checkpoint)
{
	struct candidate *entry;

	proved(w, JOB_A, NULL, 0, 7);
	same_as_ever(w);
	found_checkpoint(w, JOB_A, 7);
	entry = found(w, SOURCE_HA, "file:/ha/completedCheckpoint123", SNAPSHOT_CHECKPOINT, JOB_A,
		      7);
	entry->snapshot.completed_unix_ms = 0;
	broken(in_ha(w, entry, JOB_A), INTEGRITY_DAMAGED, "not a Java stream");
	entry->recovery = INTEGRITY_DAMAGED;
	CHECK_STARTS_FROM(w, CHK_A(7));
}

WORLD_TEST_FROM(begin_ha, the_savepoint_policy_goes_on_only_from_what_it_started_from)
{
	w->policy.restore = POLICY_SAVEPOINT;
	found_savepoint(w, JOB_A, 5);
	CHECK_STARTS_FROM(w, "file:/sp/savepoint-aaaaaa-000000000005");
}

WORLD_TEST(adopted_ha_data_are_started_from_not_gone_on_with)
{
	w->policy.adopt = true;
	in_ha(w, found_checkpoint(w, JOB_A, 7), JOB_A);
	CHECK_STARTS_FROM(w, CHK_A(7));
}

WORLD_TEST_FROM(begin_ha, the_age_limit_is_for_ha_data_too)
{
	w->policy.max_age_ms = 1000;
	w->facts.now_unix_ms = 7000 + 1000;
	CHECK_CONTINUES(w, CHK_A(7));
	w->facts.now_unix_ms++;
	CHECK_DECIDES(w, HOLD);
	w->facts.now_unix_ms = 0; /* a clock that is behind makes nothing old */
	CHECK_CONTINUES(w, CHK_A(7));
}

WORLD_TEST_FROM(begin_ha, flink_takes_the_newest_entry_of_the_id_then_the_argument)
{
	struct flink_choice choice;

	in_ha(w, found_checkpoint(w, JOB_A, 6), JOB_A);
	flink_choose(&w->facts, JOB_A, "file:/x", &choice);
	CHECK_INT(choice.source, ==, FLINK_HA);
	CHECK_STR(choice.path, CHK_A(7));
	flink_choose(&w->facts, JOB_B, "file:/x", &choice);
	CHECK_INT(choice.source, ==, FLINK_ARGUMENT);
	CHECK_STR(choice.path, "file:/x");
	flink_choose(&w->facts, JOB_B, NULL, &choice);
	CHECK_INT(choice.source, ==, FLINK_EMPTY);
	CHECK(!choice.path);
}

/* Two maps name the same snapshot: that of the job that made it, and that of the job started from it. */
TEST(the_map_of_the_last_launch_counts)
{
	struct world w;
	struct candidate *c;

	for (int turn = 0; turn < 2; turn++) {
		begin(&w);
		proved(&w, JOB_A, NULL, 0, 7);
		ran(&w, JOB_B, CHK_A(7), 7);
		same_as_ever(&w);
		facts_set_source(&w.facts, SOURCE_HA, SOURCE_PRESENT, "2 maps");
		c = found_checkpoint(&w, JOB_A, 7);
		c->recovery = INTEGRITY_COMPLETE;
		facts_mark_ha(c, turn ? JOB_B : JOB_A, JOB_B);
		facts_mark_ha(c, turn ? JOB_A : JOB_B, JOB_B);
		CHECK_CONTINUES(&w, CHK_A(7));
		end(&w);
	}
	/* only the map of an older one is left: there is nothing to go on with */
	begin_ha(&w);
	ran(&w, JOB_B, CHK_A(7), 7);
	same_as_ever(&w);
	CHECK_STARTS_FROM(&w, CHK_A(7));
	end(&w);
}

/* It has restored something else, so what it goes on from is not to be trusted. */
WORLD_TEST(a_mismatched_launch_is_not_gone_on_with)
{
	proved(w, JOB_A, NULL, 0, 7);
	ran(w, JOB_B, CHK_A(7), 7)->mismatched = true;
	same_as_ever(w);
	in_ha(w, found_checkpoint(w, JOB_A, 7), JOB_B);
	CHECK_STARTS_FROM(w, CHK_A(7));
}

/* The only trace of state is an entry whose checkpoint is gone. */
WORLD_TEST(an_entry_whose_checkpoint_is_gone_forbids_an_empty_start)
{
	struct candidate *entry;

	ran(w, JOB_A, NULL, 0);
	same_as_ever(w);
	entry = in_ha(w, found(w, SOURCE_HA, CHK_A(5), SNAPSHOT_CHECKPOINT, JOB_A, 5), JOB_A);
	broken(entry, INTEGRITY_INCOMPLETE, "no _metadata");
	entry->recovery = INTEGRITY_DAMAGED;
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, CHK_A(5));
	given_initial(w, 3);
	CHECK_DECIDES(w, HOLD);
}

WORLD_TEST_FROM(begin_ha, a_newer_savepoint_that_only_the_journal_knows_overtakes_ha)
{
	struct candidate *c;

	c = found(w, SOURCE_JOURNAL, "s3://elsewhere/savepoint-aaaaaa-1", SNAPSHOT_SAVEPOINT, JOB_A,
		  8);
	CHECK_STARTS_FROM(w, "s3://elsewhere/savepoint-aaaaaa-1");
	broken(c, INTEGRITY_UNREADABLE, "denied");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, 5);
}

/* What the launch before wrote lately is newer, and was acknowledged for all we know. */
WORLD_TEST(a_newer_checkpoint_of_another_living_launch_overtakes_ha)
{
	proved(w, JOB_A, NULL, 0, 7);
	ran(w, JOB_B, CHK_A(9), 9);
	same_as_ever(w);
	in_ha(w, found_checkpoint(w, JOB_A, 7), JOB_B); /* a map from a backup */
	found_checkpoint(w, JOB_A, 9);
	CHECK_STARTS_FROM(w, CHK_A(9));
}

WORLD_TEST_FROM(begin_ha, an_incomplete_newer_checkpoint_is_not_called_unacknowledged)
{
	broken(found_checkpoint(w, JOB_A, 8), INTEGRITY_INCOMPLETE, "no _metadata");
	CHECK_CONTINUES(w, CHK_A(7));
	CHECK(!strstr(w->decision.reason, "never acknowledged"));
}

/* ---- foreign ---- */

/* The newest of ours was reported by REST and is gone; what others wrote before that is no news. */
WORLD_TEST(what_rest_has_shown_dates_our_newest_state)
{
	proved(w, JOB_A, NULL, 0, 7)->last_checkpoint_unix_ms = 50000;
	found(w, SOURCE_CHECKPOINTS, "s3://b/cp/" JOB_A "/chk-7", SNAPSHOT_CHECKPOINT, JOB_A, 7)
		->snapshot.completed_unix_ms = 0;
	found_checkpoint(w, JOB_FOREIGN, 1)->snapshot.completed_unix_ms = 40000;
	CHECK_STARTS_FROM(w, "s3://b/cp/" JOB_A "/chk-7");
	w->facts.candidates[1].snapshot.completed_unix_ms = 60000;
	CHECK_DECIDES(w, HOLD);
}

/* Ours is newer on another storage, whose clock is ahead. */
WORLD_TEST(a_clock_that_is_ahead_elsewhere_does_not_hide_what_is_foreign_here)
{
	proved(w, JOB_A, NULL, 0, 8);
	found(w, SOURCE_CHECKPOINTS, "s3://b/cp/" JOB_A "/chk-8", SNAPSHOT_CHECKPOINT, JOB_A, 8)
		->snapshot.completed_unix_ms = 99000;
	found_checkpoint(w, JOB_A, 7)->snapshot.completed_unix_ms = 5000;
	found_checkpoint(w, JOB_FOREIGN, 1)->snapshot.completed_unix_ms = 6000;
	CHECK_DECIDES(w, HOLD);
}

WORLD_TEST(what_is_recorded_or_configured_is_not_foreign)
{
	struct snapshot initial = {.path = (char *)"file:/sp/savepoint-ffffff-000000000090",
				   .origin = ORIGIN_INITIAL};

	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	found_savepoint(w, JOB_FOREIGN, 90);
	CHECK_DECIDES(w, HOLD);
	facts_add(&w->facts, SOURCE_INITIAL, &initial);
	CHECK_STARTS_FROM(w, CHK_A(7));
	w->facts.candidates[1].snapshot.origin = ORIGIN_FOUND;
	CHECK_DECIDES(w, HOLD);
	journal_add_snapshot(&w->journal, &w->facts.candidates[1].snapshot);
	w->journal.snapshots[0].checkpoint_id = 0;
	CHECK_STARTS_FROM(w, CHK_A(7));
}

WORLD_TEST(only_the_newest_of_each_foreign_job_is_looked_at)
{
	proved(w, JOB_A, NULL, 0, 7);
	with_operators(found_checkpoint(w, JOB_A, 7), "pq");
	for (int i = 20; i < 40; i++)
		with_operators(found_checkpoint(w, JOB_FOREIGN, i), "xy")->integrity =
			INTEGRITY_UNCHECKED;
	for (int i = 1; i < 20; i++)
		w->facts.candidates[i].operator_count = 0; /* as long as nobody has looked */
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK_INT(w->rounds, ==, 1); /* the operators of chk-39 are known here */
	w->facts.candidates[20].operator_count = 0;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->rounds, ==, 2);
}

WORLD_TEST(a_foreign_snapshot_that_was_never_complete_or_is_older_does_not_matter)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	broken(found_checkpoint(w, JOB_FOREIGN, 91), INTEGRITY_INCOMPLETE, "no _metadata");
	found_checkpoint(w, JOB_FOREIGN, 92)->snapshot.completed_unix_ms = 7000;
	CHECK_STARTS_FROM(w, CHK_A(7));
	w->facts.candidates[2].snapshot.completed_unix_ms++;
	CHECK_DECIDES(w, HOLD);
}

/* The launch that made it may have left what ours go back to long ago. */
WORLD_TEST(a_damaged_foreign_snapshot_tells_of_newer_state)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	broken(found_checkpoint(w, JOB_FOREIGN, 90), INTEGRITY_DAMAGED, "truncated");
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "from a backup");
	w->facts.candidates[1].snapshot.completed_unix_ms = 1;
	CHECK_STARTS_FROM(w, CHK_A(7));
}

/* What cannot be read has no date: the journal may be older than the launch that made it. */
WORLD_TEST(a_foreign_savepoint_that_cannot_be_read_may_be_newer)
{
	struct candidate *c;

	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	c = found_savepoint(w, JOB_FOREIGN, 0);
	c->metadata_version = 0;
	broken(c, INTEGRITY_UNREADABLE, "503 Slow Down");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_SNAPSHOT_UNREADABLE);
	CHECK_HAS(w->decision.reason, "503 Slow Down; drey retries");
	CHECK_HAS(w->decision.reason, "restore.foreign: ignore");
	CHECK_STR(w->facts.candidates[0].reason, "one that cannot be read may be newer");
	w->policy.foreign = FOREIGN_IGNORE;
	CHECK_STARTS_FROM(w, CHK_A(7));
	w->policy.foreign = FOREIGN_HOLD;
	/* who asks for another one has seen that it is there */
	request(w, RESTORE_PATH, CHK_A(7), "t1");
	CHECK_STARTS_FROM(w, CHK_A(7));
}

/* Two storages have two clocks. */
WORLD_TEST(dates_are_compared_on_the_same_storage)
{
	proved(w, JOB_A, NULL, 0, 8);
	found(w, SOURCE_CHECKPOINTS, "s3://b/cp/" JOB_A "/chk-7", SNAPSHOT_CHECKPOINT, JOB_A, 7)
		->snapshot.completed_unix_ms = 9000;
	found_checkpoint(w, JOB_A, 8)->snapshot.completed_unix_ms = 5000;
	found(w, SOURCE_CHECKPOINTS, "s3://b/cp/" JOB_FOREIGN "/chk-1", SNAPSHOT_CHECKPOINT,
	      JOB_FOREIGN, 1)
		->snapshot.completed_unix_ms = 8000;
	CHECK_STARTS_FROM(w, CHK_A(8));
	w->facts.candidates[2].snapshot.completed_unix_ms = 9001;
	CHECK_DECIDES(w, HOLD);
}

TEST(foreign_state_forbids_going_on_and_an_empty_start_too)
{
	struct world w;

	begin_ha(&w);
	found_checkpoint(&w, JOB_FOREIGN, 90);
	CHECK_DECIDES(&w, HOLD);
	end(&w);

	begin(&w);
	ran(&w, JOB_A, NULL, 0);
	CHECK_DECIDES(&w, START_EMPTY);
	found_checkpoint(&w, JOB_FOREIGN, 90);
	CHECK_DECIDES(&w, HOLD);
	w.policy.foreign = FOREIGN_IGNORE;
	CHECK_DECIDES(&w, START_EMPTY);
	end(&w);
}

/* S17: a launch that the journal, from a backup, does not know has only restored what a person named, and
 * completed nothing: its HA data alone tell of it. */
TEST(ha_data_of_a_launch_that_the_journal_does_not_know_forbid_a_start)
{
	struct candidate *old;
	struct world w;

	/* going on */
	begin_ha(&w);
	old = in_ha(&w, found_savepoint(&w, JOB_FOREIGN, 0), JOB_C); /* older than all of ours */
	CHECK_DECIDES(&w, HOLD);
	CHECK_HAS(w.decision.reason, "job " JOB_C ", started from");
	CHECK_HAS(w.decision.reason, "drey resume --from PATH");
	old->integrity = INTEGRITY_INCOMPLETE; /* it is gone, but was there */
	CHECK_DECIDES(&w, HOLD);
	w.policy.foreign = FOREIGN_IGNORE; /* nobody else's job is in this HA */
	CHECK_DECIDES(&w, HOLD);
	w.policy.foreign = FOREIGN_HOLD;
	/* a person knows better */
	request(&w, RESTORE_EMPTY, NULL, "t1");
	CHECK_DECIDES(&w, START_EMPTY);
	request(&w, RESTORE_NONE, NULL, NULL);
	/* it was known when the last launch was decided */
	journal_add_former_job(&w.journal, JOB_C);
	CHECK_INT(decide(&w), ==, DECISION_CONTINUE);
	end(&w);

	/* back to an older one of ours, by an order that the journal has forgotten */
	begin(&w);
	proved(&w, JOB_A, NULL, 0, 7);
	found_checkpoint(&w, JOB_A, 5);
	found_checkpoint(&w, JOB_A, 7);
	in_ha(&w, &w.facts.candidates[0], JOB_C);
	CHECK_DECIDES(&w, HOLD);
	/* another one of ours, that the journal knows, was started from there as well */
	facts_mark_ha(&w.facts.candidates[0], JOB_A, JOB_A);
	CHECK_STR(w.facts.candidates[0].ha_job_id, JOB_A);
	CHECK_DECIDES(&w, HOLD);
	CHECK_HAS(w.decision.reason, "job " JOB_C ", started from");
	/* it has completed something since: the date tells */
	found_checkpoint(&w, JOB_C, 6);
	CHECK_STARTS_FROM(&w, "file:/cp/" JOB_A "/chk-7");
	w.facts.candidates[2].snapshot.completed_unix_ms = 8000;
	CHECK_DECIDES(&w, HOLD);
	end(&w);

	/* from the newest: the same is decided now */
	begin(&w);
	proved(&w, JOB_A, NULL, 0, 7);
	in_ha(&w, found_checkpoint(&w, JOB_A, 7), JOB_C);
	CHECK_STARTS_FROM(&w, "file:/cp/" JOB_A "/chk-7");
	end(&w);
}

WORLD_TEST(what_we_once_started_from_or_made_is_not_foreign)
{
	proved(w, JOB_A, "file:/cp/" JOB_FOREIGN "/chk-90", 90, 95); /* asked for by a person */
	proved(w, JOB_B, NULL, 0, 7);                                /* so was this */
	found_checkpoint(w, JOB_B, 7);
	found_checkpoint(w, JOB_FOREIGN, 90);
	CHECK_STARTS_FROM(w, CHK_B(7));
	found_checkpoint(w, JOB_C, 99);
	CHECK_DECIDES(w, HOLD);
	journal_add_former_job(&w->journal, JOB_C); /* a launch of ours, long ago */
	CHECK_STARTS_FROM(w, CHK_B(7));
}

WORLD_TEST(a_shared_directory_does_not_keep_a_new_application_from_starting)
{
	found_checkpoint(w, JOB_FOREIGN, 90);
	CHECK_DECIDES(w, HOLD);
	w->policy.foreign = FOREIGN_IGNORE;
	CHECK_DECIDES(w, START_EMPTY);
	CHECK_HAS(w->decision.reason, "of its own");
	given_initial(w, 3);
	CHECK_STARTS_FROM(w, "file:/initial");
}

/* A job that moves to drey: its directories are full, and its last savepoint is the initial one. */
WORLD_TEST(an_initial_savepoint_that_is_the_newest_of_its_directory_is_taken)
{
	struct snapshot initial = {.path = (char *)"file:/sp/savepoint-aaaaaa-000000000009",
				   .origin = ORIGIN_INITIAL};

	found_savepoint(w, JOB_A, 8);
	found_savepoint(w, JOB_A, 9);
	found_checkpoint(w, JOB_B, 5);
	facts_set_source(&w->facts, SOURCE_INITIAL, SOURCE_PRESENT, initial.path);
	facts_add(&w->facts, SOURCE_INITIAL, &initial);
	CHECK_STARTS_FROM(w, initial.path);
	found_checkpoint(w, JOB_A, 10);
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "may be newer than the initial savepoint");
}

/* ---- policy none ---- */

WORLD_TEST(a_stateless_job_starts_empty_every_time_and_says_what_it_leaves)
{
	w->policy.restore = POLICY_NONE;
	CHECK_DECIDES(w, START_EMPTY);
	CHECK_INT(w->decision.rule, ==, 6);
	proved(w, JOB_A, NULL, 0, 9);
	found_checkpoint(w, JOB_A, 9);
	found_checkpoint(w, JOB_FOREIGN, 99);
	facts_set_source(&w->facts, SOURCE_SAVEPOINTS, SOURCE_UNREADABLE, "denied");
	CHECK_DECIDES(w, START_EMPTY);
	CHECK_HAS(w->decision.reason, "warning: 2 snapshots");
	CHECK_INT(w->facts.candidates[0].verdict, ==, VERDICT_REJECTED);
	facts_set_source(&w->facts, SOURCE_JOURNAL, SOURCE_UNREADABLE, "damaged");
	CHECK_DECIDES(w, HOLD);
	w->journal.intent.do_not_restart = true;
	CHECK_DECIDES(w, PARK);
}

WORLD_TEST(a_stateless_job_is_started_from_a_snapshot_once)
{
	struct launch *launch;

	w->policy.restore = POLICY_NONE;
	found_checkpoint(w, JOB_A, 9);
	request(w, RESTORE_PATH, CHK_A(9), "t1");
	CHECK_STARTS_FROM(w, CHK_A(9));
	launch = ran(w, JOB_B, CHK_A(9), 9);
	carried_out(w);
	CHECK_STARTS_FROM(w, CHK_A(9)); /* it did not get so far as to restore it */
	launch->verified_unix_ms = 5;
	CHECK_DECIDES(w, START_EMPTY);
}

/* ---- trusted verifications ---- */

static struct snapshot *begin_trust(struct world *w)
{
	struct snapshot known = {.path = (char *)"file:///cp/" JOB_A "/chk-7/",
				 .checkpoint_id = 7,
				 .job_id = JOB_A,
				 .size_bytes = 500,
				 .file_count = 4,
				 .verified = true,
				 .verified_unix_ms = 1000000,
				 .metadata_unix_ms = 55,
				 .metadata_bytes = 66,
				 .metadata_version = 4};
	struct candidate *c;

	begin(w);
	proved(w, JOB_A, NULL, 0, 7);
	journal_add_snapshot(&w->journal, &known);
	c = found_checkpoint(w, JOB_A, 7);
	c->integrity = INTEGRITY_UNCHECKED;
	c->metadata_version = 0;
	c->snapshot.metadata_unix_ms = 55;
	c->snapshot.metadata_bytes = 66;
	w->facts.now_unix_ms = 1000000 + 599999;
	return &w->facts.candidates[0].snapshot;
}

TEST(a_fresh_verification_is_trusted)
{
	struct world w;
	struct snapshot *s = begin_trust(&w);

	CHECK_STARTS_FROM(&w, CHK_A(7));
	CHECK_INT(w.rounds, ==, 1);
	CHECK_INT(s->size_bytes, ==, 500);
	CHECK_INT(s->file_count, ==, 4);
	CHECK_INT(s->verified_unix_ms, ==, 1000000);
	CHECK_INT(w.facts.candidates[0].metadata_version, ==, 4);
	end(&w);
}

TEST(trust_ends_with_time_change_and_doubt)
{
	struct world w;

	for (int i = 0; i < 10; i++) {
		struct snapshot *s = begin_trust(&w);

		if (i == 0)
			w.facts.now_unix_ms++;
		if (i == 1)
			w.facts.now_unix_ms = 999999; /* the clock went back */
		if (i == 2)
			s->metadata_unix_ms++;
		if (i == 3)
			s->metadata_bytes++;
		if (i == 4)
			s->metadata_bytes = w.journal.snapshots[0].metadata_bytes = 0;
		if (i == 5)
			w.journal.snapshots[0].verified = false;
		if (i == 6)
			w.journal.snapshots[0].checkpoint_id = 6;
		if (i == 7) /* Flink was to start from it and has not shown that it could */
			ran(&w, JOB_B, CHK_A(7), 7);
		if (i == 9) { /* it is of another snapshot */
			w.journal.snapshots[0].path[9] = 'x';
			w.journal.snapshots[0].checkpoint_id = 7;
		}
		if (i == 8) /* its operators have to be known */
			found_checkpoint(&w, JOB_FOREIGN, 1);
		CHECK_STARTS_FROM(&w, CHK_A(7));
		CHECK_INT(w.rounds, ==, 2);
		end(&w);
	}
}

/* A launch that was withdrawn before it was started casts no doubt. */
WORLD_TEST_FROM(begin_trust, a_start_that_never_was_casts_no_doubt)
{
	intended(w, JOB_B, CHK_A(7), 7);
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK_INT(w->rounds, ==, 1);
}

/* A checkpoint that is remembered because it was verified is no savepoint. */
WORLD_TEST_FROM(begin_trust, a_remembered_checkpoint_does_not_bind_the_savepoint_policy)
{
	w->policy.restore = POLICY_SAVEPOINT;
	found_savepoint(w, JOB_A, 5);
	CHECK_STARTS_FROM(w, "file:/sp/savepoint-aaaaaa-000000000005");
}

WORLD_TEST_FROM(begin_trust, what_a_newer_flink_wrote_is_not_trusted_by_an_older_one)
{
	w->facts.max_metadata_version = 3;
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "newer Flink");
}

/* ---- what was left out ---- */

WORLD_TEST(what_was_not_looked_at_forbids_an_empty_start)
{
	CHECK_DECIDES(w, START_EMPTY);
	w->facts.sources[SOURCE_SAVEPOINTS].left_out = 3;
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "3 snapshots");
}

/* Its start was never reported and it has left no snapshot, but Flink's HA has a map of its job. */
WORLD_TEST(a_launch_that_only_ha_data_know_of_has_run)
{
	proved(w, JOB_A, NULL, 0, 7);
	intended(w, JOB_B, CHK_A(7), 7);
	same_as_ever(w);
	in_ha(w, found_checkpoint(w, JOB_A, 7), JOB_B);
	CHECK_CONTINUES(w, CHK_A(7));
}

/* Lying world, 539381: the journal is from a backup. Later launch B began its first savepoint, and the _metadata that is
 * not there cannot be asked for now: that is no state with a date. */
WORLD_TEST(an_unknown_launch_is_not_dated_by_what_could_not_be_read)
{
	struct candidate *begun;

	proved(w, JOB_A, NULL, 0, 7);
	same_as_ever(w);
	found_checkpoint(w, JOB_A, 8);
	in_ha(w, found_checkpoint(w, JOB_A, 7), JOB_B);
	begun = found_savepoint(w, JOB_B, 9);
	broken(begun, INTEGRITY_UNREADABLE, "timeout");
	begun->snapshot.completed_unix_ms = 0;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_UNKNOWN_LAUNCH);
	CHECK_HAS(w->decision.reason, "the journal may be from a backup");
}

/* The history that the simulator calls 1418148. B was to start from chk-12 of A. Its Flink restored chk-3 instead,
 * completed savepoint 4 and was dead before anybody had looked. A person named that savepoint, and C was started from it. From
 * then on the ids tell the order on this branch only: C goes before it, and A's chk-12 is no way on although its id is
 * higher. */
WORLD_TEST(ids_count_on_the_branch_that_a_person_has_chosen)
{
	proved(w, JOB_A, NULL, 0, 12);
	ran(w, JOB_B, CHK_A(12), 12); /* never verified, so nobody knows what it has restored */
	proved(w, JOB_C, "file:/sp/savepoint-bbbbbb-000000000004", 4, 6);
	w->journal.launches[2].restore_kind = SNAPSHOT_SAVEPOINT;
	found_checkpoint(w, JOB_A, 3);
	found_checkpoint(w, JOB_A, 12);
	found_savepoint(w, JOB_B, 4)->snapshot.completed_unix_ms = 13000;
	found_checkpoint(w, JOB_C, 6)->snapshot.completed_unix_ms = 15000;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_C "/chk-6");
	CHECK_HAS(w->facts.candidates[1].reason, "abandoned");
	/* without C's own the job does not go back by itself, nor to chk-12 */
	broken(&w->facts.candidates[3], INTEGRITY_INCOMPLETE, "no _metadata");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_NEWEST_STATE_MISSING);
	/* where that loss is seen, with a word, it is what the person has named */
	broken(&w->facts.candidates[3], INTEGRITY_DAMAGED, "a file is gone");
	CHECK_STARTS_FROM(w, "file:/sp/savepoint-bbbbbb-000000000004");
	CHECK(w->facts.candidates[3].passed_over);
}
