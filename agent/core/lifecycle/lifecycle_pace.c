/*
 * Nothing that repeats runs without a pause. What follows from a failure has its own backoff. Behind all backoffs, and
 * for a repetition that has none, there is a limit for each effect in a second and in a minute.
 *
 * A start of Flink that comes too early is decided again when its time has come, by what is true then. Every other
 * effect waits, and is dropped if nothing waits for it any more; an Event that comes too often is dropped. The limits are
 * twice what the simulator has ever seen, which fails when anything has to wait.
 */
#include "core/lifecycle/lifecycle_pace.h"

#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_state.h"

static const struct {
	int launches;
	int64_t within_ms;
} limits[] = {
	{4, 5000},
	{LAUNCHES_A_MINUTE, 60000},
};

int64_t pace_launch_ms(const struct lifecycle *life)
{
	int64_t due_ms = 0;

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		int64_t before_ms = life->own->launches_ms[limits[i].launches - 1];

		/* MUT: starts of Flink have no limit */
		if (before_ms && before_ms + limits[i].within_ms > due_ms)
			due_ms = before_ms + limits[i].within_ms;
	}
	return due_ms > life->now_ms ? due_ms : 0;
}

int pace_count(const struct lifecycle *life)
{
	int count = 0;

	while (count < LAUNCHES_A_MINUTE && life->own->launches_ms[count] &&
	       life->now_ms - life->own->launches_ms[count] < 60000)
		count++;
	return count;
}

void pace_launched(struct lifecycle *life)
{
	memmove(life->own->launches_ms + 1, life->own->launches_ms,
		sizeof(life->own->launches_ms) - sizeof(life->own->launches_ms[0]));
	life->own->launches_ms[0] = life->now_ms;
}

/* ---- all other effects ---- */

static const int64_t window_ms[] = {1000, 60000};

/* In each window; 0: no limit. What ends Flink or the agent never waits, nor what is only logged or told to drey-init. */
static const int paces[EFFECT_COUNT][ARRAY_LEN(window_ms)] = {
	[EFFECT_OBSERVE] = {8, 60},
	[EFFECT_WRITE_JOURNAL] = {25, 120},
	[EFFECT_POLL] = {30, 300},
	/* a POST that nobody answers is repeated every second until its deadline */
	[EFFECT_TRIGGER] = {6, 120},
	[EFFECT_POLL_OPERATION] = {10, 240},
	[EFFECT_INSPECT] = {10, 80},
	[EFFECT_DISPOSE] = {10, 80},
	[EFFECT_CHECK_JOURNAL] = {20, 120},
	[EFFECT_TELL] = {30, 150},
	[EFFECT_TRIGGER_CHECKPOINT] = {6, 40},
	[EFFECT_POLL_CHECKPOINT] = {10, 240},
	[EFFECT_RESCALE] = {10, 120},
	[EFFECT_SIGNS] = {2, 30},
};

/* 0: it may come now, and is counted; else when. */
static int64_t pace_effect_ms(struct lifecycle *life, enum effect_type type)
{
	struct pace_window *windows = life->own->paces[type];
	int64_t due_ms = 0;

	if (!paces[type][0])
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(window_ms); i++) {
		if (life->now_ms - windows[i].since_ms >= window_ms[i])
			windows[i] = (struct pace_window){.since_ms = life->now_ms};
		if (windows[i].count >= paces[type][i])
			due_ms = windows[i].since_ms + window_ms[i];
	}
	for (size_t i = 0; i < ARRAY_LEN(window_ms) && !due_ms; i++)
		windows[i].count++;
	return due_ms;
}

/* Those that have waited come first, if anything still waits for them, and as far as there is room. */
static void resume_postponed(struct lifecycle *life)
{
	struct effects all = {.count = 0};

	while (life->postponed.count && all.count + life->out->count < LIFECYCLE_MAX_EFFECTS) {
		const struct effect *first = &life->postponed.list[0];

		if (lifecycle_awaits(life, first->type, first->id))
			effects_move(&life->postponed, 0, &all);
		else
			effects_remove(&life->postponed, 0);
	}
	while (life->out->count)
		effects_move(life->out, 0, &all);
	*life->out = all;
}

void pace_effects(struct lifecycle *life)
{
	int64_t next_ms = 0;

	if (life->postponed.count)
		resume_postponed(life);
	if (life->postponed.count)
		next_ms = life->now_ms + 1000;
	for (size_t i = 0; i < life->out->count;) {
		enum effect_type type = life->out->list[i].type;
		int64_t due_ms = pace_effect_ms(life, type);

		if (!due_ms) {
			i++;
		} else if (type == EFFECT_TELL || life->postponed.count == LIFECYCLE_MAX_EFFECTS) {
			effects_remove(life->out, i);
		} else {
			effects_move(life->out, i, &life->postponed);
			if (!next_ms || due_ms < next_ms)
				next_ms = due_ms;
		}
	}
	life->postponed_ms = next_ms;
}

bool pace_is_kept(const struct lifecycle *life)
{
	for (size_t type = 0; type < EFFECT_COUNT; type++)
		for (size_t i = 0; i < ARRAY_LEN(window_ms); i++)
			if (life->own->paces[type][i].count > paces[type][i])
				return false;
	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		int64_t before_ms = limits[i].launches < LAUNCHES_A_MINUTE
					    ? life->own->launches_ms[limits[i].launches]
					    : 0;

		if (before_ms && life->own->launches_ms[0] - before_ms < limits[i].within_ms)
			return false;
	}
	return true;
}
