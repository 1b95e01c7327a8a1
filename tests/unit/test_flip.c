/* The keys of FLIP-504 in each state of a transition, and what is believed of its gates. */
#include "core/handover/flip.h"

#include <string.h>

#include "base/mem.h"
#include "tap.h"

#define LEAD_MS 30000

static struct handover in_state(enum transition_state state)
{
	struct handover handover = {.id = (char *)"h1-0",
				    .state = transition_outside(state),
				    .from = {.side = SIDE_BLUE},
				    .to = {.side = SIDE_GREEN}};

	handover.transition.id = handover.id;
	handover.transition.state = state;
	return handover;
}

TEST(each_state_has_its_keys)
{
	static const struct {
		enum transition_state state;
		enum side owner, active;
		bool is_first;
		enum flip_stage stage;
		bool theirs;
		enum flip_toggle toggle;
	} rows[] = {
		{TRANSITION_NONE, SIDE_BLUE, SIDE_BLUE, true, FLIP_RUNNING, false, FLIP_REMOVED},
		{TRANSITION_OFFERED, SIDE_BLUE, SIDE_BLUE, true, FLIP_RUNNING, false, FLIP_REMOVED},
		{TRANSITION_SEEDING, SIDE_BLUE, SIDE_BLUE, true, FLIP_RUNNING, false, FLIP_REMOVED},
		{TRANSITION_SEEDED, SIDE_BLUE, SIDE_GREEN, false, FLIP_INITIALIZING, false,
		 FLIP_REMOVED},
		{TRANSITION_SHADOW, SIDE_BLUE, SIDE_GREEN, false, FLIP_INITIALIZING, false,
		 FLIP_REMOVED},
		{TRANSITION_ARMING, SIDE_BLUE, SIDE_GREEN, false, FLIP_TRANSITIONING, true,
		 FLIP_LEFT},
		{TRANSITION_ARMED, SIDE_BLUE, SIDE_GREEN, false, FLIP_TRANSITIONING, true,
		 FLIP_LEFT},
		{TRANSITION_CROSSING, SIDE_BLUE, SIDE_GREEN, false, FLIP_TRANSITIONING, true,
		 FLIP_LEFT},
		{TRANSITION_CROSSED, SIDE_BLUE, SIDE_GREEN, false, FLIP_TRANSITIONING, true,
		 FLIP_LEFT},
		{TRANSITION_ENDING, SIDE_BLUE, SIDE_GREEN, false, FLIP_TRANSITIONING, true,
		 FLIP_LEFT},
		{TRANSITION_GRANTED, SIDE_GREEN, SIDE_GREEN, false, FLIP_TRANSITIONING, true,
		 FLIP_LEFT},
		{TRANSITION_TAKEN, SIDE_GREEN, SIDE_GREEN, false, FLIP_RUNNING, false, FLIP_LEFT},
		{TRANSITION_DONE, SIDE_GREEN, SIDE_GREEN, true, FLIP_RUNNING, false, FLIP_REMOVED},
		{TRANSITION_ABORTING, SIDE_BLUE, SIDE_BLUE, true, FLIP_FAILING, false,
		 FLIP_REMOVED},
		{TRANSITION_REFUSED, SIDE_BLUE, SIDE_BLUE, true, FLIP_RUNNING, false, FLIP_REMOVED},
	};

	CHECK_INT(ARRAY_LEN(rows), ==, TRANSITION_STATES);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct handover handover = in_state(rows[i].state);
		struct flip_keys keys = flip_keys(&handover, rows[i].owner, LEAD_MS);
		bool well = keys.active == rows[i].active && keys.is_first == rows[i].is_first &&
			    keys.stage == rows[i].stage && keys.stage_is_theirs == rows[i].theirs &&
			    keys.toggle == rows[i].toggle && keys.delay_ms == LEAD_MS;

		if (!CHECK(well))
			tap_note("in %s", transition_state_name(rows[i].state));
	}
}

TEST(the_delay_is_what_gates_can_read)
{
	struct handover handover = in_state(TRANSITION_SHADOW);

	CHECK_INT(flip_keys(&handover, SIDE_BLUE, INT64_C(3000000000)).delay_ms, ==, 2147483647);
}

TEST(clear_to_teardown_is_not_believed_alone)
{
	static const struct {
		struct flip_gate gate;
		bool crossed;
	} rows[] = {
		{{FLIP_CLEAR_TO_TEARDOWN, 4, 4, 0, 0}, true},
		{{FLIP_CLEAR_TO_TEARDOWN, 4, 4, 4, 4}, true},
		{{FLIP_CLEAR_TO_TEARDOWN, 4, 3, 4, 4}, false}, /* one is not behind the cut */
		{{FLIP_CLEAR_TO_TEARDOWN, 4, 4, 4, 3}, false}, /* one says that it is not over */
		{{FLIP_CLEAR_TO_TEARDOWN, 0, 0, 0, 0}, false}, /* Flink did not answer */
		{{FLIP_TRANSITIONING, 4, 4, 4, 4}, false},
		{{FLIP_RUNNING, 4, 4, 0, 0}, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_INT(flip_has_crossed(&rows[i].gate), ==, rows[i].crossed);
}
