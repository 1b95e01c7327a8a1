#include "base/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

struct post {
	void (*fn)(void *arg);
	void *arg;
	struct post *next;
};

struct loop {
	struct event_base *base;
	struct event *wake; /* readable when there are posts */
	int wake_fd;
	pthread_mutex_t lock; /* of the queue below; only that is shared */
	struct post *first, **tail;
	struct loop_timer *early; /* armed timers that may run early */
};

struct loop_fd {
	struct loop *loop;
	struct event *event;
	int fd;
	unsigned events;
	loop_fd_fn *fn;
	void *arg;
};

struct loop_timer {
	struct loop *loop;
	struct event *event;
	loop_timer_fn *fn;
	void *arg;
	int64_t from_ms;         /* not before; only of those in `early` */
	struct loop_timer *next; /* in `early` */
};

struct loop_signal {
	struct event *event;
	loop_signal_fn *fn;
	void *arg;
};

/* libevent returns NULL only without memory or for a wrong argument. */
static struct event *made(struct event *event)
{
	if (!event)
		abort();
	return event;
}

static struct post *take_posts(struct loop *loop)
{
	struct post *list;

	pthread_mutex_lock(&loop->lock);
	list = loop->first;
	loop->first = NULL;
	loop->tail = &loop->first;
	pthread_mutex_unlock(&loop->lock);
	return list;
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
	struct loop *loop = arg;
	struct post *list, *next;
	uint64_t count;

	(void)what;
	/* first the counter, then the queue: a post in between wakes the loop once more */
	(void)!read(fd, &count, sizeof(count));
	for (list = take_posts(loop); list; list = next) {
		next = list->next;
		list->fn(list->arg);
		free(list);
	}
}

/* libevent would also print to stderr what it returns */
static void say_nothing(int severity, const char *msg)
{
	(void)severity;
	(void)msg;
}

struct loop *loop_new(struct err *err)
{
	struct loop *loop = xcalloc(1, sizeof(*loop));
	struct event_config *config = event_config_new();

	event_set_log_callback(say_nothing);
	loop->tail = &loop->first;
	pthread_mutex_init(&loop->lock, NULL);
	loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loop->wake_fd < 0) {
		err_set(err, ERR_SYS, errno, "create an eventfd");
		goto fail;
	}
	/* no locks: only loop_post() crosses threads. No EVENT_... environment variables. With a coarse
	 * clock each timer would wake the loop twice, first some milliseconds too early. Timers count
	 * from now, not from when the callback that sets them began: one that waits for a deadline
	 * would come before it, and nothing would wake the loop again. */
	if (config &&
	    !event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV |
						   EVENT_BASE_FLAG_PRECISE_TIMER |
						   EVENT_BASE_FLAG_NO_CACHE_TIME))
		loop->base = event_base_new_with_config(config);
	if (!loop->base) {
		err_set(err, ERR_SYS, errno, "create an event loop");
		goto fail;
	}
	loop->wake =
		made(event_new(loop->base, loop->wake_fd, EV_READ | EV_PERSIST, on_wake, loop));
	if (event_add(loop->wake, NULL)) {
		err_set(err, ERR_SYS, errno, "watch an eventfd");
		goto fail;
	}
	event_config_free(config);
	signal(SIGPIPE, SIG_IGN);
	return loop;
fail:
	if (config)
		event_config_free(config);
	loop_free(loop);
	return NULL;
}

void loop_free(struct loop *loop)
{
	struct post *list, *next;

	if (!loop)
		return;
	for (list = take_posts(loop); list; list = next) {
		next = list->next;
		free(list);
	}
	if (loop->wake)
		event_free(loop->wake);
	if (loop->base)
		event_base_free(loop->base);
	if (loop->wake_fd >= 0)
		close(loop->wake_fd);
	pthread_mutex_destroy(&loop->lock);
	free(loop);
}

/* The loop has woken up: run the early timers next. */
static void hurry(struct loop *loop)
{
	int64_t now_ms = loop->early ? clock_mono_ms() : 0;

	for (struct loop_timer *timer = loop->early; timer; timer = timer->next) {
		if (timer->from_ms > now_ms)
			continue;
		event_del(timer->event);
		event_active(timer->event, EV_TIMEOUT, 1);
	}
}

int loop_run(struct loop *loop, struct err *err)
{
	do {
		if (event_base_loop(loop->base, EVLOOP_ONCE) < 0)
			return err_set(err, ERR_SYS, errno, "wait for events");
		hurry(loop);
	} while (!event_base_got_break(loop->base));
	return 0;
}

void loop_stop(struct loop *loop)
{
	event_base_loopbreak(loop->base);
}

static void on_step_limit(void *arg)
{
	(void)arg; /* EVLOOP_ONCE returns after the first events, and this was one */
}

int loop_step(struct loop *loop, int64_t max_ms, struct err *err)
{
	struct loop_timer *limit = loop_timer_new(loop, on_step_limit, NULL);
	int ret;

	if (max_ms > 0)
		loop_timer_set(limit, max_ms);
	ret = event_base_loop(loop->base, max_ms > 0 ? EVLOOP_ONCE : EVLOOP_NONBLOCK);
	if (ret < 0)
		err_set(err, ERR_SYS, errno, "wait for events");
	loop_timer_free(limit);
	hurry(loop);
	return ret < 0 ? -1 : 0;
}

