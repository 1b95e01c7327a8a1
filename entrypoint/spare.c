#include "spare.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stop.h"
#include "util.h"

/* A quarter of the time: nice(2) could not be taken back without a capability. */
#define RUN_MS        50
#define PAUSE_MS      150
#define WARM_LIMIT_MS 300000
#define ANSWER_MS     40 /* from the arguments to "go"; with the kill after it at most 50 */
#define OOM_FIRST     1000
#define SAYS_READY    "ready\n"
#define SAYS_GO       "go\n"
#define COUNT_BYTES   16

void spare_init(struct spare *s)
{
	*s = (struct spare){.report = -1, .socket = -1, .lock = -1};
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int open_socket(int ret_ends[2])
{
	int size = 2 * LINK_PACKET_MAX_BYTES;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret_ends) < 0)
		return errno;
	/* Room for all arguments at once: nobody reads while the spare is stopped. */
	setsockopt(ret_ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	return 0;
}

int spare_start(struct spare *s, const char *id, const struct spawn *spawn_as, int *lock_fd,
		int64_t until_ms, int64_t now_ms)
{
	struct spawn as = *spawn_as;
	int ends[2], error, report;
	pid_t pid;

	if (s->state != SPARE_NONE)
		return EBUSY;
	error = open_socket(ends);
	if (error)
		return error;
	as.stdin_fd = ends[1];
	as.fd3 = *lock_fd;
	pid = spawn(&as, &report);
	error = errno;
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return error;
	}
	spare_init(s);
	s->state = SPARE_WARMING;
	s->pid = pid;
	s->report = report;
	s->socket = ends[0];
	s->lock = *lock_fd;
	*lock_fd = -1;
	s->turn_ms = now_ms + RUN_MS;
	s->until_ms = until_ms ? until_ms : now_ms + WARM_LIMIT_MS;
	snprintf(s->id, sizeof(s->id), "%s", id);
	s->oom_raised = oom_score_set(pid, OOM_FIRST);
	s->oom_before = oom_kills();
	say_more("started the spare %s as process %d", s->id, (int)pid);
	return 0;
}

void spare_end(struct spare *s, int why)
{
	const char *text;

	if (s->state == SPARE_NONE || s->state == SPARE_ENDING)
		return;
	if (kill(-s->pid, SIGKILL) < 0)
		kill(s->pid, SIGKILL);
	text = why ? strerror(why) : "it died, or closed its end";
	if (s->state == SPARE_ASKED)
		say("the spare %s (process %d) does not take over the launch: %s", s->id,
		    (int)s->pid, text);
	else
		say_more("ending the spare %s (process %d): %s", s->id, (int)s->pid, text);
	s->state = SPARE_ENDING;
	s->why = why;
	close_fd(&s->socket);
}

/* ---- activation ---- */

