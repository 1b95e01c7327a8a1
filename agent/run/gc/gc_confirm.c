#include "run/gc/gc_confirm.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/snapshots.h"
#include "store/uri.h"

struct asked {
	struct gc_look *look;
	char **uris; /* of _metadata */
	size_t count;
	bool *there; /* instead of being a contradiction; NULL: it is one */
};

static void asked_note(void *ctx, const char *dir)
{
	struct asked *list = ctx;

	list->uris = xreallocarray(list->uris, list->count + 1, sizeof(*list->uris));
	list->uris[list->count++] = snapshots_metadata_uri(dir);
}

/* A directory that is not listed leaves nothing out: it may belong to another application whose snapshot a launch was once
 * restored from, and whose job still writes checkpoints. */
static void asked_note_near(void *ctx, const char *dir)
{
	struct asked *list = ctx;
	cleanup_free char *job = uri_parent(dir), *top = uri_parent(job);

	/* MUT: a checkpoint is left out by a listing that was not made */
	if (!gc_look_lists(list->look, top))
		return;
	asked_note(list, dir);
}

static void asked_release(struct asked *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->uris[i]);
	free(list->uris);
	free(list->there);
}

static const char *asked_uri(void *ctx, size_t index)
{
	const struct asked *list = ctx;

	return list->uris[index];
}

static void contradict(const struct asked *list, const char *uri)
{
	cleanup_free char *why =
		xasprintf("%s contradicts itself: it is there, and was not listed", uri);

	/* MUT: a metadata that no listing names is not asked for */
	gc_set_unreadable(list->look->gc, why);
}

static int on_asked(void *ctx, const struct store_look *found, struct err *err)
{
	struct asked *list = ctx;
	const char *uri = list->uris[found->index];

	(void)err;
	switch (found->state) {
	case STORE_LOOK_ABSENT:
		break;
	case STORE_LOOK_PRESENT:
		if (list->there)
			list->there[found->index] = true;
		else
			contradict(list, uri);
		break;
	case STORE_LOOK_UNREADABLE:
		gc_look_fail(list->look, uri, found->why);
		break;
	}
	return 0;
}

/* Those of one store at once. */
static void ask_for_all(struct asked *list)
{
	struct gc_look *look = list->look;

	for (size_t i = 0, end; i < list->count; i = end) {
		struct err err = {0};
		struct store *store = stores_get(&look->stores, list->uris[i], &err);
		struct asked part = {look, list->uris + i, 0, list->there ? list->there + i : NULL};

		for (end = i + 1;
		     store && end < list->count && store_serves(store, list->uris[end]);)
			end++;
		part.count = end - i;
		if (!store ||
		    store_look_many(store, asked_uri, part.count, 0, on_asked, &part, &err) < 0)
			gc_look_fail(look, list->uris[i], &err);
	}
}

void gc_confirm_unfinished(struct gc_look *look)
{
	struct asked list = {.look = look};

	gc_unfinished(look->gc, asked_note, &list);
	ask_for_all(&list);
	asked_release(&list);
}

/* Those that are still there now, and in no listing. */
static void ask_once_more(const struct asked *first)
{
	struct asked list = {.look = first->look};

	for (size_t i = 0; i < first->count; i++)
		if (first->there[i] && !gc_has_checkpoint(first->look->gc, first->uris[i]))
			asked_note(&list, first->uris[i]);
	ask_for_all(&list);
	asked_release(&list);
}

void gc_confirm_near(struct gc_look *look)
{
	struct asked list = {.look = look};
	struct err err = {0};

	if (!look->gc->unreadable)
		/* MUT: checkpoints that no listing has are not asked for by their number */
		gc_near(look->gc, look->ask->journal, asked_note_near, &list);
	list.there = xcalloc(list.count + 1, sizeof(*list.there));
	if (gc_look_tell(look, "checkpoints that no listing has", 0, &err) < 0)
		gc_set_unreadable(look->gc, err.msg);
	else
		ask_for_all(&list);
	for (size_t i = 0; i < list.count; i++)
		look->news = look->news || list.there[i];
	gc_look_again(look);
	/* MUT: a checkpoint that is there and in no listing is none */
	ask_once_more(&list);
	asked_release(&list);
}
