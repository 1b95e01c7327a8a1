#include "base/sock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

struct sock_listener {
	int fd;
	struct loop_fd *watch;
	struct loop_timer *retry; /* armed during the pause */
	sock_accept_fn *accepted;
	sock_spare_fn *spare;
	void *arg;
};

static void accept_again(void *arg)
{
	struct sock_listener *listener = arg;

	if (loop_fd_set(listener->watch, LOOP_READ, NULL) < 0)
		loop_timer_set(listener->retry, SOCK_RETRY_MS);
}

static void accept_one(void *arg, int fd, unsigned events)
{
	struct sock_listener *listener = arg;
	int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (client >= 0) {
		listener->accepted(listener->arg, client);
		return;
	}
	if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
		return; /* the client has disconnected */
	if (listener->spare && listener->spare(listener->arg))
		return;
	loop_fd_set(listener->watch, 0, NULL);
	loop_timer_set(listener->retry, SOCK_RETRY_MS);
}

struct sock_listener *sock_listener_new(struct loop *loop, int fd, sock_accept_fn *accepted,
					sock_spare_fn *spare, void *arg, struct err *err)
{
	struct sock_listener *listener = xcalloc(1, sizeof(*listener));

	*listener =
		(struct sock_listener){.fd = fd, .accepted = accepted, .spare = spare, .arg = arg};
	listener->watch = loop_fd_new(loop, fd, LOOP_READ, accept_one, listener, err);
	if (!listener->watch) {
		free(listener);
		return NULL;
	}
	listener->retry = loop_timer_new(loop, accept_again, listener);
	return listener;
}

void sock_listener_free(struct sock_listener *listener)
{
	if (!listener)
		return;
	loop_timer_free(listener->retry);
	loop_fd_free(listener->watch);
	close(listener->fd);
	free(listener);
}

int sock_send(int fd, const struct buf *out, size_t *sent_bytes)
{
	while (*sent_bytes < out->len_bytes) {
		ssize_t sent = send(fd, out->data + *sent_bytes, out->len_bytes - *sent_bytes,
				    MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
		*sent_bytes += (size_t)sent;
	}
	return 1;
}
