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
#include "store/store_named.h"
#include "store/store_walk.h"
#include "store/swift/swift_call.h"

/* The requests of a walk: its spans have one each at a time. */
struct listing {
	struct store_walk walk;
	struct swift_attempt attempts[STORE_SPANS_MAX];
};

/* Where the page begins: after the last name or, as long as there was none, after the object that stands for the directory
 * itself, which would come again for ever. */
static char *page_after(const struct store_walk *walk, size_t index)
{
	const struct store_span *span = &walk->spans->list[index];

	if (span->reached.len_bytes)
		return xasprintf("%s%s", buf_str(&walk->prefix), store_walk_from(walk, index));
	/* MUT: a directory that has only its marker is listed for ever */
	if (span->marked && !span->after.len_bytes)
		return xstrdup(buf_str(&walk->prefix));
	return store_walk_after(walk, index);
}

static int prepare_page(struct store_walk *walk, size_t index, struct store_call *ret_call,
			struct err *err)
{
	struct listing *listing = (struct listing *)walk;
	struct swift_store *store = (struct swift_store *)walk->store;
	cleanup_free char *marker = page_after(walk, index);
	cleanup_buf struct buf query = BUF_INIT;
	struct swift_request request = {.max_bytes = SWIFT_JSON_LIST_MAX_BYTES};

	buf_addf(&query, "format=json&limit=%d", SWIFT_JSON_PAGE);
	if (walk->delimited)
		buf_addstr(&query, "&delimiter=%2F");
	buf_addstr(&query, "&prefix=");
	percent_encode(&query, store_walk_prefix(walk), false);
	buf_addstr(&query, "&marker=");
	percent_encode(&query, marker, false);
	request.query = buf_str(&query);
	return swift_call_prepare(store, &request, &listing->attempts[index], ret_call, err);
}

struct page {
	struct store_walk *walk;
	size_t span;
};

static int on_entry(void *ctx, const struct swift_json_entry *entry, struct err *err)
{
	const struct page *page = ctx;
	struct store_dirs_name item = {
		.is_prefix = entry->is_subdir,
		/* a marker for a directory that is listed itself */
		.is_hidden = entry->is_directory,
		.in_doubt = entry->size_in_doubt,
		.stat = {.size_bytes = entry->size_bytes, .mtime_unix_ms = entry->mtime_unix_ms},
	};

	return store_walk_name(page->walk, page->span, entry->name, &item, err);
}

static enum store_verdict read_page(struct store_walk *walk, size_t index,
				    const struct http_response *response, bool *ret_more,
				    struct err *err)
{
	static const struct swift_request request = {0};
	struct listing *listing = (struct listing *)walk;
	struct page page = {walk, index};
	enum store_verdict verdict = swift_call_judge((struct swift_store *)walk->store, &request,
						      &listing->attempts[index], response, err);
	int count;

	if (verdict != STORE_DONE || response->status == 204)
		return verdict;
	count = swift_json_listing(buf_str(&response->body), response->body.len_bytes, on_entry,
				   &page, err);
	if (count < 0)
		return STORE_FAILED;
	*ret_more = count > 0;
	listing->attempts[index] = (struct swift_attempt){0};
	return STORE_DONE;
}

/* struct store_dirs */
static int walk(struct store *store, const struct uri *dir, struct store_spans *spans,
		bool delimited, store_dirs_fn fn, void *ctx, struct err *err)
{
	bool from_begin = spans->count == 1 && !spans->list[0].after.len_bytes;
	struct listing listing = {.walk = {
					  .http = ((struct swift_store *)store)->http,
					  .store = store,
					  .dir = dir,
					  .spans = spans,
					  .delimited = delimited,
					  .one_order = true,
					  .fn = fn,
					  .ctx = ctx,
					  .prepare = prepare_page,
					  .read = read_page,
				  }};

	if (store_walk_all(&listing.walk, err))
		return -1;
	if (!listing.walk.any && from_begin)
		return err_set(err, ERR_ABSENT, 0, "nothing starts with %s://%s%s", store->scheme,
			       store->authority, dir->path);
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
	struct store_spans spans;
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

	/* It was listed, so a 404 does not remove it from the listing: a read of it fails as contradicted. */
	if (look->state == STORE_LOOK_ABSENT)
		entry.stat = (struct store_stat){0};
	if (look->state != STORE_LOOK_UNREADABLE)
		return hand_out(level, &entry, err) ? -1 : 0;
	return err_pass(err, look->why);
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
	store_spans_init(&level->spans);
	rc = walk(store, uri, &level->spans, true, on_name, level, err);
	if (!rc && !level->ended)
		rc = look_at_pending(level, err);
	store_spans_release(&level->spans);
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

int swift_list_tree(struct store *store, const struct uri *uri, store_leaf_fn fn, void *ctx,
		    struct err *err)
{
	const struct store_dirs dirs = {.store = store, .dir = uri, .walk = walk};

	return store_dirs_leaves(&dirs, fn, ctx, err);
}

int swift_named(struct store *store, const struct uri *uri, bool deep, struct store_named *ret,
		struct err *err)
{
	const struct store_dirs dirs = {.store = store, .walk = walk};

	return store_named_ask(&dirs, uri, deep, ret, err);
}
