/* store_flinkfs: every scheme for which Flink has a file system, and drey has none of its own. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/flinkfs/flinkfs_store.h"
#include "store/store_config.h"

#define LIST_PAGE 1000

static int flinkfs_check_uri(const struct uri *uri, struct err *err)
{
	/* nothing can be written to them, whatever can read them */
	if (!strcmp(uri->scheme, "http") || !strcmp(uri->scheme, "https") ||
	    !strcmp(uri->scheme, "ftp"))
		return err_set(
			err, ERR_CONFIG, 0,
			"'%s://%s%s': scheme '%s' is not supported: Flink keeps no state there",
			uri->scheme, uri->authority, uri->path, uri->scheme);
	return 0;
}

static int flinkfs_open(const struct store_config *config, const struct uri *uri,
			struct store **ret, struct err *err)
{
	struct flinkfs_store *store;

	if (!config->flinkfs)
		return err_set(
			err, ERR_CONFIG, 0,
			"scheme '%s' is not supported without Flink: drey reads it with Flink's own file "
			"system; set FLINK_HOME",
			uri->scheme);
	if (flinkfs_check(config->flinkfs, err) < 0)
		return err_wrap(err, "%s:// is read with Flink's own file system", uri->scheme);
	store = xcalloc(1, sizeof(*store));
	store->flinkfs = config->flinkfs;
	*ret = &store->base;
	return 0;
}

static void flinkfs_close(struct store *store)
{
	free(store);
}

char *flinkfs_path(const struct uri *uri)
{
	return uri->authority[0] ? xasprintf("%s://%s%s", uri->scheme, uri->authority, uri->path)
				 : xasprintf("%s:%s", uri->scheme, uri->path);
}

int flinkfs_ask_path(struct store *store, char type, const struct uri *uri, const char *more,
		     enum flinkfs_names names, struct flinkfs_answer *ret_answer, struct err *err)
{
	cleanup_free char *path = flinkfs_path(uri);
	struct flinkfs_request request;
	int result;

	flinkfs_begin(flinkfs_of(store), type, names, &request);
	flinkfs_put_text(&request.bytes, path);
	if (more)
		flinkfs_put_text(&request.bytes, more);
	result = flinkfs_ask(flinkfs_of(store), &request, ret_answer, err);
	buf_release(&request.bytes);
	return result < 0 ? err_wrap(err, "%s", path) : 0;
}

static int flinkfs_stat(struct store *store, const struct uri *uri, struct store_stat *ret,
			struct err *err)
{
	cleanup_flinkfs_answer struct flinkfs_answer answer = {0};

	if (flinkfs_ask_path(store, 'S', uri, NULL, FLINKFS_NAMES_NONE, &answer, err) < 0)
		return -1;
	*ret = (struct store_stat){.size_bytes = answer.first, .mtime_unix_ms = answer.second};
	return 0;
}

/* ---- listings ---- */

/* One walk through an answer, which is complete: what is passed on counts. */
struct answer_walk {
	store_entry_fn entry; /* one of these three */
	store_dir_fn dir;
	store_leaf_fn leaf;
	void *ctx;
};

static int pass_dir(const struct answer_walk *walk, const char *name,
		    const struct flinkfs_item *item, struct err *err)
{
	struct store_dir dir = {.name = name, .leaf = STORE_LEAF_ABSENT};
	struct err why = {0};

	if (item->state == 'f') {
		dir.leaf = STORE_LEAF_PRESENT;
		dir.stat = (struct store_stat){.size_bytes = item->size_bytes,
					       .mtime_unix_ms = item->mtime_unix_ms};
	} else if (item->state == 'u') {
		err_set(&why, item->kind, 0, "%.*s", (int)item->extra_len, item->extra);
		dir.leaf = STORE_LEAF_UNREADABLE;
		dir.why = &why;
	}
	return walk->dir(walk->ctx, &dir, err);
}

