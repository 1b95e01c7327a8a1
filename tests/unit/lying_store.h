/*
 * lying_store - an object store and a file system in memory that lie in named ways. Header-only: it takes
 * the place of store_s3_ops and store_file_ops in the test that includes it, so all of agent/store above the
 * schemes, agent/run/observe and agent/run/gc run on it as they are.
 *
 *   lake_init(&lake, directories)   then lake.config is what store_open() gets
 *   lake_put() ..., lake_drop()     each change is a tick: the lake remembers what it was before
 *   lake.lie = (struct lie){...}    from then on answers are false
 *   lake_release(&lake)
 *
 * Names are paths: "/top/ck/<job id>/chk-7/_metadata", in any bucket.
 */
#ifndef DREY_TESTS_LYING_STORE_H
#define DREY_TESTS_LYING_STORE_H

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/store_ops.h"

#define LAKE_FN static inline __attribute__((unused))

enum ask { ASK_LIST = 1, ASK_STAT = 2, ASK_READ = 4, ASK_ALL = 7 };

enum lie_kind {
	LIE_NONE,
	LIE_GONE,  /* single requests for names with this beginning: 404, against the listing */
	LIE_STALE, /* what the lake was at an earlier tick */
	LIE_CUT,   /* a listing ends before this name, and says that it is complete */
	LIE_EMPTY, /* a listing of what is below this name is empty */
	LIE_SHORT, /* the body of this file ends early */
	LIE_OTHER, /* a listing of this directory is the one of another directory: `other` */
	LIE_GHOST, /* this file, which was deleted, is still there, with its size */
};

struct lie {
	enum lie_kind kind;
	int asks;        /* of enum ask */
	char name[160];  /* the beginning of names that it concerns */
	char other[160]; /* LIE_OTHER */
	int64_t tick;    /* STALE */
	int honest;      /* so many requests are answered truly first */
	int most;        /* then so many falsely, if they are about it; 0: all */
	int told;        /* how many answers were false */
};

struct lake_file {
	char *name;
	char *bytes; /* NULL: never read */
	size_t len_bytes;
	int64_t size_bytes, unix_ms;
	int64_t born, died; /* ticks; died 0: it is there */
	bool shown,
		denied; /* since lake_forget(): answers said that it is there, or, falsely, that it is not */
};

struct lake {
	struct store_config config; /* the first member: a store finds its lake by it */
	struct lake_file *files;
	size_t count;
	int64_t tick;
	bool directories; /* a file system: what is missing has a name */
	struct lie lie;
	int requests;
};

struct lake_store {
	struct store base;
	struct lake *lake;
};

struct lake_stream {
	struct store_stream base;
	const struct lake_file *file;
	size_t at, end;
};

/* ---- the truth ---- */

LAKE_FN void lake_init(struct lake *lake, bool directories)
{
	*lake = (struct lake){.directories = directories, .tick = 1};
}

LAKE_FN void lake_release(struct lake *lake)
{
	for (size_t i = 0; i < lake->count; i++) {
		free(lake->files[i].name);
		free(lake->files[i].bytes);
	}
	free(lake->files);
	*lake = (struct lake){0};
}

/* The file that is there; NULL = there is none. */
LAKE_FN struct lake_file *lake_find(const struct lake *lake, const char *name)
{
	for (size_t i = lake->count; i-- > 0;)
		if (!lake->files[i].died && !strcmp(lake->files[i].name, name))
			return &lake->files[i];
	return NULL;
}

/* Takes `bytes`; NULL: a file of which only the size is known. Replaces what is there. */
LAKE_FN void lake_put(struct lake *lake, const char *name, const char *bytes, size_t len_bytes,
		      int64_t unix_ms)
{
	struct lake_file *old = lake_find(lake, name), *file;

	lake->tick++;
	if (old)
		old->died = lake->tick;
	if ((lake->count & (lake->count - 1)) == 0)
		lake->files = xreallocarray(lake->files, lake->count ? 2 * lake->count : 1,
					    sizeof(*lake->files));
	file = &lake->files[lake->count++];
	*file = (struct lake_file){.name = xstrdup(name),
				   .len_bytes = bytes ? len_bytes : 0,
				   .size_bytes = (int64_t)len_bytes,
				   .unix_ms = unix_ms,
				   .born = lake->tick};
	if (bytes) {
		file->bytes = xcalloc(len_bytes + 1, 1);
		memcpy(file->bytes, bytes, len_bytes);
	}
}

