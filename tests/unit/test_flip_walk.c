/*
 * Random walks of a transition with gates of FLIP-504, of both versions: two jobs that read the same records, their subtasks with
 * gates that see the ConfigMap late, the owner by its rules, and somebody who gives up or writes CLEAR_TO_TEARDOWN.
 * Nothing may be lost; and nothing doubled, except by a replay.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/handover/flip.h"
#include "core/handover/transition_rules.h"
#include "core/rng.h"
#include "tap.h"

enum { SUBTASKS = 3, MOST = 1200, LEAD = 60, LAG = 6, WRITE_DELAY = 5, WALKS = 400, TICKS = 4000 };

struct map {
	char text[FLIP_KEYS][24]; /* "" = no such key */
};

struct gate {
	int at; /* the last record that it has read: of this time, and so is its watermark */
	struct map view; /* of the ConfigMap */
	int view_in, write_in;
	enum flip_key write_key;
	char write[24];
};

struct job {
	bool runs, later;
	struct gate gates[SUBTASKS];
};

struct world {
	struct rng rng;
	struct map map;
	struct job jobs[SIDES];
	struct handover handover;
	struct transition_policy policy;
	int written[SUBTASKS][MOST];
	int seed[SUBTASKS], clean[SUBTASKS], replay[SUBTASKS];
	bool has_clean, cut_seen;
	int ready; /* how far records are there */
	enum transition_state keys_state;
	int64_t toggle;
	int toggle_ticks, behind_ticks, checkpoint_at;
	enum transition_work work;
	struct gate_keys_shown seen;
	bool abort, replayed;
	enum side owner;
};

static int roll(struct world *w, int sides)
{
	return (int)(rng_next(&w->rng) % (uint64_t)sides);
}

static struct flip_values values_of(const struct map *map)
{
	struct flip_values values;

	for (int i = 0; i < FLIP_KEYS; i++)
		values.of[i] = *map->text[i] ? map->text[i] : NULL;
	return values;
}

static bool says(const struct map *map, enum flip_key key, const char *word)
{
	return !strcmp(map->text[key], word);
}

/* ---- the gates, to the letter */

static void writes(struct gate *gate, enum flip_key key, const char *text)
{
	if (gate->write_in)
		return;
	gate->write_in = WRITE_DELAY;
	gate->write_key = key;
	snprintf(gate->write, sizeof(gate->write), "%s", text);
}

static bool passes_active(const struct job *job, struct gate *gate, int time, int64_t toggle)
{
	if (says(&gate->view, FLIP_FIRST, "true"))
		return true;
	if (!toggle) {
		if (says(&gate->view, FLIP_STAGE, "TRANSITIONING") &&
		    !*gate->view.text[FLIP_WATERMARK_STAGE])
			writes(gate, FLIP_WATERMARK_STAGE, "WAITING_FOR_WATERMARK");
		return false;
	}
	return time >= toggle || (job->later && gate->at > toggle);
}

static bool passes_standby(struct gate *gate, int time, int64_t toggle)
{
	char text[24];

	if (!toggle) {
		snprintf(text, sizeof(text), "%d", gate->at + LEAD);
		if (says(&gate->view, FLIP_WATERMARK_STAGE, "WAITING_FOR_WATERMARK"))
			writes(gate, FLIP_WATERMARK_TOGGLE, text);
		return true;
	}
	if (gate->at <= toggle)
		return time < toggle;
	if (!says(&gate->view, FLIP_STAGE, "CLEAR_TO_TEARDOWN"))
		writes(gate, FLIP_STAGE, "CLEAR_TO_TEARDOWN");
	return false;
}

static void reads_record(struct world *w, enum side side, int subtask)
{
	struct job *job = &w->jobs[side];
	struct gate *gate = &job->gates[subtask];
	struct flip_values values = values_of(&gate->view);
	int time = gate->at + 1;
	bool active = says(&gate->view, FLIP_ACTIVE, flip_side_words[side]), passes;

	if (time >= w->ready)
		return;
	passes = active ? passes_active(job, gate, time, flip_toggle(&values))
			: passes_standby(gate, time, flip_toggle(&values));
	gate->at = time;
	w->written[subtask][time] += passes;
}

