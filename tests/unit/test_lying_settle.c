/*
 * A stop was in flight when Flink died, and its savepoint is complete. One request of those that look for it is answered
 * falsely, each in turn: that must not make the stop fail, because the job would go on from a checkpoint behind what the stop has
 * committed.
 */
#include <stdlib.h>
#include <time.h>

#include "lying_world.h"
#include "tap.h"

#define MOST_REQUESTS 60

int nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)time;
	(void)left;
	return 0;
}

static void begin_stop(struct world *w)
{
	struct operation *operation = &w->journal.operation;

	operation->kind = OPERATION_STOP;
	operation->reason = REASON_SUSPEND;
	operation->started_unix_ms = w->now_unix_ms + 1000;
	operation->path = xstrdup(w->sp);
	memcpy(operation->job_id, journal_launch(&w->journal)->job_id, JOB_ID_BYTES);
	strcpy(operation->trigger_id, "cccccccccccccccccccccccccccccc03");
	w->now_unix_ms += 2000;
}

/* ret_settled: the path of the savepoint that the stop has made, or NULL. Caller frees. */
static enum settlement decide(struct world *w, char **ret_settled)
{
	const struct observe_places places = {.storage = &w->lake.config,
					      .checkpoint_dir = w->ck,
					      .savepoint_dir = w->sp,
					      .max_metadata_version = 6};
	struct decision decision = {0};
	struct observe_plan plan;
	struct facts facts;

	lake_forget(&w->lake);
	observe_plan_init(&plan, &places, &w->journal, NULL);
	observe_gather(&plan, &facts);
	for (int i = 0; i < 1000; i++) {
		resolve(&w->journal, &facts, &w->policy, &decision);
		if (decision.kind != DECISION_VERIFY)
			break;
		observe_check(&plan, &facts, decision.candidate);
	}
	*ret_settled = decision.settled == NO_CANDIDATE
			       ? NULL
			       : xstrdup(facts.candidates[decision.settled].snapshot.path);
	observe_plan_release(&plan);
	facts_release(&facts);
	return decision.settlement;
}

/* Returns how many answers were false. */
static int one_false_answer(struct world *w, struct lie lie, const char *savepoint)
{
	int told = 0;

	for (lie.honest = 0; lie.honest < MOST_REQUESTS; lie.honest++) {
		cleanup_free char *settled = NULL;
		enum settlement settlement;

		w->lake.lie = lie;
		settlement = decide(w, &settled);
		told += w->lake.lie.told;
		if (settlement == SETTLEMENT_MADE)
			CHECK_STR(settled, savepoint);
		else if (!CHECK_INT(settlement, ==, SETTLEMENT_OPEN))
			tap_note("request %d", lie.honest + 1);
	}
	return told;
}

TEST(one_false_answer_makes_no_stop_fail)
{
	int told = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		cleanup_free char *savepoint = NULL, *settled = NULL;
		struct world w;
		struct lie lie = {.asks = ASK_LIST, .most = 1};
		int newest;

		world_begin(&w, seed);
		world_live(&w);
		begin_stop(&w);
		complete(&w, SNAPSHOT_SAVEPOINT, -1);
		newest = w.newest;
		w.now_unix_ms += 1000;
		savepoint = uri_in(&w, w.states[newest].name);
		CHECK_INT(decide(&w, &settled), ==, SETTLEMENT_MADE);
		CHECK_STR(settled, savepoint);

		snprintf(lie.name, sizeof(lie.name), "%s", w.states[newest].name);
		lie.kind = LIE_CUT;
		told += one_false_answer(&w, lie, savepoint);
		lie.kind = LIE_STALE;
		lie.tick = w.states[newest].tick - 3;
		told += one_false_answer(&w, lie, savepoint);
		snprintf(lie.name, sizeof(lie.name), "/top/sp");
		lie.kind = LIE_EMPTY;
		told += one_false_answer(&w, lie, savepoint);
		world_end(&w);
	}
	tap_note("%d false answers", told);
	CHECK_INT(told, >, 60);
}

TEST(a_stop_that_left_nothing_has_failed)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		cleanup_free char *settled = NULL;
		struct world w;

		world_begin(&w, seed);
		world_live(&w);
		begin_stop(&w);
		CHECK_INT(decide(&w, &settled), ==, SETTLEMENT_FAILED);
		CHECK(!settled);
		world_end(&w);
	}
}
