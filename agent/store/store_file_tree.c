#include "store/store_file_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/store_file_absent.h"
#include "store/store_file_dir.h"

/* One walk through a directory and all below it. */
struct walk {
	const char *top;
	struct buf name; /* of the current directory, relative to it: "", "shared/" */
	int depth;
	store_leaf_fn fn; /* NULL: empty directories are removed */
	void *ctx;
	bool left; /* something is left in the directory that was walked last */
};

/* One directory of it. */
struct level {
	struct walk *walk;
	bool left; /* something is left in it */
};

static int walk_dir(struct walk *walk, int parent, const char *name, struct err *err);

static int pass_leaf(struct walk *walk, const char *name, const struct stat *st, struct err *err)
{
	size_t len = walk->name.len_bytes;
	struct store_leaf leaf = {.stat = store_file_stat(st), .odd = !S_ISREG(st->st_mode)};
	int rc;

	buf_addstr(&walk->name, name);
	leaf.name = buf_str(&walk->name);
	rc = walk->fn(walk->ctx, &leaf, err);
	walk->name.len_bytes = len;
	walk->name.data[len] = '\0';
	return rc;
}

/* A directory in the current one. */
static int enter(struct walk *walk, int dir, const char *name, struct err *err)
{
	size_t len = walk->name.len_bytes;
	int rc;

	if (walk->depth == STORE_FILE_TREE_DEPTH)
		return err_set(err, ERR_FORMAT, 0,
			       "%s/%s%s: too many directories inside each other", walk->top,
			       buf_str(&walk->name), name);
	buf_addf(&walk->name, "%s/", name);
	walk->depth++;
	rc = walk_dir(walk, dir, name, err);
	walk->depth--;
	walk->name.len_bytes = len;
	walk->name.data[len] = '\0';
	return rc;
}

static int walk_item(void *ctx, int dir, const struct dirent *item, struct err *err)
{
	const char *name = item->d_name;
	struct level *level = ctx;
	struct walk *walk = level->walk;
	struct stat st;
	int rc;

	/* a directory that is emptied is not asked for its files */
	if (!walk->fn && item->d_type != DT_UNKNOWN && item->d_type != DT_DIR) {
		level->left = true;
		return 0;
	}
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
		return errno == ENOENT ? store_file_vanished(dir, name, err)
				       : store_file_fail(err, "stat", name);
	}
	if (!S_ISDIR(st.st_mode)) {
		level->left = true;
		return walk->fn ? pass_leaf(walk, name, &st, err) : 0;
	}
	rc = enter(walk, dir, name, err);
	/* one that is not empty by now stays */
	if (rc || walk->fn || walk->left || unlinkat(dir, name, AT_REMOVEDIR))
		level->left = true;
	return rc;
}

static int walk_dir(struct walk *walk, int parent, const char *name, struct err *err)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct level level = {.walk = walk};
	int rc;

	if (fd < 0 && errno == ENOENT && walk->depth) {
		walk->left = false;
		return 0;
	}
	rc = store_file_each(fd, name, walk_item, &level, err);
	walk->left = level.left;
	return rc;
}

int store_file_list_tree(struct store *store, const struct uri *uri, store_leaf_fn fn, void *ctx,
			 struct err *err)
{
	struct walk walk = {.top = uri->path, .fn = fn, .ctx = ctx};
	int rc;

	(void)store;
	buf_addstr(&walk.name, "");
	rc = walk_dir(&walk, AT_FDCWD, uri->path, err);
	buf_release(&walk.name);
	return rc < 0 ? -1 : 0;
}

int store_file_remove_empty(struct store *store, const struct uri *uri, struct err *err)
{
	struct walk walk = {.top = uri->path};
	int rc;

	(void)store;
	buf_addstr(&walk.name, "");
	rc = walk_dir(&walk, AT_FDCWD, uri->path, err);
	buf_release(&walk.name);
	if (!rc && !walk.left && rmdir(uri->path) && errno != ENOTEMPTY && errno != ENOENT)
		return store_file_fail(err, "remove", uri->path);
	return rc;
}

int store_file_delete(struct store_file_dir *dir, const char *path, struct err *err)
{
	const char *name = strrchr(path, '/') + 1;
	size_t len = (size_t)(name - path);

	if (!dir->path || strncmp(dir->path, path, len) != 0 || dir->path[len]) {
		store_file_dir_close(dir);
		dir->path = xstrndup(path, len);
		dir->fd = open(dir->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	/* without it the whole path says why */
	if ((dir->fd < 0 ? unlink(path) : unlinkat(dir->fd, name, 0)) && errno != ENOENT)
		return store_file_fail(err, "delete", path);
	return 0;
}

void store_file_dir_close(struct store_file_dir *dir)
{
	if (dir->path && dir->fd >= 0)
		close(dir->fd);
	free(dir->path);
	dir->path = NULL;
}
