/* The functions of store.h that see many files: what each of them sees is remembered (sightings.h). */
#include <string.h>

#include "base/mem.h"
#include "store/store_confirm.h"
#include "store/store_seen.h"

/* ---- listings ---- */

/* One listing, and whose it is. */
struct listing {
	struct store *store;
	struct uri dir;
	const char *leaf;
	store_entry_fn entry; /* one of these three; none: nothing is passed on */
	store_leaf_fn file;
	store_dir_fn directory;
	void *ctx;
	sightings_tick tick;
	bool ended, failed; /* by the function */
	bool any_file;      /* not only directories, of which nothing may be left */
	struct buf uri;     /* it begins with that of the directory, base_bytes long; 0: not yet */
	size_t base_bytes;
};

static int note_end(struct listing *ls, int rc)
{
	ls->ended = ls->ended || rc > 0;
	ls->failed = ls->failed || rc < 0;
	return rc;
}

/* `name` lies below the directory; a directory ends in a slash. */
static void note_listed(struct listing *ls, const char *name, bool is_dir, int64_t size_bytes)
{
	if (!ls->base_bytes) {
		store_seen_below(&ls->dir, "", &ls->uri);
		ls->base_bytes = ls->uri.len_bytes;
	}
	ls->uri.len_bytes = ls->base_bytes; /* whatever came behind it */
	ls->uri.data[ls->base_bytes] = '\0';
	buf_addstr(&ls->uri, name);
	if (is_dir)
		buf_addch(&ls->uri, '/');
	sightings_listed(ls->store->seen, ls->uri.data, size_bytes, ls->tick);
}

static int seen_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct listing *ls = ctx;

	note_listed(ls, entry->name, entry->is_prefix,
		    entry->is_prefix ? -1 : entry->stat.size_bytes);
	ls->any_file = ls->any_file || !entry->is_prefix;
	return ls->entry ? note_end(ls, ls->entry(ls->ctx, entry, err)) : 0;
}

static int seen_file(void *ctx, const struct store_leaf *leaf, struct err *err)
{
	struct listing *ls = ctx;

	if (!leaf->odd)
		note_listed(ls, leaf->name, false, leaf->in_doubt ? -1 : leaf->stat.size_bytes);
	ls->any_file = true;
	return note_end(ls, ls->file(ls->ctx, leaf, err));
}

/* What Flink keeps beside the checkpoints of a job: many files, and never a leaf that anything depends on. To list them
 * for a second witness would cost more than the rest. */
static bool is_no_snapshot(const char *name)
{
	return !strcmp(name, "shared") || !strcmp(name, "taskowned");
}

/* The leaf of a directory that was listed: what is said of it, and what was seen before. */
static int seen_directory(void *ctx, const struct store_dir *dir, struct err *err)
{
	struct listing *ls = ctx;
	struct store_dir told = *dir;
	struct err why = {0};

	note_listed(ls, dir->name, true, -1);
	/* MUT: a directory in which names were seen may be one of which nothing is left */
	if (dir->has_names || dir->leaf == STORE_LEAF_PRESENT) {
		sightings_found(ls->store->seen, ls->uri.data, -1);
		ls->any_file = true;
	}
	buf_addstr(&ls->uri, ls->leaf);
	switch (dir->leaf) {
	case STORE_LEAF_PRESENT:
		sightings_listed(ls->store->seen, ls->uri.data, dir->stat.size_bytes, ls->tick);
		break;
	case STORE_LEAF_ABSENT:
		/* MUT: the leaf of a directory is absent whatever was seen */
		if (is_no_snapshot(dir->name) ||
		    store_confirm_absent(ls->store, ls->uri.data, &why) == 0)
			break;
		told.leaf = STORE_LEAF_UNREADABLE;
		told.why = &why;
		break;
	case STORE_LEAF_UNREADABLE:
		break;
	}
	return note_end(ls, ls->directory(ls->ctx, &told, err));
}

static int run_ops(struct listing *ls, struct err *err)
{
	const struct store_ops *ops = ls->store->ops;

	if (ls->directory)
		return ops->list_dirs(ls->store, &ls->dir, ls->leaf, seen_directory, ls, err);
	if (ls->file)
		return ops->list_tree(ls->store, &ls->dir, seen_file, ls, err);
	return ops->list(ls->store, &ls->dir, seen_entry, ls, err);
}

/* All of it was read; also where it is proven that there is no such directory. */
static void note_complete(struct listing *ls)
{
	enum sightings_scope scope = ls->directory ? SIGHTINGS_LEAF
				     : ls->file    ? SIGHTINGS_TREE
						   : SIGHTINGS_LEVEL;

	store_seen_below(&ls->dir, ls->directory ? ls->leaf : "", &ls->uri);
	sightings_complete(ls->store->seen, scope, ls->uri.data, ls->tick);
}

