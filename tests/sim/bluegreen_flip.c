/*
 * Gates of FLIP-504, of both versions, to the letter (see tests/job/FlipGate.java): everything is evaluated when a record
 * arrives, each subtask sees the ConfigMap late, and writes it half a second after it wanted to.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/bluegreen.h"

#define DELAY_MS 500

bool bg_has_flip(const struct bg_world *w)
{
	return w->policy.gate == TRANSITION_GATE_FLIP;
}

struct flip_values bg_flip_values(const struct bg_map *map)
{
	struct flip_values values;

	for (int i = 0; i < FLIP_KEYS; i++)
		values.of[i] = *map->text[i] ? map->text[i] : NULL;
	return values;
}

static bool says(const struct bg_map *map, enum flip_key key, const char *word)
{
	return !strcmp(map->text[key], word);
}

static int64_t toggle_of(const struct bg_map *map)
{
	struct flip_values values = bg_flip_values(map);

	return flip_toggle(&values);
}

/* ---- a record ---- */

/* It is written later, and once. */
static void wants(struct bg_world *w, struct bg_task *task, int put, enum flip_key key,
		  const char *value)
{
	struct bg_put *it = &task->puts[put];

	if (it->ms)
		return;
	*it = (struct bg_put){.ms = w->now_ms + DELAY_MS, .key = key};
	snprintf(it->value, sizeof(it->value), "%s", value);
}

static int64_t watermark_of(const struct bg_world *w, const struct bg_task *task)
{
	return task->spoken_ms && task->spoken_ms < w->now_ms ? task->watermark : GATE_NO_TIME;
}

static bool takes_active(struct bg_world *w, int side, struct bg_task *task, int64_t time)
{
	int64_t toggle = toggle_of(&task->view);

	if (says(&task->view, FLIP_FIRST, "true"))
		return true;
	if (!toggle) {
		if (says(&task->view, FLIP_STAGE, "TRANSITIONING") &&
		    !says(&task->view, FLIP_WATERMARK_STAGE, "WAITING_FOR_WATERMARK"))
			wants(w, task, 0, FLIP_WATERMARK_STAGE, "WAITING_FOR_WATERMARK");
		return false;
	}
	return time >= toggle || (!w->flip_first[side] && watermark_of(w, task) > toggle);
}

static void proposes(struct bg_world *w, int side, struct bg_task *task)
{
	int64_t from = watermark_of(w, task);
	char value[24];

	if (from == GATE_NO_TIME) {
		if (!w->flip_first[side])
			return;
		from = BG_TIME_ORIGIN + w->now_ms + w->sides[side].pod.clock_ms;
	}
	snprintf(value, sizeof(value), "%" PRId64, from + w->policy.lead_ms);
	wants(w, task, 1, FLIP_WATERMARK_TOGGLE, value);
}

static bool takes_standby(struct bg_world *w, int side, struct bg_task *task, int64_t time)
{
	int64_t toggle = toggle_of(&task->view), watermark = watermark_of(w, task);

	if (!toggle) {
		if (says(&task->view, FLIP_WATERMARK_STAGE, "WAITING_FOR_WATERMARK"))
			proposes(w, side, task);
		return true;
	}
	if (watermark <= toggle)
		return time < toggle;
	task->over = true;
	if (!says(&task->view, FLIP_STAGE, "CLEAR_TO_TEARDOWN") && !w->flip_mute)
		wants(w, task, 2, FLIP_STAGE, "CLEAR_TO_TEARDOWN");
	return false;
}

bool bg_flip_takes(struct bg_world *w, int side, int split, int64_t time)
{
	struct bg_task *task = &w->sides[side].job.tasks[split];
	bool takes = says(&task->view, FLIP_ACTIVE, flip_side_words[side])
			     ? takes_active(w, side, task, time)
			     : takes_standby(w, side, task, time);

	if (!task->spoken_ms)
		task->spoken_ms = w->now_ms;
	return takes;
}

/* ---- what they see ---- */

