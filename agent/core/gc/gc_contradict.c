/* gc: where what was read of the storage contradicts itself, nothing is deleted in this collection. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/gc/gc_internal.h"

/* Nothing deletes the checkpoints of a dead launch, except one that the last launch has claimed. When one that was
 * listed disappears while this collection reads, the storage has begun to show less than it has, and
 * may not show others. What was only ever seen as an empty directory is the rest of one that was deleted before:
 * an object store may keep a marker for it. */
static bool has_gone_by_itself(const struct gc *gc, const struct gc_snapshot *snapshot,
			       const struct journal *journal)
{
	const struct launch *last = journal_launch_const(journal);

	return snapshot->gone && snapshot->kind == SNAPSHOT_CHECKPOINT &&
	       gc_wants_job(journal, snapshot->job_id) &&
	       !snapshot_same_path(snapshot->path, last->restore_path) &&
	       (!snapshot->lost || gc_has_file_of(gc, snapshot, 0));
}

static int by_checkpoint_id(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The ids of the checkpoints whose _metadata is a file of the tree, sorted; the caller frees. */
static int64_t *completed_in(const struct gc *gc, const struct gc_tree *tree, size_t *ret_count)
{
	int64_t *ids = xcalloc(tree->count + 1, sizeof(*ids));
	cleanup_buf struct buf text = BUF_INIT;
	size_t count = 0;

	for (size_t i = tree->first; i < tree->first + tree->count; i++) {
		const char *rest;
		int64_t id = gc_checkpoint_of_file(gc, &gc->files[i], &text, &rest);

		if (id && !strcmp(rest, "_metadata"))
			ids[count++] = id;
	}
	qsort(ids, count, sizeof(*ids), by_checkpoint_id);
	*ret_count = count;
	return ids;
}

/* A checkpoint that is to go, and whose _metadata the listing of its job does not have, would keep that and lose the
 * rest. */
static const struct gc_snapshot *unlisted_in(const struct gc *gc, const struct gc_tree *tree)
{
	const struct gc_snapshot *found = NULL;
	size_t count;
	int64_t *ids = completed_in(gc, tree, &count);

	for (size_t i = 0; i < gc->snapshot_count && !found; i++) {
		const struct gc_snapshot *snapshot = &gc->snapshots[i];

		if (snapshot->kind == SNAPSHOT_CHECKPOINT && !snapshot->retained &&
		    !snapshot->gone && !snapshot->lost && !strcmp(snapshot->job_id, tree->job_id) &&
		    snapshot_is_under(snapshot->path, tree->dir) &&
		    !bsearch(&snapshot->checkpoint_id, ids, count, sizeof(*ids), by_checkpoint_id))
			found = snapshot;
	}
	free(ids);
	return found;
}

char *gc_contradiction(const struct gc *gc, const struct journal *journal)
{
	for (size_t i = 0; i < gc->snapshot_count; i++)
		/* MUT: a checkpoint of a dead launch may disappear while it is read */
		if (has_gone_by_itself(gc, &gc->snapshots[i], journal))
			return xasprintf(
				"the storage contradicts itself: %s was listed and is gone, but nothing deletes checkpoints of a dead launch",
				gc->snapshots[i].path);
	for (size_t i = 0; i < gc->tree_count; i++) {
		const struct gc_tree *tree = &gc->trees[i];
		const struct gc_snapshot *unlisted =
			tree->kind == GC_TREE_JOB && !gc_is_active(tree, journal)
				? unlisted_in(gc, tree)
				: NULL;

		/* MUT: a checkpoint that is to go may be left with its _metadata alone */
		if (unlisted)
			return xasprintf(
				"the storage contradicts itself: %s has a _metadata that the listing of its job leaves out",
				unlisted->path);
	}
	return gc_stray_contradiction(gc, journal);
}