static bool same_file(int a, int b)
{
	struct stat of_a, of_b;

	return a >= 0 && b >= 0 && !fstat(a, &of_a) && !fstat(b, &of_b) &&
	       of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* flock(2) belongs to the open file description: it is released through any descriptor of it, and
 * the spare has its own. Between the two calls another process can get it. */
static int pass_lock(int from, int to)
{
	return flock(from, LOCK_UN) < 0 || flock(to, LOCK_EX | LOCK_NB) < 0 ? errno : 0;
}

static int write_args(int socket, const struct spare_call *call)
{
	char count[COUNT_BYTES];
	int n = snprintf(count, sizeof(count), "%u", call->count);
	struct iovec iov[2] = {{count, (size_t)n + 1},
			       {(void *)(uintptr_t)call->args, call->args_bytes}};
	struct msghdr hdr = {.msg_iov = iov, .msg_iovlen = 2};
	ssize_t sent = sendmsg(socket, &hdr, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent < 0)
		return errno == EAGAIN ? EMSGSIZE : errno;
	if ((size_t)sent != iov[0].iov_len + iov[1].iov_len)
		return EMSGSIZE;
	return shutdown(socket, SHUT_WR) < 0 ? errno : 0;
}

bool spare_ask(struct spare *s, const struct spare_call *call, int64_t now_ms)
{
	int error;

	if (s->state != SPARE_READY || strcmp(s->id, call->id) != 0 ||
	    !same_file(s->lock, call->lock_fd))
		return false;
	s->state = SPARE_ASKED;
	s->asked = true;
	s->said_bytes = 0;
	s->until_ms = now_ms + ANSWER_MS;
	error = pass_lock(call->lock_fd, s->lock);
	if (!error && s->oom_raised && !oom_score_set(s->pid, oom_score()))
		error = EPERM;
	if (!error)
		error = write_args(s->socket, call);
	if (error)
		spare_end(s, error == EPIPE || error == ECONNRESET ? 0 : error);
	else
		kill(s->pid, SIGCONT);
	return true;
}

static bool says(const struct spare *s, const char *word)
{
	return s->said_bytes == strlen(word) && !memcmp(s->said, word, s->said_bytes);
}

enum spare_event spare_read(struct spare *s)
{
	const char *word = s->state == SPARE_WARMING ? SAYS_READY
			   : s->state == SPARE_ASKED ? SAYS_GO
						     : "";
	ssize_t n;

	if (s->socket < 0)
		return SPARE_NOTHING;
	n = recv(s->socket, s->said + s->said_bytes, sizeof(s->said) - s->said_bytes, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return SPARE_NOTHING;
	if (n <= 0) { /* this comes before SIGCHLD when it dies */
		spare_end(s, 0);
		return SPARE_NOTHING;
	}
	s->said_bytes += (size_t)n;
	if (s->said_bytes > strlen(word) || memcmp(s->said, word, s->said_bytes) != 0) {
		spare_end(s, EPROTO);
		return SPARE_NOTHING;
	}
	if (!says(s, word))
		return SPARE_NOTHING;
	s->said_bytes = 0;
	if (s->state == SPARE_ASKED)
		return SPARE_GOES;
	s->state = SPARE_READY;
	kill(s->pid, SIGSTOP);
	return SPARE_IS_READY;
}

pid_t spare_hand_over(struct spare *s)
{
	pid_t pid = s->pid;

	close_fd(&s->report);
	close_fd(&s->socket);
	close_fd(&s->lock); /* from here on only the child's processes hold it */
	spare_init(s);
	return pid;
}

/* ---- time ---- */

void spare_tick(struct spare *s, int64_t now_ms)
{
	if (s->state != SPARE_WARMING && s->state != SPARE_ASKED)
		return;
	if (now_ms >= s->until_ms) {
		spare_end(s, ETIMEDOUT);
		return;
	}
	if (s->state != SPARE_WARMING || now_ms < s->turn_ms)
		return;
	s->stopped = !s->stopped;
	s->turn_ms = now_ms + (s->stopped ? PAUSE_MS : RUN_MS);
	kill(s->pid, s->stopped ? SIGSTOP : SIGCONT);
}

int64_t spare_wake_ms(const struct spare *s)
{
	if (s->state == SPARE_WARMING)
		return s->turn_ms < s->until_ms ? s->turn_ms : s->until_ms;
	return s->state == SPARE_ASKED ? s->until_ms : STOP_NEVER;
}

/* ---- the end ---- */

void spare_reaped(struct spare *s, int wait_status, struct link_msg *ret)
{
	bool killed = WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL;
	int exec_errno = 0;

	*ret = (struct link_msg){.type = LINK_SPARE_GONE};
	memcpy(ret->launch_id, s->id, sizeof(ret->launch_id));
	if (spawn_report(s->report, &exec_errno) == SPAWN_FAILED) {
		ret->sys_errno = exec_errno;
	} else {
		ret->pid = s->pid;
		ret->wait_status = wait_status;
		ret->sys_errno = killed ? s->why : 0;
		if (killed && s->oom_before >= 0 && oom_kills() > s->oom_before)
			ret->flags = LINK_OOM_KILLED;
	}
	if (s->state == SPARE_ASKED)
		say("the spare %s (process %d) ended instead of taking over the launch", s->id,
		    (int)s->pid);
	if (group_is_ours(s->pid))
		kill(-s->pid, SIGKILL);
	if (s->asked)
		flock(s->lock, LOCK_UN);
	say_more("the spare %s (process %d) is gone", s->id, (int)s->pid);
	spare_hand_over(s);
}
