/* The journal knows of no launch, there is no snapshot, but something else is left of an earlier launch. */
#include "resolve_world.h"

#define RESULT_MS INT64_C(1790000000000)

static void left(struct world *w, enum trace_kind kind, const char *job, int64_t unix_ms,
		 enum job_end end)
{
	facts_add_trace(&w->facts,
			&(struct trace){.kind = kind,
					.name = (char *)job,
					.path = (char *)"file:/left/here",
					.unix_ms = unix_ms,
					.says = end ? (char *)"it has SUCCEEDED" : NULL,
					.end = end,
					.surely_ours = kind == TRACE_HA || kind == TRACE_ID});
}

static void finished(struct world *w)
{
	begin(w);
	left(w, TRACE_RESULT, JOB_A, RESULT_MS, JOB_END_FINISHED);
}

#define FINISHED_TEST(name) WORLD_TEST_FROM(finished, name)

#define CHECK_LOST(w, part)                                                                        \
	do {                                                                                       \
		CHECK_DECIDES(w, HOLD);                                                            \
		CHECK_INT((w)->decision.cause, ==, CAUSE_JOURNAL_LOST);                            \
		CHECK_HAS((w)->decision.reason, part);                                             \
	} while (0)

WORLD_TEST(without_any_trace_it_has_never_run)
{
	CHECK_DECIDES(w, START_EMPTY);
}

FINISHED_TEST(a_job_that_has_finished_is_not_run_again_when_its_journal_is_lost)
{
	CHECK_LOST(w, "Flink's record of the end of job " JOB_A
		      " of 2026-09-21 14:13 UTC: it has SUCCEEDED (file:/left/here)");
	CHECK_HAS(w->decision.reason, "`drey resume --from PATH` or `drey resume --empty`");
}

TEST(any_trace_of_a_launch_is_one_that_the_journal_is_lost)
{
	static const struct {
		enum trace_kind kind;
		const char *text;
	} rows[] = {
		{TRACE_HA, "the HA map of job " JOB_A " (file:/left/here)"},
		{TRACE_ID, "a directory or savepoint of job " JOB_A " (file:/left/here)"},
		{TRACE_RESULT, "Flink's record of the end of job " JOB_A},
	};
	struct world w;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		begin(&w);
		left(&w, rows[i].kind, JOB_A, 0, JOB_END_NONE);
		CHECK_LOST(&w, rows[i].text);
		end(&w);
	}
}

WORLD_TEST(three_are_named_and_the_others_are_counted)
{
	for (int i = 0; i < 5; i++)
		left(w, TRACE_HA, JOB_B, 0, JOB_END_NONE);
	left(w, TRACE_RESULT, JOB_A, RESULT_MS, JOB_END_FINISHED);
	CHECK_LOST(w, "traces: Flink's record of the end of job " JOB_A);
	CHECK_HAS(w->decision.reason, "; and 3 more: the journal may be lost");
}

FINISHED_TEST(a_person_decides_what_is_done_then)
{
	request(w, RESTORE_EMPTY, NULL, "t1");
	CHECK_DECIDES(w, START_EMPTY);
	CHECK_INT(w->decision.rule, ==, RULE_REQUEST);
}

/* A launch that left nothing, of which the journal knows. */
WORLD_TEST(what_is_left_of_a_launch_on_record_is_no_trace)
{
	intended(w, JOB_A, NULL, 0)->never_started = true;
	left(w, TRACE_HA, JOB_A, 0, JOB_END_NONE);
	CHECK_DECIDES(w, START_EMPTY);
	left(w, TRACE_HA, JOB_B, 0, JOB_END_NONE);
	CHECK_LOST(w, "job " JOB_B);
}

FINISHED_TEST(in_shared_directories_only_what_is_surely_ours_counts)
{
	w->policy.foreign = FOREIGN_IGNORE;
	CHECK_DECIDES(w, START_EMPTY);
	left(w, TRACE_HA, JOB_B, 0, JOB_END_NONE);
	CHECK_LOST(w, "job " JOB_B);
}

