/* What is told of a transition: each state once, that the candidate has caught up, and that it is given up. */
#include "transition_life.h"

/* What was told since the last call, but for operations. */
#define CHECK_TOLD(l, words)                                                                       \
	do {                                                                                       \
		CHECK_STR((l)->told, words);                                                       \
		forget(l);                                                                         \
	} while (0)

LIFE_TEST_FROM(t_offered_begin, each_state_up_to_the_stop_is_told_once)
{
	struct gate_report report;

	forget(l);
	shadows(l, SHADOW_PREPARED, NULL);
	CHECK_TOLD(l, "transition:seeding");
	stop_saved(l);
	CHECK_TOLD(l, "operation transition:seeded");
	shadows(l, SHADOW_RUNNING, NULL);
	CHECK_TOLD(l, "transition:shadow");
	t_committed(l);
	CHECK_TOLD(l, "");
	t_near(l);
	CHECK_TOLD(l, "caught-up transition:arming");
	report = green(l, T0);
	shadows(l, SHADOW_RUNNING, &report);
	CHECK_TOLD(l, "transition:armed");
	t_here(l, T0 + 6000, 0);
	CHECK_TOLD(l, "transition:crossing");
	t_here(l, transition_in(l)->toggle_unix_ms, 3);
	pass(l, SETTLE_MS);
	CHECK_TOLD(l, "transition:crossed handover:stopping phase:Stopping");
	t_stopped(l, transition_in(l)->toggle_unix_ms);
	CHECK_HAS(l->told, "handover:granted");
	CHECK(!strstr(l->told, "transition"));
}

LIFE_TEST_FROM(t_shadow_begin, that_the_candidate_has_caught_up_is_told_once)
{
	l->config.handover.blue_green.policy.manual = true;
	t_committed(l);
	forget(l);
	t_near(l);
	CHECK_STR(l->told, "caught-up");
	CHECK_HAS(l->last_notice, "hand-over h");
	CHECK_HAS(l->last_notice,
		  "to new: the next version has caught up, and waits for `drey promote`");
	forget(l);
	t_near(l);
	CHECK_TOLD(l, "");
}

LIFE_TEST_FROM(t_arming_begin, a_later_cut_is_told_and_that_it_has_caught_up_is_not_told_again)
{
	struct gate_report report = green(l, T0);

	report.refused = 1;
	forget(l);
	shadows(l, SHADOW_RUNNING, &report);
	CHECK_TOLD(l, "transition:shadow transition:arming");
}

LIFE_TEST_FROM(t_crossing_begin, that_it_is_given_up_after_the_cut_is_told)
{
	forget(l);
	step(l, &(struct event){.type = EVENT_CONTROL,
				.control = {.fields = CONTROL_ABORT, .abort_nonce = "a0"}});
	CHECK_TOLD(l, "transition:aborting");
}

LIFE_TEST_FROM(t_ending_begin, out_of_the_stop_too)
{
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	operation(l, STATUS_FAILED, NULL, "a task has declined");
	forget(l);
	step(l, &(struct event){.type = EVENT_CONTROL,
				.control = {.fields = CONTROL_ABORT, .abort_nonce = "a0"}});
	CHECK_HANDOVER(l, HANDOVER_OFFERED);
	CHECK_TOLD(l, "phase:Running transition:aborting");
}

LIFE_TEST_FROM(t_seeding_begin, a_savepoint_that_fails_is_an_offer_again)
{
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	forget(l);
	operation(l, STATUS_FAILED, NULL, "a task has declined");
	CHECK_TOLD(l, "operation transition:offered transition:seeding");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	forget(l);
	operation(l, STATUS_FAILED, NULL, "a task has declined");
	CHECK_TOLD(l, "operation handover:refused");
}

/* ---- the reason ---- */

#define OTHER_MODE "handover.mode is not blueGreen in this version"

LIFE_TEST_FROM(t_offered_begin, a_version_that_cannot_take_part_is_refused_with_its_own_words)
{
	says(l, CANDIDATE_FAILED, OTHER_MODE);
	CHECK_STR(handover_of(l)->why, "the new version cannot be prepared: " OTHER_MODE);
	says(l, CANDIDATE_PREPARING, NULL);
	says(l, CANDIDATE_PREPARING, NULL);
	CHECK_TRANSITION(l, TRANSITION_OFFERED);
	says(l, CANDIDATE_FAILED, OTHER_MODE);
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
	CHECK_STR(handover_of(l)->why, "the new version cannot be prepared: " OTHER_MODE);
	CHECK_HAS(l->last_notice, OTHER_MODE);
}

/* What was in the way is said until it is over, and then, too. */
LIFE_TEST_FROM(t_shadow_begin, a_transition_that_was_given_up_keeps_the_reason)
{
	cleanup_free char *id = xstrdup(handover_of(l)->id);
	struct candidate_shadow shadow = {.transition = id, .state = SHADOW_FAILED};
	struct event e = {.type = EVENT_CANDIDATE,
			  .candidate = {.present = true,
					.party = new_pod,
					.state = CANDIDATE_FAILED,
					.wanted = WANTED_YES,
					.why = "attempts used up",
					.beat = next_beat(),
					.shadow = shadow}};

	l->config.handover.blue_green.policy.tries = 1;
	step(l, &e);
	CHECK_TRANSITION(l, TRANSITION_ABORTING);
	CHECK_STR(handover_of(l)->why, "the candidate is gone, or cannot go on: attempts used up");
	candidate_ended(l);
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
	CHECK_STR(
		handover_of(l)->why,
		"the transition was given up: the candidate is gone, or cannot go on: attempts used up");
}

LIFE_TEST_FROM(t_shadow_begin, that_a_person_has_given_it_up_is_the_reason)
{
	step(l, &(struct event){.type = EVENT_CONTROL,
				.control = {.fields = CONTROL_ABORT, .abort_nonce = "a0"}});
	candidate_ended(l);
	CHECK_HANDOVER(l, HANDOVER_REFUSED);
	CHECK_STR(handover_of(l)->why, "the transition was given up: a person has given it up");
}

/* ---- taken ---- */

/* As the agent of the candidate has written it, which has told nobody. */
static void adopted_begin(struct life *l)
{
	t_ending_begin(l);
	t_stopped(l, transition_in(l)->toggle_unix_ms);
	CHECK_TRANSITION(l, TRANSITION_GRANTED);
	transition_take(handover_of(l));
	handover_of(l)->state_unix_ms = l->life.now_unix_ms;
	put_on_record(l);
	blue_green_config(l, &new_pod, "g2");
	restart_agent(l);
	forget(l);
	claims(l, CLAIM_OWN, NULL);
}

LIFE_TEST_FROM(adopted_begin, that_the_job_was_adopted_is_told_once)
{
	CHECK_HAS(l->told, "handover:taken");
	CHECK(handover_of(l)->taken_unix_ms != 0);
	restart_agent(l);
	forget(l);
	claims(l, CLAIM_OWN, NULL);
	CHECK(!strstr(l->told, "handover:taken"));
}
