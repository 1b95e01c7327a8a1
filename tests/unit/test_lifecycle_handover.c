/* The owner hands the job over: offered, confirmed, stopped, granted; and what may go wrong before. */
#include "core/job_id.h"
#include "handover_life.h"

/* ---- the offer ---- */

LIFE_TEST_FROM(owner_begin, a_candidate_that_is_wanted_is_offered_the_job)
{
	beats(l, CANDIDATE_PREPARING);
	CHECK_HANDOVER(l, HANDOVER_NONE); /* its pod may be gone */
	beats(l, CANDIDATE_PREPARING);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	check_on_record(l, HANDOVER_OFFERED, "old");
	CHECK_INT(handover_of(l)->kind, ==, HANDOVER_OTHER);
	CHECK_INT(handover_of(l)->from.side, ==, SIDE_BLUE);
	CHECK_INT(handover_of(l)->to.side, ==, SIDE_GREEN);
	CHECK_INT(strlen(handover_of(l)->job_id), ==, JOB_ID_BYTES - 1);
	CHECK_HAS(handover_of(l)->id, "h2-");
	CHECK_INT(handover_of(l)->deadline_unix_ms, ==, UNIX_START + l->now_ms + 300000);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
}

/* Most of the numbers have been used; the job that runs has one, too. */
static void number_ids(struct life *l, int64_t used)
{
	char id[JOB_ID_BYTES];

	l->config.id_space = "shop/orders/";
	l->config.id_count = 5;
	xstrset(&l->life.journal.id_space, l->config.id_space);
	job_id_name(l->config.id_space, 0, journal_launch(&l->life.journal)->job_id);
	for (int64_t n = 1; n < used; n++) {
		job_id_name(l->config.id_space, n, id);
		journal_add_former_job(&l->life.journal, id);
	}
}

LIFE_TEST_FROM(owner_begin, a_numbered_id_is_reserved_that_no_launch_has_had)
{
	char id[JOB_ID_BYTES];

	number_ids(l, 4);
	beats(l, CANDIDATE_PREPARING);
	beats(l, CANDIDATE_PREPARING);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	job_id_name(l->config.id_space, 4, id);
	CHECK_STR(handover_of(l)->job_id, id);
}

LIFE_TEST_FROM(owner_begin, without_a_free_id_nothing_is_offered)
{
	number_ids(l, 5);
	beats(l, CANDIDATE_PREPARING);
	beats(l, CANDIDATE_PREPARING);
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
	CHECK_HAS(handover_of(l)->why, "all 5 job ids in the Pod's Role have left traces");
	CHECK_HAS(handover_of(l)->why, "resume, or another version, allows it again");
	CHECK_STR(handover_of(l)->job_id, "");
	CHECK_PHASE(l, PHASE_RUNNING);
}

LIFE_TEST_FROM(owner_begin, only_a_living_wanted_and_able_pod_of_another_template_is_offered_it)
{
	seen(l, &new_pod, CANDIDATE_PREPARING, false, WANTED_NO, 0);
	seen(l, &new_pod, CANDIDATE_PREPARING, false, WANTED_UNKNOWN, 0);
	seen(l, &new_pod, CANDIDATE_STANDBY, false, WANTED_YES, 0);
	seen(l, &new_pod, CANDIDATE_WITHDRAWN, false, WANTED_YES, 0);
	seen(l, &new_pod, CANDIDATE_FAILED, false, WANTED_YES, 0);
	seen(l, &old_pod, CANDIDATE_PREPARED, false, WANTED_YES, 0);
	seen(l, &new_pod, CANDIDATE_PREPARED, true, WANTED_YES, 0); /* the reserve's */
	candidate_gone(l);
	CHECK_HANDOVER(l, HANDOVER_NONE);
	CHECK_STR(handover_of(l)->id, NULL);
}

LIFE_TEST_FROM(offered_begin, it_stops_only_when_the_candidate_has_just_confirmed)
{
	pass(l, 10000);
	beats(l, CANDIDATE_PREPARED);
	CHECK_INT(handover_of(l)->asked, ==, 1);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	beats(l, CANDIDATE_PREPARED); /* a beat is no answer */
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	pass(l, 1501);
	answers(l); /* too late */
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	pass(l, 1000);
	CHECK_INT(handover_of(l)->asked, ==, 2);
	pass(l, 1000);
	seen(l, &new_pod, CANDIDATE_PREPARED, false, WANTED_YES, 1); /* to the first question */
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	answers(l);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_HANDOVER(l, HANDOVER_STOPPING);
}