FINISHED_TEST(a_stateless_job_asks_for_no_traces)
{
	w->policy.restore = POLICY_NONE;
	CHECK_DECIDES(w, START_EMPTY);
}

FINISHED_TEST(a_command_that_has_deliberately_no_journal_does_not_either)
{
	w->policy.adopt = true;
	CHECK_DECIDES(w, START_EMPTY);
}

/* Taken over from the deployment that has left it. */
TEST(an_initial_savepoint_that_is_newer_is_taken)
{
	struct world w;

	for (int newer = 0; newer < 2; newer++) {
		struct snapshot initial = {.path = (char *)"file:/sp/initial",
					   .kind = SNAPSHOT_SAVEPOINT,
					   .origin = ORIGIN_INITIAL,
					   .checkpoint_id = 5,
					   .completed_unix_ms = RESULT_MS + (newer ? 1 : -1)};

		finished(&w);
		facts_set_source(&w.facts, SOURCE_INITIAL, SOURCE_PRESENT, "initial");
		w.policy.initial_savepoint = initial.path;
		facts_add(&w.facts, SOURCE_INITIAL, &initial);
		if (newer)
			CHECK_STARTS_FROM(&w, "file:/sp/initial");
		else
			CHECK_LOST(&w, "job " JOB_A);
		end(&w);
	}
}

/* An error is never absence. */
WORLD_TEST(records_that_cannot_be_read_hold)
{
	w->facts.results_listed = (struct source_fact){.state = SOURCE_UNREADABLE,
						       .detail = xstrdup("403 Forbidden")};
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_STORAGE_UNREADABLE);
	CHECK_HAS(w->decision.reason, "403 Forbidden");
	w->policy.adopt_lost = ADOPT_NEWEST;
	CHECK_DECIDES(w, HOLD);
}

/* ---- restore.adopt: newest ---- */

static void adopting(struct world *w)
{
	finished(w);
	w->policy.adopt_lost = ADOPT_NEWEST;
}

#define ADOPT_TEST(name) WORLD_TEST_FROM(adopting, name)

ADOPT_TEST(a_finished_job_is_adopted_as_finished)
{
	CHECK_DECIDES(w, PARK);
	CHECK_INT(w->decision.outcome, ==, OUTCOME_FINISHED);
	CHECK_INT(w->decision.cause, ==, CAUSE_FINISHED);
	CHECK_HAS(w->decision.outcome_reason, "job " JOB_A " finished: file:/left/here");
}

/* Its own checkpoints, where Flink was told to keep them. */
ADOPT_TEST(also_if_its_checkpoints_are_still_there)
{
	found_checkpoint(w, JOB_A, 9)->snapshot.completed_unix_ms = RESULT_MS + 1000;
	CHECK_DECIDES(w, PARK);
	CHECK_INT(w->decision.outcome, ==, OUTCOME_FINISHED);
}

ADOPT_TEST(the_newest_record_counts)
{
	left(w, TRACE_RESULT, JOB_B, RESULT_MS + 1, JOB_END_FAILED);
	CHECK_LOST(w, "job " JOB_B);
	left(w, TRACE_RESULT, JOB_C, RESULT_MS + 2, JOB_END_FINISHED);
	CHECK_DECIDES(w, PARK);
	CHECK_HAS(w->decision.outcome_reason, JOB_C);
}

TEST(only_a_job_that_has_finished_is_adopted_as_finished)
{
	static const enum job_end ends[] = {JOB_END_NONE, JOB_END_STOPPED, JOB_END_CANCELED,
					    JOB_END_FAILED, JOB_END_UNKNOWN};
	struct world w;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		begin(&w);
		w.policy.adopt_lost = ADOPT_NEWEST;
		left(&w, TRACE_RESULT, JOB_A, RESULT_MS, ends[i]);
		CHECK_LOST(&w, "job " JOB_A);
		end(&w);
	}
}