/* ---- descriptors ---- */

static void on_fd(evutil_socket_t fd, short what, void *arg)
{
	struct loop_fd *watch = arg;
	unsigned events = (what & EV_READ ? LOOP_READ : 0u) | (what & EV_WRITE ? LOOP_WRITE : 0u);

	watch->fn(watch->arg, fd, events);
}

struct loop_fd *loop_fd_new(struct loop *loop, int fd, unsigned events, loop_fd_fn *fn, void *arg,
			    struct err *err)
{
	struct loop_fd *watch = xcalloc(1, sizeof(*watch));

	*watch = (struct loop_fd){loop, NULL, fd, 0, fn, arg};
	watch->event = made(event_new(loop->base, fd, EV_PERSIST, on_fd, watch));
	if (loop_fd_set(watch, events, err)) {
		loop_fd_free(watch);
		return NULL;
	}
	return watch;
}

int loop_fd_set(struct loop_fd *watch, unsigned events, struct err *err)
{
	short what = EV_PERSIST;

	if (events == watch->events)
		return 0;
	if (events & LOOP_READ)
		what |= EV_READ;
	if (events & LOOP_WRITE)
		what |= EV_WRITE;
	event_del(watch->event);
	watch->events = 0;
	if (!events)
		return 0;
	if (event_assign(watch->event, watch->loop->base, watch->fd, what, on_fd, watch) ||
	    event_add(watch->event, NULL))
		return err_set(err, ERR_SYS, errno, "watch descriptor %d", watch->fd);
	watch->events = events;
	return 0;
}

void loop_fd_free(struct loop_fd *watch)
{
	if (!watch)
		return;
	event_free(watch->event);
	free(watch);
}

/* ---- timers ---- */

static void be_punctual(struct loop_timer *timer)
{
	struct loop_timer **at = &timer->loop->early;

	while (*at && *at != timer)
		at = &(*at)->next;
	if (*at)
		*at = timer->next;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct loop_timer *timer = arg;

	(void)fd;
	(void)what;
	be_punctual(timer);
	timer->fn(timer->arg);
}

struct loop_timer *loop_timer_new(struct loop *loop, loop_timer_fn *fn, void *arg)
{
	struct loop_timer *timer = xcalloc(1, sizeof(*timer));

	*timer = (struct loop_timer){.loop = loop, .fn = fn, .arg = arg};
	timer->event = made(event_new(loop->base, -1, 0, on_timer, timer));
	return timer;
}

void loop_timer_set(struct loop_timer *timer, int64_t after_ms)
{
	struct timeval after = {0, 0};

	if (after_ms > 0) {
		after.tv_sec = after_ms / 1000;
		after.tv_usec = after_ms % 1000 * 1000;
	}
	be_punctual(timer);
	if (event_add(timer->event, &after))
		abort(); /* a timer fails only without memory */
}

void loop_timer_set_early(struct loop_timer *timer, int64_t after_ms, int64_t early_ms)
{
	loop_timer_set(timer, after_ms);
	timer->from_ms = clock_mono_ms() + after_ms - early_ms;
	timer->next = timer->loop->early;
	timer->loop->early = timer;
}

void loop_timer_stop(struct loop_timer *timer)
{
	be_punctual(timer);
	event_del(timer->event);
}

bool loop_timer_armed(const struct loop_timer *timer)
{
	return event_pending(timer->event, EV_TIMEOUT, NULL);
}

void loop_timer_free(struct loop_timer *timer)
{
	if (!timer)
		return;
	be_punctual(timer);
	event_free(timer->event);
	free(timer);
}

/* ---- signals ---- */

static void on_signal(evutil_socket_t signo, short what, void *arg)
{
	struct loop_signal *watch = arg;

	(void)what;
	watch->fn(watch->arg, signo);
}

struct loop_signal *loop_signal_new(struct loop *loop, int signo, loop_signal_fn *fn, void *arg,
				    struct err *err)
{
	struct loop_signal *watch = xcalloc(1, sizeof(*watch));

	*watch = (struct loop_signal){NULL, fn, arg};
	watch->event = made(evsignal_new(loop->base, signo, on_signal, watch));
	if (event_add(watch->event, NULL)) {
		err_set(err, ERR_SYS, errno, "watch signal %d", signo);
		loop_signal_free(watch);
		return NULL;
	}
	return watch;
}

void loop_signal_free(struct loop_signal *watch)
{
	if (!watch)
		return;
	event_free(watch->event);
	free(watch);
}

/* ---- from other threads ---- */

void loop_post(struct loop *loop, void (*fn)(void *arg), void *arg)
{
	struct post *post = xcalloc(1, sizeof(*post));
	uint64_t one = 1;

	*post = (struct post){fn, arg, NULL};
	pthread_mutex_lock(&loop->lock);
	*loop->tail = post;
	loop->tail = &post->next;
	pthread_mutex_unlock(&loop->lock);
	/* fails only when the counter is full, and then the loop is awake anyway */
	(void)!write(loop->wake_fd, &one, sizeof(one));
}
