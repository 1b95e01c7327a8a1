#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAY_BYTES 400

static struct {
	int fd;
	bool is_socket, never_blocks, verbose;
} out = {.fd = STDERR_FILENO};

int64_t clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t clock_unix_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/*
 * O_NONBLOCK on descriptor 2 would also hit our child, which shares it. Opening the pipe or
 * terminal once more gives a description of our own; if that is not possible, poll(2) is used.
 */
void say_open(bool verbose)
{
	struct stat st;
	int fd;

	out.verbose = verbose;
	if (fstat(STDERR_FILENO, &st) < 0)
		return;
	out.is_socket = S_ISSOCK(st.st_mode);
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return;
	fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return;
	out.fd = fd;
	out.never_blocks = true;
}

static void say_line(const char *fmt, va_list ap)
{
	struct pollfd ready = {.fd = out.fd, .events = POLLOUT};
	char line[SAY_BYTES] = "drey-init: ";
	size_t len = strlen(line);
	int n = vsnprintf(line + len, sizeof(line) - len - 1, fmt, ap);

	if (n < 0)
		return;
	len += (size_t)n < sizeof(line) - len - 1 ? (size_t)n : sizeof(line) - len - 2;
	line[len++] = '\n';
	if (out.is_socket) {
		send(out.fd, line, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		return;
	}
	if (out.never_blocks || poll(&ready, 1, 0) == 1)
		if (write(out.fd, line, len) < 0)
			return; /* dropped, as promised */
}

void say(const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	say_line(fmt, ap);
	va_end(ap);
	errno = saved;
}

void say_more(const char *fmt, ...)
{
	va_list ap;

	if (!out.verbose)
		return;
	va_start(ap, fmt);
	say_line(fmt, ap);
	va_end(ap);
}

/* Reads a small file whole into buf, NUL-terminated; -1 if that is not possible. */
static ssize_t read_file(const char *path, char *buf, size_t buf_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, buf + len, buf_bytes - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	buf[len] = '\0';
	return n < 0 ? -1 : (ssize_t)len;
}

void fds_tidy(void)
{
	struct rlimit limit;
	int fd;

	while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO)
		;
	if (!syscall(SYS_close_range, 3U, ~0U, 0U))
		return;
	/* ENOSYS or a seccomp filter. The limit may have been lowered since; 64 k is a container's
	 * usual one. */
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur > 65536)
		limit.rlim_cur = 65536;
	for (fd = 3; fd < (int)limit.rlim_cur; fd++)
		close(fd);
}

int64_t oom_kills(void)
{
	char text[2048], path[1100] = "/sys/fs/cgroup", *start, *end;
	size_t len = strlen(path);

	/* Inside a container the cgroup is "0::/"; elsewhere the path below the mount follows
	 * "0::". */
	if (read_file("/proc/self/cgroup", text, sizeof(text)) > 0) {
		start = !strncmp(text, "0::", 3) ? text : strstr(text, "\n0::");
		if (start) {
			start = strchr(start, '/');
			end = start ? strchr(start, '\n') : NULL;
			if (end && (size_t)(end - start) < 1000)
				len += (size_t)snprintf(path + len, sizeof(path) - len, "%.*s",
							(int)(end - start), start);
		}
	}
	snprintf(path + len, sizeof(path) - len, "/memory.events");
	if (read_file(path, text, sizeof(text)) < 0 &&
	    read_file("/sys/fs/cgroup/memory.events", text, sizeof(text)) < 0)
		return -1;
	start = strstr(text, "oom_kill ");
	return start ? strtoll(start + strlen("oom_kill "), NULL, 10) : -1;
}

int oom_score(void)
{
	char text[32];

	if (read_file("/proc/self/oom_score_adj", text, sizeof(text)) <= 0)
		return 0;
	return (int)strtol(text, NULL, 10);
}

bool oom_score_set(pid_t pid, int score)
{
	char path[64], text[32];
	ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);
	bool ok;
	int fd;

	text[n > 0 ? n : 0] = '\0';
	if (strtol(text, NULL, 10) != getpid()) /* there the number means another process */
		return false;
	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = snprintf(text, sizeof(text), "%d", score);
	ok = write(fd, text, (size_t)n) == n;
	close(fd);
	return ok;
}

bool group_is_ours(pid_t group)
{
	siginfo_t info;

	return group > 0 && !waitid(P_PGID, (id_t)group, &info, WEXITED | WNOHANG | WNOWAIT);
}

static void signal_one(pid_t pid, int signo)
{
	if (kill(pid, signo) < 0)
		return;
	if (signo == SIGTERM)
		kill(pid, SIGCONT);
}

void orphans_signal(int signo, pid_t group, pid_t keep, bool first)
{
	/* the processes that got SIGTERM, by pid modulo 65536: a second one
	 * may force an immediate exit */
	static unsigned char asked[8192];
	static bool all_asked;
	char text[4096], path[64], *at = text;
	pid_t self = getpid(), pid;
	siginfo_t info;

	if (self == 1 && !keep && (first || signo == SIGKILL)) {
		all_asked |= signo == SIGTERM;
		signal_one(-1, signo);
		return;
	}
	if (all_asked && signo == SIGTERM)
		return;
	if (first && group_is_ours(group))
		signal_one(-group, signo);
	/* The start of a very long list is enough: this is repeated. */
	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)self);
	if (read_file(path, text, sizeof(text)) <= 0)
		return;
	while ((pid = (pid_t)strtol(at, &at, 10)) > 0 && *at == ' ') {
		unsigned char *byte = &asked[pid % 65536 / 8], bit = (unsigned char)(1 << pid % 8);

		/* With the /proc of another namespace the numbers mean other processes. */
		if (pid == keep || waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
			continue;
		if (signo == SIGTERM && (*byte & bit || getpgid(pid) == group))
			continue;
		*byte |= bit;
		signal_one(pid, signo);
	}
}

void termination_message(const char *text)
{
	int fd = open("/dev/termination-log", O_WRONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !st.st_size &&
	    write(fd, text, strlen(text)) < 0)
		say("cannot write /dev/termination-log: %s", strerror(errno));
	close(fd);
}
