/*
 * gc_delete - deletes what gc_facts() has judged as GC_DELETE. Blocks: for lanes and commands.
 *
 * The _metadata of all checkpoints that go are deleted first, and the rest only if all of them are:
 * whenever this ends, what is left with a _metadata is complete, and what has none is garbage for the
 * next time. Then the directories that are empty.
 */
#ifndef DREY_RUN_GC_DELETE_H
#define DREY_RUN_GC_DELETE_H

#include "core/gc/gc.h"
#include "store/store_config.h"

#define GC_DELETE_BATCH 256  /* files between two questions, and ... */
#define GC_DELETE_MS    1000 /* ... the time after which it is asked again */

struct gc_delete_ask {
	const struct store_config *storage;
	/* Does the decision still hold? Asked before anything is deleted, and about once a second.
	 * -1: it does not, and *err says why. */
	int (*holds)(void *ctx, struct err *err);
	void (*progress)(void *ctx, int64_t done, int64_t of); /* NULL is allowed */
	void *ctx;
};

struct gc_deleted {
	int64_t files, bytes;
	int64_t failed;          /* files that could not be deleted */
	char why[ERR_MSG_BYTES]; /* of the first of them */
};

/* 0, also when single files could not be deleted. -1: it was ended, by `holds` or because a checkpoint
 * could not be ended; *ret says how far it came in both cases. */
int gc_delete(const struct gc_delete_ask *ask, const struct gc *gc, struct gc_deleted *ret,
	      struct err *err);

#endif
