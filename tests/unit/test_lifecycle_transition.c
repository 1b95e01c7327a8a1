/* The owner in a transition: both versions run, the cut, the stop, and the grant. */
#include "transition_life.h"

/* ---- offered */

LIFE_TEST_FROM(gated_begin, a_job_that_runs_is_offered_with_a_transition)
{
	forget(l);
	beats(l, CANDIDATE_PREPARING);
	beats(l, CANDIDATE_PREPARING);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	CHECK_TRANSITION(l, TRANSITION_OFFERED);
	CHECK_INT(transition_in(l)->numbers, ==, 4); /* attempts.max and one */
	CHECK_INT(handover_of(l)->deadline_unix_ms, ==, UNIX_START + l->now_ms + 300000);
	CHECK_INT(took(l, EFFECT_GATE), ==, 1);
	CHECK_STR(l->life.gate.told, handover_of(l)->id);
	CHECK_INT(l->life.gate.order.word, ==, GATE_OPEN);
	CHECK_INT(transition_in(l)->output_side, ==, SIDE_GREEN);
}

LIFE_TEST_FROM(gated_begin, the_output_is_on_the_other_side_than_that_of_the_job_that_runs)
{
	journal_launch(&l->life.journal)->output_side = SIDE_GREEN;
	for (int i = 0; i < 2; i++)
		beats(l, CANDIDATE_PREPARING);
	CHECK_TRANSITION(l, TRANSITION_OFFERED);
	CHECK_INT(transition_in(l)->output_side, ==, SIDE_BLUE);
}

/* Both would end each other's transactions, and gates of FLIP-504 would all hold back. */
LIFE_TEST_FROM(t_shadow_begin, a_launch_in_a_transition_never_has_the_side_of_the_candidate)
{
	exited(l, KILLED(9));
	pass(l, 10000);
	/* what a person restores is of the time when the job was on that side */
	journal_launch(&l->life.journal)->output_side = SIDE_GREEN;
	observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_INT(journal_launch(&l->life.journal)->output_side, ==, SIDE_BLUE);
}

LIFE_TEST_FROM(owner_begin, with_surge_no_gate_is_told_and_nothing_runs_beside_it)
{
	beats(l, CANDIDATE_PREPARING);
	beats(l, CANDIDATE_PREPARING);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	CHECK_TRANSITION(l, TRANSITION_NONE);
	CHECK_NOTHING(l, EFFECT_GATE);
}

LIFE_TEST_FROM(gated_begin, a_job_that_does_not_run_is_handed_over_as_with_surge)
{
	desire(l, DESIRED_SUSPENDED);
	stop_saved(l);
	viewed(l, job_in(JOB_FINISHED));
	exited(l, 0);
	CHECK_PHASE(l, PHASE_SUSPENDED);
	beats(l, CANDIDATE_PREPARING);
	beats(l, CANDIDATE_PREPARING);
	CHECK_TRANSITION(l, TRANSITION_NONE);
	CHECK_HANDOVER(l, HANDOVER_GRANTED);
}

LIFE_TEST_FROM(gated_begin, a_job_that_may_not_be_started_again_is_not_offered)
{
	do_not_restart(l, true);
	forget(l);
	for (int i = 0; i < 5; i++)
		beats(l, CANDIDATE_PREPARED);
	CHECK_STR(handover_of(l)->id, NULL);
	do_not_restart(l, false);
	CHECK_TRANSITION(l, TRANSITION_OFFERED);
}

LIFE_TEST_FROM(gated_begin, a_pod_of_the_same_version_gets_the_job_as_with_surge)
{
	for (int i = 0; i < 2; i++)
		seen(l, &same_pod, CANDIDATE_PREPARING, false, WANTED_YES, 0);
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	CHECK_TRANSITION(l, TRANSITION_NONE);
}

LIFE_TEST_FROM(gated_begin, at_rest_the_gates_of_each_launch_are_told_to_be_open)
{
	CHECK_INT(took(l, EFFECT_GATE), ==, 1);
	CHECK_STR(l->last[EFFECT_GATE].id, job_of(l));
	CHECK_STR(l->life.gate.told, NULL);
	CHECK_INT(l->life.gate.order.number, ==, 1);
	CHECK_INT(l->life.gate.order.word, ==, GATE_OPEN);
	forget(l);
	exited(l, KILLED(9));
	pass(l, 10000);
	observed(l, DECISION_START_FROM, CHK(1), 1, NULL);
	CHECK_INT(took(l, EFFECT_GATE), ==, 1);
	CHECK_STR(l->last[EFFECT_GATE].id, job_of(l));
}

