/* What the owner and the candidate do next in a transition: a row for each rule, and what a move leaves. */
#include "core/handover/transition_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

#define T INT64_C(1767225600000)

/* A transition in some state in which nothing happens, until a row changes that. */
struct world {
	struct handover handover;
	struct transition_facts facts;
	struct transition_policy policy;
	struct gate_report here, there;
};

static void name(struct party *party, const char *pod, enum side side)
{
	party->pod = xstrdup(pod);
	party->uid = xasprintf("u-%s", pod);
	party->template = xasprintf("g-%s/c/h", pod);
	party->side = side;
}

static void in_state(struct world *w, enum transition_state state)
{
	struct transition *transition = &w->handover.transition;

	*w = (struct world){.policy = {.gate = TRANSITION_GATE_DREY, .lead_ms = 30000, .tries = 2}};
	w->handover.id = xstrdup("h1-0");
	name(&w->handover.from, "old", SIDE_BLUE);
	name(&w->handover.to, "new", SIDE_GREEN);
	transition_begin(&w->handover, 40);
	transition->state = state;
	w->handover.state = transition_outside(state);
	transition->seed = (struct transition_point){xstrdup("sp/seed"), 41};
	transition->seen_unix_ms = T - 700;
	if (state >= TRANSITION_ARMING)
		transition->toggle_unix_ms = T;
	w->here = (struct gate_report){.known = true,
				       .order = {.number = 40},
				       .subtasks = 2,
				       .running = 2,
				       .min_watermark_unix_ms = T - 1,
				       .max_seen_unix_ms = T - 500};
	w->there = w->here;
	w->facts = (struct transition_facts){
		.runs = true, .lives = true, .gate = &w->here, .candidate_gate = &w->there};
}

static void is_late_and_ahead(struct world *w)
{
	w->facts.late = w->facts.ahead = true;
}

static void release(struct world *w)
{
	handover_release(&w->handover);
}

/* ---- what happens in a row ---- */

#define FACT(what, member)                                                                         \
	static void what(struct world *w)                                                          \
	{                                                                                          \
		w->facts.member = true;                                                            \
	}
FACT(is_prepared, prepared)
FACT(shadows, shadowing)
FACT(fails, failed)
FACT(is_gone, gone)
FACT(is_followed, follows)
FACT(parks, parks)
FACT(brakes, brake)
FACT(aborts, abort)
FACT(is_replaced, replaced)
FACT(is_late, late)
FACT(ends_badly, ended_badly)

static void no_news(struct world *w)
{
	(void)w;
}

static void saved(struct world *w)
{
	w->facts.work = WORK_DONE;
	w->facts.made = (struct transition_point){(char *)"sp/made", 57};
}

static void flip_saved(struct world *w)
{
	saved(w);
	w->policy.gate = TRANSITION_GATE_FLIP;
	w->here.snapshots[0] = (struct gate_snapshot){.checkpoint_id = 57};
	w->here.snapshot_count = 1;
}

static void flip_saved_seen(struct world *w)
{
	flip_saved(w);
	w->here.snapshots[0].seen_unix_ms = T - 10;
}

static void flip_saved_before_a_restart(struct world *w)
{
	flip_saved(w);
	w->here.snapshots[0].restarted = true;
}

static void flip_saved_long_before_a_restart(struct world *w)
{
	flip_saved_seen(w);
	w->here.snapshots[0].restarted = true;
}

static void flip_saved_another(struct world *w)
{
	flip_saved_seen(w);
	w->here.snapshots[0].checkpoint_id = 56;
}

static void saved_unseen(struct world *w)
{
	saved(w);
	w->here.known = false;
}

static void not_saved(struct world *w)
{
	w->facts.work = WORK_FAILED;
}

static void gone_while_saving(struct world *w)
{
	w->facts.gone = true;
	w->facts.work = WORK_RUNNING;
}

static void catches_up(struct world *w)
{
	w->facts.caught_up = true;
	w->here.snapshots[0] =
		(struct gate_snapshot){.confirmed = true, .min_watermark_unix_ms = T - 700};
	w->here.snapshot_count = 1;
}

static void catches_up_without_checkpoint(struct world *w)
{
	catches_up(w);
	w->here.snapshots[0].min_watermark_unix_ms--; /* it had seen more at the seed */
}

static void catches_up_braked(struct world *w)
{
	catches_up(w);
	w->facts.brake = true;
}

static void catches_up_manual(struct world *w)
{
	catches_up(w);
	w->policy.manual = true;
}

static void is_promoted(struct world *w)
{
	catches_up_manual(w);
	w->facts.promoted = true;
}

static void catches_up_ungated(struct world *w)
{
	catches_up(w);
	w->policy.gate = TRANSITION_GATE_NONE;
}

static void takes(struct gate_report *report, struct gate_order order)
{
	report->order = order;
	report->acked = report->subtasks;
}

