#include "flink/jvm_leavings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define LEAVINGS_MAX 16

static bool is_leaving(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t len = name ? strlen(name) : 0;

	return len > 4 && strncmp(name, "/flink-rpc-akka", 15) == 0 &&
	       strcmp(name + len - 4, ".jar") == 0;
}

static bool is_known(const struct jvm_leavings *leavings, const struct stat *info)
{
	for (size_t i = 0; i < leavings->count; i++)
		if (leavings->list[i].device == info->st_dev &&
		    leavings->list[i].inode == info->st_ino)
			return true;
	return false;
}

static void add_descriptor(struct jvm_leavings *leavings, const char *link)
{
	char target[PATH_MAX];
	ssize_t len = readlink(link, target, sizeof(target) - 1);
	struct stat info;

	if (len <= 0 || leavings->count == LEAVINGS_MAX)
		return;
	target[len] = '\0';
	if (!is_leaving(target) || stat(link, &info) < 0 || !S_ISREG(info.st_mode) ||
	    is_known(leavings, &info))
		return;
	leavings->list =
		xreallocarray(leavings->list, leavings->count + 1, sizeof(*leavings->list));
	leavings->list[leavings->count++] =
		(struct jvm_leaving){xstrdup(target), info.st_dev, info.st_ino};
}

int jvm_leavings_find(int pid, struct jvm_leavings *leavings, struct err *err)
{
	cleanup_free char *path = xasprintf("/proc/%d/fd", pid);
	DIR *dir = opendir(path);
	const struct dirent *entry;

	if (!dir)
		return err_set(err, err_kind_of_errno(errno), errno, "open %s", path);
	while ((entry = readdir(dir))) {
		cleanup_free char *link = xasprintf("%s/%s", path, entry->d_name);

		if (entry->d_name[0] != '.')
			add_descriptor(leavings, link);
	}
	closedir(dir);
	return 0;
}

/* The path is as the kernel gave it, without links; the directory may have been replaced since. */
static int remove_one(const struct jvm_leaving *leaving, struct err *err)
{
	char *name = strrchr(leaving->path, '/') + 1;
	cleanup_free char *parent = xstrndup(leaving->path, (size_t)(name - leaving->path));
	cleanup_close int dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat info;

	if (dir < 0 || fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0
				       : err_set(err, err_kind_of_errno(errno), errno, "remove %s",
						 leaving->path);
	/* MUT: a file of the same name is removed whoever has made it */
	if (info.st_dev != leaving->device || info.st_ino != leaving->inode)
		return 0;
	if (unlinkat(dir, name, 0) < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "remove %s", leaving->path);
	return 0;
}

int jvm_leavings_remove(struct jvm_leavings *leavings, struct err *err)
{
	int result = 0;

	for (size_t i = 0; i < leavings->count; i++)
		if (remove_one(&leavings->list[i], err) < 0)
			result = -1;
	jvm_leavings_release(leavings);
	return result;
}

void jvm_leavings_release(struct jvm_leavings *leavings)
{
	for (size_t i = 0; i < leavings->count; i++)
		free(leavings->list[i].path);
	free(leavings->list);
	*leavings = (struct jvm_leavings){0};
}