LAKE_FN void lake_drop(struct lake *lake, const char *name)
{
	struct lake_file *file = lake_find(lake, name);

	if (file)
		file->died = ++lake->tick;
}

LAKE_FN void lake_forget(struct lake *lake)
{
	lake->requests = 0;
	for (size_t i = 0; i < lake->count; i++)
		lake->files[i].shown = lake->files[i].denied = false;
}

/* ---- what is said ---- */

LAKE_FN bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

LAKE_FN bool lies_now(struct lake *lake, enum ask ask)
{
	const struct lie *lie = &lake->lie;

	return lie->kind && (lie->asks & (int)ask) && lake->requests > lie->honest &&
	       (!lie->most || lake->requests <= lie->honest + lie->most);
}

LAKE_FN bool was_there(const struct lake_file *file, int64_t tick)
{
	return file->born <= tick && (!file->died || file->died > tick);
}

/* Is this file in the answer? */
LAKE_FN bool lake_says(const struct lake *lake, const struct lake_file *file, bool truth)
{
	const struct lie *lie = &lake->lie;
	bool said = truth;

	switch (lie->kind) {
	case LIE_GONE:
	case LIE_EMPTY:
		said = truth && !begins(file->name, lie->name);
		break;
	case LIE_STALE:
		said = begins(file->name, lie->name) ? was_there(file, lie->tick) : truth;
		break;
	case LIE_CUT:
		said = truth && strcmp(file->name, lie->name) < 0;
		break;
	case LIE_GHOST:
		said = truth || (file->died && !strcmp(file->name, lie->name));
		break;
	case LIE_NONE:
	case LIE_SHORT:
	case LIE_OTHER:
		break;
	}
	return said;
}

LAKE_FN bool lake_shows(struct lake *lake, enum ask ask, struct lake_file *file)
{
	bool truth = was_there(file, lake->tick);
	bool said = lies_now(lake, ask) ? lake_says(lake, file, truth) : truth;

	lake->lie.told += said != truth;
	file->shown |= truth && said;
	file->denied |= truth && !said;
	return said;
}

LAKE_FN struct lake_file *lake_answer(struct lake *lake, enum ask ask, const char *name)
{
	for (size_t i = lake->count; i-- > 0;)
		if (!strcmp(lake->files[i].name, name) && lake_shows(lake, ask, &lake->files[i]))
			return &lake->files[i];
	return NULL;
}

/* ---- as a scheme ---- */

LAKE_FN struct lake *lake_of(struct store *store)
{
	struct lake_store *own = (struct lake_store *)store;

	own->lake->requests++;
	return own->lake;
}

LAKE_FN struct store_stat lake_stat_of(const struct lake_file *file)
{
	return (struct store_stat){.size_bytes = file->size_bytes, .mtime_unix_ms = file->unix_ms};
}

static int lake_open(const struct store_config *config, const struct uri *uri, struct store **ret,
		     struct err *err)
{
	struct lake_store *store = xcalloc(1, sizeof(*store));

	(void)uri;
	(void)err;
	store->lake = (struct lake *)(uintptr_t)config;
	*ret = &store->base;
	return 0;
}

static void lake_close(struct store *store)
{
	free(store);
}

LAKE_FN bool lake_is_dir(struct lake *lake, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < lake->count && lake->directories; i++)
		if (begins(lake->files[i].name, path) && lake->files[i].name[len] == '/' &&
		    was_there(&lake->files[i], lake->tick))
			return true;
	return false;
}

static int lake_stat(struct store *store, const struct uri *uri, struct store_stat *ret,
		     struct err *err)
{
	struct lake *lake = lake_of(store);
	const struct lake_file *file = lake_answer(lake, ASK_STAT, uri->path);

	if (!file)
		return err_set(err, lake_is_dir(lake, uri->path) ? ERR_FORMAT : ERR_ABSENT, 0,
			       "%s: not found", uri->path);
	*ret = lake_stat_of(file);
	return 0;
}

static int by_name(const void *left, const void *right)
{
	const struct lake_file *const *a = left, *const *b = right;

	return strcmp((*a)->name, (*b)->name);
}

/* Everything below a directory, in the order of names; the caller frees. Without any: *ret_count is 0, and
 * NULL when there is no such directory. `leaf`:
 * files deeper than one level are told only if that is their name; NULL: all are. */
