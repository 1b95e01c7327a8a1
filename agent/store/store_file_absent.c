#include "store/store_file_absent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/packed.h"
#include "store/store_file_dir.h"

#define SEED                                                                                       \
	UINT64_C(0x6472657973746f72) /* a name that is taken for another is not absent: no harm */

void store_file_names_release(struct store_file_names *names)
{
	free(names->dir);
	free(names->hashes);
	*names = (struct store_file_names){0};
}

static int by_value(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static bool has_name(const struct store_file_names *names, const char *name)
{
	uint64_t hash = packed_hash(SEED, name, strlen(name));

	return names->count && bsearch(&hash, names->hashes, names->count, sizeof(hash), by_value);
}

static int take_name(void *ctx, int dir, const struct dirent *item, struct err *err)
{
	struct store_file_names *names = ctx;

	(void)dir;
	(void)err;
	if (names->count == names->cap) {
		names->cap = names->cap ? 2 * names->cap : 64;
		names->hashes = xreallocarray(names->hashes, names->cap, sizeof(*names->hashes));
	}
	names->hashes[names->count++] = packed_hash(SEED, item->d_name, strlen(item->d_name));
	return 0;
}

/* Takes the descriptor over. */
static int read_names(struct store_file_names *names, int fd, const char *dir, struct err *err)
{
	store_file_names_release(names);
	if (store_file_each(fd, dir, take_name, names, err) < 0) {
		store_file_names_release(names);
		return -1;
	}
	names->dir = xstrdup(dir);
	if (names->count)
		qsort(names->hashes, names->count, sizeof(*names->hashes), by_value);
	return 0;
}

/* The nearest directory that exists above `path`, which is cut to it; *ret_name: what it would have to list. */
static int open_above(char *path, const char **ret_name)
{
	for (;;) {
		char *slash = strrchr(path, '/');
		int fd;

		*slash = '\0';
		*ret_name = slash + 1;
		fd = open(slash == path ? "/" : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 || errno != ENOENT || slash == path)
			return fd;
	}
}

int store_file_absent(struct store_file_names *names, const char *what, const char *path,
		      struct err *err)
{
	cleanup_free char *dir = xstrdup(path);
	int sys = errno, fd;
	const char *name;

	if (sys == ENOTDIR)
		return err_set(err, ERR_SYS, sys, "%s %s", what, path);
	fd = open_above(dir, &name);
	if (fd < 0 && errno == ENOTDIR)
		return err_set(err, ERR_SYS, ENOTDIR, "%s %s", what, path);
	if (fd < 0)
		return store_file_fail(err, "open", *dir ? dir : "/");
	/* what it did not list when it was read, and is still absent, is absent */
	if (names->dir && !strcmp(names->dir, dir) && !has_name(names, name)) {
		close(fd);
		return err_set(err, ERR_ABSENT, sys, "%s %s", what, path);
	}
	if (read_names(names, fd, dir, err) < 0)
		return -1;
	/* MUT: a file that its directory lists is absent if it answers ENOENT */
	if (has_name(names, name))
		return err_set(err, ERR_CONTRADICTED, sys, "%s lists '%s', but %s %s",
			       *dir ? dir : "/", name, what, path);
	return err_set(err, ERR_ABSENT, sys, "%s %s", what, path);
}

struct search {
	const char *name;
	long left;
	bool found;
};

static int search_name(void *ctx, int dir, const struct dirent *item, struct err *err)
{
	struct search *search = ctx;

	(void)dir;
	(void)err;
	search->found = !strcmp(item->d_name, search->name);
	return search->found || !--search->left;
}

static bool is_among(int dir, const char *sub, const char *name, long most)
{
	struct search search = {.name = name, .left = most};
	int fd = openat(dir, sub, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)store_file_each(fd, sub, search_name, &search, NULL);
	return search.found;
}

bool store_file_lists(int dir, const char *sub, const char *name)
{
	return is_among(dir, sub, name, STORE_FILE_FEW);
}

int store_file_vanished(int dir, const char *name, struct err *err)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 1;
	if (!is_among(dir, ".", name, LONG_MAX))
		return 0;
	return err_set(err, ERR_CONTRADICTED, ENOENT, "'%s' is listed, but stat", name);
}
