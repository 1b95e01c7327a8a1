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

/* A pipe from the child, and what has come out of it. */
struct stream {
	int fds[2]; /* -1: closed */
	struct buf *text;
	size_t max_bytes; /* 0: no limit */
};

enum reading { READ_WHOLE, READ_LATE, READ_FLOOD };

/* Only what is safe between fork and exec here and below: other threads may have had locks. */

/*
 * Start a process that kills the group when life_fd says that the caller has ended. It has no parent that waits for it, so
 * that the program does not find it among its own, and a shell, so that it is not taken for the caller.
 */
static void start_watch(int life_fd, int null_fd)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"read -r _; kill -KILL 0", NULL};
	char *env[] = {NULL};
	pid_t pid = fork();

	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (pid != 0)
		return;
	if (fork() != 0)
		_exit(0);
	dup2(life_fd, STDIN_FILENO);
	dup2(null_fd, STDOUT_FILENO);
	dup2(null_fd, STDERR_FILENO);
	execve("/bin/sh", argv, env);
	_exit(0);
}

static void become(const struct child_call *call, int life_fd, int null_fd, int out_fd, int err_fd)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	start_watch(life_fd, null_fd);
	if (null_fd >= 0)
		dup2(null_fd, STDIN_FILENO);
	dup2(out_fd, STDOUT_FILENO);
	if (!call->only_output)
		dup2(err_fd, STDERR_FILENO);
	if (call->env)
		execvpe(call->path, call->argv, call->env);
	else
		execvp(call->path, call->argv);
	_exit(NOT_EXECUTED);
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
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

/* What is there now. False: more than max_bytes. */
static bool read_stream(struct stream *stream, size_t keep_bytes)
{
	char chunk[4096];
	ssize_t got = read(stream->fds[0], chunk, sizeof(chunk));
	bool fits = true;

	if (got > 0 && !stream->max_bytes)
		keep(stream->text, chunk, (size_t)got, keep_bytes);
	else if (got > 0 && (size_t)got <= stream->max_bytes - stream->text->len_bytes)
		buf_add(stream->text, chunk, (size_t)got);
	else if (got > 0)
		fits = false;
	else if (got == 0 || errno != EINTR)
		close_end(&stream->fds[0]);
	explicit_bzero(chunk, sizeof(chunk)); /* it may be a password */
	return fits;
}

/* Read until the last writer has closed them. */
static enum reading read_output(const struct child_call *call, struct stream streams[2],
				int64_t end_ms)
{
	while (streams[0].fds[0] >= 0 || streams[1].fds[0] >= 0) {
		struct pollfd wait[2] = {{.fd = streams[0].fds[0], .events = POLLIN},
					 {.fd = streams[1].fds[0], .events = POLLIN}};
		int64_t left_ms = end_ms - clock_mono_ms();
		int ready = left_ms > 0 ? poll(wait, 2, (int)left_ms) : 0;

		if (ready == 0)
			return READ_LATE;
		if (ready < 0 && errno != EINTR)
			return READ_WHOLE;
		for (size_t i = 0; ready > 0 && i < 2; i++)
			if (wait[i].revents && !read_stream(&streams[i], call->keep_bytes))
				return READ_FLOOD;
	}
	return READ_WHOLE;
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

/* A child and its pipes. */
struct child {
	pid_t pid;
	int life[2]; /* nothing is written: its end says that the caller has ended */
	struct stream streams[2];
};

static void close_pipes(struct child *child)
{
	for (size_t i = 0; i < 2; i++) {
		close_end(&child->life[i]);
		close_end(&child->streams[0].fds[i]);
		close_end(&child->streams[1].fds[i]);
	}
}

/* Standard error has a pipe of its own only if the caller wants it. */
static int open_pipes(const struct child_call *call, struct child *child, struct err *err)
{
	if (pipe2(child->life, O_CLOEXEC) == 0 && pipe2(child->streams[0].fds, O_CLOEXEC) == 0 &&
	    (!call->errors || pipe2(child->streams[1].fds, O_CLOEXEC) == 0))
		return 0;
	err_set(err, ERR_SYS, errno, "pipe");
	close_pipes(child);
	return -1;
}

static int start_child(const struct child_call *call, struct child *child, struct err *err)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	int out_fd = child->streams[0].fds[1], sys;

	child->pid = fork();
	sys = errno;
	if (child->pid == 0)
		become(call, child->life[0], null_fd, out_fd,
		       call->errors ? child->streams[1].fds[1] : out_fd);
	close_end(&null_fd);
	if (child->pid < 0) {
		close_pipes(child);
		return err_set(err, ERR_SYS, sys, "fork");
	}
	setpgid(child->pid, child->pid); /* fails after its exec; it has then done it itself */
	close_end(&child->life[0]);
	close_end(&child->streams[0].fds[1]);
	close_end(&child->streams[1].fds[1]);
	return 0;
}

int child_output(const struct child_call *call, struct buf *output, int *ret_status,
		 struct err *err)
{
	int64_t end_ms = clock_mono_ms() + call->timeout_ms;
	struct child child = {.life = {-1, -1},
			      .streams = {{{-1, -1}, output, 0}, {{-1, -1}, call->errors, 0}}};
	enum reading reading;
	int status = 0;
	bool late;

	if (call->max_bytes)
		child.streams[0].max_bytes = output->len_bytes + call->max_bytes;
	if (open_pipes(call, &child, err) < 0 || start_child(call, &child, err) < 0)
		return -1;
	reading = read_output(call, child.streams, end_ms);
	late = reading == READ_LATE ||
	       (reading == READ_WHOLE && !wait_until(child.pid, end_ms, &status));
	if (late || reading == READ_FLOOD)
		end_group(child.pid);
	close_pipes(&child);
	if (late)
		return err_set(err, ERR_RETRY, 0, "%s has not ended after %" PRId64 " ms",
			       call->path, call->timeout_ms);
	if (reading == READ_FLOOD)
		return err_set(err, ERR_FORMAT, 0, "%s has printed more than %zu bytes", call->path,
			       call->max_bytes);
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