LIFE_TEST_FROM(offered_begin, a_candidate_that_answers_and_is_not_prepared_is_not_believed)
{
	beats(l, CANDIDATE_PREPARED);
	seen(l, &new_pod, CANDIDATE_PREPARING, false, WANTED_YES, handover_of(l)->asked);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
}

LIFE_TEST_FROM(offered_begin, the_question_counts_from_its_write)
{
	l->hold_writes = true;
	beats(l, CANDIDATE_PREPARED);
	answers(l); /* it cannot have read it */
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	written(l);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	answers(l);
	CHECK_HANDOVER(l, HANDOVER_STOPPING);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	written(l); /* and the stop comes after its own */
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
}

LIFE_TEST_FROM(stopping_begin, the_stop_and_its_state_are_one_write)
{
	CHECK_STR(l->order, "WT");
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
	CHECK_STR(operation_reason_name(l->life.journal.operation.reason), "upgrade");
	check_on_record(l, HANDOVER_STOPPING, "old");
}

/* ---- granted ---- */

LIFE_TEST_FROM(stopping_begin, the_result_of_the_stop_and_the_journal_go_in_one_write)
{
	struct journal journal;

	stop_saved(l);
	check_on_record(l, HANDOVER_STOPPING, "old");
	forget(l);
	l->hold_writes = true;
	viewed(l, job_in(JOB_FINISHED));
	if (!took(l, EFFECT_WRITE_JOURNAL))
		written(l);
	CHECK_INT(took(l, EFFECT_WRITE_JOURNAL), ==, 1);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	written(l);
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGTERM);
	read_record(l, &journal);
	CHECK_INT(journal.handover.state, ==, HANDOVER_GRANTED);
	CHECK_STR(journal.owner.uid, "unew");
	CHECK_INT(journal.owner.side, ==, SIDE_GREEN);
	CHECK_STR(journal.handover.savepoint, SAVEPOINT_1);
	CHECK(journal.last_operation.ok);
	CHECK_STR(journal.last_operation.location, SAVEPOINT_1);
	journal_release(&journal);
}

LIFE_TEST_FROM(granted_begin, after_that_it_writes_nothing_and_stands_down_when_its_flink_is_dead)
{
	int64_t sequence = l->life.journal.sequence;

	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	forget(l);
	beats(l, CANDIDATE_PREPARED);
	ask_savepoint(l, "sp-1");
	pass(l, 5000);
	CHECK_NOTHING(l, EFFECT_STAND_DOWN);
	exited(l, EXITED(0));
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
	CHECK_PHASE(l, PHASE_HOLDING);
	CHECK_INT(l->life.cause, ==, CAUSE_STANDING_BY);
	CHECK_HAS(l->life.reason, "handed over to new");
	pass(l, 600000);
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
	CHECK_NOTHING(l, EFFECT_WRITE_JOURNAL);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
	CHECK_INT(l->life.journal.sequence, ==, sequence);
}

LIFE_TEST_FROM(granted_begin, a_flink_that_does_not_end_is_killed)
{
	forget(l);
	pass(l, l->config.kill_after_ms + 1000);
	CHECK_INT(l->last[EFFECT_SIGNAL].signo, ==, SIGKILL);
	CHECK_NOTHING(l, EFFECT_STAND_DOWN);
}

LIFE_TEST_FROM(granted_begin, that_another_pod_writes_then_is_no_fence)
{
	forget(l);
	write_failed(l, true);
	CHECK(!l->life.fenced);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	exited(l, EXITED(0));
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
}

LIFE_TEST_FROM(stopping_begin, a_grant_that_loses_its_write_is_a_fence)
{
	stop_saved(l);
	l->hold_writes = true;
	viewed(l, job_in(JOB_FINISHED));
	if (l->life.journal.sequence == l->life.requested &&
	    l->life.requested != l->life.acknowledged)
		forget(l);
	write_failed(l, true);
	CHECK(l->life.fenced);
	CHECK_NOTHING(l, EFFECT_STAND_DOWN);
	exited(l, KILLED(SIGKILL));
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
}

