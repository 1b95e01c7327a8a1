/*
 * Requests pages until one is empty: Swift may return fewer names than requested although there are
 * more (sharded containers). Names come in byte order; a listing that is out of order, or makes no
 * progress, could hide names and is rejected.
 */
#include "store/swift/swift_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/percent.h"
#include "format/swift_json.h"
#include "store/store_dirs.h"
#include "store/swift/swift_call.h"

struct walk {
	struct swift_store *store;
	struct buf prefix; /* of all names: the directory with its slash */
	struct buf last;   /* the last name so far */
	bool delimited;
	store_dirs_fn fn;
	void *ctx;
	bool ended; /* by fn */
};

static int on_entry(void *ctx, const struct swift_json_entry *entry, struct err *err)
{
	struct walk *walk = ctx;
	struct store_dirs_name name = {.is_prefix = entry->is_subdir};
	int rc;

	if (strncmp(entry->name, buf_str(&walk->prefix), walk->prefix.len_bytes) != 0)
		return err_set(err, ERR_FORMAT, 0, "'%.200s' was not requested", entry->name);
	if (strcmp(entry->name, buf_str(&walk->last)) <= 0)
		return err_set(err, ERR_FORMAT, 0, "'%.200s' is out of order", entry->name);
	buf_clear(&walk->last);
	buf_addstr(&walk->last, entry->name);
	name.name = entry->name + walk->prefix.len_bytes;
	/* the directory's own marker, or one for a directory that is listed itself */
	if (!name.name[0] || entry->is_directory)
		return 0;
	name.in_doubt = entry->size_in_doubt;
	name.stat.size_bytes = entry->size_bytes;
	name.stat.mtime_unix_ms = entry->mtime_unix_ms;
	rc = walk->fn(walk->ctx, &name, err);
	walk->ended = rc > 0;
	return rc;
}

/* How many names there were, or -1. */
static int walk_page(struct walk *walk, struct err *err)
{
	cleanup_buf struct buf query = BUF_INIT;
	cleanup_http_response struct http_response response = {0};
	struct swift_request request = {.max_bytes = SWIFT_JSON_LIST_MAX_BYTES};

	buf_addf(&query, "format=json&limit=%d", SWIFT_JSON_PAGE);
	if (walk->delimited)
		buf_addstr(&query, "&delimiter=%2F");
	buf_addstr(&query, "&prefix=");
	percent_encode(&query, buf_str(&walk->prefix), false);
	buf_addstr(&query, "&marker=");
	percent_encode(&query, buf_str(&walk->last), false);
	request.query = buf_str(&query);
	if (swift_call(walk->store, &request, &response, err))
		return -1;
	if (response.status == 204)
		return 0;
	return swift_json_listing(buf_str(&response.body), response.body.len_bytes, on_entry, walk,
				  err);
}

static int walk_pages(struct walk *walk, bool from_begin, struct err *err)
{
	int count, pages = 0;

	do {
		count = walk_page(walk, err);
		pages++;
	} while (count > 0 && !walk->ended);
	if (count < 0)
		return -1;
	if (!count && pages == 1 && from_begin)
		return err_set(err, ERR_ABSENT, 0, "nothing starts with '%s'",
			       buf_str(&walk->prefix));
	return 0;
}

/* struct store_dirs */
static int walk(struct store *store, const struct uri *dir, const char *after, bool delimited,
		store_dirs_fn fn, void *ctx, struct err *err)
{
	struct walk walk = {
		.store = (struct swift_store *)store,
		.delimited = delimited,
		.fn = fn,
		.ctx = ctx,
	};
	int rc;

	if (strcmp(dir->path, "/") != 0)
		buf_addf(&walk.prefix, "%s/", dir->path + 1);
	if (after[0])
		buf_addf(&walk.last, "%s%s", buf_str(&walk.prefix), after);
	rc = walk_pages(&walk, !after[0], err);
	buf_release(&walk.prefix);
	buf_release(&walk.last);
	if (rc)
		return err_wrap(err, "list %s://%s%s", store->scheme, store->authority, dir->path);
	return 0;
}

