#include "base/child_output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

#define NOT_EXECUTED  127
#define STATUS_SIGNAL 128
#define LOOK_MS       10

/* Only what is safe between fork and exec: other threads may have had locks. */
static void become(const struct child_call *call, int null_fd, int out_fd)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null_fd >= 0)
		dup2(null_fd, STDIN_FILENO);
	dup2(out_fd, STDOUT_FILENO);
	dup2(out_fd, STDERR_FILENO);
	if (call->env)
		execvpe(call->path, call->argv, call->env);
	else
		execvp(call->path, call->argv);
	_exit(NOT_EXECUTED);
}

static void keep(struct buf *output, const char *chunk, size_t len, size_t keep_bytes)
{
	buf_add(output, chunk, len);
	/* now and then, so that it is not moved for each line */
	if (output->len_bytes > 2 * keep_bytes) {
		struct buf rest = BUF_INIT;

		buf_add(&rest, output->data + output->len_bytes - keep_bytes, keep_bytes);
		buf_release(output);
		*output = rest;
	}
}

/* Read until the last writer has closed it. False: the time limit came first. */
static bool read_output(const struct child_call *call, int fd, int64_t end_ms, struct buf *output)
{
	char chunk[4096];

	for (;;) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		int64_t left_ms = end_ms - clock_mono_ms();
		int ready = left_ms > 0 ? poll(&wait, 1, (int)left_ms) : 0;
		ssize_t got;

		if (ready == 0)
			return false;
		if (ready < 0 && errno != EINTR)
			return true;
		got = ready > 0 ? read(fd, chunk, sizeof(chunk)) : -1;
		if (got > 0)
			keep(output, chunk, (size_t)got, call->keep_bytes);
		else if (got == 0 || errno != EINTR)
			return true;
	}
}

/* One that has closed its output may run on. */
static bool wait_until(pid_t pid, int64_t end_ms, int *ret_status)
{
	pid_t got;

	while ((got = waitpid(pid, ret_status, WNOHANG)) == 0 && clock_mono_ms() < end_ms)
		poll(NULL, 0, LOOK_MS);
	return got != 0;
}

static void end_group(pid_t pid)
{
	kill(-pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int child_output(const struct child_call *call, struct buf *output, int *ret_status,
		 struct err *err)
{
	int64_t end_ms = clock_mono_ms() + call->timeout_ms;
	int fds[2], null_fd, sys, status = 0;
	pid_t pid;
	bool in_time;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(err, ERR_SYS, errno, "pipe");
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid = fork();
	sys = errno;
	if (pid == 0)
		become(call, null_fd, fds[1]);
	close(fds[1]);
	if (null_fd >= 0)
		close(null_fd);
	if (pid < 0) {
		close(fds[0]);
		return err_set(err, ERR_SYS, sys, "fork");
	}
	setpgid(pid, pid); /* fails after the exec of the child, which has then done it itself */
	in_time = read_output(call, fds[0], end_ms, output);
	close(fds[0]);
	if (!in_time || !wait_until(pid, end_ms, &status)) {
		end_group(pid);
		return err_set(err, ERR_RETRY, 0, "%s has not ended after %" PRId64 " ms",
			       call->path, call->timeout_ms);
	}
	*ret_status = WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
	return 0;
}

const char *child_last_line(const char *text)
{
	size_t end = strlen(text);

	while (end && strchr("\n ", text[end - 1]))
		end--;
	while (end && text[end - 1] != '\n')
		end--;
	return text + end;
}
