/* Rule 3: the operation that was in flight when Flink was gone. */
#include "resolve_world.h"

#define CHK_A(n) "file:/cp/" JOB_A "/chk-" #n

static void begin_operation(struct world *w, enum operation_kind kind)
{
	begin(w);
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	w->journal.operation = (struct operation){.kind = kind,
						  .reason = REASON_RESTART,
						  .job_id = JOB_A,
						  .path = xstrdup("file:///sp/"),
						  .started_unix_ms = 7500};
}

TEST(an_interrupted_savepoint_is_found_and_then_started_from)
{
	struct world w;

	for (int kind = OPERATION_SAVEPOINT; kind <= OPERATION_STOP; kind++) {
		begin_operation(&w, (enum operation_kind)kind);
		found_savepoint(&w, JOB_A, 8)->integrity = INTEGRITY_UNCHECKED;
		CHECK_STARTS_FROM(&w, "file:/sp/savepoint-aaaaaa-000000000008");
		CHECK_INT(w.decision.settlement, ==, SETTLEMENT_MADE);
		CHECK_INT(w.decision.settled, ==, 1);
		end(&w);
	}
}

TEST(only_a_later_savepoint_of_that_job_in_that_directory_is_the_result)
{
	static const struct {
		const char *path, *job_id;
		int64_t completed_unix_ms;
	} others[] = {{"file:/other/savepoint-aaaaaa-000000000008", "aaaaaa", 8000},
		      {"file:/sp/savepoint-bbbbbb-000000000008", "bbbbbb", 8000},
		      {"file:/sp/savepoint-aaaaaa-000000000008", "aaaaaa", 6499}};
	struct world w;

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		begin_operation(&w, OPERATION_STOP);
		w.policy.foreign = FOREIGN_IGNORE;
		found(&w, SOURCE_SAVEPOINTS, others[i].path, SNAPSHOT_SAVEPOINT, others[i].job_id,
		      6)
			->snapshot.completed_unix_ms = others[i].completed_unix_ms;
		CHECK_STARTS_FROM(&w, CHK_A(7));
		CHECK_INT(w.decision.settlement, ==, SETTLEMENT_FAILED);
		end(&w);
	}
	begin_operation(&w, OPERATION_STOP); /* storage that knows whole seconds only */
	found_savepoint(&w, JOB_A, 8)->snapshot.completed_unix_ms = 7000;
	decide(&w);
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_MADE);
	/* the journal has it by its own clock, as the one before */
	w.facts.candidates[1].snapshot.completed_unix_ms = 9000;
	journal_add_snapshot(&w.journal, &w.facts.candidates[1].snapshot);
	w.journal.snapshots[0].completed_unix_ms = 7500;
	decide(&w);
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_FAILED);
	end(&w);
}

/* It was refused once, a second ago, and can be read now; the stop itself has left nothing. */
TEST(the_damaged_savepoint_of_the_operation_before_is_no_result)
{
	struct operation_result *last;
	struct world w;

	begin_operation(&w, OPERATION_STOP);
	snprintf(w.journal.operation.trigger_id, JOB_ID_BYTES, "%s", JOB_C);
	last = &w.journal.last_operation;
	last->location = xstrdup("file:///sp/savepoint-aaaaaa-000000000008");
	snprintf(last->trigger_id, JOB_ID_BYTES, "%s", JOB_B);
	found_savepoint(&w, JOB_A, 8)->snapshot.completed_unix_ms = 7400;
	CHECK_STARTS_FROM(&w, "file:/sp/savepoint-aaaaaa-000000000008");
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_FAILED);
	/* what is on record of the stop itself is no other operation's */
	snprintf(last->trigger_id, JOB_ID_BYTES, "%s", JOB_C);
	decide(&w);
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_MADE);
	end(&w);
}

