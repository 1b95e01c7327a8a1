/*
 * verify_list - the sizes of many files of one directory out of one listing; used by verify.c only.
 *
 * An object store answers 1000 names with one request, or one name. The listing is worth it when
 * many of a directory's files are referenced, and given up when the directory turns out to hold far
 * more.
 */
#ifndef DREY_STORE_VERIFY_LIST_H
#define DREY_STORE_VERIFY_LIST_H

#include "format/metadata.h"
#include "store/store.h"

#define VERIFY_LIST_FROM 4 /* files of one directory */

struct verify_item {
	const struct metadata_file *file; /* borrowed */
	char *uri;
	int64_t size_bytes; /* -1 not known yet */
};

/* By directory, then by name. */
void verify_list_sort(struct verify_item *items, size_t count);

/* The end of the run of items that lie in the directory of items[start]. */
size_t verify_list_group(const struct verify_item *items, size_t start, size_t count);

/* Fill in the sizes of these sorted items of one directory, as far as one listing tells them. A
 * listing that fails fills in nothing. */
void verify_list_sizes(struct store *store, struct verify_item *items, size_t count);

#endif