static void candidate_arms(struct world *w)
{
	takes(&w->there, transition_candidate_order(&w->handover, &w->policy));
}

static void candidate_half_arms(struct world *w)
{
	candidate_arms(w);
	w->there.acked--;
}

static void candidate_refuses(struct world *w)
{
	candidate_half_arms(w);
	w->there.refused = 1;
}

static void candidate_refuses_again(struct world *w)
{
	candidate_refuses(w);
	w->handover.transition.armings = 7;
}

static void flip_cuts(struct world *w)
{
	w->policy.gate = TRANSITION_GATE_FLIP;
	w->facts.chosen_unix_ms = T + 9;
}

static void flip_cuts_in_the_past(struct world *w)
{
	flip_cuts(w);
	w->facts.chosen_past = true;
}

static void flip_catches_up(struct world *w)
{
	catches_up(w);
	w->policy.gate = TRANSITION_GATE_FLIP;
}

static void flip_catches_up_without_checkpoint(struct world *w)
{
	catches_up_without_checkpoint(w);
	w->policy.gate = TRANSITION_GATE_FLIP;
}

static void flip_crosses(struct world *w)
{
	w->policy.gate = TRANSITION_GATE_FLIP;
	w->facts.settled = w->facts.keys_crossed = true;
}

static void flip_only_settles(struct world *w)
{
	flip_crosses(w);
	w->facts.keys_crossed = false;
}

static void flip_is_written(struct world *w)
{
	w->policy.gate = TRANSITION_GATE_FLIP;
	w->handover.transition.toggle_unix_ms = 0;
	w->facts.keys_written = true;
}

static void flip_is_prepared(struct world *w)
{
	flip_is_written(w);
	is_prepared(w);
}

static void flip_is_unwritten(struct world *w)
{
	flip_is_written(w);
	w->facts.keys_written = false;
}

static void flip_is_prepared_unwritten(struct world *w)
{
	flip_is_unwritten(w);
	is_prepared(w);
}

static void flip_is_late_unwritten(struct world *w)
{
	flip_is_prepared_unwritten(w);
	is_late(w);
}

static void flip_is_written_after_its_cut(struct world *w)
{
	flip_is_written(w);
	w->handover.transition.toggle_unix_ms = T;
}

static void flip_cuts_meanwhile(struct world *w)
{
	flip_is_unwritten(w);
	flip_cuts(w);
}

static void flip_went_back(struct world *w)
{
	w->policy.gate = TRANSITION_GATE_FLIP;
	w->facts.runs = w->facts.shadowing = true;
}

static void owner_arms(struct world *w)
{
	takes(&w->here, transition_owner_order(&w->handover, &w->policy));
}

static void crosses(struct world *w)
{
	w->here.min_watermark_unix_ms = T;
	w->facts.settled = true;
}

static void does_not_settle(struct world *w)
{
	w->here.min_watermark_unix_ms = T;
}

static void behind_alone(struct world *w)
{
	w->here.min_watermark_unix_ms = T;
}

static void is_behind(struct world *w)
{
	behind_alone(w);
	w->facts.shadowing = true;
}

static void behind_and_gone(struct world *w)
{
	is_behind(w);
	w->facts.gone = true;
}

static void late_forward(struct world *w)
{
	w->facts.late = true;
	w->policy.after_cut = AFTER_CUT_FORWARD;
}

static void ends_committed(struct world *w)
{
	w->facts.ended_badly = true;
	w->here.snapshots[0] =
		(struct gate_snapshot){.confirmed = true, .min_watermark_unix_ms = T};
	w->here.snapshot_count = 1;
}

static void stopped(struct world *w)
{
	saved(w);
	w->facts.made_behind = true;
}

static void stops(struct world *w)
{
	is_behind(w);
	w->facts.work = WORK_RUNNING;
}

static void fails_while_stopping(struct world *w)
{
	w->facts.work = WORK_RUNNING;
	w->facts.failed = w->facts.late = true;
}

static void late_with_candidate(struct world *w)
{
	w->facts.late = true;
}

static void late_and_gone(struct world *w)
{
	w->facts.late = w->facts.gone = true;
}

static void cannot_be_stopped(struct world *w)
{
	ends_committed(w);
	w->facts.ended_badly = false;
	is_behind(w);
	w->facts.work = WORK_FAILED;
	w->facts.stop_failures = 3;
}

static void cannot_be_stopped_ungated(struct world *w)
{
	cannot_be_stopped(w);
	w->policy.gate = TRANSITION_GATE_NONE;
	w->handover.transition.toggle_unix_ms = 0;
	w->here.snapshots[0].min_watermark_unix_ms = T - 701; /* it had seen more at the seed */
}

static void dies_unstopped(struct world *w)
{
	cannot_be_stopped(w);
	w->facts.lives = w->facts.runs = false;
}

static void dies_in_a_stop(struct world *w)
{
	dies_unstopped(w);
	w->facts.work = WORK_RUNNING;
}

