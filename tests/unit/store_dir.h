/* store_dir - a temporary directory for tests of stores. Header-only. */
#ifndef DREY_TESTS_STORE_DIR_H
#define DREY_TESTS_STORE_DIR_H

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tap.h"

#define DIR_FN static inline __attribute__((unused))

/* Caller frees and removes with dir_remove(). */
DIR_FN char *dir_new(void)
{
	const char *tmp = getenv("TMPDIR");
	char *path = xasprintf("%s/drey-test-XXXXXX", tmp ? tmp : "/tmp");

	CHECK(mkdtemp(path) != NULL);
	return path;
}

DIR_FN int dir_remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

DIR_FN void dir_removep(char **path)
{
	nftw(*path, dir_remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(*path);
}

#define cleanup_dir __attribute__((cleanup(dir_removep)))

/* Create the directories above top/name. */
DIR_FN char *dir_path(const char *top, const char *name)
{
	char *path = xasprintf("%s/%s", top, name);

	for (char *p = path + strlen(top) + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(path, 0755);
			*p = '/';
		}
	return path;
}

DIR_FN void dir_put(const char *top, const char *name, const void *bytes, size_t len)
{
	cleanup_free char *path = dir_path(top, name);
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
}

/* A file of that length without content. */
DIR_FN void dir_hole(const char *top, const char *name, off_t len)
{
	cleanup_free char *path = dir_path(top, name);
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0 && !ftruncate(fd, len));
}

DIR_FN void dir_mkdir(const char *top, const char *name)
{
	cleanup_free char *path = dir_path(top, name);

	CHECK(!mkdir(path, 0755));
}

/* A path that cannot be read but is not absent, for root too: a link to itself. */
DIR_FN void dir_loop(const char *top, const char *name)
{
	cleanup_free char *path = dir_path(top, name);

	CHECK(!symlink(path, path));
}

DIR_FN void dir_rm(const char *top, const char *name)
{
	cleanup_free char *path = dir_path(top, name);

	CHECK(!remove(path));
}

#endif