LIFE_TEST_FROM(stopping_begin, a_grant_that_cannot_be_written_is_tried_until_it_is)
{
	stop_saved(l);
	xstrset(&journal_launch(&l->life.journal)->ha_cluster_id, "sim");
	l->hold_writes = true;
	viewed(l, job_in(JOB_FINISHED));
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	write_failed(l, false); /* and Flink could run the job again */
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	exited(l, KILLED(SIGKILL));
	for (int i = 0; i < 5; i++) {
		write_failed(l, false);
		pass(l, 31000);
	}
	CHECK_NOTHING(l, EFFECT_STAND_DOWN);
	written(l);
	check_on_record(l, HANDOVER_GRANTED, "new");
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
}

LIFE_TEST_FROM(granted_begin, the_container_of_the_reserve_to_be_ends_when_flink_has)
{
	forget(l);
	stopping_for(l, GRACE_MS, UPGRADE_YES);
	CHECK_NOTHING(l, EFFECT_EXIT);
	exited(l, EXITED(0));
	CHECK_INT(took(l, EFFECT_EXIT), ==, 1);
	CHECK_NOTHING(l, EFFECT_WRITE_JOURNAL);
	CHECK_NOTHING(l, EFFECT_STAND_DOWN);
}

/* ---- the candidate goes ---- */

LIFE_TEST_FROM(offered_begin, a_candidate_that_is_gone_before_the_stop_costs_nothing)
{
	static const enum candidate_state gone[] = {CANDIDATE_WITHDRAWN, CANDIDATE_STANDBY};

	for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
		beats(l, gone[i]);
		CHECK_HANDOVER(l, HANDOVER_NONE);
		beats(l, CANDIDATE_PREPARING);
		CHECK_HANDOVER(l, HANDOVER_OFFERED);
	}
	candidate_gone(l);
	CHECK_HANDOVER(l, HANDOVER_NONE);
	beats(l, CANDIDATE_PREPARING);
	beats(l, CANDIDATE_PREPARING);
	seen(l, &new_pod, CANDIDATE_PREPARED, false, WANTED_NO, 0);
	CHECK_HANDOVER(l, HANDOVER_NONE);
	beats(l, CANDIDATE_PREPARING);
	seen(l, &third_pod, CANDIDATE_PREPARING, false, WANTED_YES, 0); /* another has the place */
	seen(l, &third_pod, CANDIDATE_PREPARING, false, WANTED_YES, 0);
	CHECK_STR(handover_of(l)->to.uid, "uthird");
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	CHECK_INT(handover_of(l)->tries, ==, 0);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_PHASE(l, PHASE_RUNNING);
}

LIFE_TEST_FROM(offered_begin, a_candidate_that_is_silent_for_30_s_is_gone)
{
	beats(l, CANDIDATE_PREPARED);
	pass(l, 30000);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	pass(l, 3000);
	CHECK_HANDOVER(l, HANDOVER_NONE);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
}

LIFE_TEST_FROM(stopping_begin, a_candidate_that_goes_during_the_stop_gives_the_job_back)
{
	candidate_gone(l);
	stop_saved(l);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_HANDOVER(l, HANDOVER_RETURNED);
	exited(l, EXITED(0));
	check_on_record(l, HANDOVER_RETURNED, "old");
	CHECK_NOTHING(l, EFFECT_STAND_DOWN);
	forget(l);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	/* with an owner that is not ready, Kubernetes could end it instead of the candidate */
	CHECK(lifecycle_keeps_ready(&l->life));
	beats(l, CANDIDATE_PREPARED); /* it must run before it is given away again */
	CHECK_HANDOVER(l, HANDOVER_RETURNED);
	CHECK_INT(handover_of(l)->tries, ==, 1);
}

static void check_rolled_back(struct life *l)
{
	stop_saved(l);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_HANDOVER(l, HANDOVER_RETURNED);
	CHECK_HAS(handover_of(l)->why, "the Deployment does not want that version any more");
	CHECK_INT(handover_of(l)->tries, ==, 0);
}

LIFE_TEST_FROM(stopping_begin, a_version_that_is_rolled_back_during_the_stop_has_failed_at_nothing)
{
	seen(l, &new_pod, CANDIDATE_WITHDRAWN, false, WANTED_NO, 0);
	check_rolled_back(l);
}

