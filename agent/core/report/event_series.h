/*
 * event_series - which events are worth a request: repeated ones become one event with a count.
 * Pure.
 *
 * Life cycle: a zeroed struct event_series -> event_series_add() for every occurrence ->
 * event_series_stored() when one was written under a name -> no release, it owns nothing.
 *
 * The first of a kind is created, the second makes it a series, later ones are counted and sent at
 * most every EVENT_SERIES_REFRESH_MS; after EVENT_SERIES_SILENCE_MS a new series begins. The key is
 * type, reason and the object concerned, not the text.
 *
 * Source: client-go tools/events (event_broadcaster.go).
 */
#ifndef DREY_CORE_EVENT_SERIES_H
#define DREY_CORE_EVENT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_SERIES_MAX        32 /* kinds remembered; the least recent one is dropped */
#define EVENT_SERIES_REFRESH_MS (30 * 60 * 1000)
#define EVENT_SERIES_SILENCE_MS (6 * 60 * 1000)
#define EVENT_NAME_BYTES        256
#define EVENT_KEY_BYTES         160

enum event_verdict {
	EVENT_CREATE, /* POST it */
	EVENT_SERIES, /* PATCH the series of event_series_slot.name: count, last_unix_ms */
	EVENT_COUNT_ONLY,
};

struct event_series_slot {
	char key[EVENT_KEY_BYTES];   /* "" = free */
	char name[EVENT_NAME_BYTES]; /* as stored; "" = not stored yet, or no longer */
	int64_t count;
	int64_t last_ms, told_ms; /* monotonic */
};

struct event_series {
	struct event_series_slot slots[EVENT_SERIES_MAX];
};

/* Count one more occurrence. *ret_slot (never NULL) is borrowed until the next call. */
enum event_verdict event_series_add(struct event_series *series, const char *key, int64_t now_ms,
				    const struct event_series_slot **ret_slot);

/* The event of this key was created under this name. NULL: it does not exist, so the next one of
 * its kind is created. */
void event_series_stored(struct event_series *series, const char *key, const char *name);

#endif
