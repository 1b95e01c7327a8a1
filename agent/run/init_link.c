#include "run/init_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

#define NUMBER_MAX 999999 /* what a launch id has room for behind a job id */

struct init_link {
	int fd;
	struct loop_fd *watch;
	init_link_fn *fn;
	void *arg;
};

static void broken(struct init_link *link)
{
	loop_fd_free(link->watch);
	link->watch = NULL;
	link->fn(link->arg, NULL);
}

static uint32_t cut_number(char launch_id[LINK_LAUNCH_ID_BYTES])
{
	bool whole = memchr(launch_id, '\0', LINK_LAUNCH_ID_BYTES) != NULL;
	unsigned long number;
	char *dash;

	launch_id[LINK_LAUNCH_ID_BYTES - 1] = '\0';
	dash = strchr(launch_id, '-');
	if (!dash)
		return 0;
	*dash = '\0';
	if (!whole || dash[1 + strspn(dash + 1, "0123456789")])
		return 0;
	number = strtoul(dash + 1, NULL, 10);
	return number <= NUMBER_MAX ? (uint32_t)number : 0;
}

static void readable(void *arg, int fd, unsigned events)
{
	struct init_link *link = arg;
	struct link_msg msg;
	ssize_t got;

	(void)events;
	got = recv(fd, &msg, sizeof(msg), MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got != (ssize_t)sizeof(msg) || msg.version != LINK_VERSION) {
		broken(link);
		return;
	}
	msg.argc = cut_number(msg.launch_id);
	msg.envc = cut_number(msg.last_launch_id);
	link->fn(link->arg, &msg);
}

/* The descriptor number in the environment, if it is an open socket. */
static int inherited_fd(struct err *err)
{
	const char *text = getenv(LINK_ENV);
	char *end = NULL;
	long fd = text ? strtol(text, &end, 10) : -1;
	int type = 0;
	socklen_t len = sizeof(type);

	if (!text)
		return err_set(
			err, ERR_CONFIG, 0,
			"`drey run` is started by drey-init: drey-init --agent -- drey run --config FILE");
	if (!*text || *end || fd < 0 || fd > 1 << 20 ||
	    getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || type != SOCK_SEQPACKET)
		return err_set(err, ERR_CONFIG, 0, "%s=%s is not drey-init's link", LINK_ENV, text);
	return (int)fd;
}

/* Ours alone: Flink gets what the container has. */
static void drop_tuning(void)
{
	const char *text = getenv(LINK_MALLOC_ENV);

	if (text && !strcmp(text, LINK_MALLOC))
		unsetenv(LINK_MALLOC_ENV);
}

struct init_link *init_link_open(struct loop *loop, init_link_fn *fn, void *arg, struct err *err)
{
	struct init_link *link;
	int fd = inherited_fd(err);

	if (fd < 0)
		return NULL;
	unsetenv(LINK_ENV);
	drop_tuning();
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
		err_set(err, ERR_SYS, errno, "drey-init's link");
		return NULL;
	}
	link = xcalloc(1, sizeof(*link));
	link->fd = fd;
	link->fn = fn;
	link->arg = arg;
	link->watch = loop_fd_new(loop, fd, LOOP_READ, readable, link, err);
	if (!link->watch) {
		init_link_free(link);
		return NULL;
	}
	return link;
}

void init_link_free(struct init_link *link)
{
	if (!link)
		return;
	loop_fd_free(link->watch);
	close(link->fd);
	free(link);
}

static struct link_msg message(enum link_type type)
{
	struct link_msg msg;

	memset(&msg, 0, sizeof(msg)); /* padding too: it goes over the wire */
	msg.version = LINK_VERSION;
	msg.type = (uint16_t)type;
	return msg;
}

static int send_packet(struct init_link *link, const void *bytes, size_t len_bytes, int pass_fd,
		       struct err *err)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len_bytes};
	struct msghdr head = {.msg_iov = &iov, .msg_iovlen = 1};

	if (pass_fd >= 0) {
		memset(&control, 0, sizeof(control));
		head.msg_control = control.space;
		head.msg_controllen = sizeof(control.space);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &pass_fd, sizeof(int));
	}
	if (sendmsg(link->fd, &head, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)len_bytes)
		return err_set(err, ERR_SYS, errno, "send to drey-init");
	return 0;
}