/* Another job was there later. */
ADOPT_TEST(what_came_after_it_shows_that_it_is_not_the_end)
{
	left(w, TRACE_HA, JOB_B, 0, JOB_END_NONE);
	CHECK_LOST(w, "job " JOB_B);
}

/* The map is that of an earlier job, which was killed: nothing tells which of the two came last. */
ADOPT_TEST(a_savepoint_of_the_finished_job_is_not_adopted_beside_the_map_of_another)
{
	left(w, TRACE_HA, JOB_B, 0, JOB_END_NONE);
	found_checkpoint(w, JOB_A, 9)->snapshot.completed_unix_ms = RESULT_MS - 1000;
	w->facts.candidates[0].integrity = INTEGRITY_COMPLETE;
	CHECK_LOST(w, "Flink has recorded that job " JOB_A " finished");
}

ADOPT_TEST(a_record_of_the_end_that_cannot_be_read_forbids_an_adoption)
{
	found_checkpoint(w, JOB_A, 9)->snapshot.completed_unix_ms = RESULT_MS - 1000;
	w->facts.candidates[0].integrity = INTEGRITY_COMPLETE;
	for (int end = JOB_END_NONE; end <= JOB_END_UNKNOWN; end += JOB_END_UNKNOWN) {
		w->facts.traces[0].end = (enum job_end)end;
		CHECK_LOST(w, "Flink's record of how job " JOB_A " ended cannot be read");
	}
	w->facts.traces[0].end = JOB_END_FAILED;
	CHECK_DECIDES(w, VERIFY);
}

/* The map is that of the job before it, which was killed, and whose checkpoint this is. */
ADOPT_TEST(what_is_older_than_the_finished_job_is_not_adopted_beside_a_map)
{
	left(w, TRACE_HA, JOB_B, 0, JOB_END_NONE);
	found_checkpoint(w, JOB_B, 9)->snapshot.completed_unix_ms = RESULT_MS - 1000;
	w->facts.candidates[0].integrity = INTEGRITY_COMPLETE;
	CHECK_LOST(w, "Flink has recorded that job " JOB_A " finished");
}

ADOPT_TEST(nor_beside_a_record_without_a_date)
{
	left(w, TRACE_HA, JOB_B, 0, JOB_END_NONE);
	found_checkpoint(w, JOB_B, 9)->snapshot.completed_unix_ms = RESULT_MS - 1000;
	w->facts.candidates[0].integrity = INTEGRITY_COMPLETE;
	w->facts.traces[0].unix_ms = 0;
	CHECK_LOST(w, "Flink has recorded that job " JOB_A " finished");
}

ADOPT_TEST(a_newer_snapshot_of_another_job_is_adopted_instead)
{
	found_checkpoint(w, JOB_B, 9)->snapshot.completed_unix_ms = RESULT_MS + 1;
	CHECK_DECIDES(w, VERIFY); /* is it this job's? */
	CHECK(w->decision.of_job);
	CHECK_INT(w->decision.outcome, ==, OUTCOME_NONE);
}

ADOPT_TEST(in_shared_directories_anothers_end_is_not_adopted)
{
	w->policy.foreign = FOREIGN_IGNORE;
	CHECK_DECIDES(w, START_EMPTY);
}

/* ---- a savepoint under another name than Flink gives ---- */

static struct candidate *found_elsewhere_named(struct world *w, const char *path, int64_t id)
{
	struct snapshot snapshot = {.path = (char *)path,
				    .kind = SNAPSHOT_SAVEPOINT,
				    .checkpoint_id = id,
				    .completed_unix_ms = RESULT_MS};

	return facts_add(&w->facts, SOURCE_SAVEPOINTS, &snapshot);
}

WORLD_TEST(a_savepoint_of_an_unknown_job_is_named_and_not_taken)
{
	found_elsewhere_named(w, "file:/sp/bootstrapped", 1);
	CHECK_LOST(w, "the newest file:/sp/bootstrapped");
}

