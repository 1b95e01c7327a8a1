#include "flink/jvm_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

#define PROC_MAX_BYTES ((size_t)4 << 20)

static const char *const status_fields[] = {
	"Umask:",  "Uid:",    "Gid:",    "Groups:",  "CapInh:",       "CapPrm:",
	"CapEff:", "CapBnd:", "CapAmb:", "Seccomp:", "Cpus_allowed:", "Mems_allowed:"};
/* It is drey-init that starts the next one. The agent has given up what it does not need (run/sandbox.h). */
static const char *const init_fields[] = {"NoNewPrivs:"};
static const char *const links[] = {"cwd",     "root",   "ns/mnt", "ns/net",
				    "ns/user", "ns/uts", "ns/ipc", "ns/cgroup"};

int jvm_process_read(int pid, const char *name, struct buf *buf, struct err *err)
{
	cleanup_free char *path = xasprintf("/proc/%d/%s", pid, name);
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "open %s", path);
	return fs_read_fd(fd, path, PROC_MAX_BYTES, buf, err);
}

static int read_link(int pid, const char *name, char ret_target[PATH_MAX], struct err *err)
{
	cleanup_free char *path = xasprintf("/proc/%d/%s", pid, name);
	ssize_t len = readlink(path, ret_target, PATH_MAX - 1);

	if (len < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "read %s", path);
	ret_target[len] = '\0';
	return 0;
}

char *jvm_process_program(int pid, struct err *err)
{
	char target[PATH_MAX];

	return read_link(pid, "exe", target, err) < 0 ? NULL : xstrdup(target);
}

/* ---- is it like a process of drey-init ---- */

/* The rest of the line that begins with `name`; its length. */
static const char *line_of(const char *text, const char *name, size_t *ret_len)
{
	size_t len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) == 0) {
			*ret_len = strcspn(line + len, "\n");
			return line + len;
		}
	}
	*ret_len = 0;
	return "";
}

static int same_lines(const char *theirs, const char *ours, const char *const *names, size_t count,
		      struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		size_t len, our_len;
		const char *line = line_of(theirs, names[i], &len);
		const char *our_line = line_of(ours, names[i], &our_len);

		if (len != our_len || strncmp(line, our_line, len) != 0)
			return err_set(err, ERR_FORMAT, 0, "the command has changed %.*s",
				       (int)strcspn(names[i], ":"), names[i]);
	}
	return 0;
}

/* A JVM raises its own soft limit of open files. */
static void forget_open_files(char *limits)
{
	static const char name[] = "Max open files";
	char *at = strstr(limits, name);

	if (!at)
		return;
	for (at += strlen(name); *at == ' '; at++)
		;
	for (; *at && *at != ' ' && *at != '\n'; at++)
		*at = ' ';
}

static int same_limits(int pid, struct err *err)
{
	cleanup_buf struct buf theirs = BUF_INIT, ours = BUF_INIT;
	cleanup_free char *a = NULL, *b = NULL;
	char *rest_a, *rest_b;

	if (jvm_process_read(pid, "limits", &theirs, err) < 0 ||
	    jvm_process_read(getpid(), "limits", &ours, err) < 0)
		return -1;
	a = buf_steal(&theirs);
	b = buf_steal(&ours);
	forget_open_files(a);
	forget_open_files(b);
	for (char *x = strtok_r(a, " \n", &rest_a), *y = strtok_r(b, " \n", &rest_b); x || y;
	     x = strtok_r(NULL, " \n", &rest_a), y = strtok_r(NULL, " \n", &rest_b))
		if (!xstris(x, y))
			return err_set(err, ERR_FORMAT, 0, "the command has changed a limit");
	return 0;
}

static int same_output(int pid, int fd, struct err *err)
{
	cleanup_free char *path = xasprintf("/proc/%d/fd/%d", pid, fd);
	struct stat theirs, ours;

	if (stat(path, &theirs) < 0 || fstat(fd, &ours) < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "read %s", path);
	if (theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino)
		return err_set(err, ERR_FORMAT, 0, "the command has redirected Flink's output");
	return 0;
}

