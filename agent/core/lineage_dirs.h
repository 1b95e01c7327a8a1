/*
 * lineage_dirs - where the living lineage has written, wherever the configuration points now. Pure.
 *
 * Each launch is recorded with the directories that it was given. The code of a job may set a checkpoint
 * storage of its own, which goes before them; then the path of its checkpoints, <dir>/<job id>/chk-<n>,
 * tells where they are. Of all launches those count that may have left the newest state: from the last one
 * back to the last that is proven, or that a person's order has begun anew.
 *
 * Limit: LINEAGE_DIRS_MAX; the rest is counted, and nothing may be decided without it.
 */
#ifndef DREY_CORE_LINEAGE_DIRS_H
#define DREY_CORE_LINEAGE_DIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/journal.h"

#define LINEAGE_DIRS_MAX 8
#define LINEAGE_HA_MAX   4

struct lineage_dir {
	enum snapshot_kind kind; /* of what lies there */
	char *dir;
	bool only_ours; /* others may write there who have nothing to do with this application */
};

struct lineage_dirs {
	struct lineage_dir list[LINEAGE_DIRS_MAX];
	size_t count;
	size_t left_out; /* more than the limit */
};

/* Those that are not `checkpoint_dir` or `savepoint_dir`, which are looked at anyway; each may be NULL.
 * The directory of an operation in flight is one of them. Release with lineage_dirs_release(). */
void lineage_dirs_find(const struct journal *journal, const char *checkpoint_dir,
		       const char *savepoint_dir, struct lineage_dirs *ret_dirs);
void lineage_dirs_release(struct lineage_dirs *dirs);

/* The cluster ids under which those launches had Flink's HA data, without `current` (NULL = there is no HA now):
 * borrowed from the journal. Returns how many; more than the limit are not told, the oldest of them. */
size_t lineage_ha_clusters(const struct journal *journal, const char *current,
			   const char *ret_ids[LINEAGE_HA_MAX]);

/* The checkpoint directory out of the path of a checkpoint of this job: NULL when it is not of the form
 * <dir>/<job id>/chk-<n>. The caller frees. */
char *lineage_dir_of_checkpoint(const char *path, const char *job_id);

/* Does this launch write its checkpoints elsewhere than it was told? `told`: where that is not on record.
 * *ret_dir: where, NULL when the path of its newest one names no directory; the caller frees. */
bool lineage_dir_is_another(const struct launch *launch, const char *told, char **ret_dir);

#endif