/* A write of theirs; those of the later version only where the key is not there. */
static void carries_out(struct world *w, const struct job *job, struct gate *gate)
{
	char *now = w->map.text[gate->write_key];
	bool toggle = gate->write_key == FLIP_WATERMARK_TOGGLE;

	if (gate->write_key == FLIP_STAGE && !*w->map.text[FLIP_WATERMARK_TOGGLE])
		return;
	if (gate->write_key == FLIP_WATERMARK_STAGE && !says(&w->map, FLIP_STAGE, "TRANSITIONING"))
		return;
	if (toggle && *now && (job->later || roll(w, 2)))
		return;
	if (toggle && !says(&w->map, FLIP_WATERMARK_STAGE, "WAITING_FOR_WATERMARK") && !*now)
		return;
	strcpy(now, gate->write);
	if (toggle)
		strcpy(w->map.text[FLIP_WATERMARK_STAGE], "WATERMARK_SET");
}

static void job_ticks(struct world *w, enum side side)
{
	struct job *job = &w->jobs[side];

	for (int i = 0; job->runs && i < SUBTASKS; i++) {
		struct gate *gate = &job->gates[i];

		if (--gate->view_in <= 0) {
			gate->view = w->map;
			gate->view_in = 1 + roll(w, LAG);
		}
		if (gate->write_in && --gate->write_in == 0)
			carries_out(w, job, gate);
		/* one that is behind catches up */
		for (int n = gate->at + 20 < w->ready ? 3 : roll(w, 3) > 0; n > 0; n--)
			reads_record(w, side, i);
	}
}

static void starts(struct world *w, enum side side, const int *from)
{
	struct job *job = &w->jobs[side];

	job->runs = true;
	for (int i = 0; i < SUBTASKS; i++)
		job->gates[i] = (struct gate){.at = from[i], .view = w->map, .view_in = 1};
}

/* ---- the owner */

static int64_t least(const struct job *job)
{
	int64_t at = MOST;

	for (int i = 0; i < SUBTASKS; i++)
		at = job->gates[i].at < at ? job->gates[i].at : at;
	return at;
}

static struct gate_report report_of(const struct world *w, enum side side)
{
	const struct job *job = &w->jobs[side];
	struct gate_report report = {.known = job->runs,
				     .subtasks = SUBTASKS,
				     .running = job->runs ? SUBTASKS : 0,
				     .min_watermark_unix_ms = least(job),
				     .max_seen_unix_ms = w->ready,
				     .snapshot_count = 1};

	report.snapshots[0] = (struct gate_snapshot){.checkpoint_id = 1,
						     .confirmed = true,
						     .withheld_above = !w->has_clean,
						     .min_watermark_unix_ms = w->checkpoint_at,
						     .seen_unix_ms = w->ready};
	return report;
}

static void marks(const struct job *job, int at[SUBTASKS])
{
	for (int i = 0; i < SUBTASKS; i++)
		at[i] = job->gates[i].at;
}

/* A look, after which the keys are as they are to be. */
static void looks(struct world *w)
{
	enum transition_state state = transition_of(&w->handover);
	struct flip_keys keys = flip_keys(&w->handover, w->owner, !w->jobs[SIDE_GREEN].runs, LEAD);
	struct flip_values values = values_of(&w->map);
	struct flip_change changes[FLIP_KEYS];
	size_t count = flip_changes(&keys, &values, changes);
	int64_t toggle;

	for (size_t i = 0; i < count; i++)
		strcpy(w->map.text[changes[i].key], changes[i].value);
	values = values_of(&w->map);
	toggle = flip_toggle(&values);
	w->keys_state = flip_is_written(&keys, &values) ? state : TRANSITION_NONE;
	w->toggle_ticks = toggle == w->toggle ? w->toggle_ticks : 0;
	w->toggle = toggle;
	w->cut_seen |= toggle != 0;
	w->seen = (struct gate_keys_shown){.stage = flip_stage(&values), .subtasks = SUBTASKS};
	for (int i = 0; toggle && i < SUBTASKS; i++)
		w->seen.behind += w->jobs[SIDE_BLUE].gates[i].at >= toggle;
	/* a checkpoint now and then */
	if (w->jobs[SIDE_BLUE].runs && !w->cut_seen) {
		marks(&w->jobs[SIDE_BLUE], w->clean);
		w->has_clean = true;
	}
	w->checkpoint_at = (int)least(&w->jobs[SIDE_BLUE]);
}