static const struct lake_file **lake_below(struct lake *lake, const char *dir, const char *leaf,
					   char prefix[400], size_t *ret_count)
{
	const struct lake_file **all = xcalloc(lake->count + 1, sizeof(struct lake_file *));
	bool there = false, shown;

	snprintf(prefix, 400, "%s/", strcmp(dir, "/") != 0 ? dir : "");
	if (lies_now(lake, ASK_LIST) && lake->lie.kind == LIE_OTHER &&
	    begins(dir, lake->lie.name)) {
		for (size_t i = 0; i < lake->count; i++)
			lake->files[i].denied |= was_there(&lake->files[i], lake->tick) &&
						 begins(lake->files[i].name, prefix);
		snprintf(prefix, 400, "%s/", lake->lie.other);
		lake->lie.told++;
	}
	*ret_count = 0;
	for (size_t i = 0; i < lake->count; i++) {
		struct lake_file *file = &lake->files[i];

		if (!begins(file->name, prefix))
			continue;
		there = there || file->born;
		shown = file->shown;
		if (lake_shows(lake, ASK_LIST, file))
			all[(*ret_count)++] = file;
		/* the caller is told of no more than these */
		if (leaf && strcmp(strrchr(file->name, '/') + 1, leaf) != 0 &&
		    strchr(file->name + strlen(prefix), '/'))
			file->shown = shown;
	}
	if (*ret_count)
		qsort(all, *ret_count, sizeof(struct lake_file *), by_name);
	/* an emptied directory stays */
	if (*ret_count || (lake->directories && there))
		return all;
	free(all);
	return NULL;
}

static int lake_list(struct store *store, const struct uri *uri, store_entry_fn fn, void *ctx,
		     struct err *err)
{
	const struct lake_file **all;
	char prefix[400], last[300] = "";
	size_t count;
	int rc = 0;

	all = lake_below(lake_of(store), uri->path, "", prefix, &count);
	if (!all)
		return err_set(err, ERR_ABSENT, 0, "%s: not found", uri->path);
	for (size_t i = 0; i < count && !rc; i++) {
		const char *rest = all[i]->name + strlen(prefix);
		size_t len = strcspn(rest, "/");
		struct store_entry entry = {.is_prefix = rest[len] == '/'};

		if (strlen(last) == len && !strncmp(last, rest, len))
			continue;
		snprintf(last, sizeof(last), "%.*s", (int)len, rest);
		entry.name = last;
		if (!entry.is_prefix)
			entry.stat = lake_stat_of(all[i]);
		rc = fn(ctx, &entry, err);
	}
	free(all);
	return rc < 0 ? -1 : 0;
}

static int lake_list_dirs(struct store *store, const struct uri *uri, const char *leaf,
			  store_dir_fn fn, void *ctx, struct err *err)
{
	const struct lake_file **all;
	char prefix[400], name[300];
	size_t count, next;
	int rc = 0;

	all = lake_below(lake_of(store), uri->path, leaf, prefix, &count);
	if (!all)
		return err_set(err, ERR_ABSENT, 0, "%s: not found", uri->path);
	for (size_t i = 0; i < count && !rc; i = next) {
		const char *rest = all[i]->name + strlen(prefix);
		size_t len = strcspn(rest, "/");
		struct store_dir dir = {.name = name, .leaf = STORE_LEAF_ABSENT};

		snprintf(name, sizeof(name), "%.*s", (int)len, rest);
		for (next = i; next < count; next++) {
			const char *other = all[next]->name + strlen(prefix);

			if (strncmp(other, rest, len + 1) != 0)
				break;
			dir.has_names = true;
			if (other[len] == '/' && !strcmp(other + len + 1, leaf)) {
				dir.leaf = STORE_LEAF_PRESENT;
				dir.stat = lake_stat_of(all[next]);
			}
		}
		if (rest[len] == '/')
			rc = fn(ctx, &dir, err);
	}
	free(all);
	return rc < 0 ? -1 : 0;
}

static int lake_list_tree(struct store *store, const struct uri *uri, store_leaf_fn fn, void *ctx,
			  struct err *err)
{
	const struct lake_file **all;
	char prefix[400];
	size_t count;
	int rc = 0;

	all = lake_below(lake_of(store), uri->path, NULL, prefix, &count);
	if (!all)
		return err_set(err, ERR_ABSENT, 0, "%s: not found", uri->path);
	for (size_t i = 0; i < count && !rc; i++) {
		struct store_leaf entry = {.name = all[i]->name + strlen(prefix),
					   .stat = lake_stat_of(all[i])};

		rc = fn(ctx, &entry, err);
	}
	free(all);
	return rc < 0 ? -1 : 0;
}