static int pass_item(const struct answer_walk *walk, const struct flinkfs_item *item,
		     struct err *err)
{
	cleanup_free char *name = xstrndup(item->name, item->name_len);
	struct store_stat stat = {.size_bytes = item->size_bytes,
				  .mtime_unix_ms = item->mtime_unix_ms};
	bool is_dir = item->state == 'd';

	if (walk->dir)
		return pass_dir(walk, name, item, err);
	if (walk->leaf)
		return walk->leaf(walk->ctx, &(struct store_leaf){.name = name, .stat = stat}, err);
	if (is_dir)
		stat = (struct store_stat){0};
	return walk->entry ? walk->entry(walk->ctx,
					 &(struct store_entry){
						 .name = name, .is_prefix = is_dir, .stat = stat},
					 err)
			   : 0;
}

static int walk_answer(const struct flinkfs_answer *answer, enum flinkfs_names names,
		       const struct answer_walk *walk, struct err *err)
{
	const char *bytes = buf_str(&answer->items);
	size_t left = answer->items.len_bytes;
	struct flinkfs_item item;
	int more, result = 0;

	while (!result && (more = flinkfs_item_next(&bytes, &left, names, &item, err)) != 0)
		result = more < 0 ? -1 : pass_item(walk, &item, err);
	return result < 0 ? -1 : 0;
}

static int list_by(struct store *store, char type, const struct uri *uri, const char *leaf,
		   const struct answer_walk *walk, struct err *err)
{
	enum flinkfs_names names = type == 'T' ? FLINKFS_NAMES_PATH : FLINKFS_NAMES_ONE;
	cleanup_flinkfs_answer struct flinkfs_answer answer = {0};

	if (flinkfs_ask_path(store, type, uri, leaf, names, &answer, err) < 0)
		return err_wrap(err, "list");
	return walk_answer(&answer, names, walk, err);
}

static int flinkfs_list(struct store *store, const struct uri *uri, store_entry_fn fn, void *ctx,
			struct err *err)
{
	return list_by(store, 'L', uri, NULL, &(struct answer_walk){.entry = fn, .ctx = ctx}, err);
}

static int flinkfs_list_dirs(struct store *store, const struct uri *uri, const char *leaf,
			     store_dir_fn fn, void *ctx, struct err *err)
{
	return list_by(store, 'D', uri, leaf, &(struct answer_walk){.dir = fn, .ctx = ctx}, err);
}

static int flinkfs_list_tree(struct store *store, const struct uri *uri, store_leaf_fn fn,
			     void *ctx, struct err *err)
{
	return list_by(store, 'T', uri, NULL, &(struct answer_walk){.leaf = fn, .ctx = ctx}, err);
}

static int flinkfs_remove_empty(struct store *store, const struct uri *uri, struct err *err)
{
	cleanup_flinkfs_answer struct flinkfs_answer answer = {0};

	if (flinkfs_ask_path(store, 'E', uri, NULL, FLINKFS_NAMES_NONE, &answer, err) < 0)
		return -1;
	return 0;
}

/* All that no other store serves. */
static const char *const flinkfs_schemes[] = {NULL};

const struct store_ops store_flinkfs_ops = {
	.schemes = flinkfs_schemes,
	.list_page = LIST_PAGE,
	.absence = "Flink's file system finds none",
	.absence_needs_listing = true,
	.check_authority = flinkfs_check_uri,
	.open = flinkfs_open,
	.close = flinkfs_close,
	.stat = flinkfs_stat,
	.list = flinkfs_list,
	.list_dirs = flinkfs_list_dirs,
	.look_many = flinkfs_look_many,
	.list_tree = flinkfs_list_tree,
	.delete_many = flinkfs_delete_many,
	.remove_empty = flinkfs_remove_empty,
	.read_open = flinkfs_read_open,
	.read = flinkfs_read,
	.read_close = flinkfs_read_close,
};