static void dies_alone(struct world *w)
{
	dies_unstopped(w);
	w->facts.shadowing = w->facts.caught_up = false;
}

static void opens(struct world *w)
{
	takes(&w->here, transition_owner_order(&w->handover, &w->policy));
}

static void opens_with_losses(struct world *w)
{
	opens(w);
	w->here.withheld_above = 1;
}

static void is_opened(struct world *w)
{
	w->handover.transition.opened = true;
}

static void candidate_ends(struct world *w)
{
	is_opened(w);
	w->facts.ended = true;
}

static void candidate_ends_first(struct world *w)
{
	w->facts.ended = true;
}

static void must_replay(struct world *w)
{
	is_opened(w);
	w->handover.transition.replay.path = xstrdup("sp/seed");
}

static void replays_alone(struct world *w)
{
	must_replay(w);
	w->facts.ended = true;
	w->facts.lives = w->facts.runs = false;
}

static void replays_too_early(struct world *w)
{
	replays_alone(w);
	w->facts.ended = false;
}

static void replay_is_lost(struct world *w)
{
	replays_alone(w);
	w->facts.replay_missing = true;
}

static void replays(struct world *w)
{
	must_replay(w);
	w->facts.replaying = true;
}

static void has_replayed(struct world *w)
{
	replays(w);
	w->handover.transition.replayed = true;
	w->facts.ended = true;
}

/* ---- one row for each rule, and for what must not happen ---- */

#define STAYS TRANSITION_STATES

