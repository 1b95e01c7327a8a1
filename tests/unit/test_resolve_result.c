/* What Flink has left on record about the end of a launch whose end nobody saw. */
#include "resolve_world.h"

static struct launch *open_launch(struct world *w)
{
	struct launch *launch = proved(w, JOB_A, NULL, 0, 5);

	launch->job_result_path = xstrdup("file:/results/" JOB_A);
	found_checkpoint(w, JOB_A, 5);
	return launch;
}

static void ended(struct world *w, enum job_end how, const char *detail)
{
	facts_set_source(&w->facts, SOURCE_RESULTS, SOURCE_PRESENT, "read");
	facts_set_end(&w->facts, JOB_A, how, detail);
}

static void parks(enum job_end how, const char *detail, enum cause cause, enum outcome_kind outcome,
		  const char *reason)
{
	struct world w;

	begin(&w);
	open_launch(&w);
	ended(&w, how, detail);
	decide(&w);
	CHECK_INT(w.decision.kind, ==, DECISION_PARK);
	CHECK_INT(w.decision.rule, ==, 2);
	CHECK_INT(w.decision.cause, ==, cause);
	CHECK_INT(w.decision.outcome, ==, outcome);
	CHECK_HAS(w.decision.reason, reason);
	CHECK_HAS(w.decision.reason, w.decision.outcome_reason);
	end(&w);
}

TEST(a_job_that_has_finished_is_not_run_again)
{
	parks(JOB_END_FINISHED, NULL, CAUSE_FINISHED, OUTCOME_FINISHED,
	      "the job is finished (the job finished); use `drey resume` to launch it again");
}

TEST(a_stop_and_a_cancel_from_outside_count_as_when_they_are_seen)
{
	parks(JOB_END_STOPPED, "file:/sp/savepoint-aaaaaa-1", CAUSE_CANCELLED, OUTCOME_CANCELLED,
	      "stopped from outside drey, with file:/sp/savepoint-aaaaaa-1, or by drey itself, if this journal is an older one that was put back: no copy of it tells");
	parks(JOB_END_CANCELED, NULL, CAUSE_CANCELLED, OUTCOME_CANCELLED,
	      "cancelled from outside drey, or by drey itself, if this journal is an older one that was put back: no copy of it tells");
}

TEST(a_record_that_cannot_be_understood_is_an_unknown_end)
{
	parks(JOB_END_UNKNOWN, "x.json: byte 3", CAUSE_END_UNKNOWN, OUTCOME_UNKNOWN,
	      "x.json: byte 3");
}

static void goes_on(struct world *w)
{
	decide(w);
	CHECK_INT(w->decision.kind, ==, DECISION_START_FROM);
	CHECK_INT(w->decision.outcome, ==, OUTCOME_NONE);
	end(w);
}

TEST(no_record_and_a_failed_job_are_no_end)
{
	struct world w;

	begin(&w);
	open_launch(&w);
	facts_set_source(&w.facts, SOURCE_RESULTS, SOURCE_ABSENT, "nothing");
	facts_set_end(&w.facts, JOB_A, JOB_END_NONE, NULL);
	goes_on(&w);
	begin(&w);
	open_launch(&w);
	ended(&w, JOB_END_FAILED, NULL);
	goes_on(&w);
}

TEST(what_is_known_already_is_not_asked_again)
{
	struct world w;

	begin(&w);
	open_launch(&w)->end_known = true;
	ended(&w, JOB_END_FINISHED, NULL);
	goes_on(&w);
}

TEST(the_record_of_another_job_does_not_count)
{
	struct world w;

	begin(&w);
	open_launch(&w);
	facts_set_source(&w.facts, SOURCE_RESULTS, SOURCE_PRESENT, "read");
	facts_set_end(&w.facts, JOB_B, JOB_END_FINISHED, NULL);
	goes_on(&w);
}

