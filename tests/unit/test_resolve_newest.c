/* An order for the newest state: nothing is chosen by it, and for one start Flink may leave state out. */
#include "resolve_world.h"

#define CHK7 "file:/cp/" JOB_A "/chk-7"

/* g1 has left chk-7; what is launched now is generation g2, and the order came with it. */
static void next_version(struct world *w)
{
	begin(w);
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	same_as_ever(w);
	w->policy.generation = "g2";
	request(w, RESTORE_NEWEST, NULL, "t1");
	w->journal.intent.restore.allow_non_restored = true;
	xstrset(&w->journal.intent.restore.generation, "g2");
}

/* As the life cycle writes it down. */
static struct launch *took(struct world *w, const char *job, const char *path, int64_t id)
{
	struct launch *launch = ran(w, job, path, id);

	launch->allow_non_restored = w->decision.allow_non_restored;
	xstrset(&launch->request_token, w->decision.token);
	if (w->decision.permit)
		journal_consume(&w->journal, w->decision.permit);
	xstrset(&launch->generation, w->policy.generation);
	xstrset(&launch->flink_version, "2.3.0");
	return launch;
}

WORLD_TEST_FROM(next_version, the_newest_state_with_the_permission)
{
	CHECK_STARTS_FROM(w, CHK7);
	CHECK_INT(w->decision.rule, ==, 6);
	CHECK(w->decision.allow_non_restored);
	CHECK_STR(w->decision.permit, "t1");
	CHECK(!w->decision.token);
	CHECK_HAS(w->decision.reason, "may be dropped");
}

WORLD_TEST_FROM(next_version, it_is_over_when_its_launch_has_left_something)
{
	struct launch *launch;

	CHECK_STARTS_FROM(w, CHK7);
	launch = took(w, JOB_B, CHK7, 7);
	CHECK_STARTS_FROM(w, CHK7); /* the same start once more */
	CHECK(w->decision.allow_non_restored);
	CHECK(!w->decision.permit);

	launch->last_checkpoint_id = 8;
	launch->last_checkpoint_path = xstrdup("file:/cp/" JOB_B "/chk-8");
	found_checkpoint(w, JOB_B, 8);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_B "/chk-8");
	CHECK(!w->decision.allow_non_restored);
}

TEST(a_later_generation_has_to_ask_for_itself)
{
	struct world w;

	next_version(&w);
	CHECK_STARTS_FROM(&w, CHK7);
	took(&w, JOB_B, CHK7, 7);
	w.policy.generation = "g3";
	CHECK_STARTS_FROM(&w, CHK7);
	CHECK(!w.decision.allow_non_restored);
	end(&w);

	/* also when the order names none */
	next_version(&w);
	xstrset(&w.journal.intent.restore.generation, NULL);
	CHECK_STARTS_FROM(&w, CHK7);
	took(&w, JOB_B, CHK7, 7);
	w.policy.generation = "g3";
	CHECK_STARTS_FROM(&w, CHK7);
	CHECK(!w.decision.allow_non_restored);
	end(&w);

	/* nor has the one before anything of it, when the new one does not come to its start */
	next_version(&w);
	w.policy.generation = "g1";
	CHECK_STARTS_FROM(&w, CHK7);
	CHECK(!w.decision.allow_non_restored);
	CHECK(!w.decision.permit);
	end(&w);
}

WORLD_TEST_FROM(next_version, an_order_of_another_generation_is_not_carried_out)
{
	request(w, RESTORE_EMPTY, NULL, "t2");
	CHECK_DECIDES(w, START_EMPTY);
	w->policy.generation = "g1";
	CHECK_STARTS_FROM(w, CHK7);
}

/* Flink's HA gives a job back all its state, or none. */
WORLD_TEST_FROM(next_version, what_would_go_on_is_started_anew)
{
	in_ha(w, &w->facts.candidates[0], JOB_A);
	w->policy.generation = "g1";
	CHECK_CONTINUES(w, CHK7);
	xstrset(&w->journal.intent.restore.generation, NULL);
	CHECK_STARTS_FROM(w, CHK7);
	CHECK(w->decision.allow_non_restored);
	CHECK_HAS(w->decision.reason, "non-restored state is allowed, which needs");
}

TEST(it_overrides_nothing)
{
	struct world w;

	next_version(&w);
	facts_set_source(&w.facts, SOURCE_CHECKPOINTS, SOURCE_UNREADABLE, "403");
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.rule, ==, 5);
	end(&w);

	next_version(&w);
	w.policy.max_age_ms = 1;
	w.facts.now_unix_ms = 1000000;
	CHECK_DECIDES(&w, HOLD);
	end(&w);

	next_version(&w);
	w.facts.candidates[0].integrity = INTEGRITY_DAMAGED;
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.rule, ==, 8);
	end(&w);

	/* a journal that is lost stays one */
	begin(&w);
	found_checkpoint(&w, JOB_A, 7);
	request(&w, RESTORE_NEWEST, NULL, "t1");
	w.journal.intent.restore.asked_unix_ms = 0;
	CHECK_DECIDES(&w, HOLD);
	end(&w);
}

WORLD_TEST(without_state_nothing_is_left_out)
{
	request(w, RESTORE_NEWEST, NULL, "t1");
	CHECK_DECIDES(w, START_EMPTY);
	CHECK_INT(w->decision.rule, ==, 8);
	CHECK(!w->decision.allow_non_restored);
	CHECK_STR(w->decision.permit, "t1"); /* this start was what it was for */
}

WORLD_TEST_FROM(next_version, without_a_token_it_cannot_be_carried_out_once)
{
	xstrset(&w->journal.intent.restore.token, NULL);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_REQUEST_WITHOUT_TOKEN);
}
