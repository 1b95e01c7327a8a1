#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *build_dir(void)
{
	static char dir[4000];
	const char *build = getenv("BUILD");

	if (!*dir && !realpath(build ? build : "build", dir))
		abort();
	return dir;
}

static const char *in_build(const char *name)
{
	static char path[2][4200];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", build_dir(), name);
	return path[turn];
}

const char *rig_puppet(void)
{
	static char path[4200];

	snprintf(path, sizeof(path), "%s/tests/init/puppet", build_dir());
	return path;
}

bool rig_sanitized(void)
{
	const char *build = build_dir(), *last = strrchr(build, '/');

	return !strcmp(last ? last : build, "/san");
}

int64_t rig_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t rig_best_ms(int64_t (*run)(void), int64_t limit_ms)
{
	int64_t best_ms = INT64_MAX;

	for (int i = 0; i < RIG_TRIES && best_ms >= limit_ms; i++) {
		int64_t ms = run();

		best_ms = ms < best_ms ? ms : best_ms;
	}
	return best_ms;
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* The child's half of a start: never returns. `gate` gets the reason when it has to be skipped. */
static void become_init(rig_prepare *prepare, void *arg, int gate, int out, const char *const *argv)
{
	const char *args[64] = {in_build("drey-init")}, *why = NULL;
	int n = 1, null = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(null, 0);
	dup2(out, 1);
	dup2(out, 2);
	close(out);
	close(null);
	while (*argv && n < 63)
		args[n++] = *argv++;
	if (prepare)
		why = prepare(arg);
	if (!why) {
		execv(args[0], (char *const *)args);
		why = strerror(errno);
	}
	if (write(gate, why, strlen(why)) < 0)
		_exit(99);
	_exit(98);
}

static bool start(struct rig *rig, unsigned long flags, rig_prepare *prepare, void *arg,
		  const char *const *argv)
{
	char why[200] = "";
	int out[2], gate[2];
	ssize_t n;

	rig->text = calloc(1, RIG_OUT_BYTES);
	rig->text_bytes = 0;
	rig->started_ms = rig_now_ms();
	if (!rig->text || pipe2(out, O_CLOEXEC) < 0 || pipe2(gate, O_CLOEXEC) < 0)
		abort();
	fflush(stdout);
	rig->pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
	if (!rig->pid)
		become_init(prepare, arg, gate[1], out[1], argv);
	close(out[1]);
	close(gate[1]);
	rig->out = out[0];
	fcntl(rig->out, F_SETFL, O_NONBLOCK);
	if (rig->pid < 0)
		snprintf(why, sizeof(why), "%s", strerror(errno));
	else if ((n = read(gate[0], why, sizeof(why) - 1)) > 0) {
		why[n] = '\0';
		waitpid(rig->pid, NULL, 0);
	}
	close(gate[0]);
	if (*why) {
		static char kept[220];

		snprintf(kept, sizeof(kept), "not possible here: %s", why);
		tap_skip(kept);
		return false;
	}
	return true;
}

bool rig_start(struct rig *rig, rig_prepare *prepare, void *arg, const char *const *argv)
{
	return start(rig, 0, prepare, arg, argv);
}

static const char *own_proc(void *arg)
{
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) < 0)
		return "cannot mount /proc in a namespace";
	return arg ? ((rig_prepare *)arg)(NULL) : NULL;
}

bool rig_start_pid1(struct rig *rig, rig_prepare *prepare, const char *const *argv)
{
	return start(rig, CLONE_NEWPID | CLONE_NEWNS, own_proc, (void *)prepare, argv);
}

static void drain(struct rig *rig)
{
	ssize_t n;

	while (rig->text_bytes < RIG_OUT_BYTES - 1 &&
	       (n = read(rig->out, rig->text + rig->text_bytes,
			 RIG_OUT_BYTES - 1 - rig->text_bytes)) > 0)
		rig->text_bytes += (size_t)n;
}

bool rig_says(struct rig *rig, const char *text)
{
	int64_t limit_ms = rig_now_ms() + RIG_LIMIT_MS;

	while (rig_now_ms() < limit_ms) {
		struct pollfd pfd = {.fd = rig->out, .events = POLLIN};

		drain(rig);
		if (strstr(rig->text, text))
			return true;
		poll(&pfd, 1, 100);
		if (pfd.revents == POLLHUP)
			break;
	}
	drain(rig);
	if (strstr(rig->text, text))
		return true;
	tap_note("never said \"%s\", but: %.600s", text, rig->text);
	return false;
}

int rig_count(struct rig *rig, const char *text)
{
	int n = 0;

	drain(rig);
	for (const char *at = rig->text; (at = strstr(at, text)); at++)
		n++;
	return n;
}

long rig_number(struct rig *rig, const char *label)
{
	const char *at;

	drain(rig);
	at = strstr(rig->text, label);
	return at ? strtol(at + strlen(label), NULL, 10) : -1;
}