/* Rule 3 has found the savepoint of the stop that was in flight. */
TEST(our_own_stop_is_no_end)
{
	struct world w;
	struct launch *launch;

	begin(&w);
	launch = open_launch(&w);
	w.journal.operation.kind = OPERATION_STOP;
	w.journal.operation.reason = REASON_RESTART;
	memcpy(w.journal.operation.job_id, JOB_A, JOB_ID_BYTES);
	w.journal.operation.started_unix_ms = launch->intended_unix_ms;
	found_savepoint(&w, JOB_A, 6);
	ended(&w, JOB_END_FINISHED, NULL); /* Flink's job result store does not tell a stop */
	goes_on(&w);
}

/* The savepoint is not there: the job was faster than the stop. */
WORLD_TEST(a_stop_that_came_too_late_does_not_hide_the_end)
{
	open_launch(w);
	w->journal.operation.kind = OPERATION_STOP;
	memcpy(w->journal.operation.job_id, JOB_A, JOB_ID_BYTES);
	ended(w, JOB_END_FINISHED, NULL);
	decide(w);
	CHECK_INT(w->decision.settlement, ==, SETTLEMENT_FAILED);
	CHECK_INT(w->decision.kind, ==, DECISION_PARK);
	CHECK_INT(w->decision.outcome, ==, OUTCOME_FINISHED);
}

/* The grace period was over, and so was drey's patience; Flink has made the stop all the same. */
TEST(a_stop_of_ours_that_was_given_up_is_ours)
{
	struct world w;
	struct launch *launch;

	begin(&w);
	launch = open_launch(&w);
	w.journal.last_operation.kind = OPERATION_STOP;
	w.journal.last_operation.ended_unix_ms = launch->intended_unix_ms + 5;
	found_savepoint(&w, JOB_A, 6);
	ended(&w, JOB_END_STOPPED, "file:/sp/savepoint-aaaaaa-000000000006");
	goes_on(&w);
	begin(&w);
	launch = open_launch(&w);
	w.journal.last_operation.kind = OPERATION_CANCEL;
	w.journal.last_operation.ok = true;
	w.journal.last_operation.ended_unix_ms = launch->intended_unix_ms + 5;
	ended(&w, JOB_END_CANCELED, NULL);
	goes_on(&w);
}

/* ---- do-not-restart was on, and a new generation that names the savepoint ---- */

#define STOPPED_AT "file:/elsewhere/savepoint-aaaaaa-9"

static struct candidate *stop_found(struct world *w)
{
	return found(w, SOURCE_RESULTS, STOPPED_AT, SNAPSHOT_SAVEPOINT, JOB_A, 9);
}

/* The flag, the stop and the end of the Pod followed so quickly that nobody looked in between. */
TEST(a_stop_that_nobody_saw_is_a_suspension_when_do_not_restart_was_on)
{
	struct world w;

	begin(&w);
	open_launch(&w)->do_not_restart = true;
	stop_found(&w);
	ended(&w, JOB_END_STOPPED, STOPPED_AT);
	decide(&w);
	CHECK_INT(w.decision.kind, ==, DECISION_START_FROM);
	CHECK_STR(w.facts.candidates[w.decision.candidate].snapshot.path, STOPPED_AT);
	CHECK_INT(w.decision.outcome, ==, OUTCOME_NONE);
	end(&w);

	/* while it is on, nothing is asked */
	begin(&w);
	open_launch(&w)->do_not_restart = true;
	w.journal.intent.do_not_restart = true;
	stop_found(&w);
	ended(&w, JOB_END_STOPPED, STOPPED_AT);
	decide(&w);
	CHECK_INT(w.decision.kind, ==, DECISION_PARK);
	CHECK_INT(w.decision.rule, ==, 1);
	end(&w);
}

TEST(a_cancel_that_nobody_saw_is_a_suspension_as_well)
{
	struct world w;

	begin(&w);
	open_launch(&w)->do_not_restart = true;
	ended(&w, JOB_END_CANCELED, NULL);
	goes_on(&w);
	/* a job that has FINISHED is over, whatever was on */
	begin(&w);
	open_launch(&w)->do_not_restart = true;
	ended(&w, JOB_END_FINISHED, NULL);
	decide(&w);
	CHECK_INT(w.decision.kind, ==, DECISION_PARK);
	CHECK_INT(w.decision.outcome, ==, OUTCOME_FINISHED);
	end(&w);
}

