#include "base/lane.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

struct job {
	lane_work_fn *work;
	lane_done_fn *done;
	void *arg;
	struct job *next;
};

struct queue {
	struct job *first, *last;
	size_t len;
};

/*
 * Shared by two threads under `lock`. The last one to leave frees it: normally lane_free() after
 * joining the worker; but when a job is stuck the worker is abandoned and frees it itself.
 */
struct lane {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct queue waiting, finished;
	struct job *running;
	bool stop;      /* no new jobs: the worker ends when it has none */
	bool abandoned; /* the owner is gone */
	bool ended;     /* the worker is gone */
	int ready_fd;   /* eventfd: something is in `finished` */

	/* the loop's thread only */
	pthread_t thread;
	struct loop_fd *watch;
	char name[16];
};

static void push(struct queue *queue, struct job *job)
{
	job->next = NULL;
	if (queue->last)
		queue->last->next = job;
	else
		queue->first = job;
	queue->last = job;
	queue->len++;
}

static struct job *pop(struct queue *queue)
{
	struct job *job = queue->first;

	if (!job)
		return NULL;
	queue->first = job->next;
	if (!queue->first)
		queue->last = NULL;
	queue->len--;
	return job;
}

static void release(struct lane *lane)
{
	close(lane->ready_fd);
	pthread_cond_destroy(&lane->changed);
	pthread_mutex_destroy(&lane->lock);
	free(lane);
}

/* ---- the worker ---- */

static void run_job(struct lane *lane, struct job *job)
{
	uint64_t one = 1;

	lane->running = job;
	pthread_mutex_unlock(&lane->lock);
	job->work(job->arg);
	pthread_mutex_lock(&lane->lock);
	lane->running = NULL;
	push(&lane->finished, job);
	pthread_mutex_unlock(&lane->lock);
	/* whoever wakes up by this wants the lock at once */
	(void)!write(lane->ready_fd, &one, sizeof(one));
	pthread_mutex_lock(&lane->lock);
}

static void *worker(void *arg)
{
	struct lane *lane = arg;
	bool abandoned;
	struct job *job;

	pthread_mutex_lock(&lane->lock);
	for (;;) {
		while (!lane->waiting.first && !lane->stop)
			pthread_cond_wait(&lane->changed, &lane->lock);
		job = pop(&lane->waiting);
		if (!job)
			break;
		run_job(lane, job);
	}
	lane->ended = true;
	abandoned = lane->abandoned;
	pthread_cond_broadcast(&lane->changed);
	pthread_mutex_unlock(&lane->lock);
	if (abandoned) {
		/* the arg of the abandoned job is the caller's in name only: nobody knows it now */
		while ((job = pop(&lane->finished)))
			free(job);
		release(lane);
	}
	return NULL;
}

/* ---- the loop's thread ---- */

static struct job *take_finished(struct lane *lane)
{
	struct job *job;

	pthread_mutex_lock(&lane->lock);
	job = pop(&lane->finished);
	pthread_mutex_unlock(&lane->lock);
	return job;
}

/* One job at a time, and the loop comes again for the next: done() may free the lane. */
static void on_ready(void *arg, int fd, unsigned events)
{
	struct lane *lane = arg;
	struct job *job;
	uint64_t count;

	(void)events;
	job = take_finished(lane);
	if (!job) {
		/* a job that finishes between here and the next line is taken below */
		(void)!read(fd, &count, sizeof(count));
		job = take_finished(lane);
		if (!job)
			return;
		count = 1;
		(void)!write(fd, &count, sizeof(count));
	}
	lane_done_fn *done = job->done;
	void *job_arg = job->arg;

	free(job);
	done(job_arg, true);
}

static int start_thread(struct lane *lane)
{
	sigset_t all, old;
	int sys;

	/* the worker inherits the mask: signals are the main thread's */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	sys = pthread_create(&lane->thread, NULL, worker, lane);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!sys)
		pthread_setname_np(lane->thread, lane->name);
	return sys;
}

struct lane *lane_new(struct loop *loop, const char *name, struct err *err)
{
	struct lane *lane = xcalloc(1, sizeof(*lane));
	pthread_condattr_t attr;
	int sys;

	snprintf(lane->name, sizeof(lane->name), "%s", name);
	pthread_mutex_init(&lane->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&lane->changed, &attr);
	pthread_condattr_destroy(&attr);
	lane->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (lane->ready_fd < 0) {
		err_set(err, ERR_SYS, errno, "create an eventfd");
		goto fail;
	}
	lane->watch = loop_fd_new(loop, lane->ready_fd, LOOP_READ, on_ready, lane, err);
	if (!lane->watch)
		goto fail;
	sys = start_thread(lane);
	if (sys) {
		err_set(err, ERR_SYS, sys, "start the thread '%s'", lane->name);
		goto fail;
	}
	return lane;
fail:
	loop_fd_free(lane->watch);
	release(lane);
	return NULL;
}

void lane_submit(struct lane *lane, lane_work_fn *work, lane_done_fn *done, void *arg)
{
	struct job *job = xcalloc(1, sizeof(*job));

	*job = (struct job){work, done, arg, NULL};
	pthread_mutex_lock(&lane->lock);
	push(&lane->waiting, job);
	pthread_mutex_unlock(&lane->lock);
	/* after the unlock, or the worker wakes up only to wait for the lock */
	pthread_cond_signal(&lane->changed);
}

/* The readers below take the lock of what they only look at. */
static struct lane *locked(const struct lane *lane)
{
	struct lane *open = (struct lane *)lane;

	pthread_mutex_lock(&open->lock);
	return open;
}

size_t lane_queued(const struct lane *lane)
{
	struct lane *open = locked(lane);
	size_t len = open->waiting.len;

	pthread_mutex_unlock(&open->lock);
	return len;
}

static struct timespec deadline_in(int64_t wait_ms)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	if (wait_ms < 0)
		wait_ms = 0;
	at.tv_sec += wait_ms / 1000;
	at.tv_nsec += wait_ms % 1000 * 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_nsec -= 1000000000;
		at.tv_sec++;
	}
	return at;
}

/* Empty a queue that only this thread can see: done() may submit to other lanes and take long. */
static void finish(struct queue *queue, bool ran)
{
	struct job *job;

	while ((job = pop(queue))) {
		job->done(job->arg, ran);
		free(job);
	}
}

bool lane_free(struct lane *lane, int64_t wait_ms)
{
	struct timespec deadline = deadline_in(wait_ms);
	struct queue dropped, finished;
	pthread_t thread;
	bool ended;

	if (!lane)
		return true;
	loop_fd_free(lane->watch);
	thread = lane->thread;
	pthread_mutex_lock(&lane->lock);
	dropped = lane->waiting;
	lane->waiting = (struct queue){NULL, NULL, 0};
	lane->stop = true;
	pthread_cond_broadcast(&lane->changed);
	while (!lane->ended &&
	       pthread_cond_timedwait(&lane->changed, &lane->lock, &deadline) != ETIMEDOUT)
		;
	finished = lane->finished;
	lane->finished = (struct queue){NULL, NULL, 0};
	ended = lane->ended;
	lane->abandoned = !ended;
	pthread_mutex_unlock(&lane->lock);
	/* from here on an abandoned lane may be gone at any time */
	if (ended) {
		pthread_join(thread, NULL);
		release(lane);
	} else {
		pthread_detach(thread);
	}
	finish(&finished, true);
	finish(&dropped, false);
	return ended;
}
