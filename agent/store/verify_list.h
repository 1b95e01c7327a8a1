/*
 * verify_list - the sizes of many files out of few listings; used by verify_files.c only.
 *
 * An object store answers 1000 names with one request, or one name. A listing is worth it when many
 * of a directory's files are referenced, and given up when the directory turns out to hold far more.
 */
#ifndef DREY_STORE_VERIFY_LIST_H
#define DREY_STORE_VERIFY_LIST_H

#include "format/metadata.h"
#include "store/store.h"

/* A page of a listing costs as much as so many looks: at AWS in money (5 against 0.4 US dollars for a
 * million), and about that in time, because looks go side by side and pages do not. */
#define VERIFY_LIST_COST 12

struct verify_item {
	const struct metadata_file *file; /* borrowed */
	char *uri;
	int64_t size_bytes; /* -1 not known yet */
};

/* By directory, then by name: files of one directory, and those of one store, are neighbours. */
void verify_list_sort(struct verify_item *items, size_t count);

/* Fill in the sizes of these sorted items of one store, as far as listings tell them at a lower cost.
 * A listing that fails fills in nothing. */
void verify_list_sizes(struct store *store, struct verify_item *items, size_t count);

#endif