/* Only checkpoint 5 is there, or nothing at all, or the stop's savepoint is damaged: never the older one. */
TEST(only_the_savepoint_of_the_stop_will_do)
{
	static const enum integrity bad[] = {INTEGRITY_DAMAGED, INTEGRITY_INCOMPLETE,
					     INTEGRITY_UNREADABLE};

	for (size_t i = 0; i <= ARRAY_LEN(bad); i++) {
		struct world w;

		begin(&w);
		open_launch(&w)->do_not_restart = true;
		if (i < ARRAY_LEN(bad))
			stop_found(&w)->integrity = bad[i];
		ended(&w, JOB_END_STOPPED, STOPPED_AT);
		decide(&w);
		CHECK_INT(w.decision.kind, ==, DECISION_HOLD);
		CHECK_HAS(w.decision.reason, STOPPED_AT);
		end(&w);
	}
}

WORLD_TEST(a_launch_that_proved_nothing_does_not_start_empty_after_a_stop)
{
	ran(w, JOB_A, NULL, 0)->do_not_restart = true;
	w->journal.launches[0].job_result_path = xstrdup("file:/results/" JOB_A);
	ended(w, JOB_END_STOPPED, STOPPED_AT);
	decide(w);
	CHECK_INT(w->decision.kind, ==, DECISION_HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_NEWEST_STATE_MISSING);
}

WORLD_TEST(a_person_may_choose_another_one)
{
	open_launch(w)->do_not_restart = true;
	ended(w, JOB_END_STOPPED, STOPPED_AT);
	w->journal.intent.restore.kind = RESTORE_PATH;
	w->journal.intent.restore.token = xstrdup("t1");
	w->journal.intent.restore.path = xstrdup("file:/cp/" JOB_A "/chk-5");
	w->journal.intent.restore.asked_unix_ms = 5000;
	decide(w);
	CHECK_INT(w->decision.kind, ==, DECISION_START_FROM);
	CHECK_INT(w->decision.rule, ==, 4);
}

TEST(a_new_generation_that_names_the_savepoint_starts_the_job)
{
	static const struct {
		const char *generation, *initial;
		enum decision_kind kind;
	} rows[] = {
		{"g2", STOPPED_AT, DECISION_START_FROM},
		{"g2", STOPPED_AT "/", DECISION_START_FROM}, /* the same path */
		{"g1", STOPPED_AT, DECISION_PARK},           /* nothing is new */
		{NULL, STOPPED_AT, DECISION_PARK},
		{"g2", NULL, DECISION_PARK},
		{"g2", "file:/elsewhere/savepoint-aaaaaa-8", DECISION_PARK},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct world w;

		begin(&w);
		open_launch(&w)->generation = xstrdup("g1");
		w.policy.generation = rows[i].generation;
		w.policy.initial_savepoint = rows[i].initial;
		stop_found(&w);
		ended(&w, JOB_END_STOPPED, STOPPED_AT);
		decide(&w);
		CHECK_INT(w.decision.kind, ==, rows[i].kind);
		if (w.decision.kind == DECISION_START_FROM)
			CHECK_STR(w.facts.candidates[w.decision.candidate].snapshot.path,
				  STOPPED_AT);
		else
			CHECK_HAS(
				w.decision.reason,
				"or deploy a new generation with restore.initialSavepoint: " STOPPED_AT);
		end(&w);
	}
}

/* Flink's own record does not tell how it came to its end, or tells of a cancel: the newest savepoint of that
 * launch, when nothing is newer. */
TEST(it_may_name_the_newest_savepoint_of_any_end)
{
	static const enum job_end ends[] = {JOB_END_FINISHED, JOB_END_CANCELED, JOB_END_UNKNOWN};
	struct snapshot named = {.path = (char *)STOPPED_AT,
				 .kind = SNAPSHOT_SAVEPOINT,
				 .checkpoint_id = 9,
				 .job_id = JOB_A};

	for (size_t i = 0; i < ARRAY_LEN(ends) * 2; i++) {
		bool newer = i % 2;
		struct world w;

		begin(&w);
		open_launch(&w)->generation = xstrdup("g1");
		w.policy.generation = "g2";
		w.policy.initial_savepoint = STOPPED_AT;
		journal_add_snapshot(&w.journal, &named);
		if (newer)
			w.journal.launches[0].last_checkpoint_id = 10;
		stop_found(&w);
		ended(&w, ends[i / 2], NULL);
		decide(&w);
		CHECK_INT(w.decision.kind, ==, newer ? DECISION_PARK : DECISION_START_FROM);
		end(&w);
	}
}

