/* How much a start may give up when newer state is damaged. */
#include "core/resolve/loss.h"

#include "resolve_world.h"

#define CHK_A(n) "file:/cp/" JOB_A "/chk-" #n
#define MINUTE   (60 * INT64_C(1000))

/* ---- the bound ---- */

TEST(the_default_bound_is_ten_minutes_or_two_intervals)
{
	struct loss_limits limits = {.max_ms = LOSS_MAX_AUTO};
	struct journal journal;

	journal_init(&journal, "app");
	CHECK_INT(loss_limit_ms(&limits, &journal), ==, 10 * MINUTE);
	limits.interval_ms = 5 * MINUTE;
	CHECK_INT(loss_limit_ms(&limits, &journal), ==, 10 * MINUTE);
	limits.interval_ms = 30 * MINUTE;
	CHECK_INT(loss_limit_ms(&limits, &journal), ==, 60 * MINUTE);
	limits.max_ms = MINUTE;
	CHECK_INT(loss_limit_ms(&limits, &journal), ==, MINUTE);
	limits.max_ms = 0;
	CHECK_INT(loss_limit_ms(&limits, &journal), ==, 0);
	journal_release(&journal);
}

TEST(the_interval_that_a_job_has_reported_beats_the_configured_one)
{
	struct loss_limits limits = {.max_ms = LOSS_MAX_AUTO, .interval_ms = 60 * MINUTE};
	struct journal journal;

	journal_init(&journal, "app");
	journal_add_launch(&journal)->effective =
		(struct effective){.known = true, .interval_ms = 20 * MINUTE};
	journal_add_launch(&journal); /* its job has not answered yet */
	CHECK_INT(loss_limit_ms(&limits, &journal), ==, 40 * MINUTE);
	limits.max_ms = 0;
	CHECK_INT(loss_limit_ms(&limits, &journal), ==, 0);
	journal_release(&journal);
}

TEST(a_loss_without_a_date_is_of_unknown_length)
{
	CHECK_INT(loss_between_ms(90000, 30000), ==, 60000);
	CHECK_INT(loss_between_ms(0, 30000), ==, LOSS_UNKNOWN);
	CHECK_INT(loss_between_ms(90000, 0), ==, LOSS_UNKNOWN);
	/* two clocks may differ a little */
	CHECK_INT(loss_between_ms(90000, 91000), ==, 0);
	CHECK_INT(loss_between_ms(90000, 90000 + LOSS_CLOCK_MS + 1), ==, LOSS_UNKNOWN);
}

TEST(zero_never_goes_back_and_an_unknown_loss_is_too_much)
{
	CHECK(loss_is_too_much(0, 0));
	CHECK(loss_is_too_much(1, 0));
	CHECK(loss_is_too_much(LOSS_UNKNOWN, 10 * MINUTE));
	CHECK(!loss_is_too_much(10 * MINUTE, 10 * MINUTE));
	CHECK(loss_is_too_much(10 * MINUTE + 1, 10 * MINUTE));
}

/* ---- the decision ---- */

/* chk-7 is good; chk-8, `later_ms` later, is damaged. */
static struct candidate *damaged_newest(struct world *w, int64_t later_ms)
{
	struct candidate *c;

	proved(w, JOB_A, NULL, 0, 8);
	found_checkpoint(w, JOB_A, 7)->snapshot.completed_unix_ms = 1000 * MINUTE;
	c = found_checkpoint(w, JOB_A, 8);
	c->snapshot.completed_unix_ms = 1000 * MINUTE + later_ms;
	broken(c, INTEGRITY_DAMAGED, "shared/1 is missing");
	return c;
}

static void check_held(struct world *w)
{
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.rule, ==, RULE_NEWEST);
	CHECK_INT(w->decision.cause, ==, CAUSE_NEWEST_STATE_DAMAGED);
}

WORLD_TEST(within_the_bound_drey_starts_and_says_what_is_lost)
{
	damaged_newest(w, 10 * MINUTE);
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK(w->decision.loss.is_one);
	CHECK_INT(w->decision.loss.candidate, ==, 1);
	CHECK_INT(w->decision.loss.ms, ==, 10 * MINUTE);
	CHECK_INT(w->decision.loss.unix_ms, ==, 1010 * MINUTE);
	CHECK_HAS(w->decision.reason, "10 min of state are lost, because " CHK_A(8));
}

