/* gc_after - has a deletion taken what it should, and nothing else? Read-only. Blocks: for lanes and commands. */
#ifndef DREY_RUN_GC_AFTER_H
#define DREY_RUN_GC_AFTER_H

#include "run/gc/gc_facts.h"

/*
 * `gc` is the reading by which was deleted, all of it. New listings must not have these files any more (of a
 * directory, some of them are looked for); the newest snapshot of the last launch is checked file by file, and
 * those of other launches that stay must be listed. -1: the storage contradicts that, or cannot be read.
 */
int gc_after(const struct gc_facts_ask *ask, const struct gc *gc, struct err *err);

#endif
