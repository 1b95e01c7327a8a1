/* What the life cycle says has happened: in which step, and how often. */
#include "core/lifecycle/notice.h"

#include <stdlib.h>
#include <string.h>

#include "life.h"

/* What was told since the last call. */
#define CHECK_TOLD(l, words)                                                                       \
	do {                                                                                       \
		CHECK_STR((l)->told, words);                                                       \
		forget(l);                                                                         \
	} while (0)

/* The first notice of this type in the effects of one step; the caller releases it. */
static struct notice notice_of(struct life *l, const struct event *event, enum notice_type type)
{
	struct effects out = {0};
	struct notice found = {.type = NOTICE_COUNT};

	lifecycle_step(&l->life, event, l->now_ms, UNIX_START + l->now_ms, &out);
	for (size_t i = 0; i < out.count && found.type == NOTICE_COUNT; i++)
		if (out.list[i].type == EFFECT_TELL && out.list[i].notice.type == type) {
			found = out.list[i].notice;
			out.list[i].notice.path = out.list[i].notice.text = NULL;
		}
	effects_clear(&out);
	return found;
}

LIFE_TEST(each_step_of_a_launch_is_told_when_it_happens)
{
	hello(l, NULL);
	CHECK_TOLD(l, "");
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	CHECK_TOLD(l, "phase:Launching");
	started(l);
	CHECK_TOLD(l, "");
	viewed(l, job_in(JOB_RUNNING));
	CHECK_TOLD(l, "restore-verified phase:Running");
	prove(l, 1);
	CHECK_TOLD(l, "proven");
	prove(l, 2);
	pass(l, 60000);
	CHECK_TOLD(l, "");
}

