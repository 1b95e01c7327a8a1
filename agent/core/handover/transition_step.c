#include "core/handover/transition_step.h"

#include <stdlib.h>

#include "base/mem.h"

static const char *const acts[] = {"none",    "save",   "stop", "end",    "goOn",   "grant",
				   "restart", "name",   "cut",  "opened", "replay", "replayed",
				   "found",   "return", "ask",  "renew",  "later"};
_Static_assert(sizeof(acts) / sizeof(acts[0]) == ACTS, "a word for each act");

const char *transition_act_name(enum transition_act act)
{
	return act < ACTS ? acts[act] : "unknown";
}

const char *const after_cut_words[] = {"replay", "forward", NULL};
_Static_assert(AFTER_CUT_REPLAY == 0 && AFTER_CUT_FORWARD == 1, "order of after_cut_words");

#define LEAST_LEAD_MS  1000
#define MOST_DOUBLINGS 6

/* ---- what the gates are told ---- */

static struct gate_order order(const struct handover *handover, enum gate_word word)
{
	const struct transition *transition = &handover->transition;

	return (struct gate_order){.word = word,
				   .toggle_unix_ms =
					   gate_needs_cut(word) ? transition->toggle_unix_ms : 0};
}

static struct gate_order owner_order(const struct handover *handover,
				     const struct transition_policy *policy)
{
	enum transition_state state = transition_of(handover);
	bool cut = handover->transition.toggle_unix_ms != 0;

	if (gate_kind_of(policy->gate)->ordered && cut && state >= TRANSITION_ARMED &&
	    state <= TRANSITION_GRANTED)
		return order(handover, GATE_ARM_BLUE);
	return order(handover, GATE_OPEN);
}

static struct gate_order candidate_order(const struct handover *handover,
					 const struct transition_policy *policy)
{
	enum transition_state state = transition_of(handover);
	bool cut = handover->transition.toggle_unix_ms != 0;

	/* MUT: the cut is kept when the transition is over */
	if (!gate_kind_of(policy->gate)->ordered || state == TRANSITION_DONE)
		return order(handover, GATE_OPEN);
	if (state == TRANSITION_TAKEN)
		return order(handover, GATE_FINISH);
	/* while it is given up it goes on as it was, until the owner's output is open */
	if (cut && state >= TRANSITION_ARMING && state <= TRANSITION_ABORTING)
		return order(handover, GATE_ARM_GREEN);
	return order(handover, GATE_CLOSED);
}

struct gate_order transition_owner_order(const struct handover *handover,
					 const struct transition_policy *policy)
{
	struct gate_order order = owner_order(handover, policy);

	order.number = handover->transition.owner_number;
	return order;
}

struct gate_order transition_candidate_order(const struct handover *handover,
					     const struct transition_policy *policy)
{
	struct gate_order order = candidate_order(handover, policy);

	order.number = handover->transition.candidate_number;
	return order;
}

struct gate_order transition_rest_order(const struct handover *handover)
{
	const struct transition *transition = &handover->transition;
	int64_t owner = transition->owner_number, candidate = transition->candidate_number;

	return (struct gate_order){.word = GATE_OPEN,
				   .number = 1 + (owner > candidate ? owner : candidate)};
}

static bool differs(struct gate_order a, struct gate_order b)
{
	return a.word != b.word || a.toggle_unix_ms != b.toggle_unix_ms;
}

/* ---- what a move leaves ---- */

static void set_point(struct transition_point *to, const char *path, int64_t checkpoint_id)
{
	xstrset(&to->path, path);
	to->checkpoint_id = checkpoint_id;
}

void transition_begin(struct handover *handover, int64_t sequence)
{
	transition_release(&handover->transition);
	xstrset(&handover->transition.id, handover->id);
	handover->transition.owner_number = handover->transition.candidate_number = sequence + 2;
	handover->transition.state = TRANSITION_OFFERED;
	handover->state = HANDOVER_OFFERED;
}

void transition_take(struct handover *handover)
{
	handover->transition.state = TRANSITION_TAKEN;
	handover->transition.candidate_number++;
	handover->state = HANDOVER_TAKEN;
}

/* The tries are used up: it is not begun, or gone on with, again. */
static enum transition_state after_try(const struct handover *handover,
				       const struct transition_policy *policy,
				       enum transition_state next)
{
	if (handover->tries < policy->tries)
		return next;
	if (next == TRANSITION_NONE || next == TRANSITION_OFFERED)
		return TRANSITION_REFUSED;
	return next == TRANSITION_SHADOW ? TRANSITION_ABORTING : next;
}

/* A cut that came too late shows that it takes longer to tell all gates than was thought. */
static int64_t lead_of(const struct transition *transition, const struct transition_policy *policy)
{
	int64_t lead_ms = policy->lead_ms;

	if (transition->armings && lead_ms < LEAST_LEAD_MS)
		lead_ms = LEAST_LEAD_MS;
	return lead_ms << (transition->armings < MOST_DOUBLINGS ? transition->armings
								: MOST_DOUBLINGS);
}

static void choose_cut(struct transition *transition, const struct transition_facts *facts,
		       const struct transition_policy *policy)
{
	int64_t before = transition->before_unix_ms;

	if (policy->at_unix_ms > before)
		before = policy->at_unix_ms - 1;
	transition->promoted = true;
	if (gate_kind_of(policy->gate)->ordered)
		transition->toggle_unix_ms =
			gate_cut(facts->gate, facts->candidate_gate, lead_of(transition, policy),
				 policy->align_ms, before);
}

/* Acknowledgements of it must not count for the next one. */
static void forget_cut(struct transition *transition)
{
	transition->armings++;
	transition->before_unix_ms = transition->toggle_unix_ms;
	/* MUT: a cut that was given up stays in force at the candidate */
	transition->toggle_unix_ms = 0;
}

