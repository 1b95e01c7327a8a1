#include "agent.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "stop.h"
#include "util.h"

#define BACKOFF_MIN_MS   100
#define BACKOFF_MAX_MS   30000
#define BACKOFF_RESET_MS 60000
#define CLOSED_LINK_MS   2000 /* time to exit for an agent that has closed the link */

void agent_init(struct agent *a, char *const *argv, char *const *envp, int cwd_fd)
{
	*a = (struct agent){
		.spawn = {.argv = argv,
			  .envp = envp,
			  .fd3 = -1,
			  .cwd_fd = cwd_fd,
			  .null_stdin = true},
		.link = -1,
		.report = -1,
		.kill_ms = STOP_NEVER,
		.backoff_ms = BACKOFF_MIN_MS,
	};
}

static void close_link(struct agent *a)
{
	if (a->link >= 0)
		close(a->link);
	a->link = -1;
}

/* Ends the exchange of messages; SIGKILL at kill_ms. */
static void give_up_on(struct agent *a, int64_t kill_ms)
{
	close_link(a);
	if (a->pid && kill_ms < a->kill_ms)
		a->kill_ms = kill_ms;
}

static void back_off(struct agent *a, int64_t now_ms)
{
	a->start_ms = now_ms + a->backoff_ms;
	a->backoff_ms = a->backoff_ms * 2 < BACKOFF_MAX_MS ? a->backoff_ms * 2 : BACKOFF_MAX_MS;
}

static void start(struct agent *a, struct link_msg *hello, int64_t now_ms)
{
	int ends[2], size = 2 * LINK_PACKET_MAX_BYTES;
	int64_t backoff_ms = a->backoff_ms;
	pid_t pid;

	back_off(a, now_ms); /* undone if it works */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		say("cannot create the agent's link: %s", strerror(errno));
		return;
	}
	/* Room for the largest LAUNCH where the system's default is smaller. */
	setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	a->spawn.fd3 = ends[1];
	pid = spawn(&a->spawn, &a->report);
	if (pid < 0)
		say("cannot start the agent yet: %s", strerror(errno));
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return;
	}
	a->pid = pid;
	a->link = ends[0];
	a->start_ms = STOP_NEVER;
	a->backoff_ms = backoff_ms;
	a->started_ms = now_ms;
	hello->type = LINK_HELLO;
	hello->restarts = a->starts++;
	agent_send(a, hello, now_ms);
	say_more("started the agent as process %d", (int)pid);
}

void agent_tick(struct agent *a, struct link_msg *hello, int64_t now_ms)
{
	if (!a->pid && a->start_ms <= now_ms)
		start(a, hello, now_ms);
	if (a->pid && a->kill_ms <= now_ms) {
		kill(a->pid, SIGKILL);
		a->kill_ms = STOP_NEVER;
	}
}

int64_t agent_wake_ms(const struct agent *a)
{
	return a->pid ? a->kill_ms : a->start_ms;
}

void agent_send(struct agent *a, struct link_msg *msg, int64_t now_ms)
{
	msg->version = LINK_VERSION;
	if (a->link < 0 ||
	    send(a->link, msg, sizeof(*msg), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*msg))
		return;
	if (errno == EPIPE || errno == ECONNRESET) {
		give_up_on(a, now_ms + CLOSED_LINK_MS);
		return;
	}
	say("the agent (process %d) does not accept messages: %s; killing it", (int)a->pid,
	    strerror(errno));
	give_up_on(a, now_ms);
}

/* Takes the first descriptor that came with a packet, closes all others. */
static int take_fd(struct msghdr *hdr)
{
	int fds[2], fd = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(hdr); c; c = CMSG_NXTHDR(hdr, c)) {
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || n > 2)
			continue;
		memcpy(fds, CMSG_DATA(c), n * sizeof(int));
		for (size_t i = 0; i < n; i++)
			if (fd < 0)
				fd = fds[i];
			else
				close(fds[i]);
	}
	return fd;
}