/* Names in it were seen: nobody can say later that only a listing has named it. */
static void note_content(struct listing *ls)
{
	if (!ls->any_file || !ls->store->ops->lists_ghosts)
		return;
	store_seen_below(&ls->dir, "", &ls->uri);
	sightings_found(ls->store->seen, ls->uri.data, -1);
}

/* 0, or -1 with the reason in *why. */
static int list_all(struct listing *ls, struct err *why)
{
	int rc;

	ls->tick = sightings_begin(ls->store->seen);
	rc = run_ops(ls, why);
	note_content(ls);
	if (rc && !ls->failed && why->kind == ERR_ABSENT) {
		store_seen_below(&ls->dir, "", &ls->uri);
		store_confirm_failure(ls->store, ls->uri.data, why);
	}
	if (!ls->ended && !ls->failed && (!rc || why->kind == ERR_ABSENT))
		note_complete(ls);
	return rc;
}

static int list(struct listing *ls, const char *uri, struct err *err)
{
	struct err why = {0};
	int rc;

	if (store_parse_for(ls->store, uri, &ls->dir, err))
		return -1;
	rc = list_all(ls, &why);
	buf_release(&ls->uri);
	uri_release(&ls->dir);
	if (rc && err)
		*err = why;
	return rc;
}

int store_list(struct store *store, const char *uri, store_entry_fn fn, void *ctx, struct err *err)
{
	struct listing ls = {.store = store, .entry = fn, .ctx = ctx};

	return list(&ls, uri, err);
}

struct wanted {
	const char *name;
	bool found;
	int64_t size_bytes;
};

static int note_wanted(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct wanted *wanted = ctx;

	(void)err;
	wanted->found = !strcmp(entry->name, wanted->name);
	if (wanted->found && !entry->is_prefix)
		wanted->size_bytes = entry->stat.size_bytes;
	return wanted->found;
}

static int lists_above(struct store *store, const char *uri, int64_t *ret_size, struct err *err)
{
	cleanup_free char *dir = uri_parent(uri);
	struct wanted wanted = {.name = uri_name(uri), .size_bytes = -1};
	struct err why = {0};

	if (store_list(store, dir, note_wanted, &wanted, &why) == 0 || why.kind == ERR_ABSENT) {
		*ret_size = wanted.size_bytes;
		return wanted.found;
	}
	return err_pass(err, &why);
}

/* As store_listed_size(), of a store that can be asked for one name. */
static int lists_named(struct store *store, const struct uri *uri, int64_t *ret_size,
		       struct err *err)
{
	sightings_tick tick = sightings_begin(store->seen);
	cleanup_buf struct buf text = BUF_INIT;
	struct store_named named;

	if (store->ops->named(store, uri, false, &named, err))
		return -1;
	*ret_size = named.size_bytes;
	store_seen_uri(uri, &text);
	if (named.file)
		sightings_listed(store->seen, text.data, named.size_bytes, tick);
	buf_addch(&text, '/');
	if (named.dir)
		sightings_listed(store->seen, text.data, -1, tick);
	return named.file || (named.dir && !store_confirm_ghost(store, text.data));
}

int store_listed_size(struct store *store, const char *uri, int64_t *ret_size_bytes,
		      struct err *err)
{
	cleanup_uri struct uri parsed = {0};
	int listed;

	if (store_parse_for(store, uri, &parsed, err))
		return -1;
	if (store->ops->named && strcmp(parsed.path, "/") != 0)
		listed = lists_named(store, &parsed, ret_size_bytes, err);
	else
		listed = lists_above(store, uri, ret_size_bytes, err);
	return listed;
}

int store_is_listed(struct store *store, const char *uri, struct err *err)
{
	int64_t size_bytes;

	return store_listed_size(store, uri, &size_bytes, err);
}

int store_list_dirs(struct store *store, const char *uri, const char *leaf, store_dir_fn fn,
		    void *ctx, struct err *err)
{
	struct listing ls = {.store = store, .leaf = leaf, .directory = fn, .ctx = ctx};

	return list(&ls, uri, err);
}

int store_list_tree(struct store *store, const char *uri, store_leaf_fn fn, void *ctx,
		    struct err *err)
{
	struct listing ls = {.store = store, .file = fn, .ctx = ctx};

	return list(&ls, uri, err);
}

void store_ahead(struct store *store, const struct store_next *next, size_t count)
{
	if (store->ops->ahead && count > 1)
		store->ops->ahead(store, next, count);
}

