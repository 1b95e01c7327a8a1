/* The other ways of a hand-over: without a savepoint, to the same generation, while the container ends. */
#include "handover_life.h"

static void prepared(struct life *l)
{
	beats(l, CANDIDATE_PREPARED);
	forget(l);
	answers(l);
}

/* ---- without a stop savepoint ---- */

LIFE_TEST_FROM(offered_begin, by_last_state_flink_is_ended_and_its_newest_state_is_handed_over)
{
	l->config.upgrade = UPGRADE_BY_LAST_STATE;
	prepared(l);
	CHECK_HANDOVER(l, HANDOVER_STOPPING);
	CHECK_STR(l->order, "WS"); /* not before that is on record */
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGTERM);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	check_on_record(l, HANDOVER_STOPPING, "old");
	exited(l, EXITED(143));
	CHECK_HANDOVER(l, HANDOVER_GRANTED);
	check_on_record(l, HANDOVER_GRANTED, "new");
	CHECK_STR(handover_of(l)->savepoint, NULL);
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
	CHECK_INT(l->life.journal.failure_count, ==, 0);
}

LIFE_TEST_FROM(offered_begin, stateless_cancels)
{
	l->config.upgrade = UPGRADE_STATELESS;
	prepared(l);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_CANCEL);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	viewed(l, job_in(JOB_CANCELED));
	CHECK_HANDOVER(l, HANDOVER_GRANTED);
	CHECK_STR(handover_of(l)->savepoint, NULL);
	exited(l, EXITED(0));
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
}

LIFE_TEST_FROM(stopping_begin, a_cancel_that_flink_does_not_obey_grants_nothing_before_its_end)
{
	control(l, CONTROL_STATE, (struct intent){.state = DESIRED_CANCELLED});
	for (int i = 0; i < 20 && !took(l, EFFECT_SIGNAL); i++) {
		pass(l, 5000);
		beats(l, CANDIDATE_PREPARED);
	}
	CHECK_INT(took(l, EFFECT_SIGNAL), >, 0);
	CHECK_HANDOVER(l, HANDOVER_STOPPING);
	check_on_record(l, HANDOVER_STOPPING, "old");
	exited(l, EXITED(143));
	CHECK_HANDOVER(l, HANDOVER_GRANTED);
}

LIFE_TEST_FROM(owner_begin, the_same_generation_gets_the_newest_state_at_the_same_side)
{
	seen(l, &same_pod, CANDIDATE_PREPARING, false, WANTED_YES, 0);
	seen(l, &same_pod, CANDIDATE_PREPARING, false, WANTED_YES, 0);
	CHECK_INT(handover_of(l)->kind, ==, HANDOVER_SAME);
	CHECK_INT(handover_of(l)->to.side, ==, SIDE_BLUE);
	CHECK_STR(handover_of(l)->job_id, "");
	seen(l, &same_pod, CANDIDATE_PREPARED, false, WANTED_YES, 0);
	forget(l);
	seen(l, &same_pod, CANDIDATE_PREPARED, false, WANTED_YES, handover_of(l)->asked);
	CHECK_STR(l->order, "WS");
	exited(l, EXITED(143));
	check_on_record(l, HANDOVER_GRANTED, "same");
}

LIFE_TEST_FROM(offered_begin, a_job_that_fails_is_handed_over_without_a_savepoint_after_30_s)
{
	forget(l);
	viewed(l, job_in(JOB_RESTARTING));
	for (int i = 0; i < 10; i++) {
		beats(l, CANDIDATE_PREPARED);
		answers(l);
		pass(l, 2990);
	}
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	CHECK_INT(handover_of(l)->asked, ==, 0);
	pass(l, 200);
	CHECK_INT(handover_of(l)->asked, ==, 1);
	pass(l, 2000);
	beats(l, CANDIDATE_PREPARED);
	pass(l, 600);
	CHECK_INT(handover_of(l)->asked, ==, 2); /* asked again */
	answers(l);
	CHECK_HANDOVER(l, HANDOVER_STOPPING);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_HAS(l->notes, "handed over without a savepoint");
	exited(l, EXITED(143));
	check_on_record(l, HANDOVER_GRANTED, "new");
}

/* It runs again for 4 s now and then: a stop with savepoint in such a moment would fail, or save a job
 * that is not well. */
LIFE_TEST_FROM(offered_begin, a_job_that_runs_for_moments_counts_as_failing)
{
	for (int i = 0; i < 4; i++) {
		viewed(l, job_in(JOB_RESTARTING));
		beats(l, CANDIDATE_PREPARED);
		pass(l, 3500);
		viewed(l, job_in(JOB_RUNNING));
		prepared(l);
		pass(l, 4000);
		CHECK_HANDOVER(l, HANDOVER_OFFERED);
	}
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	beats(l, CANDIDATE_PREPARED);
	pass(l, 2600);
	answers(l);
	CHECK_HANDOVER(l, HANDOVER_STOPPING);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
}

