/*
 * gc_plan - what a deletion is about to do, and what came of it, in <state directory>/cleanup.json: written before
 * the first file is deleted, and again at the end. It is for people; nothing reads it. The last one stays.
 */
#ifndef DREY_RUN_GC_PLAN_H
#define DREY_RUN_GC_PLAN_H

#include "run/gc/gc_delete.h"

#define GC_PLAN_NAME    "cleanup.json"
#define GC_PLAN_DIRS    200 /* named in it; the others are counted */
#define GC_PLAN_VERSION 1

struct gc_plan {
	const char *state_dir;
	const struct gc *gc;
	int64_t first_unix_ms;            /* when the first of the two readings began */
	const struct gc_deleted *deleted; /* NULL: it has not begun */
	const struct err *ended;          /* with `deleted`: kind ERR_NONE if all of it was done */
};

/* Replaces the file; makes the directory. */
int gc_plan_write(const struct gc_plan *plan, struct err *err);

#endif
