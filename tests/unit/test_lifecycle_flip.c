/* The owner in a transition with gates of FLIP-504: what their ConfigMap is to say, and what it says. */
#include "core/handover/flip.h"
#include "core/lifecycle/lifecycle_gate_keys.h"

#include "transition_life.h"

#define CUT (T0 + 40000)

/* The transition is in the shadow, and may cross. */
static void flip_begin(struct life *l)
{
	t_shadow_begin(l);
	l->config.handover.blue_green.policy.gate = TRANSITION_GATE_FLIP;
}

static struct flip_keys keys_of(const struct keys_wanted *wanted)
{
	return flip_keys(wanted->handover, wanted->owner_side, wanted->ended, wanted->lead_ms);
}

/* What the map says, of the keys of this state. */
static void keys_say(struct life *l, enum transition_state state, int64_t toggle_unix_ms)
{
	cleanup_free char *id = xstrdup(handover_of(l)->id);
	struct event e = {
		.type = EVENT_GATE_KEYS,
		.gate_keys = {.transition = id, .state = state, .toggle_unix_ms = toggle_unix_ms}};

	e.gate_keys.shown = (struct gate_keys_shown){
		.stage = FLIP_CLEAR_TO_TEARDOWN, .subtasks = 2, .behind = toggle_unix_ms ? 2 : 0};
	step(l, &e);
}

static void is_aborted(struct life *l)
{
	struct gate_report report = acked(l, T0 + 5000);

	l->life.journal.handover.transition.aborted = true;
	reported(l, &report);
	CHECK_TRANSITION(l, TRANSITION_ABORTING);
}

static void armed_begin(struct life *l)
{
	flip_begin(l);
	t_committed(l);
	t_near(l);
	CHECK_TRANSITION(l, TRANSITION_ARMED);
}

static void candidate_speaks(struct life *l)
{
	struct gate_report there = green(l, T0);

	shadows(l, SHADOW_RUNNING, &there);
}

/* It is still there when the map is read again. */
static void keys_stay(struct life *l, int64_t toggle_unix_ms)
{
	keys_say(l, TRANSITION_ARMED, toggle_unix_ms);
	candidate_speaks(l);
	pass(l, 2000);
	keys_say(l, TRANSITION_ARMED, toggle_unix_ms);
}

/* Given up, and drey's keys were there so much longer when the map is read again. */
static void keys_stand(struct life *l, int64_t ms)
{
	pass(l, ms);
	keys_say(l, TRANSITION_ABORTING, 0);
}

static void crossing_begin(struct life *l)
{
	armed_begin(l);
	keys_stay(l, CUT);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
}

LIFE_TEST_FROM(flip_begin, what_is_on_record_is_what_the_keys_say)
{
	struct keys_wanted wanted;

	CHECK_INT(lifecycle_wants_keys(&l->life, &wanted), ==, KEYS_MINE);
	CHECK_INT(wanted.state, ==, TRANSITION_SHADOW);
	CHECK_INT(keys_of(&wanted).active, ==, SIDE_GREEN);
	CHECK_STR(wanted.transition, handover_of(l)->id);
	CHECK_STR(lifecycle_looks_at_gates(&l->life), job_of(l));
	l->life.want_write = true;
	CHECK_INT(lifecycle_wants_keys(&l->life, &wanted), ==, KEYS_LATER);
}

/* The HA maps of this pod are on blue. */
LIFE_TEST_FROM(gated_begin, the_active_side_is_that_of_the_output)
{
	struct keys_wanted wanted;

	l->config.handover.blue_green.policy.gate = TRANSITION_GATE_FLIP;
	journal_launch(&l->life.journal)->output_side = SIDE_GREEN;
	CHECK_INT(lifecycle_wants_keys(&l->life, &wanted), ==, KEYS_MINE);
	CHECK_INT(keys_of(&wanted).active, ==, SIDE_GREEN);
	CHECK(keys_of(&wanted).is_first);
	for (int i = 0; i < 2; i++)
		beats(l, CANDIDATE_PREPARING);
	CHECK_TRANSITION(l, TRANSITION_OFFERED);
	l->life.journal.handover.transition.state = TRANSITION_SEEDED;
	CHECK_INT(lifecycle_wants_keys(&l->life, &wanted), ==, KEYS_MINE);
	CHECK_INT(keys_of(&wanted).active, ==, SIDE_BLUE); /* the candidate's */
	CHECK(!keys_of(&wanted).is_first);
}

