#include "flink/jvm_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/sha256.h"

static int64_t unix_ns(struct timespec when)
{
	return (int64_t)when.tv_sec * 1000000000 + when.tv_nsec;
}

static void add_line(struct jvm_files *files, const char *path, const struct stat *info)
{
	int64_t changed_ns = unix_ns(info->st_ctim);

	buf_addf(&files->text, "%s %ju %ju %o %jd %" PRId64 " %" PRId64 "\n", path,
		 (uintmax_t)info->st_dev, (uintmax_t)info->st_ino, (unsigned)info->st_mode,
		 S_ISDIR(info->st_mode) ? 0 : (intmax_t)info->st_size, unix_ns(info->st_mtim),
		 changed_ns);
	if (changed_ns > files->newest_unix_ns || !files->newest) {
		files->newest_unix_ns = changed_ns;
		xstrset(&files->newest, path);
	}
}

static int add_contents(struct jvm_files *files, const char *path, struct err *err)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	char hex[SHA256_HEX_BYTES];

	if (fs_read(path, JVM_FILES_MAX_BYTES - files->content_bytes, &bytes, err) < 0)
		return -1;
	files->content_bytes += bytes.len_bytes;
	sha256_hex(buf_str(&bytes), bytes.len_bytes, hex);
	buf_addf(&files->text, "%s\n", hex);
	return 0;
}

static int add_path(struct jvm_files *files, const char *path, enum jvm_root_kind kind, int depth,
		    struct err *err);

static int add_children(struct jvm_files *files, const char *path, enum jvm_root_kind kind,
			int depth, struct err *err)
{
	struct dirent **names = NULL;
	int count = scandir(path, &names, NULL, alphasort), result = 0;

	if (count < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "read %s", path);
	for (int i = 0; i < count; i++) {
		cleanup_free char *child = xasprintf("%s/%s", path, names[i]->d_name);

		if (result == 0 && strcmp(names[i]->d_name, ".") != 0 &&
		    strcmp(names[i]->d_name, "..") != 0)
			result = add_path(files, child, kind, depth + 1, err);
		free(names[i]);
	}
	free(names);
	return result;
}

static int add_target(struct jvm_files *files, const char *path, const struct stat *info,
		      enum jvm_root_kind kind, int depth, struct err *err)
{
	add_line(files, path, info);
	if (S_ISDIR(info->st_mode) && kind != JVM_ROOT_FILE)
		return add_children(files, path, kind, depth, err);
	if (S_ISREG(info->st_mode) && kind == JVM_ROOT_CONTENTS)
		return add_contents(files, path, err);
	return 0;
}

/* Noted: if it comes into being, the text changes. */
static int add_absent(struct jvm_files *files, const char *path, struct err *err)
{
	if (errno != ENOENT && errno != ENOTDIR)
		return err_set(err, err_kind_of_errno(errno), errno, "read %s", path);
	buf_addf(&files->text, "%s is absent\n", path);
	return 0;
}

static int add_path(struct jvm_files *files, const char *path, enum jvm_root_kind kind, int depth,
		    struct err *err)
{
	char target[PATH_MAX];
	struct stat info;
	ssize_t len;

	if (depth > JVM_FILES_DEPTH || ++files->count > JVM_FILES_MAX)
		return err_set(err, ERR_FORMAT, 0, "%s: there are too many files", path);
	if (lstat(path, &info) < 0)
		return add_absent(files, path, err);
	if (!S_ISLNK(info.st_mode))
		return add_target(files, path, &info, kind, depth, err);
	len = readlink(path, target, sizeof(target));
	if (len < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "read %s", path);
	buf_addf(&files->text, "-> %.*s ", (int)len, target);
	add_line(files, path, &info);
	if (stat(path, &info) < 0)
		return add_absent(files, path, err);
	return add_target(files, path, &info, kind, depth, err);
}

int jvm_files_add(struct jvm_files *files, const char *path, enum jvm_root_kind kind,
		  struct err *err)
{
	return add_path(files, path, kind, 0, err);
}

void jvm_files_release(struct jvm_files *files)
{
	buf_release(&files->text);
	free(files->newest);
	*files = (struct jvm_files){0};
}
