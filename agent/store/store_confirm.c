#include "store/store_confirm.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/store_seen.h"

/* The listing of one directory, and the name in question. */
struct confirm {
	struct store *store;
	const char *name;
	struct uri dir;
	sightings_tick tick;
	struct buf uri;
	bool named;
};

static int confirm_note(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct confirm *confirm = ctx;

	(void)err;
	confirm->named = confirm->named || !strcmp(entry->name, confirm->name);
	store_seen_below(&confirm->dir, entry->name, &confirm->uri);
	if (entry->is_prefix)
		buf_addch(&confirm->uri, '/');
	sightings_listed(confirm->store->seen, confirm->uri.data,
			 entry->is_prefix ? -1 : entry->stat.size_bytes, confirm->tick);
	return 0;
}

/* Is `name` in the listing of `dir`? 1, 0, or -1. */
static int list_for(struct store *store, const char *dir, const char *name, struct err *err)
{
	struct confirm confirm = {.store = store, .name = name};
	int rc;

	if (uri_parse(dir, &confirm.dir, err))
		return -1;
	confirm.tick = sightings_begin(store->seen);
	rc = store->ops->list(store, &confirm.dir, confirm_note, &confirm, err);
	if (!rc) {
		store_seen_below(&confirm.dir, "", &confirm.uri);
		sightings_complete(store->seen, SIGHTINGS_LEVEL, confirm.uri.data, confirm.tick);
	}
	buf_release(&confirm.uri);
	uri_release(&confirm.dir);
	return rc ? -1 : confirm.named;
}

/* By a listing of this decision, and not named as a directory either, which listings spell with a slash. */
static bool was_left_out(const struct store *store, const char *path)
{
	cleanup_free char *dir = xasprintf("%s/", path);
	struct err why = {0};

	/* MUT: a directory that is listed counts as left out */
	if (sightings_check(store->seen, dir, -1, store->ops->absence, &why) < 0)
		return false;
	return sightings_left_out(store->seen, path);
}

/* The directory above must not be listed: is this one still not there? */
static bool is_gone_again(struct store *store, const char *dir, const struct err *denied)
{
	struct err why = {0};

	return denied->kind == ERR_DENIED && list_for(store, dir, "", &why) < 0 &&
	       why.kind == ERR_ABSENT;
}

/* As store_confirm_listing(), of a store that needs one. */
static int list_above(struct store *store, const char *uri, struct err *err)
{
	cleanup_free char *path = uri_canonical(uri);
	bool is_dir = uri[strlen(uri) - 1] == '/';
	int named = -1;

	while (path && named < 0 && !was_left_out(store, path)) {
		cleanup_free char *dir = uri_parent(path);
		struct err why = {0};

		if (!*uri_name(path) || !strcmp(dir, path))
			return err_set(err, ERR_RETRY, 0, "%s: %s, nor the root of the store", uri,
				       store->ops->absence);
		named = list_for(store, dir, uri_name(path), &why);
		if (named < 0 && is_dir && is_gone_again(store, path, &why))
			return 0;
		if (named < 0 && why.kind != ERR_ABSENT)
			return err_set(err, why.kind, why.sys, "%s: %s, but %s", uri,
				       store->ops->absence, why.msg);
		/* MUT: an exception is an absence although the directory lists the name */
		if (named > 0)
			return err_set(err, ERR_CONTRADICTED, 0, "%s: %s, but %s lists '%s'", uri,
				       store->ops->absence, dir, uri_name(path));
		/* nor is its directory there: then the one above must not list that */
		free(path);
		path = xstrdup(dir);
		is_dir = true;
	}
	return 0;
}

int store_confirm_listing(struct store *store, const char *uri, struct err *err)
{
	return store->ops->absence_needs_listing ? list_above(store, uri, err) : 0;
}

/* ---- directories of which only the name is left ---- */

static int ghost_has(void *ctx, const struct store_leaf *leaf, struct err *err)
{
	(void)ctx;
	(void)leaf;
	(void)err;
	return 1;
}

/* By two listings, each complete. */
static bool is_empty_twice(struct store *store, const struct uri *dir)
{
	struct store_named named;
	struct err why = {0};

	/* MUT: one more listing tells that a directory is empty */
	if (store->ops->list_tree(store, dir, ghost_has, NULL, &why) == 0 || why.kind != ERR_ABSENT)
		return false;
	/* MUT: the same question twice tells that a directory is empty */
	if (store->ops->named(store, dir, true, &named, &why) < 0 || named.dir)
		return false;
	return true;
}

bool store_confirm_ghost(struct store *store, const char *uri)
{
	cleanup_uri struct uri dir = {0};
	bool empty;

	if (!store->ops->lists_ghosts || uri[strlen(uri) - 1] != '/' ||
	    !sightings_only_listed(store->seen, uri) || uri_parse(uri, &dir, NULL))
		return false;
	empty = strcmp(dir.path, "/") != 0 && is_empty_twice(store, &dir);
	if (empty)
		sightings_forget(store->seen, uri);
	return empty;
}

int store_confirm_absent(struct store *store, const char *uri, struct err *err)
{
	if (sightings_check(store->seen, uri, -1, store->ops->absence, err) < 0 &&
	    !store_confirm_ghost(store, uri))
		return -1;
	return store_confirm_listing(store, uri, err);
}

int store_confirm_failure(struct store *store, const char *uri, struct err *why)
{
	struct err contrary = {0};

	/* MUT: an absence leaves the store whatever was seen */
	if (why->kind == ERR_ABSENT && store_confirm_absent(store, uri, &contrary) < 0)
		*why = contrary;
	return -1;
}