static int same_priority(int pid, struct err *err)
{
	cleanup_buf struct buf theirs = BUF_INIT, ours = BUF_INIT;

	if (jvm_process_read(pid, "oom_score_adj", &theirs, err) < 0 ||
	    jvm_process_read(getpid(), "oom_score_adj", &ours, err) < 0)
		return -1;
	if (strcmp(buf_str(&theirs), buf_str(&ours)) != 0 ||
	    getpriority(PRIO_PROCESS, (id_t)pid) != getpriority(PRIO_PROCESS, 0) ||
	    sched_getscheduler(pid) != sched_getscheduler(0))
		return err_set(err, ERR_FORMAT, 0, "the command has changed Flink's priority");
	return 0;
}

int jvm_process_same(int pid, struct err *err)
{
	cleanup_buf struct buf theirs = BUF_INIT, ours = BUF_INIT, inits = BUF_INIT;
	char target[PATH_MAX], our_target[PATH_MAX];

	if (jvm_process_read(pid, "status", &theirs, err) < 0 ||
	    jvm_process_read(getpid(), "status", &ours, err) < 0 ||
	    jvm_process_read(getppid(), "status", &inits, err) < 0 ||
	    same_lines(buf_str(&theirs), buf_str(&ours), status_fields, ARRAY_LEN(status_fields),
		       err) < 0 ||
	    same_lines(buf_str(&theirs), buf_str(&inits), init_fields, ARRAY_LEN(init_fields),
		       err) < 0 ||
	    same_limits(pid, err) < 0 || same_priority(pid, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		if (read_link(pid, links[i], target, err) < 0 ||
		    read_link(getpid(), links[i], our_target, err) < 0)
			return -1;
		if (strcmp(target, our_target) != 0)
			return err_set(err, ERR_FORMAT, 0, "the command has changed %s", links[i]);
	}
	return same_output(pid, 1, err) < 0 || same_output(pid, 2, err) < 0 ? -1 : 0;
}

/* ---- when ---- */

/* Field 22 of stat, in ticks since the machine was started. What precedes it may contain anything,
 * in brackets. */
static int start_ticks(int pid, const char *name, int64_t *ret_ticks, struct err *err)
{
	cleanup_buf struct buf stat = BUF_INIT;
	const char *at;

	if (jvm_process_read(pid, name, &stat, err) < 0)
		return -1;
	at = strrchr(buf_str(&stat), ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, " %" SCNd64, ret_ticks) != 1)
		return err_set(err, ERR_FORMAT, 0, "/proc/%d/%s is not understood", pid, name);
	return 0;
}

static int64_t clock_now_ms(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t ticks_unix_ms(int64_t ticks)
{
	return clock_now_ms(CLOCK_REALTIME) - clock_now_ms(CLOCK_BOOTTIME) +
	       ticks * 1000 / sysconf(_SC_CLK_TCK);
}

/* The oldest thread but the first, which has had its number since the fork. Threads come and go. */
static int oldest_thread(int pid, int64_t *ret_ticks, struct err *err)
{
	cleanup_free char *path = xasprintf("/proc/%d/task", pid);
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int64_t oldest = INT64_MAX;

	if (!dir)
		return err_set(err, err_kind_of_errno(errno), errno, "open %s", path);
	while ((entry = readdir(dir))) {
		cleanup_free char *name = xasprintf("task/%s/stat", entry->d_name);
		int64_t ticks;

		if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != pid &&
		    start_ticks(pid, name, &ticks, NULL) == 0 && ticks < oldest)
			oldest = ticks;
	}
	closedir(dir);
	if (oldest == INT64_MAX)
		return err_set(err, ERR_FORMAT, 0, "process %d has no threads", pid);
	*ret_ticks = oldest;
	return 0;
}

int jvm_process_forked(int pid, int64_t *ret_unix_ms, struct err *err)
{
	int64_t ticks;

	if (start_ticks(pid, "stat", &ticks, err) < 0)
		return -1;
	*ret_unix_ms = ticks_unix_ms(ticks);
	return 0;
}

int jvm_process_became(int pid, int64_t *ret_unix_ms, struct err *err)
{
	int64_t ticks;

	if (oldest_thread(pid, &ticks, err) < 0)
		return -1;
	*ret_unix_ms = ticks_unix_ms(ticks);
	return 0;
}
