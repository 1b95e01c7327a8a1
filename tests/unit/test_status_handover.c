/* What the status document has of a hand-over: of the owner, and of another pod. */
#include "core/report/status_handover.h"

#include "core/report/status_transition.h"
#include "transition_life.h"

static const struct json *handover_in(const struct json *doc)
{
	return json_get(doc, "handover");
}

LIFE_TEST_FROM(offered_begin, the_owner_tells_of_the_hand_over_and_of_the_candidate)
{
	struct candidate_record record = {.pod = (char *)(uintptr_t) "new",
					  .state = CANDIDATE_PREPARING,
					  .side = SIDE_GREEN,
					  .warm = {.main_held = true, .task_managers = 2},
					  .why = (char *)(uintptr_t) "it waits"};
	cleanup_json struct json *doc = json_object();
	const struct json *to;

	xstrset(&handover_of(l)->returned, "main() threw");
	handover_of(l)->returned_unix_ms = 7;
	status_add_handover(doc, &l->life, &record, NULL);
	CHECK_STR(json_str(doc, "role"), "owner");
	CHECK_STR(json_str(json_get(doc, "owner"), "pod"), "old");
	CHECK_STR(json_str(handover_in(doc), "state"), "offered");
	CHECK_STR(json_str(handover_in(doc), "mode"), "surge");
	CHECK_STR(json_str(json_get(handover_in(doc), "to"), "pod"), "new");
	CHECK_STR(json_str(handover_in(doc), "returned"), "main() threw");
	CHECK_INT(json_i64_or(handover_in(doc), "returnedUnixMs", 0), ==, 7);
	CHECK_INT(json_kind(json_get(handover_in(doc), "doneUnixMs")), ==, JSON_NULL);
	CHECK(!json_get(handover_in(doc), "jobId"));
	to = json_get(doc, "candidate");
	CHECK_STR(json_str(to, "pod"), "new");
	CHECK_STR(json_str(to, "state"), "Preparing");
	CHECK_STR(json_str(to, "side"), "green");
	CHECK(json_bool_or(to, "mainHeld", false));
	CHECK_INT(json_i64_or(to, "taskManagers", 0), ==, 2);
	CHECK_STR(json_str(to, "why"), "it waits");
}

LIFE_TEST_FROM(owner_begin, without_a_candidate_there_is_none)
{
	cleanup_json struct json *doc = json_object();

	status_add_handover(doc, &l->life, NULL, NULL);
	CHECK_STR(json_str(doc, "role"), "owner");
	CHECK_INT(json_kind(json_get(doc, "candidate")), ==, JSON_NULL);
	CHECK_INT(json_kind(handover_in(doc)), ==, JSON_NULL);
}

LIFE_TEST_FROM(granted_begin, who_has_given_the_job_away_is_the_reserve)
{
	cleanup_json struct json *doc = json_object();

	status_add_handover(doc, &l->life, NULL, NULL);
	CHECK_STR(json_str(doc, "role"), "reserve");
	CHECK_STR(json_str(json_get(doc, "owner"), "pod"), "new");
}

TEST(before_anything_is_read_nothing_is_known)
{
	cleanup_json struct json *doc = json_object();

	status_add_handover(doc, NULL, NULL, NULL);
	CHECK_STR(json_str(doc, "role"), "unknown");
	CHECK_INT(json_kind(json_get(doc, "owner")), ==, JSON_NULL);
	CHECK_INT(json_kind(json_get(doc, "candidate")), ==, JSON_NULL);
}

TEST(another_pod_tells_what_it_has_read_and_of_itself)
{
	struct standby standby = {.verdict = {.role = ROLE_CANDIDATE, .side = SIDE_GREEN}};
	cleanup_json struct json *doc = json_object();

	standby.record.pod = (char *)(uintptr_t) "new";
	standby.record.state = CANDIDATE_PREPARED;
	standby.owner = old_pod;
	status_add_handover(doc, NULL, NULL, &standby);
	CHECK_STR(json_str(doc, "role"), "candidate");
	CHECK_STR(json_str(json_get(doc, "owner"), "pod"), "old");
	CHECK_STR(json_str(json_get(doc, "candidate"), "state"), "Prepared");
	CHECK_STR(json_str(json_get(doc, "candidate"), "side"), "green");
}

LIFE_TEST_FROM(offered_begin, a_hand_over_of_another_kind_has_no_transition)
{
	cleanup_json struct json *doc = json_object();

	status_add_handover(doc, &l->life, NULL, NULL);
	CHECK_INT(json_kind(json_get(handover_in(doc), "transition")), ==, JSON_NULL);
	CHECK(json_get(handover_in(doc), "transition") != NULL);
}

