/* gc_internal - what the files of gc share; used by gc*.c only. */
#ifndef DREY_CORE_GC_INTERNAL_H
#define DREY_CORE_GC_INTERNAL_H

#include "core/gc/gc.h"

enum gc_job {
	GC_JOB_FOREIGN, /* no launch of the journal has it */
	GC_JOB_LAST,    /* of the last launch: it may run, or be continued */
	GC_JOB_RECENT,  /* dead; its completed checkpoints stay */
	GC_JOB_OLD,     /* dead, and so many others have left a usable snapshot since */
};

/* What is known about a job id of 32 digits. */
enum gc_job gc_job_of(const struct gc *gc, const struct journal *journal, const char *job_id);

/* Is it a snapshot of this launch? */
bool gc_is_of(const struct gc_snapshot *snapshot, const struct launch *launch);

/* Has something been written in the tree since the last launch is proven? */
bool gc_is_active(const struct gc_tree *tree, const struct journal *journal);

/* Why nothing may be deleted, with this journal alone; NULL = nothing stops it. The caller frees. */
char *gc_journal_stops(const struct gc *gc, const struct journal *journal);

/* Two readings that contradict each other: why nothing may be deleted; NULL = there are none. The caller
 * frees. */
char *gc_contradiction(const struct gc *gc, const struct journal *journal);

/* The same of a reference that leads nowhere: a file that would go may be the one that is meant. */
char *gc_stray_contradiction(const struct gc *gc, const struct journal *journal);

/* A restore request that has not been carried out. */
bool gc_request_waits(const struct journal *journal);

/* What a file of a tree is, by its name relative to the tree. */
enum gc_known {
	GC_KNOWN_NOT, /* nothing that Flink writes there: it stays */
	GC_KNOWN_CHECKPOINT,
	GC_KNOWN_SHARED,
	GC_KNOWN_TASK_OWNED,
	GC_KNOWN_RESULT,
	GC_KNOWN_BLOB,
};

enum gc_known gc_known_name(enum gc_tree_kind kind, const char *name);

/* The newest launch with this job id; -1 = none has it. */
int gc_newest_of_job(const struct journal *journal, const char *job_id);

/* Has the listing of its job a file of this checkpoint? name_len: with a name of so many characters; 0 = any. */
bool gc_has_file_of(const struct gc *gc, const struct gc_snapshot *snapshot, size_t name_len);

/* The n of "chk-<n>", and *ret_rest what follows it and a slash; 0 = another name. */
int64_t gc_checkpoint_of(const char *name, const char **ret_rest);
/* The same of a file; *ret_rest is borrowed from *text, which is replaced. */
int64_t gc_checkpoint_of_file(const struct gc *gc, const struct gc_file *file, struct buf *text,
			      const char **ret_rest);

#endif
