#include "store/store_dirs.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

/* A directory whose names are arriving; in one span they arrive together. */
struct open_dir {
	struct buf name;
	bool open, has_leaf, in_doubt;
	struct store_stat stat;
};

struct run {
	const struct store_dirs *dirs;
	store_dir_fn fn;
	void *ctx;
	bool ended;     /* by fn */
	bool delimited; /* directories and leaves instead of all names */
	bool paused;    /* the walk continues once the batch was handled */
	bool crowded;   /* it continues with directories only */
	struct store_spans spans;
	struct buf paused_at; /* a directory, where only directories are listed */
	size_t paused_span;
	struct open_dir current[STORE_SPANS_MAX];

	size_t names, closed; /* read so far: names in directories, and finished directories */

	/* directories whose leaf must be requested: their names, one after another */
	struct buf pending;
	size_t starts[STORE_DIRS_BATCH];
	size_t pending_count;
	struct buf uri;
};

static int hand_out(struct run *run, const struct store_dir *dir, struct err *err)
{
	int rc = run->fn(run->ctx, dir, err);

	run->ended = rc > 0;
	return rc;
}

/* ---- leaves that must be requested ---- */

static void ask_later(struct run *run, const char *name)
{
	run->starts[run->pending_count++] = run->pending.len_bytes;
	buf_add(&run->pending, name, strlen(name) + 1);
}

static const char *leaf_uri(void *ctx, size_t index)
{
	struct run *run = ctx;
	const struct uri *dir = run->dirs->dir;

	buf_clear(&run->uri);
	buf_addf(&run->uri, "%s://%s%s/%s/%s", dir->scheme, dir->authority,
		 strcmp(dir->path, "/") ? dir->path : "", run->pending.data + run->starts[index],
		 run->dirs->leaf);
	return buf_str(&run->uri);
}

static int on_look(void *ctx, const struct store_look *look, struct err *err)
{
	struct run *run = ctx;
	struct store_dir dir = {.name = run->pending.data + run->starts[look->index]};

	switch (look->state) {
	case STORE_LOOK_PRESENT:
		dir.leaf = STORE_LEAF_PRESENT;
		dir.stat = look->stat;
		break;
	case STORE_LOOK_ABSENT:
		dir.leaf = STORE_LEAF_ABSENT;
		break;
	case STORE_LOOK_UNREADABLE:
		dir.leaf = STORE_LEAF_UNREADABLE;
		dir.why = look->why;
		break;
	}
	return hand_out(run, &dir, err) ? -1 : 0;
}

static int look_at_pending(struct run *run, struct err *err)
{
	struct store *store = run->dirs->store;
	struct err why = {0};
	int rc = 0;

	if (run->pending_count)
		rc = store->ops->look_many(store, leaf_uri, run->pending_count,
					   run->dirs->leaf_bytes, on_look, run, &why);
	run->pending_count = 0;
	buf_clear(&run->pending);
	if (!rc || run->ended)
		return 0;
	return err_pass(err, &why);
}

/* ---- the walk ---- */

/* The directory is complete: hand it out or note it. */
static int close_dir(struct run *run, struct open_dir *current, struct err *err)
{
	struct store_dir dir = {
		.name = buf_str(&current->name), .leaf = STORE_LEAF_ABSENT, .has_names = true};

	if (!current->open)
		return 0;
	current->open = false;
	run->closed++;
	if (current->has_leaf ? current->in_doubt : run->dirs->listing_lags) {
		ask_later(run, dir.name);
		return 0;
	}
	if (current->has_leaf) {
		dir.leaf = STORE_LEAF_PRESENT;
		dir.stat = current->stat;
	}
	return hand_out(run, &dir, err);
}

static bool too_many(const struct run *run)
{
	return run->names >= STORE_DIRS_SAMPLE &&
	       run->names > (run->closed + 1) * (size_t)STORE_DIRS_FEW;
}

/* One name of a flat listing. `dir_len`: of its directory. */
static int on_file(struct run *run, const struct store_dirs_name *item, size_t dir_len,
		   struct err *err)
{
	struct open_dir *current = &run->current[item->span];
	int rc;

	run->names++;
	if (!current->open || current->name.len_bytes != dir_len ||
	    memcmp(current->name.data, item->name, dir_len) != 0) {
		rc = close_dir(run, current, err);
		if (rc)
			return rc;
		buf_clear(&current->name);
		buf_add(&current->name, item->name, dir_len);
		current->open = true;
		current->has_leaf = current->in_doubt = false;
	}
	if (!strcmp(item->name + dir_len + 1, run->dirs->leaf)) {
		current->has_leaf = true;
		current->in_doubt = item->in_doubt;
		current->stat = item->stat;
	}
	run->crowded = too_many(run);
	return run->crowded;
}

