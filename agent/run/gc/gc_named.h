/*
 * gc_named - the snapshots that Flink's HA data name for a job that may live: of the last launch, or of
 * no launch that the journal knows. Blocks: for lanes and commands.
 */
#ifndef DREY_RUN_GC_NAMED_H
#define DREY_RUN_GC_NAMED_H

#include "run/config/setup.h"

struct gc_named {
	char **paths;
	size_t count;
	char *unreadable; /* why some are not known; NULL = all are */
};

/* Connects, reads, and disconnects; nothing without high availability. Release with
 * gc_named_release(). */
void gc_named_read(const struct setup *setup, const struct journal *journal, struct gc_named *ret);
void gc_named_release(struct gc_named *named);

#endif