static void acts(struct world *w, enum transition_act act)
{
	const struct transition *transition = &w->handover.transition;
	struct job *blue = &w->jobs[SIDE_BLUE];

	if (act == ACT_SAVE || act == ACT_STOP)
		w->work = WORK_RUNNING;
	if (act == ACT_REPLAY)
		memcpy(w->replay, !strcmp(transition->replay.path, "clean") ? w->clean : w->seed,
		       sizeof(w->replay));
	if (act == ACT_END)
		blue->runs = false;
	if (act == ACT_RESTART && w->keys_state == TRANSITION_ABORTING) {
		starts(w, SIDE_BLUE, w->replay);
		w->replayed = true;
	}
}

static struct transition_facts facts_of(struct world *w, const struct gate_report *here,
					const struct gate_report *there)
{
	const struct transition *transition = &w->handover.transition;
	bool blue = w->jobs[SIDE_BLUE].runs, green = w->jobs[SIDE_GREEN].runs;
	int64_t cut = transition->toggle_unix_ms;
	struct transition_facts facts = {
		.prepared = true,
		.shadowing = green,
		.caught_up = green &&
			     least(&w->jobs[SIDE_GREEN]) + LEAD / 3 >= least(&w->jobs[SIDE_BLUE]),
		.ended = !green,
		.runs = blue,
		.lives = blue,
		.replaying = w->replayed && blue,
		.gate = here,
		.candidate_gate = there,
		.work = w->work,
		.made = {(char *)"seed", 1},
		.abort = w->abort,
		.keys_written = w->keys_state == transition_of(&w->handover)};

	if (w->toggle && (transition->state == TRANSITION_ABORTING || w->toggle_ticks > 2 * LAG))
		facts.chosen_unix_ms = w->toggle;
	facts.keys_crossed = cut && w->toggle == cut && flip_has_crossed(&w->seen);
	if (w->has_clean)
		facts.clean = (struct transition_point){(char *)"clean", 1};
	w->behind_ticks = cut && gate_is_behind(here, cut, false) ? w->behind_ticks + 1 : 0;
	facts.settled = w->behind_ticks > 5;
	return facts;
}

static void owner_ticks(struct world *w)
{
	struct gate_report here = report_of(w, SIDE_BLUE), there = report_of(w, SIDE_GREEN);
	struct transition_facts facts = facts_of(w, &here, &there);
	struct transition_move move;
	enum transition_state before = transition_of(&w->handover);

	if (w->work == WORK_RUNNING && !roll(w, 4)) {
		w->work = WORK_DONE;
		if (before == TRANSITION_SEEDING)
			marks(&w->jobs[SIDE_BLUE], w->seed);
		else
			w->jobs[SIDE_BLUE].runs = false;
		return;
	}
	if (!transition_owner(&w->handover, &facts, &w->policy, &move))
		return;
	if (move.act != ACT_END && move.act != ACT_RESTART)
		transition_apply(&w->handover, &move, &facts, &w->policy);
	if (transition_of(&w->handover) != before)
		w->work = WORK_NONE;
	acts(w, move.act);
	if (transition_of(&w->handover) == TRANSITION_GRANTED) {
		w->owner = SIDE_GREEN;
		transition_take(&w->handover);
	}
}