/* What it had before it knew this cut the two sides do not divide by it: drey cannot cure that. */
static void excuse(struct bg_world *w, int side, int split)
{
	const struct bg_task *task = &w->sides[side].job.tasks[split];
	int64_t toggle = toggle_of(&task->view);

	for (int r = task->position - 1; r >= 0 && r > task->position - 200; r--)
		w->excused[split][r] |= bg_time_of(w, split, r) >= toggle;
}

static void sees(struct bg_world *w, int side, int split)
{
	struct bg_task *task = &w->sides[side].job.tasks[split];
	int64_t before = toggle_of(&task->view);

	task->view = w->flip;
	task->view_ms = w->now_ms + 100 + bg_below(w, bg_odds(w, 20) ? 3000 : 500);
	if (!before && toggle_of(&task->view))
		excuse(w, side, split);
}

void bg_flip_reset(struct bg_world *w, int side)
{
	for (int s = 0; s < w->splits; s++) {
		struct bg_task *task = &w->sides[side].job.tasks[s];

		task->view = w->flip;
		task->view_ms = w->now_ms + bg_below(w, 500);
		task->spoken_ms = 0;
		task->over = false;
		memset(task->puts, 0, sizeof(task->puts));
	}
}

/* ---- what they write ---- */

/* Another one was faster: there is nothing to write any more. */
static bool is_done(const struct bg_world *w, int side, const struct bg_put *put)
{
	const struct bg_map *map = &put->copy;
	bool cut = *map->text[FLIP_WATERMARK_TOGGLE];

	if (says(map, put->key, put->value))
		return true;
	switch (put->key) {
	case FLIP_WATERMARK_TOGGLE:
		return cut || (!w->flip_first[side] &&
			       !says(map, FLIP_WATERMARK_STAGE, "WAITING_FOR_WATERMARK"));
	case FLIP_WATERMARK_STAGE:
		return cut || !says(map, FLIP_STAGE, "TRANSITIONING");
	default:
		return !cut;
	}
}

static void stored(struct bg_world *w, const char *who)
{
	w->flip.version++;
	bg_say(w, "%s: %s, first %s, %s, %s, cut %s", who, w->flip.text[FLIP_ACTIVE],
	       w->flip.text[FLIP_FIRST], w->flip.text[FLIP_STAGE],
	       *w->flip.text[FLIP_WATERMARK_STAGE] ? w->flip.text[FLIP_WATERMARK_STAGE] : "-",
	       *w->flip.text[FLIP_WATERMARK_TOGGLE] ? w->flip.text[FLIP_WATERMARK_TOGGLE] : "-");
}

/* Nothing divides the records at a cut that some gate was past when it was chosen, by what Flink shows by then. */
static void is_chosen(struct bg_world *w)
{
	int64_t toggle = toggle_of(&w->flip), newest = GATE_NO_TIME;

	for (int side = 0; side < BG_SIDES; side++)
		for (int s = 0; s < w->splits && w->sides[side].job.running; s++) {
			int64_t here = w->sides[side].job.shown.watermarks[s];

			newest = here > newest ? here : newest;
		}
	w->past_cut = newest >= toggle ? toggle : 0;
	w->past_ms = w->now_ms;
}

/* The first version puts back all that it has read, whatever was written meanwhile. */
static void puts_back(struct bg_world *w, int side, struct bg_put *put)
{
	int64_t version = w->flip.version, by_drey = w->flip.by_drey;

	if (put->copy.version != version && !w->flip_first[side]) {
		put->has_read = false;
		return;
	}
	w->trampled |= by_drey > put->copy.version;
	snprintf(put->copy.text[put->key], sizeof(put->copy.text[put->key]), "%s", put->value);
	if (put->key == FLIP_WATERMARK_TOGGLE)
		snprintf(put->copy.text[FLIP_WATERMARK_STAGE], sizeof(put->copy.text[0]),
			 "WATERMARK_SET");
	w->flip = put->copy;
	w->flip.version = version;
	w->flip.by_drey = by_drey;
	if (put->key == FLIP_WATERMARK_TOGGLE)
		is_chosen(w);
	stored(w, side ? "a gate of side 1" : "a gate of side 0");
	put->ms = 0;
}