static const struct row {
	enum transition_state state;
	void (*with)(struct world *w);
	enum transition_state next; /* STAYS: no rule holds */
	enum transition_act act;
	bool counts;
} rows[] = {
	{TRANSITION_OFFERED, no_news, STAYS, ACT_NONE, false},
	{TRANSITION_OFFERED, is_late, TRANSITION_REFUSED, ACT_NONE, true},
	{TRANSITION_OFFERED, fails, TRANSITION_NONE, ACT_NONE, true},
	{TRANSITION_OFFERED, is_gone, TRANSITION_NONE, ACT_NONE, false},
	{TRANSITION_OFFERED, parks, TRANSITION_NONE, ACT_NONE, false},
	{TRANSITION_OFFERED, brakes, TRANSITION_NONE, ACT_NONE, false},
	{TRANSITION_OFFERED, is_replaced, TRANSITION_NONE, ACT_NONE, false},
	{TRANSITION_OFFERED, is_prepared, TRANSITION_SEEDING, ACT_SAVE, false},
	{TRANSITION_OFFERED, flip_is_prepared, TRANSITION_SEEDING, ACT_SAVE, false},
	{TRANSITION_OFFERED, flip_is_prepared_unwritten, STAYS, ACT_NONE, false},
	{TRANSITION_OFFERED, flip_is_late_unwritten, TRANSITION_REFUSED, ACT_NONE, true},
	{TRANSITION_SEEDING, no_news, STAYS, ACT_NONE, false},
	{TRANSITION_SEEDING, not_saved, TRANSITION_OFFERED, ACT_NONE, true},
	{TRANSITION_SEEDING, brakes, TRANSITION_ABORTING, ACT_NONE, false},
	{TRANSITION_SEEDING, is_late, TRANSITION_ABORTING, ACT_NONE, true},
	{TRANSITION_SEEDING, gone_while_saving, STAYS, ACT_NONE, false},
	{TRANSITION_SEEDING, is_gone, TRANSITION_NONE, ACT_NONE, false},
	{TRANSITION_SEEDING, saved_unseen, STAYS, ACT_NONE, false},
	{TRANSITION_SEEDING, saved, TRANSITION_SEEDED, ACT_NONE, false},
	{TRANSITION_SEEDING, flip_saved, STAYS, ACT_NONE, false},
	{TRANSITION_SEEDING, flip_saved_another, STAYS, ACT_NONE, false},
	{TRANSITION_SEEDING, flip_saved_seen, TRANSITION_SEEDED, ACT_NONE, false},
	{TRANSITION_SEEDING, flip_saved_before_a_restart, TRANSITION_OFFERED, ACT_NONE, true},
	{TRANSITION_SEEDING, flip_saved_long_before_a_restart, TRANSITION_SEEDED, ACT_NONE, false},
	{TRANSITION_SEEDED, parks, TRANSITION_ABORTING, ACT_NONE, false},
	{TRANSITION_SEEDED, is_gone, TRANSITION_ABORTING, ACT_NONE, true},
	{TRANSITION_SEEDED, is_late, TRANSITION_ABORTING, ACT_NONE, true},
	{TRANSITION_SEEDED, shadows, TRANSITION_SHADOW, ACT_NONE, false},
	{TRANSITION_SHADOW, brakes, STAYS, ACT_NONE, false},
	{TRANSITION_SHADOW, is_replaced, TRANSITION_ABORTING, ACT_NONE, false},
	{TRANSITION_SHADOW, ends_badly, TRANSITION_ABORTING, ACT_NONE, false},
	{TRANSITION_SHADOW, fails, TRANSITION_ABORTING, ACT_NONE, true},
	{TRANSITION_SHADOW, is_late, TRANSITION_ABORTING, ACT_NONE, true},
	{TRANSITION_SHADOW, is_late_and_ahead, TRANSITION_ABORTING, ACT_NONE, true},
	{TRANSITION_SHADOW, catches_up, TRANSITION_ARMING, ACT_CUT, false},
	{TRANSITION_SHADOW, catches_up_without_checkpoint, STAYS, ACT_NONE, false},
	{TRANSITION_SHADOW, catches_up_braked, STAYS, ACT_NONE, false},
	{TRANSITION_SHADOW, catches_up_manual, STAYS, ACT_NONE, false},
	{TRANSITION_SHADOW, flip_catches_up, TRANSITION_ARMED, ACT_CUT, false},
	{TRANSITION_SHADOW, flip_catches_up_without_checkpoint, STAYS, ACT_NONE, false},
	{TRANSITION_SHADOW, is_promoted, TRANSITION_ARMING, ACT_CUT, false},
	{TRANSITION_SHADOW, catches_up_ungated, TRANSITION_ENDING, ACT_STOP, false},
	{TRANSITION_ARMING, is_replaced, STAYS, ACT_NONE, false},
	{TRANSITION_ARMING, aborts, TRANSITION_ABORTING, ACT_NONE, false},
	{TRANSITION_ARMING, is_gone, TRANSITION_ABORTING, ACT_NONE, true},
	{TRANSITION_ARMING, candidate_half_arms, STAYS, ACT_NONE, false},
	{TRANSITION_ARMING, candidate_refuses, TRANSITION_SHADOW, ACT_NONE, false},
	{TRANSITION_ARMING, candidate_refuses_again, TRANSITION_ABORTING, ACT_NONE, true},
	{TRANSITION_ARMING, is_late, TRANSITION_SHADOW, ACT_NONE, true},
	{TRANSITION_ARMING, candidate_arms, TRANSITION_ARMED, ACT_NONE, false},
	{TRANSITION_ARMED, parks, STAYS, ACT_NONE, false},
	{TRANSITION_ARMED, is_gone, STAYS, ACT_NONE, false},
	{TRANSITION_ARMED, is_late, TRANSITION_ABORTING, ACT_NONE, true},
	{TRANSITION_ARMED, fails, TRANSITION_ABORTING, ACT_NONE, true},
	{TRANSITION_ARMED, late_forward, STAYS, ACT_NONE, false},
	{TRANSITION_ARMED, is_followed, TRANSITION_ARMED, ACT_NAME, false},
	{TRANSITION_ARMED, flip_cuts, TRANSITION_CROSSING, ACT_NONE, false},
	{TRANSITION_ARMED, flip_cuts_in_the_past, TRANSITION_ABORTING, ACT_NONE, true},
	{TRANSITION_ARMED, owner_arms, TRANSITION_CROSSING, ACT_NONE, false},
	{TRANSITION_CROSSING, aborts, TRANSITION_ABORTING, ACT_NONE, true},
	{TRANSITION_CROSSING, is_followed, TRANSITION_CROSSING, ACT_NAME, false},
	{TRANSITION_CROSSING, does_not_settle, STAYS, ACT_NONE, false},
	{TRANSITION_CROSSING, crosses, TRANSITION_CROSSED, ACT_NONE, false},
	{TRANSITION_CROSSING, flip_crosses, TRANSITION_CROSSED, ACT_NONE, false},
	{TRANSITION_CROSSING, flip_only_settles, STAYS, ACT_NONE, false},
	{TRANSITION_CROSSED, flip_went_back, STAYS, ACT_NONE, false},
	{TRANSITION_CROSSED, ends_committed, TRANSITION_GRANTED, ACT_GRANT, false},
	{TRANSITION_CROSSED, ends_badly, TRANSITION_ABORTING, ACT_NONE, true},
	{TRANSITION_CROSSED, is_followed, TRANSITION_CROSSED, ACT_NAME, false},
	{TRANSITION_CROSSED, no_news, STAYS, ACT_NONE, false}, /* it went back behind the cut */
	{TRANSITION_CROSSED, behind_and_gone, STAYS, ACT_NONE, false},
	{TRANSITION_CROSSED, behind_alone, STAYS, ACT_NONE, false}, /* its job starts again */
	{TRANSITION_CROSSED, is_behind, TRANSITION_ENDING, ACT_STOP, false},
	{TRANSITION_ENDING, stops, STAYS, ACT_NONE, false},
	{TRANSITION_ENDING, fails_while_stopping, STAYS, ACT_NONE, false},
	{TRANSITION_ENDING, stopped, TRANSITION_GRANTED, ACT_GRANT, false},
	{TRANSITION_ENDING, saved, TRANSITION_ENDING, ACT_GO_ON, false},
	{TRANSITION_ENDING, ends_committed, TRANSITION_GRANTED, ACT_GRANT, false},
	{TRANSITION_ENDING, late_with_candidate, STAYS, ACT_NONE, false},
	{TRANSITION_ENDING, late_and_gone, TRANSITION_ABORTING, ACT_NONE, true},
	{TRANSITION_ENDING, is_followed, TRANSITION_ENDING, ACT_NAME, false},
	{TRANSITION_ENDING, cannot_be_stopped, TRANSITION_ENDING, ACT_END, false},
	{TRANSITION_ENDING, dies_unstopped, TRANSITION_ENDING, ACT_END, false},
	{TRANSITION_ENDING, dies_in_a_stop, STAYS, ACT_NONE, false},
	{TRANSITION_ENDING, dies_alone, STAYS, ACT_NONE, false},
	{TRANSITION_ENDING, cannot_be_stopped_ungated, TRANSITION_ENDING, ACT_STOP, false},
	{TRANSITION_ENDING, is_behind, TRANSITION_ENDING, ACT_STOP, false},
	{TRANSITION_GRANTED, is_late, STAYS, ACT_NONE, false},
	{TRANSITION_ABORTING, no_news, STAYS, ACT_NONE, false},
	{TRANSITION_ABORTING, candidate_ends_first, STAYS, ACT_NONE, false},
	{TRANSITION_ABORTING, opens, TRANSITION_ABORTING, ACT_OPENED, false},
	{TRANSITION_ABORTING, opens_with_losses, TRANSITION_ABORTING, ACT_REPLAY, false},
	{TRANSITION_ABORTING, flip_is_unwritten, STAYS, ACT_NONE, false},
	{TRANSITION_ABORTING, flip_is_written, TRANSITION_ABORTING, ACT_OPENED, false},
	{TRANSITION_ABORTING, flip_is_written_after_its_cut, TRANSITION_ABORTING, ACT_REPLAY,
	 false},
	{TRANSITION_ABORTING, flip_cuts_meanwhile, TRANSITION_ABORTING, ACT_FOUND, false},
	{TRANSITION_ABORTING, ends_badly, TRANSITION_ABORTING, ACT_REPLAY, false},
	{TRANSITION_ABORTING, is_opened, STAYS, ACT_NONE, false},
	{TRANSITION_ABORTING, candidate_ends, TRANSITION_NONE, ACT_NONE, false},
	{TRANSITION_ABORTING, must_replay, TRANSITION_ABORTING, ACT_END, false},
	{TRANSITION_ABORTING, replays_too_early, STAYS, ACT_NONE, false},
	{TRANSITION_ABORTING, replays_alone, TRANSITION_ABORTING, ACT_RESTART, false},
	{TRANSITION_ABORTING, replay_is_lost, TRANSITION_ABORTING, ACT_REPLAY, false},
	{TRANSITION_ABORTING, replays, TRANSITION_ABORTING, ACT_REPLAYED, false},
	{TRANSITION_ABORTING, has_replayed, TRANSITION_NONE, ACT_NONE, false},
};

