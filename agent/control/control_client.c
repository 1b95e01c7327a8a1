#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "control/control_path.h"
#include "control/control_socket.h"

int control_path(const char *state_directory, struct sockaddr_un *ret_address, struct err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int len = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", state_directory,
			   CONTROL_SOCKET_NAME);

	if (len < 0 || (size_t)len >= sizeof(address.sun_path))
		return err_set(
			err, ERR_CONFIG, 0,
			"%s/%s is too long for a socket (at most %zu bytes): use a shorter stateDirectory",
			state_directory, CONTROL_SOCKET_NAME, sizeof(address.sun_path) - 1);
	*ret_address = address;
	return 0;
}

/* Wait until fd is ready, at most until until_ms. */
static int wait_for(int fd, short events, int64_t until_ms, struct err *err)
{
	for (;;) {
		int64_t left_ms = until_ms - clock_mono_ms();
		struct pollfd pollfd = {.fd = fd, .events = events};
		int ready;

		if (left_ms <= 0)
			return err_set(err, ERR_RETRY, 0, "drey did not respond in time");
		ready = poll(&pollfd, 1, left_ms > 60000 ? 60000 : (int)left_ms);
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return err_set(err, ERR_SYS, errno, "poll");
	}
}

static int connect_to(const char *state_directory, int64_t until_ms, int *ret_fd, struct err *err)
{
	struct sockaddr_un address;
	cleanup_close int fd = -1;

	if (control_path(state_directory, &address, err) < 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err, ERR_SYS, errno, "socket");
	while (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		int sys = errno;

		if (sys == EINTR)
			continue;
		if (sys == EAGAIN) { /* its queue is full */
			if (clock_mono_ms() >= until_ms)
				return err_set(err, ERR_RETRY, 0,
					       "drey does not accept the connection");
			usleep(10000);
			continue;
		}
		if (sys == ENOENT || sys == ENOTDIR || sys == ECONNREFUSED)
			return err_set(
				err, ERR_ABSENT, 0,
				"no drey is running for %s: start `drey run --config FILE` or check stateDirectory",
				state_directory);
		if (sys == EACCES || sys == EPERM)
			return err_set(
				err, ERR_DENIED, sys,
				"%s belongs to another user; run the command as the user that drey runs as",
				address.sun_path);
		return err_set(err, err_kind_of_errno(sys), sys, "connect %s", address.sun_path);
	}
	*ret_fd = fd;
	fd = -1;
	return 0;
}

static int send_line(int fd, const struct buf *line, int64_t until_ms, struct err *err)
{
	for (size_t done = 0; done < line->len_bytes;) {
		ssize_t sent = send(fd, line->data + done, line->len_bytes - done, MSG_NOSIGNAL);

		if (sent >= 0) {
			done += (size_t)sent;
			continue;
		}
		if (errno == EPIPE || errno == ECONNRESET)
			return 0; /* rejected before it was read: the answer has the reason */
		if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
			return err_set(err, ERR_SYS, errno, "send");
		if (wait_for(fd, POLLOUT, until_ms, err) < 0)
			return -1;
	}
	return 0;
}

static int receive_line(int fd, struct buf *line, int64_t until_ms, struct err *err)
{
	char bytes[8192];

	for (;;) {
		ssize_t got = recv(fd, bytes, sizeof(bytes), 0);

		if (got > 0) {
			buf_add(line, bytes, (size_t)got);
			if (memchr(bytes, '\n', (size_t)got))
				return 0;
			if (line->len_bytes > CONTROL_MAX_ANSWER_BYTES)
				return err_set(err, ERR_FORMAT, 0,
					       "the response of drey is too long");
			continue;
		}
		if (got == 0 || errno == ECONNRESET)
			return err_set(
				err, ERR_RETRY, 0,
				"drey closed the connection without a response; it may be restarting");
		if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
			return err_set(err, ERR_SYS, errno, "receive");
		if (wait_for(fd, POLLIN, until_ms, err) < 0)
			return -1;
	}
}

int control_ask(const char *state_directory, const struct json *request, int64_t timeout_ms,
		struct json **ret_answer, struct err *err)
{
	int64_t until_ms = clock_mono_ms() + timeout_ms;
	cleanup_buf struct buf line = BUF_INIT;
	cleanup_close int fd = -1;
	struct json *answer;

	json_print(request, &line);
	buf_addch(&line, '\n');
	if (connect_to(state_directory, until_ms, &fd, err) < 0 ||
	    send_line(fd, &line, until_ms, err) < 0)
		return -1;
	buf_clear(&line);
	if (receive_line(fd, &line, until_ms, err) < 0)
		return -1;
	answer = json_parse(line.data, line.len_bytes, CONTROL_MAX_ANSWER_BYTES, err);
	if (!answer)
		return err_wrap(err, "response of drey");
	*ret_answer = answer;
	return 0;
}