/* What is below a directory is not shown by its name. */
static int lake_named(struct store *store, const struct uri *uri, bool deep,
		      struct store_named *ret, struct err *err)
{
	struct lake *lake = lake_of(store);
	cleanup_free char *other = xasprintf("%s%s", lake->lie.other, strrchr(uri->path, '/'));
	bool lies = lies_now(lake, ASK_LIST) && lake->lie.kind == LIE_OTHER &&
		    begins(uri->path, lake->lie.name);
	const char *path = lies ? other : uri->path;
	size_t len = strlen(path);

	(void)err;
	lake->lie.told += lies;
	*ret = (struct store_named){0};
	for (size_t i = 0; i < lake->count; i++) {
		struct lake_file *file = &lake->files[i];
		bool shown = file->shown;

		if (lies && was_there(file, lake->tick) && begins(file->name, uri->path))
			file->denied = true;
		if (!begins(file->name, path) || (file->name[len] && file->name[len] != '/') ||
		    !lake_shows(lake, ASK_LIST, file))
			continue;
		*(file->name[len] ? &ret->dir : &ret->file) = true;
		if (file->name[len] && !deep)
			file->shown = shown;
	}
	return 0;
}

static int lake_delete_many(struct store *store, store_uri_fn uri, size_t count,
			    store_deleted_fn fn, void *ctx, struct err *err)
{
	struct lake *lake = ((struct lake_store *)store)->lake;

	for (size_t i = 0; i < count; i++) {
		struct uri parsed = {0};
		struct err why = {0};

		if (uri_parse(uri(ctx, i), &parsed, &why) == 0)
			lake_drop(lake, parsed.path);
		uri_release(&parsed);
		if (fn(ctx, i, why.kind ? &why : NULL, err) < 0)
			return -1;
	}
	return 0;
}

static int lake_read_open(struct store *store, const struct uri *uri, int64_t offset,
			  struct store_stream **ret, struct err *err)
{
	struct lake *lake = lake_of(store);
	struct lake_file *file = lake_answer(lake, ASK_READ, uri->path);
	struct lake_stream *stream;

	if (!file)
		return err_set(err, ERR_ABSENT, 0, "%s: not found", uri->path);
	stream = xcalloc(1, sizeof(*stream));
	*stream = (struct lake_stream){
		.base.size_bytes = (int64_t)file->len_bytes - offset,
		.file = file,
		.at = (size_t)offset,
		.end = file->len_bytes,
	};
	if (lies_now(lake, ASK_READ) && lake->lie.kind == LIE_SHORT &&
	    begins(file->name, lake->lie.name)) {
		stream->end = file->len_bytes / 2;
		stream->base.size_bytes = (int64_t)stream->end - offset;
		file->denied = true;
		lake->lie.told++;
	}
	*ret = &stream->base;
	return 0;
}

static int lake_read(struct store_stream *base, void *buf, size_t len_bytes, size_t *ret_len_bytes,
		     struct err *err)
{
	struct lake_stream *stream = (struct lake_stream *)base;
	size_t left = stream->at < stream->end ? stream->end - stream->at : 0;

	(void)err;
	*ret_len_bytes = left < len_bytes ? left : len_bytes;
	memcpy(buf, stream->file->bytes + stream->at, *ret_len_bytes);
	stream->at += *ret_len_bytes;
	return 0;
}

static void lake_read_close(struct store_stream *base)
{
	free(base);
}

#define LAKE_OPS(names, page, ...)                                                                 \
	{                                                                                          \
		.schemes = (names), .list_page = (page), .open = lake_open, .close = lake_close,   \
		.stat = lake_stat, .list = lake_list, .list_dirs = lake_list_dirs,                 \
		.list_tree = lake_list_tree, .delete_many = lake_delete_many,                      \
		__VA_ARGS__.read_open = lake_read_open, .read = lake_read,                         \
		.read_close = lake_read_close,                                                     \
	}

static const char *const lake_s3[] = {"s3", "s3a", "s3p", NULL};
static const char *const lake_file_scheme[] = {"file", NULL};
const struct store_ops store_s3_ops =
	LAKE_OPS(lake_s3, 1000, .named = lake_named, .lists_ghosts = true, );
const struct store_ops store_file_ops = LAKE_OPS(lake_file_scheme, 1, );

#endif