LIFE_TEST_FROM(t_offered_begin, the_savepoint_waits_for_the_candidate_of_this_transition)
{
	struct candidate_shadow other = {.transition = (char *)"h1-00000000"};

	forget(l);
	beats(l, CANDIDATE_PREPARED); /* one that knows no transitions */
	shadows_as(l, &new_pod, CANDIDATE_PREPARED, &other, false);
	CHECK_TRANSITION(l, TRANSITION_OFFERED);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	shadows(l, SHADOW_PREPARED, NULL);
	CHECK_TRANSITION(l, TRANSITION_SEEDING);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_SAVEPOINT);
	CHECK_PHASE(l, PHASE_RUNNING);
}

LIFE_TEST_FROM(t_offered_begin, an_offer_that_is_not_prepared_in_time_is_refused)
{
	for (int i = 0; i < 40; i++) {
		pass(l, 10000);
		beats(l, CANDIDATE_PREPARING);
	}
	CHECK_TRANSITION(l, TRANSITION_REFUSED);
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
	CHECK_STR(l->life.gate.told, NULL);
}

LIFE_TEST_FROM(t_offered_begin, a_candidate_that_is_silent_is_gone)
{
	pass(l, 40000);
	CHECK_TRANSITION(l, TRANSITION_OFFERED); /* nothing has woken it */
	viewed(l, job_in(JOB_RUNNING));
	CHECK_TRANSITION(l, TRANSITION_NONE);
	CHECK_HANDOVER(l, HANDOVER_NONE);
}

/* What cannot be read may say anything, but a pod that is not heard for that long is gone, too. */
LIFE_TEST_FROM(t_offered_begin, a_candidate_whose_record_is_damaged_is_silent)
{
	candidate_unreadable(l);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_TRANSITION(l, TRANSITION_OFFERED);
	CHECK_STR(l->life.handover.seen[PLACE_CANDIDATE].party.uid, new_pod.uid);
	CHECK(!l->life.handover.seen[PLACE_CANDIDATE].lock_is_free);
	beats(l, CANDIDATE_PREPARING);
	CHECK_TRANSITION(l, TRANSITION_OFFERED);
	for (int i = 0; i < 8; i++) {
		candidate_unreadable(l);
		pass(l, 5000);
	}
	viewed(l, job_in(JOB_RUNNING));
	CHECK_TRANSITION(l, TRANSITION_NONE);
}

/* ---- the seed */

LIFE_TEST_FROM(t_seeding_begin, the_seed_is_recorded_with_what_was_seen)
{
	struct journal journal;

	stop_saved(l);
	CHECK_TRANSITION(l, TRANSITION_SEEDED);
	CHECK_STR(transition_in(l)->seed.path, SAVEPOINT_1);
	CHECK_INT(transition_in(l)->seed.checkpoint_id, ==, 50);
	CHECK_INT(transition_in(l)->seen_unix_ms, ==, T0);
	CHECK(transition_keeps(handover_of(l), SAVEPOINT_1));
	CHECK_INT(journal_snapshot(&l->life.journal, SAVEPOINT_1)->origin, ==, ORIGIN_PERIODIC);
	read_record(l, &journal);
	CHECK_STR(journal.handover.transition.seed.path, SAVEPOINT_1);
	journal_release(&journal);
}

LIFE_TEST_FROM(t_seeding_begin, a_savepoint_that_fails_is_tried_again)
{
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	forget(l);
	operation(l, STATUS_FAILED, NULL, "a task has declined");
	CHECK_INT(handover_of(l)->tries, ==, 1);
	CHECK_TRANSITION(l, TRANSITION_SEEDING); /* offered, and it is still prepared */
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_FAILED, NULL, "a task has declined");
	CHECK_TRANSITION(l, TRANSITION_REFUSED);
}

LIFE_TEST_FROM(t_seeding_begin, what_the_gates_have_seen_must_be_known)
{
	reported_of(l, NULL, false, &l->life.gate.report); /* at rest */
	stop_saved(l);
	CHECK_TRANSITION(l, TRANSITION_SEEDING);
	l->life.gate.report.known = true;
	reported(l, &l->life.gate.report);
	CHECK_TRANSITION(l, TRANSITION_SEEDED);
}

