/*
 * Each claim of lifecycle_check() is broken alone, in a machine in which all the others hold. That
 * they hold after every step is seen in life.h, for every other test of the life cycle.
 */
#include "life.h"

/* ---- places in the life of an application */

static void writing(struct life *l)
{
	life_begin(l);
	hello(l, NULL);
	l->hold_writes = true;
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
}

static void live(struct life *l)
{
	life_begin(l);
	hello(l, NULL);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	started(l);
}

static void running(struct life *l)
{
	live(l);
	viewed(l, job_restored(JOB_RUNNING, 50, SAVEPOINT_1));
}

static void saving(struct life *l)
{
	running(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
}

static void fenced(struct life *l)
{
	running(l);
	l->hold_writes = true;
	ask_savepoint(l, "n1");
	write_failed(l, true);
}

/* The machine is thrown away: nothing that follows would make sense. */
#define CHECK_BROKEN(l, what)                                                                      \
	do {                                                                                       \
		CHECK_STR(lifecycle_check(&(l)->life), (what));                                    \
		life_release(l);                                                                   \
	} while (0)

TEST(the_numbers_of_the_journal_writes_are_in_order)
{
	struct life l;

	running(&l);
	l.life.acknowledged++;
	CHECK_BROKEN(&l, "a journal write is acknowledged that was never requested");
	running(&l);
	l.life.journal.sequence++;
	CHECK_BROKEN(&l, "the journal does not have the number of the last requested write");
	running(&l);
	l.life.acknowledged -= 2;
	CHECK_BROKEN(&l, "two journal writes are in flight");
	running(&l);
	l.life.journal_retry_ms = l.now_ms + 1000;
	CHECK_BROKEN(&l, "a journal write is retried that has not failed");
}

TEST(what_waits_for_the_journal_waits_for_a_write_that_comes)
{
	struct life l;

	writing(&l);
	l.life.deferred.list[0].sequence = 0;
	l.life.want_write = false;
	CHECK_BROKEN(&l, "an effect waits for a journal write that never comes");
	writing(&l);
	l.life.acknowledged = l.life.requested;
	CHECK_BROKEN(&l, "an effect waits for a journal write that never comes");
}

TEST(a_launch_under_way_is_the_one_in_the_journal)
{
	struct life l;
	size_t count;

	live(&l);
	count = l.life.journal.launch_count;
	l.life.journal.launch_count = 0;
	CHECK_STR(lifecycle_check(&l.life), "the launch in progress is not in the journal");
	l.life.journal.launch_count = count;
	life_release(&l);
	writing(&l);
	journal_launch(&l.life.journal)->ended_unix_ms = UNIX_START;
	CHECK_BROKEN(&l, "the launch in progress has ended according to the journal");
	live(&l);
	journal_launch(&l.life.journal)->started_unix_ms = 0;
	CHECK_BROKEN(&l, "Flink is running, but the journal has no start of it");
	writing(&l);
	l.life.journal.outcome.kind = OUTCOME_FINISHED;
	CHECK_BROKEN(&l, "a launch is in progress although the journal has an outcome");
	writing(&l);
	effects_clear(&l.life.deferred);
	CHECK_BROKEN(&l,
		     "the launch that waits for its journal write is not the one being written");
}

TEST(a_launch_is_under_way_only_in_phases_that_have_one)
{
	struct life l;

	live(&l);
	l.life.phase = PHASE_HOLDING;
	l.life.cause = CAUSE_HA_UNREADABLE;
	CHECK_BROKEN(&l, "a launch is in progress in a phase that has none");
	live(&l);
	l.life.phase = PHASE_SUSPENDED;
	l.life.fenced = true;
	CHECK_BROKEN(&l, "the phase is parked, but a launch is in progress");
	live(&l);
	l.life.launch_step = LAUNCH_STARTING;
	l.life.phase = PHASE_RUNNING;
	CHECK_BROKEN(&l, "the job is running, but no Flink is");
}

TEST(an_unknown_flink_is_not_ours)
{
	struct life l;

	live(&l);
	l.life.foreign = true;
	CHECK_BROKEN(&l, "the running Flink is both ours and unknown, or has no id");
}

TEST(only_a_flink_that_runs_can_end_and_something_ends_it)
{
	struct life l;

	life_begin(&l);
	hello(&l, NULL);
	l.life.end_wanted = true;
	CHECK_BROKEN(&l, "Flink must end, but none is running");
	running(&l);
	l.life.end_wanted = true;
	CHECK_BROKEN(&l, "Flink must end, but nothing ends it");
	life_begin(&l);
	hello(&l, NULL);
	l.life.kill_ms = l.now_ms + 1000;
	CHECK_BROKEN(&l, "Flink must be killed, but none is running");
}

TEST(an_operation_under_way_is_the_one_in_the_journal)
{
	struct life l;

	running(&l);
	l.life.operation.step = STEP_WRITING;
	CHECK_BROKEN(&l, "the operation in flight is not in the journal");
	saving(&l);
	l.life.journal.operation.trigger_id[0] = 0;
	CHECK_BROKEN(&l, "the operation in flight has no trigger id");
	saving(&l);
	l.life.journal.operation.kind = OPERATION_CANCEL;
	CHECK_BROKEN(&l, "the operation in flight is in a step of another kind");
	saving(&l);
	l.life.journal.operation.job_id[0] ^= 1;
	CHECK_BROKEN(&l, "the operation in flight belongs to another job than the running one");
	saving(&l);
	l.life.launch_step = LAUNCH_STARTING;
	CHECK_BROKEN(&l, "something is asked of Flink, but none is running");
}

TEST(an_operation_has_what_its_step_needs)
{
	struct life l;

	saving(&l);
	l.life.operation.step = STEP_SETTLING;
	CHECK_BROKEN(&l, "a Flink was started before the last one's operation was settled");
	saving(&l);
	l.life.operation.step = STEP_INSPECTING;
	CHECK_BROKEN(&l, "the savepoint being inspected has no path");
	running(&l);
	l.life.operation.asking = true;
	CHECK_BROKEN(&l, "an answer is awaited, but nothing is asked");
	running(&l);
	l.life.operation.poll_ms = l.now_ms + 1000;
	CHECK_BROKEN(&l, "Flink is asked for the result of nothing");
	running(&l);
	l.life.operation.deadline_ms = l.now_ms + 1000;
	CHECK_BROKEN(&l, "an answer is awaited, but nothing is asked");
	running(&l);
	l.hold_writes = true;
	ask_savepoint(&l, "n1");
	l.life.deferred.list[0].id[0] ^= 1;
	CHECK_BROKEN(&l, "a request waits for the journal that is not in flight");
}

TEST(what_is_not_started_has_a_cause_and_goes_on)
{
	struct life l;

	life_begin(&l);
	hello(&l, NULL);
	observed(&l, DECISION_HOLD, NULL, 0, NULL);
	l.life.cause = CAUSE_NONE;
	CHECK_BROKEN(&l, "there is no launch and no cause");
	life_begin(&l);
	hello(&l, NULL);
	l.life.observing = false;
	CHECK_BROKEN(&l, "resolving, but no observation or retry is planned");
	running(&l);
	l.life.observe_again = true;
	CHECK_BROKEN(&l, "an observation is repeated that is not in flight");
}

TEST(the_container_ends_only_when_it_is_stopped)
{
	struct life l;

	running(&l);
	l.life.phase = PHASE_TERMINATING;
	CHECK_BROKEN(&l, "the container is ending without a request");
	running(&l);
	l.life.left = true;
	CHECK_BROKEN(&l, "drey has left without a request");
	running(&l);
	l.life.exit_ms = l.now_ms + 1000;
	CHECK_BROKEN(&l, "the container must exit while Flink is running");
	running(&l);
	l.life.look_ms = l.now_ms + 1000;
	CHECK_BROKEN(&l, "the end of the container is prepared, but it is not ending");
}

TEST(a_drey_without_the_journal_does_nothing_but_kill_its_flink)
{
	struct life l;

	fenced(&l);
	l.life.deferred.list[l.life.deferred.count++] = (struct effect){.type = EFFECT_DISPOSE};
	l.life.want_write = true;
	CHECK_BROKEN(&l, "another drey owns the journal, but an effect waits for a write to it");
	fenced(&l);
	l.life.requested = ++l.life.journal.sequence;
	CHECK_BROKEN(&l, "another drey owns the journal, but it is being written");
	fenced(&l);
	l.life.kill_ms = 0;
	l.life.end_wanted = false;
	CHECK_BROKEN(&l, "another drey owns the journal, but Flink keeps running");
	fenced(&l);
	l.life.cause = CAUSE_HA_UNREADABLE;
	CHECK_BROKEN(&l, "another drey owns the journal, but the phase does not show it");
	fenced(&l);
	l.life.poll_ms = l.now_ms + 1000;
	CHECK_BROKEN(&l, "another drey owns the journal, but work is planned");
}

TEST(nothing_is_planned_for_a_flink_that_does_not_run)
{
	struct life l;

	life_begin(&l);
	hello(&l, NULL);
	l.life.polling = true;
	CHECK_BROKEN(&l, "the job is polled, but no Flink is running");
	life_begin(&l);
	hello(&l, NULL);
	l.life.ready_ms = l.now_ms + 1000;
	CHECK_BROKEN(&l, "the tasks have a deadline, but no Flink is running");
	life_begin(&l);
	hello(&l, NULL);
	l.life.savepoint_ms = l.now_ms + 1000;
	CHECK_BROKEN(&l,
		     "a savepoint or a check of the journal is planned, but no Flink is running");
	life_begin(&l);
	hello(&l, NULL);
	l.life.lease_end_ms = l.now_ms + 1000;
	CHECK_BROKEN(&l, "a lease is running, but no Flink is");
	life_begin(&l);
	hello(&l, NULL);
	l.life.disposal.step = STEP_TRIGGERING;
	CHECK_BROKEN(&l, "something is asked of Flink, but none is running");
	running(&l);
	l.life.deferred.list[l.life.deferred.count++] = (struct effect){.type = EFFECT_DISPOSE};
	l.life.want_write = true;
	CHECK_BROKEN(&l, "a request waits for the journal that is not in flight");
}

/* ---- a machine that contradicts itself holds ---- */

static void contradicts(struct life *l)
{
	running(l);
	l->any_event = true;
	forget(l);
	l->life.journal.launches[0].started_unix_ms = 0;
	viewed(l, job_in(JOB_FAILED)); /* Flink would be ended now */
}

TEST(a_machine_that_contradicts_itself_says_so_once_and_does_nothing)
{
	struct life l;

	contradicts(&l);
	CHECK_STR(l.life.contradiction, "Flink is running, but the journal has no start of it");
	CHECK_STR(phase_name(l.life.phase), "Holding");
	CHECK_INT(l.life.cause, ==, CAUSE_INTERNAL_ERROR);
	CHECK(lifecycle_is_inert(&l.life));
	CHECK(!lifecycle_awaits(&l.life, EFFECT_SIGNAL, ""));
	CHECK_HAS(l.life.reason, "after the event 'view' in phase Running: Flink is running, but");
	CHECK_HAS(l.told, "phase:Holding");
	CHECK_STR(l.order, "");
	CHECK_INT(l.last[EFFECT_NOTE].level, ==, NOTE_ERROR);
	forget(&l);
	desire(&l, DESIRED_CANCELLED);
	ask_savepoint(&l, "n1");
	exited(&l, KILLED(SIGKILL));
	pass(&l, 3600000);
	stopping(&l, 60000);
	CHECK_STR(l.order, "");
	CHECK_STR(l.notes, "");
	life_release(&l);
}

TEST(what_waits_for_the_journal_does_not_come_out_of_a_contradiction)
{
	struct life l;

	writing(&l);
	l.any_event = true;
	l.life.journal.outcome.kind = OUTCOME_FINISHED;
	forget(&l);
	written(&l);
	CHECK_INT(took(&l, EFFECT_LAUNCH), ==, 0);
	CHECK_INT(l.life.deferred.count, ==, 0);
	life_release(&l);
}

TEST(a_contradiction_does_not_keep_a_flink_alive_that_another_drey_has_replaced)
{
	struct life l;

	running(&l);
	l.any_event = true;
	l.config.journal_check_ms = 20000;
	l.life.journal.launches[0].started_unix_ms = 0;
	l.hold_checks = true;
	viewed(&l, job_in(JOB_RUNNING));
	forget(&l);
	pass(&l, 20000);
	CHECK_INT(took(&l, EFFECT_CHECK_JOURNAL), ==, 1);
	journal_checked(&l, false);
	pass(&l, 20000);
	CHECK_INT(took(&l, EFFECT_CHECK_JOURNAL), ==, 2);
	write_failed(&l, true);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l.last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	CHECK_INT(l.life.cause, ==, CAUSE_JOURNAL_TAKEN);
	life_release(&l);
}