/* A name that no URI can express is not a snapshot. */
static bool is_sayable(const char *name, size_t len)
{
	return len && !(len == 1 && name[0] == '.') && !(len == 2 && !memcmp(name, "..", 2));
}

static int on_name(void *ctx, const struct store_dirs_name *item, struct err *err)
{
	struct run *run = ctx;
	size_t dir_len = strcspn(item->name, "/");
	int rc = 0;

	if (item->name[dir_len] != '/' || !is_sayable(item->name, dir_len))
		return 0;
	if (run->delimited) {
		cleanup_free char *name = xstrndup(item->name, dir_len);

		ask_later(run, name);
	} else {
		rc = on_file(run, item, dir_len, err);
	}
	/* the rest is reserved for the directories that are still open */
	if (rc || run->pending_count < STORE_DIRS_BATCH - STORE_SPANS_MAX)
		return rc;
	run->paused = true;
	run->paused_span = item->span;
	buf_clear(&run->paused_at);
	buf_add(&run->paused_at, item->name, dir_len);
	return 1;
}

/* The span continues after all names of that directory, which comes again, folded. */
static void leave_dir(struct store_span *span, const struct buf *dir)
{
	buf_clear(&span->after);
	buf_add(&span->after, dir->data, dir->len_bytes);
	buf_clear(&span->expects);
	buf_add(&span->expects, dir->data, dir->len_bytes);
	buf_addch(&span->expects, '/');
}

/* After a walk: directories that ended with their span, and if they have too many names, those that
 * are left. 0, or as fn. */
static int close_dirs(struct run *run, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < run->spans.count && !rc; i++) {
		struct open_dir *current = &run->current[i];
		struct store_span *span = &run->spans.list[i];

		if (!current->open || !(span->done || run->crowded))
			continue;
		if (!span->done)
			leave_dir(span, &current->name);
		if (span->done || current->has_leaf) {
			rc = close_dir(run, current, err);
		} else {
			ask_later(run, buf_str(&current->name));
			current->open = false;
		}
	}
	return rc;
}

static int walk_all(struct run *run, struct err *err)
{
	const struct store_dirs *dirs = run->dirs;

	do {
		run->paused = run->crowded = false;
		if (dirs->walk(dirs->store, dirs->dir, &run->spans, run->delimited, on_name, run,
			       err))
			return -1;
		/* files of a page come before its directories, whatever their names */
		if (run->delimited && run->paused)
			leave_dir(&run->spans.list[run->paused_span], &run->paused_at);
		if (!run->ended && close_dirs(run, err) < 0)
			return -1;
		run->delimited = run->delimited || run->crowded;
		if (!run->ended && look_at_pending(run, err))
			return -1;
	} while ((run->paused || run->crowded) && !run->ended);
	return 0;
}

int store_dirs_list(const struct store_dirs *dirs, store_dir_fn fn, void *ctx, struct err *err)
{
	struct run *run = xcalloc(1, sizeof(*run));
	int rc;

	run->dirs = dirs;
	run->fn = fn;
	run->ctx = ctx;
	store_spans_init(&run->spans);
	rc = walk_all(run, err);
	for (size_t i = 0; i < STORE_SPANS_MAX; i++)
		buf_release(&run->current[i].name);
	store_spans_release(&run->spans);
	buf_release(&run->paused_at);
	buf_release(&run->pending);
	buf_release(&run->uri);
	free(run);
	return rc;
}

/* ---- all names ---- */

struct leaves {
	store_leaf_fn fn;
	void *ctx;
};

/* A URI with this path names this object and no other. */
static bool is_sayable_path(const char *path)
{
	size_t len;

	for (;; path += len + 1) {
		len = strcspn(path, "/");
		if (!is_sayable(path, len))
			return false;
		if (!path[len])
			return true;
	}
}

static int on_leaf(void *ctx, const struct store_dirs_name *item, struct err *err)
{
	const struct leaves *leaves = ctx;
	struct store_leaf leaf = {
		.name = item->name, .in_doubt = item->in_doubt, .stat = item->stat};
	size_t len = strlen(item->name);

	if (!item->stat.size_bytes && item->name[len - 1] == '/')
		return 0; /* it stands for a directory */
	leaf.odd = !is_sayable_path(item->name);
	return leaves->fn(leaves->ctx, &leaf, err);
}

int store_dirs_leaves(const struct store_dirs *dirs, store_leaf_fn fn, void *ctx, struct err *err)
{
	struct leaves leaves = {fn, ctx};
	struct store_spans *spans = xcalloc(1, sizeof(*spans));
	int rc;

	store_spans_init(spans);
	rc = dirs->walk(dirs->store, dirs->dir, spans, false, on_leaf, &leaves, err);
	store_spans_release(spans);
	free(spans);
	return rc;
}