static uint32_t pack(struct buf *packet, char *const *strings)
{
	uint32_t count = 0;

	for (; strings && strings[count]; count++)
		buf_add(packet, strings[count], strlen(strings[count]) + 1);
	return count;
}

bool init_link_fits(size_t packed_bytes, size_t strings)
{
	return sizeof(struct link_msg) + packed_bytes <= LINK_PACKET_MAX_BYTES &&
	       strings <= LINK_STRINGS_MAX;
}

/* The head and the strings of `launch` as one packet. */
static int send_launch(struct init_link *link, struct link_msg *msg,
		       const struct init_link_launch *launch, struct err *err)
{
	cleanup_buf struct buf packet = BUF_INIT;

	buf_add(&packet, msg, sizeof(*msg));
	msg->argc = pack(&packet, launch->argv);
	msg->envc = pack(&packet, launch->env);
	memcpy(packet.data, msg, sizeof(*msg));
	if (!init_link_fits(packet.len_bytes - sizeof(*msg), (size_t)msg->argc + msg->envc))
		return err_set(
			err, ERR_CONFIG, 0,
			"command line and environment of Flink are too large: %zu bytes in %u strings, at most %d and %d",
			packet.len_bytes, msg->argc + msg->envc, LINK_PACKET_MAX_BYTES,
			LINK_STRINGS_MAX);
	return send_packet(link, packet.data, packet.len_bytes, launch->lock_fd, err);
}

int init_link_launch(struct init_link *link, const struct init_link_launch *launch, struct err *err)
{
	struct link_msg msg = message(LINK_LAUNCH);

	if (launch->number > 0 && launch->number <= NUMBER_MAX)
		snprintf(msg.launch_id, sizeof(msg.launch_id), "%.32s-%d", launch->job_id,
			 (int)launch->number);
	else
		snprintf(msg.launch_id, sizeof(msg.launch_id), "%s", launch->job_id);
	if (launch->spare) {
		msg.flags = LINK_INTO_SPARE;
		msg.spare_argc = launch->spare_argc;
		snprintf(msg.spare_id, sizeof(msg.spare_id), "%s", launch->spare);
	}
	return send_launch(link, &msg, launch, err);
}

int init_link_spare(struct init_link *link, const struct init_link_launch *spare, int64_t until_ms,
		    struct err *err)
{
	struct link_msg msg = message(LINK_SPARE);

	snprintf(msg.launch_id, sizeof(msg.launch_id), "%s", spare->job_id);
	msg.until_ms = until_ms;
	return send_launch(link, &msg, spare, err);
}

int init_link_spare_end(struct init_link *link, const char *id, struct err *err)
{
	struct link_msg msg = message(LINK_SPARE_END);

	snprintf(msg.launch_id, sizeof(msg.launch_id), "%s", id);
	return send_packet(link, &msg, sizeof(msg), -1, err);
}

int init_link_signal(struct init_link *link, const char *launch_id, int signo, bool group,
		     struct err *err)
{
	struct link_msg msg = message(LINK_SIGNAL);

	strncpy(msg.launch_id, launch_id, sizeof(msg.launch_id) - 1);
	msg.signo = signo;
	msg.flags = group ? LINK_GROUP : 0;
	return send_packet(link, &msg, sizeof(msg), -1, err);
}

int init_link_lease(struct init_link *link, int64_t until_ms, struct err *err)
{
	struct link_msg msg = message(LINK_LEASE);

	msg.until_ms = until_ms;
	return send_packet(link, &msg, sizeof(msg), -1, err);
}

int init_link_stop_ack(struct init_link *link, struct err *err)
{
	struct link_msg msg = message(LINK_STOP_ACK);

	return send_packet(link, &msg, sizeof(msg), -1, err);
}

int init_link_exit(struct init_link *link, int status, struct err *err)
{
	struct link_msg msg = message(LINK_EXIT);

	msg.exit_status = status;
	return send_packet(link, &msg, sizeof(msg), -1, err);
}
