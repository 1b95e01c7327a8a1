#include "flink/launch_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define DEPTH_MAX 64
#define BELOW     (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

struct removal {
	const char *path; /* for messages */
	dev_t device;
	uid_t user;
};

void launch_dir_mark(const struct stat *lock, char ret_mark[LAUNCH_DIR_MARK_BYTES])
{
	snprintf(ret_mark, LAUNCH_DIR_MARK_BYTES, "flink.lock:%llx:%llx",
		 (unsigned long long)lock->st_dev, (unsigned long long)lock->st_ino);
}

static int open_parent(const char *parent, struct err *err)
{
	int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? err_set(err, err_kind_of_errno(errno), errno, "open %s", parent) : fd;
}

static bool is_marked(int dir, const char *mark)
{
	char target[LAUNCH_DIR_MARK_BYTES];
	ssize_t len = readlinkat(dir, LAUNCH_DIR_MARK, target, sizeof(target));

	return len >= 0 && (size_t)len == strlen(mark) && memcmp(target, mark, (size_t)len) == 0;
}

/* -1 without an error: there is none of ours. */
static int open_ours(int parent, const char *name, const char *mark, struct stat *ret_info)
{
	int dir = openat(parent, name, BELOW);

	/* MUT: a directory without the mark is removed */
	if (dir >= 0 &&
	    (fstat(dir, ret_info) < 0 || ret_info->st_uid != geteuid() || !is_marked(dir, mark))) {
		close(dir);
		return -1;
	}
	return dir;
}

int launch_dir_make(const char *parent, const char *name, const char *mark, struct err *err)
{
	cleanup_close int above = open_parent(parent, err), dir = -1;
	struct stat info;

	if (above < 0)
		return -1;
	if (mkdirat(above, name, 0700) < 0) {
		int sys = errno;

		if (sys != EEXIST)
			return err_set(err, err_kind_of_errno(sys), sys, "make %s/%s", parent,
				       name);
		dir = open_ours(above, name, mark, &info);
		return dir < 0 ? err_set(err, ERR_BUSY, 0, "%s/%s is not drey's", parent, name) : 0;
	}
	dir = openat(above, name, BELOW);
	if (dir < 0 || symlinkat(mark, dir, LAUNCH_DIR_MARK) < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "make %s/%s/%s", parent, name,
			       LAUNCH_DIR_MARK);
	return 0;
}

bool launch_dir_is_ours(const char *parent, const char *name, const char *mark)
{
	cleanup_close int above = open_parent(parent, NULL), dir = -1;
	struct stat info;

	if (above >= 0)
		dir = open_ours(above, name, mark, &info);
	return dir >= 0;
}

static int cannot(const struct removal *removal, int sys, const char *name, struct err *err)
{
	return err_set(err, err_kind_of_errno(sys), sys, "remove %s in %s", name, removal->path);
}

static int empty_dir(const struct removal *removal, int dir, int depth, struct err *err);

static int remove_entry(const struct removal *removal, int dir, const char *name, int depth,
			struct err *err)
{
	struct stat info;
	cleanup_close int below = -1;

	if (fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return cannot(removal, errno, name, err);
	if (info.st_uid != removal->user)
		return cannot(removal, EPERM, name, err);
	/* a file system of layers may give each file another device */
	if (!S_ISDIR(info.st_mode))
		return unlinkat(dir, name, 0) < 0 ? cannot(removal, errno, name, err) : 0;
	below = openat(dir, name, BELOW);
	if (below < 0 || fstat(below, &info) < 0 || info.st_dev != removal->device ||
	    info.st_uid != removal->user || depth == DEPTH_MAX)
		return cannot(removal, below < 0 ? errno : EPERM, name, err);
	if (empty_dir(removal, below, depth + 1, err) < 0)
		return -1;
	return unlinkat(dir, name, AT_REMOVEDIR) < 0 ? cannot(removal, errno, name, err) : 0;
}

/* All but the mark, which is at the top only. */
static int empty_dir(const struct removal *removal, int dir, int depth, struct err *err)
{
	int fd = openat(dir, ".", BELOW), result = 0;
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!stream) {
		int sys = errno;

		if (fd >= 0)
			close(fd);
		return cannot(removal, sys, "a directory", err);
	}
	while ((entry = readdir(stream))) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    (depth == 0 && strcmp(name, LAUNCH_DIR_MARK) == 0))
			continue;
		if (remove_entry(removal, dir, name, depth, err) < 0)
			result = -1;
	}
	closedir(stream);
	return result;
}

int launch_dir_remove(const char *parent, const char *name, const char *mark, struct err *err)
{
	cleanup_close int above = open_parent(parent, err), dir = -1;
	cleanup_free char *path = xasprintf("%s/%s", parent, name);
	struct removal removal = {.path = path, .user = geteuid()};
	struct stat info;

	if (above < 0)
		return -1;
	dir = open_ours(above, name, mark, &info);
	if (dir < 0)
		return 0;
	removal.device = info.st_dev;
	if (empty_dir(&removal, dir, 0, err) < 0)
		return -1;
	if (unlinkat(dir, LAUNCH_DIR_MARK, 0) < 0 || unlinkat(above, name, AT_REMOVEDIR) < 0)
		return cannot(&removal, errno, "the directory itself", err);
	return 0;
}