LIFE_TEST_FROM(stopping_begin, a_version_in_whose_place_another_one_is_wanted_has_failed_at_nothing)
{
	seen(l, &third_pod, CANDIDATE_PREPARING, false, WANTED_YES, 0);
	check_rolled_back(l);
}

LIFE_TEST_FROM(stopping_begin, a_candidate_that_ends_although_it_is_wanted_has_had_a_try)
{
	seen(l, &new_pod, CANDIDATE_WITHDRAWN, false, WANTED_YES, 0);
	stop_saved(l);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_HANDOVER(l, HANDOVER_RETURNED);
	CHECK_INT(handover_of(l)->tries, ==, 1);
}

/* By the pod before, which has granted the job. */
static void taken_back(struct life *l, enum handover_state state, enum wanted wanted)
{
	struct event e = {.type = EVENT_HELLO, .hello = {.claim = CLAIM_BACK, .wanted = wanted}};

	agent_of(l, &old_pod, "g1");
	handover_of(l)->state = state;
	step(l, &e);
	CHECK_HANDOVER(l, HANDOVER_RETURNED);
}

LIFE_TEST_FROM(granted_begin,
	       a_version_that_was_rolled_back_before_it_took_the_job_has_failed_at_nothing)
{
	taken_back(l, HANDOVER_GRANTED, WANTED_YES);
	CHECK_INT(handover_of(l)->tries, ==, 0);
	CHECK_HAS(handover_of(l)->why, "the Deployment wants this version again");
}

LIFE_TEST_FROM(granted_begin, nor_has_one_that_was_rolled_back_when_its_pod_had_taken_the_job)
{
	taken_back(l, HANDOVER_TAKEN, WANTED_YES);
	CHECK_INT(handover_of(l)->tries, ==, 0);
}

LIFE_TEST_FROM(granted_begin, one_that_is_wanted_and_does_not_take_the_job_has_had_a_try)
{
	taken_back(l, HANDOVER_GRANTED, WANTED_NO);
	CHECK_INT(handover_of(l)->tries, ==, 1);
	CHECK_HAS(handover_of(l)->why, "handover.takeDeadline");
}

LIFE_TEST_FROM(granted_begin, in_doubt_it_has_had_one)
{
	taken_back(l, HANDOVER_TAKEN, WANTED_UNKNOWN);
	CHECK_INT(handover_of(l)->tries, ==, 1);
}

LIFE_TEST_FROM(offered_begin, a_version_that_cannot_be_prepared_is_refused_after_its_tries)
{
	beats(l, CANDIDATE_FAILED);
	CHECK_HANDOVER(l, HANDOVER_NONE);
	CHECK_INT(handover_of(l)->tries, ==, 1);
	beats(l, CANDIDATE_PREPARING);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	beats(l, CANDIDATE_FAILED);
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
	beats(l, CANDIDATE_PREPARED);
	pass(l, 60000);
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
	seen(l, &third_pod, CANDIDATE_PREPARING, false, WANTED_YES, 0);
	seen(l, &third_pod, CANDIDATE_PREPARING, false, WANTED_YES, 0);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	CHECK_INT(handover_of(l)->tries, ==, 0);
}

LIFE_TEST_FROM(offered_begin, an_offer_that_is_not_prepared_in_time_is_refused_until_a_person_asks)
{
	for (int i = 0; i < 31; i++) {
		pass(l, 10000);
		beats(l, CANDIDATE_PREPARING);
	}
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
	CHECK_HAS(handover_of(l)->why, "handover.prepareDeadline");
	beats(l, CANDIDATE_PREPARED);
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
	control(l, CONTROL_STATE | CONTROL_NEW_START, (struct intent){.state = DESIRED_RUNNING});
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	CHECK_INT(handover_of(l)->tries, ==, 0);
}

LIFE_TEST_FROM(offered_begin, an_offer_that_waits_for_something_else_than_the_candidate_lasts)
{
	do_not_restart(l, true);
	for (int i = 0; i < 62; i++) {
		pass(l, 10000);
		beats(l, CANDIDATE_PREPARED);
	}
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	CHECK(handover_of(l)->deadline_unix_ms > UNIX_START + l->now_ms);
	do_not_restart(l, false);
}

/* ---- the stop fails ---- */

