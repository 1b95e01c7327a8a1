/*
 * flip_map - the ConfigMap by which gates of FLIP-504 are told what they go by (core/handover/flip.h).
 *
 * Gates write the same object. Each write is compared with what was read, and changes only keys that are not as
 * they are to be; what is not FLIP-504's stays.
 *
 * Life cycle: zeroed reading -> flip_map_read() or flip_map_write() ... -> flip_reading_release(). All of it
 * blocks: for lanes. Errors are those of configmap.h; only a 404 means that there is no such map.
 */
#ifndef DREY_RUN_FLIP_MAP_H
#define DREY_RUN_FLIP_MAP_H

#include "core/handover/flip.h"
#include "kube/kube.h"

struct flip_reading {
	bool present;
	char *version;
	char *values[FLIP_KEYS]; /* NULL = no such key */
};
void flip_reading_release(struct flip_reading *reading); /* zeroed is allowed */
/* Borrowed from the reading. */
struct flip_values flip_reading_values(const struct flip_reading *reading);

int flip_map_read(struct kube *kube, const char *name, struct flip_reading *reading,
		  struct err *err);

/* Make it say these keys; it is created for `application` if it does not exist, unless the chart makes it (NULL).
 * The reading is what it says then. ERR_RETRY: others change it all the time, or it has to be made. */
int flip_map_write(struct kube *kube, const char *name, const char *application,
		   const struct flip_keys *keys, struct flip_reading *reading, struct err *err);

#endif
