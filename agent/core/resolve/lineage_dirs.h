/*
 * lineage_dirs - where the living lineage has written, whatever the configuration says now. Pure.
 *
 * Each launch is recorded with the directories that it was given. The code of a job may set its own
 * checkpoint storage, which overrides them; the path of its checkpoints, <dir>/<job id>/chk-<n>,
 * then shows where they are, also without a directory for the job: <dir>/chk-<n>. Only launches that may have left the newest state count: from the last
 * one back to the last that is proven, or that a person's order started afresh; and the directory of the checkpoint that such
 * an order has named. A job that continues under its id may have had another directory before, and its code may go back to it.
 *
 * Limit: LINEAGE_DIRS_MAX; the rest is only counted, and no decision may be made without it.
 */
#ifndef DREY_CORE_LINEAGE_DIRS_H
#define DREY_CORE_LINEAGE_DIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/journal/journal.h"

#define LINEAGE_DIRS_MAX 8
#define LINEAGE_HA_MAX   4

struct lineage_dir {
	enum snapshot_kind kind; /* of its snapshots */
	char *dir;
	bool only_ours; /* other applications may write there */
};

struct lineage_dirs {
	struct lineage_dir list[LINEAGE_DIRS_MAX];
	size_t count;
	size_t left_out; /* number beyond the limit */
};

/* All except `checkpoint_dir` and `savepoint_dir`, which are listed anyway; each may be NULL.
 * The directory of an operation in flight is one of them. Release with lineage_dirs_release(). */
void lineage_dirs_find(const struct journal *journal, const char *checkpoint_dir,
		       const char *savepoint_dir, struct lineage_dirs *ret_dirs);
void lineage_dirs_release(struct lineage_dirs *dirs);

/* The cluster ids under which those launches had Flink's HA data, without `current` (NULL = there
 * is no HA now): borrowed from the journal. Returns how many; beyond the limit the oldest are left
 * out. */
size_t lineage_ha_clusters(const struct journal *journal, const char *current,
			   const char *ret_ids[LINEAGE_HA_MAX]);

/* The checkpoint directory out of the path of a checkpoint of this job: NULL when it is not of the
 * form <dir>/<job id>/chk-<n>. The caller frees. */
char *lineage_dir_of_checkpoint(const char *path, const char *job_id);

/* The directory directly above a checkpoint, <dir>/chk-<n>, whatever is above it; NULL: it is not called so. The
 * caller frees. */
char *lineage_dir_flat(const char *path);

/* Is the newest checkpoint of this launch in no directory of its job? Then its others cannot be told from those of
 * other jobs. */
bool lineage_dir_is_hidden(const struct launch *launch);

/* Does this launch write its checkpoints elsewhere than it was told? `told`: used if that is not
 * recorded. *ret_dir: where, NULL if the path of its newest one names no directory; the caller
 * frees. */
bool lineage_dir_is_another(const struct launch *launch, const char *told, char **ret_dir);

#endif