/* ---- the cut */

LIFE_TEST_FROM(t_shadow_begin, the_cut_comes_when_the_candidate_was_near_for_three_looks)
{
	struct gate_report near = green(l, T0 - 5000), far = green(l, T0 - 5001);

	t_committed(l); /* its watermark is T0 + 5000 */
	shadows(l, SHADOW_RUNNING, &near);
	shadows(l, SHADOW_RUNNING, &near);
	shadows(l, SHADOW_RUNNING, &far);
	shadows(l, SHADOW_RUNNING, &near);
	shadows(l, SHADOW_RUNNING, &near);
	viewed(l, job_in(JOB_RUNNING)); /* no other look */
	CHECK_TRANSITION(l, TRANSITION_SHADOW);
	shadows(l, SHADOW_RUNNING, &near);
	CHECK_TRANSITION(l, TRANSITION_ARMING);
	CHECK_INT(transition_in(l)->toggle_unix_ms, ==, T0 + 6000 + LEAD_MS);
	CHECK_INT(l->life.gate.order.word, ==, GATE_OPEN); /* the candidate is told first */
}

/* Two clocks give the records their times, and differ by an hour: both would write them for as long. */
LIFE_TEST_FROM(t_shadow_begin, a_candidate_whose_records_have_later_times_does_not_get_the_cut)
{
	struct gate_report ahead = green(l, T0 + 3600000);

	t_committed(l);
	for (int i = 0; i < 5; i++)
		shadows(l, SHADOW_RUNNING, &ahead);
	CHECK_TRANSITION(l, TRANSITION_SHADOW);
	pass(l, DEADLINE_MS - 1000);
	shadows(l, SHADOW_RUNNING, &ahead);
	CHECK_TRANSITION(l, TRANSITION_SHADOW);
	pass(l, 1000);
	CHECK_TRANSITION(l, TRANSITION_ABORTING);
	CHECK_HAS(handover_of(l)->why, "clocks differ");
}

LIFE_TEST_FROM(t_shadow_begin, the_cut_waits_until_what_was_seen_at_the_seed_is_committed)
{
	struct gate_report report = acked(l, T0 + 5000);

	add_snapshot(&report, 60, T0 - 1);
	reported(l, &report);
	t_near(l);
	CHECK_TRANSITION(l, TRANSITION_SHADOW);
	t_committed(l);
	CHECK_TRANSITION(l, TRANSITION_ARMING);
}

static void promoted(struct life *l, int64_t at_unix_ms)
{
	struct event e = {.type = EVENT_CONTROL,
			  .control = {.fields = CONTROL_PROMOTE,
				      .promote_nonce = "p1",
				      .promote_at_unix_ms = at_unix_ms}};

	step(l, &e);
}

LIFE_TEST_FROM(t_shadow_begin, where_it_is_manual_the_cut_waits_for_a_person)
{
	l->config.handover.blue_green.policy.manual = true;
	t_committed(l);
	t_near(l);
	CHECK_TRANSITION(l, TRANSITION_SHADOW);
	promoted(l, T0 + 900000);
	CHECK_TRANSITION(l, TRANSITION_ARMING);
	CHECK_INT(transition_in(l)->toggle_unix_ms, ==, T0 + 900000);
}

LIFE_TEST_FROM(t_arming_begin, all_gates_of_the_candidate_have_to_have_taken_it)
{
	struct gate_report report = green(l, T0);

	report.acked = 1;
	shadows(l, SHADOW_RUNNING, &report);
	report.acked = 2;
	report.order.number--;
	shadows(l, SHADOW_RUNNING, &report);
	CHECK_TRANSITION(l, TRANSITION_ARMING);
	forget(l);
	report.order.number++;
	shadows(l, SHADOW_RUNNING, &report);
	CHECK_TRANSITION(l, TRANSITION_ARMED);
	CHECK_INT(took(l, EFFECT_GATE), ==, 1);
	CHECK_INT(l->life.gate.order.word, ==, GATE_ARM_BLUE);
	CHECK_INT(l->life.gate.order.toggle_unix_ms, ==, transition_in(l)->toggle_unix_ms);
}

