#include "base/lane.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define RETRY_MS  100 /* after a thread could not be started */
#define IDLE_MAX  2   /* on a busy machine a second one is often needed for a moment */
#define IDLE_NAME "drey-worker"

struct job {
	struct lane *lane;
	lane_work_fn *work;
	lane_done_fn *done;
	void *arg;
	struct job *next;
};

struct queue {
	struct job *first, *last;
	size_t len;
};

/* Guarded by the lock of its workers. */
struct lane {
	struct workers *workers;
	struct queue waiting;
	bool running;
	bool abandoned;    /* its owner is gone: the worker that runs its job frees it */
	struct lane *next; /* in workers->ready */
	char name[16];
};

/* Where a worker waits. It lives as long as the workers, so it is signalled without the lock. */
struct seat {
	pthread_cond_t call;
	bool taken, called;
	struct seat *next;
};

/*
 * Shared by all threads under `lock`. The last one to leave frees it: normally workers_free(); but when
 * a job is stuck, its thread.
 */
struct workers {
	pthread_mutex_t lock;
	pthread_cond_t ended;            /* a job, or a worker */
	struct lane *ready;              /* lanes that have work and no worker, in order */
	struct queue finished;           /* of all lanes */
	int threads, stuck;              /* stuck: those whose lane was abandoned */
	struct seat seats[IDLE_MAX + 2]; /* more: who was called leaves its seat a little later */
	struct seat *idle;               /* who waits for work, the last one first */
	int idle_count;
	int64_t begun_ms; /* when a worker was called, or has begun its last job */
	bool impatient;   /* the timer is armed */
	bool stop;
	pthread_t gone; /* the worker that ended last, to be joined */
	bool has_gone;
	int ready_fd; /* eventfd: something is in `finished` */

	/* the loop's thread only */
	struct loop_fd *watch;
	struct loop_timer *patience;
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

/* Those of one lane, in their order. */
static struct queue take_of(struct queue *queue, const struct lane *lane)
{
	struct queue all = *queue, taken = {NULL, NULL, 0};
	struct job *job;

	*queue = (struct queue){NULL, NULL, 0};
	while ((job = pop(&all)))
		push(job->lane == lane ? &taken : queue, job);
	return taken;
}

/* At the end, unless it has a worker, no work, or is there already. */
static void make_ready(struct lane *lane)
{
	struct lane **at = &lane->workers->ready;

	if (lane->running || !lane->waiting.first)
		return;
	while (*at && *at != lane)
		at = &(*at)->next;
	if (!*at) {
		lane->next = NULL;
		*at = lane;
	}
}

static void make_unready(struct lane *lane)
{
	struct lane **at = &lane->workers->ready;

	while (*at && *at != lane)
		at = &(*at)->next;
	if (*at)
		*at = lane->next;
}

/* The worker that became idle last, to be signalled; NULL: there is none. */
static struct seat *call_idle(struct workers *workers)
{
	struct seat *seat = workers->idle;

