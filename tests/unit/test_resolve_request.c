/* How long a restore request is in force, what it may leave behind, and what it is compared with. */
#include "resolve_world.h"

WORLD_TEST(a_request_is_over_when_its_launch_has_left_something)
{
	struct candidate *left;

	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 5);
	ran(w, JOB_B, "file:/cp/" JOB_A "/chk-5", 5);
	request(w, RESTORE_PATH, "file:/cp/" JOB_A "/chk-5", "t1");
	carried_out(w);
	left = found_checkpoint(w, JOB_B, 6);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_B "/chk-6");

	/* that was lost, and the next one started from the same by the rules */
	broken(left, INTEGRITY_DAMAGED, "gone");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
	CHECK_INT(w->decision.rule, ==, 6);
	ran(w, JOB_C, "file:/cp/" JOB_A "/chk-5", 5);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
	CHECK_INT(w->decision.rule, ==, 6);

	/* an empty start the same: by a rule it is not the one that a person has asked for */
	request(w, RESTORE_EMPTY, NULL, "t2");
	journal_consume(&w->journal, "t2");
	ran(w, "dddddddddddddddddddddddddddddddd", NULL, 0);
	CHECK_DECIDES(w, HOLD);
}

/* What the first launch for the request has left was hidden once, so another one was recorded, which never began. */
WORLD_TEST(what_an_earlier_launch_for_the_request_has_left_ends_it)
{
	struct candidate *left;

	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	request(w, RESTORE_EMPTY, NULL, "t1");
	ran(w, JOB_B, NULL, 0);
	carried_out(w);
	intended(w, JOB_C, NULL, 0);
	carried_out(w);
	CHECK_DECIDES(w, START_EMPTY);
	left = found_checkpoint(w, JOB_B, 1);
	CHECK_DECIDES(w, HOLD); /* the second one may have begun empty, after that */
	journal_launch(&w->journal)->never_started = true;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_B "/chk-1");
	broken(left, INTEGRITY_DAMAGED, "its _metadata cannot be decoded");
	CHECK_DECIDES(w, HOLD);
}

/* S17: an order that an old journal still has may have been carried out long ago, and what came of it is
 * newer than all that the person could know of. */
TEST(an_order_of_an_old_journal_is_not_carried_out_over_what_came_of_it)
{
	struct candidate *later;
	struct world w;

	begin(&w);
	proved(&w, JOB_A, NULL, 0, 7);
	found_checkpoint(&w, JOB_A, 7);
	found_checkpoint(&w, JOB_A, 5);
	later = found_checkpoint(&w, JOB_FOREIGN, 9);
	request(&w, RESTORE_PATH, "file:/cp/" JOB_A "/chk-5", "t1");
	w.journal.intent.restore.asked_unix_ms = 50000;
	later->snapshot.completed_unix_ms = 49999; /* the person knew it */
	CHECK_STARTS_FROM(&w, "file:/cp/" JOB_A "/chk-5");
	later->snapshot.completed_unix_ms = 50001;
	CHECK_DECIDES(&w, HOLD);
	CHECK_HAS(w.decision.reason, "from a backup");
	w.journal.intent.restore.kind = RESTORE_EMPTY;
	CHECK_DECIDES(&w, HOLD);
	w.journal.intent.restore.asked_unix_ms = 50002; /* asked again */
	CHECK_DECIDES(&w, START_EMPTY);
	end(&w);

	/* the journal may be so old that it knows of no launch at all */
	begin(&w);
	found_checkpoint(&w, JOB_FOREIGN, 5);
	found_checkpoint(&w, JOB_FOREIGN, 9)->snapshot.completed_unix_ms = 50001;
	request(&w, RESTORE_EMPTY, NULL, "t1");
	w.journal.intent.restore.asked_unix_ms = 50000;
	CHECK_DECIDES(&w, HOLD);
	end(&w);
}