static void writes(struct bg_world *w, int side, struct bg_put *put)
{
	if (!put->ms || w->now_ms < put->ms)
		return;
	put->ms = w->now_ms + 20 + bg_below(w, 130);
	if (put->has_read) {
		puts_back(w, side, put);
		return;
	}
	if (bg_chance(w, 50)) /* it is not answered */
		return;
	put->has_read = true;
	put->copy = w->flip;
	if (is_done(w, side, put))
		put->ms = 0;
}

void bg_flip_tick(struct bg_world *w, int side)
{
	struct bg_job *job = &w->sides[side].job;
	struct bg_shown *shown = &job->shown;

	if (!bg_has_flip(w) || !job->running)
		return;
	for (int s = 0; s < w->splits; s++) {
		for (int i = 0; i < BG_PUTS; i++)
			writes(w, side, &job->tasks[s].puts[i]);
		if (w->now_ms >= job->tasks[s].view_ms)
			sees(w, side, s);
	}
	if (w->now_ms < shown->next_ms)
		return;
	*shown = (struct bg_shown){.next_ms = w->now_ms + bg_below(w, 3000),
				   .start_ms = job->run_ms,
				   .running = w->splits};
	for (int s = 0; s < w->splits; s++) {
		shown->watermarks[s] = watermark_of(w, &job->tasks[s]);
		shown->gauges += !w->flip_first[side];
		shown->over += !w->flip_first[side] && job->tasks[s].over;
	}
}

/* A hand, or a gate of the wrong side. */
void bg_flip_accidents(struct bg_world *w)
{
	if (!bg_has_flip(w) || w->calm || !*w->flip.text[FLIP_STAGE] ||
	    rng_below(&w->more, 100000) >= 200)
		return;
	snprintf(w->flip.text[FLIP_STAGE], sizeof(w->flip.text[0]), "CLEAR_TO_TEARDOWN");
	w->hand_ms = w->now_ms;
	stored(w, "a hand");
}

/* ---- what must be true ---- */

static void candidate_is_shut(struct bg_world *w)
{
	int other = !w->store.owner_side;
	enum transition_state state = transition_of(&w->store.handover);
	struct flip_values values = bg_flip_values(&w->flip);

	if (w->sides[other].job.alive && state != TRANSITION_GRANTED &&
	    !flip_shuts(&values, (enum side)other))
		bg_fail(w, "the candidate's gates let everything pass");
}

static void cut_stays(struct bg_world *w)
{
	const struct transition *transition = &w->store.handover.transition;
	enum transition_state state = transition_of(&w->store.handover);
	int64_t toggle = toggle_of(&w->flip);

	if (state < TRANSITION_CROSSING || state > TRANSITION_TAKEN ||
	    !transition->toggle_unix_ms || toggle == transition->toggle_unix_ms)
		w->flip_ms = w->now_ms;
	else if (w->now_ms > w->flip_ms + 40 * BG_SECOND)
		bg_fail(w, "the cut on record is not the one in the ConfigMap");
}

void bg_flip_judge(struct bg_world *w)
{
	enum transition_state state = transition_of(&w->store.handover);
	const struct bg_pod *pod = &w->sides[w->store.owner_side].pod;
	struct flip_keys keys = {.active = (enum side)w->store.owner_side,
				 .is_first = true,
				 .stage = FLIP_RUNNING,
				 .delay_ms = w->policy.lead_ms};
	struct flip_values values = bg_flip_values(&w->flip);

	if (!bg_has_flip(w) || w->trampled)
		return;
	candidate_is_shut(w);
	cut_stays(w);
	/* a gate would drop what is below a cut that stays, for ever */
	if ((state == TRANSITION_DONE || state == TRANSITION_NONE || state == TRANSITION_REFUSED) &&
	    pod->agent.owns && w->now_ms > pod->agent.born_ms + 40 * BG_SECOND && !w->store_lost &&
	    w->now_ms > w->restored_ms + 40 * BG_SECOND &&
	    w->now_ms > w->changed_ms + 40 * BG_SECOND && w->now_ms > w->hand_ms + 40 * BG_SECOND &&
	    !flip_is_written(&keys, &values))
		bg_fail(w, "no transition is under way, and the ConfigMap is not at rest");
}
