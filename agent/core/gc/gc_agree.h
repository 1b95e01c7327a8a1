/*
 * gc_agree - a deletion needs two readings that agree. Pure.
 *
 * What one reading allows is remembered, and all is read and judged once more. Only what both allow is deleted.
 * If the second reading needs, or doubts, what the first one would have deleted, one of them was wrong: then
 * nothing is deleted. In directories of dead launches nothing else changes, except that files go.
 *
 * Life cycle: gc_judge() -> gc_first_take() -> read again, gc_judge() -> gc_agree() -> gc_first_release().
 */
#ifndef DREY_CORE_GC_AGREE_H
#define DREY_CORE_GC_AGREE_H

#include "core/gc/gc.h"

struct gc_checked {
	char *path;
	int64_t unix_ms;
};

struct gc_first {
	uint64_t *keys; /* of the files that the first reading would delete, sorted */
	size_t count;
	int64_t read_unix_ms;
	/* the snapshots that it has found complete, file by file */
	struct gc_checked *checked;
	size_t checked_count;
};

/* 8 bytes a file. */
void gc_first_take(const struct gc *gc, struct gc_first *ret);
void gc_first_release(struct gc_first *first); /* zeroed is allowed */

/* A snapshot of the second reading that the first one has checked, and that has the same date: it is not
 * checked again. */
void gc_first_recall(const struct gc_first *first, struct gc *gc);

/* Would the first reading delete this file? */
bool gc_first_has(const struct gc_first *first, const char *dir, const char *name);

/* Files that only the second reading would delete become GC_NEW. NULL: they agree; else the contradiction, and
 * nothing may be deleted (gc_stop()). The caller frees. */
char *gc_agree(const struct gc_first *first, struct gc *second);

#endif
