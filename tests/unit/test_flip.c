/* The keys of FLIP-504 in each state of a transition, and what is believed of its gates. */
#include "core/handover/flip.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

#define LEAD_MS 30000

static struct handover in_state(enum transition_state state)
{
	struct handover handover = {.id = (char *)"h1-0",
				    .state = transition_outside(state),
				    .transition = {.output_side = SIDE_GREEN}};

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
		{TRANSITION_ABORTING, SIDE_BLUE, SIDE_GREEN, false, FLIP_FAILING, false,
		 FLIP_REMOVED},
		{TRANSITION_REFUSED, SIDE_BLUE, SIDE_BLUE, true, FLIP_RUNNING, false, FLIP_REMOVED},
	};

	CHECK_INT(ARRAY_LEN(rows), ==, TRANSITION_STATES);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct handover handover = in_state(rows[i].state);
		struct flip_keys keys = flip_keys(&handover, rows[i].owner, false, LEAD_MS);
		bool well = keys.active == rows[i].active && keys.is_first == rows[i].is_first &&
			    keys.stage == rows[i].stage && keys.stage_is_theirs == rows[i].theirs &&
			    keys.toggle == rows[i].toggle && keys.delay_ms == LEAD_MS;

		if (!CHECK(well))
			tap_note("in %s", transition_state_name(rows[i].state));
	}
}

/* A job that was handed over while it did not run has HA maps on the other side than its output. */
TEST(the_sides_of_the_ha_maps_are_nothing_to_the_gates)
{
	for (int state = 0; state < TRANSITION_STATES; state++) {
		struct handover handover = in_state((enum transition_state)state), swapped;
		struct flip_keys keys, same;

		swapped = handover;
		handover.to.side = SIDE_GREEN;
		swapped.from.side = SIDE_GREEN;
		keys = flip_keys(&handover, SIDE_BLUE, false, LEAD_MS);
		same = flip_keys(&swapped, SIDE_BLUE, false, LEAD_MS);
		CHECK(flip_same_keys(&keys, &same));
	}
}

TEST(the_delay_is_what_gates_can_read)
{
	struct handover handover = in_state(TRANSITION_SHADOW);

	CHECK_INT(flip_keys(&handover, SIDE_BLUE, false, INT64_C(3000000000)).delay_ms, ==,
		  2147483647);
}

/* A gate that is not active passes everything as long as it knows of no cut: the candidate's must not
 * become that while its job may run, or may be started again. */
TEST(the_side_goes_back_when_the_candidate_has_ended)
{
	static const struct {
		bool opened, ended;
		enum side active;
	} rows[] = {{false, false, SIDE_GREEN},
		    {true, false, SIDE_GREEN},
		    {false, true, SIDE_GREEN},
		    {true, true, SIDE_BLUE}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct handover handover = in_state(TRANSITION_ABORTING);
		struct flip_keys keys;

		handover.transition.opened = rows[i].opened;
		keys = flip_keys(&handover, SIDE_BLUE, rows[i].ended, LEAD_MS);
		CHECK_INT(keys.active, ==, rows[i].active);
		CHECK_INT(keys.is_first, ==, rows[i].active == SIDE_BLUE);
		CHECK_INT(keys.stage, ==, FLIP_FAILING);
	}
}

/* ---- what is written ---- */

#define T "1767225600000"

/* "KEY=VALUE ...", with the first letters of the keys that change. */
static const char *changes(enum transition_state state, int64_t toggle_unix_ms,
			   const struct flip_values *values)
{
	static char text[300];
	struct handover handover = in_state(state);
	struct flip_change list[FLIP_KEYS];
	struct flip_keys keys;
	size_t count;

	handover.transition.toggle_unix_ms = toggle_unix_ms;
	keys = flip_keys(&handover, state == TRANSITION_TAKEN ? SIDE_GREEN : SIDE_BLUE, false,
			 LEAD_MS);
	count = flip_changes(&keys, values, list);
	*text = '\0';
	for (size_t i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s=%s", i ? " " : "",
			 flip_key_words[list[i].key], list[i].value);
	return text;
}

#define VALUES(active, first, stage, asked, toggle)                                                \
	(&(struct flip_values){{active, first, "30000", stage, asked, toggle}})

TEST(only_what_differs_is_changed)
{
	CHECK_STR(changes(TRANSITION_NONE, 0, &(struct flip_values){{NULL}}),
		  "active-deployment-type=BLUE is-first-deployment=true "
		  "deployment-deletion-delay-ms=30000 stage=RUNNING");
	CHECK_STR(changes(TRANSITION_NONE, 0, VALUES("BLUE", "true", "RUNNING", NULL, NULL)), "");
	CHECK_STR(changes(TRANSITION_NONE, 0,
			  VALUES("GREEN", "false", "FAILING", "WATERMARK_SET", T)),
		  "active-deployment-type=BLUE is-first-deployment=true stage=RUNNING "
		  "watermark-toggle-value= watermark-stage=");
	CHECK_STR(changes(TRANSITION_SHADOW, 0, VALUES("BLUE", "true", "RUNNING", NULL, NULL)),
		  "active-deployment-type=GREEN is-first-deployment=false stage=INITIALIZING");
}