WORLD_TEST(an_empty_start_is_not_held_up_by_another_application)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7)->integrity = INTEGRITY_UNCHECKED;
	with_operators(found_checkpoint(w, JOB_FOREIGN, 9), "xy")->snapshot.completed_unix_ms =
		50001;
	request(w, RESTORE_EMPTY, NULL, "t1");
	w->journal.intent.restore.asked_unix_ms = 50000;
	/* what is ours is not needed for the start, but tells the others apart */
	resolve(&w->journal, &w->facts, &w->policy, &w->decision);
	CHECK_INT(w->decision.kind, ==, DECISION_VERIFY);
	CHECK_INT(w->decision.candidate, ==, 0);
	with_operators(&w->facts.candidates[0], "ab")->integrity = INTEGRITY_COMPLETE;
	CHECK_DECIDES(w, START_EMPTY);
}

/* S17: an old journal may say that the launch has proven nothing, while a later one that it does not know
 * has gone on from there. */
WORLD_TEST(what_came_after_a_request_is_not_left_behind)
{
	struct candidate *later;

	proved(w, JOB_A, NULL, 0, 7);
	intended(w, JOB_B, "file:/cp/" JOB_A "/chk-5", 5)->intended_unix_ms = 50000;
	found_checkpoint(w, JOB_A, 7);
	found_checkpoint(w, JOB_A, 5);
	later = found_checkpoint(w, JOB_FOREIGN, 9);
	request(w, RESTORE_PATH, "file:/cp/" JOB_A "/chk-5", "t1");
	carried_out(w);
	later->snapshot.completed_unix_ms = 49999; /* the person knew it */
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
	later->snapshot.completed_unix_ms = 50001;
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "from a backup");
}

/* The clock of the store is ahead of that of who asked: each repetition of the request would be "older" again. */
WORLD_TEST(what_a_request_names_is_taken_although_it_is_dated_after_it)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	found_checkpoint(w, JOB_FOREIGN, 9)->snapshot.completed_unix_ms = 50001;
	request(w, RESTORE_PATH, "file:/cp/" JOB_FOREIGN "/chk-9", "t1");
	w->journal.intent.restore.asked_unix_ms = 50000;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_FOREIGN "/chk-9");
	/* nor what is behind it */
	found_checkpoint(w, JOB_FOREIGN, 8)->snapshot.completed_unix_ms = 50001;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_FOREIGN "/chk-9");
	/* but what came after it may be left by a launch that the journal does not know */
	found_checkpoint(w, JOB_FOREIGN, 10)->snapshot.completed_unix_ms = 50002;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_UNKNOWN_NEWER_STATE);
	CHECK_HAS(w->decision.reason, "/chk-10 is newer");
}

/* A journal from a backup has an order that was carried out since. What came of it cannot be seen while the savepoints
 * cannot be listed. */
WORLD_TEST(an_order_that_was_read_from_the_journal_waits_for_every_source)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 5);
	request(w, RESTORE_PATH, "file:/cp/" JOB_A "/chk-5", "t1");
	w->journal.intent.restore.asked_unix_ms = 1;
	facts_set_source(&w->facts, SOURCE_SAVEPOINTS, SOURCE_UNREADABLE, "it broke off");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
	w->journal.intent.restore.read_back = true;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_STORAGE_UNREADABLE);
	facts_set_source(&w->facts, SOURCE_SAVEPOINTS, SOURCE_PRESENT, "");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
}

/* Nobody saw the start of the launch that carried out an order, and the order itself is not in force any more:
 * another one took its place, and was withdrawn by a plain `drey resume`. What the person had given up does not
 * come back by that. */
WORLD_TEST(what_a_person_has_given_up_does_not_come_back_with_a_plain_resume)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	found_checkpoint(w, JOB_A, 5);
	xstrset(&intended(w, JOB_B, NULL, 0)->request_token, "t1");
	CHECK_DECIDES(w, HOLD);
	CHECK_HAS(w->decision.reason, "launch 2 started empty, as requested");
	CHECK_HAS(w->decision.reason, "drey resume --from");
	CHECK_HAS(w->facts.candidates[0].reason, "abandoned branch");

	/* an order to go back is the same: from there on, that is what there is */
	xstrset(&journal_launch(&w->journal)->restore_path, "file:/cp/" JOB_A "/chk-5");
	journal_launch(&w->journal)->restore_checkpoint_id = 5;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
	CHECK_INT(w->decision.rule, ==, 6);

	/* it is certain that nothing was started: as if there had been no order */
	journal_launch(&w->journal)->never_started = true;
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-7");
	journal_launch(&w->journal)->never_started = false;

	/* without an order nothing was given up */
	xstrset(&journal_launch(&w->journal)->request_token, NULL);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-7");
}