LIFE_TEST_FROM(flip_begin, the_keys_are_those_of_the_owner)
{
	struct keys_wanted wanted;

	l->life.handover.giving = true;
	CHECK_INT(lifecycle_wants_keys(&l->life, &wanted), ==, KEYS_OTHERS);
	l->life.handover.giving = false;
	l->config.handover.shadow = true;
	CHECK_INT(lifecycle_wants_keys(&l->life, &wanted), ==, KEYS_OTHERS);
}

LIFE_TEST_FROM(armed_begin, the_cut_counts_when_it_stays_the_same)
{
	CHECK_INT(transition_in(l)->toggle_unix_ms, ==, 0);
	keys_say(l, TRANSITION_ARMED, CUT - 1000);
	CHECK_TRANSITION(l, TRANSITION_ARMED);
	pass(l, 1500);
	keys_say(l, TRANSITION_ARMED, CUT); /* another subtask was a moment later */
	candidate_speaks(l);
	pass(l, 1500);
	keys_say(l, TRANSITION_ARMED, CUT);
	CHECK_TRANSITION(l, TRANSITION_ARMED);
	pass(l, 1500); /* what was read last may not be there any more */
	CHECK_TRANSITION(l, TRANSITION_ARMED);
	keys_say(l, TRANSITION_ARMED, CUT);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
	CHECK_INT(transition_in(l)->toggle_unix_ms, ==, CUT);
}

/* A gate without a watermark asks the clock of its node. */
LIFE_TEST_FROM(armed_begin, a_cut_in_the_past_is_given_up)
{
	struct gate_report there = green(l, CUT - 1);

	there.max_seen_unix_ms = CUT;
	shadows(l, SHADOW_RUNNING, &there);
	keys_say(l, TRANSITION_ARMED, CUT);
	CHECK_TRANSITION(l, TRANSITION_ARMED);
	there.max_seen_unix_ms = CUT - 1;
	shadows(l, SHADOW_RUNNING, &there);
	pass(l, 2000);
	keys_say(l, TRANSITION_ARMED, CUT);
	CHECK_TRANSITION(l, TRANSITION_ABORTING);
	CHECK_HAS(handover_of(l)->why, "in the past");
}

LIFE_TEST_FROM(armed_begin, a_cut_counts_when_flink_has_shown_where_the_gates_are)
{
	cleanup_free char *id = xstrdup(handover_of(l)->id);
	struct event e = {
		.type = EVENT_GATE_KEYS,
		.gate_keys = {.transition = id, .state = TRANSITION_ARMED, .toggle_unix_ms = CUT}};

	step(l, &e);
	candidate_speaks(l);
	pass(l, 5000);
	CHECK_TRANSITION(l, TRANSITION_ARMED);
	keys_say(l, TRANSITION_ARMED, CUT);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
}

/* Its agent was away: its job may be further than it has said last. */
LIFE_TEST_FROM(armed_begin, a_cut_counts_when_the_candidate_has_spoken_since)
{
	keys_say(l, TRANSITION_ARMED, CUT);
	pass(l, 2000);
	keys_say(l, TRANSITION_ARMED, CUT);
	CHECK_TRANSITION(l, TRANSITION_ARMED);
	candidate_speaks(l);
	keys_say(l, TRANSITION_ARMED, CUT);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
}

/* A job that has just started shows no watermark, and what the cut was chosen from may be far behind it. */
LIFE_TEST_FROM(armed_begin, a_cut_counts_when_both_jobs_have_shown_a_watermark)
{
	struct gate_report here = acked(l, GATE_NO_TIME), there = green(l, GATE_NO_TIME);

	here.max_seen_unix_ms = there.max_seen_unix_ms = GATE_NO_TIME;
	reported(l, &here);
	shadows(l, SHADOW_RUNNING, &there);
	keys_say(l, TRANSITION_ARMED, CUT);
	pass(l, 5000);
	CHECK_TRANSITION(l, TRANSITION_ARMED);
	there.max_seen_unix_ms = CUT - 1;
	shadows(l, SHADOW_RUNNING, &there);
	keys_say(l, TRANSITION_ARMED, CUT);
	CHECK_TRANSITION(l, TRANSITION_ARMED);
	here.max_seen_unix_ms = CUT - 1;
	reported(l, &here);
	keys_say(l, TRANSITION_ARMED, CUT);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
}