static bool used[100];

static void note_rule(const struct transition_move *move)
{
	size_t count;
	const struct transition_rule *rules = transition_owner_rules(&count);

	for (size_t i = 0; i < count; i++)
		used[i] |= rules[i].why == move->why && rules[i].next == move->state &&
			   rules[i].act == move->act;
}

TEST(each_state_goes_on_as_its_rules_say)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct transition_move move = {0};
		struct world w;
		bool moves, well;

		in_state(&w, rows[i].state);
		rows[i].with(&w);
		moves = transition_owner(&w.handover, &w.facts, &w.policy, &move);
		well = rows[i].next == STAYS
			       ? !moves
			       : moves && move.state == rows[i].next && move.act == rows[i].act &&
					 move.counts == rows[i].counts;
		if (!CHECK(well))
			tap_note("row %zu, in %s: %s, %s", i, transition_state_name(rows[i].state),
				 moves ? transition_state_name(move.state) : "stays",
				 transition_act_name(move.act));
		if (moves)
			note_rule(&move);
		release(&w);
	}
}

TEST(there_is_a_row_for_each_rule)
{
	size_t count;
	const struct transition_rule *rules = transition_owner_rules(&count);

	for (size_t i = 0; i < count; i++)
		if (!CHECK(used[i]))
			tap_note("%s, %s", transition_state_name(rules[i].state), rules[i].when);
}

/* ---- what a move leaves ---- */

static enum transition_state moved(struct world *w)
{
	struct transition_move move;

	if (CHECK(transition_owner(&w->handover, &w->facts, &w->policy, &move)))
		transition_apply(&w->handover, &move, &w->facts, &w->policy);
	CHECK_INT(w->handover.state, ==, transition_outside(w->handover.transition.state));
	return transition_of(&w->handover);
}