/* From where nothing had been held back; at the latest that is the seed. */
static void choose_replay(struct transition *transition, const struct transition_facts *facts)
{
	const struct transition_point *from = facts->clean.path ? &facts->clean : &transition->seed;

	transition->opened = true;
	set_point(&transition->replay, from->path, from->checkpoint_id);
}

/* What both let pass: the owner before it knew the cut, the candidate for an earlier one. With all gates of
 * the owner told, it does not grow any more. */
static void count_doubled(struct transition *transition, const struct transition_facts *facts)
{
	const struct gate_report *owner = facts->gate, *candidate = facts->candidate_gate;

	/* MUT: what both have written is not counted */
	if (owner->known && owner->order.toggle_unix_ms == transition->toggle_unix_ms) {
		transition->above = owner->passed_above;
		transition->inexact = owner->inexact;
	}
	if (candidate->known && candidate->order.toggle_unix_ms == transition->toggle_unix_ms)
		transition->below = candidate->passed_below;
}

/* Where only watermarks are known, those at the seed are only later. */
static int64_t seen_by(const struct transition_facts *facts)
{
	const struct gate_snapshot *seed = gate_snapshot_of(facts->gate, facts->made.checkpoint_id);
	int64_t seen =
		seed && seed->seen_unix_ms ? seed->seen_unix_ms : facts->gate->max_seen_unix_ms;

	return seen > 0 ? seen : 1;
}

static void enter_state(struct handover *handover, enum transition_state before,
			enum transition_state next, const struct transition_facts *facts,
			const struct transition_policy *policy)
{
	struct transition *transition = &handover->transition;

	transition->state = next;
	handover->state = transition_outside(next);
	if (next == TRANSITION_ABORTING)
		transition->opened = !transition_is_cut(before);
	if (next == TRANSITION_SEEDED && facts->gate->known)
		transition->seen_unix_ms = seen_by(facts);
	if (next == TRANSITION_SEEDED)
		set_point(&transition->seed, facts->made.path, facts->made.checkpoint_id);
	if (next == TRANSITION_SHADOW && before == TRANSITION_ARMING)
		forget_cut(transition);
	if (next == TRANSITION_CROSSING && gate_kind_of(policy->gate)->keys)
		transition->toggle_unix_ms = facts->chosen_unix_ms;
	if (next >= TRANSITION_ARMED && next <= TRANSITION_GRANTED)
		count_doubled(transition, facts);
	if (next != TRANSITION_GRANTED)
		return;
	if (facts->work == WORK_DONE)
		set_point(&transition->stop, facts->made.path, facts->made.checkpoint_id);
	xstrset(&handover->savepoint, transition->stop.path);
}

/* What it is given up for is said until it is over, and then, too. */
static void say_why(struct handover *handover, const struct transition_move *move,
		    const struct transition_facts *facts)
{
	bool gives_up = handover->transition.state == TRANSITION_ABORTING;
	const char *words = move->quotes ? facts->says : NULL, *why = move->why;
	char *text;

	if (gives_up && move->state == TRANSITION_ABORTING)
		return;
	if (gives_up)
		words = handover->why;
	else if (facts->abort && move->state == TRANSITION_ABORTING)
		why = "a person has given it up";
	text = handover_quotes(why, words);
	free(handover->why);
	handover->why = text;
}

void transition_apply(struct handover *handover, const struct transition_move *move,
		      const struct transition_facts *facts, const struct transition_policy *policy)
{
	struct transition *transition = &handover->transition;
	enum transition_state before = transition->state, next = move->state;
	struct gate_order owner = owner_order(handover, policy);
	struct gate_order candidate = candidate_order(handover, policy);

	handover->tries += move->counts;
	/* else it would be offered again at once */
	/* MUT: a version that a person has given up is tried again */
	if (transition->aborted && next == TRANSITION_NONE && handover->tries < policy->tries)
		handover->tries = policy->tries;
	if (move->counts || next == TRANSITION_NONE)
		next = after_try(handover, policy, next);
	if (move->act == ACT_CUT)
		choose_cut(transition, facts, policy);
	if (move->act == ACT_FOUND) {
		transition->toggle_unix_ms = facts->chosen_unix_ms;
		transition->opened = false;
	}
	if (move->act == ACT_OPENED)
		transition->opened = true;
	if (move->act == ACT_REPLAY)
		choose_replay(transition, facts);
	if (move->act == ACT_REPLAYED)
		transition->replayed = true;
	say_why(handover, move, facts);
	if (next != before)
		enter_state(handover, before, next, facts, policy);
	/* MUT: an order that is given again has the number of the first one */
	transition->owner_number += differs(owner, owner_order(handover, policy));
	transition->candidate_number += differs(candidate, candidate_order(handover, policy));
}

/* ---- the end ---- */

bool transition_is_done(const struct handover *handover, const struct gate_report *report,
			bool proven, int64_t finish_id)
{
	int64_t toggle_unix_ms = handover->transition.toggle_unix_ms;

	/* MUT: the seed may go before the job has a checkpoint of its own */
	if (!proven)
		return false;
	if (transition_of(handover) != TRANSITION_TAKEN)
		return false;
	if (!toggle_unix_ms)
		return true;
	/* MUT: the cut is forgotten before a checkpoint is behind it */
	if (finish_id < 0)
		return false;
	for (size_t i = 0; i < report->snapshot_count; i++)
		if (report->snapshots[i].checkpoint_id > finish_id &&
		    report->snapshots[i].min_watermark_unix_ms >= toggle_unix_ms)
			return true;
	return false;
}