TEST(what_the_gates_write_stays)
{
	CHECK_STR(changes(TRANSITION_ARMED, 0,
			  VALUES("GREEN", "false", "TRANSITIONING", "WAITING_FOR_WATERMARK", NULL)),
		  "");
	CHECK_STR(changes(TRANSITION_ARMED, 0,
			  VALUES("GREEN", "false", "CLEAR_TO_TEARDOWN", "WATERMARK_SET", T)),
		  "");
	/* the stage at which gates ask for a cut */
	CHECK_STR(changes(TRANSITION_ARMED, 0,
			  VALUES("GREEN", "false", "CLEAR_TO_TEARDOWN", NULL, NULL)),
		  "stage=TRANSITIONING");
	/* each task that reads it fails */
	CHECK_STR(changes(TRANSITION_ARMED, 0,
			  VALUES("GREEN", "false", "TRANSITIONING", "WATERMARK_SET", "soon")),
		  "watermark-toggle-value=");
	CHECK_STR(changes(TRANSITION_TAKEN, INT64_C(1767225600000),
			  VALUES("GREEN", "false", "CLEAR_TO_TEARDOWN", "WATERMARK_SET", T)),
		  "stage=RUNNING");
}

TEST(the_cut_on_record_stays)
{
	CHECK_STR(changes(TRANSITION_CROSSING, INT64_C(1767225600000),
			  VALUES("GREEN", "false", "TRANSITIONING", "WATERMARK_SET", "9")),
		  "watermark-toggle-value=" T);
	CHECK_STR(changes(TRANSITION_TAKEN, INT64_C(1767225600000),
			  VALUES("GREEN", "false", "RUNNING", "WATERMARK_SET", NULL)),
		  "watermark-toggle-value=" T);
}

TEST(a_cut_is_on_record_before_it_is_removed)
{
	const struct flip_values *values = VALUES("GREEN", "false", "FAILING", NULL, T);
	struct handover handover = in_state(TRANSITION_ABORTING);
	struct flip_keys keys = flip_keys(&handover, SIDE_BLUE, false, LEAD_MS);

	CHECK_STR(changes(TRANSITION_ABORTING, 0, values), "");
	CHECK(!flip_is_written(&keys, values));
	CHECK_STR(changes(TRANSITION_ABORTING, INT64_C(1767225600000), values),
		  "watermark-toggle-value=");
	CHECK(flip_is_written(&keys, VALUES("GREEN", "false", "FAILING", NULL, NULL)));
}

/* A gate reads an empty value as one that it cannot read, and drey would wait for it to go. */
TEST(an_empty_value_is_removed_like_any_other)
{
	const struct flip_values *values = VALUES("BLUE", "true", "RUNNING", "", "");

	CHECK_STR(changes(TRANSITION_NONE, 0, values), "watermark-toggle-value= watermark-stage=");
	CHECK_STR(
		changes(TRANSITION_ARMING, 0, VALUES("GREEN", "false", "TRANSITIONING", NULL, "")),
		"watermark-toggle-value=");
}

TEST(what_cannot_be_read_is_no_cut)
{
	static const struct {
		const char *text;
		int64_t toggle_unix_ms;
	} rows[] = {{T, INT64_C(1767225600000)},
		    {NULL, 0},
		    {"", 0},
		    {"-5", 0},
		    {"5x", 0},
		    {"99999999999999999999", 0},
		    {"9007199254740991", 0}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_INT(flip_toggle(VALUES("BLUE", "true", "RUNNING", NULL, rows[i].text)), ==,
			  rows[i].toggle_unix_ms);
}

TEST(the_candidate_starts_where_its_gates_are_shut)
{
	CHECK(flip_shuts(VALUES("GREEN", "false", "INITIALIZING", NULL, NULL), SIDE_GREEN));
	CHECK(!flip_shuts(VALUES("GREEN", "true", "RUNNING", NULL, NULL), SIDE_GREEN));
	CHECK(!flip_shuts(VALUES("BLUE", "false", "INITIALIZING", NULL, NULL), SIDE_GREEN));
	CHECK(!flip_shuts(&(struct flip_values){{NULL}}, SIDE_GREEN));
}

/* ---- what is believed ---- */

TEST(clear_to_teardown_is_not_believed_alone)
{
	static const struct {
		struct gate_keys_shown gate;
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