TEST(the_best_of_several_savepoints_is_the_result)
{
	struct world w;

	begin_operation(&w, OPERATION_STOP);
	broken(found_savepoint(&w, JOB_A, 11), INTEGRITY_INCOMPLETE, "no _metadata");
	broken(found_savepoint(&w, JOB_A, 10), INTEGRITY_DAMAGED, "a file is missing");
	found_savepoint(&w, JOB_A, 8);
	found_savepoint(&w, JOB_A, 9);
	found(&w, SOURCE_SAVEPOINTS, "file:/sp/by-hand", SNAPSHOT_SAVEPOINT, "", 12);
	found(&w, SOURCE_CHECKPOINTS, "file:/sp/" JOB_A "/chk-5", SNAPSHOT_CHECKPOINT, JOB_A, 5);
	decide(&w);
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_MADE);
	CHECK_INT(w.decision.settled, ==, 4);
	broken(&w.facts.candidates[3], INTEGRITY_INCOMPLETE, "no _metadata");
	broken(&w.facts.candidates[4], INTEGRITY_INCOMPLETE, "no _metadata");
	decide(&w);
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_FAILED);
	CHECK_INT(w.decision.settled, ==, 2); /* the damaged one is the news */
	broken(&w.facts.candidates[2], INTEGRITY_INCOMPLETE, "no _metadata");
	decide(&w);
	CHECK(w.decision.settled == NO_CANDIDATE);
	/* one that cannot be read may be it, one that is damaged is certainly not better */
	broken(&w.facts.candidates[2], INTEGRITY_DAMAGED, "a file is missing");
	broken(&w.facts.candidates[3], INTEGRITY_UNREADABLE, "denied");
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_OPEN);
	end(&w);
}

TEST(a_result_whose_date_is_not_known_counts)
{
	struct world w;

	begin_operation(&w, OPERATION_STOP);
	found_savepoint(&w, JOB_A, 8)->snapshot.completed_unix_ms = 0;
	decide(&w);
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_MADE);
	end(&w);
}

/* A savepoint that somebody took before has been copied, or has no date. The job has finished before it could be stopped. */
TEST(a_savepoint_from_before_a_checkpoint_that_was_complete_is_no_result)
{
	static const int64_t dates[] = {0, 8000};
	struct world w;

	for (size_t i = 0; i < ARRAY_LEN(dates); i++) {
		begin_operation(&w, OPERATION_STOP);
		w.journal.launches[0].last_checkpoint_unix_ms = 7000;
		w.journal.launches[0].job_result_path = xstrdup("file:/results/" JOB_A);
		found_savepoint(&w, JOB_A, 6)->snapshot.completed_unix_ms = dates[i];
		facts_set_source(&w.facts, SOURCE_RESULTS, SOURCE_PRESENT, "1 record");
		facts_set_end(&w.facts, JOB_A, JOB_END_FINISHED, NULL);
		CHECK_DECIDES(&w, PARK);
		CHECK_INT(w.decision.outcome, ==, OUTCOME_FINISHED);
		CHECK_INT(w.decision.settlement, ==, SETTLEMENT_FAILED);
		/* completed meanwhile: that savepoint may be the stop's, but the job has gone on behind it */
		w.journal.launches[0].last_checkpoint_unix_ms = 7501;
		CHECK_DECIDES(&w, PARK);
		CHECK_INT(w.decision.settlement, ==, SETTLEMENT_PASSED);
		end(&w);
	}
}

/* Flink begins no checkpoint behind the savepoint of a stop: that stop has failed, and the job may have finished since. */
TEST(a_stop_has_failed_when_the_job_has_gone_on_behind_its_savepoint)
{
	struct world w;
	struct candidate *begun;

	for (int kind = OPERATION_SAVEPOINT; kind <= OPERATION_STOP; kind++) {
		bool stop = kind == OPERATION_STOP;

		begin_operation(&w, (enum operation_kind)kind);
		w.journal.launches[0].job_result_path = xstrdup("file:/results/" JOB_A);
		found_savepoint(&w, JOB_A, 8);
		begun = found_checkpoint(&w, JOB_A, 9);
		broken(begun, INTEGRITY_INCOMPLETE, "no _metadata");
		CHECK_STARTS_FROM(&w, "file:/sp/savepoint-aaaaaa-000000000008");
		CHECK_INT(w.decision.settlement, ==, stop ? SETTLEMENT_PASSED : SETTLEMENT_MADE);
		CHECK_INT(w.decision.settled, ==, 1);
		facts_set_source(&w.facts, SOURCE_RESULTS, SOURCE_PRESENT, "1 record");
		facts_set_end(&w.facts, JOB_A, JOB_END_FINISHED, NULL);
		CHECK_DECIDES(&w, PARK);
		CHECK_INT(w.decision.outcome, ==, OUTCOME_FINISHED);
		w.facts.candidates[2].snapshot.checkpoint_id = 8; /* begun before */
		decide(&w);
		CHECK_INT(w.decision.settlement, ==, SETTLEMENT_MADE);
		/* then Flink's record of its end is that of the stop */
		CHECK_INT(w.decision.kind, ==, stop ? DECISION_START_FROM : DECISION_PARK);
		end(&w);
	}
}

