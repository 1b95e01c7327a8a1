/* store_file: local directories, including network file systems. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/store_file_absent.h"
#include "store/store_file_dir.h"
#include "store/store_file_object.h"
#include "store/store_file_tree.h"

struct file_store {
	struct store base;
	struct store_file_names names;
};

struct file_stream {
	struct store_stream base;
	int fd;
	char *path;
};

static int check_authority(const struct uri *uri, struct err *err)
{
	if (uri->authority[0])
		return err_set(
			err, ERR_CONFIG, 0,
			"file://%s%s names the machine '%s'; write a local path as file:///%s%s",
			uri->authority, uri->path, uri->authority, uri->authority, uri->path);
	return 0;
}

static int file_open(const struct store_config *config, const struct uri *uri, struct store **ret,
		     struct err *err)
{
	struct file_store *files = xcalloc(1, sizeof(*files));

	(void)config;
	(void)uri;
	(void)err;
	*ret = &files->base;
	return 0;
}

static void file_close(struct store *store)
{
	struct file_store *files = (struct file_store *)store;

	store_file_names_release(&files->names);
	free(files);
}

/* Of a system call that has failed just now. */
static int file_failure(struct store *store, const char *what, const char *path, struct err *err)
{
	struct file_store *files = (struct file_store *)store;

	if (errno == ENOENT || errno == ENOTDIR)
		return store_file_absent(&files->names, what, path, err);
	return store_file_fail(err, what, path);
}

static int not_a_file(struct err *err, const struct stat *st, const char *path)
{
	return err_set(err, ERR_FORMAT, 0, "%s is %s", path,
		       S_ISDIR(st->st_mode) ? "a directory, not a file" : "not a regular file");
}

static int file_stat(struct store *store, const struct uri *uri, struct store_stat *ret,
		     struct err *err)
{
	struct err why = {0};
	struct stat st;
	int rc = stat(uri->path, &st);

	if (rc) {
		file_failure(store, "stat", uri->path, &why);
		/* it may have been made between the two answers */
		if (why.kind == ERR_CONTRADICTED)
			rc = stat(uri->path, &st);
	}
	if (rc)
		return err_pass(err, &why);
	if (!S_ISREG(st.st_mode))
		return not_a_file(err, &st, uri->path);
	*ret = store_file_stat(&st);
	return 0;
}

/* Retry once when the file disappeared between readdir and stat: it may have been replaced. */
static int stat_at(int dir, const char *name, struct stat *ret)
{
	int rc = fstatat(dir, name, ret, 0);

	if (rc && errno == ENOENT)
		rc = fstatat(dir, name, ret, 0);
	return rc;
}

/* The results 1 and -1 of `each` end the walk. */
static int walk(struct store *store, const char *path,
		int (*each)(void *ctx, int dir, const struct dirent *item, struct err *err),
		void *ctx, struct err *err)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return file_failure(store, "list", path, err);
	return store_file_each(fd, path, each, ctx, err) < 0 ? -1 : 0;
}

struct list_call {
	store_entry_fn fn;
	void *ctx;
	const char *path;
};

static int list_one(void *ctx, int dir, const struct dirent *item, struct err *err)
{
	const struct list_call *call = ctx;
	struct store_entry entry = {.name = item->d_name};
	struct stat st;

	if (stat_at(dir, item->d_name, &st)) {
		int gone = errno == ENOENT ? store_file_vanished(dir, item->d_name, err)
					   : store_file_fail(err, "stat", item->d_name);

		if (gone < 0)
			return err_wrap(err, "list %s", call->path);
		if (!gone)
			return 0;
		/* a link to nothing: whoever looks into it learns so */
		st = (struct stat){.st_mode = S_IFDIR};
	}
	if (S_ISDIR(st.st_mode))
		entry.is_prefix = true;
	else if (S_ISREG(st.st_mode))
		entry.stat = store_file_stat(&st);
	else
		return 0;
	return call->fn(call->ctx, &entry, err);
}

static int file_list(struct store *store, const struct uri *uri, store_entry_fn fn, void *ctx,
		     struct err *err)
{
	struct list_call call = {fn, ctx, uri->path};

	return walk(store, uri->path, list_one, &call, err);
}

struct dirs_call {
	store_dir_fn fn;
	void *ctx;
	const char *path, *leaf;
};

/* -1 with *err set, 0 not a directory (or deleted), 1 a directory without the leaf. */
static int look_at_dir(const struct dirs_call *call, int dir, struct store_dir *found,
		       struct err *why, struct err *err)
{
	struct stat st;
	int gone;

	if (!stat_at(dir, found->name, &st))
		return S_ISDIR(st.st_mode);
	gone = errno == ENOENT ? store_file_vanished(dir, found->name, err)
			       : store_file_fail(err, "stat", found->name);
	if (gone < 0)
		return err_wrap(err, "list %s", call->path);
	if (gone) {
		found->leaf = STORE_LEAF_UNREADABLE;
		found->why = why;
		err_set(why, ERR_RETRY, ENOENT, "%s/%s is a symbolic link to nothing", call->path,
			found->name);
	}
	return gone;
}

/* The leaf has answered ENOENT: is it listed all the same? It may have been made meanwhile. */
static void doubt_leaf(const struct dirs_call *call, int dir, const char *inner,
		       struct store_dir *found, struct err *why)
{
	struct stat st;

