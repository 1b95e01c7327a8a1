/*
 * store_confirm - the second witness of an absence, for stores whose word alone is none; used by store.c and
 * store_many.c only.
 *
 * S3 and Swift mark their 404, and a local file asks its directory itself (store_file_absent.h). Of a file system of
 * Flink's nothing is known but an exception, which may come from a cache, a proxy or a half started server: its ops say
 * `absence_needs_listing`.
 */
#ifndef DREY_STORE_STORE_CONFIRM_H
#define DREY_STORE_STORE_CONFIRM_H

#include "store/store_ops.h"

/*
 * A store that `lists_ghosts` may list the name of a directory after its last file was deleted. Is `uri` (canonical, with
 * its last slash) such a directory? It is if nothing but its name was seen, and two new listings have no name in it: one of
 * all names below it, and one of all names that begin like it, so that a store that answers one of the questions wrongly is
 * noticed by the other. Then its name is forgotten. False: also if one of them could not be read.
 */
bool store_confirm_ghost(struct store *store, const char *uri);

/*
 * The store has said that `uri` (canonical; a directory may end in a slash) does not exist. 0: nothing that was seen says
 * otherwise (but the name of a ghost), and, if this store needs a listing, a complete one of the nearest directory above it
 * that exists, made now or remembered, does not name what leads there. -1: ERR_CONTRADICTED, it was seen or is named; else why that
 * directory could not be listed; never ERR_ABSENT.
 */
int store_confirm_absent(struct store *store, const char *uri, struct err *err);

/* The same without what was seen: for one who asks whether what was seen is gone. */
int store_confirm_listing(struct store *store, const char *uri, struct err *err);

/* It could not be read for this reason; an absence stays one only if it is confirmed. Returns -1. */
int store_confirm_failure(struct store *store, const char *uri, struct err *why);

#endif
