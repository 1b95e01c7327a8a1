#include "core/report/event_series.h"

#include <stdio.h>
#include <string.h>

static struct event_series_slot *find_series(struct event_series *series, const char *key)
{
	for (size_t i = 0; i < EVENT_SERIES_MAX; i++)
		if (series->slots[i].count &&
		    !strncmp(series->slots[i].key, key, EVENT_KEY_BYTES - 1))
			return &series->slots[i];
	return NULL;
}

/* A free one, or the least recently used one. */
static struct event_series_slot *make(struct event_series *series, const char *key)
{
	struct event_series_slot *slot = &series->slots[0];

	for (size_t i = 0; i < EVENT_SERIES_MAX && slot->count; i++)
		if (!series->slots[i].count || series->slots[i].last_ms < slot->last_ms)
			slot = &series->slots[i];
	*slot = (struct event_series_slot){0};
	snprintf(slot->key, sizeof(slot->key), "%s", key);
	return slot;
}

enum event_verdict event_series_add(struct event_series *series, const char *key, int64_t now_ms,
				    const struct event_series_slot **ret_slot)
{
	struct event_series_slot *slot = find_series(series, key);
	enum event_verdict verdict = EVENT_COUNT_ONLY;

	if (slot && now_ms - slot->last_ms > EVENT_SERIES_SILENCE_MS) {
		*slot = (struct event_series_slot){0};
		slot = NULL;
	}
	if (!slot)
		slot = make(series, key);
	slot->count++;
	slot->last_ms = now_ms;
	*ret_slot = slot;
	if (!slot->name[0])
		verdict = EVENT_CREATE;
	else if (slot->count == 2 || now_ms - slot->told_ms >= EVENT_SERIES_REFRESH_MS)
		verdict = EVENT_SERIES;
	if (verdict != EVENT_COUNT_ONLY)
		slot->told_ms = now_ms;
	return verdict;
}

void event_series_stored(struct event_series *series, const char *key, const char *name)
{
	struct event_series_slot *slot = find_series(series, key);

	if (slot)
		snprintf(slot->name, sizeof(slot->name), "%s", name ? name : "");
}
