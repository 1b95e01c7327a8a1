#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "tap.h"

struct dir {
	char path[64];
};

static struct dir dir_new(void)
{
	struct dir dir = {"/tmp/drey-fs.XXXXXX"};

	if (!mkdtemp(dir.path))
		abort();
	return dir;
}

static void dir_free(struct dir *dir)
{
	cleanup_free char *command = xasprintf("chmod -R u+w %s; rm -rf %s", dir->path, dir->path);

	if (system(command) < 0)
		abort();
}
#define cleanup_dir __attribute__((cleanup(dir_free)))

static char *in(const struct dir *dir, const char *name)
{
	return xasprintf("%s/%s", dir->path, name);
}

static int count_entries(const char *path)
{
	DIR *d = opendir(path);
	int count = -2; /* . and .. */

	while (d && readdir(d))
		count++;
	if (d)
		closedir(d);
	return count;
}

TEST(what_was_written_is_read_back)
{
	cleanup_dir struct dir dir = dir_new();
	cleanup_free char *path = in(&dir, "a");
	cleanup_buf struct buf buf = BUF_INIT;
	struct err err = {0};
	struct stat st = {0};

	CHECK_INT(fs_write_atomic(path, "one\0two", 7, 0600, &err), ==, 0);
	CHECK_INT(fs_write_atomic(path, "new\0content", 11, 0640, &err), ==, 0);
	buf_addstr(&buf, "before ");
	CHECK_INT(fs_read(path, 100, &buf, &err), ==, 0);
	CHECK_INT(buf.len_bytes, ==, 18);
	CHECK(!memcmp(buf.data, "before new\0content", 18));
	CHECK_INT(stat(path, &st), ==, 0);
	CHECK_INT(st.st_mode & 0777, ==, 0640);
	CHECK_INT(count_entries(dir.path), ==, 1);
}

