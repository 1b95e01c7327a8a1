#include "core/handover/flip.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *const flip_stage_words[] = {"INITIALIZING", "TRANSITIONING", "CLEAR_TO_TEARDOWN",
					"RUNNING",      "FAILING",       NULL};
_Static_assert(sizeof(flip_stage_words) / sizeof(flip_stage_words[0]) == FLIP_STAGES + 1,
	       "a word for each stage");

const char *const flip_key_words[] = {
	"active-deployment-type", "is-first-deployment",   "deployment-deletion-delay-ms", "stage",
	"watermark-stage",        "watermark-toggle-value"};
_Static_assert(sizeof(flip_key_words) / sizeof(flip_key_words[0]) == FLIP_KEYS,
	       "a word for each key");

const char *const flip_side_words[SIDES] = {[SIDE_BLUE] = "BLUE", [SIDE_GREEN] = "GREEN"};

/* ---- what drey wants ---- */

/* A gate that is not the active side's passes everything as long as there is no cut. */
static bool candidate_may_run(const struct handover *handover, bool ended)
{
	/* MUT: the side is switched back while the candidate's job still runs */
	if (!ended)
		return true;
	return !handover->transition.opened;
}

static struct flip_keys aborting(const struct handover *handover, struct flip_keys keys, bool ended)
{
	keys.stage = FLIP_FAILING;
	keys.record_first = !handover->transition.toggle_unix_ms;
	if (!candidate_may_run(handover, ended))
		return keys;
	keys.active = handover->transition.output_side;
	keys.is_first = false;
	return keys;
}

struct flip_keys flip_keys(const struct handover *handover, enum side owner_side, bool ended,
			   int64_t lead_ms)
{
	enum transition_state state = transition_of(handover);
	struct flip_keys keys = {.active = owner_side,
				 .is_first = true,
				 .stage = FLIP_RUNNING,
				 .toggle = FLIP_REMOVED,
				 .delay_ms = lead_ms < FLIP_MOST_DELAY_MS ? lead_ms
									  : FLIP_MOST_DELAY_MS};

	if (state == TRANSITION_ABORTING)
		return aborting(handover, keys, ended);
	/* MUT: the keys of a transition stay when it is over */
	if (state < TRANSITION_SEEDED || state >= TRANSITION_DONE)
		return keys;
	/* MUT: the owner stays the active side in a transition */
	if (state < TRANSITION_TAKEN)
		keys.active = handover->transition.output_side;
	keys.is_first = false;
	keys.stage = state <= TRANSITION_SHADOW ? FLIP_INITIALIZING
		     : state < TRANSITION_TAKEN ? FLIP_TRANSITIONING
						: FLIP_RUNNING;
	keys.stage_is_theirs = keys.stage == FLIP_TRANSITIONING;
	keys.toggle = state <= TRANSITION_SHADOW ? FLIP_REMOVED : FLIP_LEFT;
	/* MUT: a cut that another gate writes later replaces the one on record */
	if (keys.toggle == FLIP_LEFT)
		keys.toggle_unix_ms = handover->transition.toggle_unix_ms;
	return keys;
}

/* ---- the map ---- */

static bool says(const struct flip_values *values, enum flip_key key, const char *word)
{
	return values->of[key] && !strcmp(values->of[key], word);
}

enum flip_stage flip_stage(const struct flip_values *values)
{
	int stage = 0;

	while (stage < FLIP_STAGES && !says(values, FLIP_STAGE, flip_stage_words[stage]))
		stage++;
	return (enum flip_stage)stage;
}

int64_t flip_toggle(const struct flip_values *values)
{
	const char *text = values->of[FLIP_WATERMARK_TOGGLE];
	size_t digits = text ? strspn(text, "0123456789") : 0;
	long long value = digits && digits < 19 && !text[digits] ? strtoll(text, NULL, 10) : 0;

	return value <= GATE_MAX_TIME_MS ? value : 0;
}

bool flip_shuts(const struct flip_values *values, enum side side)
{
	return says(values, FLIP_ACTIVE, flip_side_words[side]) &&
	       says(values, FLIP_FIRST, "false");
}

struct changes {
	const struct flip_values *values;
	struct flip_change *list;
	size_t count;
};

static void want(struct changes *changes, enum flip_key key, const char *value)
{
	const char *now = changes->values->of[key];
	struct flip_change *change = &changes->list[changes->count];

	/* an empty value asks for the key to be away */
	if (now ? *value && !strcmp(now, value) : !*value)
		return;
	change->key = key;
	snprintf(change->value, sizeof(change->value), "%s", value);
	changes->count++;
}

/* Without a cut no gate has written it, and the gates request one at no other stage. */
static bool is_theirs(const struct flip_keys *keys, const struct flip_values *values)
{
	return keys->stage_is_theirs && flip_stage(values) == FLIP_CLEAR_TO_TEARDOWN &&
	       flip_toggle(values);
}

static void want_toggle(struct changes *changes, const struct flip_keys *keys)
{
	char text[24] = "";

	if (keys->toggle == FLIP_REMOVED) {
		if (!keys->record_first || !flip_toggle(changes->values))
			want(changes, FLIP_WATERMARK_TOGGLE, "");
		want(changes, FLIP_WATERMARK_STAGE, "");
		return;
	}
	if (keys->toggle_unix_ms)
		snprintf(text, sizeof(text), "%" PRId64, keys->toggle_unix_ms);
	/* one that cannot be read fails the task of each gate that reads it */
	if (keys->toggle_unix_ms || !flip_toggle(changes->values))
		want(changes, FLIP_WATERMARK_TOGGLE, text);
}

size_t flip_changes(const struct flip_keys *keys, const struct flip_values *values,
		    struct flip_change ret_changes[FLIP_KEYS])
{
	struct changes changes = {.values = values, .list = ret_changes};
	char delay[24];

	snprintf(delay, sizeof(delay), "%" PRId64, keys->delay_ms);
	want(&changes, FLIP_ACTIVE, flip_side_words[keys->active]);
	want(&changes, FLIP_FIRST, keys->is_first ? "true" : "false");
	want(&changes, FLIP_DELAY, delay);
	if (!is_theirs(keys, values))
		want(&changes, FLIP_STAGE, flip_stage_words[keys->stage]);
	want_toggle(&changes, keys);
	return changes.count;
}

bool flip_is_written(const struct flip_keys *keys, const struct flip_values *values)
{
	struct flip_change changes[FLIP_KEYS];

	if (keys->toggle == FLIP_REMOVED && values->of[FLIP_WATERMARK_TOGGLE])
		return false;
	return flip_changes(keys, values, changes) == 0;
}

bool flip_same_keys(const struct flip_keys *a, const struct flip_keys *b)
{
	return a->active == b->active && a->is_first == b->is_first && a->stage == b->stage &&
	       a->stage_is_theirs == b->stage_is_theirs && a->toggle == b->toggle &&
	       a->delay_ms == b->delay_ms && a->toggle_unix_ms == b->toggle_unix_ms &&
	       a->record_first == b->record_first;
}

/* ---- its gates ---- */

bool flip_has_crossed(const struct gate_keys_shown *shown)
{
	/* MUT: CLEAR_TO_TEARDOWN is believed alone */
	if (shown->subtasks < 1 || shown->behind < shown->subtasks)
		return false;
	return shown->stage == FLIP_CLEAR_TO_TEARDOWN && shown->gauges_over == shown->gauges;
}