	if (!seat)
		return NULL;
	workers->idle = seat->next;
	workers->idle_count--;
	workers->begun_ms = clock_mono_ms();
	seat->called = true;
	return seat;
}

static struct seat *free_seat(struct workers *workers)
{
	for (size_t i = 0; i < ARRAY_LEN(workers->seats); i++)
		if (!workers->seats[i].taken)
			return &workers->seats[i];
	return NULL;
}

static void release(struct workers *workers)
{
	close(workers->ready_fd);
	pthread_cond_destroy(&workers->ended);
	for (size_t i = 0; i < ARRAY_LEN(workers->seats); i++)
		pthread_cond_destroy(&workers->seats[i].call);
	pthread_mutex_destroy(&workers->lock);
	free(workers);
}

/* ---- a worker ---- */

/* Without the lock, which the loop's thread wants as soon as it wakes up. */
static void wake_loop(struct workers *workers)
{
	uint64_t one = 1;

	pthread_mutex_unlock(&workers->lock);
	(void)!write(workers->ready_fd, &one, sizeof(one));
	pthread_mutex_lock(&workers->lock);
}

static void run_job(struct workers *workers, struct lane *lane)
{
	struct job *job = pop(&lane->waiting);

	lane->running = true;
	workers->begun_ms = clock_mono_ms();
	pthread_mutex_unlock(&workers->lock);
	pthread_setname_np(pthread_self(), lane->name);
	job->work(job->arg);
	pthread_mutex_lock(&workers->lock);
	lane->running = false;
	pthread_cond_broadcast(&workers->ended);
	if (lane->abandoned) {
		/* the arg belongs to the caller in name only, and the caller has forgotten it */
		free(job);
		free(lane);
		workers->stuck--;
		return;
	}
	push(&workers->finished, job);
	make_ready(lane);
}

/* False: there is nothing to do, and enough workers wait for more. */
static bool wait_for_work(struct workers *workers)
{
	struct seat *seat;

	if (workers->ready)
		return true;
	/* what this worker has finished may have waited for the end of the row */
	if (workers->finished.first)
		wake_loop(workers);
	if (workers->ready)
		return true;
	seat = free_seat(workers);
	if (!seat || workers->idle_count == IDLE_MAX || workers->stop)
		return false;
	seat->taken = true;
	seat->called = false;
	seat->next = workers->idle;
	workers->idle = seat;
	workers->idle_count++;
	pthread_setname_np(pthread_self(), IDLE_NAME);
	while (!seat->called)
		pthread_cond_wait(&seat->call, &workers->lock);
	seat->taken = false;
	return true;
}

/* Each joins its predecessor, so that at most one is left to workers_free(). */
static void leave(struct workers *workers)
{
	pthread_t before = workers->gone;
	bool join = workers->has_gone;
	bool last = workers->stop && !workers->watch;

	if (last) {
		pthread_detach(pthread_self());
		last = --workers->threads == 0;
		pthread_mutex_unlock(&workers->lock);
		if (last)
			release(workers);
		return;
	}
	workers->gone = pthread_self();
	workers->has_gone = true;
	workers->threads--;
	pthread_cond_broadcast(&workers->ended);
	pthread_mutex_unlock(&workers->lock);
	if (join)
		pthread_join(before, NULL);
}

static void *worker(void *arg)
{
	struct workers *workers = arg;

	pthread_mutex_lock(&workers->lock);
	while (!workers->stop && wait_for_work(workers)) {
		struct lane *lane = workers->ready;

		if (!lane)
			continue;
		workers->ready = lane->next;
		run_job(workers, lane);
		/* while the timer is armed, it tells if the next job takes long */
		if (!workers->impatient && workers->finished.first)
			wake_loop(workers);
	}
	leave(workers);
	return NULL;
}

/* Under the lock. An errno. */
static int start_thread(struct workers *workers)
{
	sigset_t all, old;
	pthread_t thread;
	int sys;

	/* the worker inherits the mask: signals are the main thread's */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	sys = pthread_create(&thread, NULL, worker, workers);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!sys)
		workers->threads++;
	return sys;
}

/* ---- the loop's thread ---- */

/* One job at a time, and the loop comes again for the next: done() may free the lane. */
static void on_ready(void *arg, int fd, unsigned events)
{
	struct workers *workers = arg;
	uint64_t count = 1;
	struct job *job;
	bool more, calm;

	(void)events;
	(void)!read(fd, &count, sizeof(count));
	pthread_mutex_lock(&workers->lock);
	job = pop(&workers->finished);
	more = workers->finished.first;
	calm = workers->impatient && !workers->ready;
	if (calm)
		workers->impatient = false;
	pthread_mutex_unlock(&workers->lock);
	if (calm)
		loop_timer_stop(workers->patience);
	if (more)
		(void)!write(fd, &count, sizeof(count));
	if (!job)
		return;
	lane_done_fn *done = job->done;
	void *job_arg = job->arg;

	free(job);
	done(job_arg, true);
}

/* A worker for each lane that still waits. */
static void on_patience(void *arg)
{
	struct workers *workers = arg;
	struct seat *seat;
	uint64_t one = 1;
	bool more;
	int sys = 0;

	pthread_mutex_lock(&workers->lock);
	for (struct lane *lane = workers->ready; lane && !sys; lane = lane->next)
		if (!(seat = call_idle(workers)))
			sys = start_thread(workers);
		else
			pthread_cond_signal(&seat->call);
	workers->impatient = sys;
	more = workers->finished.first;
	pthread_mutex_unlock(&workers->lock);
	if (sys)
		loop_timer_set(workers->patience, RETRY_MS);
	if (more)
		(void)!write(workers->ready_fd, &one, sizeof(one));
}