LIFE_TEST_FROM(t_arming_begin, a_cut_that_comes_too_late_is_chosen_again)
{
	struct gate_report report = green(l, T0 + 90000), here = acked(l, T0 + 88000);

	add_snapshot(&here, 60, T0 + 1000);
	reported(l, &here);
	report.refused = 1;
	for (int i = 0; i < 3; i++) {
		shadows(l, SHADOW_RUNNING, &report);
		CHECK_TRANSITION(l, i < 2 ? TRANSITION_SHADOW : TRANSITION_ARMING);
	}
	CHECK_INT(transition_in(l)->armings, ==, 1);
	CHECK_INT(transition_in(l)->before_unix_ms, ==, T0 + 6000 + LEAD_MS);
	CHECK_INT(transition_in(l)->toggle_unix_ms, ==, T0 + 91000 + 2 * LEAD_MS);
}

LIFE_TEST_FROM(t_arming_begin, a_cut_that_is_not_acknowledged_in_time_is_chosen_again)
{
	for (int i = 0; i < 6; i++) {
		CHECK_TRANSITION(l, TRANSITION_ARMING);
		pass(l, 10000);
		shadows(l, SHADOW_RUNNING, NULL);
	}
	CHECK_TRANSITION(l, TRANSITION_SHADOW);
	CHECK_INT(handover_of(l)->tries, ==, 1);
}

LIFE_TEST_FROM(t_arming_begin, an_order_comes_after_the_write_that_has_its_cut)
{
	struct gate_report report = green(l, T0);

	forget(l);
	l->hold_writes = true;
	shadows(l, SHADOW_RUNNING, &report);
	CHECK_TRANSITION(l, TRANSITION_ARMED);
	CHECK_NOTHING(l, EFFECT_GATE);
	written(l);
	CHECK_INT(took(l, EFFECT_GATE), ==, 1);
}

LIFE_TEST_FROM(t_seeded_begin, a_move_comes_after_the_write_of_the_one_before)
{
	l->hold_writes = true;
	shadows(l, SHADOW_RUNNING, NULL);
	CHECK_TRANSITION(l, TRANSITION_SHADOW);
	t_committed(l);
	t_near(l);
	CHECK_TRANSITION(l, TRANSITION_SHADOW);
	written(l);
	CHECK_TRANSITION(l, TRANSITION_SHADOW); /* the looks were none */
	t_near(l);
	CHECK_TRANSITION(l, TRANSITION_ARMING);
}

/* ---- crossing, the stop, and the grant */

LIFE_TEST_FROM(t_crossing_begin, the_job_is_stopped_when_it_was_behind_the_cut_for_a_while)
{
	int64_t cut = transition_in(l)->toggle_unix_ms;

	forget(l);
	t_here(l, cut - 1, 3);
	pass(l, SETTLE_MS + 1);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
	t_here(l, cut, 3);
	shadows(l, SHADOW_RUNNING, NULL);
	pass(l, SETTLE_MS - 1);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	pass(l, 1);
	CHECK_TRANSITION(l, TRANSITION_ENDING);
	CHECK_HANDOVER(l, HANDOVER_STOPPING);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_INT(l->life.journal.operation.kind, ==, OPERATION_STOP);
	CHECK_NOTHING(l, EFFECT_GATE);
}

LIFE_TEST_FROM(t_crossing_begin, a_job_that_falls_back_behind_the_cut_begins_to_wait_again)
{
	int64_t cut = transition_in(l)->toggle_unix_ms;

	t_here(l, cut, 3);
	pass(l, SETTLE_MS - 1000);
	t_here(l, cut - 1, 3);
	t_here(l, cut, 3);
	shadows(l, SHADOW_RUNNING, NULL);
	pass(l, 1000);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
}

LIFE_TEST_FROM(t_crossing_begin, a_job_that_has_ended_is_not_behind_the_cut)
{
	t_here(l, transition_in(l)->toggle_unix_ms, 3);
	exited(l, KILLED(9));
	pass(l, SETTLE_MS);
	shadows(l, SHADOW_RUNNING, NULL);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
	CHECK_PHASE(l, PHASE_RESOLVING); /* it starts again, its gates as they were */
}

