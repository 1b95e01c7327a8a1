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

/* Only what is safe between fork and exec: other threads may have had locks. */
static void become(const struct child_call *call, int null_fd, int out_fd, int err_fd)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null_fd >= 0)
		dup2(null_fd, STDIN_FILENO);
	dup2(out_fd, STDOUT_FILENO);
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

/* The pipes; standard error has one of its own only if the caller wants it. */
static int open_streams(const struct child_call *call, struct stream streams[2], struct err *err)
{
	for (size_t i = 0; i < (call->errors ? 2 : 1); i++)
		if (pipe2(streams[i].fds, O_CLOEXEC) < 0) {
			int sys = errno;

			close_end(&streams[0].fds[0]);
			close_end(&streams[0].fds[1]);
			return err_set(err, ERR_SYS, sys, "pipe");
		}
	return 0;
}

static pid_t spawn(const struct child_call *call, struct stream streams[2])
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	int out_fd = streams[0].fds[1];
	pid_t pid = fork();
	int sys = errno;

	if (pid == 0)
		become(call, null_fd, out_fd, call->errors ? streams[1].fds[1] : out_fd);
	close_end(&null_fd);
	for (size_t i = 0; i < 2; i++)
		close_end(&streams[i].fds[1]);
	if (pid > 0)
		setpgid(pid,
			pid); /* fails after the exec of the child, which has then done it itself */
	errno = sys;
	return pid;
}

int child_output(const struct child_call *call, struct buf *output, int *ret_status,
		 struct err *err)
{
	int64_t end_ms = clock_mono_ms() + call->timeout_ms;
	struct stream streams[2] = {{{-1, -1}, output, 0}, {{-1, -1}, call->errors, 0}};
	enum reading reading;
	int sys, status = 0;
	pid_t pid;

	if (call->max_bytes)
		streams[0].max_bytes = output->len_bytes + call->max_bytes;
	if (open_streams(call, streams, err) < 0)
		return -1;
	pid = spawn(call, streams);
	sys = errno;
	reading = pid > 0 ? read_output(call, streams, end_ms) : READ_WHOLE;
	for (size_t i = 0; i < 2; i++)
		close_end(&streams[i].fds[0]);
	if (pid < 0)
		return err_set(err, ERR_SYS, sys, "fork");
	if (reading == READ_FLOOD) {
		end_group(pid);
		return err_set(err, ERR_FORMAT, 0, "%s has printed more than %zu bytes", call->path,
			       call->max_bytes);
	}
	if (reading == READ_LATE || !wait_until(pid, end_ms, &status)) {
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