/* Flink's HA data have told the job id of a launch that this journal, an older one, never had; a listing has hidden its savepoint. */
WORLD_TEST(what_a_job_that_only_the_ha_data_knew_has_left_is_not_known)
{
	struct candidate *theirs;

	proved(w, JOB_A, NULL, 0, 5);
	found_checkpoint(w, JOB_A, 5);
	journal_add_unknown_job(&w->journal, JOB_B);
	theirs = found_savepoint(w, JOB_B, 9);
	theirs->snapshot.completed_unix_ms = w->facts.candidates[0].snapshot.completed_unix_ms + 1;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_UNKNOWN_NEWER_STATE);
	/* of a launch of old, its date means nothing: it may have been copied */
	journal_remove_former_job(&w->journal, JOB_B);
	journal_add_former_job(&w->journal, JOB_B);
	CHECK_STARTS_FROM(w, "file:/cp/" JOB_A "/chk-5");
}

WORLD_TEST(beside_a_journal_it_is_never_taken_silently)
{
	proved(w, JOB_A, NULL, 0, 5);
	found_checkpoint(w, JOB_A, 5);
	found_elsewhere_named(w, "file:/sp/bootstrapped", 9);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_UNKNOWN_NEWER_STATE);
	CHECK_HAS(w->decision.reason, "file:/sp/bootstrapped");
}

/* The order stood there at the first look, and may be that of the launch that finished. */
TEST(an_order_of_unknown_age_does_not_run_again_what_has_finished)
{
	static const struct {
		enum restore_request_kind kind;
		enum trace_kind trace;
		enum job_end end;
		int64_t trace_ms; /* the savepoint that is asked for is of 50000 */
		const char *decides;
	} cases[] = {
		{RESTORE_EMPTY, TRACE_RESULT, JOB_END_FINISHED, 60000, "HOLD"},
		{RESTORE_EMPTY, TRACE_RESULT, JOB_END_STOPPED, 60000, "HOLD"},
		{RESTORE_EMPTY, TRACE_HA, JOB_END_NONE, 60000, "HOLD"},
		{RESTORE_EMPTY, TRACE_ID, JOB_END_NONE, 0, "HOLD"},
		{RESTORE_PATH, TRACE_RESULT, JOB_END_FINISHED, 60000, "HOLD"},
		{RESTORE_PATH, TRACE_RESULT, JOB_END_FINISHED, 0, "HOLD"},
		{RESTORE_PATH, TRACE_RESULT, JOB_END_FINISHED, 40000, "START_FROM"},
		{RESTORE_PATH, TRACE_RESULT, JOB_END_STOPPED, 60000, "START_FROM"},
		{RESTORE_PATH, TRACE_ID, JOB_END_NONE, 0, "START_FROM"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *path = cases[i].kind == RESTORE_PATH
					   ? "file:/sp/savepoint-aaaaaa-000000000005"
					   : NULL;
		struct world w;

		begin(&w);
		left(&w, cases[i].trace, JOB_B, cases[i].trace_ms, cases[i].end);
		if (path)
			found_savepoint(&w, JOB_A, 5)->snapshot.completed_unix_ms = 50000;
		request(&w, cases[i].kind, path, "t1");
		w.journal.intent.restore.asked_unix_ms = 0;
		CHECK_STR(decision_kind_name(decide(&w)), cases[i].decides);
		if (w.decision.kind == DECISION_HOLD) {
			CHECK_INT(w.decision.cause, ==, CAUSE_REQUEST_MAY_BE_OLD);
			CHECK_HAS(w.decision.reason, "left traces: ");
			CHECK_HAS(w.decision.reason, JOB_B);
		}
		/* a person repeats it, with drey */
		w.journal.intent.restore.asked_unix_ms = 70000;
		CHECK_INT(decide(&w), !=, DECISION_HOLD);
		end(&w);
	}
}
