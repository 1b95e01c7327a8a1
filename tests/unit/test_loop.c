#include "base/loop.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "tap.h"

#define LIMIT_MS 20000

/* Run the loop until *flag reaches want; false after a generous limit. */
static bool run_until(struct loop *loop, const int *flag, int want)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (*flag < want && clock_mono_ms() < end_ms)
		if (loop_step(loop, 100, NULL))
			return false;
	return *flag >= want;
}

struct reader {
	struct loop_fd *watch;
	struct buf text;
	int calls;
	unsigned events;
};

static void on_readable(void *arg, int fd, unsigned events)
{
	struct reader *reader = arg;
	char ch;

	reader->calls++;
	reader->events |= events;
	if ((events & LOOP_READ) && read(fd, &ch, 1) == 1)
		buf_addch(&reader->text, ch);
}

TEST(calls_back_while_there_is_something_to_read)
{
	struct loop *loop = loop_new(NULL);
	struct reader reader = {NULL, BUF_INIT, 0, 0};
	int fds[2];

	CHECK_INT(pipe(fds), ==, 0);
	reader.watch = loop_fd_new(loop, fds[0], LOOP_READ, on_readable, &reader, NULL);
	CHECK_INT(write(fds[1], "abc", 3), ==, 3);
	CHECK(run_until(loop, &reader.calls, 3));
	CHECK_STR(buf_str(&reader.text), "abc");
	CHECK_INT(loop_fd_set(reader.watch, 0, NULL), ==, 0);
	CHECK_INT(write(fds[1], "d", 1), ==, 1);
	CHECK_INT(loop_step(loop, 20, NULL), ==, 0);
	CHECK_INT(reader.calls, ==, 3);
	CHECK_INT(loop_fd_set(reader.watch, LOOP_READ, NULL), ==, 0);
	CHECK(run_until(loop, &reader.calls, 4));
	CHECK_INT(reader.events, ==, LOOP_READ);
	loop_fd_free(reader.watch);
	loop_free(loop);
	buf_release(&reader.text);
	close(fds[0]);
	close(fds[1]);
}

TEST(calls_back_when_there_is_room_to_write)
{
	struct loop *loop = loop_new(NULL);
	struct reader reader = {NULL, BUF_INIT, 0, 0};
	int fds[2];

	CHECK_INT(pipe(fds), ==, 0);
	reader.watch = loop_fd_new(loop, fds[1], LOOP_WRITE, on_readable, &reader, NULL);
	CHECK(run_until(loop, &reader.calls, 1));
	CHECK_INT(reader.events, ==, LOOP_WRITE);
	loop_fd_free(reader.watch);
	loop_free(loop);
	close(fds[0]);
	close(fds[1]);
}

TEST(a_closed_descriptor_is_an_error)
{
	struct loop *loop = loop_new(NULL);
	struct err err = {0};
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(fd);
	CHECK(!loop_fd_new(loop, fd, LOOP_READ, on_readable, NULL, &err));
	CHECK_INT(err.kind, ==, ERR_SYS);
	loop_free(loop);
}

struct ticker {
	struct loop *loop;
	struct loop_timer *timer;
	int calls, stop_at;
	int64_t set_ms;
};

static void on_tick(void *arg)
{
	struct ticker *ticker = arg;

	ticker->calls++;
	if (ticker->calls == ticker->stop_at)
		loop_stop(ticker->loop);
	else if (ticker->stop_at)
		loop_timer_set(ticker->timer, 1);
}

TEST(a_timer_fires_once_and_not_too_early)
{
	struct ticker ticker = {.loop = loop_new(NULL)};
	int64_t start_ms = clock_mono_ms();

	ticker.timer = loop_timer_new(ticker.loop, on_tick, &ticker);
	CHECK(!loop_timer_armed(ticker.timer));
	loop_timer_set(ticker.timer, 60000);
	loop_timer_set(ticker.timer, 30);
	CHECK(loop_timer_armed(ticker.timer));
	CHECK(run_until(ticker.loop, &ticker.calls, 1));
	CHECK_INT(clock_mono_ms() - start_ms, >=, 29);
	CHECK(!loop_timer_armed(ticker.timer));
	CHECK_INT(loop_step(ticker.loop, 50, NULL), ==, 0);
	CHECK_INT(ticker.calls, ==, 1);
	loop_timer_set(ticker.timer, 1);
	loop_timer_stop(ticker.timer);
	CHECK_INT(loop_step(ticker.loop, 20, NULL), ==, 0);
	CHECK_INT(ticker.calls, ==, 1);
	loop_timer_free(ticker.timer);
	loop_free(ticker.loop);
}

static void on_late_tick(void *arg)
{
	struct ticker *ticker = arg;

	usleep(30 *
	       1000); /* what a callback does before it sets its timer is no part of the time */
	ticker->set_ms = clock_mono_ms();
	loop_timer_set(ticker->timer, 40);
}

TEST(a_timer_counts_from_when_it_was_set)
{
	struct ticker ticker = {.loop = loop_new(NULL)};
	struct loop_timer *late = loop_timer_new(ticker.loop, on_late_tick, &ticker);

	ticker.timer = loop_timer_new(ticker.loop, on_tick, &ticker);
	loop_timer_set(late, 1);
	CHECK(run_until(ticker.loop, &ticker.calls, 1));
	CHECK_INT(clock_mono_ms() - ticker.set_ms, >=, 40);
	loop_timer_free(late);
	loop_timer_free(ticker.timer);
	loop_free(ticker.loop);
}