/* Points launch->vec into launch->text; returns 0 or EINVAL, E2BIG. */
static int unpack(struct agent_launch *l, const struct link_msg *msg, size_t text_bytes)
{
	char *at = l->text, *end = at + text_bytes;
	size_t strings = (size_t)msg->argc + msg->envc, slot = 0;

	if (msg->argc > LINK_STRINGS_MAX || msg->envc > LINK_STRINGS_MAX ||
	    strings > LINK_STRINGS_MAX)
		return E2BIG;
	if (!msg->argc || !memchr(msg->launch_id, '\0', sizeof(msg->launch_id)))
		return EINVAL;
	*end = '\0';
	for (size_t i = 0; i < strings; i++) {
		if (i == msg->argc)
			l->vec[slot++] = NULL;
		if (at >= end)
			return EINVAL;
		l->vec[slot++] = at;
		at += strlen(at) + 1;
	}
	if (at != end) /* one string too many, or the last is not terminated */
		return EINVAL;
	if (strings == msg->argc)
		l->vec[slot++] = NULL;
	l->vec[slot] = NULL;
	l->argv = l->vec;
	l->envp = l->vec + msg->argc + 1;
	return 0;
}

static bool acceptable(struct agent *a, const struct link_msg *msg, ssize_t n, int64_t now_ms)
{
	const char *why = "sent an invalid packet";

	if (n >= (ssize_t)sizeof(*msg) && msg->version == LINK_VERSION &&
	    msg->type >= LINK_LAUNCH && msg->type <= LINK_SPARE_END)
		return true;
	if (n >= (ssize_t)sizeof(msg->version) && msg->version != LINK_VERSION) {
		a->wrong_version = true;
		why = "uses another version of the link protocol than this drey-init";
	}
	say("the agent (process %d) %s; killing it", (int)a->pid, why);
	give_up_on(a, now_ms);
	return false;
}

static bool has_strings(const struct link_msg *msg)
{
	return msg->type == LINK_LAUNCH || msg->type == LINK_SPARE;
}

enum agent_event agent_receive(struct agent *a, struct link_msg *ret_msg,
			       struct agent_launch *launch, int64_t now_ms)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct link_msg msg;
	struct iovec iov[2] = {{&msg, sizeof(msg)}};
	struct msghdr hdr = {.msg_iov = iov, .msg_iovlen = 1};
	ssize_t n;
	int fd;

	if (launch)
		iov[hdr.msg_iovlen++] = (struct iovec){launch->text, sizeof(launch->text) - 1};
	hdr.msg_control = control;
	hdr.msg_controllen = sizeof(control);
	n = recvmsg(a->link, &hdr, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return AGENT_NOTHING;
	if (n <= 0) {
		give_up_on(a, now_ms + CLOSED_LINK_MS);
		return AGENT_NOTHING;
	}
	fd = take_fd(&hdr);
	if (!acceptable(a, &msg, n, now_ms) || !has_strings(&msg) || !launch) {
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	if (a->link < 0)
		return AGENT_NOTHING;
	if (has_strings(&msg) && launch) {
		launch->fd = fd;
		msg.sys_errno = hdr.msg_flags & MSG_TRUNC
					? E2BIG
					: unpack(launch, &msg, (size_t)n - sizeof(msg));
	}
	msg.launch_id[LINK_LAUNCH_ID_BYTES - 1] = '\0';
	msg.spare_id[LINK_LAUNCH_ID_BYTES - 1] = '\0';
	*ret_msg = msg;
	return AGENT_MESSAGE;
}

void agent_reaped(struct agent *a, int64_t now_ms, int *ret_exec_errno)
{
	*ret_exec_errno = 0;
	if (spawn_report(a->report, ret_exec_errno) != SPAWN_FAILED)
		*ret_exec_errno = 0;
	close(a->report);
	close_link(a);
	a->pid = 0;
	a->kill_ms = STOP_NEVER;
	if (now_ms - a->started_ms >= BACKOFF_RESET_MS)
		a->backoff_ms = BACKOFF_MIN_MS;
	back_off(a, now_ms);
}