LIFE_TEST_FROM(t_ending_begin, a_job_that_has_stopped_behind_the_cut_is_granted)
{
	t_stopped(l, transition_in(l)->toggle_unix_ms);
	CHECK_TRANSITION(l, TRANSITION_GRANTED);
	CHECK_STR(handover_of(l)->savepoint, SAVEPOINT_2);
	CHECK_STR(transition_in(l)->stop.path, SAVEPOINT_2);
	check_on_record(l, HANDOVER_GRANTED, "new");
	exited(l, EXITED(0));
	CHECK_INT(took(l, EFFECT_STAND_DOWN), ==, 1);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
}

LIFE_TEST_FROM(t_ending_begin, the_grant_does_not_wait_for_the_end_of_flink)
{
	t_stopped(l, transition_in(l)->toggle_unix_ms);
	CHECK_INT(l->life.launch_step, ==, LAUNCH_LIVE);
	CHECK_TRANSITION(l, TRANSITION_GRANTED);
}

/* Else it would be started again and stopped, for ever. */
LIFE_TEST_FROM(t_ending_begin, a_subtask_without_records_may_pass_at_the_stop_as_before_it)
{
	l->config.handover.blue_green.policy.idle_passes = true;
	t_stopped_idle(l, T0, transition_in(l)->toggle_unix_ms);
	CHECK_TRANSITION(l, TRANSITION_GRANTED);
}

LIFE_TEST_FROM(t_ending_begin, those_with_records_may_not)
{
	l->config.handover.blue_green.policy.idle_passes = true;
	t_stopped_idle(l, T0, transition_in(l)->toggle_unix_ms - 1);
	exited(l, EXITED(0));
	CHECK_TRANSITION(l, TRANSITION_ENDING);
}

LIFE_TEST_FROM(t_ending_begin, a_subtask_without_records_counts_at_the_stop_unless_it_may_pass)
{
	t_stopped_idle(l, T0, transition_in(l)->toggle_unix_ms);
	exited(l, EXITED(0));
	CHECK_TRANSITION(l, TRANSITION_ENDING);
}

LIFE_TEST_FROM(t_ending_begin, a_job_that_has_stopped_before_the_cut_goes_on)
{
	t_stopped(l, transition_in(l)->toggle_unix_ms - 1);
	exited(l, EXITED(0));
	CHECK_TRANSITION(l, TRANSITION_ENDING);
	CHECK_PHASE(l, PHASE_HOLDING); /* a last report may come */
	CHECK_INT(l->life.cause, ==, CAUSE_TRANSITION_DECIDES);
	CHECK_NOTHING(l, EFFECT_OBSERVE);
	pass(l, 3000);
	CHECK_TRANSITION(l, TRANSITION_ENDING);
	observed(l, DECISION_START_FROM, SAVEPOINT_2, 70, NULL);
	CHECK_INT(took(l, EFFECT_LAUNCH), ==, 1);
	CHECK_INT(l->life.gate.order.word, ==, GATE_ARM_BLUE); /* its gates as they were */
	CHECK_STR(l->life.gate.told_id, job_of(l));
}

LIFE_TEST_FROM(t_ending_begin, a_stop_that_fails_is_repeated_after_a_pause)
{
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_FAILED, NULL, "a task has declined");
	CHECK_TRANSITION(l, TRANSITION_ENDING);
	CHECK_PHASE(l, PHASE_RUNNING);
	CHECK_HANDOVER(l, HANDOVER_STOPPING);
	forget(l);
	pass(l, 10000);
	shadows(l, SHADOW_RUNNING, NULL);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	pass(l, 20000);
	shadows(l, SHADOW_RUNNING, NULL);
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_INT(l->life.transition.failures, ==, 1);
}

LIFE_TEST_FROM(t_ending_begin, after_three_stops_a_job_that_owes_nothing_is_ended)
{
	struct gate_report report = acked(l, transition_in(l)->toggle_unix_ms);

	for (int i = 0; i < 3; i++) {
		operation(l, STATUS_ACCEPTED, NULL, NULL);
		operation(l, STATUS_FAILED, NULL, "a task has declined");
		viewed(l, job_in(JOB_RUNNING));
		pass(l, 29999);
		shadows(l, SHADOW_RUNNING, NULL);
		if (i < 2)
			pass(l, 1);
	}
	add_snapshot(&report, 66, transition_in(l)->toggle_unix_ms);
	reported(l, &report);
	forget(l);
	pass(l, 1);
	viewed(l, job_in(JOB_RUNNING));
	CHECK_INT(took(l, EFFECT_SIGNAL), ==, 1);
	CHECK_NOTHING(l, EFFECT_TRIGGER);
	exited(l, KILLED(15));
	CHECK_NOTHING(l, EFFECT_OBSERVE);
	CHECK_TRANSITION(l, TRANSITION_GRANTED);
	CHECK_STR(handover_of(l)->savepoint, NULL);
}