WORLD_TEST(a_request_for_what_is_ours_is_not_compared)
{
	proved(w, JOB_A, NULL, 0, 9);
	with_operators(found_checkpoint(w, JOB_A, 7), "xy"); /* the job was another one then */
	with_operators(found_checkpoint(w, JOB_A, 9), "pq");
	request(w, RESTORE_PATH, "file:/cp/" JOB_A "/chk-7", "t1");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-7");
}

WORLD_TEST(operators_that_nobody_knows_do_not_keep_a_request_back)
{
	proved(w, JOB_A, NULL, 0, 9);
	broken(found_checkpoint(w, JOB_A, 9), INTEGRITY_UNREADABLE, "denied");
	with_operators(found_checkpoint(w, JOB_FOREIGN, 5), "xy");
	request(w, RESTORE_PATH, "file:/cp/" JOB_FOREIGN "/chk-5", "t1");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_FOREIGN "/chk-5");
}

/* Both have to be looked at before they can be compared. */
WORLD_TEST(a_foreign_request_is_verified_and_compared)
{
	proved(w, JOB_A, NULL, 0, 9);
	with_operators(found_checkpoint(w, JOB_A, 9), "pq")->integrity = INTEGRITY_UNCHECKED;
	with_operators(found_checkpoint(w, JOB_FOREIGN, 5), "pq")->integrity = INTEGRITY_UNCHECKED;
	request(w, RESTORE_PATH, "file:/cp/" JOB_FOREIGN "/chk-5", "t1");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_FOREIGN "/chk-5");
	CHECK_INT(w->rounds, ==, 3);
}

/* What a launch that had restored something else made says nothing about our operators. */
WORLD_TEST(a_tainted_snapshot_is_not_what_ours_is_measured_by)
{
	proved(w, JOB_A, NULL, 0, 9)->mismatched = true;
	with_operators(found_checkpoint(w, JOB_A, 9), "xy");
	with_operators(found_checkpoint(w, JOB_FOREIGN, 5), "pq");
	request(w, RESTORE_PATH, "file:/cp/" JOB_FOREIGN "/chk-5", "t1");
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_FOREIGN "/chk-5");
}

/* Nobody knows when it was made: it stood there at the first look. */
static void standing(struct world *w, enum restore_request_kind kind, const char *path)
{
	request(w, kind, path, "t1");
	w->journal.intent.restore.asked_unix_ms = 0;
}

