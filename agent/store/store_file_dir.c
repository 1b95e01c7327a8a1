#include "store/store_file_dir.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int store_file_fail(struct err *err, const char *what, const char *path)
{
	int sys = errno;

	return err_set(err, err_kind_of_errno(sys), sys, "%s %s", what, path);
}

struct store_stat store_file_stat(const struct stat *st)
{
	return (struct store_stat){
		.size_bytes = st->st_size,
		.mtime_unix_ms = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000,
	};
}

int store_file_each(int fd, const char *name,
		    int (*each)(void *ctx, int dir, const struct dirent *item, struct err *err),
		    void *ctx, struct err *err)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *item;
	int rc = 0;

	if (!dir) {
		store_file_fail(err, "list", name);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (!rc) {
		errno = 0;
		item = readdir(dir);
		if (!item) {
			rc = errno ? store_file_fail(err, "list", name) : 0;
			break;
		}
		if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0)
			rc = each(ctx, fd, item, err);
	}
	closedir(dir);
	return rc;
}
