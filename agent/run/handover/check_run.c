#include "run/handover/check_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#define SELF         "/proc/self/exe"
#define OUTPUT_BYTES 65536 /* what is kept of its output */

static void become_check(const char *config_file, int out_fd)
{
	char *const argv[] = {"drey", "check", "--config", (char *)(uintptr_t)config_file, NULL};
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null_fd >= 0)
		dup2(null_fd, STDIN_FILENO);
	dup2(out_fd, STDOUT_FILENO);
	dup2(out_fd, STDERR_FILENO);
	execv(SELF, argv);
	_exit(127);
}

/* Until it closes its output, or the time is up. */
static void read_output(int fd, int64_t end_ms, struct buf *output)
{
	char chunk[4096];

	for (;;) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		int64_t left_ms = end_ms - clock_mono_ms();
		ssize_t got;

		if (left_ms <= 0 || poll(&wait, 1, (int)left_ms) <= 0)
			return;
		got = read(fd, chunk, sizeof(chunk));
		if (got <= 0 && errno != EINTR)
			return;
		if (got > 0 && output->len_bytes < OUTPUT_BYTES)
			buf_add(output, chunk, (size_t)got);
	}
}

static char *last_line(const struct buf *output)
{
	const char *text = buf_str(output);
	size_t end = output->len_bytes, begin;

	while (end && (text[end - 1] == '\n' || text[end - 1] == ' '))
		end--;
	begin = end;
	while (begin && text[begin - 1] != '\n')
		begin--;
	return end > begin ? xstrndup(text + begin, end - begin) : NULL;
}

/* The reason is in a line of its own, before what --explain adds. */
static char *reason(const struct buf *output)
{
	const char *found = strstr(buf_str(output), "would hold");
	size_t len = found ? strcspn(found, "\n") : 0;

	return found ? xstrndup(found, len) : last_line(output);
}

void check_run(const char *config_file, int64_t timeout_ms, struct check_result *ret_result)
{
	int64_t end_ms = clock_mono_ms() + timeout_ms;
	cleanup_buf struct buf output = BUF_INIT;
	int fds[2], status = 0;
	pid_t pid;

	*ret_result = (struct check_result){0};
	if (pipe2(fds, O_CLOEXEC) < 0) {
		ret_result->why = xasprintf("the check could not be started: %s", strerror(errno));
		return;
	}
	pid = fork();
	if (pid == 0)
		become_check(config_file, fds[1]);
	close(fds[1]);
	if (pid > 0)
		read_output(fds[0], end_ms, &output);
	close(fds[0]);
	if (pid < 0) {
		ret_result->why = xasprintf("the check could not be started: %s", strerror(errno));
		return;
	}
	if (clock_mono_ms() >= end_ms)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	ret_result->ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	if (!ret_result->ok)
		ret_result->why = reason(&output);
	if (!ret_result->ok && !ret_result->why)
		ret_result->why = xstrdup("the check was ended before it had a result");
}

void check_result_release(struct check_result *result)
{
	free(result->why);
	*result = (struct check_result){0};
}