LIFE_TEST_FROM(armed_begin, a_cut_that_a_job_shows_to_be_past_later_is_given_up)
{
	struct gate_report here = acked(l, GATE_NO_TIME);

	here.max_seen_unix_ms = GATE_NO_TIME;
	reported(l, &here);
	keys_say(l, TRANSITION_ARMED, CUT);
	pass(l, 2000);
	here.max_seen_unix_ms = CUT;
	reported(l, &here);
	keys_say(l, TRANSITION_ARMED, CUT);
	CHECK_TRANSITION(l, TRANSITION_ABORTING);
	CHECK_HAS(handover_of(l)->why, "in the past");
}

LIFE_TEST_FROM(armed_begin, a_cut_that_records_have_come_to_since_is_none_of_the_past)
{
	struct gate_report there = green(l, CUT);

	keys_say(l, TRANSITION_ARMED, CUT);
	candidate_speaks(l);
	keys_say(l, TRANSITION_ARMED, CUT);
	shadows(l, SHADOW_RUNNING, &there);
	pass(l, 2000);
	keys_say(l, TRANSITION_ARMED, CUT);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
}

LIFE_TEST_FROM(armed_begin, the_cut_of_another_transition_is_none)
{
	struct event e = {.type = EVENT_GATE_KEYS,
			  .gate_keys = {.transition = "h0-00000000", .toggle_unix_ms = CUT}};

	e.gate_keys.shown.subtasks = 2;
	step(l, &e);
	candidate_speaks(l);
	step(l, &e);
	pass(l, 5000);
	step(l, &e);
	CHECK_TRANSITION(l, TRANSITION_ARMED);
}

LIFE_TEST_FROM(crossing_begin, clear_to_teardown_is_not_believed_alone)
{
	struct gate_report report = acked(l, CUT - 1);

	reported(l, &report);
	pass(l, 2 * SETTLE_MS);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
	report.min_watermark_unix_ms = CUT;
	reported(l, &report);
	pass(l, SETTLE_MS - 1);
	CHECK_TRANSITION(l, TRANSITION_CROSSING);
	pass(l, 1);
	CHECK_TRANSITION(l, TRANSITION_CROSSED);
}

LIFE_TEST_FROM(armed_begin, a_cut_that_comes_while_it_is_given_up_is_recorded)
{
	struct keys_wanted wanted;

	is_aborted(l);
	CHECK_TRANSITION(l, TRANSITION_ABORTING);
	CHECK(!transition_in(l)->opened);
	keys_say(l, TRANSITION_NONE, CUT);
	CHECK_INT(transition_in(l)->toggle_unix_ms, ==, CUT);
	CHECK_INT(lifecycle_wants_keys(&l->life, &wanted), ==, KEYS_MINE);
	CHECK_INT(keys_of(&wanted).active, ==, SIDE_GREEN);
	keys_say(l, TRANSITION_ABORTING, 0);
	CHECK(!transition_in(l)->opened);
	keys_stand(l, 5000);
	CHECK(transition_in(l)->opened);
	CHECK(transition_in(l)->replay.path != NULL);
}

/* A gate with an old copy of the keys writes it when drey has written its own. */
LIFE_TEST_FROM(armed_begin, a_cut_that_comes_late_is_recorded)
{
	is_aborted(l);
	keys_say(l, TRANSITION_ABORTING, 0);
	pass(l, 3000);
	keys_say(l, TRANSITION_NONE, CUT);
	CHECK_INT(transition_in(l)->toggle_unix_ms, ==, CUT);
	keys_say(l, TRANSITION_ABORTING, 0);
	keys_stand(l, 4999);
	CHECK(!transition_in(l)->opened);
	keys_stand(l, 1);
	CHECK(transition_in(l)->opened);
	CHECK(transition_in(l)->replay.path != NULL);
}

LIFE_TEST_FROM(armed_begin, without_a_cut_nothing_was_held_back)
{
	struct keys_wanted wanted;

	is_aborted(l);
	keys_say(l, TRANSITION_ABORTING, 0);
	keys_stand(l, 4999);
	CHECK(!transition_in(l)->opened);
	pass(l, 1); /* not without a look */
	CHECK(!transition_in(l)->opened);
	keys_say(l, TRANSITION_ABORTING, 0);
	CHECK(transition_in(l)->opened);
	CHECK_STR(transition_in(l)->replay.path, NULL);
	CHECK_INT(lifecycle_wants_keys(&l->life, &wanted), ==, KEYS_MINE);
	CHECK_INT(keys_of(&wanted).active, ==, SIDE_GREEN);
	candidate_ended(l);
	CHECK(lifecycle_wants_keys(&l->life, &wanted) == KEYS_MINE);
	CHECK_INT(keys_of(&wanted).active, ==, SIDE_BLUE);
	CHECK(keys_of(&wanted).is_first);
}
