#include "cmd/remote_snapshot.h"

#include <string.h>

#include "base/mem.h"
#include "cmd/remote.h"
#include "tap.h"

#define ASKED INT64_C(1700000000000)

static struct journal journal;

static void begin(void)
{
	journal_init(&journal, "orders");
	xstrset(&journal.phase, "Running");
}

static void end(void)
{
	journal_release(&journal);
}

static void ended(const char *nonce, enum operation_kind kind, bool ok, const char *text)
{
	struct operation_result *last = &journal.last_operation;

	operation_result_release(last);
	last->kind = kind;
	last->nonce = xstrdup(nonce);
	last->ok = ok;
	*(ok ? &last->location : &last->error) = xstrdup(text);
}

static enum remote_end judge(const char *nonce, const char **text)
{
	*text = NULL;
	return remote_judge(&journal, nonce, ASKED, text);
}

TEST(a_savepoint_is_known_by_its_nonce)
{
	const char *text;

	begin();
	CHECK_INT(judge("a", &text), ==, REMOTE_OPEN);
	ended("b", OPERATION_SAVEPOINT, true, "file:/sp/b");
	CHECK_INT(judge("a", &text), ==, REMOTE_OPEN);
	CHECK_INT(judge("b", &text), ==, REMOTE_DONE);
	CHECK_STR(text, "file:/sp/b");
	ended("a", OPERATION_SAVEPOINT, false, "the bucket is full");
	CHECK_INT(judge("a", &text), ==, REMOTE_FAILED);
	CHECK_STR(text, "the bucket is full");
	end();
}

TEST(the_nonce_of_a_restart_is_another_one)
{
	const char *text;

	begin();
	ended("a", OPERATION_STOP, true, "file:/sp/stop");
	CHECK_INT(judge("a", &text), ==, REMOTE_OPEN);
	end();
}

TEST(a_result_that_was_overwritten_is_found_among_the_snapshots)
{
	struct snapshot snapshot = {.path = (char[]){"file:/sp/a"},
				    .kind = SNAPSHOT_SAVEPOINT,
				    .origin = ORIGIN_MANUAL,
				    .completed_unix_ms = ASKED - 3600000};
	const char *text;

	begin();
	xstrset(&journal.savepoint_nonce_done, "a");
	ended(NULL, OPERATION_SAVEPOINT, true, "file:/sp/periodic");
	journal_add_snapshot(&journal, &snapshot);
	CHECK_INT(judge("a", &text), ==, REMOTE_FAILED);
	CHECK_HAS(text, "ended without a savepoint");
	snapshot.completed_unix_ms = ASKED + 5000;
	snapshot.origin = ORIGIN_PERIODIC;
	journal_add_snapshot(&journal, &snapshot);
	CHECK_INT(judge("a", &text), ==, REMOTE_FAILED);
	snapshot.origin = ORIGIN_MANUAL;
	journal_add_snapshot(&journal, &snapshot);
	CHECK_INT(judge("a", &text), ==, REMOTE_DONE);
	CHECK_STR(text, "file:/sp/a");
	end();
}

TEST(parked_is_what_somebody_wants)
{
	begin();
	CHECK(!remote_parked(&journal));
	journal.intent.state = DESIRED_SUSPENDED;
	CHECK_STR(remote_parked(&journal), "it is suspended");
	journal.intent.state = DESIRED_CANCELLED;
	CHECK_STR(remote_parked(&journal), "it is cancelled");
	journal.intent.state = DESIRED_RUNNING;
	journal.outcome.kind = OUTCOME_FINISHED;
	CHECK_HAS(remote_parked(&journal), "the job has finished");
	journal.outcome.kind = OUTCOME_CANCELLED;
	CHECK_HAS(remote_parked(&journal), "cancelled");
	end();
}

TEST(a_job_that_has_failed_or_is_held_is_not_parked)
{
	begin();
	journal.outcome.kind = OUTCOME_FAILED;
	CHECK(!remote_parked(&journal));
	journal.outcome.kind = OUTCOME_RESTORE_MISMATCH;
	CHECK(!remote_parked(&journal));
	journal.outcome.kind = OUTCOME_NONE;
	xstrset(&journal.phase, "Holding");
	CHECK(!remote_parked(&journal));
	end();
}

TEST(do_not_restart_parks_only_without_a_job)
{
	begin();
	journal.intent.do_not_restart = true;
	CHECK(!remote_parked(&journal));
	xstrset(&journal.phase, "Holding");
	CHECK_HAS(remote_parked(&journal), "do-not-restart");
	end();
}

static enum remote_end judge_checkpoint(const char *nonce, const char **text)
{
	*text = NULL;
	return remote_judge_checkpoint(&journal, nonce, text);
}

TEST(a_checkpoint_is_known_by_its_nonce)
{
	const struct checkpoint_operation taken = {.trigger_id = "t1", .full = true};
	const char *text;

	begin();
	CHECK_INT(judge_checkpoint("a", &text), ==, REMOTE_OPEN);
	journal_ask_checkpoint(&journal, "a", true);
	journal_ask_checkpoint(&journal, "b", true);
	CHECK_INT(judge_checkpoint("a", &text), ==, REMOTE_OPEN);
	journal_join_checkpoint(&journal, &taken);
	journal_ask_checkpoint(&journal, "c", false);
	CHECK_INT(judge_checkpoint("a", &text), ==, REMOTE_OPEN);
	journal_answer_checkpoint(&journal, "t1",
				  &(struct checkpoint_result){.ok = true,
							      .checkpoint_id = 7,
							      .location = "file:/ck/chk-7"});
	CHECK_INT(judge_checkpoint("a", &text), ==, REMOTE_DONE);
	CHECK_STR(text, "file:/ck/chk-7");
	CHECK_INT(judge_checkpoint("b", &text), ==, REMOTE_DONE);
	CHECK_INT(judge_checkpoint("c", &text), ==, REMOTE_OPEN);
	journal_answer_checkpoint(&journal, "",
				  &(struct checkpoint_result){.error = "the job is stopped"});
	CHECK_INT(judge_checkpoint("c", &text), ==, REMOTE_FAILED);
	CHECK_STR(text, "the job is stopped");
	end();
}

TEST(a_checkpoint_without_a_path_is_no_success)
{
	const char *text;

	begin();
	journal_ask_checkpoint(&journal, "a", false);
	journal_answer_checkpoint(&journal, "",
				  &(struct checkpoint_result){.ok = true, .checkpoint_id = 7});
	CHECK_INT(judge_checkpoint("a", &text), ==, REMOTE_FAILED);
	CHECK_HAS(text, "drey snapshots");
	end();
}