LIFE_TEST_FROM(t_crossing_begin, the_owner_tells_of_both_jobs_in_a_transition)
{
	cleanup_json struct json *doc = json_object();
	struct gate_report report = green(l, T0 + 4000);
	const struct json *transition;

	shadows(l, SHADOW_RUNNING, &report);
	t_here(l, T0 + 9000, 3);
	status_add_handover(doc, &l->life, NULL, NULL);
	transition = json_get(handover_in(doc), "transition");
	CHECK_STR(json_str(transition, "state"), "crossing");
	CHECK_HAS(json_str(transition, "waitsFor"), "behind the cut, for blueGreen.settle");
	CHECK_STR(json_str(transition, "seed"), SAVEPOINT_1);
	CHECK_INT(json_i64_or(transition, "cutUnixMs", 0), ==, T0 + 6000 + LEAD_MS);
	CHECK_STR(json_str(transition, "candidateState"), "shadowing");
	CHECK_INT(json_i64_or(transition, "watermarkUnixMs", 0), ==, T0 + 9000);
	CHECK_INT(json_i64_or(transition, "candidateWatermarkUnixMs", 0), ==, T0 + 4000);
	CHECK_INT(json_i64_or(transition, "behindMs", 0), ==, 5000);
	CHECK_INT(json_i64_or(transition, "withheld", 0), ==, 3);
	CHECK_STR(json_str(transition, "replay"), NULL);
}

LIFE_TEST_FROM(t_crossing_begin, an_owner_behind_the_cut_waits_for_a_job_that_runs)
{
	cleanup_json struct json *doc = json_object();
	const struct json *transition;

	shadows(l, SHADOW_STARTING, NULL);
	t_here(l, transition_in(l)->toggle_unix_ms, 3);
	pass(l, SETTLE_MS);
	status_add_handover(doc, &l->life, NULL, NULL);
	transition = json_get(handover_in(doc), "transition");
	CHECK_STR(json_str(transition, "state"), "crossed");
	CHECK_STR(json_str(transition, "waitsFor"), "the job of the next version runs");
	CHECK_STR(json_str(transition, "candidateState"), "starting");
}

static const char *waits_for(struct json *doc, struct life *l)
{
	status_add_handover(doc, &l->life, NULL, NULL);
	return json_str(json_get(handover_in(doc), "transition"), "waitsFor");
}

/* Its candidate is prepared, and another agent's write may be on its way. */
LIFE_TEST_FROM(t_offered_begin, an_owner_waits_for_the_config_map_of_the_gates)
{
	cleanup_json struct json *before = json_object(), *unwritten = json_object();

	l->config.handover.blue_green.policy.gate = TRANSITION_GATE_FLIP;
	CHECK_STR(waits_for(before, l), "the next version prepares");
	shadows(l, SHADOW_PREPARED, NULL);
	CHECK_TRANSITION(l, TRANSITION_OFFERED);
	CHECK_STR(waits_for(unwritten, l), "the ConfigMap of the gates says what it says at rest");
}

LIFE_TEST_FROM(t_armed_begin, an_owner_waits_for_the_gates_that_choose_the_cut)
{
	cleanup_json struct json *theirs = json_object(), *own = json_object();

	CHECK_HAS(waits_for(own, l), "acknowledge the cut");
	l->config.handover.blue_green.policy.gate = TRANSITION_GATE_FLIP;
	CHECK_HAS(waits_for(theirs, l), "the gates choose the cut");
}

LIFE_TEST_FROM(t_offered_begin, what_is_not_known_of_a_transition_is_null)
{
	cleanup_json struct json *doc = json_object();
	const struct json *transition;

	status_add_handover(doc, &l->life, NULL, NULL);
	transition = json_get(handover_in(doc), "transition");
	CHECK_STR(json_str(transition, "state"), "offered");
	CHECK_INT(json_kind(json_get(transition, "behindMs")), ==, JSON_NULL);
	CHECK_INT(json_kind(json_get(transition, "candidateState")), ==, JSON_NULL);
	CHECK_INT(json_kind(json_get(transition, "cutUnixMs")), ==, JSON_NULL);
}

TEST(each_state_of_a_transition_says_what_it_waits_for)
{
	struct handover handover = {.id = (char *)"h1", .transition = {.id = (char *)"h1"}};

	for (int i = TRANSITION_OFFERED; i < TRANSITION_STATES; i++) {
		const char *waits;

		handover.transition.state = (enum transition_state)i;
		handover.state = transition_outside(handover.transition.state);
		waits = status_transition_waits(&handover, true);
		CHECK((waits != NULL) == (i != TRANSITION_DONE && i != TRANSITION_REFUSED));
	}
	handover.transition.state = TRANSITION_SHADOW;
	handover.state = HANDOVER_OFFERED;
	CHECK_HAS(status_transition_waits(&handover, true), "drey promote");
	CHECK(!strstr(status_transition_waits(&handover, false), "drey promote"));
}
