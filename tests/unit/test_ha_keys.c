#include "core/resolve/ha_keys.h"

#include "resolve_world.h"

#define APPLICATION "dddddddddddddddddddddddddddddddd"
#define CHK_A(n)    "file:/cp/" JOB_A "/chk-" #n

static const char *const keys[] = {
	"jobGraph-" JOB_A,
	"executionPlan-" JOB_A,
	"executionPlan-" JOB_B,
	"application-" APPLICATION,
	"application-" JOB_A,
	"org.apache.flink.k8s.leader.dispatcher",
	"checkpointID-0000000000000000003",
	"counter",
};

TEST(knows_what_flink_starts_again_by_itself)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!CHECK_INT(ha_key_is_stored(keys[i]), ==, i < 5))
			tap_note("%s", keys[i]);
	CHECK(!ha_key_is_stored("xjobGraph-" JOB_A));
	CHECK(!ha_key_is_stored("jobGraph"));
}

TEST(takes_all_of_them_out_before_a_start_under_new_ids)
{
	struct launch launch = {.job_id = JOB_C, .application_id = JOB_FOREIGN};
	cleanup_free char *patch = ha_leftover_patch(keys, ARRAY_LEN(keys), &launch, "77");

	CHECK_STR(patch,
		  "{\"metadata\":{\"resourceVersion\":\"77\"},\"data\":{\"jobGraph-" JOB_A
		  "\":null,\"executionPlan-" JOB_A "\":null,\"executionPlan-" JOB_B
		  "\":null,\"application-" APPLICATION "\":null,\"application-" JOB_A "\":null}}");
}

TEST(leaves_those_of_the_launch_that_goes_on)
{
	struct launch launch = {.job_id = JOB_A, .application_id = APPLICATION};
	cleanup_free char *patch = ha_leftover_patch(keys, ARRAY_LEN(keys), &launch, "77");

	CHECK_STR(patch,
		  "{\"metadata\":{\"resourceVersion\":\"77\"},\"data\":{\"executionPlan-" JOB_B
		  "\":null,\"application-" JOB_A "\":null}}");
}

TEST(there_may_be_nothing_to_take_out)
{
	struct launch launch = {.job_id = JOB_A};

	CHECK(ha_leftover_patch(keys, 2, &launch, "77") == NULL);
	CHECK(ha_leftover_patch(keys + 5, 3, NULL, "77") == NULL);
	CHECK(ha_leftover_patch(NULL, 0, NULL, "77") == NULL);
}

/* ---- what a decision has to do with it ---- */

/* Launch A runs, its savepoint 9 is newer than its HA data: a start under new ids. */
static void begin_new_ids(struct world *w)
{
	begin(w);
	proved(w, JOB_A, NULL, 0, 7);
	same_as_ever(w);
	in_ha(w, found_checkpoint(w, JOB_A, 7), JOB_A);
}

WORLD_TEST_FROM(begin_new_ids,
		what_a_flink_that_may_live_would_start_again_holds_a_start_under_new_ids)
{
	w->policy.generation = "g2";
	CHECK_STARTS_FROM(w, CHK_A(7));
	facts_add_stored(&w->facts, "jobGraph-" JOB_A);
	CHECK_STARTS_FROM(w, CHK_A(7)); /* nobody holds the lock: they will be taken out */
	w->facts.lock_held = xstrdup("abc owns it for 900 ms more");
	decide(w);
	CHECK_INT(w->decision.kind, ==, DECISION_HOLD);
	CHECK_INT(w->decision.rule, ==, 7);
	CHECK_HAS(w->decision.reason, "1 stored job of an earlier launch");
	CHECK_HAS(w->decision.reason, "abc owns it");
}

WORLD_TEST_FROM(begin_new_ids, a_lock_alone_holds_nothing)
{
	w->policy.generation = "g2";
	w->facts.lock_held = xstrdup("abc owns it for 900 ms more");
	CHECK_STARTS_FROM(w, CHK_A(7)); /* Flink itself waits for it */
}

WORLD_TEST_FROM(begin_new_ids, a_launch_that_goes_on_keeps_its_own_job)
{
	facts_add_stored(&w->facts, "jobGraph-" JOB_A);
	w->facts.lock_held = xstrdup("abc holds it");
	CHECK_CONTINUES(w, CHK_A(7));
	facts_add_stored(&w->facts, "jobGraph-" JOB_B);
	decide(w);
	CHECK_INT(w->decision.kind, ==, DECISION_HOLD);
}

WORLD_TEST(a_first_start_is_held_too)
{
	facts_add_stored(&w->facts, "application-" APPLICATION);
	w->facts.lock_held = xstrdup("abc holds it");
	decide(w);
	CHECK_INT(w->decision.kind, ==, DECISION_HOLD);
}

/* ---- old maps ---- */

/* Launch A, then launch B from checkpoint 7 of A, which is proven. */
static void begin_two(struct world *w)
{
	begin(w);
	proved(w, JOB_A, NULL, 0, 7);
	proved(w, JOB_B, CHK_A(7), 7, 12);
}

WORLD_TEST_FROM(begin_two, a_map_is_spent_once_a_later_launch_is_proven)
{
	int64_t ids[] = {5, 6};

	CHECK(ha_map_is_spent(&w->journal, JOB_A, ids, 2));
	CHECK(ha_map_is_spent(&w->journal, JOB_A, NULL, 0));
	w->journal.launches[1].proven_unix_ms = 0;
	CHECK(!ha_map_is_spent(&w->journal, JOB_A, ids, 2));
}

WORLD_TEST_FROM(begin_two, a_map_that_names_the_restore_point_is_needed)
{
	int64_t ids[] = {6, 7};

	CHECK(!ha_map_is_spent(&w->journal, JOB_A, ids, 2));
	proved(w, JOB_C, "file:/sp/savepoint-bbbbbb-1", 13, 14);
	CHECK(ha_map_is_spent(&w->journal, JOB_A, ids, 2));
}

WORLD_TEST_FROM(begin_two, the_map_of_the_current_launch_is_never_spent)
{
	CHECK(!ha_map_is_spent(&w->journal, JOB_B, NULL, 0));
}

WORLD_TEST_FROM(begin_two, a_map_of_a_job_that_is_not_ours_is_never_spent)
{
	CHECK(!ha_map_is_spent(&w->journal, JOB_FOREIGN, NULL, 0));
	journal_add_former_job(&w->journal, JOB_C);
	CHECK(ha_map_is_spent(&w->journal, JOB_C, NULL, 0));
}

TEST(no_map_is_spent_while_nothing_runs_or_what_runs_is_wrong)
{
	struct world w;

	begin_two(&w);
	w.journal.launches[1].ended_unix_ms = 5;
	CHECK(!ha_map_is_spent(&w.journal, JOB_A, NULL, 0));
	w.journal.launches[1].ended_unix_ms = 0;
	w.journal.launches[1].mismatched = true;
	CHECK(!ha_map_is_spent(&w.journal, JOB_A, NULL, 0));
	end(&w);
	begin(&w);
	CHECK(!ha_map_is_spent(&w.journal, JOB_A, NULL, 0));
	end(&w);
}