int store_look_again(struct store *store, const char *uri, struct err *err)
{
	struct listing ls = {.store = store};
	struct err why = {0};
	int rc;

	if (store_parse_for(store, uri, &ls.dir, err))
		return -1;
	ls.tick = sightings_begin(store->seen);
	rc = run_ops(&ls, &why);
	store_seen_below(&ls.dir, "", &ls.uri);
	/* no such directory: then nothing at all below it */
	if (rc && why.kind == ERR_ABSENT && store_confirm_listing(store, ls.uri.data, &why) == 0)
		sightings_gone(store->seen, SIGHTINGS_TREE, ls.uri.data, ls.tick);
	else if (!rc)
		sightings_gone(store->seen, SIGHTINGS_LEVEL, ls.uri.data, ls.tick);
	buf_release(&ls.uri);
	uri_release(&ls.dir);
	if (!rc || why.kind == ERR_ABSENT)
		return 0;
	return err_pass(err, &why);
}

/* ---- looks ---- */

/* The first bytes of a file: *ret_len_bytes <= len_bytes. */
static int read_head(struct store *store, const char *uri, void *head, size_t len_bytes,
		     size_t *ret_len_bytes, struct err *err)
{
	struct store_stream *stream;
	size_t have = 0, got = 1;
	int rc = 0;

	if (store_read_open(store, uri, 0, &stream, err))
		return -1;
	while (!rc && got && have < len_bytes) {
		rc = store_read(stream, (char *)head + have, len_bytes - have, &got, err);
		have += rc ? 0 : got;
	}
	store_read_close(stream);
	if (!rc)
		*ret_len_bytes = have;
	return rc;
}

static int look_one(struct store *store, const char *uri, struct store_look *look, void *head,
		    size_t head_bytes, struct err *err)
{
	if (store_stat(store, uri, &look->stat, err))
		return -1;
	look->head = head;
	return head_bytes ? read_head(store, uri, head, head_bytes, &look->head_len_bytes, err) : 0;
}

static int look_one_by_one(struct store *store, store_uri_fn uri, size_t count, size_t head_bytes,
			   store_look_fn fn, void *ctx, struct err *err)
{
	char head[STORE_HEAD_MAX_BYTES];

	for (size_t i = 0; i < count; i++) {
		struct store_look look = {.index = i};
		struct err why = {0};

		if (look_one(store, uri(ctx, i), &look, head, head_bytes, &why)) {
			look = (struct store_look){
				.index = i, .state = STORE_LOOK_UNREADABLE, .why = &why};
			if (why.kind == ERR_ABSENT)
				look = (struct store_look){.index = i, .state = STORE_LOOK_ABSENT};
		}
		if (fn(ctx, &look, err) < 0)
			return -1;
	}
	return 0;
}

/* Many files, and whose they are. */
struct many {
	struct store *store;
	store_uri_fn uri;
	store_look_fn look; /* one of these two */
	store_deleted_fn deleted;
	void *ctx;
};

static const char *many_uri(void *ctx, size_t index)
{
	const struct many *many = ctx;

	return many->uri(many->ctx, index);
}

static int seen_look(void *ctx, const struct store_look *look, struct err *err)
{
	const struct many *many = ctx;
	cleanup_free char *uri = uri_canonical(many->uri(many->ctx, look->index));
	struct store_look told = *look;
	struct err why = {0};
	int rc = 0;

	switch (look->state) {
	case STORE_LOOK_PRESENT:
		rc = uri ? store_seen_size(many->store, uri, look->stat.size_bytes, &why) : 0;
		break;
	case STORE_LOOK_ABSENT:
		rc = uri ? store_confirm_absent(many->store, uri, &why) : 0;
		break;
	case STORE_LOOK_UNREADABLE:
		break;
	}
	if (rc)
		told = (struct store_look){
			.index = look->index, .state = STORE_LOOK_UNREADABLE, .why = &why};
	return many->look(many->ctx, &told, err);
}

int store_look_many(struct store *store, store_uri_fn uri, size_t count, size_t head_bytes,
		    store_look_fn fn, void *ctx, struct err *err)
{
	struct many many = {.store = store, .uri = uri, .look = fn, .ctx = ctx};

	if (!store->ops->look_many) /* store_stat() and store_read() remember */
		return look_one_by_one(store, uri, count, head_bytes, fn, ctx, err);
	return store->ops->look_many(store, many_uri, count, head_bytes, seen_look, &many, err);
}

/* ---- deletions ---- */

static int seen_deleted(void *ctx, size_t index, const struct err *why, struct err *err)
{
	const struct many *many = ctx;
	/* in a collection, what deletes has seen nothing */
	cleanup_free char *uri = !why && sightings_any(many->store->seen)
					 ? uri_canonical(many->uri(many->ctx, index))
					 : NULL;

	if (uri)
		sightings_forget(many->store->seen, uri);
	return many->deleted(many->ctx, index, why, err);
}

int store_delete_many(struct store *store, store_uri_fn uri, size_t count, store_deleted_fn fn,
		      void *ctx, struct err *err)
{
	struct many many = {.store = store, .uri = uri, .deleted = fn, .ctx = ctx};

	return store->ops->delete_many(store, many_uri, count, seen_deleted, &many, err);
}