/* It would be started again, only to be ended when the pause is over. */
LIFE_TEST_FROM(t_ending_begin, nor_is_it_started_again_if_it_dies_before_that)
{
	struct gate_report report = acked(l, transition_in(l)->toggle_unix_ms);

	for (int i = 0; i < 3; i++) {
		operation(l, STATUS_ACCEPTED, NULL, NULL);
		operation(l, STATUS_FAILED, NULL, "a task has declined");
		viewed(l, job_in(JOB_RUNNING));
		pass(l, i < 2 ? 30000 : 10000);
		shadows(l, SHADOW_RUNNING, NULL);
	}
	add_snapshot(&report, 66, transition_in(l)->toggle_unix_ms);
	reported(l, &report);
	forget(l);
	exited(l, KILLED(9));
	shadows(l, SHADOW_RUNNING, NULL);
	CHECK_TRANSITION(l, TRANSITION_GRANTED);
	CHECK_NOTHING(l, EFFECT_LAUNCH);
}

LIFE_TEST_FROM(t_crossing_begin, the_job_is_not_stopped_for_a_candidate_that_is_gone)
{
	t_here(l, transition_in(l)->toggle_unix_ms, 3);
	pass(l, SETTLE_MS);
	CHECK_TRANSITION(l, TRANSITION_ENDING);
	CHECK(l->life.journal.operation.kind == OPERATION_STOP);
	life_release(l);
	t_crossing_begin(l);
	candidate_gone(l);
	t_here(l, transition_in(l)->toggle_unix_ms, 3);
	pass(l, SETTLE_MS);
	CHECK_TRANSITION(l, TRANSITION_CROSSED);
	CHECK(l->life.journal.operation.kind == OPERATION_NONE);
}

LIFE_TEST_FROM(t_crossing_begin, another_pod_of_the_candidates_template_goes_on)
{
	struct party next = PARTY("next", "g2/c1/h2", SIDE_GREEN);
	struct candidate_shadow shadow = {.transition = NULL};

	shadows_as(l, &next, CANDIDATE_PREPARING, &shadow, false);
	CHECK_STR(handover_of(l)->to.pod, "new"); /* it was only found */
	shadows_as(l, &next, CANDIDATE_PREPARING, &shadow, false);
	CHECK_STR(handover_of(l)->to.pod, "next");
	CHECK_INT(handover_of(l)->to.side, ==, SIDE_GREEN);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
}

/* ---- without gates */

/* Both write as long as both run. */
static void ungated_begin(struct life *l)
{
	life_begin(l);
	blue_green_config(l, &old_pod, "g1");
	l->config.handover.blue_green.policy.gate = TRANSITION_GATE_NONE;
	claims(l, CLAIM_OWN, NULL);
	launch_empty(l);
	viewed(l, job_in(JOB_RUNNING));
	prove(l, 1);
	beats(l, CANDIDATE_PREPARING);
	beats(l, CANDIDATE_PREPARING);
	shadows(l, SHADOW_PREPARED, NULL);
	stop_saved(l);
	CHECK_TRANSITION(l, TRANSITION_SEEDED);
	shadows(l, SHADOW_RUNNING, NULL);
	CHECK_TRANSITION(l, TRANSITION_SHADOW);
}

LIFE_TEST_FROM(ungated_begin, without_gates_the_job_is_stopped_when_the_candidate_says_so)
{
	for (int i = 0; i < 5; i++)
		shadows(l, SHADOW_RUNNING, NULL);
	CHECK_TRANSITION(l, TRANSITION_SHADOW);
	shadows(l, SHADOW_CAUGHT_UP, NULL);
	CHECK_TRANSITION(l, TRANSITION_ENDING);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_COMPLETED, SAVEPOINT_2, NULL);
	inspected_as(l, SAVEPOINT_2, 70);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_TRANSITION(l, TRANSITION_GRANTED);
	CHECK_NOTHING(l, EFFECT_GATE);
}