int rig_wait(struct rig *rig)
{
	int64_t limit_ms = rig_now_ms() + RIG_LIMIT_MS;
	int status = 0;
	pid_t got;

	while (!(got = waitpid(rig->pid, &status, WNOHANG)) && rig_now_ms() < limit_ms) {
		drain(rig);
		nap();
	}
	if (!got) {
		kill(rig->pid, SIGKILL);
		waitpid(rig->pid, &status, 0);
	}
	drain(rig);
	close(rig->out);
	if (rig->listener > 0) {
		close(rig->listener);
		close(rig->link);
		close(rig->control);
		unlink(rig->socket);
	}
	if (!got)
		tap_note("drey-init did not end; it said: %.600s", rig->text);
	return !got ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

bool rig_gone(pid_t pid)
{
	int64_t limit_ms = rig_now_ms() + RIG_LIMIT_MS;

	while (!kill(pid, 0)) {
		if (rig_now_ms() > limit_ms)
			return false;
		nap();
	}
	return true;
}

bool rig_state(pid_t pid, char state)
{
	int64_t limit_ms = rig_now_ms() + RIG_LIMIT_MS;
	char path[64], line[200];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	while (rig_now_ms() < limit_ms) {
		const char *at;

		fd = open(path, O_RDONLY);
		if (fd < 0)
			return false;
		n = read(fd, line, sizeof(line) - 1);
		close(fd);
		line[n > 0 ? n : 0] = '\0';
		at = strrchr(line, ')');
		if (at && at[2] == state)
			return true;
		nap();
	}
	return false;
}

int rig_open_files(pid_t pid)
{
	char path[64];
	int n = 0;

	for (int fd = 0; fd < 256; fd++) {
		char target[8];

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
		n += readlink(path, target, sizeof(target)) >= 0;
	}
	return n;
}

/* ---- as the agent ---- */

bool rig_next_agent(struct rig *rig)
{
	struct pollfd pfd = {.fd = rig->listener, .events = POLLIN};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec iov = {&byte, 1};
	struct msghdr hdr = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	struct ucred cred;
	socklen_t len = sizeof(cred);

	close(rig->link);
	close(rig->control);
	rig->link = rig->control = -1;
	if (poll(&pfd, 1, RIG_LIMIT_MS) != 1) {
		tap_note("no agent came; drey-init said: %.600s", rig->text);
		return false;
	}
	rig->control = accept4(rig->listener, NULL, NULL, SOCK_CLOEXEC);
	getsockopt(rig->control, SOL_SOCKET, SO_PEERCRED, &cred, &len);
	rig->agent = cred.pid;
	if (recvmsg(rig->control, &hdr, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&hdr))
		return false;
	memcpy(&rig->link, CMSG_DATA(CMSG_FIRSTHDR(&hdr)), sizeof(int));
	return true;
}

bool rig_agent(struct rig *rig, rig_prepare *prepare, void *arg, bool pid1,
	       const char *const *options)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	const char *argv[32] = {"--agent"};
	static int serial;
	int n = 1;

	while (options && *options)
		argv[n++] = *options++;
	argv[n++] = "--";
	argv[n++] = rig_puppet();
	argv[n++] = "agent";
	argv[n++] = rig->socket;
	snprintf(rig->socket, sizeof(rig->socket), "/tmp/drey-rig-%d-%d", (int)getpid(), serial++);
	strcpy(addr.sun_path, rig->socket);
	rig->link = rig->control = -1;
	rig->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(rig->listener, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    chmod(rig->socket, 0777) < 0 || listen(rig->listener, 8) < 0)
		abort();
	if (!(pid1 ? rig_start_pid1(rig, prepare, argv) : rig_start(rig, prepare, arg, argv)))
		return false;
	return rig_next_agent(rig);
}

void rig_tell_agent(struct rig *rig, const char *what)
{
	if (send(rig->control, what, strlen(what) + 1, MSG_NOSIGNAL) < 0)
		tap_note("the fake agent is gone");
}

bool rig_recv(struct rig *rig, struct link_msg *ret)
{
	struct pollfd pfd = {.fd = rig->link, .events = POLLIN};

	return poll(&pfd, 1, RIG_LIMIT_MS) == 1 &&
	       recv(rig->link, ret, sizeof(*ret), 0) == sizeof(*ret);
}

bool rig_expect(struct rig *rig, enum link_type type, struct link_msg *ret)
{
	struct link_msg msg = {0};
	bool ok = rig_recv(rig, &msg);

	if (!ok || msg.type != type)
		tap_note("wanted message %d, got %d (%s); drey-init said: %.600s", type, msg.type,
			 ok ? "" : "nothing", rig->text);
	if (ret)
		*ret = msg;
	return ok && msg.type == type && msg.version == LINK_VERSION;
}

void rig_send(struct rig *rig, enum link_type type, int signo, int exit_status, uint32_t flags)
{
	struct link_msg msg = {.version = LINK_VERSION,
			       .type = type,
			       .signo = signo,
			       .exit_status = exit_status,
			       .flags = flags};

	if (send(rig->link, &msg, sizeof(msg), MSG_NOSIGNAL) < 0)
		tap_note("cannot send: %s", strerror(errno));
}

void rig_send_packed(struct rig *rig, const struct link_msg *head, int fd, const char *const *argv)
{
	static char packet[LINK_PACKET_MAX_BYTES];
	struct link_msg msg = *head;
	size_t at = sizeof(msg);
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {packet, 0};
	struct msghdr hdr = {.msg_iov = &iov, .msg_iovlen = 1};

	msg.version = LINK_VERSION;
	msg.envc = 1;
	for (; *argv; argv++, msg.argc++)
		at += (size_t)sprintf(packet + at, "%s", *argv) + 1;
	at += (size_t)sprintf(packet + at, "MARK=only this") + 1;
	memcpy(packet, &msg, sizeof(msg));
	iov.iov_len = at;
	if (fd >= 0) {
		struct cmsghdr *c = &control.align;

		hdr.msg_control = &control;
		hdr.msg_controllen = sizeof(control);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	if (sendmsg(rig->link, &hdr, MSG_NOSIGNAL) < 0)
		tap_note("cannot send message %d: %s", head->type, strerror(errno));
}

void rig_launch(struct rig *rig, const char *id, int fd, const char *const *argv)
{
	struct link_msg msg = {.type = LINK_LAUNCH};

	snprintf(msg.launch_id, sizeof(msg.launch_id), "%s", id);
	rig_send_packed(rig, &msg, fd, argv);
}