TEST(a_timer_may_come_early_with_something_else)
{
	struct loop *loop = loop_new(NULL);
	struct ticker soon = {.loop = loop}, early = {.loop = loop}, later = {.loop = loop};

	soon.timer = loop_timer_new(loop, on_tick, &soon);
	early.timer = loop_timer_new(loop, on_tick, &early);
	later.timer = loop_timer_new(loop, on_tick, &later);
	loop_timer_set_early(early.timer, 600000, 600000);
	loop_timer_set_early(later.timer, 600000, 1000);
	loop_timer_set(soon.timer, 10);
	CHECK(run_until(loop, &soon.calls, 1));
	CHECK(run_until(loop, &early.calls, 1));
	CHECK(!loop_timer_armed(early.timer));
	CHECK(loop_timer_armed(later.timer));
	loop_timer_set_early(early.timer, 600000, 600000);
	loop_timer_set(early.timer, 600000); /* punctual again */
	loop_timer_set(soon.timer, 1);
	CHECK(run_until(loop, &soon.calls, 2));
	CHECK_INT(loop_step(loop, 20, NULL), ==, 0);
	CHECK_INT(early.calls, ==, 1);
	CHECK_INT(later.calls, ==, 0);
	loop_timer_set_early(early.timer, 10, 5); /* nothing else comes */
	CHECK(run_until(loop, &early.calls, 2));
	loop_timer_free(soon.timer);
	loop_timer_free(early.timer);
	loop_timer_free(later.timer);
	loop_free(loop);
}

TEST(runs_until_it_is_stopped)
{
	struct ticker ticker = {.loop = loop_new(NULL), .stop_at = 5};

	ticker.timer = loop_timer_new(ticker.loop, on_tick, &ticker);
	loop_timer_set(ticker.timer, -1);
	/* a step that ended early must not stop the run that follows */
	CHECK_INT(loop_step(ticker.loop, 5, NULL), ==, 0);
	CHECK_INT(loop_run(ticker.loop, NULL), ==, 0);
	CHECK_INT(ticker.calls, ==, 5);
	loop_timer_free(ticker.timer);
	loop_free(ticker.loop);
}

static void on_signal(void *arg, int signo)
{
	if (signo == SIGUSR1)
		++*(int *)arg;
}

TEST(a_signal_becomes_a_callback)
{
	struct loop *loop = loop_new(NULL);
	int calls = 0;
	struct loop_signal *watch = loop_signal_new(loop, SIGUSR1, on_signal, &calls, NULL);

	CHECK(watch);
	kill(getpid(), SIGUSR1);
	CHECK(run_until(loop, &calls, 1));
	loop_signal_free(watch);
	loop_free(loop);
}

enum { POSTS = 10000 };

struct posts {
	struct loop *loop;
	int seen, out_of_order;
	int last[2];
};

struct posted {
	struct posts *posts;
	int thread, number;
};

static void on_post(void *arg)
{
	struct posted *posted = arg;

	posted->posts->seen++;
	if (posted->number != posted->posts->last[posted->thread] + 1)
		posted->posts->out_of_order++;
	posted->posts->last[posted->thread] = posted->number;
	free(posted);
}

struct poster {
	struct posts *posts;
	int thread;
};

static void *post_many(void *arg)
{
	struct poster *poster = arg;

	for (int i = 1; i <= POSTS; i++) {
		struct posted *posted = malloc(sizeof(*posted));

		if (!posted)
			abort();
		*posted = (struct posted){poster->posts, poster->thread, i};
		loop_post(poster->posts->loop, on_post, posted);
	}
	return NULL;
}

TEST(posts_of_two_threads_arrive_all_and_in_order)
{
	struct posts posts = {loop_new(NULL), 0, 0, {0, 0}};
	struct poster posters[2] = {{&posts, 0}, {&posts, 1}};
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, post_many, &posters[i]), ==, 0);
	CHECK(run_until(posts.loop, &posts.seen, 2 * POSTS));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(posts.out_of_order, ==, 0);
	loop_free(posts.loop);
}

static void ignore(void *arg)
{
	(void)arg;
}

TEST(posts_that_never_ran_are_dropped)
{
	struct loop *loop = loop_new(NULL);

	loop_post(loop, ignore, NULL);
	loop_post(loop, ignore, NULL);
	loop_free(loop);
	CHECK(true);
}

TEST(an_idle_loop_does_not_wake_up)
{
	struct ticker ticker = {.loop = loop_new(NULL), .stop_at = 1};
	struct rusage before, after;

	ticker.timer = loop_timer_new(ticker.loop, on_tick, &ticker);
	loop_timer_set(ticker.timer, 300);
	getrusage(RUSAGE_THREAD, &before);
	CHECK_INT(loop_run(ticker.loop, NULL), ==, 0);
	getrusage(RUSAGE_THREAD, &after);
	CHECK_INT(after.ru_nvcsw - before.ru_nvcsw, <=, tap_valgrind() ? 10 : 3);
	loop_timer_free(ticker.timer);
	loop_free(ticker.loop);
}
