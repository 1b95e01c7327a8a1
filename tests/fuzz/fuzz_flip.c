/*
 * Any values in the map of gates of FLIP-504, in any state of a transition: what drey writes says its keys, and it does
 * not write it twice; what a gate may have written is understood or counts as nothing.
 *
 * The first byte is the state, the second has flags, then come the lead and the cut (8 bytes each); then a line for
 * each key, "~": the map has none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/handover/flip.h"
#include "must.h"

enum {
	OWNER_IS_GREEN = 1,
	OUTPUT_IS_GREEN = 2,
	HAS_ENDED = 4,
	HAS_OPENED = 8,
	IS_OF_ANOTHER = 16,
	HEAD_BYTES = 18
};

static void check_toggle(const struct flip_values *values)
{
	const char *text = values->of[FLIP_WATERMARK_TOGGLE];
	int64_t toggle = flip_toggle(values);
	char again[24];

	must(toggle >= 0 && toggle <= GATE_MAX_TIME_MS);
	if (!toggle)
		return;
	snprintf(again, sizeof(again), "%" PRId64, toggle);
	must(text && !strcmp(text + strspn(text, "0"), again));
}

static void check_words(const struct flip_values *values)
{
	enum flip_stage stage = flip_stage(values);
	bool blue = flip_shuts(values, SIDE_BLUE), green = flip_shuts(values, SIDE_GREEN);

	must(stage <= FLIP_STAGES);
	must(stage == FLIP_STAGES || xstris(values->of[FLIP_STAGE], flip_stage_words[stage]));
	must(!(blue && green));
	must(!(blue || green) || xstris(values->of[FLIP_FIRST], "false"));
	must(!blue || xstris(values->of[FLIP_ACTIVE], flip_side_words[SIDE_BLUE]));
}

static void check_keys(const struct flip_keys *keys)
{
	must(keys->active < SIDES && keys->stage < FLIP_STAGES);
	must(keys->delay_ms >= 0 && keys->delay_ms <= FLIP_MOST_DELAY_MS);
	must(!keys->toggle_unix_ms || keys->toggle == FLIP_LEFT);
	must(!keys->record_first || keys->toggle == FLIP_REMOVED);
	must(flip_same_keys(keys, keys));
}

/* As a patch of the map does. */
static void apply(const struct flip_change *changes, size_t count, struct flip_values *values)
{
	unsigned seen = 0;

	for (size_t i = 0; i < count; i++) {
		const struct flip_change *change = &changes[i];
		const char *now = values->of[change->key];

		must(change->key < FLIP_KEYS && !(seen & 1u << change->key));
		seen |= 1u << change->key;
		must(now ? strcmp(now, change->value) != 0 || !*change->value
			 : *change->value != '\0');
		values->of[change->key] = *change->value ? change->value : NULL;
	}
}

static void check_written(const struct flip_keys *keys, const struct flip_values *before,
			  const struct flip_values *values)
{
	struct flip_change again[FLIP_KEYS];
	bool waits = keys->record_first && flip_toggle(before);
	bool theirs = keys->stage_is_theirs && flip_stage(before) == FLIP_CLEAR_TO_TEARDOWN &&
		      flip_toggle(before);

	must(flip_changes(keys, values, again) == 0);
	must(flip_is_written(keys, values) == !waits);
	must(xstris(values->of[FLIP_ACTIVE], flip_side_words[keys->active]));
	must(keys->is_first || flip_shuts(values, keys->active));
	must(flip_stage(values) == (theirs ? FLIP_CLEAR_TO_TEARDOWN : keys->stage));
	must(values->of[FLIP_DELAY] && strtoll(values->of[FLIP_DELAY], NULL, 10) == keys->delay_ms);
	if (keys->toggle == FLIP_REMOVED)
		must(waits || !values->of[FLIP_WATERMARK_TOGGLE]);
	else if (keys->toggle_unix_ms)
		must(flip_toggle(values) == keys->toggle_unix_ms);
	else /* what a gate could not read is not left to it */
		must(!values->of[FLIP_WATERMARK_TOGGLE] || flip_toggle(values));
	must(keys->toggle == FLIP_LEFT
		     ? values->of[FLIP_WATERMARK_STAGE] == before->of[FLIP_WATERMARK_STAGE]
		     : !values->of[FLIP_WATERMARK_STAGE]);
}

static void check(const struct flip_keys *keys, const struct flip_values *values)
{
	struct flip_change changes[FLIP_KEYS];
	struct flip_values after = *values;
	size_t count = flip_changes(keys, values, changes);

	check_keys(keys);
	check_words(values);
	check_toggle(values);
	must(count <= FLIP_KEYS);
	must(!flip_is_written(keys, values) || !count);
	apply(changes, count, &after);
	check_written(keys, values, &after);
}

static void read_values(char *text, struct flip_values *ret_values)
{
	for (size_t i = 0; i < FLIP_KEYS && text; i++) {
		char *line = strsep(&text, "\n");

		if (strcmp(line, "~") != 0)
			ret_values->of[i] = line;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct handover handover = {.id = (char *)"h1-0"};
	struct flip_values values = {{NULL}};
	struct flip_keys keys;
	cleanup_free char *text = NULL;
	int64_t lead_ms, toggle_unix_ms;

	if (size_bytes < HEAD_BYTES)
		return 0;
	memcpy(&lead_ms, data + 2, sizeof(lead_ms));
	memcpy(&toggle_unix_ms, data + 10, sizeof(toggle_unix_ms));
	handover.transition.state = (enum transition_state)(data[0] % TRANSITION_STATES);
	handover.transition.id = data[1] & IS_OF_ANOTHER ? (char *)"h2-0" : handover.id;
	handover.state = transition_outside(handover.transition.state);
	handover.transition.output_side = data[1] & OUTPUT_IS_GREEN ? SIDE_GREEN : SIDE_BLUE;
	handover.transition.opened = data[1] & HAS_OPENED;
	handover.transition.toggle_unix_ms = (toggle_unix_ms & INT64_MAX) % (GATE_MAX_TIME_MS + 1);
	keys = flip_keys(&handover, data[1] & OWNER_IS_GREEN ? SIDE_GREEN : SIDE_BLUE,
			 data[1] & HAS_ENDED, lead_ms & INT64_MAX);
	text = xstrndup((const char *)data + HEAD_BYTES, size_bytes - HEAD_BYTES);
	read_values(text, &values);
	check(&keys, &values);
	return 0;
}
