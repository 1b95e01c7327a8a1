/*
 * verify_list - the sizes of many files from few listings; used by verify_files.c only.
 *
 * One request to an object store returns up to 1000 names, or one file. A listing is worthwhile if
 * many of a directory's files are referenced, and is abandoned if the directory turns out to
 * contain far more.
 */
#ifndef DREY_STORE_VERIFY_LIST_H
#define DREY_STORE_VERIFY_LIST_H

#include "base/packed.h"
#include "store/store.h"

/* A page of a listing costs as much as this many single requests: at AWS in money (5 against 0.4 US
 * dollars per million), and about that in time, because single requests run concurrently and pages
 * do not. */
#define VERIFY_LIST_COST 12

struct verify_item {
	uint32_t uri;       /* of the list's uris */
	uint32_t file;      /* of the metadata */
	int64_t size_bytes; /* -1: not known yet */
};

/* 16 bytes for each file, and the packed uri: a checkpoint may have a million. */
struct verify_list {
	struct verify_item *items;
	size_t count;
	struct packed uris;
};

/* By directory, then by name: files of one directory, and those of one store, are neighbours. */
void verify_list_sort(struct verify_list *list);

/* Fill in the sizes of `count` sorted items of one store, from number `first` on, as far as listings are
 * cheaper. A failed listing fills in nothing. */
void verify_list_sizes(struct verify_list *list, struct store *store, size_t first, size_t count);

#endif