WORLD_TEST(beyond_the_bound_drey_holds_with_both_ways_out)
{
	damaged_newest(w, 11 * MINUTE);
	check_held(w);
	CHECK_HAS(w->decision.reason, CHK_A(8) " is damaged");
	CHECK_HAS(w->decision.reason, "11 min older, but restore.maxLoss is 10 min");
	CHECK_HAS(w->decision.reason, "restore the files of the damaged one");
	CHECK_HAS(w->decision.reason, "drey resume --from " CHK_A(7));
	CHECK_HAS(w->decision.reason, "shared/1 is missing");
	CHECK(w->decision.loss.is_one);
	/* it was repaired */
	w->facts.candidates[1].integrity = INTEGRITY_COMPLETE;
	CHECK_STARTS_FROM(w, CHK_A(8));
	CHECK(!w->decision.loss.is_one);
}

WORLD_TEST(with_a_bound_of_zero_drey_never_goes_back)
{
	damaged_newest(w, 1);
	w->policy.max_loss.max_ms = 0;
	check_held(w);
	CHECK_HAS(w->decision.reason, "restore.maxLoss is 0");
}

WORLD_TEST(a_loss_of_unknown_length_holds)
{
	damaged_newest(w, MINUTE)->snapshot.completed_unix_ms = 0;
	check_held(w);
	CHECK_HAS(w->decision.reason, "an unknown time older");
	/* the journal knows the date of what is lost */
	w->journal.launches[0].last_checkpoint_unix_ms = 1003 * MINUTE;
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK_INT(w->decision.loss.ms, ==, 3 * MINUTE);
	/* and not of what would be started */
	w->facts.candidates[0].snapshot.completed_unix_ms = 0;
	check_held(w);
}

WORLD_TEST(a_copy_with_a_new_date_does_not_make_a_loss_small)
{
	damaged_newest(w, MINUTE);
	w->journal.launches[0].last_checkpoint_unix_ms = 2000 * MINUTE;
	check_held(w);
	CHECK_INT(w->decision.loss.unix_ms, ==, 2000 * MINUTE);
}

WORLD_TEST(a_loss_is_measured_from_the_newest_of_several_that_are_damaged)
{
	struct candidate *c;

	damaged_newest(w, 6 * MINUTE);
	c = found_checkpoint(w, JOB_A, 9);
	c->snapshot.completed_unix_ms = 1012 * MINUTE;
	broken(c, INTEGRITY_DAMAGED, "truncated");
	check_held(w);
	CHECK_HAS(w->decision.reason, CHK_A(9) " is damaged");
	CHECK_INT(w->decision.loss.ms, ==, 12 * MINUTE);
	w->policy.max_loss.max_ms = 12 * MINUTE;
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK_INT(w->decision.loss.candidate, ==, 2);
	/* whichever of them has the later date */
	w->facts.candidates[1].snapshot.completed_unix_ms = 1013 * MINUTE;
	c->snapshot.completed_unix_ms = 1006 * MINUTE;
	check_held(w);
	CHECK_INT(w->decision.loss.ms, ==, 13 * MINUTE);
}

WORLD_TEST(rare_checkpoints_may_lose_two_intervals)
{
	damaged_newest(w, 50 * MINUTE);
	check_held(w);
	w->policy.max_loss.interval_ms = 30 * MINUTE;
	CHECK_STARTS_FROM(w, CHK_A(7));
	w->journal.launches[0].effective =
		(struct effective){.known = true, .interval_ms = 10 * MINUTE};
	check_held(w);
}

WORLD_TEST(a_snapshot_that_a_person_requested_is_no_loss)
{
	damaged_newest(w, 60 * MINUTE);
	check_held(w);
	request(w, RESTORE_PATH, CHK_A(7), "t1");
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK(!w->decision.loss.is_one);
	/* nor is its repetition */
	ran(w, JOB_B, CHK_A(7), 7);
	carried_out(w);
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK(!w->decision.loss.is_one);
}

