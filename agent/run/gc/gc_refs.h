/* gc_refs - the files to which a snapshot refers. */
#ifndef DREY_RUN_GC_REFS_H
#define DREY_RUN_GC_REFS_H

#include "format/metadata.h"
#include "store/stores.h"

/* The texts are borrowed for the call. */
typedef void gc_refs_fn(void *ctx, const struct metadata_file *file);

/* Pass each reference of this snapshot to fn. ERR_ABSENT: the _metadata was not found. ERR_FORMAT, also when it is
 * of another checkpoint than `checkpoint_id` (0 = any), and so says nothing about this one. */
int gc_refs_read(struct stores *stores, const char *path, int64_t checkpoint_id, gc_refs_fn *fn,
		 void *ctx, struct err *err);

#endif
