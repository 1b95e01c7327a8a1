/* Two dreys of one application, in two pods: what each of them does. Both together: test_lifecycle_rivals.c. */
#include <stdlib.h>

#include "life.h"

#define US      "orders-a/uid-1"
#define THEM    "orders-b/uid-2/b"
#define LOOK_MS 30000
#define WAIT_MS 35000

/* An agent in our pod; the last launch is as they have left it. */
static void begin_after(struct life *l, const char *writer, bool ended)
{
	struct launch *launch;

	life_begin(l);
	l->config.place = US;
	l->config.journal_check_ms = LOOK_MS;
	l->config.takeover_ms = WAIT_MS;
	xstrset(&l->life.journal.writer, US "/a");
	launch = journal_add_launch(&l->life.journal);
	snprintf(launch->job_id, JOB_ID_BYTES, "%s", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	launch->writer = xstrdup(writer);
	launch->started_unix_ms = launch->verified_unix_ms = launch->proven_unix_ms = 1;
	l->life.journal.ever_proven = true;
	if (ended)
		launch->ended_unix_ms = 2;
}

static void hello_as(struct life *l, const char *running, int64_t running_number, const char *last,
		     int64_t last_number)
{
	struct event e = {.type = EVENT_HELLO,
			  .hello = {.running = running,
				    .last = last,
				    .running_number = running_number,
				    .last_number = last_number}};

	step(l, &e);
}

static int64_t launched_after(struct life *l)
{
	int64_t begin_ms = l->now_ms;

	for (int i = 0; i < 300 && !took(l, EFFECT_LAUNCH); i++) {
		if (l->life.observing)
			observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
		if (!took(l, EFFECT_LAUNCH))
			pass(l, 1000);
	}
	return l->now_ms - begin_ms;
}

TEST(a_launch_of_another_pod_whose_end_nobody_saw_is_waited_for)
{
	struct life l;

	begin_after(&l, THEM, false);
	l.hold_writes = true;
	hello(&l, NULL);
	observed(&l, DECISION_START_FROM, CHK(1), 1, NULL);
	CHECK_PHASE(&l, PHASE_RESOLVING);
	CHECK_HAS(l.life.reason, "launch 1 of " THEM " may still be running");
	/* the wait begins with the first write of our own, whenever that is */
	pass(&l, 100000);
	CHECK(l.life.observing);
	observed(&l, DECISION_START_FROM, CHK(1), 1, NULL);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	l.hold_writes = false;
	written(&l);
	CHECK_INT(launched_after(&l), >=, WAIT_MS);
	CHECK_INT(took(&l, EFFECT_LAUNCH), ==, 1);
	CHECK_STR(journal_launch(&l.life.journal)->writer, US "/a");
	life_end(&l);

	/* an agent that comes in between begins the wait anew: it is not known when the other one began */
	begin_after(&l, THEM, false);
	hello(&l, NULL);
	pass(&l, 20000);
	restart_agent(&l);
	hello(&l, NULL);
	CHECK_INT(launched_after(&l), >=, WAIT_MS);
	life_end(&l);
}

/* The look took longer than the wait: what it has seen may have been removed by their Flink, and newer state made. */
TEST(facts_gathered_while_another_flink_may_live_start_nothing)
{
	struct life l;

	begin_after(&l, THEM, false);
	hello(&l, NULL);
	pass(&l, WAIT_MS + 2000);
	observed(&l, DECISION_START_FROM, CHK(1), 1, NULL);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK(l.life.observing);
	observed(&l, DECISION_START_FROM, CHK(7), 7, NULL);
	CHECK_INT(took(&l, EFFECT_LAUNCH), ==, 1);
	CHECK_STR(journal_launch(&l.life.journal)->restore_path, CHK(7));
	life_end(&l);

	/* nor do they settle an operation */
	begin_after(&l, THEM, false);
	l.life.journal.operation.kind = OPERATION_STOP;
	l.life.journal.operation.reason = REASON_SUSPEND;
	snprintf(l.life.journal.operation.job_id, JOB_ID_BYTES, "%s", job_of(&l));
	l.life.journal.intent.state = DESIRED_SUSPENDED;
	hello(&l, NULL);
	pass(&l, WAIT_MS + 2000);
	observed_settled(&l, DECISION_PARK, SETTLEMENT_FAILED, NULL);
	CHECK_INT(l.life.journal.operation.kind, ==, OPERATION_STOP);
	life_end(&l);
}

/* Their stop is in flight, and their Flink may still complete it. */
TEST(an_operation_of_another_pod_is_settled_when_its_flink_has_had_its_time)
{
	struct operation *operation;
	struct life l;

	begin_after(&l, THEM, false);
	operation = &l.life.journal.operation;
	operation->kind = OPERATION_STOP;
	operation->reason = REASON_SUSPEND;
	snprintf(operation->trigger_id, sizeof(operation->trigger_id), "%s", "7a2030");
	snprintf(operation->job_id, JOB_ID_BYTES, "%s", job_of(&l));
	l.life.journal.intent.state = DESIRED_SUSPENDED;
	hello(&l, NULL);
	observed_settled(&l, DECISION_PARK, SETTLEMENT_FAILED, NULL);
	CHECK_PHASE(&l, PHASE_SUSPENDED);
	CHECK_INT(operation->kind, ==, OPERATION_STOP);
	for (int i = 0; i < 100 && l.now_ms < WAIT_MS - 2000; i++) {
		pass(&l, 1000);
		if (l.life.observing)
			observed_settled(&l, DECISION_PARK, SETTLEMENT_FAILED, NULL);
		CHECK_INT(operation->kind, ==, OPERATION_STOP);
	}
	for (int i = 0; i < 300 && !l.life.observing; i++)
		pass(&l, 1000);
	observed_settled(&l, DECISION_PARK, SETTLEMENT_MADE, SAVEPOINT_1);
	CHECK_INT(operation->kind, ==, OPERATION_NONE);
	CHECK(l.life.journal.last_operation.ok);
	CHECK_PHASE(&l, PHASE_SUSPENDED);
	life_end(&l);
}

TEST(what_is_proven_dead_is_not_waited_for)
{
	struct life l;

	/* of this pod: its container has ended */
	begin_after(&l, US "/z", false);
	hello(&l, NULL);
	CHECK_INT(launched_after(&l), ==, 0);
	life_end(&l);
	/* its own drey has seen it end */
	begin_after(&l, THEM, true);
	hello(&l, NULL);
	CHECK_INT(launched_after(&l), ==, 0);
	life_end(&l);
	/* Flink's leader election keeps the other one out */
	begin_after(&l, THEM, false);
	l.config.takeover_ms = 0;
	hello(&l, NULL);
	CHECK_INT(launched_after(&l), ==, 0);
	life_end(&l);
	/* a journal of before: nobody knows whose it is */
	begin_after(&l, NULL, false);
	hello(&l, NULL);
	CHECK_INT(launched_after(&l), ==, 0);
	life_end(&l);
}

static void conflict(struct life *l)
{
	struct event e = {.type = EVENT_JOURNAL_FAILED,
			  .journal = {.sequence = l->life.requested,
				      .conflict = true,
				      .error = "written by another"}};

	step(l, &e);
}

/* The Pod before was deleted, and has written once more after this one has read the journal. */
TEST(who_never_owned_the_journal_loses_nothing_by_a_conflict)
{
	struct life l;

	begin_after(&l, THEM, true);
	l.hold_writes = true;
	hello(&l, NULL);
	observed(&l, DECISION_START_FROM, CHK(1), 1, NULL);
	CHECK_INT(took(&l, EFFECT_WRITE_JOURNAL), ==, 1);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	CHECK(lifecycle_is_newcomer(&l.life));
	/* once it was ours, another writer has taken it */
	l.hold_writes = false;
	written(&l);
	CHECK(!lifecycle_is_newcomer(&l.life));
	conflict(&l);
	CHECK(l.life.fenced);
	life_end(&l);

	/* a Flink that an agent before has launched runs here */
	begin_after(&l, US "/z", false);
	hello_as(&l, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 1, NULL, 0);
	CHECK_INT(l.life.launch_step, ==, LAUNCH_LIVE);
	CHECK(!lifecycle_is_newcomer(&l.life));
	life_end(&l);
}

TEST(an_agent_of_a_fenced_container_stays_fenced)
{
	struct event e = {.type = EVENT_HELLO, .hello.fenced = true};
	struct life l;

	/* by the note that the agent before has left */
	begin_after(&l, US "/z", true);
	step(&l, &e);
	CHECK(l.life.fenced);
	CHECK_PHASE(&l, PHASE_HOLDING);
	pass(&l, 600000);
	CHECK_NOTHING(&l, EFFECT_OBSERVE);
	CHECK_NOTHING(&l, EFFECT_WRITE_JOURNAL);
	life_end(&l);

	/* by the launch: another pod has decided one since, and this container has run one before */
	begin_after(&l, THEM, false);
	hello_as(&l, NULL, 0, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", 1);
	CHECK(l.life.fenced);
	CHECK_NOTHING(&l, EFFECT_OBSERVE);
	CHECK_NOTHING(&l, EFFECT_WRITE_JOURNAL);
	life_end(&l);
}

/* The agent crashed, and before it was back another pod began to take over: it waits, and has decided nothing yet. The
 * new agent reads a journal that is lost already. */
TEST(a_journal_that_another_pod_wrote_last_is_lost)
{
	static const struct {
		const char *writers[2];
		bool lost;
	} cases[] = {
		{{US "/y", THEM}, true},
		{{THEM, US "/y"}, false}, /* taken over in good order */
		{{US "/y"}, false},
		{{NULL}, false},
	};
	struct life l;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		begin_after(&l, US "/y", false);
		for (size_t k = 0; k < 2 && cases[i].writers[k]; k++)
			journal_add_writer(&l.life.journal, cases[i].writers[k]);
		hello_as(&l, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 1, NULL, 0);
		if (!CHECK_INT(l.life.fenced, ==, cases[i].lost))
			tap_note("case %zu", i);
		CHECK_INT(took(&l, EFFECT_SIGNAL), ==, cases[i].lost);
		CHECK_INT(took(&l, EFFECT_WRITE_JOURNAL), ==, !cases[i].lost);
		life_end(&l);
	}
	/* an old journal that was put back: nobody waits */
	begin_after(&l, THEM, true);
	journal_add_writer(&l.life.journal, THEM);
	hello_as(&l, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", 2, NULL, 0);
	CHECK(!l.life.fenced);
	CHECK_NOTHING(&l, EFFECT_SIGNAL);
	life_end(&l);

	/* whoever takes over itself has no Flink to end */
	begin_after(&l, THEM, false);
	journal_add_writer(&l.life.journal, THEM);
	hello(&l, NULL);
	CHECK(!l.life.fenced);
	CHECK_INT(launched_after(&l), >=, WAIT_MS - 1000);
	life_end(&l);
}

/* Both have one job id, because the later launch goes on with Flink's own HA data. */
TEST(a_launch_that_goes_on_elsewhere_is_not_the_one_that_runs_here)
{
	const char *job = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	struct life l;

	begin_after(&l, US "/z", false);
	snprintf(journal_add_launch(&l.life.journal)->job_id, JOB_ID_BYTES, "%s", job);
	hello_as(&l, job, 1, NULL, 0); /* by the number */
	CHECK(l.life.fenced);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	CHECK_NOTHING(&l, EFFECT_WRITE_JOURNAL);
	life_end(&l);

	begin_after(&l, THEM, false);
	hello_as(&l, job, 1, NULL, 0); /* by the writer */
	CHECK(l.life.fenced);
	CHECK_INT(took(&l, EFFECT_SIGNAL), ==, 1);
	life_end(&l);

	begin_after(&l, US "/z", false);
	hello_as(&l, job, 1, NULL, 0);
	CHECK(!l.life.fenced);
	CHECK_INT(l.life.launch_step, ==, LAUNCH_LIVE);
	life_end(&l);
}

/* The agent dies between the journal and drey-init, and what was to be launched has the job id of the one that has
 * just ended. */
TEST(a_launch_that_drey_init_was_never_asked_for_is_no_failed_attempt)
{
	const char *job = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	struct launch *next;
	struct life l;

	begin_after(&l, US "/z", true);
	next = journal_add_launch(&l.life.journal);
	snprintf(next->job_id, JOB_ID_BYTES, "%s", job);
	next->writer = xstrdup(US "/z");
	hello_as(&l, NULL, 0, job, 1);
	CHECK_INT(l.life.journal.failure_count, ==, 0);
	CHECK(journal_launch(&l.life.journal)->never_started);
	CHECK_INT(took(&l, EFFECT_OBSERVE), ==, 1);
	CHECK_INT(launched_after(&l), ==, 0);
	life_end(&l);

	/* it was asked for, and has ended */
	begin_after(&l, US "/z", false);
	hello_ended(&l, job, KILLED(SIGKILL));
	CHECK_INT(l.life.journal.failure_count, ==, 1);
	life_end(&l);
}

/* ---- the lease ---- */

static void run_strict(struct life *l)
{
	life_begin(l);
	l->config.place = US;
	l->config.journal_check_ms = 6000;
	l->config.lease_ms = 30000;
	xstrset(&l->life.journal.writer, US "/a");
	run_empty(l);
	prove(l, 1);
	forget(l);
}

TEST(every_look_at_the_journal_renews_the_lease_from_when_it_was_asked_for)
{
	struct life l;
	int64_t asked_ms;

	run_strict(&l);
	pass(&l, 60000);
	CHECK_INT(took(&l, EFFECT_LEASE), >=, 9);
	CHECK_PHASE(&l, PHASE_RUNNING);
	l.hold_checks = true;
	forget(&l);
	pass(&l, 6000);
	CHECK_INT(took(&l, EFFECT_CHECK_JOURNAL), ==, 1);
	asked_ms = l.life.check_sent_ms;
	pass(&l, 5000);
	CHECK_INT(took(&l, EFFECT_CHECK_JOURNAL), ==, 1); /* one at a time */
	journal_checked(&l, false);
	CHECK_INT(took(&l, EFFECT_LEASE), ==, 1);
	CHECK_INT(l.last[EFFECT_LEASE].until_ms, ==, asked_ms + 30000);
	/* a launch needs one, too */
	CHECK_INT(l.life.owned_ms, ==, asked_ms);
	life_end(&l);
}

TEST(a_journal_out_of_reach_ends_flink_before_the_lease_does)
{
	struct event unknown = {.type = EVENT_JOURNAL_SEEN, .journal.unknown = true};
	struct life l;
	int64_t asked_ms;

	run_strict(&l);
	pass(&l, 6000);
	l.hold_checks = true;
	asked_ms = l.life.owned_ms;
	while (l.now_ms < asked_ms + 26000) {
		pass(&l, 1000);
		step(&l, &unknown);
	}
	CHECK_NOTHING(&l, EFFECT_SIGNAL);
	pass(&l, 2000);
	CHECK_INT(took(&l, EFFECT_SIGNAL), >=, 1);
	CHECK_INT(l.last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	CHECK(l.last[EFFECT_SIGNAL].group);
	CHECK_HAS(l.life.reason, "fencing is strict");
	/* nobody has taken it: it goes on, without a failed attempt, as soon as the journal can be written */
	l.hold_writes = true;
	exited(&l, KILLED(SIGKILL));
	CHECK_INT(l.life.journal.failure_count, ==, 0);
	observed(&l, DECISION_START_FROM, CHK(1), 1, NULL);
	CHECK_NOTHING(&l, EFFECT_LAUNCH);
	forget(&l);
	l.hold_writes = false;
	written(&l);
	if (!took(&l, EFFECT_LAUNCH))
		written(&l);
	CHECK_INT(took(&l, EFFECT_LAUNCH), ==, 1);
	CHECK_INT(took(&l, EFFECT_LEASE), >=, 1);
	life_end(&l);

	/* as ever, where fencing is not strict */
	life_begin(&l);
	l.config.place = US;
	l.config.journal_check_ms = LOOK_MS;
	run_proven(&l);
	l.hold_checks = true;
	pass(&l, 3600000);
	CHECK_NOTHING(&l, EFFECT_SIGNAL);
	CHECK_NOTHING(&l, EFFECT_LEASE);
	life_end(&l);
}

/* The wall clock is only ever recorded. */
TEST(an_hour_more_or_less_on_the_wall_clock_changes_nothing)
{
	struct life l;

	for (int way = -1; way <= 1; way += 2) {
		begin_after(&l, THEM, false);
		hello(&l, NULL);
		pass(&l, 1000);
		l.wall_ms += way * 3600000;
		CHECK_INT(launched_after(&l), >=, WAIT_MS - 1000);
		CHECK_INT(l.now_ms, <, 2 * WAIT_MS);
		life_end(&l);

		run_strict(&l);
		l.hold_checks = true;
		l.wall_ms += way * 3600000;
		pass(&l, 20000);
		CHECK_NOTHING(&l, EFFECT_SIGNAL);
		l.wall_ms -= way * 3600000;
		pass(&l, 10000);
		CHECK_INT(took(&l, EFFECT_SIGNAL), >=, 1);
		life_end(&l);
	}
}
