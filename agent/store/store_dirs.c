#include "store/store_dirs.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

struct run {
	const struct store_dirs *dirs;
	store_dir_fn fn;
	void *ctx;
	bool ended;     /* by fn */
	bool delimited; /* directories and leaves instead of all names */
	bool paused;    /* the walk continues after `after` once the batch was handled */
	struct buf after;

	/* the directory whose names are arriving; they arrive together */
	struct buf current;
	bool in_dir, has_leaf, in_doubt;
	struct store_stat stat;

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
		rc = store->ops->look_many(store, leaf_uri, run->pending_count, 0, on_look, run,
					   &why);
	run->pending_count = 0;
	buf_clear(&run->pending);
	if (!rc || run->ended)
		return 0;
	if (err)
		*err = why;
	return -1;
}

/* ---- the walk ---- */

/* The current directory is complete: hand it out or note it. */
static int close_current(struct run *run, struct err *err)
{
	struct store_dir dir = {.name = buf_str(&run->current), .leaf = STORE_LEAF_ABSENT};

	if (!run->in_dir)
		return 0;
	run->in_dir = false;
	run->closed++;
	if (run->has_leaf ? run->in_doubt : run->dirs->listing_lags) {
		ask_later(run, dir.name);
		return 0;
	}
	if (run->has_leaf) {
		dir.leaf = STORE_LEAF_PRESENT;
		dir.stat = run->stat;
	}
	return hand_out(run, &dir, err);
}

/* End this walk; the next one starts after that name, or after all names of that directory. */
static int pause_behind(struct run *run, const char *name, size_t len, bool directory)
{
	buf_clear(&run->after);
	buf_add(&run->after, name, len);
	if (directory)
		buf_addch(&run->after, '/' + 1);
	run->paused = true;
	return 1;
}

/* The current directory has too many names: after it, request directories only. */
static int go_delimited(struct run *run, const char *name, size_t dir_len, struct err *err)
{
	int rc;

	run->delimited = true;
	if (run->has_leaf) {
		rc = close_current(run, err);
		if (rc)
			return rc;
	} else {
		ask_later(run, buf_str(&run->current));
		run->in_dir = false;
	}
	return pause_behind(run, name, dir_len, true);
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
	int rc;

	run->names++;
	if (!run->in_dir || run->current.len_bytes != dir_len ||
	    memcmp(run->current.data, item->name, dir_len) != 0) {
		rc = close_current(run, err);
		if (rc)
			return rc;
		buf_clear(&run->current);
		buf_add(&run->current, item->name, dir_len);
		run->in_dir = true;
		run->has_leaf = run->in_doubt = false;
	}
	if (!strcmp(item->name + dir_len + 1, run->dirs->leaf)) {
		run->has_leaf = true;
		run->in_doubt = item->in_doubt;
		run->stat = item->stat;
	}
	return too_many(run) ? go_delimited(run, item->name, dir_len, err) : 0;
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
	/* one entry is reserved for the directory that is still open */
	if (!rc && run->pending_count >= STORE_DIRS_BATCH - 1)
		rc = pause_behind(run, item->name, run->delimited ? dir_len : strlen(item->name),
				  run->delimited);
	return rc;
}

static int walk_all(struct run *run, struct err *err)
{
	const struct store_dirs *dirs = run->dirs;

	do {
		run->paused = false;
		if (dirs->walk(dirs->store, dirs->dir, buf_str(&run->after), run->delimited,
			       on_name, run, err))
			return -1;
		if (!run->paused && !run->ended && close_current(run, err) < 0)
			return -1;
		if (!run->ended && look_at_pending(run, err))
			return -1;
	} while (run->paused && !run->ended);
	return 0;
}

int store_dirs_list(const struct store_dirs *dirs, store_dir_fn fn, void *ctx, struct err *err)
{
	struct run *run = xcalloc(1, sizeof(*run));
	int rc;

	run->dirs = dirs;
	run->fn = fn;
	run->ctx = ctx;
	rc = walk_all(run, err);
	buf_release(&run->after);
	buf_release(&run->current);
	buf_release(&run->pending);
	buf_release(&run->uri);
	free(run);
	return rc;
}