TEST(without_the_journal_there_is_no_operation)
{
	struct world w;

	begin_operation(&w, OPERATION_STOP);
	facts_set_source(&w.facts, SOURCE_JOURNAL, SOURCE_UNREADABLE, "damaged");
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.rule, ==, 5);
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_NONE);
	end(&w);
}

TEST(a_damaged_result_is_a_failure_with_a_name)
{
	struct world w;

	begin_operation(&w, OPERATION_STOP);
	broken(found_savepoint(&w, JOB_A, 8), INTEGRITY_DAMAGED, "a file is missing");
	CHECK_STARTS_FROM(&w, CHK_A(7));
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_FAILED);
	CHECK_INT(w.decision.settled, ==, 1);
	end(&w);
}

/* Of the one directory that begin() has. */
static void savepoints_are(struct world *w, enum source_state state, const char *detail)
{
	w->facts.places[0].state = state;
	xstrset(&w->facts.places[0].detail, detail);
	facts_set_source(&w->facts, SOURCE_SAVEPOINTS, state, detail);
}

/* The configuration has another savepoint directory now. */
TEST(an_operation_is_settled_in_its_own_directory)
{
	struct world w;

	begin_operation(&w, OPERATION_STOP);
	xstrset(&w.journal.operation.path, "s3://old/sp");
	CHECK_DECIDES(&w, HOLD); /* nobody has looked there */
	CHECK_INT(w.decision.cause, ==, CAUSE_OPERATION_UNSETTLED);
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_OPEN);
	CHECK_HAS(w.decision.reason, "s3://old/sp cannot be read");
	facts_add_place(&w.facts, SOURCE_LINEAGE, SNAPSHOT_SAVEPOINT, "s3://old/sp/",
			SOURCE_PRESENT, "1 found");
	found(&w, SOURCE_LINEAGE, "s3://old/sp/savepoint-aaaaaa-000000000008", SNAPSHOT_SAVEPOINT,
	      "aaaaaa", 8);
	/* what is wrong with the directory of now is no matter of the operation's */
	savepoints_are(&w, SOURCE_UNREADABLE, "denied");
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.rule, ==, 5);
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_MADE);
	savepoints_are(&w, SOURCE_ABSENT, "0 found");
	CHECK_STARTS_FROM(&w, "s3://old/sp/savepoint-aaaaaa-000000000008");
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_MADE);
	w.facts.places[1].state = SOURCE_UNREADABLE;
	CHECK_DECIDES(&w, HOLD);
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_OPEN);
	end(&w);
}

/* Flink spreads the state files by s3.entropy.key, and leaves the key out of where the savepoint is. */
TEST(an_operation_is_settled_where_the_entropy_key_is_left_out)
{
	struct world w;

	begin_operation(&w, OPERATION_STOP);
	xstrset(&w.journal.operation.path, "file:/_entropy_/sp");
	xstrset(&w.journal.operation.directory, "file:/sp");
	found_savepoint(&w, JOB_A, 8);
	CHECK_STARTS_FROM(&w, "file:/sp/savepoint-aaaaaa-000000000008");
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_MADE);
	end(&w);
}

TEST(an_operation_that_cannot_be_settled_holds_but_does_not_keep_from_parking)
{
	struct world w;

	for (int what = 0; what < 2; what++) {
		begin_operation(&w, OPERATION_STOP);
		request(&w, RESTORE_PATH, CHK_A(7), "t1");
		if (what)
			broken(found_savepoint(&w, JOB_A, 8), INTEGRITY_UNREADABLE, "denied");
		else
			savepoints_are(&w, SOURCE_UNREADABLE, "denied");
		CHECK_DECIDES(&w, HOLD);
		CHECK_INT(w.decision.rule, ==, 3);
		CHECK_HAS(w.decision.reason, "denied");
		CHECK_INT(w.decision.settlement, ==, SETTLEMENT_OPEN);
		w.journal.intent.do_not_restart = true;
		CHECK_DECIDES(&w, PARK);
		CHECK_INT(w.decision.settlement, ==, SETTLEMENT_OPEN);
		end(&w);
	}
}

TEST(a_cancel_leaves_nothing_to_be_settled)
{
	struct world w;

	begin_operation(&w, OPERATION_CANCEL);
	found_savepoint(&w, JOB_A, 8);
	CHECK_STARTS_FROM(&w, "file:/sp/savepoint-aaaaaa-000000000008");
	CHECK_INT(w.decision.settlement, ==, SETTLEMENT_NONE);
	CHECK(w.decision.settled == NO_CANDIDATE);
	end(&w);
}