struct workers *workers_new(struct loop *loop, struct err *err)
{
	struct workers *workers = xcalloc(1, sizeof(*workers));
	pthread_condattr_t attr;
	int sys;

	pthread_mutex_init(&workers->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&workers->ended, &attr);
	pthread_condattr_destroy(&attr);
	for (size_t i = 0; i < ARRAY_LEN(workers->seats); i++)
		pthread_cond_init(&workers->seats[i].call, NULL);
	workers->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (workers->ready_fd < 0) {
		err_set(err, ERR_SYS, errno, "create an eventfd");
		goto fail;
	}
	workers->watch = loop_fd_new(loop, workers->ready_fd, LOOP_READ, on_ready, workers, err);
	if (!workers->watch)
		goto fail;
	workers->patience = loop_timer_new(loop, on_patience, workers);
	pthread_mutex_lock(&workers->lock);
	sys = start_thread(workers);
	pthread_mutex_unlock(&workers->lock);
	if (sys) {
		err_set(err, ERR_SYS, sys, "start a worker thread");
		goto fail;
	}
	return workers;
fail:
	loop_timer_free(workers->patience);
	loop_fd_free(workers->watch);
	release(workers);
	return NULL;
}

void workers_free(struct workers *workers)
{
	struct seat *seat;
	pthread_t gone;
	bool left, join;

	if (!workers)
		return;
	loop_timer_free(workers->patience);
	loop_fd_free(workers->watch);
	pthread_mutex_lock(&workers->lock);
	workers->stop = true;
	while ((seat = call_idle(workers)))
		pthread_cond_signal(&seat->call);
	while (workers->threads > workers->stuck)
		pthread_cond_wait(&workers->ended, &workers->lock);
	workers->watch = NULL;
	left = workers->threads;
	gone = workers->gone;
	join = workers->has_gone;
	pthread_mutex_unlock(&workers->lock);
	/* from here on workers that are left may be gone at any time */
	if (join)
		pthread_join(gone, NULL);
	if (!left)
		release(workers);
}

struct lane *lane_new(struct workers *workers, const char *name)
{
	struct lane *lane = xcalloc(1, sizeof(*lane));

	lane->workers = workers;
	snprintf(lane->name, sizeof(lane->name), "%s", name);
	return lane;
}

/* A worker is busy, and will probably do this job soon. */
static bool in_a_row(const struct workers *workers)
{
	return workers->threads > workers->idle_count &&
	       clock_mono_ms() - workers->begun_ms < LANE_TURN_MS;
}

void lane_submit(struct lane *lane, lane_work_fn *work, lane_done_fn *done, void *arg)
{
	struct workers *workers = lane->workers;
	struct job *job = xcalloc(1, sizeof(*job));
	struct seat *seat = NULL;
	bool arm;

	*job = (struct job){lane, work, done, arg, NULL};
	pthread_mutex_lock(&workers->lock);
	push(&lane->waiting, job);
	make_ready(lane);
	if (workers->ready && !in_a_row(workers))
		seat = call_idle(workers);
	arm = workers->ready && !seat && !workers->impatient;
	if (arm)
		workers->impatient = true;
	pthread_mutex_unlock(&workers->lock);
	/* after the unlock, or the worker wakes up only to wait for the lock */
	if (seat)
		pthread_cond_signal(&seat->call);
	if (arm)
		loop_timer_set(workers->patience, LANE_TURN_MS);
}

size_t lane_queued(const struct lane *lane)
{
	size_t len;

	pthread_mutex_lock(&lane->workers->lock);
	len = lane->waiting.len;
	pthread_mutex_unlock(&lane->workers->lock);
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
	struct workers *workers;
	bool ended;

	if (!lane)
		return true;
	workers = lane->workers;
	pthread_mutex_lock(&workers->lock);
	make_unready(lane);
	dropped = lane->waiting;
	lane->waiting = (struct queue){NULL, NULL, 0};
	while (lane->running &&
	       pthread_cond_timedwait(&workers->ended, &workers->lock, &deadline) != ETIMEDOUT)
		;
	finished = take_of(&workers->finished, lane);
	ended = !lane->running;
	lane->abandoned = !ended;
	workers->stuck += !ended;
	pthread_mutex_unlock(&workers->lock);
	if (ended)
		free(lane);
	/* else it may be gone at any time */
	finish(&finished, true);
	finish(&dropped, false);
	return ended;
}