WORLD_TEST(a_request_for_the_newest_state_has_the_same_bound)
{
	damaged_newest(w, 60 * MINUTE);
	request(w, RESTORE_NEWEST, NULL, "t1");
	check_held(w);
}

WORLD_TEST(a_continuing_launch_goes_back_behind_a_damaged_savepoint_as_far_as_any_other)
{
	struct candidate *savepoint;

	proved(w, JOB_A, NULL, 0, 7);
	in_ha(w, found_checkpoint(w, JOB_A, 7), JOB_A)->snapshot.completed_unix_ms = 1000 * MINUTE;
	savepoint = found_savepoint(w, JOB_A, 8);
	savepoint->snapshot.completed_unix_ms = 1005 * MINUTE;
	broken(savepoint, INTEGRITY_DAMAGED, "truncated");
	same_as_ever(w);
	CHECK_CONTINUES(w, CHK_A(7));
	CHECK(w->decision.loss.is_one);
	CHECK_INT(w->decision.loss.ms, ==, 5 * MINUTE);
	savepoint->snapshot.completed_unix_ms = 1011 * MINUTE;
	check_held(w);
}

WORLD_TEST(a_checkpoint_that_flink_never_acknowledged_is_no_loss)
{
	struct candidate *c;

	proved(w, JOB_A, NULL, 0, 7);
	in_ha(w, found_checkpoint(w, JOB_A, 7), JOB_A);
	c = found_checkpoint(w, JOB_A, 8);
	c->snapshot.completed_unix_ms = 1000 * MINUTE;
	broken(c, INTEGRITY_DAMAGED, "truncated");
	same_as_ever(w);
	CHECK_CONTINUES(w, CHK_A(7));
	CHECK(!w->decision.loss.is_one);
}

WORLD_TEST(a_damaged_savepoint_without_a_number_counts_by_its_date)
{
	struct candidate *c;

	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7)->snapshot.completed_unix_ms = 1000 * MINUTE;
	c = found_savepoint(w, JOB_A, 9);
	c->snapshot.checkpoint_id = 0;
	c->snapshot.completed_unix_ms = 1004 * MINUTE;
	broken(c, INTEGRITY_DAMAGED, "truncated");
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK_INT(w->decision.loss.ms, ==, 4 * MINUTE);
	CHECK(c->passed_over);
	c->snapshot.completed_unix_ms = 1400 * MINUTE;
	check_held(w);
	/* of two at the same time, the one that was complete first may have the higher number */
	c->snapshot.completed_unix_ms = 1000 * MINUTE - 1000;
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK(w->decision.loss.is_one);
	/* an older one does not matter */
	c->snapshot.completed_unix_ms = 999 * MINUTE;
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK(!w->decision.loss.is_one);
}

/* Not every store tells dates. */
WORLD_TEST(a_damaged_savepoint_without_number_and_date_may_be_the_newest)
{
	struct candidate *c;

	proved(w, JOB_A, NULL, 0, 5);
	proved(w, JOB_B, CHK_A(5), 5, 7);
	found_checkpoint(w, JOB_B, 7)->snapshot.completed_unix_ms = 1000 * MINUTE;
	c = found_savepoint(w, JOB_B, 0);
	broken(c, INTEGRITY_DAMAGED, "truncated");
	check_held(w);
	CHECK_HAS(w->decision.reason, "an unknown time older");
	/* nor does the date of another one tell how much is lost */
	c = found_savepoint(w, JOB_B, 8);
	c->snapshot.completed_unix_ms = 1001 * MINUTE;
	broken(c, INTEGRITY_DAMAGED, "truncated");
	check_held(w);
	CHECK_HAS(w->decision.reason, "an unknown time older");
	/* one of an earlier launch is behind the restore point of this one */
	c->integrity = INTEGRITY_INCOMPLETE;
	snprintf(w->facts.candidates[1].snapshot.job_id, JOB_ID_BYTES, "%.6s", JOB_A);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_B "/chk-7");
	CHECK(!w->decision.loss.is_one);
}

