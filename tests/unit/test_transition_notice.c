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
	struct gate_report report = green(l, T0 + 90000);

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
