#include "run/gc/gc_delete.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/stores.h"

struct run {
	const struct gc_delete_ask *ask;
	const struct gc *gc;
	struct gc_deleted *done;
	struct stores stores;
	int64_t total, asked_ms;
	bool asked;
	/* a batch: files of one tree */
	const struct gc_tree *tree;
	const struct gc_file *files[GC_DELETE_BATCH];
	size_t count;
	struct buf name, uri;
};

static int ask_again(struct run *run, struct err *err)
{
	int64_t now_ms = clock_mono_ms();

	if (run->ask->progress)
		run->ask->progress(run->ask->ctx, run->done->files, run->total);
	if (run->asked && now_ms < run->asked_ms + GC_DELETE_MS)
		return 0;
	/* MUT: what has changed meanwhile does not end the deletion */
	if (run->ask->holds(run->ask->ctx, err) < 0)
		return -1;
	run->asked = true;
	run->asked_ms = clock_mono_ms();
	return 0;
}

static const char *batch_uri(void *ctx, size_t index)
{
	struct run *run = ctx;

	buf_clear(&run->uri);
	buf_addstr(&run->uri, run->tree->dir);
	buf_addch(&run->uri, '/');
	buf_addstr(&run->uri, gc_name(run->gc, run->files[index], &run->name));
	return buf_str(&run->uri);
}

static int on_deleted(void *ctx, size_t index, const struct err *why, struct err *err)
{
	struct run *run = ctx;

	(void)err;
	if (!why) {
		run->done->files++;
		run->done->bytes += run->files[index]->size_bytes;
		return 0;
	}
	if (!run->done->failed++)
		snprintf(run->done->why, sizeof(run->done->why), "%s", why->msg);
	return 0;
}

static int delete_batch(struct run *run, struct err *err)
{
	struct store *store;
	int rc;

	if (!run->count)
		return 0;
	if (ask_again(run, err) < 0)
		return -1;
	store = stores_get(&run->stores, run->tree->dir, err);
	if (!store)
		return -1;
	rc = store_delete_many(store, batch_uri, run->count, on_deleted, run, err);
	run->count = 0;
	return rc;
}

static int delete_of_tree(struct run *run, const struct gc_tree *tree, bool first, struct err *err)
{
	run->tree = tree;
	for (size_t i = tree->first; i < tree->first + tree->count; i++) {
		const struct gc_file *file = &run->gc->files[i];

		if (file->verdict != GC_DELETE || gc_goes_first(run->gc, file) != first)
			continue;
		run->files[run->count++] = file;
		if (run->count == GC_DELETE_BATCH && delete_batch(run, err) < 0)
			return -1;
	}
	return delete_batch(run, err);
}

static int delete_files(struct run *run, bool first, struct err *err)
{
	for (size_t i = 0; i < run->gc->tree_count; i++)
		if (delete_of_tree(run, &run->gc->trees[i], first, err) < 0)
			return -1;
	return 0;
}

/* Of a dead launch: nothing writes there any more. */
static bool is_judged(const struct gc *gc, const struct gc_tree *tree)
{
	return (!gc->stop || (gc->only_jobs && !gc_needs_snapshots(tree->kind))) &&
	       tree->kind != GC_TREE_HA && /* in this directory the last launch works, too */
	       !tree->sums[GC_ACTIVE].files && !tree->sums[GC_NEEDED].files;
}

/* Directories without a file cost nothing but the time to list them: what fails is tried next time. */
static int remove_empty(struct run *run, struct err *err)
{
	for (size_t i = 0; i < run->gc->tree_count; i++) {
		const struct gc_tree *tree = &run->gc->trees[i];
		struct store *store = stores_get(&run->stores, tree->dir, NULL);

		if (!store || !is_judged(run->gc, tree))
			continue;
		if (ask_again(run, err) < 0)
			return -1;
		(void)store_remove_empty(store, tree->dir, NULL);
	}
	return 0;
}

static int delete_all(struct run *run, struct err *err)
{
	if (delete_files(run, true, err) < 0)
		return -1;
	if (run->done->failed)
		return err_set(err, ERR_DENIED, 0, "%s", run->done->why);
	return delete_files(run, false, err) < 0 ? -1 : remove_empty(run, err);
}

int gc_delete(const struct gc_delete_ask *ask, const struct gc *gc, struct gc_deleted *ret,
	      struct err *err)
{
	struct run *run = xcalloc(1, sizeof(*run));
	int rc;

	*ret = (struct gc_deleted){0};
	*run = (struct run){.ask = ask, .gc = gc, .done = ret, .stores.config = ask->storage};
	run->total = gc_total(gc, GC_DELETE).files;
	rc = delete_all(run, err);
	stores_release(&run->stores);
	buf_release(&run->name);
	buf_release(&run->uri);
	free(run);
	return rc;
}
