#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "signals.h"
#include "status.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static const char *path_of(char *const *envp)
{
	for (; *envp; envp++)
		if (!strncmp(*envp, "PATH=", 5))
			return *envp + 5;
	return DEFAULT_PATH;
}

/* execvpe(3) without its fallback: a file that is not a program is not passed to /bin/sh. Returns
 * errno. */
static int exec_search(char *const *argv, char *const *envp)
{
	const char *dir = path_of(envp), *end;
	char file[PATH_MAX];
	int worst = ENOENT;

	if (strchr(argv[0], '/')) {
		execve(argv[0], argv, envp);
		return errno;
	}
	for (;; dir = end + 1) {
		int n;

		end = strchrnul(dir, ':');
		n = snprintf(file, sizeof(file), "%.*s%s%s", (int)(end - dir), dir,
			     end > dir ? "/" : "", argv[0]);
		if (*argv[0] && n > 0 && (size_t)n < sizeof(file)) {
			execve(file, argv, envp);
			if (errno == EACCES)
				worst = EACCES;
			else if (errno != ENOENT && errno != ENOTDIR)
				return errno;
		}
		if (!*end)
			return worst;
	}
}

/* SIGTTOU is blocked here, so a background group may do this too. Any failure only means: no
 * terminal. */
static void take_foreground(pid_t parent_group)
{
	if (isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == parent_group)
		tcsetpgrp(STDIN_FILENO, getpid());
}

static int set_up(const struct spawn *s, pid_t parent, pid_t parent_group)
{
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* died before the line above */
		_exit(STATUS_SYSTEM);
	setpgid(0, 0);
	if (s->foreground)
		take_foreground(parent_group);
	if (s->null_stdin && (fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		dup2(fd, STDIN_FILENO);
	if (s->stdin_fd > 0 && dup2(s->stdin_fd, STDIN_FILENO) < 0)
		return errno;
	if (s->cwd_fd >= 0 && fchdir(s->cwd_fd) < 0)
		return errno;
	if (s->fd3 == 3 && fcntl(3, F_SETFD, 0) < 0)
		return errno;
	if (s->fd3 >= 0 && s->fd3 != 3 && dup2(s->fd3, 3) < 0)
		return errno;
	return 0;
}

pid_t spawn(const struct spawn *s, int *ret_report)
{
	pid_t parent = getpid(), parent_group = getpgrp(), pid;
	int ends[2], error, high;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	high = fcntl(ends[1], F_DUPFD_CLOEXEC, 10); /* out of the way of descriptor 3 */
	error = errno;
	close(ends[1]);
	pid = high < 0 ? -1 : fork();
	if (high >= 0)
		error = errno;
	if (!pid) {
		error = set_up(s, parent, parent_group);
		if (!error) {
			signals_restore();
			error = exec_search(s->argv, s->envp);
		}
		if (write(high, &error, sizeof(error)) < 0)
			_exit(STATUS_SYSTEM);
		_exit(spawn_exit_status(error));
	}
	if (high >= 0)
		close(high);
	if (pid < 0) {
		close(ends[0]);
		errno = error;
		return -1;
	}
	setpgid(pid, pid); /* fails after the exec of the child, which has then done it itself */
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	*ret_report = ends[0];
	return pid;
}

enum spawn_state spawn_report(int report, int *ret_errno)
{
	int error;
	ssize_t n = read(report, &error, sizeof(error));

	if (n == sizeof(error)) {
		*ret_errno = error;
		return SPAWN_FAILED;
	}
	return n < 0 && errno == EAGAIN ? SPAWN_PENDING : SPAWN_RUNNING;
}

int spawn_exit_status(int exec_errno)
{
	switch (exec_errno) {
	case ENOENT:
	case ENOTDIR:
		return STATUS_NOT_FOUND;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
	case EAGAIN:
		return STATUS_SYSTEM;
	default:
		return STATUS_NOT_EXECUTABLE;
	}
}