TEST(a_try_too_many_refuses_the_version)
{
	struct world w;

	in_state(&w, TRANSITION_OFFERED);
	fails(&w);
	CHECK_INT(moved(&w), ==, TRANSITION_NONE);
	CHECK_INT(w.handover.tries, ==, 1);
	release(&w);
	in_state(&w, TRANSITION_OFFERED);
	w.handover.tries = 1;
	fails(&w);
	CHECK_INT(moved(&w), ==, TRANSITION_REFUSED);
	release(&w);
	in_state(&w, TRANSITION_ARMING);
	w.handover.tries = 1;
	is_late(&w);
	CHECK_INT(moved(&w), ==, TRANSITION_ABORTING);
	CHECK(w.handover.transition.opened);
	candidate_ends(&w);
	w.facts.late = false;
	CHECK_INT(moved(&w), ==, TRANSITION_REFUSED);
	release(&w);
}

TEST(what_was_seen_at_the_seed_is_on_record)
{
	struct world w;

	in_state(&w, TRANSITION_SEEDING);
	saved(&w);
	CHECK_INT(moved(&w), ==, TRANSITION_SEEDED);
	CHECK_INT(w.handover.transition.seen_unix_ms, ==, T - 500);
	CHECK_STR(w.handover.transition.seed.path, "sp/made");
	release(&w);
}

TEST(a_cut_that_was_refused_is_never_chosen_again)
{
	struct world w;
	int64_t first, lead;

	in_state(&w, TRANSITION_SHADOW);
	w.policy.lead_ms = 0;
	catches_up(&w);
	CHECK_INT(moved(&w), ==, TRANSITION_ARMING);
	first = w.handover.transition.toggle_unix_ms;
	CHECK_INT(first, ==, T - 500);
	candidate_refuses(&w);
	CHECK_INT(moved(&w), ==, TRANSITION_SHADOW);
	CHECK_INT(w.handover.transition.toggle_unix_ms, ==, 0);
	CHECK_INT(transition_candidate_order(&w.handover, &w.policy).word, ==, GATE_CLOSED);
	CHECK_INT(moved(&w), ==, TRANSITION_ARMING);
	lead = w.handover.transition.toggle_unix_ms - first;
	CHECK_INT(lead, ==, 2000); /* and it comes later each time */
	release(&w);
}

TEST(without_a_record_there_is_no_cut)
{
	struct transition_move move;
	struct world w;

	in_state(&w, TRANSITION_SHADOW);
	catches_up(&w);
	w.here.max_seen_unix_ms = w.there.max_seen_unix_ms = GATE_NO_TIME;
	CHECK(!transition_owner(&w.handover, &w.facts, &w.policy, &move));
	w.there.max_seen_unix_ms = T - 500;
	CHECK_INT(moved(&w), ==, TRANSITION_ARMING);
	CHECK_INT(w.handover.transition.toggle_unix_ms, ==, T - 500 + 30000);
	release(&w);
}

TEST(a_person_may_choose_the_cut)
{
	struct world w;

	in_state(&w, TRANSITION_SHADOW);
	w.policy.at_unix_ms = T + 900000;
	catches_up(&w);
	CHECK_INT(moved(&w), ==, TRANSITION_ARMING);
	CHECK_INT(w.handover.transition.toggle_unix_ms, ==, T + 900000);
	release(&w);
	in_state(&w, TRANSITION_SHADOW);
	w.policy.at_unix_ms = T - 900000; /* that is over */
	catches_up(&w);
	CHECK_INT(moved(&w), ==, TRANSITION_ARMING);
	CHECK_INT(w.handover.transition.toggle_unix_ms, ==, T - 500 + 30000);
	release(&w);
}

TEST(the_replay_point_is_the_newest_clean_one_and_at_the_latest_the_seed)
{
	struct world w;

	in_state(&w, TRANSITION_ABORTING);
	opens_with_losses(&w);
	w.facts.clean = (struct transition_point){(char *)"chk-45", 45};
	CHECK_INT(moved(&w), ==, TRANSITION_ABORTING);
	CHECK(w.handover.transition.opened);
	CHECK_STR(w.handover.transition.replay.path, "chk-45");
	CHECK(transition_keeps(&w.handover, "chk-45"));
	w.facts.replay_missing = true;
	w.facts.clean.path = NULL;
	CHECK_INT(moved(&w), ==, TRANSITION_ABORTING);
	CHECK_STR(w.handover.transition.replay.path, "sp/seed");
	release(&w);
}

