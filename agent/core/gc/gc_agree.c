#include "core/gc/gc_agree.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Of the directory and the name. */
static uint64_t file_key(const char *dir, const char *name)
{
	return packed_hash(packed_hash(1, dir, strlen(dir)), name, strlen(name));
}

static int by_key(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void take_checked(const struct gc *gc, struct gc_first *first)
{
	for (size_t i = 0; i < gc->snapshot_count; i++) {
		const struct gc_snapshot *snapshot = &gc->snapshots[i];

		if (snapshot->check != GC_CHECK_COMPLETE)
			continue;
		first->checked = xreallocarray(first->checked, first->checked_count + 1,
					       sizeof(*first->checked));
		first->checked[first->checked_count++] =
			(struct gc_checked){xstrdup(snapshot->path), snapshot->unix_ms};
	}
}

void gc_first_take(const struct gc *gc, struct gc_first *ret)
{
	cleanup_buf struct buf text = BUF_INIT;
	size_t count = (size_t)gc_total(gc, GC_DELETE).files;

	*ret = (struct gc_first){.read_unix_ms = gc->now_unix_ms};
	ret->keys = xcalloc(count + 1, sizeof(*ret->keys));
	for (size_t t = 0; t < gc->tree_count; t++) {
		const struct gc_tree *tree = &gc->trees[t];

		for (size_t i = tree->first; i < tree->first + tree->count; i++)
			if (gc->files[i].verdict == GC_DELETE)
				ret->keys[ret->count++] =
					file_key(tree->dir, gc_name(gc, &gc->files[i], &text));
	}
	qsort(ret->keys, ret->count, sizeof(*ret->keys), by_key);
	take_checked(gc, ret);
}

bool gc_first_has(const struct gc_first *first, const char *dir, const char *name)
{
	uint64_t key = file_key(dir, name);

	return bsearch(&key, first->keys, first->count, sizeof(key), by_key) != NULL;
}

void gc_first_release(struct gc_first *first)
{
	for (size_t i = 0; i < first->checked_count; i++)
		free(first->checked[i].path);
	free(first->checked);
	free(first->keys);
	*first = (struct gc_first){0};
}

void gc_first_recall(const struct gc_first *first, struct gc *gc)
{
	for (size_t i = 0; i < first->checked_count; i++) {
		struct gc_snapshot *snapshot = gc_find_snapshot(gc, first->checked[i].path);

		if (snapshot && !snapshot->lost && snapshot->unix_ms == first->checked[i].unix_ms)
			snapshot->check = GC_CHECK_COMPLETE;
	}
}

static char *contradiction(const struct gc *gc, const struct gc_tree *tree,
			   const struct gc_file *file)
{
	cleanup_buf struct buf text = BUF_INIT;

	return xasprintf(
		"two readings of the storage contradict each other: %s/%s was not needed by the first one, but by the second one (%s)",
		tree->dir, gc_name(gc, file, &text), gc_reason_text((enum gc_reason)file->reason));
}

char *gc_agree(const struct gc_first *first, struct gc *second)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t t = 0; t < second->tree_count; t++) {
		struct gc_tree *tree = &second->trees[t];

		for (size_t i = tree->first; i < tree->first + tree->count; i++) {
			struct gc_file *file = &second->files[i];
			bool before = gc_first_has(first, tree->dir, gc_name(second, file, &text));

			/* one that is stopped has its own reason */
			if (file->reason == GC_STOPPED)
				continue;
			/* MUT: what the second reading needs is deleted nevertheless */
			if (before && file->verdict != GC_DELETE)
				return contradiction(second, tree, file);
			/* MUT: what only one reading has seen is deleted */
			if (!before && file->verdict == GC_DELETE)
				gc_set_reason(second, tree, file, GC_NEW);
		}
	}
	return NULL;
}
