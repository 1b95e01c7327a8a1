#include "base/sock.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tap.h"

#define LIMIT_MS 20000

/* A listener on a name that needs no file, and the connections that it has brought. */
struct rig {
	struct loop *loop;
	struct sock_listener *listener;
	struct sockaddr_un address;
	socklen_t address_bytes;
	int fds[4], count, spare_calls;
	bool has_spare;
};

static void accepted(void *arg, int fd)
{
	struct rig *rig = arg;

	CHECK_INT(rig->count, <, (int)ARRAY_LEN(rig->fds));
	rig->fds[rig->count++] = fd;
}

static bool spare(void *arg)
{
	struct rig *rig = arg;

	rig->spare_calls++;
	if (!rig->has_spare)
		return false;
	close(rig->fds[--rig->count]);
	rig->has_spare = false;
	return true;
}

static void rig_begin(struct rig *rig)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	*rig = (struct rig){.loop = loop_new(NULL), .address.sun_family = AF_UNIX};
	/* no name: the kernel gives it one */
	CHECK_INT(bind(fd, (struct sockaddr *)&rig->address, sizeof(sa_family_t)), ==, 0);
	rig->address_bytes = sizeof(rig->address);
	CHECK_INT(getsockname(fd, (struct sockaddr *)&rig->address, &rig->address_bytes), ==, 0);
	CHECK_INT(listen(fd, 8), ==, 0);
	rig->listener = sock_listener_new(rig->loop, fd, accepted, spare, rig, NULL);
	CHECK(rig->listener != NULL);
}

static void rig_end(struct rig *rig)
{
	while (rig->count)
		close(rig->fds[--rig->count]);
	sock_listener_free(rig->listener);
	loop_free(rig->loop);
}

static int dial(struct rig *rig)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK_INT(connect(fd, (struct sockaddr *)&rig->address, rig->address_bytes), ==, 0);
	return fd;
}

static bool turn_until(struct rig *rig, int count)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (rig->count != count && clock_mono_ms() < end_ms)
		loop_step(rig->loop, 20, NULL);
	return rig->count == count;
}

/* No descriptor beyond those that are open. */
static struct rlimit forbid_descriptors(void)
{
	struct rlimit old, few;
	int next = dup(STDIN_FILENO);

	CHECK_INT(getrlimit(RLIMIT_NOFILE, &old), ==, 0);
	few = (struct rlimit){(rlim_t)next, old.rlim_max};
	close(next);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), ==, 0);
	return old;
}

TEST(brings_each_connection)
{
	struct rig rig;
	int a, b;

	rig_begin(&rig);
	a = dial(&rig);
	b = dial(&rig);
	CHECK(turn_until(&rig, 2));
	CHECK_INT(send(rig.fds[0], "x", 1, 0), ==, 1);
	close(a);
	close(b);
	rig_end(&rig);
}

TEST(without_descriptors_it_pauses_and_comes_back)
{
	struct rig rig;
	struct rlimit old;
	int64_t end_ms;
	int fd, turns = 0;

	if (tap_valgrind()) {
		tap_skip("valgrind closes what was accepted beyond the limit");
		return;
	}
	rig_begin(&rig);
	fd = dial(&rig);
	old = forbid_descriptors();
	end_ms = clock_mono_ms() + 300;
	for (; clock_mono_ms() < end_ms; turns++)
		loop_step(rig.loop, 100, NULL);
	CHECK_INT(turns, <, 20);
	CHECK_INT(rig.spare_calls, ==, 1);
	CHECK_INT(rig.count, ==, 0);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &old), ==, 0);
	CHECK(turn_until(&rig, 1));
	close(fd);
	rig_end(&rig);
}

TEST(without_descriptors_a_connection_that_can_be_spared_is_given_up)
{
	struct rig rig;
	struct rlimit old;
	int first, second;

	if (tap_valgrind()) {
		tap_skip("valgrind closes what was accepted beyond the limit");
		return;
	}
	rig_begin(&rig);
	first = dial(&rig);
	CHECK(turn_until(&rig, 1));
	second = dial(&rig);
	rig.has_spare = true;
	old = forbid_descriptors();
	CHECK(turn_until(&rig, 0)); /* the first is given up, then the second accepted */
	CHECK(turn_until(&rig, 1));
	CHECK_INT(rig.spare_calls, ==, 1);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &old), ==, 0);
	close(first);
	close(second);
	rig_end(&rig);
}

TEST(sends_until_the_socket_is_full_and_then_the_rest)
{
	cleanup_buf struct buf out = BUF_INIT;
	static char chunk[1 << 16];
	size_t sent = 0, read_bytes = 0;
	int fds[2];

	for (int i = 0; i < 64; i++)
		buf_add(&out, chunk, sizeof(chunk));
	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), ==, 0);
	while (sock_send(fds[0], &out, &sent) == 0 && read_bytes < out.len_bytes) {
		ssize_t got = recv(fds[1], chunk, sizeof(chunk), MSG_DONTWAIT);

		CHECK(sent < out.len_bytes && got > 0);
		read_bytes += got > 0 ? (size_t)got : out.len_bytes;
	}
	CHECK(sent == out.len_bytes);
	CHECK_INT(sock_send(fds[0], &out, &sent), ==, 1);
	close(fds[1]);
	sent = 0;
	CHECK_INT(sock_send(fds[0], &out, &sent), ==, -1);
	close(fds[0]);
}