TEST(what_both_have_written_is_counted)
{
	struct world w;

	in_state(&w, TRANSITION_ARMING);
	candidate_arms(&w);
	w.there.passed_below = 3; /* for an earlier cut */
	CHECK_INT(moved(&w), ==, TRANSITION_ARMED);
	CHECK_INT(w.handover.transition.below, ==, 3);
	owner_arms(&w);
	w.here.passed_above = 4;
	w.here.inexact = true;
	w.there.known = false; /* it starts again: what it has said stays */
	CHECK_INT(moved(&w), ==, TRANSITION_CROSSING);
	CHECK_INT(w.handover.transition.above, ==, 4);
	CHECK(w.handover.transition.inexact);
	CHECK_INT(w.handover.transition.below, ==, 3);
	release(&w);
}

TEST(the_savepoint_of_the_stop_is_on_record_with_the_grant)
{
	struct world w;

	in_state(&w, TRANSITION_ENDING);
	stopped(&w);
	CHECK_INT(moved(&w), ==, TRANSITION_GRANTED);
	CHECK_STR(w.handover.savepoint, "sp/made");
	CHECK_INT(w.handover.transition.stop.checkpoint_id, ==, 57);
	CHECK_STR(w.handover.transition.seed.path, "sp/seed");
	release(&w);
}

/* ---- what the gates are told ---- */

TEST(the_owner_is_armed_after_the_candidate_and_opened_before_it_ends)
{
	static const struct {
		enum transition_state state;
		enum gate_word owner, candidate;
	} words[] = {
		{TRANSITION_OFFERED, GATE_OPEN, GATE_CLOSED},
		{TRANSITION_SEEDED, GATE_OPEN, GATE_CLOSED},
		{TRANSITION_SHADOW, GATE_OPEN, GATE_CLOSED},
		{TRANSITION_ARMING, GATE_OPEN, GATE_ARM_GREEN},
		{TRANSITION_ARMED, GATE_ARM_BLUE, GATE_ARM_GREEN},
		{TRANSITION_CROSSING, GATE_ARM_BLUE, GATE_ARM_GREEN},
		{TRANSITION_CROSSED, GATE_ARM_BLUE, GATE_ARM_GREEN},
		{TRANSITION_ENDING, GATE_ARM_BLUE, GATE_ARM_GREEN},
		{TRANSITION_GRANTED, GATE_ARM_BLUE, GATE_ARM_GREEN},
		{TRANSITION_TAKEN, GATE_OPEN, GATE_FINISH},
		{TRANSITION_DONE, GATE_OPEN, GATE_OPEN},
		{TRANSITION_ABORTING, GATE_OPEN, GATE_ARM_GREEN},
		{TRANSITION_REFUSED, GATE_OPEN, GATE_CLOSED},
	};
	struct world w;

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		in_state(&w, words[i].state);
		CHECK_INT(transition_owner_order(&w.handover, &w.policy).word, ==, words[i].owner);
		if (!CHECK_INT(transition_candidate_order(&w.handover, &w.policy).word, ==,
			       words[i].candidate))
			tap_note("in %s", transition_state_name(words[i].state));
		w.policy.gate = TRANSITION_GATE_NONE;
		CHECK_INT(transition_candidate_order(&w.handover, &w.policy).word, ==, GATE_OPEN);
		release(&w);
	}
}

TEST(an_order_has_another_number_when_it_is_another_one)
{
	struct world w;
	struct gate_order before, after;

	in_state(&w, TRANSITION_ARMED);
	before = transition_owner_order(&w.handover, &w.policy);
	owner_arms(&w);
	CHECK_INT(moved(&w), ==, TRANSITION_CROSSING);
	after = transition_owner_order(&w.handover, &w.policy);
	CHECK_INT(after.number, ==, before.number); /* it is not given again */
	aborts(&w);
	CHECK_INT(moved(&w), ==, TRANSITION_ABORTING);
	CHECK_INT(transition_owner_order(&w.handover, &w.policy).number, ==, before.number + 1);
	release(&w);
}

/* ---- the candidate ---- */

#define SAME SHADOW_STATES