WORLD_TEST(a_stateless_job_that_has_finished_is_not_run_again_either)
{
	w->policy.restore = POLICY_NONE;
	open_launch(w);
	ended(w, JOB_END_FINISHED, NULL);
	decide(w);
	CHECK_INT(w->decision.kind, ==, DECISION_PARK);
}

WORLD_TEST(an_order_is_older_than_the_end_and_does_not_bring_it_back)
{
	struct launch *launch;

	launch = intended(w, JOB_A, NULL, 0);
	launch->job_result_path = xstrdup("file:/results/" JOB_A);
	launch->started_unix_ms = 5;
	launch->request_token = xstrdup("t1");
	w->journal.intent.restore.kind = RESTORE_EMPTY;
	w->journal.intent.restore.token = xstrdup("t1");
	journal_consume(&w->journal, "t1");
	ended(w, JOB_END_FINISHED, NULL);
	decide(w);
	CHECK_INT(w->decision.kind, ==, DECISION_PARK);
	CHECK_INT(w->decision.outcome, ==, OUTCOME_FINISHED);
}

TEST(what_cannot_be_read_may_be_the_end)
{
	for (int none = 0; none < 2; none++) {
		struct world w;

		begin(&w);
		w.policy.restore = none ? POLICY_NONE : POLICY_LATEST;
		open_launch(&w);
		facts_set_source(&w.facts, SOURCE_RESULTS, SOURCE_UNREADABLE, "timed out");
		decide(&w);
		CHECK_INT(w.decision.kind, ==, DECISION_HOLD);
		CHECK_INT(w.decision.rule, ==, 5);
		CHECK_INT(w.decision.cause, ==, CAUSE_STORAGE_UNREADABLE);
		CHECK_HAS(w.decision.reason, "timed out");
		end(&w);
	}
}

/* ---- the record of an earlier life ---- */

/* A launch whose id was used in an earlier life of the application: Flink found the record of that job,
 * and ignored this one. It is a failed attempt, which draws another id. */
TEST(a_record_that_is_older_than_its_launch_is_no_end_of_a_job_that_was_never_seen)
{
	static const struct {
		int64_t before_ms;
		bool named, seen, counts;
	} rows[] = {
		{.before_ms = 3600000},
		{.before_ms = 60000, .counts = true}, /* clocks may differ */
		{.before_ms = -1000, .counts = true},
		{.before_ms = 3600000, .named = true, .counts = true}, /* only this launch has it */
		{.before_ms = 3600000, .seen = true, .counts = true},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct launch *launch;
		struct world w;

		begin(&w);
		launch = ran(&w, JOB_A, NULL, 0);
		launch->job_result_path = xstrdup("file:/results/" JOB_A);
		launch->intended_unix_ms = INT64_C(1790000000000);
		launch->ended_unix_ms = launch->intended_unix_ms + 40000;
		if (rows[i].named)
			memcpy(launch->launch_id, JOB_B, sizeof(launch->launch_id));
		if (rows[i].seen)
			launch->verified_unix_ms = launch->intended_unix_ms + 1;
		facts_set_source(&w.facts, SOURCE_RESULTS, SOURCE_PRESENT, NULL);
		facts_set_end(&w.facts, JOB_A, JOB_END_FINISHED, NULL);
		w.facts.ended_unix_ms = launch->intended_unix_ms - rows[i].before_ms;
		decide(&w);
		CHECK((w.decision.outcome == OUTCOME_FINISHED) == rows[i].counts);
		if (!rows[i].counts)
			CHECK_STR(decision_kind_name(w.decision.kind), "START_EMPTY");
		end(&w);
	}
}