	if (found->leaf != STORE_LEAF_ABSENT || !store_file_lists(dir, found->name, call->leaf))
		return;
	if (!stat_at(dir, inner, &st) && S_ISREG(st.st_mode)) {
		found->leaf = STORE_LEAF_PRESENT;
		found->stat = store_file_stat(&st);
		return;
	}
	found->leaf = STORE_LEAF_UNREADABLE;
	found->why = why;
	err_set(why, ERR_CONTRADICTED, ENOENT, "%s/%s lists '%s', but stat", call->path,
		found->name, call->leaf);
}

static int list_one_dir(void *ctx, int dir, const struct dirent *item, struct err *err)
{
	const struct dirs_call *call = ctx;
	struct store_dir found = {.name = item->d_name};
	cleanup_free char *inner = NULL;
	struct err why = {0};
	struct stat st;
	int is_dir;

	if (item->d_type == DT_REG)
		return 0;
	inner = xasprintf("%s/%s", item->d_name, call->leaf);
	found.leaf = STORE_LEAF_ABSENT;
	if (!stat_at(dir, inner, &st)) {
		if (S_ISREG(st.st_mode)) {
			found.leaf = STORE_LEAF_PRESENT;
			found.stat = store_file_stat(&st);
		}
		return call->fn(call->ctx, &found, err);
	}
	if (errno == ENOTDIR)
		return 0;
	if (errno != ENOENT) {
		found.leaf = STORE_LEAF_UNREADABLE;
		found.why = &why;
		store_file_fail(&why, "stat", inner);
		err_wrap(&why, "%s", call->path);
	}
	is_dir = look_at_dir(call, dir, &found, &why, err);
	if (is_dir > 0)
		doubt_leaf(call, dir, inner, &found, &why);
	return is_dir > 0 ? call->fn(call->ctx, &found, err) : is_dir;
}

static int file_list_dirs(struct store *store, const struct uri *uri, const char *leaf,
			  store_dir_fn fn, void *ctx, struct err *err)
{
	struct dirs_call call = {fn, ctx, uri->path, leaf};

	return walk(store, uri->path, list_one_dir, &call, err);
}

static int file_read_open(struct store *store, const struct uri *uri, int64_t offset,
			  struct store_stream **ret, struct err *err)
{
	/* O_NONBLOCK: do not block on a FIFO at the path of a file; no effect on files. */
	cleanup_close int fd = open(uri->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct file_stream *stream;
	struct stat st;

	if (fd < 0)
		return file_failure(store, "open", uri->path, err);
	if (fstat(fd, &st))
		return store_file_fail(err, "stat", uri->path);
	if (!S_ISREG(st.st_mode))
		return not_a_file(err, &st, uri->path);
	if (offset && lseek(fd, offset, SEEK_SET) < 0)
		return store_file_fail(err, "seek in", uri->path);
	stream = xcalloc(1, sizeof(*stream));
	stream->base.size_bytes = st.st_size > offset ? st.st_size - offset : 0;
	stream->fd = fd;
	stream->path = xstrdup(uri->path);
	fd = -1;
	*ret = &stream->base;
	return 0;
}

static int file_read(struct store_stream *base, void *buf, size_t len_bytes, size_t *ret_len_bytes,
		     struct err *err)
{
	struct file_stream *stream = (struct file_stream *)base;
	ssize_t got;

	do
		got = read(stream->fd, buf, len_bytes);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return store_file_fail(err, "read", stream->path);
	*ret_len_bytes = (size_t)got;
	return 0;
}

static void file_read_close(struct store_stream *base)
{
	struct file_stream *stream = (struct file_stream *)base;

	close(stream->fd);
	free(stream->path);
	free(stream);
}

static int file_list_tree(struct store *store, const struct uri *uri, store_leaf_fn fn, void *ctx,
			  struct err *err)
{
	if (access(uri->path, F_OK))
		return file_failure(store, "list", uri->path, err);
	return store_file_list_tree(store, uri, fn, ctx, err);
}

static int file_delete_many(struct store *store, store_uri_fn uri, size_t count,
			    store_deleted_fn fn, void *ctx, struct err *err)
{
	struct store_file_dir dir = {0};
	int ended = 0;

	for (size_t i = 0; i < count && !ended; i++) {
		const char *text = uri(ctx, i);
		struct uri parsed = {0};
		struct err why = {0};
		int rc = -1;

		if (store_parse_for(store, text, &parsed, &why) == 0)
			rc = store_file_delete(&dir, parsed.path, &why);
		uri_release(&parsed);
		ended = fn(ctx, i, rc ? &why : NULL, err) < 0 ? -1 : 0;
	}
	store_file_dir_close(&dir);
	return ended;
}

static const char *const schemes[] = {"file", NULL};

const struct store_ops store_file_ops = {
	.schemes = schemes,
	.list_page = 1,
	.absence = "no such file",
	.check_authority = check_authority,
	.open = file_open,
	.close = file_close,
	.stat = file_stat,
	.list = file_list,
	.list_dirs = file_list_dirs,
	.list_tree = file_list_tree,
	.delete_many = file_delete_many,
	.remove_empty = store_file_remove_empty,
	.read_open = file_read_open,
	.read = file_read,
	.read_close = file_read_close,
	.object_read = store_file_object_read,
	.object_put = store_file_object_put,
};
