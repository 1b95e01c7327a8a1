#include "core/resolve/facts.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

TEST(a_path_is_added_only_once)
{
	struct facts facts = {0};
	struct snapshot one = {.path = (char *)"file:/a/chk-1", .checkpoint_id = 1};
	struct snapshot other = {.path = (char *)"file:/a/chk-2", .checkpoint_id = 2};
	struct candidate *first = facts_add(&facts, SOURCE_CHECKPOINTS, &one);

	CHECK_INT(first->source, ==, SOURCE_CHECKPOINTS);
	CHECK(first->snapshot.path != one.path);
	facts_add(&facts, SOURCE_CHECKPOINTS, &other);
	one.checkpoint_id = 99;
	first = facts_add(&facts, SOURCE_REQUEST, &one);
	CHECK_INT(facts.candidate_count, ==, 2);
	CHECK_INT(first->snapshot.checkpoint_id, ==, 1);
	CHECK_INT(first->source, ==, SOURCE_CHECKPOINTS);
	facts_release(&facts);
	CHECK(!facts.candidates);
}

TEST(a_source_keeps_the_last_detail)
{
	struct facts facts = {0};

	CHECK_INT(facts.sources[SOURCE_INITIAL].state, ==, SOURCE_NOT_CONFIGURED);
	facts_set_source(&facts, SOURCE_SAVEPOINTS, SOURCE_PRESENT, "3 found");
	facts_set_source(&facts, SOURCE_SAVEPOINTS, SOURCE_UNREADABLE, "permission denied");
	CHECK_INT(facts.sources[SOURCE_SAVEPOINTS].state, ==, SOURCE_UNREADABLE);
	CHECK_STR(facts.sources[SOURCE_SAVEPOINTS].detail, "permission denied");
	facts_set_source(&facts, SOURCE_SAVEPOINTS, SOURCE_ABSENT, NULL);
	CHECK(!facts.sources[SOURCE_SAVEPOINTS].detail);
	facts_release(&facts);
}

TEST(every_value_has_its_own_name)
{
	for (int i = 0; i < SOURCE_COUNT; i++)
		for (int k = 0; k < i; k++)
			CHECK(strcmp(source_kind_name((enum source_kind)i),
				     source_kind_name((enum source_kind)k)));
	CHECK_STR(source_state_name(SOURCE_UNREADABLE), "unreadable");
	CHECK_STR(verdict_name(VERDICT_REJECTED), "rejected");
	CHECK_STR(verdict_name((enum verdict)77), "unknown");
	CHECK_STR(snapshot_kind_name(SNAPSHOT_SAVEPOINT), "savepoint");
	CHECK_STR(snapshot_origin_name(ORIGIN_REQUEST), "request");
}

TEST(a_snapshot_copy_owns_its_path)
{
	struct snapshot one = {.path = (char *)"s3://b/sp", .job_id = "abc", .size_bytes = 5};
	struct snapshot copy;

	snapshot_copy(&copy, &one);
	CHECK(copy.path != one.path);
	CHECK_STR(copy.path, "s3://b/sp");
	CHECK_STR(copy.job_id, "abc");
	CHECK_INT(copy.size_bytes, ==, 5);
	snapshot_release(&copy);
	snapshot_release(&copy);
	CHECK(!copy.path);
}

/* Every way to write a path that two letters, slashes and the name of _metadata allow. */
TEST(the_same_path_has_the_same_key)
{
	static const char *const parts[] = {"", "file:", "/", "//", "a", "ab", "/_metadata", "/a"};
	enum { PARTS = ARRAY_LEN(parts), WAYS = PARTS * PARTS * PARTS * PARTS };
	static char paths[WAYS][64];

	for (int i = 0; i < WAYS; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s%s%s%s", parts[i % PARTS],
			 parts[i / PARTS % PARTS], parts[i / PARTS / PARTS % PARTS],
			 parts[i / PARTS / PARTS / PARTS]);
	for (int i = 0; i < WAYS; i++)
		for (int k = 0; k < WAYS; k++)
			if (snapshot_same_path(paths[i], paths[k]) &&
			    snapshot_path_key(paths[i]) != snapshot_path_key(paths[k])) {
				printf("# %s is the same as %s\n", paths[i], paths[k]);
				CHECK(false);
			}
	CHECK(snapshot_path_key("/cp/a/chk-1") != snapshot_path_key("/cp/a/chk-2"));
	CHECK_INT(snapshot_path_key(NULL), ==, 0);
}

/* ---- traces ---- */

TEST(a_place_that_could_not_be_read_may_have_traces)
{
	static const enum source_kind kinds[] = {SOURCE_HA, SOURCE_CHECKPOINTS, SOURCE_SAVEPOINTS,
						 SOURCE_LINEAGE, SOURCE_RESULTS};
	struct facts facts = {0};

	CHECK(!facts_are_read(&facts)); /* no checkpoint directory: it may be anywhere */
	facts_set_source(&facts, SOURCE_CHECKPOINTS, SOURCE_ABSENT, NULL);
	CHECK(facts_are_read(&facts));
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		facts_set_source(&facts, kinds[i], SOURCE_UNREADABLE, "it broke off");
		CHECK(!facts_are_read(&facts));
		facts_set_source(&facts, kinds[i], SOURCE_ABSENT, NULL);
	}
	facts.results_listed.state = SOURCE_UNREADABLE;
	CHECK(!facts_are_read(&facts));
	facts_release(&facts);
}

TEST(of_each_kind_the_newest_traces_are_kept)
{
	struct trace map = {.kind = TRACE_HA, .name = "a", .path = "map"};
	struct trace trace = {.kind = TRACE_RESULT, .path = "file:/r", .says = "it has FINISHED"};
	struct facts facts = {0};

	CHECK(!facts_newest_trace(&facts, TRACE_RESULT));
	facts_add_trace(&facts, &map);
	for (int i = 0; i < 3 * TRACES_OF_A_KIND; i++) {
		trace.unix_ms = 1000 + (i * 7) % (3 * TRACES_OF_A_KIND);
		facts_add_trace(&facts, &trace);
	}
	CHECK_INT(facts.trace_count, ==, TRACES_OF_A_KIND + 1);
	for (size_t i = 1; i < facts.trace_count; i++)
		CHECK_INT(facts.traces[i].unix_ms, >=, 1000 + 2 * TRACES_OF_A_KIND);
	CHECK_INT(facts_newest_trace(&facts, TRACE_RESULT)->unix_ms, ==,
		  1000 + 3 * TRACES_OF_A_KIND - 1);
	CHECK_STR(facts_newest_trace(&facts, TRACE_RESULT)->says, "it has FINISHED");
	CHECK_STR(facts_newest_trace(&facts, TRACE_RESULT)->name, "");
	CHECK_STR(facts_newest_trace(&facts, TRACE_HA)->name, "a");
	CHECK(!facts_newest_trace(&facts, TRACE_ID));
	CHECK_STR(trace_kind_name(TRACE_RESULT), "result");
	CHECK_STR(trace_kind_name(TRACE_COUNT), "unknown");
	facts_release(&facts);
}
