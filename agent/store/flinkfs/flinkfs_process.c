#include "store/flinkfs/flinkfs_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_output.h"
#include "base/clock.h"
#include "base/mem.h"

#define NOT_EXECUTED 127
#define SLICE_MS     200 /* how long a stop may go unnoticed */
#define READ_BYTES   ((size_t)64 * 1024)
#define SAID_CHARS   200 /* of its last line, in a message */
#define EARLY_OOM    "1000\n"

/* ---- start and end ---- */

/* Only what is safe between fork and exec. If memory runs out, it is this process that should go; its files in /proc are
 * root's while it is not dumpable (run/sandbox.h), which the exec ends in any case. */
static void become_java(const int fds[3], char *const *argv, char *const *env)
{
	sigset_t none;
	int score;

	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (score >= 0 && write(score, EARLY_OOM, sizeof(EARLY_OOM) - 1) < 0)
		score = -1; /* not allowed: it stays as it is */
	for (int i = 0; i < 3; i++)
		dup2(fds[i], i);
	execve(argv[0], argv, env);
	_exit(NOT_EXECUTED);
}

static void close_pair(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

static int open_pipes(int pipes[3][2], struct err *err)
{
	for (int i = 0; i < 3; i++) {
		int sys = pipe2(pipes[i], O_CLOEXEC) < 0 ? errno : 0;

		if (!sys)
			continue;
		while (i-- > 0)
			close_pair(pipes[i]);
		return err_set(err, ERR_SYS, sys, "pipe");
	}
	return 0;
}

static void unblock(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int flinkfs_process_start(struct flinkfs_process *process, char *const *argv, char *const *env,
			  struct err *err)
{
	int pipes[3][2], sys;
	pid_t pid;

	if (access(argv[0], X_OK) < 0)
		return err_set(err, ERR_SYS, errno, "%s cannot be executed", argv[0]);
	if (open_pipes(pipes, err) < 0)
		return -1;
	pid = fork();
	sys = errno;
	if (pid == 0)
		become_java((const int[]){pipes[0][0], pipes[1][1], pipes[2][1]}, argv, env);
	close(pipes[0][0]);
	close(pipes[1][1]);
	close(pipes[2][1]);
	process->in_fd = pipes[0][1];
	process->out_fd = pipes[1][0];
	process->err_fd = pipes[2][0];
	if (pid < 0) {
		flinkfs_process_end(process);
		return err_set(err, ERR_SYS, sys, "fork");
	}
	setpgid(pid, pid); /* fails after its exec: it has then done it itself */
	process->pid = pid;
	for (int i = 0; i < 3; i++)
		unblock((const int[]){process->in_fd, process->out_fd, process->err_fd}[i]);
	return 0;
}

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void flinkfs_process_end(struct flinkfs_process *process)
{
	close_end(&process->in_fd);
	close_end(&process->out_fd);
	close_end(&process->err_fd);
	if (process->pid > 0) {
		kill(-process->pid, SIGKILL);
		kill(process->pid, SIGKILL); /* it may not be a leader yet */
		while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	process->pid = 0;
	process->used_bytes = 0;
	buf_release(&process->log);
	buf_release(&process->bytes);
}

/* ---- the conversation ---- */

/* Only the end is kept. */
static void keep_log(struct buf *log, const char *bytes, size_t len)
{
	buf_add(log, bytes, len);
	if (log->len_bytes > 2 * FLINKFS_LOG_BYTES) {
		struct buf rest = BUF_INIT;

		buf_add(&rest, log->data + log->len_bytes - FLINKFS_LOG_BYTES, FLINKFS_LOG_BYTES);
		buf_release(log);
		*log = rest;
	}
}

static void read_log(struct flinkfs_process *process)
{
	char chunk[4096];
	ssize_t got;

	if (process->err_fd < 0)
		return;
	while ((got = read(process->err_fd, chunk, sizeof(chunk))) > 0)
		keep_log(&process->log, chunk, (size_t)got);
	if (got == 0 || (errno != EAGAIN && errno != EINTR))
		close_end(&process->err_fd);
}

/* "WHAT", or "WHAT; it has printed: LINE". */
static int process_fail(struct flinkfs_process *process, enum err_kind kind, const char *what,
			struct err *err)
{
	const char *line;
	size_t len;

	read_log(process);
	line = child_last_line(buf_str(&process->log));
	len = strcspn(line, "\n");
	if (!len)
		return err_set(err, kind, 0, "%s", what);
	return err_set(err, kind, 0, "%s; it has printed: %.*s", what,
		       (int)(len < SAID_CHARS ? len : SAID_CHARS), line);
}

/* Wait until `fd` is ready for `events`, and keep what comes on standard error meanwhile. */
static int wait_ready(struct flinkfs_process *process, int fd, short events, int64_t end_ms,
		      struct err *err)
{
	for (;;) {
		struct pollfd fds[2] = {{.fd = fd, .events = events},
					{.fd = process->err_fd, .events = POLLIN}};
		int64_t left_ms = end_ms - clock_mono_ms();

		if (process->stop && *process->stop)
			return err_set(err, ERR_RETRY, 0, "drey ends");
		if (left_ms <= 0)
			return process_fail(process, ERR_RETRY, "it does not answer", err);
		if (poll(fds, 2, (int)(left_ms < SLICE_MS ? left_ms : SLICE_MS)) < 0)
			continue;
		if (fds[1].revents)
			read_log(process);
		if (fds[0].revents)
			return 0;
	}
}

int flinkfs_process_send(struct flinkfs_process *process, const struct buf *frame, int64_t end_ms,
			 struct err *err)
{
	size_t sent = 0;

	while (sent < frame->len_bytes) {
		ssize_t put = write(process->in_fd, frame->data + sent, frame->len_bytes - sent);

		if (put > 0)
			sent += (size_t)put;
		else if (put < 0 && errno == EAGAIN) {
			if (wait_ready(process, process->in_fd, POLLOUT, end_ms, err) < 0)
				return -1;
		} else if (errno != EINTR)
			return process_fail(process, ERR_RETRY, "it has ended", err);
	}
	return 0;
}

/* At least so many bytes from the beginning of `bytes`. */
static int fill_bytes(struct flinkfs_process *process, size_t want, int64_t end_ms, struct err *err)
{
	while (process->bytes.len_bytes < want) {
		char chunk[READ_BYTES];
		ssize_t got = read(process->out_fd, chunk, sizeof(chunk));

		if (got > 0)
			buf_add(&process->bytes, chunk, (size_t)got);
		else if (got == 0)
			return process_fail(process, ERR_RETRY, "it has ended", err);
		else if (errno == EAGAIN || errno == EINTR) {
			if (wait_ready(process, process->out_fd, POLLIN, end_ms, err) < 0)
				return -1;
		} else
			return err_set(err, ERR_RETRY, errno, "read its answer");
	}
	return 0;
}

static void drop_used(struct flinkfs_process *process)
{
	struct buf *bytes = &process->bytes;

	if (process->used_bytes) {
		bytes->len_bytes -= process->used_bytes;
		memmove(bytes->data, bytes->data + process->used_bytes, bytes->len_bytes + 1);
	}
	process->used_bytes = 0;
}

int flinkfs_process_receive(struct flinkfs_process *process, int64_t end_ms,
			    struct flinkfs_frame *ret_frame, struct err *err)
{
	struct err why = {0};
	uint32_t len = 0;

	drop_used(process);
	if (fill_bytes(process, FLINKFS_HEAD, end_ms, err) < 0)
		return -1;
	if (flinkfs_frame_length(process->bytes.data, &len, &why) < 0 ||
	    (fill_bytes(process, FLINKFS_HEAD + len, end_ms, &why) < 0))
		return why.kind == ERR_FORMAT
			       ? process_fail(process, ERR_FORMAT, "it answers something else", err)
			       : err_set(err, why.kind, 0, "%s", why.msg);
	if (flinkfs_frame_parse(process->bytes.data + FLINKFS_HEAD, len, ret_frame, &why) < 0)
		return err_set(err, ERR_FORMAT, 0, "it answers %s", why.msg);
	process->used_bytes = FLINKFS_HEAD + len;
	return 0;
}
