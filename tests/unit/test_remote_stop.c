#include "cmd/remote_stop.h"

#include <string.h>

#include "base/mem.h"
#include "tap.h"

#define BEFORE INT64_C(1700000000000)

static struct journal journal;
static struct stop_request request;
static const char *text;

static void begin(enum desired_state goal, const char *phase)
{
	journal_init(&journal, "orders");
	xstrset(&journal.phase, phase);
	journal_add_log(&journal, BEFORE, "PHASE: the reason");
	request = (struct stop_request){.goal = goal, .ended_before_unix_ms = BEFORE};
	journal.last_operation.ended_unix_ms = BEFORE;
}

static void end(void)
{
	journal_release(&journal);
}

static enum stop_step judge(void)
{
	text = NULL;
	return remote_stop_judge(&journal, &request, &text);
}

static enum stop_step judge_in(const char *phase)
{
	xstrset(&journal.phase, phase);
	return judge();
}

static void taken(void)
{
	request.asked = request.taken = true;
	journal.intent.state = request.goal;
}

static void ended(enum operation_kind kind, enum operation_reason reason, const char *location,
		  const char *error)
{
	struct operation_result *last = &journal.last_operation;

	operation_result_release(last);
	last->kind = kind;
	last->reason = reason;
	last->ok = !error;
	last->location = xstrdup(location);
	last->error = xstrdup(error);
	last->ended_unix_ms = BEFORE + 5000;
}

TEST(a_savepoint_is_asked_for_only_while_the_job_runs)
{
	begin(DESIRED_SUSPENDED, "Running");
	CHECK_INT(judge(), ==, STOP_ASK);
	CHECK_INT(judge_in("Stopping"), ==, STOP_ASK);
	CHECK_INT(judge_in("Resolving"), ==, STOP_WAIT);
	CHECK_HAS(text, "the job to run");
	CHECK_INT(judge_in("Launching"), ==, STOP_WAIT);
	CHECK_INT(judge_in("Terminating"), ==, STOP_WAIT);
	end();
}

TEST(a_cancel_is_asked_for_in_any_phase)
{
	begin(DESIRED_CANCELLED, "Launching");
	CHECK_INT(judge(), ==, STOP_ASK);
	CHECK_INT(judge_in("Resolving"), ==, STOP_ASK);
	end();
}

TEST(what_is_parked_is_not_asked)
{
	begin(DESIRED_SUSPENDED, "Finished");
	journal.outcome.kind = OUTCOME_FINISHED;
	CHECK_INT(judge(), ==, STOP_PARKED);
	CHECK_HAS(text, "has finished");
	/* its Pod is being moved */
	CHECK_INT(judge_in("Terminating"), ==, STOP_PARKED);
	journal.outcome.kind = OUTCOME_FAILED;
	CHECK_INT(judge_in("Failed"), ==, STOP_PARKED);
	CHECK_HAS(text, "the reason");
	journal.outcome.kind = OUTCOME_NONE;
	journal.intent.state = DESIRED_SUSPENDED;
	CHECK_INT(judge_in("Suspended"), ==, STOP_PARKED);
	CHECK_HAS(text, "it is suspended");
	end();
}

TEST(a_stop_that_somebody_else_has_requested_is_awaited)
{
	begin(DESIRED_SUSPENDED, "Running");
	journal.intent.state = DESIRED_SUSPENDED;
	CHECK_INT(judge(), ==, STOP_WAIT);
	CHECK_INT(judge_in("Stopping"), ==, STOP_WAIT);
	CHECK_HAS(text, "already requested");
	CHECK_INT(judge_in("Suspended"), ==, STOP_PARKED);
	end();
}

TEST(a_hold_is_not_parked_except_by_do_not_restart)
{
	begin(DESIRED_SUSPENDED, "Holding");
	CHECK_INT(judge(), ==, STOP_HELD);
	CHECK_HAS(text, "the reason");
	journal.intent.do_not_restart = true;
	CHECK_INT(judge(), ==, STOP_PARKED);
	CHECK_HAS(text, "do-not-restart");
	end();
}

