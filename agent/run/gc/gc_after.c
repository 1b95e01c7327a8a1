#include "run/gc/gc_after.h"

#include <stdlib.h>

#include "base/mem.h"
#include "core/gc/gc_agree.h"
#include "store/stores.h"
#include "store/uri.h"

/* Where a listing costs a stat for each file, so many of a directory are looked for, spread over all of them. */
#define LOOKS_PER_TREE 64

/* ---- what was deleted ---- */

struct gc_after_list {
	const struct gc *gc;
	const struct gc_tree *tree;
	struct gc_first deleted;
	/* instead of a listing */
	const struct gc_file *looked[LOOKS_PER_TREE];
	struct buf name;
	char *uri;
	int64_t there;
	char *first; /* of those that are there still */
};

static void note_there(struct gc_after_list *list, const char *name)
{
	if (!list->there++)
		list->first = xasprintf("%s/%s", list->tree->dir, name);
}

static int on_left(void *ctx, const struct store_leaf *leaf, struct err *err)
{
	struct gc_after_list *list = ctx;

	(void)err;
	/* MUT: a file that is listed after its deletion is no contradiction */
	if (gc_first_has(&list->deleted, list->tree->dir, leaf->name))
		note_there(list, leaf->name);
	return 0;
}

static const char *looked_for_uri(void *ctx, size_t index)
{
	struct gc_after_list *list = ctx;

	free(list->uri);
	list->uri = uri_join(list->tree->dir, gc_name(list->gc, list->looked[index], &list->name));
	return list->uri;
}

static int on_looked_for(void *ctx, const struct store_look *look, struct err *err)
{
	struct gc_after_list *list = ctx;

	if (look->state == STORE_LOOK_UNREADABLE)
		return err_set(err, look->why->kind, look->why->sys, "%s", look->why->msg);
	if (look->state == STORE_LOOK_PRESENT)
		note_there(list, gc_name(list->gc, list->looked[look->index], &list->name));
	return 0;
}

static int look_for_some(struct gc_after_list *list, struct store *store, struct err *err)
{
	const struct gc_tree *tree = list->tree;
	size_t deleted = (size_t)gc_tree_total(tree, GC_DELETE).files, count = 0, seen = 0;
	size_t each = deleted / LOOKS_PER_TREE + 1;

	for (size_t i = tree->first; i < tree->first + tree->count; i++)
		if (list->gc->files[i].verdict == GC_DELETE && seen++ % each == 0)
			list->looked[count++] = &list->gc->files[i];
	return store_look_many(store, looked_for_uri, count, 0, on_looked_for, list, err);
}

static int list_tree_again(struct gc_after_list *list, struct store *store, struct err *err)
{
	struct err why = {0};

	if (store_list_page(store) == 1)
		return look_for_some(list, store, err);
	if (store_list_tree(store, list->tree->dir, on_left, list, &why) == 0 ||
	    why.kind == ERR_ABSENT)
		return 0;
	return err_pass(err, &why);
}

static int list_again(struct gc_after_list *list, struct stores *stores, struct err *err)
{
	for (size_t i = 0; i < list->gc->tree_count; i++) {
		const struct gc_tree *tree = &list->gc->trees[i];
		struct store *store;

		/* files of Flink's HA lie beside those of the running job, in one directory */
		if (!gc_tree_total(tree, GC_DELETE).files || tree->kind == GC_TREE_HA)
			continue;
		list->tree = tree;
		store = stores_get(stores, tree->dir, err);
		if (!store || list_tree_again(list, store, err) < 0)
			return -1;
	}
	return 0;
}

static int check_deleted(const struct gc_facts_ask *ask, const struct gc *gc, struct err *err)
{
	struct gc_after_list list = {.gc = gc};
	cleanup_stores struct stores stores = {.config = ask->storage};
	int rc;

	gc_first_take(gc, &list.deleted);
	rc = list_again(&list, &stores, err);
	if (rc == 0 && list.there)
		rc = err_set(err, ERR_FORMAT, 0, "%jd files are there still, such as %s",
			     (intmax_t)list.there, list.first);
	free(list.first);
	free(list.uri);
	buf_release(&list.name);
	gc_first_release(&list.deleted);
	return rc;
}

/* ---- what stays ---- */

/* Of the last launch the newest snapshot is checked file by file. Those of the others, which nobody deletes, must
 * be listed. */
static int judge_kept(const struct gc *then, const struct gc *now, const struct journal *journal,
		      struct err *err)
{
	/* MUT: the last launch may lose its last complete snapshot */
	if (!gc_has_complete(now, journal, journal->launch_count - 1))
		return err_set(err, ERR_FORMAT, 0,
			       "no complete snapshot of the last launch was found after it");
	for (size_t i = 0; i < then->snapshot_count; i++) {
		const struct gc_snapshot *snapshot = &then->snapshots[i];

		/* MUT: a snapshot that is a way back may be away afterwards */
		if (snapshot->check == GC_CHECK_COMPLETE &&
		    gc_wants_job(journal, snapshot->job_id) &&
		    /* a job deletes in time what it has claimed */
		    !snapshot_same_path(journal_launch_const(journal)->restore_path,
					snapshot->path) &&
		    !gc_find_snapshot(now, snapshot->path))
			return err_set(err, ERR_FORMAT, 0, "%s stays, but is not listed after it",
				       snapshot->path);
	}
	return 0;
}

static int check_kept(const struct gc_facts_ask *ask, const struct gc *gc, struct err *err)
{
	struct gc now = {.now_unix_ms = gc->now_unix_ms}; /* keep_launches 0: only the last one */
	int rc;

	gc_facts_check(ask, &now);
	rc = now.unreadable ? err_set(err, ERR_RETRY, 0, "%s", now.unreadable)
			    : judge_kept(gc, &now, ask->journal, err);
	gc_release(&now);
	return rc;
}

int gc_after(const struct gc_facts_ask *ask, const struct gc *gc, struct err *err)
{
	/* without files of checkpoints, nothing that could be missed was deleted */
	if (check_deleted(ask, gc, err) < 0 || (!gc->stop && check_kept(ask, gc, err) < 0))
		return err_wrap(err, "a check after the deletion has failed");
	return 0;
}