TEST(what_was_restored_is_named)
{
	struct life l;
	struct view view = job_restored(JOB_RUNNING, 50, SAVEPOINT_1);
	struct event event = {.type = EVENT_VIEW};
	struct notice notice;

	life_begin(&l);
	hello(&l, NULL);
	observed(&l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	started(&l);
	event.view = view;
	notice = notice_of(&l, &event, NOTICE_RESTORE_VERIFIED);
	CHECK_STR(notice.path, SAVEPOINT_1);
	CHECK_INT(notice.restored, ==, SNAPSHOT_SAVEPOINT);
	CHECK_INT(notice.launch, ==, 1);
	notice_release(&notice);
	life_release(&l);
}

/* Its statistics come late: an empty start is looked at until it has a checkpoint of its own. */
LIFE_TEST(an_empty_start_that_is_verified_again_is_told_once)
{
	struct view view;
	char own[128];

	run_empty(l);
	forget(l);
	snprintf(own, sizeof(own), "file:/cp/%s/chk-1", job_of(l));
	view = job_restored(JOB_RUNNING, 1, own);
	viewed(l, view);
	viewed(l, view);
	CHECK_TOLD(l, "");
}

TEST(an_operation_is_told_when_it_is_over)
{
	struct life l;
	struct event event = {.type = EVENT_INSPECTED,
			      .inspected = {.path = SAVEPOINT_1,
					    .readable = true,
					    .complete = true,
					    .checkpoint_id = 50}};
	struct notice notice;

	life_begin(&l);
	run_proven(&l);
	ask_savepoint(&l, "n1");
	operation(&l, STATUS_ACCEPTED, NULL, NULL);
	l.now_ms += 2500;
	operation(&l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	CHECK_TOLD(&l, "");
	notice = notice_of(&l, &event, NOTICE_OPERATION);
	CHECK_INT(notice.kind, ==, OPERATION_SAVEPOINT);
	CHECK_INT(notice.reason, ==, REASON_MANUAL);
	CHECK(notice.ok);
	CHECK_INT(notice.took_ms, ==, 2500);
	CHECK_STR(notice.path, SAVEPOINT_1);
	CHECK(!notice.text);
	notice_release(&notice);
	life_release(&l);
}

TEST(an_operation_that_failed_says_why)
{
	struct life l;
	char id[JOB_ID_BYTES];
	struct event event = {.type = EVENT_OPERATION,
			      .operation = {.trigger_id = id,
					    .status = STATUS_FAILED,
					    .error = "Checkpoint expired"}};
	struct notice notice;

	life_begin(&l);
	run_proven(&l);
	ask_savepoint(&l, "n1");
	memcpy(id, trigger_of(&l), JOB_ID_BYTES);
	notice = notice_of(&l, &event, NOTICE_OPERATION);
	CHECK(!notice.ok);
	CHECK(!notice.path);
	CHECK_STR(notice.text, "Checkpoint expired");
	notice_release(&notice);
	life_release(&l);
}

/* Flink dies under a cancel, and a savepoint that was asked for meanwhile finds no job. */
LIFE_TEST(two_operations_that_end_in_one_step_are_two)
{
	run_proven(l);
	desire(l, DESIRED_CANCELLED);
	CHECK_TOLD(l, "phase:Stopping");
	ask_savepoint(l, "n1");
	CHECK_TOLD(l, "");
	exited(l, KILLED(9));
	CHECK_TOLD(l, "operation attempt-failed operation phase:Cancelled ended:Cancelled");
}

LIFE_TEST(each_failed_attempt_is_told_and_the_last_one_is_the_end)
{
	hello(l, NULL);
	for (int i = 0; i < 2; i++) {
		observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
		CHECK_TOLD(l, "phase:Launching");
		launch_failed(l);
		CHECK_TOLD(l, "attempt-failed phase:Resolving");
		pass(l, 60000);
	}
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	forget(l);
	launch_failed(l);
	CHECK_TOLD(l, "attempt-failed phase:Failed ended:Failed");
	pass(l, 3600000);
	CHECK_TOLD(l, "");
}

/* After the stop the machine resolves, and is parked in the same step. */
TEST(a_phase_that_a_step_passes_through_is_not_told)
{
	struct life l;
	struct event event = {.type = EVENT_EXITED};
	struct notice notice;

	life_begin(&l);
	run_proven(&l);
	viewed(&l, job_in(JOB_FINISHED));
	pass(&l, 20000);
	viewed(&l, job_in(JOB_FINISHED));
	CHECK_TOLD(&l, "phase:Stopping");
	event.process.launch_id = job_of(&l);
	event.process.meaning = "it ended";
	notice = notice_of(&l, &event, NOTICE_PHASE);
	CHECK_STR(phase_name(notice.from), "Stopping");
	CHECK_STR(phase_name(notice.phase), "Finished");
	CHECK_STR(cause_name(notice.cause), "Finished");
	CHECK_STR(notice.text, l.life.reason);
	CHECK(!notice.known);
	notice_release(&notice);
	life_release(&l);
}

LIFE_TEST(another_cause_of_the_same_phase_is_told)
{
	struct facts facts = {0};
	struct decision decision = {
		.kind = DECISION_HOLD, .cause = CAUSE_STORAGE_UNREADABLE, .reason = "because"};
	struct event event = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};

	hello(l, NULL);
	step(l, &event);
	CHECK_TOLD(l, "phase:Holding");
	pass(l, 60000);
	step(l, &event);
	CHECK_TOLD(l, "");
	pass(l, 60000);
	decision.cause = CAUSE_STATE_TOO_OLD;
	step(l, &event);
	CHECK_TOLD(l, "phase:Holding");
}

LIFE_TEST(the_next_agent_does_not_repeat_what_is_on_record)
{
	run_proven(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	restart_agent(l);
	hello(l, job_of(l));
	CHECK_TOLD(l, "known-phase:Launching");
	prove(l, 2);
	CHECK_TOLD(l, "phase:Running");
}

/* So it is also told what has happened when no agent looked. */
LIFE_TEST(the_next_agent_tells_what_it_finds_out_at_its_start)
{
	char job[JOB_ID_BYTES];

	l->config.max_attempts = 1;
	run_proven(l);
	snprintf(job, sizeof(job), "%s", job_of(l));
	restart_agent(l);
	hello_ended(l, job, KILLED(9));
	CHECK_TOLD(l, "attempt-failed phase:Failed ended:Failed");
}

LIFE_TEST(an_end_is_told_once_over_all_agents)
{
	run_proven(l);
	desire(l, DESIRED_CANCELLED);
	exited(l, EXITED(0));
	CHECK_TOLD(l, "phase:Stopping operation phase:Cancelled ended:Cancelled");
	restart_agent(l);
	hello(l, NULL);
	CHECK_TOLD(l, "known-phase:Cancelled");
	/* and another container */
	stopping(l, 30000);
	restart_agent(l);
	hello(l, NULL);
	CHECK_TOLD(l, "known-phase:Cancelled");
}

/* The outcome is on record, and everything dies before Flink has ended: it was not told yet. */
LIFE_TEST(an_end_that_was_cut_short_is_told_by_the_next_agent)
{
	run_proven(l);
	viewed(l, job_in(JOB_FINISHED));
	pass(l, 20000);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_TOLD(l, "phase:Stopping");
	restart_agent(l);
	hello(l, NULL);
	CHECK_TOLD(l, "phase:Finished ended:Finished");
}

LIFE_TEST(the_same_end_after_a_new_start_is_another_one)
{
	l->config.max_attempts = 1;
	hello(l, NULL);
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	launch_failed(l);
	CHECK_TOLD(l, "phase:Launching attempt-failed phase:Failed ended:Failed");
	control(l, CONTROL_STATE | CONTROL_NEW_START, (struct intent){0});
	CHECK_TOLD(l, "phase:Resolving");
	observed(l, DECISION_START_EMPTY, NULL, 0, NULL);
	launch_failed(l);
	CHECK_TOLD(l, "phase:Launching attempt-failed phase:Failed ended:Failed");
}

LIFE_TEST(a_fence_is_told_once)
{
	struct event again = {.type = EVENT_HELLO, .hello.fenced = true};
	char job[JOB_ID_BYTES];

	run_proven(l);
	l->hold_writes = true;
	ask_savepoint(l, "n1");
	write_failed(l, true);
	CHECK_STR(l->told, "phase:Holding fenced");
	snprintf(job, sizeof(job), "%s", job_of(l));
	restart_agent(l);
	again.hello.running = job;
	step(l, &again);
	CHECK_TOLD(l, "known-phase:Holding");
}