LIFE_TEST_FROM(offered_begin, a_job_that_recovers_in_that_time_is_stopped_with_a_savepoint)
{
	viewed(l, job_in(JOB_RESTARTING));
	beats(l, CANDIDATE_PREPARED);
	pass(l, 25000);
	viewed(l, job_in(JOB_RUNNING));
	prepared(l);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
}

LIFE_TEST_FROM(offered_begin, a_flink_that_has_died_is_not_started_again_if_another_is_prepared)
{
	beats(l, CANDIDATE_PREPARED);
	forget(l);
	exited(l, KILLED(SIGKILL));
	CHECK_HANDOVER(l, HANDOVER_GRANTED);
	check_on_record(l, HANDOVER_GRANTED, "new");
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
}

LIFE_TEST_FROM(offered_begin, a_flink_that_has_died_is_started_again_if_no_other_is_prepared)
{
	exited(l, KILLED(SIGKILL));
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
}

LIFE_TEST_FROM(stopping_begin, a_flink_that_dies_in_the_stop_leaves_its_result_to_the_candidate)
{
	struct journal journal;

	operation(l, STATUS_ACCEPTED, NULL, NULL);
	exited(l, KILLED(SIGKILL));
	check_on_record(l, HANDOVER_GRANTED, "new");
	read_record(l, &journal);
	CHECK_INT(journal.operation.kind, ==, OPERATION_STOP); /* storage has to be searched */
	CHECK_STR(journal.handover.savepoint, NULL);
	journal_release(&journal);
	agent_of(l, &new_pod, "g2");
	claims(l, CLAIM_TAKE, NULL);
	CHECK_INT(l->life.operation.step, ==, STEP_SETTLING);
}

/* ---- the agent restarts ---- */

LIFE_TEST_FROM(stopping_begin, a_new_agent_goes_on_with_the_stop)
{
	char id[JOB_ID_BYTES];
	struct event e = {.type = EVENT_HELLO, .hello = {.running = id, .claim = CLAIM_OWN}};

	snprintf(id, JOB_ID_BYTES, "%s", job_of(l));
	restart_agent(l);
	step(l, &e);
	CHECK_HANDOVER(l, HANDOVER_STOPPING);
	beats(l, CANDIDATE_PREPARED);
	pass(l, 1);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_HANDOVER(l, HANDOVER_GRANTED);
	CHECK_STR(handover_of(l)->savepoint, SAVEPOINT_1);
}

LIFE_TEST_FROM(offered_begin, a_stop_without_operation_that_was_lost_begins_again)
{
	char id[JOB_ID_BYTES];
	struct event e = {.type = EVENT_HELLO, .hello = {.running = id, .claim = CLAIM_OWN}};

	l->config.upgrade = UPGRADE_BY_LAST_STATE;
	prepared(l);
	snprintf(id, JOB_ID_BYTES, "%s", job_of(l));
	restart_agent(l); /* its SIGTERM was never sent */
	step(l, &e);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_PHASE(l, PHASE_RUNNING);
	beats(l, CANDIDATE_PREPARED);
	answers(l);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, EXITED(143));
	check_on_record(l, HANDOVER_GRANTED, "new");
}

LIFE_TEST_FROM(offered_begin, a_new_agent_waits_for_word_of_the_candidate)
{
	char id[JOB_ID_BYTES];
	struct event e = {.type = EVENT_HELLO, .hello = {.running = id, .claim = CLAIM_OWN}};

	snprintf(id, JOB_ID_BYTES, "%s", job_of(l));
	restart_agent(l);
	step(l, &e);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	pass(l, 29000);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	pass(l, 300000);
	CHECK(handover_of(l)->state == HANDOVER_NONE || handover_of(l)->state == HANDOVER_REFUSED);
}

/* ---- the container of the owner ends ---- */

static void check_nobody(struct life *l)
{
	struct journal journal;

	read_record(l, &journal);
	CHECK_STR(journal.owner.uid, NULL);
	CHECK_STR(journal.owner.pod, NULL);
	CHECK_STR(journal.owner.template, "g1/c1/h1");
	CHECK(!handover_is_under_way(&journal.handover));
	journal_release(&journal);
}

LIFE_TEST_FROM(owner_begin, an_owner_that_ends_leaves_nobody)
{
	stopping_for(l, GRACE_MS, UPGRADE_NO);
	exited(l, EXITED(143));
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	check_nobody(l);
}

LIFE_TEST_FROM(offered_begin, an_owner_that_ends_before_the_candidate_is_prepared_leaves_nobody)
{
	stopping_for(l, GRACE_MS, UPGRADE_YES);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1); /* as without hand-overs */
	stop_saved(l);
	viewed(l, job_in(JOB_FINISHED));
	exited(l, EXITED(0));
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	check_nobody(l);
}

