/* gc_refs - the files of others to which a snapshot refers; used by gc_facts.c only. */
#ifndef DREY_RUN_GC_REFS_H
#define DREY_RUN_GC_REFS_H

#include "core/gc/gc.h"
#include "store/stores.h"

/* Read the _metadata of this snapshot, in constant memory, and pass on what it refers to outside of
 * its own directory. ERR_ABSENT: there is no such snapshot any more. Else it could not be read, or is
 * damaged; some references may have been passed on. */
int gc_refs_read(struct stores *stores, const char *path, struct gc *gc, struct err *err);

#endif
