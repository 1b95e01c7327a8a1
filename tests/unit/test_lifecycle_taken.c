/* The job was handed over to this pod: it takes it, and runs it, or gives it back. */
#include "handover_life.h"

static void check_returned(struct life *l)
{
	CHECK_HANDOVER(l, HANDOVER_RETURNED);
	check_on_record(l, HANDOVER_RETURNED, "old");
	CHECK_INT(l->life.journal.owner.side, ==, SIDE_BLUE);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_NONE);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
	CHECK_INT(handover_of(l)->tries, ==, 1);
	forget(l);
	pass(l, 600000);
	CHECK_NOTHING(l, EFFECT_WRITE_JOURNAL);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
}

static bool takes_over(const struct life *l)
{
	return l->life.takeover_pending || l->life.takeover_ms > l->life.now_ms;
}

/* ---- taken, and Flink says nothing ---- */

static void stay_silent(struct life *l, int64_t ms)
{
	struct view silence = {.silence = "the certificate is not trusted"};

	for (int64_t end_ms = l->now_ms + ms; l->now_ms < end_ms;) {
		viewed(l, silence);
		pass(l, 5000);
		reserve_beats(l);
	}
}

static void taken_silently(struct life *l)
{
	taken_begin(l);
	l->config.ready_deadline_ms = 3600000;
	l->life.ready_ms = 0;
	l->hold_signs = true;
	forget(l);
	stay_silent(l, l->config.handover.run_ms + 1000);
	CHECK_INT(took(l, EFFECT_SIGNS), ==, 1);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

LIFE_TEST_FROM(taken_silently, a_job_that_shows_nothing_is_returned_after_the_deadline)
{
	signs_show(l, SIGNS_NONE, "");
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_HAS(l->life.reason, "handover.runDeadline");
}

LIFE_TEST_FROM(taken_silently, a_job_that_lives_is_not_returned)
{
	for (int i = 0; i < 3; i++) {
		signs_show(l, SIGNS_ALIVE, "checkpoint 51 was completed");
		CHECK_INT(l->life.cause, ==, CAUSE_CLUSTER_UNREACHABLE);
		forget(l);
		stay_silent(l, l->config.handover.run_ms + 6000);
		CHECK_INT(took(l, EFFECT_SIGNS), ==, 1);
		CHECK_NOTHING(l, EFFECT_SIGNAL);
		CHECK_HANDOVER(l, HANDOVER_TAKEN);
	}
}

LIFE_TEST_FROM(taken_silently, nor_one_of_which_not_everything_can_be_read)
{
	signs_show(l, SIGNS_UNREADABLE, "403");
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_HAS(l->life.reason, "403");
}

/* ---- taken ---- */

LIFE_TEST_FROM(granted_begin, taking_is_one_write_and_nothing_starts_before_it)
{
	agent_of(l, &new_pod, "g2");
	l->hold_writes = true;
	claims(l, CLAIM_TAKE, NULL);
	CHECK_INT(took(l, EFFECT_WRITE_JOURNAL), ==, 1);
	starts(l);
	pass(l, 10000);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	written(l);
	check_on_record(l, HANDOVER_TAKEN, "new");
	if (!took(l, EFFECT_LAUNCH))
		written(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
}

LIFE_TEST_FROM(granted_begin, who_loses_the_write_of_its_take_starts_nothing)
{
	agent_of(l, &new_pod, "g2");
	l->hold_writes = true;
	claims(l, CLAIM_TAKE, NULL);
	starts(l);
	write_failed(l, true);
	CHECK(l->life.fenced);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
}

LIFE_TEST_FROM(take_begin, a_flink_that_is_held_is_let_go_under_its_own_ids)
{
	const struct launch *launch;

	/* no agent was away, and nothing ended unseen */
	CHECK_HAS(l->life.reason, "the job was handed over to this pod");
	l->hold_writes = true;
	starts(l);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	written(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	launch = journal_launch_const(&l->life.journal);
	CHECK(launch->held);
	CHECK_STR(launch->job_id, HELD_ID);
	CHECK_STR(launch->application_id, APP_ID);
	CHECK_STR(launch->restore_path, SAVEPOINT_1);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
}

/* Seed 7953 of the simulator, --world handover: drey-init had no lease, or that of a job before. */
LIFE_TEST_FROM(take_begin, a_new_agent_tells_the_lease_before_it_lets_go_what_is_held)
{
	struct event e = {.type = EVENT_HELLO, .hello = {.running = HELD_ID, .claim = CLAIM_OWN}};

	l->config.lease_ms = 30000;
	l->config.journal_check_ms = 6000;
	starts(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	restart_agent(l);
	step(l, &e);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_INT(took(l, EFFECT_LEASE), ==, 1);
	CHECK_INT(l->last[EFFECT_LEASE].until_ms, ==, l->now_ms + 30000);
	/* without fencing: strict there is none */
	l->config.lease_ms = 0;
	restart_agent(l);
	step(l, &e);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_NOTHING(l, EFFECT_LEASE);
}

LIFE_TEST_FROM(cold_begin, without_a_held_flink_it_starts_as_always)
{
	starts(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK(!journal_launch_const(&l->life.journal)->held);
}

LIFE_TEST_FROM(take_begin, what_continues_is_not_for_the_held_flink)
{
	observed(l, DECISION_CONTINUE, CHK(1), 1, NULL);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_STR(l->last[EFFECT_SIGNAL].id, HELD_ID);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	CHECK(l->last[EFFECT_SIGNAL].group);
	CHECK_PHASE(l, PHASE_HOLDING);
}

static void held_exits(struct life *l)
{
	struct event e = {.type = EVENT_EXITED,
			  .process = {.launch_id = HELD_ID, .meaning = "killed"}};

	e.process.wait_status = KILLED(SIGKILL);
	step(l, &e);
}

LIFE_TEST_FROM(take_begin, a_held_flink_that_dies_before_the_write_is_replaced)
{
	l->hold_writes = true;
	starts(l);
	held_exits(l);
	l->hold_writes = false;
	written(l);
	starts(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK(!journal_launch_const(&l->life.journal)->held);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
	CHECK_HANDOVER(l, HANDOVER_TAKEN);
}

/* seeds 1033973 and 1049884 of the simulator */
LIFE_TEST_FROM(take_begin, a_held_flink_that_dies_after_the_journal_was_lost_changes_nothing)
{
	l->hold_writes = true;
	starts(l);
	write_failed(l, true);
	CHECK_STR(l->last[EFFECT_SIGNAL].id, HELD_ID);
	held_exits(l);
	CHECK_PHASE(l, PHASE_HOLDING);
	CHECK_INT(l->life.cause, ==, CAUSE_JOURNAL_TAKEN);
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
}

LIFE_TEST_FROM(take_begin, a_held_flink_that_dies_while_the_container_ends_lets_it_end)
{
	l->hold_writes = true;
	starts(l);
	stopping_for(l, GRACE_MS, UPGRADE_NO);
	held_exits(l);
	l->hold_writes = false;
	written(l);
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
}

/* The container would end with it alive. */
LIFE_TEST_FROM(take_begin, who_is_fenced_while_the_container_ends_waits_for_the_held_flink)
{
	l->hold_writes = true;
	starts(l);
	stopping_for(l, GRACE_MS, UPGRADE_NO);
	CHECK_STR(l->last[EFFECT_SIGNAL].id, HELD_ID);
	write_failed(l, true);
	CHECK(l->life.fenced);
	CHECK_NOTHING(l, EFFECT_EXIT);
	held_exits(l);
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
}

LIFE_TEST_FROM(take_begin, a_held_flink_that_dies_when_it_was_let_go_is_a_failed_start)
{
	starts(l);
	held_exits(l);
	check_returned(l);
}

LIFE_TEST_FROM(take_begin, a_new_agent_lets_it_go_again)
{
	struct event e = {.type = EVENT_HELLO, .hello = {.running = HELD_ID, .claim = CLAIM_OWN}};

	starts(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	restart_agent(l);
	step(l, &e);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_STR(job_of(l), HELD_ID);
	started(l);
	viewed(l, restored(JOB_RUNNING, 50));
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_HANDOVER(l, HANDOVER_DONE);
}

/* The agent died between the write that forbids the launch and the one that withdraws it. */
static void forbidden_since(struct life *l, enum desired_state state, bool do_not_restart_on)
{
	struct event e = {.type = EVENT_HELLO, .hello = {.running = HELD_ID, .claim = CLAIM_OWN}};

	starts(l);
	restart_agent(l);
	l->life.journal.intent.state = state;
	l->life.journal.intent.do_not_restart = do_not_restart_on;
	forget(l);
	step(l, &e);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, 143 << 8);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
}

LIFE_TEST_FROM(take_begin, a_new_agent_lets_nothing_go_while_do_not_restart_is_on)
{
	forbidden_since(l, DESIRED_RUNNING, true);
	CHECK_PHASE(l, PHASE_HOLDING);
}

LIFE_TEST_FROM(take_begin, a_new_agent_lets_nothing_go_that_was_cancelled)
{
	forbidden_since(l, DESIRED_CANCELLED, false);
	CHECK_PHASE(l, PHASE_CANCELLED);
}

LIFE_TEST_FROM(take_begin, a_new_agent_that_finds_it_held_before_a_launch_uses_it)
{
	struct event e = {.type = EVENT_HELLO, .hello = {.held = HELD_ID, .claim = CLAIM_OWN}};

	restart_agent(l);
	step(l, &e);
	starts(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK(journal_launch_const(&l->life.journal)->held);
}

/* The launch of the pod that has granted the job has ended; one that took the job before may live. */
LIFE_TEST_FROM(take_begin, a_new_agent_does_not_wait_for_the_flink_whose_job_was_granted)
{
	struct event e = {.type = EVENT_HELLO, .hello = {.held = HELD_ID, .claim = CLAIM_OWN}};
	static const char *const writers[] = {"old/uold/a", "other/uother/a"};

	for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
		l->config.place = "new/unew";
		l->config.takeover_ms = 35000;
		restart_agent(l);
		xstrset(&journal_launch(&l->life.journal)->writer, writers[i]);
		journal_launch(&l->life.journal)->ended_unix_ms = 0;
		step(l, &e);
		CHECK_INT(takes_over(l), ==, i > 0);
	}
}

/* ---- done ---- */

LIFE_TEST_FROM(taken_begin, it_is_done_when_it_runs_from_the_decided_state)
{
	viewed(l, job_in(JOB_RUNNING)); /* the restore is not shown yet */
	CHECK_HANDOVER(l, HANDOVER_TAKEN);
	viewed(l, restored(JOB_RUNNING, 50));
	CHECK_HANDOVER(l, HANDOVER_DONE);
	check_on_record(l, HANDOVER_DONE, "new");
	exited(l, KILLED(SIGKILL)); /* from now on it is its own matter */
	CHECK_HANDOVER(l, HANDOVER_DONE);
	CHECK_NOTHING(l, EFFECT_STAND_DOWN);
}

LIFE_TEST_FROM(taken_begin, what_fails_in_its_probation_is_returned)
{
	l->config.handover.probation_ms = 60000;
	viewed(l, restored(JOB_RUNNING, 50));
	CHECK_HANDOVER(l, HANDOVER_DONE);
	pass(l, 59000);
	reserve_beats(l);
	exited(l, EXITED(1));
	check_returned(l);
}

/* Fails 59 s after it is done, and after `restart_ms` the agent has restarted. */
static void fail_late(struct life *l, int64_t restart_ms)
{
	char id[JOB_ID_BYTES];
	struct event e = {.type = EVENT_HELLO, .hello = {.running = id, .claim = CLAIM_OWN}};

	snprintf(id, JOB_ID_BYTES, "%s", job_of(l));
	viewed(l, restored(JOB_RUNNING, 50));
	pass(l, restart_ms);
	restart_agent(l);
	step(l, &e);
	viewed(l, restored(JOB_RUNNING, 50));
	pass(l, 59000 - restart_ms);
	reserve_beats(l);
	exited(l, EXITED(1));
}

LIFE_TEST_FROM(taken_begin, an_agent_that_restarts_goes_on_with_the_probation)
{
	l->config.handover.probation_ms = 60000;
	fail_late(l, 30000);
	check_returned(l);
}

LIFE_TEST_FROM(taken_begin, an_agent_that_restarts_does_not_begin_the_probation_anew)
{
	l->config.handover.probation_ms = 58000;
	fail_late(l, 30000);
	CHECK_HANDOVER(l, HANDOVER_DONE);
}

LIFE_TEST_FROM(taken_begin, a_clock_that_was_set_back_makes_no_probation_longer)
{
	l->config.handover.probation_ms = 28000;
	viewed(l, restored(JOB_RUNNING, 50));
	l->wall_ms = -100000;
	fail_late(l, 30000);
	CHECK_HANDOVER(l, HANDOVER_DONE);
}

LIFE_TEST_FROM(taken_begin, after_its_probation_nothing_is_returned)
{
	l->config.handover.probation_ms = 60000;
	viewed(l, restored(JOB_RUNNING, 50));
	pass(l, 60000);
	reserve_beats(l);
	exited(l, EXITED(1));
	CHECK_HANDOVER(l, HANDOVER_DONE);
	CHECK_NOTHING(l, EFFECT_STAND_DOWN);
}

LIFE_TEST_FROM(take_begin, what_is_parked_waits_for_a_person_without_a_deadline)
{
	desire(l, DESIRED_SUSPENDED);
	observed(l, DECISION_PARK, NULL, 0, NULL);
	CHECK_PHASE(l, PHASE_SUSPENDED);
	for (int i = 0; i < 60; i++) {
		pass(l, 10000);
		reserve_beats(l);
	}
	CHECK_HANDOVER(l, HANDOVER_TAKEN);
	held_exits(l); /* what is parked needs no Flink */
	desire(l, DESIRED_RUNNING);
	starts(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
}

/* ---- returned ---- */

LIFE_TEST_FROM(cold_begin, a_start_that_fails_is_returned)
{
	starts(l);
	launch_failed(l);
	check_returned(l);
}

LIFE_TEST_FROM(taken_begin, a_main_that_throws_is_returned)
{
	exited(l, EXITED(1));
	check_returned(l);
}

LIFE_TEST_FROM(taken_begin, a_job_that_fails_is_returned_after_its_flink_has_ended)
{
	viewed(l, restored(JOB_FAILED, 50));
	CHECK_HANDOVER(l, HANDOVER_TAKEN);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	check_returned(l);
}

LIFE_TEST_FROM(taken_begin, a_wrong_restore_is_returned_with_its_reason)
{
	viewed(l, restored(JOB_RUNNING, 7));
	CHECK_HANDOVER(l, HANDOVER_TAKEN);
	exited(l, EXITED(143));
	CHECK_HAS(handover_of(l)->why, "decided to start from " SAVEPOINT_1);
	check_returned(l);
}

LIFE_TEST_FROM(taken_begin, what_does_not_run_in_time_is_ended_and_returned)
{
	for (int i = 0; i < 17; i++) {
		pass(l, 10000);
		reserve_beats(l);
		viewed(l, restored(JOB_INITIALIZING, 50));
		l->life.ready_ms = 0; /* its own deadline is longer here */
	}
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	pass(l, 10000);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	CHECK_HAS(handover_of(l)->why, "handover.runDeadline");
	check_returned(l);
}

/* An outage that begins with `taken` ends both: the start, and the news of the reserve. */
LIFE_TEST_FROM(taken_begin, a_reserve_that_is_heard_of_after_the_deadline_gets_it_back_then)
{
	for (int i = 0; i < 19; i++) {
		pass(l, 10000);
		viewed(l, restored(JOB_INITIALIZING, 50));
		l->life.ready_ms = 0;
	}
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	reserve_beats(l);
	pass(l, 5000);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	check_returned(l);
}

static void holds_until_the_deadline(struct life *l)
{
	for (int i = 0; i < 18; i++) {
		if (l->life.observing)
			observed(l, DECISION_HOLD, NULL, 0, NULL);
		pass(l, 10000);
		reserve_beats(l);
	}
}

LIFE_TEST_FROM(cold_begin, what_cannot_be_started_in_time_is_returned_with_what_it_holds_for)
{
	holds_until_the_deadline(l);
	CHECK_STR(handover_of(l)->why,
		  "the job could not be started within handover.runDeadline: rule 6: because");
	check_returned(l);
}

LIFE_TEST_FROM(take_begin, what_cannot_be_started_in_time_is_returned_when_the_held_flink_is_dead)
{
	holds_until_the_deadline(l);
	CHECK_HANDOVER(l, HANDOVER_TAKEN);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_STR(l->last[EFFECT_SIGNAL].id, HELD_ID);
	held_exits(l);
	pass(l, 1000);
	check_returned(l);
}

LIFE_TEST_FROM(take_begin, nothing_is_returned_while_the_held_flink_may_have_been_let_go)
{
	starts(l);
	launch_failed(l); /* the file may be there although its write has failed */
	CHECK_HANDOVER(l, HANDOVER_TAKEN);
	pass(l, 10000);
	starts(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_STR(l->last[EFFECT_SIGNAL].id, HELD_ID);
	held_exits(l);
	starts(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 2);
	CHECK(!journal_launch_const(&l->life.journal)->held);
}

/* ---- not returned ---- */

LIFE_TEST_FROM(taken_begin, without_a_reserve_it_goes_on)
{
	pass(l, 31000);
	exited(l, EXITED(1));
	CHECK_HANDOVER(l, HANDOVER_TAKEN);
	CHECK_NOTHING(l, EFFECT_STAND_DOWN);
	CHECK_INT(l->life.journal.failure_count, ==, 1);
	pass(l, 10000);
	starts(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
}

LIFE_TEST_FROM(taken_begin, with_on_failure_hold_it_goes_on)
{
	l->config.handover.return_on_failure = false;
	exited(l, EXITED(1));
	CHECK_HANDOVER(l, HANDOVER_TAKEN);
	CHECK_NOTHING(l, EFFECT_STAND_DOWN);
}

LIFE_TEST_FROM(take_begin, another_version_gets_it_back_to_the_pod_before)
{
	stopping_for(l, GRACE_MS, UPGRADE_YES);
	CHECK_NOTHING(l, EFFECT_EXIT); /* first the held Flink */
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	held_exits(l);
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	check_on_record(l, HANDOVER_RETURNED, "old");
}

LIFE_TEST_FROM(take_begin, an_evicted_pod_leaves_the_job_to_its_successor)
{
	stopping_for(l, GRACE_MS, UPGRADE_NO);
	held_exits(l);
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	check_on_record(l, HANDOVER_TAKEN, "new");
}

/* ---- taken back, succeeded, forced ---- */

LIFE_TEST_FROM(granted_begin, what_was_not_taken_is_taken_back_and_counts)
{
	agent_of(l, &old_pod, "g1");
	claims(l, CLAIM_BACK, NULL);
	check_on_record(l, HANDOVER_RETURNED, "old");
	CHECK_INT(handover_of(l)->tries, ==, 1);
	starts(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	started(l);
	beats(l, CANDIDATE_PREPARED);
	CHECK_HANDOVER(l, HANDOVER_RETURNED);
	viewed(l, restored(JOB_RUNNING, 50));
	beats(l, CANDIDATE_PREPARED);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	CHECK_INT(handover_of(l)->tries, ==, 1);
}

LIFE_TEST_FROM(granted_begin, a_version_that_came_back_too_often_is_refused)
{
	handover_of(l)->tries = 1;
	put_on_record(l);
	agent_of(l, &old_pod, "g1");
	claims(l, CLAIM_BACK, NULL);
	starts(l);
	started(l);
	viewed(l, restored(JOB_RUNNING, 50));
	beats(l, CANDIDATE_PREPARED);
	beats(l, CANDIDATE_PREPARED);
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
	check_on_record(l, HANDOVER_REFUSED, "old");
}

LIFE_TEST_FROM(taken_begin, its_successor_goes_on_with_what_was_taken)
{
	static const struct party next = PARTY("new2", "g2/c1/h2", SIDE_GREEN);

	agent_of(l, &next, "g2");
	claims(l, CLAIM_SUCCEED, NULL);
	check_on_record(l, HANDOVER_TAKEN, "new2");
	CHECK_STR(handover_of(l)->to.uid, "unew2");
	starts(l);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
}

LIFE_TEST_FROM(stopping_begin, the_successor_of_an_owner_ends_what_it_had_begun)
{
	static const struct party next = PARTY("old2", "g1/c1/h1", SIDE_BLUE);

	agent_of(l, &next, "g1");
	claims(l, CLAIM_SUCCEED, NULL);
	check_on_record(l, HANDOVER_NONE, "old2");
	CHECK_INT(l->life.operation.step, ==, STEP_SETTLING);
}

LIFE_TEST_FROM(offered_begin, a_forced_take_is_on_record_and_never_returned)
{
	agent_of(l, &new_pod, "g2");
	claims(l, CLAIM_FORCE, NULL);
	check_on_record(l, HANDOVER_TAKEN, "new");
	CHECK(handover_of(l)->forced);
	CHECK_STR(handover_of(l)->from.uid, "uold");
	CHECK_INT(handover_of(l)->kind, ==, HANDOVER_OTHER);
	reserve_beats(l);
	starts(l);
	launch_failed(l);
	CHECK_HANDOVER(l, HANDOVER_TAKEN);
	CHECK_NOTHING(l, EFFECT_STAND_DOWN);
}