TEST(the_stop_is_done_with_its_savepoint)
{
	begin(DESIRED_SUSPENDED, "Running");
	request.asked = true;
	CHECK_INT(judge(), ==, STOP_WAIT);
	CHECK_HAS(text, "take the request");
	taken();
	journal.operation.kind = OPERATION_STOP;
	CHECK_INT(judge_in("Stopping"), ==, STOP_WAIT);
	CHECK_HAS(text, "stop with savepoint");
	journal.operation.kind = OPERATION_NONE;
	ended(OPERATION_STOP, REASON_SUSPEND, "s3://flink/sp/1", NULL);
	/* Flink is still ending */
	CHECK_INT(judge_in("Stopping"), ==, STOP_WAIT);
	CHECK_INT(judge_in("Suspended"), ==, STOP_DONE);
	CHECK_STR(text, "s3://flink/sp/1");
	end();
}

TEST(under_do_not_restart_a_stopped_job_is_held)
{
	begin(DESIRED_SUSPENDED, "Holding");
	taken();
	journal.intent.do_not_restart = true;
	ended(OPERATION_STOP, REASON_SUSPEND, "s3://flink/sp/1", NULL);
	CHECK_INT(judge(), ==, STOP_DONE);
	CHECK_STR(text, "s3://flink/sp/1");
	end();
}

TEST(a_stop_that_fails_is_a_failure)
{
	begin(DESIRED_SUSPENDED, "Running");
	taken();
	/* of an operation before */
	ended(OPERATION_STOP, REASON_SUSPEND, NULL, "the bucket is full");
	request.ended_before_unix_ms = journal.last_operation.ended_unix_ms;
	CHECK_INT(judge(), ==, STOP_WAIT);
	journal.last_operation.ended_unix_ms++;
	CHECK_INT(judge(), ==, STOP_FAILED);
	CHECK_STR(text, "the bucket is full");
	/* a periodic savepoint that fails is not the stop */
	ended(OPERATION_SAVEPOINT, REASON_PERIODIC, NULL, "the bucket is full");
	CHECK_INT(judge(), ==, STOP_WAIT);
	end();
}

TEST(suspended_without_a_savepoint_is_a_failure)
{
	begin(DESIRED_SUSPENDED, "Suspended");
	taken();
	CHECK_INT(judge(), ==, STOP_FAILED);
	CHECK_HAS(text, "before a savepoint was taken");
	/* that of an earlier suspension does not count */
	ended(OPERATION_STOP, REASON_SUSPEND, "s3://flink/sp/1", NULL);
	request.ended_before_unix_ms = journal.last_operation.ended_unix_ms;
	CHECK_INT(judge(), ==, STOP_FAILED);
	/* its result is still being looked for */
	journal.operation.kind = OPERATION_STOP;
	CHECK_INT(judge(), ==, STOP_WAIT);
	end();
}

TEST(a_job_that_finishes_meanwhile_needs_no_savepoint)
{
	begin(DESIRED_SUSPENDED, "Finished");
	taken();
	journal.outcome.kind = OUTCOME_FINISHED;
	CHECK_INT(judge(), ==, STOP_PARKED);
	end();
}

TEST(another_request_supersedes_it)
{
	begin(DESIRED_SUSPENDED, "Running");
	taken();
	journal.intent.state = DESIRED_RUNNING;
	CHECK_INT(judge(), ==, STOP_FAILED);
	CHECK_HAS(text, "superseded");
	journal.intent.state = DESIRED_CANCELLED;
	CHECK_INT(judge_in("Cancelled"), ==, STOP_PARKED);
	CHECK_HAS(text, "cancelled");
	end();
}

TEST(a_cancel_is_done_without_a_savepoint)
{
	begin(DESIRED_CANCELLED, "Cancelled");
	taken();
	CHECK_INT(judge(), ==, STOP_DONE);
	CHECK(!text);
	end();
}
