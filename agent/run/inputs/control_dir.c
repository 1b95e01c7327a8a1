#include "run/inputs/control_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "run/inputs/control_value.h"

#define SWAP_LINK  "..data"
#define READ_TRIES 5

/* ---- the files ---- */

/* 0 also for a value that is refused; -1 when it cannot be read; ERR_ABSENT: it has gone. */
static int read_key(struct desired *desired, enum desired_key key, int dir_fd, struct err *err)
{
	const char *name = desired_keys[key];
	cleanup_close int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	cleanup_buf struct buf text = BUF_INIT;
	struct err why = {0};
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		err_set(&why, ERR_CONFIG, 0, "%s: not a file", name);
	else if (fs_read_fd(fd, name, CONTROL_VALUE_MAX, &text, &why) < 0 && why.kind != ERR_FORMAT)
		return err_pass(err, &why);
	if (!why.kind)
		control_value_set(desired, key, buf_str(&text), text.len_bytes);
	else if (!desired->bad.kind)
		desired->bad = why;
	return 0;
}

static int read_files(struct desired *desired, int dir_fd, struct err *err)
{
	const struct dirent *entry;
	int list_fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = list_fd < 0 ? NULL : fdopendir(list_fd);
	int result = 0, count = 0;

	if (!list) {
		result = err_set(err, err_kind_of_errno(errno), errno, "list");
		if (list_fd >= 0)
			close(list_fd);
		return result;
	}
	while (result == 0) {
		int key;

		errno = 0;
		entry = readdir(list);
		if (!entry) {
			if (errno)
				result = err_set(err, err_kind_of_errno(errno), errno, "list");
			break;
		}
		if (*entry->d_name == '.')
			continue;
		key = desired_key_find(entry->d_name);
		if (++count > CONTROL_FILES_MAX)
			result = err_set(err, ERR_FORMAT, 0, "more than %d files",
					 CONTROL_FILES_MAX);
		else if (key >= 0)
			result = read_key(desired, (enum desired_key)key, dir_fd, err);
		else
			control_value_ignore(desired, entry->d_name);
	}
	closedir(list);
	return result;
}

/* Where the files are: the target of the link, or the directory itself. *ret_target: "" without. */
static int open_target(int dir_fd, char *target, size_t target_bytes, int *ret_fd, struct err *err)
{
	ssize_t len = readlinkat(dir_fd, SWAP_LINK, target, target_bytes - 1);

	if (len < 0 && errno != ENOENT && errno != EINVAL)
		return err_set(err, err_kind_of_errno(errno), errno, SWAP_LINK);
	target[len < 0 ? 0 : len] = '\0';
	*ret_fd = openat(dir_fd, len < 0 ? "." : target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret_fd < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "%s", target);
	return 0;
}

/* 1: consistent; 0: it was swapped under our hands; -1: it cannot be read. */
static int read_once(const char *path, struct desired *desired, struct err *err)
{
	cleanup_close int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int fd = -1;
	char before[PATH_MAX], after[PATH_MAX];
	struct err why = {0};
	ssize_t len;

	if (dir_fd < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "%s", path);
	if (open_target(dir_fd, before, sizeof(before), &fd, &why) < 0 ||
	    read_files(desired, fd, &why) < 0) {
		if (why.kind == ERR_ABSENT) /* deleted while we looked */
			return 0;
		err_pass(err, &why);
		return err_wrap(err, "%s", path);
	}
	len = readlinkat(dir_fd, SWAP_LINK, after, sizeof(after) - 1);
	after[len < 0 ? 0 : len] = '\0';
	return !strcmp(before, after);
}

int control_dir_read(const char *path, struct desired *ret_desired, struct err *err)
{
	for (int i = 0; i < READ_TRIES; i++) {
		struct desired desired = {0};
		int result = read_once(path, &desired, err);

		if (result > 0) {
			control_value_judge(&desired);
			*ret_desired = desired;
			return 0;
		}
		desired_release(&desired);
		if (result < 0)
			return -1;
	}
	return err_set(err, ERR_RETRY, 0, "%s: changes continuously", path);
}