TEST(a_file_larger_than_the_cap_is_refused)
{
	cleanup_dir struct dir dir = dir_new();
	cleanup_free char *path = in(&dir, "a");
	cleanup_buf struct buf buf = BUF_INIT;
	struct err err = {0};
	char large[40000];

	memset(large, 'x', sizeof(large));
	CHECK_INT(fs_write_atomic(path, large, sizeof(large), 0600, &err), ==, 0);
	buf_addstr(&buf, "kept");
	CHECK_INT(fs_read(path, sizeof(large) - 1, &buf, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_HAS(err.msg, "larger than 39999 bytes");
	CHECK_STR(buf_str(&buf), "kept");
	CHECK_INT(buf.len_bytes, ==, 4);
	CHECK_INT(fs_read(path, sizeof(large), &buf, &err), ==, 0);
}

TEST(only_a_missing_file_is_absent)
{
	cleanup_dir struct dir dir = dir_new();
	cleanup_free char *path = in(&dir, "none");
	cleanup_buf struct buf buf = BUF_INIT;
	struct err err = {0};

	CHECK_INT(fs_read(path, 10, &buf, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	CHECK_HAS(err.msg, path);
	CHECK_INT(fs_read(dir.path, 10, &buf, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_SYS);
	CHECK_INT(err.sys, ==, EISDIR);
}

TEST(a_failed_write_leaves_the_old_content_and_no_rubbish)
{
	cleanup_dir struct dir dir = dir_new();
	cleanup_free char *sub = in(&dir, "full"), *inner = in(&dir, "full/x");
	cleanup_free char *path = in(&dir, "none/a");
	struct err err = {0};

	CHECK_INT(fs_write_atomic(path, "x", 1, 0600, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	CHECK_INT(fs_mkdirs(inner, 0700, &err), ==, 0);
	/* a directory with something in it cannot be replaced by a file */
	CHECK_INT(fs_write_atomic(sub, "x", 1, 0600, &err), ==, -1);
	CHECK_HAS(err.msg, "rename to");
	CHECK_INT(count_entries(dir.path), ==, 1);
}

TEST(a_full_disk_is_reported)
{
	struct err err = {0};
	cleanup_close int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	CHECK_INT(fs_write_all(fd, "x", 1, &err), ==, -1);
	CHECK_INT(err.sys, ==, ENOSPC);
}

TEST(makes_directories_and_accepts_existing_ones)
{
	cleanup_dir struct dir dir = dir_new();
	cleanup_free char *path = in(&dir, "a/b//c/");
	cleanup_free char *file = in(&dir, "a/file"), *below = in(&dir, "a/file/d");
	struct err err = {0};
	struct stat st = {0};

	CHECK_INT(fs_mkdirs(path, 0750, &err), ==, 0);
	CHECK_INT(fs_mkdirs(path, 0750, &err), ==, 0);
	CHECK_INT(fs_mkdirs("/", 0750, &err), ==, 0);
	CHECK_INT(stat(path, &st), ==, 0);
	CHECK(S_ISDIR(st.st_mode));
	CHECK_INT(fs_write_atomic(file, "", 0, 0600, &err), ==, 0);
	CHECK_INT(fs_mkdirs(file, 0750, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_INT(fs_mkdirs(below, 0750, &err), ==, -1);
}

TEST(a_lock_is_exclusive_and_names_its_holder)
{
	cleanup_dir struct dir dir = dir_new();
	cleanup_free char *path = in(&dir, "lock");
	char want[64];
	struct err err = {0};
	int first = -1, second = -1;

	CHECK_INT(fs_lock(path, &first, &err), ==, 0);
	CHECK_INT(fs_lock(path, &second, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	snprintf(want, sizeof(want), "is owned by process %d", (int)getpid());
	CHECK_HAS(err.msg, want);
	CHECK_INT(second, ==, -1);
	CHECK(fcntl(first, F_GETFD) & FD_CLOEXEC);
	close(first);
	CHECK_INT(fs_lock(path, &second, &err), ==, 0);
	close(second);
}

/* flock(2) needs no right to write: who can open it for reading keeps drey from starting. */
TEST(nobody_else_can_open_a_lock)
{
	cleanup_dir struct dir dir = dir_new();
	cleanup_free char *path = in(&dir, "lock");
	struct err err = {0};
	struct stat st;
	int fd = -1;

	umask(0);
	CHECK_INT(fs_lock(path, &fd, &err), ==, 0);
	CHECK(stat(path, &st) == 0);
	CHECK_INT(st.st_mode & 07777, ==, 0600);
	close(fd);
	/* made by an earlier version */
	CHECK_INT(chmod(path, 0644), ==, 0);
	CHECK_INT(fs_lock(path, &fd, &err), ==, 0);
	CHECK(stat(path, &st) == 0);
	CHECK_INT(st.st_mode & 07777, ==, 0600);
	close(fd);
	umask(022);
}

TEST(a_lock_ends_with_its_process)
{
	cleanup_dir struct dir dir = dir_new();
	cleanup_free char *path = in(&dir, "lock");
	int fd = -1, ready[2] = {-1, -1};
	struct err err = {0};
	char byte;
	pid_t pid;

	CHECK_INT(pipe(ready), ==, 0);
	pid = fork();
	if (pid == 0) {
		int held;

		if (fs_lock(path, &held, NULL) || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	CHECK_INT(read(ready[0], &byte, 1), ==, 1);
	close(ready[0]);
	CHECK_INT(fs_lock(path, &fd, &err), ==, -1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK_INT(fs_lock(path, &fd, &err), ==, 0);
	close(fd);
}

TEST(random_bytes_differ_and_hex_is_lower_case)
{
	unsigned char a[16] = {0}, b[16] = {0};
	char text[9];

	CHECK_INT(fs_random(a, sizeof(a), NULL), ==, 0);
	CHECK_INT(fs_random(b, sizeof(b), NULL), ==, 0);
	CHECK(memcmp(a, b, sizeof(a)) != 0);
	fs_hex("\x00\xab\xCD\x7f", 4, text);
	CHECK_STR(text, "00abcd7f");
}

TEST(the_directory_of_a_program_is_that_of_its_path)
{
	cleanup_free char *own = fs_program_dir(NULL),
			  *other = fs_program_dir("/opt/drey/bin/drey"),
			  *none = fs_program_dir("drey");

	CHECK_HAS(own, "/tests/unit");
	CHECK_STR(other, "/opt/drey/bin");
	CHECK(!none);
}