/* ---- one level ---- */

struct level {
	struct store *store;
	const struct uri *dir;
	store_entry_fn fn;
	void *ctx;
	bool ended;
	/* files that must be queried: their names, one after another */
	struct buf pending;
	size_t starts[SWIFT_JSON_PAGE];
	size_t pending_count;
	struct buf uri;
};

static int hand_out(struct level *level, const struct store_entry *entry, struct err *err)
{
	int rc = level->fn(level->ctx, entry, err);

	level->ended = rc > 0;
	return rc;
}

static const char *pending_uri(void *ctx, size_t index)
{
	struct level *level = ctx;

	buf_clear(&level->uri);
	buf_addf(&level->uri, "%s://%s%s/%s", level->dir->scheme, level->dir->authority,
		 strcmp(level->dir->path, "/") ? level->dir->path : "",
		 level->pending.data + level->starts[index]);
	return buf_str(&level->uri);
}

static int on_look(void *ctx, const struct store_look *look, struct err *err)
{
	struct level *level = ctx;
	struct store_entry entry = {.name = level->pending.data + level->starts[look->index],
				    .stat = look->stat};

	if (look->state == STORE_LOOK_ABSENT)
		return 0; /* deleted meanwhile */
	if (look->state == STORE_LOOK_PRESENT)
		return hand_out(level, &entry, err) ? -1 : 0;
	if (err)
		*err = *look->why;
	return -1;
}

/* 1: fn has ended the listing. */
static int look_at_pending(struct level *level, struct err *err)
{
	struct err why = {0};
	int rc = 0;

	if (level->pending_count)
		rc = level->store->ops->look_many(level->store, pending_uri, level->pending_count,
						  0, on_look, level, &why);
	level->pending_count = 0;
	buf_clear(&level->pending);
	if (level->ended)
		return 1;
	if (rc && err)
		*err = why;
	return rc;
}

static int on_name(void *ctx, const struct store_dirs_name *name, struct err *err)
{
	struct level *level = ctx;
	size_t len = strlen(name->name);
	cleanup_free char *last = xstrndup(name->name, len - (name->is_prefix ? 1 : 0));
	struct store_entry entry = {.name = last, .is_prefix = name->is_prefix, .stat = name->stat};

	/* a name that no URI can express is not a snapshot */
	if (!last[0] || !strcmp(last, ".") || !strcmp(last, ".."))
		return 0;
	if (strchr(last, '/'))
		return err_set(err, ERR_FORMAT, 0, "'%.200s' is not directly in this directory",
			       name->name);
	if (!name->in_doubt)
		return hand_out(level, &entry, err);
	level->starts[level->pending_count++] = level->pending.len_bytes;
	buf_add(&level->pending, last, strlen(last) + 1);
	return level->pending_count == ARRAY_LEN(level->starts) ? look_at_pending(level, err) : 0;
}

int swift_list(struct store *store, const struct uri *uri, store_entry_fn fn, void *ctx,
	       struct err *err)
{
	struct level *level = xcalloc(1, sizeof(*level));
	int rc;

	level->store = store;
	level->dir = uri;
	level->fn = fn;
	level->ctx = ctx;
	rc = walk(store, uri, "", true, on_name, level, err);
	if (!rc && !level->ended)
		rc = look_at_pending(level, err);
	buf_release(&level->pending);
	buf_release(&level->uri);
	free(level);
	return rc < 0 ? -1 : 0;
}

int swift_list_dirs(struct store *store, const struct uri *uri, const char *leaf, store_dir_fn fn,
		    void *ctx, struct err *err)
{
	const struct store_dirs dirs = {
		.store = store,
		.dir = uri,
		.leaf = leaf,
		.listing_lags = true, /* object servers do not wait for the container's listing */
		.walk = walk,
	};

	return store_dirs_list(&dirs, fn, ctx, err);
}
