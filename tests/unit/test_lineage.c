/* Which snapshots the present state descends from, where a launch came to nothing or restored something else. */
#include "life.h"
#include "resolve_world.h"

#define A(id) "file:/cp/" JOB_A "/chk-" #id
#define B(id) "file:/cp/" JOB_B "/chk-" #id

/* chk-20 was damaged, drey went back to chk-8, and that Flink ended at once. Then chk-10 came out of a backup. */
WORLD_TEST(a_start_that_never_came_to_run_abandons_nothing)
{
	struct launch *back;

	proved(w, JOB_A, NULL, 0, 20);
	back = ran(w, JOB_B, A(8), 8);
	found_checkpoint(w, JOB_A, 8);
	found_checkpoint(w, JOB_A, 10);
	CHECK_STARTS_FROM(w, A(10));
	/* what is gone of that branch was passed over aloud, and is not waited for */
	w->facts.candidates[1].integrity = INTEGRITY_DAMAGED;
	CHECK_STARTS_FROM(w, A(8));
	w->facts.candidates[1].integrity = INTEGRITY_COMPLETE;

	/* a person has chosen it */
	back->request_token = xstrdup("t");
	CHECK_STARTS_FROM(w, A(8));
	CHECK_HAS(w->facts.candidates[1].reason, "abandoned");
	xstrset(&back->request_token, NULL);

	/* it was seen to run: it may have aborted the transactions of chk-10 */
	back->verified_unix_ms = 1;
	CHECK_STARTS_FROM(w, A(8));
	back->verified_unix_ms = 0;

	/* or has left something */
	found_checkpoint(w, JOB_B, 9);
	CHECK_STARTS_FROM(w, B(9));
	CHECK_HAS(w->facts.candidates[1].reason, "abandoned");
}

/* Several in a row, the last of them from another point of the same branch. */
TEST(several_starts_that_never_came_to_run_abandon_nothing)
{
	struct world w;

	begin(&w);
	proved(&w, JOB_A, NULL, 0, 20);
	ran(&w, JOB_B, A(8), 8);
	ran(&w, JOB_C, A(6), 6);
	found_checkpoint(&w, JOB_A, 6);
	found_checkpoint(&w, JOB_A, 10);
	CHECK_STARTS_FROM(&w, A(10));
	end(&w);

	/* one of them came from elsewhere: then the last counts */
	begin(&w);
	proved(&w, JOB_A, NULL, 0, 20);
	ran(&w, JOB_B, "file:/cp/" JOB_FOREIGN "/chk-3", 3);
	found(&w, SOURCE_CHECKPOINTS, "file:/cp/" JOB_FOREIGN "/chk-3", SNAPSHOT_CHECKPOINT, "", 3);
	found_checkpoint(&w, JOB_A, 10);
	CHECK_STARTS_FROM(&w, "file:/cp/" JOB_FOREIGN "/chk-3");
	end(&w);
}

/* A stateless version had run, unproven; a listing left out its chk-10, so it began empty again, and that Flink ended at
 * once. What there is belongs to a branch that was left: it is not taken, and not passed over silently either. */
WORLD_TEST(an_empty_start_that_never_came_to_run_lets_none_follow_silently)
{
	ran(w, JOB_A, NULL, 0);
	ran(w, JOB_B, NULL, 0);
	CHECK_DECIDES(w, START_EMPTY);
	found_checkpoint(w, JOB_A, 10);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_NO_USABLE_STATE);
	CHECK_HAS(w->decision.reason, "chk-10");
}

/* The container was killed before the journal could tell that Flink had restored nothing. */
WORLD_TEST(what_is_not_newer_than_its_restore_point_was_made_from_something_else)
{
	proved(w, JOB_A, NULL, 0, 4);
	ran(w, JOB_B, A(4), 4);
	found_checkpoint(w, JOB_A, 4);
	found_checkpoint(w, JOB_B, 3);
	found_checkpoint(w, JOB_B, 5);
	CHECK_STARTS_FROM(w, A(4));
	CHECK_HAS(w->facts.candidates[1].reason, "something other than");
	CHECK_HAS(w->facts.candidates[2].reason, "something other than");
	/* one that was never completed tells nothing */
	w->facts.candidates[1].integrity = INTEGRITY_INCOMPLETE;
	CHECK_STARTS_FROM(w, B(5));
	/* nor does one without an id */
	w->facts.candidates[1].integrity = INTEGRITY_COMPLETE;
	w->facts.candidates[1].snapshot.checkpoint_id = 0;
	w->facts.candidates[1].snapshot.kind = SNAPSHOT_SAVEPOINT;
	CHECK_STARTS_FROM(w, B(5));
}