/* chk-9 is damaged, and has the date of a copy; the journal knows of chk-8, which is not there. */
WORLD_TEST(what_is_on_record_and_not_there_is_lost_as_well)
{
	struct candidate *c;

	proved(w, JOB_A, NULL, 0, 8)->last_checkpoint_unix_ms = 1060 * MINUTE;
	found_checkpoint(w, JOB_A, 7)->snapshot.completed_unix_ms = 1000 * MINUTE;
	c = found_checkpoint(w, JOB_A, 9);
	c->snapshot.completed_unix_ms = 1001 * MINUTE;
	broken(c, INTEGRITY_DAMAGED, "truncated");
	check_held(w);
	CHECK_HAS(w->decision.reason, "1 h older, but restore.maxLoss is 10 min");
	w->journal.launches[0].last_checkpoint_unix_ms = 1002 * MINUTE;
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK_INT(w->decision.loss.ms, ==, 2 * MINUTE);
}

/* chk-7 came back from a backup, so its file is new. The savepoint that Flink has completed since did not. */
WORLD_TEST(a_copy_with_a_new_date_is_not_newer_than_a_savepoint_that_is_gone)
{
	struct snapshot gone = {.path = (char *)"file:/sp/savepoint-aaaaaa-000000000008",
				.kind = SNAPSHOT_SAVEPOINT,
				.job_id = JOB_A,
				.completed_unix_ms = 1001 * MINUTE};

	proved(w, JOB_A, NULL, 0, 7)->last_checkpoint_unix_ms = 1000 * MINUTE;
	found_checkpoint(w, JOB_A, 7)->snapshot.completed_unix_ms = 1060 * MINUTE;
	journal_add_snapshot(&w->journal, &gone);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_NEWEST_STATE_MISSING);
	CHECK_HAS(w->decision.reason, "Flink completed file:/sp/savepoint-aaaaaa-000000000008");
}

/* chk-7 was begun before the savepoint, and is complete after it. */
WORLD_TEST(a_checkpoint_of_the_same_time_is_not_newer_than_a_savepoint_that_is_gone)
{
	struct snapshot gone = {.path = (char *)"file:/sp/savepoint-aaaaaa-000000000008",
				.kind = SNAPSHOT_SAVEPOINT,
				.job_id = JOB_A,
				.completed_unix_ms = 1000 * MINUTE};
	struct candidate *c = found_checkpoint(w, JOB_A, 7);

	proved(w, JOB_A, NULL, 0, 6)->last_checkpoint_unix_ms = 990 * MINUTE;
	journal_add_snapshot(&w->journal, &gone);
	c->snapshot.completed_unix_ms = 1000 * MINUTE + 3000;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_NEWEST_STATE_MISSING);
	c->snapshot.completed_unix_ms = 1001 * MINUTE + 1000;
	CHECK_STARTS_FROM(w, CHK_A(7));
}

WORLD_TEST(damage_of_what_is_older_or_abandoned_is_no_loss)
{
	proved(w, JOB_A, NULL, 0, 9);
	proved(w, JOB_B, CHK_A(5), 5, 7);
	broken(found_checkpoint(w, JOB_A, 9), INTEGRITY_DAMAGED, "truncated"); /* abandoned */
	broken(found_checkpoint(w, JOB_B, 6), INTEGRITY_DAMAGED, "truncated");
	found_checkpoint(w, JOB_B, 7);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_B "/chk-7");
	CHECK(!w->decision.loss.is_one);
}

WORLD_TEST(a_declared_empty_start_loses_nothing)
{
	damaged_newest(w, 60 * MINUTE);
	w->policy.restore = POLICY_NONE;
	CHECK_DECIDES(w, START_EMPTY);
	CHECK(!w->decision.loss.is_one);
}

WORLD_TEST(with_savepoints_only_a_damaged_checkpoint_is_no_loss)
{
	damaged_newest(w, 60 * MINUTE);
	found_savepoint(w, JOB_A, 6);
	w->policy.restore = POLICY_SAVEPOINT;
	CHECK_DECIDES(w, START_FROM);
	CHECK(!w->decision.loss.is_one);
}