static void candidate_ticks(struct world *w)
{
	enum transition_state state = transition_of(&w->handover);
	struct job *green = &w->jobs[SIDE_GREEN];
	struct flip_values values = values_of(&w->map);

	if (state == TRANSITION_SEEDED && !green->runs && flip_shuts(&values, SIDE_GREEN))
		starts(w, SIDE_GREEN, w->seed);
	if ((state == TRANSITION_ABORTING && w->handover.transition.opened) ||
	    state == TRANSITION_NONE || state == TRANSITION_REFUSED)
		green->runs = false;
	if (state == TRANSITION_TAKEN && least(green) > w->handover.transition.toggle_unix_ms &&
	    !roll(w, 9)) {
		w->handover.transition.state = TRANSITION_DONE;
		w->handover.state = transition_outside(TRANSITION_DONE);
	}
}

/* ---- the walk */

static void walk_begin(struct world *w, uint64_t seed)
{
	static const int start[SUBTASKS] = {10, 10, 10};

	memset(w, 0, sizeof(*w));
	rng_seed(&w->rng, seed);
	w->ready = 12;
	w->policy = (struct transition_policy){
		.gate = TRANSITION_GATE_FLIP, .lead_ms = LEAD / 3, .tries = 1};
	w->handover.id = xstrdup("h1-0");
	looks(w);
	transition_begin(&w->handover, 1);
	w->handover.transition.output_side = SIDE_GREEN;
	starts(w, SIDE_BLUE, start);
	w->jobs[SIDE_BLUE].later = roll(w, 2);
	w->jobs[SIDE_GREEN].later = roll(w, 2);
}

static bool is_over(const struct world *w)
{
	enum transition_state state = transition_of(&w->handover);

	return (state == TRANSITION_DONE || state == TRANSITION_NONE ||
		state == TRANSITION_REFUSED) &&
	       w->keys_state == state;
}

/* Up to where the one that runs has come. */
static void judge(const struct world *w, uint64_t seed)
{
	int lost = 0, doubled = 0;

	for (int i = 0; i < SUBTASKS; i++)
		for (int time = 11; time <= w->jobs[w->owner].gates[i].at; time++) {
			lost += !w->written[i][time];
			doubled += w->written[i][time] > 1;
		}
	if (w->replayed)
		doubled = 0;
	if (!CHECK_INT(lost, ==, 0) || !CHECK_INT(doubled, ==, 0))
		tap_note("walk %d, ended %s", (int)seed,
			 transition_state_name(transition_of(&w->handover)));
}

TEST(nothing_is_lost_or_doubled)
{
	int done = 0, replayed = 0, given_up = 0;

	for (uint64_t seed = 1; seed <= WALKS; seed++) {
		static struct world w;
		int abort_at, rest = 60;

		walk_begin(&w, seed);
		abort_at = roll(&w, 2) ? roll(&w, 400) : TICKS;
		for (int tick = 0; tick < TICKS && rest > 0 && w.ready < MOST; tick++) {
			w.ready += roll(&w, 3) == 0;
			w.toggle_ticks++;
			w.abort |=
				tick == abort_at && transition_of(&w.handover) < TRANSITION_CROSSED;
			if (!roll(&w, 40) && transition_of(&w.handover) >= TRANSITION_CROSSING)
				strcpy(w.map.text[FLIP_STAGE], "CLEAR_TO_TEARDOWN");
			job_ticks(&w, SIDE_BLUE);
			job_ticks(&w, SIDE_GREEN);
			if (!roll(&w, 2))
				looks(&w);
			if (!roll(&w, 2) && w.owner == SIDE_BLUE)
				owner_ticks(&w);
			if (!roll(&w, 3))
				candidate_ticks(&w);
			rest -= is_over(&w);
		}
		CHECK(is_over(&w));
		judge(&w, seed);
		done += transition_of(&w.handover) == TRANSITION_DONE;
		given_up += transition_of(&w.handover) != TRANSITION_DONE;
		replayed += w.replayed;
		handover_release(&w.handover);
	}
	tap_note("%d walks, %d done, %d given up, %d replayed", WALKS, done, given_up, replayed);
	CHECK(done > WALKS / 3 && given_up > WALKS / 10 && replayed > 0);
}
