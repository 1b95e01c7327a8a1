/*
 * Nothing that repeats runs without a pause. What follows from a failure has its own backoff; this is the limit
 * behind all of them, for what nobody thought of: so many in a second, and in a minute.
 *
 * A start of Flink that comes too early is decided again when its time has come, by what is true then. Every other
 * effect waits, and is dropped if nothing waits for it any more; an Event that comes too often is dropped. The limits are
 * twice what the simulator has ever seen, which fails when anything has to wait.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_internal.h"

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
		int64_t before_ms = life->launches_ms[limits[i].launches - 1];

		/* MUT: starts of Flink have no limit */
		if (before_ms && before_ms + limits[i].within_ms > due_ms)
			due_ms = before_ms + limits[i].within_ms;
	}
	return due_ms > life->now_ms ? due_ms : 0;
}

int pace_count(const struct lifecycle *life)
{
	int count = 0;

	while (count < LAUNCHES_A_MINUTE && life->launches_ms[count] &&
	       life->now_ms - life->launches_ms[count] < 60000)
		count++;
	return count;
}

void pace_launched(struct lifecycle *life)
{
	memmove(life->launches_ms + 1, life->launches_ms,
		sizeof(life->launches_ms) - sizeof(life->launches_ms[0]));
	life->launches_ms[0] = life->now_ms;
}

/* ---- all other effects ---- */

/* 0: no limit. What ends Flink or the agent never waits, nor what is only written to a log or told to drey-init. */
static const struct {
	int second, minute;
} paces[EFFECT_COUNT] = {
	[EFFECT_OBSERVE] = {8, 60},
	[EFFECT_WRITE_JOURNAL] = {25, 120},
	[EFFECT_POLL] = {30, 300},
	[EFFECT_TRIGGER] = {6, 40},
	[EFFECT_POLL_OPERATION] = {10, 240},
	[EFFECT_INSPECT] = {10, 80},
	[EFFECT_DISPOSE] = {10, 80},
	[EFFECT_CHECK_JOURNAL] = {20, 120},
	[EFFECT_TELL] = {30, 150},
	[EFFECT_TRIGGER_CHECKPOINT] = {6, 40},
	[EFFECT_POLL_CHECKPOINT] = {10, 240},
	[EFFECT_RESCALE] = {10, 120},
};

/* 0: it may come now, and is counted; else when. */
static int64_t pace_effect_ms(struct lifecycle *life, enum effect_type type)
{
	struct pace_count *count = &life->paces[type];

	if (!paces[type].second)
		return 0;
	if (life->now_ms - count->second_ms >= 1000) {
		count->second_ms = life->now_ms;
		count->in_second = 0;
	}
	if (life->now_ms - count->minute_ms >= 60000) {
		count->minute_ms = life->now_ms;
		count->in_minute = 0;
	}
	/* MUT: what repeats has no limit in a minute */
	if (count->in_minute >= paces[type].minute)
		return count->minute_ms + 60000;
	if (count->in_second >= paces[type].second)
		return count->second_ms + 1000;
	count->in_second++;
	count->in_minute++;
	return 0;
}

static void move_effect(struct effects *from, size_t index, struct effects *to)
{
	to->list[to->count++] = from->list[index];
	from->list[index].text = NULL;
	from->list[index].notice = (struct notice){0};
	effects_remove(from, index);
}

/* Those that have waited come first, if anything still waits for them, and as far as there is room. */
static void resume_postponed(struct lifecycle *life)
{
	struct effects all = {.count = 0};

	while (life->postponed.count && all.count + life->out->count < LIFECYCLE_MAX_EFFECTS) {
		const struct effect *first = &life->postponed.list[0];

		if (lifecycle_awaits(life, first->type, first->id))
			move_effect(&life->postponed, 0, &all);
		else
			effects_remove(&life->postponed, 0);
	}
	while (life->out->count)
		move_effect(life->out, 0, &all);
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
			move_effect(life->out, i, &life->postponed);
			if (!next_ms || due_ms < next_ms)
				next_ms = due_ms;
		}
	}
	life->postponed_ms = next_ms;
}

bool pace_is_kept(const struct lifecycle *life)
{
	for (size_t i = 0; i < EFFECT_COUNT; i++)
		if (life->paces[i].in_second > paces[i].second ||
		    life->paces[i].in_minute > paces[i].minute)
			return false;
	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		int64_t before_ms = limits[i].launches < LAUNCHES_A_MINUTE
					    ? life->launches_ms[limits[i].launches]
					    : 0;

		if (before_ms && life->launches_ms[0] - before_ms < limits[i].within_ms)
			return false;
	}
	return true;
}
