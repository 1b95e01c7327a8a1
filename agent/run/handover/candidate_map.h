/*
 * candidate_map - the ConfigMap in which the pods that are not the owner report
 * (core/handover/candidate.h): one key for each role, each with one writer.
 *
 * A key belongs to the pod whose uid is in it. Its writer goes by what was read last, a
 * candidate_reading: no other pod may have changed the key since then. So of two pods that claim the
 * same key one wins, and the other one hears of it; the writer of another key does not disturb them.
 *
 * Life cycle: a zeroed struct candidate_reading -> candidate_map_read() -> candidate_map_write() ...,
 * each of which renews it -> candidate_reading_release(). All of it blocks: for a lane.
 */
#ifndef DREY_RUN_CANDIDATE_MAP_H
#define DREY_RUN_CANDIDATE_MAP_H

#include <stdbool.h>

#include "base/err.h"
#include "core/handover/candidate.h"
#include "kube/configmap.h"
#include "kube/kube.h"

/* The map as it was read once. */
struct candidate_reading {
	bool present;        /* false: no such map (proven by a 404) */
	bool deleting;       /* it has a deletion timestamp */
	char *version;       /* its resourceVersion; NULL = not present */
	char *texts[PLACES]; /* not decoded; NULL = no such key */
};

void candidate_reading_release(struct candidate_reading *reading); /* zeroed is allowed */

/*
 * Replaces *reading. 0 also if there is no such map. Failures leave it as it is:
 *   ERR_DENIED  403, 401      ERR_RETRY   the server could not answer, or not in time
 *   ERR_FORMAT  the answer is no such ConfigMap
 */
int candidate_map_read(struct kube *kube, const char *name, struct candidate_reading *reading,
		       struct err *err);

/* *reading becomes what a watch has seen of the map. */
void candidate_map_take(const struct configmap *map, struct candidate_reading *reading);

struct candidate_writer {
	struct kube *kube;
	const char *name;        /* of the ConfigMap */
	const char *application; /* whose records belong here */
	const char *uid;         /* of this pod */
	bool made;               /* the chart makes the map: it is not created here */
	enum candidate_place place;
};

/*
 * Put `text`, a record of this pod, into the key, or remove it (NULL); the map is created if there is none. *reading is what
 * this pod has read or written last: the key must be as it is there, or ours. On success *reading is
 * the map as it is now, with what is in the other keys.
 *   ERR_BUSY    another pod has written the key: *reading is what it has written
 *   ERR_RETRY   the outcome is unknown, or the map is being deleted, or it changes all the time, or
 *               there is none, and the chart makes it; write again
 *   ERR_DENIED  the Role, or an admission rule        ERR_ABSENT  the namespace does not exist
 *   ERR_FORMAT, ERR_CONFIG  as kube_do()
 */
int candidate_map_write(const struct candidate_writer *writer, const char *text,
			struct candidate_reading *reading, struct err *err);

#endif
