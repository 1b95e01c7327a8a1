/*
 * fixtures - snapshots by the thousand, and what a command needs to look at them.
 *
 *   fixtures savepoints DIR N [FIRST]   N savepoints with a whole `_metadata` each, a minute apart, the last one
 *                                       the newest; from number FIRST (0) on, as if those before it were there
 *   fixtures job DIR N                  the same N of one job, with names at random as Flink makes them
 *   fixtures files DIR N                one savepoint that refers to N state files, and these
 *   fixtures shared DIR TO N            one checkpoint that refers to N state files in the directory TO, and
 *                                       these; and as many others there
 *   fixtures measure CMD...             runs CMD without its output; prints seconds, those of CPU,
 *                                       peak memory in kB and exit status
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/unit/metadata_writer.h"

enum { VERSION = 6, FILE_BYTES = 10 };

static const char savepoint_class[] = "org.apache.flink.runtime.checkpoint.SavepointType";

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void make_dir(const char *path)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		die(path);
}

static void put(const char *path, const void *bytes, size_t len, time_t mtime)
{
	struct timespec times[2] = {{.tv_sec = mtime}, {.tv_sec = mtime}};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || futimens(fd, times))
		die(path);
	close(fd);
}

/* Not in order, and each time the same. */
static uint64_t name_of(int i)
{
	return (uint64_t)(i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 16;
}

static void savepoints(const char *dir, int count, int first, bool one_job)
{
	time_t now = time(NULL);

	make_dir(dir);
	for (int i = first; i < count; i++) {
		cleanup_free char *name = one_job ? xasprintf("%s/savepoint-5b2c01-%012jx", dir,
							      (uintmax_t)name_of(i))
						  : xasprintf("%s/savepoint-%06x-%012x", dir,
							      i % 0xabcdef, i * 7 + 1);
		cleanup_free char *path = xasprintf("%s/_metadata", name);
		cleanup_buf struct buf file = BUF_INIT, keyed = BUF_INIT;

		wr_u8(&keyed, 3);
		wr_groups(&keyed);
		wr_bytes(&keyed, 100);
		wr_head(&file, VERSION, i + 1);
		wr_i32(&file, 0);
		wr_i32(&file, 1);
		wr_operator(&file, VERSION, "Map", "map-uid", 7);
		wr_i32(&file, 1);
		wr_subtask(&file, VERSION, 0);
		buf_add(&file, keyed.data, keyed.len_bytes);
		wr_u8(&file, 0);
		wr_subtask_end(&file, VERSION);
		wr_tail(&file, VERSION, savepoint_class);
		make_dir(name);
		put(path, file.data, file.len_bytes, now - 60 * (count - i));
	}
}

/* `to` NULL: beside the _metadata. */
static void files(const char *dir, const char *to, int count)
{
	cleanup_buf struct buf file = BUF_INIT;
	cleanup_free char *metadata = xasprintf("%s/_metadata", dir);

	make_dir(dir);
	wr_head(&file, VERSION, 1);
	wr_i32(&file, 0);
	wr_i32(&file, 1);
	wr_operator(&file, VERSION, "Map", "map-uid", 7);
	wr_i32(&file, count);
	for (int i = 0; i < count; i++) {
		cleanup_free char *name = xasprintf("5f2b0c1e-8a41-4a7e-9d53-%012x", i);
		cleanup_free char *path = xasprintf("%s/%s", to ? to : dir, name);
		cleanup_free char *uri = xasprintf("file:%s", path);
		cleanup_free char *other = xasprintf("%s/5f2b0c1e-8a41-4a7e-aaaa-%012x", to, i);

		wr_subtask(&file, VERSION, i);
		wr_u8(&file, 3);
		wr_groups(&file);
		if (to)
			wr_file(&file, uri, FILE_BYTES);
		else
			wr_relative(&file, name, FILE_BYTES);
		if (to)
			put(other, "0123456789", FILE_BYTES, time(NULL));
		wr_u8(&file, 0);
		wr_subtask_end(&file, VERSION);
		put(path, "0123456789", FILE_BYTES, time(NULL));
	}
	wr_tail(&file, VERSION, savepoint_class);
	put(metadata, file.data, file.len_bytes, time(NULL));
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static int measure(char **argv)
{
	double start = seconds();
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null, 1);
		dup2(null, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &usage) < 0)
		die("wait4");
	printf("%.3f %.3f %ld %d\n", seconds() - start, of(usage.ru_utime) + of(usage.ru_stime),
	       usage.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 4 && !strcmp(argv[1], "savepoints"))
		savepoints(argv[2], atoi(argv[3]), argc > 4 ? atoi(argv[4]) : 0, false);
	else if (argc == 4 && !strcmp(argv[1], "job"))
		savepoints(argv[2], atoi(argv[3]), 0, true);
	else if (argc == 4 && !strcmp(argv[1], "files"))
		files(argv[2], NULL, atoi(argv[3]));
	else if (argc == 5 && !strcmp(argv[1], "shared"))
		files(argv[2], argv[3], atoi(argv[4]));
	else if (argc >= 3 && !strcmp(argv[1], "measure"))
		return measure(argv + 2);
	else
		return 2;
	return 0;
}
