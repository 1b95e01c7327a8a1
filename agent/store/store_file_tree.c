#include "store/store_file_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

static int store_file_tree_fail(struct err *err, const char *what, const char *path)
{
	int sys = errno;

	return err_set(err, err_kind_of_errno(sys), sys, "%s %s", what, path);
}

/* One walk through a directory and all below it. */
struct walk {
	const char *top;
	struct buf name; /* of the current directory, relative to it: "", "shared/" */
	int depth;
	store_leaf_fn fn; /* NULL: empty directories are removed */
	void *ctx;
	bool left; /* something is left in the directory that was walked last */
};

static int walk_dir(struct walk *walk, int parent, const char *name, struct err *err);

static int pass_leaf(struct walk *walk, const char *name, const struct stat *st, struct err *err)
{
	size_t len = walk->name.len_bytes;
	struct store_leaf leaf = {.odd = !S_ISREG(st->st_mode)};
	int rc;

	leaf.stat = (struct store_stat){
		.size_bytes = st->st_size,
		.mtime_unix_ms = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000,
	};
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

static int walk_item(struct walk *walk, int dir, const char *name, bool *left, struct err *err)
{
	struct stat st;
	int rc;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW)) {
		if (errno == ENOENT)
			return 0; /* deleted meanwhile */
		return store_file_tree_fail(err, "stat", name);
	}
	if (!S_ISDIR(st.st_mode)) {
		*left = true;
		return walk->fn ? pass_leaf(walk, name, &st, err) : 0;
	}
	rc = enter(walk, dir, name, err);
	/* one that is not empty by now stays */
	if (rc || walk->fn || walk->left || unlinkat(dir, name, AT_REMOVEDIR))
		*left = true;
	return rc;
}

static int walk_dir(struct walk *walk, int parent, const char *name, struct err *err)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct dirent *item;
	bool left = false;
	DIR *dir;
	int rc = 0;

	if (fd < 0 && errno == ENOENT && walk->depth) {
		walk->left = false;
		return 0;
	}
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		store_file_tree_fail(err, "list", name);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (!rc) {
		errno = 0;
		item = readdir(dir);
		if (!item) {
			rc = errno ? store_file_tree_fail(err, "list", name) : 0;
			break;
		}
		if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0)
			rc = walk_item(walk, dirfd(dir), item->d_name, &left, err);
	}
	closedir(dir);
	walk->left = left;
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
		return store_file_tree_fail(err, "remove", uri->path);
	return rc;
}

int store_file_delete(const char *path, struct err *err)
{
	if (unlink(path) && errno != ENOENT)
		return store_file_tree_fail(err, "delete", path);
	return 0;
}