/* A launch that goes on with its job has an entry of Flink's HA for its restore point. */
TEST(a_job_that_goes_on_has_checkpoints_from_before)
{
	struct world w;

	begin(&w);
	proved(&w, JOB_A, NULL, 0, 4);
	proved(&w, JOB_B, A(4), 4, 9);
	ran(&w, JOB_B, B(9), 9);
	found_checkpoint(&w, JOB_B, 8);
	found_checkpoint(&w, JOB_B, 9);
	CHECK_STARTS_FROM(&w, B(9));
	w.facts.candidates[1].integrity = INTEGRITY_DAMAGED;
	CHECK_STARTS_FROM(&w, B(8));
	end(&w);

	/* the first launch of the job is not on record any more */
	begin(&w);
	ran(&w, JOB_B, B(9), 9);
	w.journal.ever_proven = true;
	found_checkpoint(&w, JOB_B, 8);
	found_checkpoint(&w, JOB_B, 9);
	w.facts.candidates[1].integrity = INTEGRITY_DAMAGED;
	CHECK_STARTS_FROM(&w, B(8));
	end(&w);
}

/* Launch 1 began job A and is not on record any more; launch 2 continued it from chk-3. A person went back to chk-2, and
 * job B has reached id 3 as well. */
TEST(a_branch_that_a_request_went_back_behind_stays_abandoned)
{
	struct world w;

	begin(&w);
	ran(&w, JOB_A, A(3), 3);
	proved(&w, JOB_B, A(2), 2, 3)->request_token = xstrdup("t");
	found_checkpoint(&w, JOB_A, 2);
	found_checkpoint(&w, JOB_A, 3)->snapshot.completed_unix_ms = 9000;
	found_checkpoint(&w, JOB_B, 3);
	CHECK_STARTS_FROM(&w, B(3));
	CHECK_HAS(w.facts.candidates[1].reason, "abandoned");
	/* what the branch has in common with it counts */
	w.facts.candidates[2].integrity = INTEGRITY_DAMAGED;
	CHECK_STARTS_FROM(&w, A(2));
	end(&w);
}

/* Flink has confirmed the restore: one name among its checkpoints, as of a copied directory, is no proof of the contrary. */
TEST(a_restore_that_flink_has_confirmed_is_not_refuted_by_a_name)
{
	struct world w;

	begin(&w);
	proved(&w, JOB_A, NULL, 0, 4);
	proved(&w, JOB_B, A(4), 4, 9);
	found_checkpoint(&w, JOB_A, 4);
	found_checkpoint(&w, JOB_B, 3);
	found_checkpoint(&w, JOB_B, 9);
	CHECK_STARTS_FROM(&w, B(9));
	/* nor does an older start follow from it */
	w.facts.candidates[2].integrity = INTEGRITY_INCOMPLETE;
	CHECK_DECIDES(&w, HOLD);
	/* without the confirmation it shows where that job began */
	w.journal.launches[1].verified_unix_ms = 0;
	CHECK_STARTS_FROM(&w, A(4));
	end(&w);
}

/* Its HA data were deleted after the decision to go on from them, so Flink took the argument of the first launch. */
TEST(what_a_launch_should_have_restored_is_not_its_own)
{
	for (int changed = 0; changed < 3; changed++) {
		struct launch *launch;
		struct world w;

		begin(&w);
		proved(&w, JOB_A, NULL, 0, 0);
		launch = ran(&w, JOB_A, A(4), 4);
		launch->mismatched = true;
		launch->verified_unix_ms = 0;
		launch->restore_completed_unix_ms = changed == 1 ? 0 : 5000;
		found_checkpoint(&w, JOB_A, 3)->snapshot.completed_unix_ms = 4000;
		found_checkpoint(&w, JOB_A, 4)->snapshot.completed_unix_ms =
			changed == 2 ? 6000 : 5000;
		if (changed)
			CHECK_DECIDES(&w, HOLD);
		else
			CHECK_STARTS_FROM(&w, A(4));
		end(&w);
	}
}

TEST(a_restore_of_something_else_is_put_on_record_when_it_is_found)
{
	struct launch *launch;
	struct decision decision = {
		.kind = DECISION_HOLD, .rule = 6, .cause = CAUSE_JOURNAL_LOST, .reason = "because"};
	struct facts facts = {0};
	struct event e = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};
	struct snapshot seen = {.path = (char *)B(3),
				.kind = SNAPSHOT_CHECKPOINT,
				.checkpoint_id = 3,
				.size_bytes = -1,
				.file_count = -1};
	struct life l;

	life_begin(&l);
	launch = journal_add_launch(&l.life.journal);
	snprintf(launch->job_id, JOB_ID_BYTES, "%s", JOB_B);
	launch->restore_path = xstrdup(A(4));
	launch->restore_checkpoint_id = 4;
	launch->started_unix_ms = 1;
	launch->ended_unix_ms = 2;
	hello(&l, NULL);
	snprintf(seen.job_id, JOB_ID_BYTES, "%s", JOB_B);
	facts_add(&facts, SOURCE_CHECKPOINTS, &seen)->integrity = INTEGRITY_COMPLETE;
	step(&l, &e);
	launch = journal_launch(&l.life.journal);
	CHECK(launch->mismatched);
	CHECK(!launch->left_state);
	CHECK_HAS(l.notes, "Flink had restored something else");
	facts_release(&facts);
	life_end(&l);
}