LIFE_TEST_FROM(stopping_begin, a_stop_that_fails_is_tried_again_and_then_refused)
{
	int64_t asked = handover_of(l)->asked;

	operation(l, STATUS_FAILED, NULL, "no space");
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_NOTHING(l, EFFECT_SIGNAL);
	check_on_record(l, HANDOVER_OFFERED, "old");
	forget(l);
	answers(l);
	pass(l, l->config.stop_retry_ms - 1);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	pass(l, 1000);
	beats(l, CANDIDATE_PREPARED);
	CHECK_INT(handover_of(l)->asked, >, asked); /* its old answer does not count */
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	answers(l);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	operation(l, STATUS_FAILED, NULL, "no space");
	CHECK_PHASE(l, PHASE_RUNNING);
	pass(l, l->config.stop_retry_ms);
	viewed(l, job_in(JOB_RUNNING));
	beats(l, CANDIDATE_PREPARED);
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
	CHECK_HAS(handover_of(l)->why, "failed 2 times");
	CHECK_PHASE(l, PHASE_RUNNING);
	beats(l, CANDIDATE_PREPARED);
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
}

LIFE_TEST_FROM(stopping_begin, an_answer_to_an_earlier_offer_is_none_to_the_next)
{
	int64_t answer = handover_of(l)->asked;

	operation(l, STATUS_FAILED, NULL, "no space");
	candidate_gone(l);
	CHECK_HANDOVER(l, HANDOVER_NONE);
	pass(l, l->config.stop_retry_ms);
	forget(l);
	/* it has not read the new offer yet */
	seen(l, &new_pod, CANDIDATE_PREPARED, false, WANTED_YES, answer);
	seen(l, &new_pod, CANDIDATE_PREPARED, false, WANTED_YES, answer);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	seen(l, &new_pod, CANDIDATE_PREPARED, false, WANTED_YES, answer);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
}

/* ---- people ---- */

LIFE_TEST_FROM(offered_begin, do_not_restart_forbids_the_stop)
{
	do_not_restart(l, true);
	beats(l, CANDIDATE_PREPARED);
	answers(l);
	pass(l, 10000);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	CHECK_INT(handover_of(l)->asked, ==, 0);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	do_not_restart(l, false);
	beats(l, CANDIDATE_PREPARED);
	answers(l);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
}

LIFE_TEST_FROM(offered_begin, what_is_suspended_meanwhile_is_granted_when_it_stands)
{
	desire(l, DESIRED_SUSPENDED);
	beats(l, CANDIDATE_PREPARED);
	stop_saved(l);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	exited(l, EXITED(0));
	CHECK_HANDOVER(l, HANDOVER_GRANTED);
	check_on_record(l, HANDOVER_GRANTED, "new");
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
}

LIFE_TEST_FROM(owner_begin, where_nothing_runs_it_is_granted_without_preparation)
{
	desire(l, DESIRED_SUSPENDED);
	stop_saved(l);
	viewed(l, job_in(JOB_FINISHED));
	exited(l, EXITED(0));
	CHECK_PHASE(l, PHASE_SUSPENDED);
	beats(l, CANDIDATE_PREPARING);
	beats(l, CANDIDATE_PREPARING);
	check_on_record(l, HANDOVER_GRANTED, "new");
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
}

LIFE_TEST_FROM(stopping_begin, a_cancel_overtakes_the_stop_and_is_handed_over)
{
	desire(l, DESIRED_CANCELLED);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_CANCEL);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	viewed(l, job_in(JOB_CANCELED));
	exited(l, EXITED(0));
	check_on_record(l, HANDOVER_GRANTED, "new");
	CHECK_STR(handover_of(l)->savepoint, NULL);
}

LIFE_TEST_FROM(stopping_begin, a_job_that_finishes_first_is_handed_over_as_finished)
{
	struct view view = job_in(JOB_FINISHED);

	view.checkpointing_off = true; /* nothing more comes */
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	viewed(l, view);
	operation(l, STATUS_FAILED, NULL, "the job is finished");
	viewed(l, view);
	CHECK_INT(l->life.journal.outcome.kind, ==, OUTCOME_FINISHED);
	CHECK_HANDOVER(l, HANDOVER_STOPPING);
	exited(l, EXITED(0));
	check_on_record(l, HANDOVER_GRANTED, "new");
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
}
