/*
 * loop - the event loop of the main thread: descriptors, timers, signals, calls from other threads.
 * The only module that knows libevent.
 *
 * Life cycle: loop_new() -> handles -> loop_run() until loop_stop() -> free the handles ->
 * loop_free(). Handles belong to the caller and are freed by it, before the loop; a callback may
 * free any handle, even its own. Everything except loop_post() is for the loop's thread only. An
 * idle loop does not wake up.
 */
#ifndef DREY_BASE_LOOP_H
#define DREY_BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct loop;
struct loop_fd;
struct loop_timer;
struct loop_signal;

struct loop *loop_new(struct err *err); /* NULL on failure */
void loop_free(struct loop *loop);      /* NULL is allowed; posts that did not run are dropped */

/* Run callbacks until loop_stop(). 0, or -1 if the kernel refuses to wait (ERR_SYS). */
int loop_run(struct loop *loop, struct err *err);
void loop_stop(struct loop *loop); /* after the running callback */

/* Run what is ready; wait at most max_ms for the first (0: do not wait). For tests and short
 * tools. */
int loop_step(struct loop *loop, int64_t max_ms, struct err *err);

/* ---- descriptors: level-triggered ---- */
enum loop_events {
	LOOP_READ = 1,
	LOOP_WRITE = 2,
};
typedef void loop_fd_fn(void *arg, int fd, unsigned events);

/* Watch fd, which stays the caller's and must stay open until loop_fd_free(). NULL on failure. */
struct loop_fd *loop_fd_new(struct loop *loop, int fd, unsigned events, loop_fd_fn *fn, void *arg,
			    struct err *err);
int loop_fd_set(struct loop_fd *watch, unsigned events, struct err *err); /* 0 pauses */
void loop_fd_free(struct loop_fd *watch);                                 /* NULL is allowed */

/* ---- timers: monotonic, one shot; arm again in the callback for a period ---- */
typedef void loop_timer_fn(void *arg);

struct loop_timer *loop_timer_new(struct loop *loop, loop_timer_fn *fn, void *arg); /* not armed */
void loop_timer_set(struct loop_timer *timer,
		    int64_t after_ms); /* from now, never early; replaces an armed one; < 0 is 0 */
/* The same, but it may run up to early_ms early, together with another wake-up of the loop: so
 * non-urgent work does not cause its own wake-up. */
void loop_timer_set_early(struct loop_timer *timer, int64_t after_ms, int64_t early_ms);
void loop_timer_stop(struct loop_timer *timer);
bool loop_timer_armed(const struct loop_timer *timer);
void loop_timer_free(struct loop_timer *timer); /* NULL is allowed */

/* ---- signals: the callback runs as a normal callback; SIGPIPE is ignored by loop_new() ---- */
typedef void loop_signal_fn(void *arg, int signo);

struct loop_signal *loop_signal_new(struct loop *loop, int signo, loop_signal_fn *fn, void *arg,
				    struct err *err);
void loop_signal_free(struct loop_signal *watch); /* NULL is allowed */

/* ---- from any thread: fn(arg) runs on the loop's thread, in the order of the posts ---- */
void loop_post(struct loop *loop, void (*fn)(void *arg), void *arg);

#endif