LIFE_TEST_FROM(offered_begin, an_owner_that_ends_hands_over_to_a_prepared_candidate_in_its_grace)
{
	beats(l, CANDIDATE_PREPARED);
	forget(l);
	stopping_for(l, GRACE_MS, UPGRADE_YES);
	CHECK_HANDOVER(l, HANDOVER_STOPPING);
	stop_saved(l);
	viewed(l, job_in(JOB_FINISHED));
	check_on_record(l, HANDOVER_GRANTED, "new");
	CHECK_STR(handover_of(l)->savepoint, SAVEPOINT_1);
	exited(l, EXITED(0));
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	CHECK_NOTHING(l, EFFECT_STAND_DOWN);
}

LIFE_TEST_FROM(offered_begin, without_a_savepoint_in_its_grace_it_hands_over_what_there_is)
{
	beats(l, CANDIDATE_PREPARED);
	stopping_for(l, GRACE_MS, UPGRADE_YES);
	operation(l, STATUS_FAILED, NULL, "no space");
	CHECK_HANDOVER(l, HANDOVER_STOPPING);
	exited(l, EXITED(143));
	check_on_record(l, HANDOVER_GRANTED, "new");
	CHECK_STR(handover_of(l)->savepoint, NULL);
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
}

LIFE_TEST_FROM(offered_begin, an_eviction_of_the_owner_is_no_hand_over)
{
	beats(l, CANDIDATE_PREPARED);
	stopping_for(l, GRACE_MS, UPGRADE_NO);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	exited(l, EXITED(143));
	check_nobody(l);
}

LIFE_TEST_FROM(stopping_begin, an_owner_that_is_told_to_end_in_the_stop_finishes_it)
{
	stopping_for(l, GRACE_MS, UPGRADE_YES);
	stop_saved(l);
	viewed(l, job_in(JOB_FINISHED));
	check_on_record(l, HANDOVER_GRANTED, "new");
	exited(l, EXITED(0));
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
}

/* ---- one pod at a time ---- */

LIFE_TEST_FROM(life_begin, without_hand_overs_the_journal_has_nothing_of_them)
{
	hello(l, NULL);
	run_proven(l);
	beats(l, CANDIDATE_PREPARED);
	answers(l);
	reserve_beats(l);
	pass(l, 120000);
	desire(l, DESIRED_SUSPENDED);
	stop_saved(l);
	viewed(l, job_in(JOB_FINISHED));
	exited(l, EXITED(0));
	stopping_for(l, GRACE_MS, UPGRADE_YES);
	buf_add(&l->durable_text, "", 1);
	CHECK(strstr(l->durable_text.data, "\"owner\"") == NULL);
	CHECK(strstr(l->durable_text.data, "handover") == NULL);
	CHECK(strstr(l->durable_text.data, "\"held\"") == NULL);
	CHECK(strstr(l->durable_text.data, "\"side\"") == NULL);
	l->durable_text.len_bytes--;
}

LIFE_TEST_FROM(granted_begin, when_hand_overs_are_turned_off_only_the_side_stays)
{
	struct journal journal;

	restart_as(l, "g2");
	l->config.handover.mode = HANDOVER_OFF;
	hello(l, NULL);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	read_record(l, &journal);
	CHECK_STR(journal.handover.id, NULL);
	CHECK_STR(journal.owner.uid, NULL);
	CHECK_STR(journal.owner.template, NULL); /* what runs from now on is not of it */
	CHECK_INT(journal.owner.side, ==, SIDE_GREEN);
	journal_release(&journal);
}

/* ---- a request for a restore that came on the way ---- */

static bool is_old_for_the_taker(struct life *l, int64_t asked_after_ms)
{
	granted_begin(l);
	l->life.journal.intent.restore = (struct restore_request){
		.kind = RESTORE_EMPTY,
		.token = xstrdup("t1"),
		.asked_unix_ms = handover_of(l)->started_unix_ms + asked_after_ms};
	put_on_record(l);
	agent_of(l, &new_pod, "g2");
	CHECK(l->life.journal.intent.restore.read_back);
	claims(l, CLAIM_TAKE, NULL);
	return l->life.journal.intent.restore.read_back;
}

/* It may be what makes the owner offer the job: with the next pod it must not count as one of long ago, for ever. */
TEST(a_request_that_was_handed_over_is_one_of_now)
{
	static const struct {
		int64_t asked_after_ms;
		bool old;
	} cases[] = {{0, false}, {5, false}, {-1, true}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct life l;

		CHECK_INT(is_old_for_the_taker(&l, cases[i].asked_after_ms), ==, cases[i].old);
		life_end(&l);
	}
}
