/*
 * gc_facts - reads what core/gc judges: the directories of dead launches, every snapshot in reach, and
 * what these refer to. Read-only. Blocks: for lanes and commands.
 *
 * What cannot be read completely becomes a reason for which nothing is deleted, never an absence. A
 * running Flink adds and discards checkpoints meanwhile, so the snapshots are listed again until
 * nothing new is found, at most GC_FACTS_ROUNDS times.
 *
 * Memory grows with the files of dead launches (about 40 bytes each), with what is referred to (16
 * bytes each), and for a short time with the files of one checkpoint (about 80 bytes each).
 */
#ifndef DREY_RUN_GC_FACTS_H
#define DREY_RUN_GC_FACTS_H

#include "core/gc/gc_agree.h"
#include "format/ha_map.h"
#include "store/store_config.h"

#define GC_FACTS_ROUNDS 6

/* Called from time to time with what is being read, and how much of it so far. Any of it may be left
 * out. Return -1 to end: it then counts as unreadable. */
typedef int gc_facts_progress_fn(void *ctx, const char *what, size_t done);

struct gc_facts_ask {
	const struct store_config *storage;
	const struct journal *journal;
	const char *checkpoint_dir, *savepoint_dir; /* as listed; NULL = not configured */
	const char *initial;                        /* the initial savepoint; NULL = none */
	const char *result_dir;                     /* of all launches; NULL = none */
	char **blob_dirs;                           /* of Flink's HA, one for each cluster id */
	size_t blob_dir_count;
	/* Snapshots that Flink's HA data name for jobs that may live: they stay. */
	char **named;
	size_t named_count;
	const struct gc_first *first;   /* of two readings, in the second one; else NULL */
	gc_facts_progress_fn *progress; /* NULL is allowed */
	void *progress_ctx;
};

/* Gather, up to gc_judge(). `gc` has its policy and the time, and possibly `unreadable`; all else is filled
 * in. The ask is borrowed for the call. */
void gc_facts(const struct gc_facts_ask *ask, struct gc *gc);

/* Only the snapshots, and which of them are complete. */
void gc_facts_check(const struct gc_facts_ask *ask, struct gc *gc);

#endif
