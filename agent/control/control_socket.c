#include "control/control_socket.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/sock.h"
#include "control/control_path.h"
#include "control/control_request.h"

struct client {
	struct control_server *server;
	int fd;
	struct loop_fd *watch;
	struct loop_timer *deadline;
	struct buf in;
	struct buf out;
	size_t sent_bytes;
	struct control_call *call; /* owned by the handler; NULL before and after */
};

struct control_call {
	struct client *client; /* NULL after the client has disconnected */
};

struct control_server {
	struct loop *loop;
	char *path;
	struct sock_listener *listener;
	control_fn *fn;
	void *arg;
	struct client *clients[CONTROL_MAX_CLIENTS];
};

static void client_free(struct client *client)
{
	for (int i = 0; i < CONTROL_MAX_CLIENTS; i++)
		if (client->server->clients[i] == client)
			client->server->clients[i] = NULL;
	if (client->call)
		client->call->client = NULL;
	loop_fd_free(client->watch);
	loop_timer_free(client->deadline);
	close(client->fd);
	buf_release(&client->in);
	buf_release(&client->out);
	free(client);
}

static void client_expired(void *arg)
{
	client_free(arg);
}

/* Frees the client when all is sent or the peer has disconnected. */
static void client_send(struct client *client)
{
	if (sock_send(client->fd, &client->out, &client->sent_bytes) == 0 &&
	    loop_fd_set(client->watch, LOOP_WRITE, NULL) == 0)
		return;
	client_free(client);
}

static void client_answer(struct client *client, const struct json *answer)
{
	json_print(answer, &client->out);
	buf_addch(&client->out, '\n');
	loop_timer_set(client->deadline, CONTROL_CLIENT_MS);
	client_send(client);
}

static void client_refuse(struct client *client, const char *message)
{
	cleanup_json struct json *answer = control_answer_error(message);

	client_answer(client, answer);
}

void control_reply(struct control_call *call, const struct json *answer)
{
	struct client *client = call->client;

	free(call);
	if (!client)
		return;
	client->call = NULL;
	client_answer(client, answer);
}

/* The line is complete: pass it to the handler. It may answer immediately,
 * which may free the client. */
static void client_request(struct client *client, size_t len_bytes)
{
	struct err err = {0};
	cleanup_json struct json *request =
		json_parse(client->in.data, len_bytes, CONTROL_MAX_REQUEST_BYTES, &err);

	if (!request) {
		err_wrap(&err, "request");
		client_refuse(client, err.msg);
		return;
	}
	loop_timer_stop(client->deadline);
	client->call = xcalloc(1, sizeof(*client->call));
	client->call->client = client;
	client->server->fn(client->server->arg, client->call, request);
}

static void client_receive(struct client *client)
{
	char bytes[4096];
	ssize_t got = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	const char *end;

	if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
		return;
	if (got <= 0) {
		client_free(client);
		return;
	}
	if (client->call)
		return; /* nothing may follow the request; it is discarded */
	buf_add(&client->in, bytes, (size_t)got);
	end = memchr(client->in.data, '\n', client->in.len_bytes);
	if (end)
		client_request(client, (size_t)(end - client->in.data));
	else if (client->in.len_bytes > CONTROL_MAX_REQUEST_BYTES)
		client_refuse(client, "request: too long");
}

static void client_ready(void *arg, int fd, unsigned events)
{
	struct client *client = arg;

	(void)fd;
	if (client->out.len_bytes)
		client_send(client);
	else if (events & LOOP_READ)
		client_receive(client);
}

/* The mode of the socket already keeps others out; this works also where modes have no effect. */
static bool peer_is_us(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return false;
	return peer.uid == geteuid() || peer.uid == 0;
}

static void refuse_fd(int fd, const char *message)
{
	cleanup_json struct json *answer = control_answer_error(message);
	cleanup_buf struct buf text = BUF_INIT;

	json_print(answer, &text);
	buf_addch(&text, '\n');
	(void)send(fd, text.data, text.len_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void server_accept(void *arg, int fd)
{
	struct control_server *server = arg;
	struct client *client;
	int slot = 0;

	if (!peer_is_us(fd)) {
		refuse_fd(
			fd,
			"permission denied: only root and the user that drey runs as may send requests");
		return;
	}
	while (slot < CONTROL_MAX_CLIENTS && server->clients[slot])
		slot++;
	if (slot == CONTROL_MAX_CLIENTS) {
		refuse_fd(fd, "too many connections; try again");
		return;
	}
	client = xcalloc(1, sizeof(*client));
	client->server = server;
	client->fd = fd;
	client->watch = loop_fd_new(server->loop, fd, LOOP_READ, client_ready, client, NULL);
	if (!client->watch) {
		free(client);
		refuse_fd(fd, "out of resources");
		return;
	}
	client->deadline = loop_timer_new(server->loop, client_expired, client);
	loop_timer_set(client->deadline, CONTROL_CLIENT_MS);
	server->clients[slot] = client;
}

/* A socket without a listener refuses the connection: it is left from an earlier drey. */
static int remove_stale(const struct sockaddr_un *address, struct err *err)
{
	cleanup_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (fd < 0)
		return err_set(err, ERR_SYS, errno, "control socket");
	if (lstat(address->sun_path, &st) < 0 && errno == ENOENT)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(err, ERR_CONFIG, 0, "%s exists and is not a socket; remove it",
			       address->sun_path);
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno == EAGAIN)
		return err_set(err, ERR_BUSY, 0, "another drey is listening on %s",
			       address->sun_path);
	if (errno != ECONNREFUSED)
		return err_set(err, err_kind_of_errno(errno), errno, "connect %s",
			       address->sun_path);
	if (unlink(address->sun_path) < 0 && errno != ENOENT)
		return err_set(err, err_kind_of_errno(errno), errno, "remove %s",
			       address->sun_path);
	return 0;
}

/* The socket's inode takes the mode of the descriptor, less the umask: 0600 from the first
 * moment. */
static int bind_and_listen(int fd, const struct sockaddr_un *address, struct err *err)
{
	if (fchmod(fd, 0600) < 0 ||
	    bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ||
	    chmod(address->sun_path, 0600) < 0 || listen(fd, CONTROL_MAX_CLIENTS) < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "listen on %s",
			       address->sun_path);
	return 0;
}

struct control_server *control_server_new(struct loop *loop, const char *state_directory,
					  control_fn *fn, void *arg, struct err *err)
{
	struct control_server *server;
	struct sockaddr_un address;
	cleanup_close int fd = -1;

	if (control_path(state_directory, &address, err) < 0 || remove_stale(&address, err) < 0)
		return NULL;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		err_set(err, ERR_SYS, errno, "control socket");
		return NULL;
	}
	if (bind_and_listen(fd, &address, err) < 0)
		return NULL;
	server = xcalloc(1, sizeof(*server));
	*server = (struct control_server){.loop = loop, .fn = fn, .arg = arg};
	server->listener = sock_listener_new(loop, fd, server_accept, NULL, server, err);
	if (!server->listener) {
		free(server);
		return NULL;
	}
	server->path = xstrdup(address.sun_path);
	fd = -1;
	return server;
}

void control_server_free(struct control_server *server)
{
	if (!server)
		return;
	unlink(server->path);
	for (int i = 0; i < CONTROL_MAX_CLIENTS; i++)
		if (server->clients[i])
			client_free(server->clients[i]);
	sock_listener_free(server->listener);
	free(server->path);
	free(server);
}