static const struct shadow_row {
	enum transition_state transition;
	bool opened;
	struct shadow_facts facts;
	enum shadow_state state;
	enum shadow_act act;
} shadow_rows[] = {
	{TRANSITION_OFFERED, false, {.named = true}, SAME, SHADOW_DO_NOTHING},
	{TRANSITION_OFFERED,
	 false,
	 {.named = true, .prepared = true},
	 SHADOW_PREPARED,
	 SHADOW_DO_NOTHING},
	{TRANSITION_OFFERED, false, {.prepared = true}, SHADOW_WITHDRAWN, SHADOW_DO_KILL},
	{TRANSITION_SEEDED, false, {.named = true}, SAME, SHADOW_DO_NOTHING},
	{TRANSITION_SEEDED,
	 false,
	 {.named = true, .prepared = true},
	 SHADOW_STARTING,
	 SHADOW_DO_SEED},
	/* its journal is lost in the second in which the job begins */
	{TRANSITION_SEEDED,
	 false,
	 {.named = true, .prepared = true, .begun = true},
	 SHADOW_FAILED,
	 SHADOW_DO_KILL},
	{TRANSITION_SEEDED, false, {.named = true, .begun = true}, SHADOW_FAILED, SHADOW_DO_KILL},
	{TRANSITION_SEEDED,
	 false,
	 {.named = true, .seeded = true, .begun = true},
	 SHADOW_STARTING,
	 SHADOW_DO_GO_ON},
	{TRANSITION_SEEDING,
	 false,
	 {.named = true, .prepared = true, .begun = true},
	 SHADOW_PREPARED,
	 SHADOW_DO_NOTHING},
	/* its journal is lost: what waits in main() would be the job that has run */
	{TRANSITION_SHADOW,
	 false,
	 {.named = true, .prepared = true},
	 SHADOW_FAILED,
	 SHADOW_DO_KILL},
	{TRANSITION_SHADOW,
	 false,
	 {.named = true, .prepared = true, .seeded = true},
	 SHADOW_STARTING,
	 SHADOW_DO_GO_ON},
	{TRANSITION_SHADOW,
	 false,
	 {.named = true, .seeded = true, .runs = true},
	 SHADOW_RUNNING,
	 SHADOW_DO_NOTHING},
	{TRANSITION_SHADOW,
	 false,
	 {.named = true, .seeded = true, .runs = true, .near = true},
	 SHADOW_CAUGHT_UP,
	 SHADOW_DO_NOTHING},
	{TRANSITION_SHADOW,
	 false,
	 {.named = true, .seeded = true, .failed = true},
	 SHADOW_FAILED,
	 SHADOW_DO_KILL},
	{TRANSITION_CROSSING,
	 false,
	 {.named = true, .stopping = true, .runs = true},
	 SHADOW_WITHDRAWN,
	 SHADOW_DO_KILL},
	{TRANSITION_ABORTING,
	 false,
	 {.named = true, .seeded = true, .runs = true, .near = true},
	 SHADOW_CAUGHT_UP,
	 SHADOW_DO_NOTHING},
	{TRANSITION_ABORTING,
	 true,
	 {.named = true, .seeded = true, .runs = true, .near = true},
	 SHADOW_WITHDRAWN,
	 SHADOW_DO_KILL},
	{TRANSITION_NONE, false, {.named = true, .runs = true}, SHADOW_WITHDRAWN, SHADOW_DO_KILL},
	{TRANSITION_REFUSED,
	 false,
	 {.named = true, .runs = true},
	 SHADOW_WITHDRAWN,
	 SHADOW_DO_KILL},
	{TRANSITION_GRANTED,
	 false,
	 {.named = true, .seeded = true, .runs = true},
	 SHADOW_TAKEN,
	 SHADOW_DO_ADOPT},
	{TRANSITION_GRANTED,
	 false,
	 {.named = true, .seeded = true, .failed = true},
	 SHADOW_TAKEN,
	 SHADOW_DO_ADOPT},
	{TRANSITION_GRANTED, false, {.named = true}, SAME, SHADOW_DO_NOTHING},
	{TRANSITION_TAKEN,
	 false,
	 {.named = true, .stopping = true},
	 SHADOW_TAKEN,
	 SHADOW_DO_NOTHING},
};

TEST(the_candidate_follows_the_journal)
{
	for (size_t i = 0; i < ARRAY_LEN(shadow_rows); i++) {
		const struct shadow_row *row = &shadow_rows[i];
		struct shadow_move move;
		struct world w;

		in_state(&w, row->transition);
		w.handover.transition.opened = row->opened;
		transition_candidate(&w.handover, &row->facts, SHADOW_STARTING, &move);
		if (!CHECK(move.act == row->act &&
			   move.state == (row->state == SAME ? SHADOW_STARTING : row->state)))
			tap_note("row %zu: %s, %s", i, shadow_state_name(move.state),
				 shadow_act_name(move.act));
		release(&w);
	}
}

TEST(the_cut_is_forgotten_when_a_checkpoint_is_wholly_behind_it)
{
	struct world w;

	in_state(&w, TRANSITION_TAKEN);
	w.here.snapshots[0] =
		(struct gate_snapshot){.checkpoint_id = 61, .min_watermark_unix_ms = T};
	w.here.snapshot_count = 1;
	CHECK(!transition_is_done(&w.handover, &w.here, true, -1));
	CHECK(!transition_is_done(&w.handover, &w.here, true, 61)); /* it may have begun before */
	CHECK(transition_is_done(&w.handover, &w.here, true, 60));
	w.here.snapshots[0].min_watermark_unix_ms--;
	CHECK(!transition_is_done(&w.handover, &w.here, true, 60));
	w.handover.transition.toggle_unix_ms = 0; /* gate: none */
	CHECK(!transition_is_done(&w.handover, &w.here, false, -1));
	CHECK(transition_is_done(&w.handover, &w.here, true, -1));
	release(&w);
}
