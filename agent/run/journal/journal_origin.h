/*
 * journal_origin - is a journal without a mark (kube/map_mark.h) the one of an earlier drey, or was it planted?
 *
 * The object of the Pod's owner answers: an account of the same namespace that may create ConfigMaps may neither create
 * that one nor change it. Content without a mark is an earlier drey's
 *   - if the map is younger than the Deployment: since there are marks, the chart makes the map before it, so that nobody
 *     else can; and
 *   - if no journal of this Deployment has ever had a mark. That is recorded as a condition of its status, with the first
 *     write: from then on a map without a mark is one that was deleted and made anew.
 * An empty map is none yet, unless that condition says otherwise: then it was deleted and made anew. (One that was
 * replaced as a whole says so itself: map_mark_was_emptied().)
 * Both times are the API server's, in seconds; the same second counts as older.
 *
 * All of it blocks: for the journal's lane.
 */
#ifndef DREY_RUN_JOURNAL_ORIGIN_H
#define DREY_RUN_JOURNAL_ORIGIN_H

#include "base/err.h"
#include "kube/configmap.h"
#include "run/config/setup_kube.h"

struct journal_origin {
	const struct setup_kube *kube; /* borrowed */
	struct kube *client;           /* owned */
	bool shadow;                   /* of the journal of a candidate */
	bool noted;                    /* the condition is there */
	int64_t again_ms;              /* not before this it is tried again */
};

void journal_origin_init(struct journal_origin *origin, const struct setup_kube *kube, bool shadow);
void journal_origin_release(struct journal_origin *origin); /* zeroed is allowed */

/* A journal_map_vouch; ctx: a journal_origin. */
int journal_origin_vouch(void *ctx, const struct configmap *map, struct err *err);

/* The journal has its mark: record that. What fails is tried again with the next call, at most once a minute. */
void journal_origin_note(struct journal_origin *origin);

#endif