/* The journal is lost, and an order of long ago still stands in a control input. */
TEST(an_order_of_unknown_age_leaves_nothing_behind_when_the_journal_knows_of_no_launch)
{
	static const struct {
		enum restore_request_kind kind;
		const char *path;
		int64_t found[3]; /* checkpoints of one job */
		const char *decides;
	} cases[] = {
		{RESTORE_PATH, "file:/cp/" JOB_A "/chk-5", {5, 7}, "HOLD"},
		{RESTORE_PATH, "file:/cp/" JOB_A "/chk-7", {5, 7}, "START_FROM"},
		{RESTORE_PATH, "file:/cp/" JOB_A "/chk-5", {5}, "START_FROM"},
		{RESTORE_EMPTY, NULL, {5}, "HOLD"},
		{RESTORE_EMPTY, NULL, {0}, "START_EMPTY"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		begin(&w);
		for (int k = 0; cases[i].found[k]; k++)
			found_checkpoint(&w, JOB_A, cases[i].found[k]);
		standing(&w, cases[i].kind, cases[i].path);
		CHECK_STR(decision_kind_name(decide(&w)), cases[i].decides);
		if (w.decision.kind == DECISION_HOLD) {
			CHECK_INT(w.decision.cause, ==, CAUSE_REQUEST_MAY_BE_OLD);
			CHECK_HAS(w.decision.reason, "chk-");
			CHECK_HAS(w.decision.reason, "`drey resume --from PATH`");
		}
		/* a person repeats it */
		request(&w, cases[i].kind, cases[i].path, "t2");
		CHECK_INT(decide(&w), !=, DECISION_HOLD);
		end(&w);
	}
}

/* What is plainly older is what the person wanted to leave behind; what cannot be compared is not. */
TEST(an_order_of_unknown_age_is_compared_across_jobs_by_date)
{
	struct candidate *other;
	struct world w;

	begin(&w);
	found_savepoint(&w, JOB_A, 5)->snapshot.completed_unix_ms = 50000;
	other = found_checkpoint(&w, JOB_B, 99);
	other->snapshot.completed_unix_ms = 49999;
	standing(&w, RESTORE_PATH, "file:/sp/savepoint-aaaaaa-000000000005");
	CHECK_STARTS_FROM(&w, "file:/sp/savepoint-aaaaaa-000000000005");
	other->snapshot.completed_unix_ms = 50001;
	CHECK_DECIDES(&w, HOLD);
	other->snapshot.completed_unix_ms = 0;
	CHECK_DECIDES(&w, HOLD);
	/* directories that are shared: nobody's journal can be seen to be lost */
	w.policy.foreign = FOREIGN_IGNORE;
	CHECK_DECIDES(&w, START_FROM);
	end(&w);

	/* the date of what lies elsewhere means nothing */
	begin(&w);
	found(&w, SOURCE_REQUEST, "file:/else/where", SNAPSHOT_SAVEPOINT, "", 200);
	found_checkpoint(&w, JOB_A, 9);
	standing(&w, RESTORE_PATH, "file:/else/where");
	CHECK_DECIDES(&w, HOLD);
	end(&w);
}

/* What cannot be read could show that it was carried out. */
WORLD_TEST(an_order_of_unknown_age_waits_for_what_cannot_be_read)
{
	facts_set_source(&w->facts, SOURCE_SAVEPOINTS, SOURCE_UNREADABLE, "denied");
	standing(w, RESTORE_EMPTY, NULL);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_STORAGE_UNREADABLE);
	request(w, RESTORE_EMPTY, NULL, "t2");
	CHECK_DECIDES(w, START_EMPTY);
	standing(w, RESTORE_EMPTY, NULL);
	w->policy.restore = POLICY_NONE;
	CHECK_DECIDES(w, START_EMPTY);
}

/* The journal is from a backup: the launch that has carried the order out is none of its launches. */
TEST(an_order_of_unknown_age_is_not_carried_out_over_what_unknown_launches_left)
{
	struct candidate *later;
	struct world w;

	begin(&w);
	proved(&w, JOB_A, NULL, 0, 7);
	found_checkpoint(&w, JOB_A, 7);
	found_checkpoint(&w, JOB_A, 5);
	standing(&w, RESTORE_PATH, "file:/cp/" JOB_A "/chk-5");
	CHECK_STARTS_FROM(&w, "file:/cp/" JOB_A "/chk-5"); /* given while no drey looked */
	later = found_checkpoint(&w, JOB_FOREIGN, 6);
	later->snapshot.completed_unix_ms = 7001;
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.cause, ==, CAUSE_UNKNOWN_NEWER_STATE);
	standing(&w, RESTORE_EMPTY, NULL);
	CHECK_DECIDES(&w, HOLD);
	/* it names just that */
	standing(&w, RESTORE_PATH, "file:/cp/" JOB_FOREIGN "/chk-6");
	CHECK_STARTS_FROM(&w, "file:/cp/" JOB_FOREIGN "/chk-6");
	found_checkpoint(&w, JOB_FOREIGN, 8);
	CHECK_DECIDES(&w, HOLD);
	end(&w);

	/* it has left nothing but its HA data yet */
	begin(&w);
	proved(&w, JOB_A, NULL, 0, 7);
	found_checkpoint(&w, JOB_A, 7);
	in_ha(&w, found_checkpoint(&w, JOB_A, 5), JOB_B);
	standing(&w, RESTORE_EMPTY, NULL);
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.cause, ==, CAUSE_UNKNOWN_LAUNCH);
	request(&w, RESTORE_EMPTY, NULL, "t2");
	CHECK_DECIDES(&w, START_EMPTY);
	end(&w);
}
