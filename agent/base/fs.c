#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static int fs_fail(struct err *err, int sys, const char *what, const char *path)
{
	return err_set(err, err_kind_of_errno(sys), sys, "%s %s", what, path);
}

static int open_retry(const char *path, int flags, mode_t mode)
{
	int fd;

	do
		fd = open(path, flags | O_CLOEXEC, mode);
	while (fd < 0 && errno == EINTR);
	return fd;
}

int fs_read_fd(int fd, const char *name, size_t max_bytes, struct buf *buf, struct err *err)
{
	size_t start = buf->len_bytes;
	char chunk[16384];

	for (;;) {
		ssize_t got = read(fd, chunk, sizeof(chunk));

		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			return 0;
		if (got < 0)
			fs_fail(err, errno, "read", name);
		else if ((size_t)got > max_bytes - (buf->len_bytes - start))
			err_set(err, ERR_FORMAT, 0, "read %s: larger than %zu bytes", name,
				max_bytes);
		if (got < 0 || (size_t)got > max_bytes - (buf->len_bytes - start)) {
			buf->len_bytes = start;
			if (buf->data)
				buf->data[start] = '\0';
			return -1;
		}
		buf_add(buf, chunk, (size_t)got);
	}
}

int fs_read(const char *path, size_t max_bytes, struct buf *buf, struct err *err)
{
	cleanup_close int fd = open_retry(path, O_RDONLY, 0);

	if (fd < 0)
		return fs_fail(err, errno, "open", path);
	return fs_read_fd(fd, path, max_bytes, buf, err);
}

int fs_write_all(int fd, const void *bytes, size_t len_bytes, struct err *err)
{
	const char *at = bytes;

	while (len_bytes) {
		ssize_t put = write(fd, at, len_bytes);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return err_set(err, err_kind_of_errno(errno), errno, "write");
		at += put;
		len_bytes -= (size_t)put;
	}
	return 0;
}

/* The directory of the last component of path; the caller frees it. */
static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static int sync_directory(const char *path, struct err *err)
{
	cleanup_free char *dir = parent_of(path);
	cleanup_close int fd = open_retry(dir, O_RDONLY | O_DIRECTORY, 0);

	if (fd < 0)
		return fs_fail(err, errno, "open directory", dir);
	/* some network file systems have no fsync for directories: their rename is as safe as
	 * possible */
	if (fsync(fd) && errno != EINVAL && errno != ENOTSUP)
		return fs_fail(err, errno, "fsync directory", dir);
	return 0;
}

/* Create, fill and sync the temporary file; deleted again on failure. */
static int write_temp(const char *temp, const void *bytes, size_t len_bytes, mode_t mode,
		      struct err *err)
{
	int fd = open_retry(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
	int ret = 0;

	if (fd < 0)
		return fs_fail(err, errno, "create", temp);
	if (fs_write_all(fd, bytes, len_bytes, err))
		ret = err_wrap(err, "%s", temp);
	else if (fsync(fd))
		ret = fs_fail(err, errno, "fsync", temp);
	/* NFS reports a full disk only here */
	if (close(fd) && !ret)
		ret = fs_fail(err, errno, "close", temp);
	if (ret)
		unlink(temp);
	return ret;
}

int fs_write_atomic(const char *path, const void *bytes, size_t len_bytes, mode_t mode,
		    struct err *err)
{
	cleanup_free char *temp = NULL;
	unsigned char random[4];
	char hex[2 * sizeof(random) + 1];

	/* beside the file, and never the same as another writer's or one that a crash left */
	if (fs_random(random, sizeof(random), err))
		return -1;
	fs_hex(random, sizeof(random), hex);
	temp = xasprintf("%s.%s.tmp", path, hex);
	if (write_temp(temp, bytes, len_bytes, mode, err))
		return -1;
	if (rename(temp, path)) {
		int sys = errno;

		unlink(temp);
		return fs_fail(err, sys, "rename to", path);
	}
	return sync_directory(path, err);
}

int fs_mkdirs(const char *path, mode_t mode, struct err *err)
{
	cleanup_free char *part = xstrdup(path);
	struct stat st;

	for (char *p = part + strspn(part, "/");; p++) {
		char end = *p;

		if (end && end != '/')
			continue;
		*p = '\0';
		/* an existing one may be on a read-only file system or owned by another user: check
		 * before the errno of mkdir */
		if (*part && mkdir(part, mode) && errno != EEXIST) {
			int sys = errno;

			if (stat(part, &st) || !S_ISDIR(st.st_mode))
				return fs_fail(err, sys, "mkdir", part);
		}
		*p = end;
		if (!end)
			break;
	}
	if (stat(path, &st))
		return fs_fail(err, errno, "stat", path);
	/* not the kind of ENOTDIR: the path exists, but not as a directory */
	if (!S_ISDIR(st.st_mode))
		return err_set(err, ERR_CONFIG, 0, "%s exists and is not a directory", path);
	return 0;
}

static int busy(int fd, const char *path, struct err *err)
{
	char pid[24] = "";
	ssize_t got = pread(fd, pid, sizeof(pid) - 1, 0);

	pid[got > 0 ? strspn(pid, "0123456789") : 0] = '\0';
	if (*pid)
		return err_set(err, ERR_BUSY, 0, "%s is owned by process %s", path, pid);
	return err_set(err, ERR_BUSY, 0, "%s is owned by another process", path);
}

int fs_lock(const char *path, int *ret_fd, struct err *err)
{
	char pid[24];
	int fd = open_retry(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
	int len = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());

	if (fd < 0)
		return fs_fail(err, errno, "open", path);
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno == EWOULDBLOCK)
			busy(fd, path, err);
		else
			fs_fail(err, errno, "lock", path);
		close(fd);
		return -1;
	}
	/* whoever may open it for reading may lock it, and keep us out: an earlier version made it 0644 */
	(void)fchmod(fd, 0600);
	/* the pid is for people: a full disk must not cost the lock */
	if (ftruncate(fd, 0) == 0 && pwrite(fd, pid, (size_t)len, 0) != len)
		(void)!ftruncate(fd, 0);
	*ret_fd = fd;
	return 0;
}

int fs_random(void *ret_bytes, size_t len_bytes, struct err *err)
{
	char *at = ret_bytes;

	while (len_bytes) {
		ssize_t got = getrandom(at, len_bytes, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set(err, ERR_SYS, errno, "get random bytes");
		at += got;
		len_bytes -= (size_t)got;
	}
	return 0;
}

void fs_hex(const void *bytes, size_t len_bytes, char *text)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len_bytes; i++) {
		text[2 * i] = digits[p[i] >> 4];
		text[2 * i + 1] = digits[p[i] & 0xF];
	}
	text[2 * len_bytes] = '\0';
}

char *fs_program_dir(const char *program)
{
	char self[PATH_MAX] = "";
	const char *slash;

	if (!program && readlink("/proc/self/exe", self, sizeof(self) - 1) > 0)
		program = self;
	slash = program ? strrchr(program, '/') : NULL;
	return slash ? xstrndup(program, (size_t)(slash - program)) : NULL;
}
