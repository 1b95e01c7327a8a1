#include "base/lane.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "tap.h"

#define LIMIT_MS 20000

struct job {
	int number;
	pthread_t worked_on;
	sigset_t mask;
	char thread_name[16];
	sem_t *entered, *leave; /* when not NULL: a job that is stuck until it is let go */
	struct results *results;
};

struct results {
	struct buf order;
	int done, ran;
	pthread_t done_on;
	struct lane *free_me;
};

static void work(void *arg)
{
	struct job *job = arg;

	job->worked_on = pthread_self();
	pthread_sigmask(SIG_SETMASK, NULL, &job->mask);
	pthread_getname_np(pthread_self(), job->thread_name, sizeof(job->thread_name));
	if (job->entered)
		sem_post(job->entered);
	if (job->leave)
		sem_wait(job->leave);
}

static void done(void *arg, bool ran)
{
	struct job *job = arg;
	struct results *results = job->results;

	results->done++;
	results->ran += ran;
	results->done_on = pthread_self();
	buf_addf(&results->order, "%d%s ", job->number, ran ? "" : "!");
	if (results->free_me) {
		struct lane *lane = results->free_me;

		results->free_me = NULL; /* before: freeing ends the other jobs here, too */
		CHECK(lane_free(lane, LIMIT_MS));
	}
}

static bool run_until(struct loop *loop, const int *flag, int want)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (*flag < want && clock_mono_ms() < end_ms)
		if (loop_step(loop, 100, NULL))
			return false;
	return *flag >= want;
}

static int thread_count(void)
{
	DIR *dir = opendir("/proc/self/task");
	int count = -2; /* "." and ".." */

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* A thread that was joined may be listed for a moment longer: the kernel tells of its end before it takes it off the list. */
static int thread_count_down_to(int want)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;
	int count;

	while ((count = thread_count()) > want && clock_mono_ms() < end_ms)
		poll(NULL, 0, 1);
	return count;
}

TEST(jobs_run_in_order_on_the_worker_and_end_on_the_loop)
{
	struct loop *loop = loop_new(NULL);
	struct workers *workers = workers_new(loop, NULL);
	struct lane *lane = lane_new(workers, "storage");
	struct results results = {.order = BUF_INIT};
	struct job jobs[20] = {{0}};

	for (int i = 0; i < 20; i++) {
		jobs[i].number = i;
		jobs[i].results = &results;
		lane_submit(lane, work, done, &jobs[i]);
	}
	CHECK(run_until(loop, &results.done, 20));
	CHECK_STR(buf_str(&results.order), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 ");
	CHECK_INT(results.ran, ==, 20);
	CHECK(pthread_equal(results.done_on, pthread_self()));
	CHECK(!pthread_equal(jobs[0].worked_on, pthread_self()));
	CHECK_STR(jobs[0].thread_name, "storage");
	CHECK_INT(lane_queued(lane), ==, 0);
	CHECK(lane_free(lane, LIMIT_MS));
	workers_free(workers);
	loop_free(loop);
	buf_release(&results.order);
}

TEST(the_worker_takes_no_signals)
{
	struct loop *loop = loop_new(NULL);
	struct workers *workers = workers_new(loop, NULL);
	struct lane *lane = lane_new(workers, "a-name-that-is-too-long");
	struct results results = {.order = BUF_INIT};
	struct job job = {.results = &results};
	sigset_t mine;

	lane_submit(lane, work, done, &job);
	CHECK(run_until(loop, &results.done, 1));
	CHECK_INT(sigismember(&job.mask, SIGTERM), ==, 1);
	CHECK_INT(sigismember(&job.mask, SIGCHLD), ==, 1);
	pthread_sigmask(SIG_SETMASK, NULL, &mine);
	CHECK_INT(sigismember(&mine, SIGTERM), ==, 0);
	CHECK_STR(job.thread_name, "a-name-that-is-");
	CHECK(lane_free(lane, LIMIT_MS));
	workers_free(workers);
	loop_free(loop);
	buf_release(&results.order);
}

TEST(says_what_waits)
{
	struct loop *loop = loop_new(NULL);
	struct workers *workers = workers_new(loop, NULL);
	struct lane *lane = lane_new(workers, "slow");
	struct results results = {.order = BUF_INIT};
	sem_t entered, leave;
	struct job jobs[3] = {
		{.number = 0, .entered = &entered, .leave = &leave}, {.number = 1}, {.number = 2}};

	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	for (int i = 0; i < 3; i++) {
		jobs[i].results = &results;
		lane_submit(lane, work, done, &jobs[i]);
	}
	sem_wait(&entered);
	CHECK_INT(lane_queued(lane), ==, 2);
	CHECK_INT(loop_step(loop, 0, NULL), ==, 0);
	CHECK_INT(results.done, ==, 0);
	sem_post(&leave);
	CHECK(run_until(loop, &results.done, 3));
	CHECK_STR(buf_str(&results.order), "0 1 2 ");
	CHECK(lane_free(lane, LIMIT_MS));
	workers_free(workers);
	loop_free(loop);
	buf_release(&results.order);
	sem_destroy(&entered);
	sem_destroy(&leave);
}

TEST(freeing_gives_back_every_job)
{
	struct loop *loop = loop_new(NULL);
	struct workers *workers = workers_new(loop, NULL);
	struct lane *lane = lane_new(workers, "free");
	struct results results = {.order = BUF_INIT};
	sem_t entered, leave;
	struct job jobs[3] = {
		{.number = 0, .entered = &entered, .leave = &leave}, {.number = 1}, {.number = 2}};

	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	for (int i = 0; i < 3; i++) {
		jobs[i].results = &results;
		lane_submit(lane, work, done, &jobs[i]);
	}
	sem_wait(&entered);
	sem_post(&leave);
	CHECK(lane_free(lane, LIMIT_MS));
	CHECK_INT(results.done, ==, 3);
	CHECK_INT(results.ran, >=, 1);
	CHECK_HAS(buf_str(&results.order), "0 1");
	CHECK_INT(loop_step(loop, 0, NULL), ==, 0);
	workers_free(workers);
	loop_free(loop);
	buf_release(&results.order);
	sem_destroy(&entered);
	sem_destroy(&leave);
}

TEST(a_stuck_job_is_abandoned_and_not_waited_for)
{
	const int alone = thread_count();
	struct loop *loop = loop_new(NULL);
	struct workers *workers = workers_new(loop, NULL);
	struct lane *lane = lane_new(workers, "stuck");
	struct results results = {.order = BUF_INIT};
	/* they outlive this function: the abandoned worker looks at them when it is let go */
	static sem_t entered, leave;
	static struct job stuck = {.number = 0, .entered = &entered, .leave = &leave};
	struct job second = {.number = 1, .results = &results};
	int64_t start_ms;

	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	stuck.results = &results;
	lane_submit(lane, work, done, &stuck);
	lane_submit(lane, work, done, &second);
	sem_wait(&entered);
	start_ms = clock_mono_ms();
	CHECK(!lane_free(lane, 30));
	CHECK_INT(clock_mono_ms() - start_ms, >=, 30);
	CHECK_INT(clock_mono_ms() - start_ms, <, LIMIT_MS);
	CHECK_STR(buf_str(&results.order), "1! ");
	workers_free(workers);
	loop_free(loop);
	/* the worker now ends and frees lane and workers; no done() is called */
	sem_post(&leave);
	CHECK_INT(thread_count_down_to(alone), ==, alone);
	CHECK_INT(results.done, ==, 1);
	buf_release(&results.order);
}

TEST(a_lane_may_be_freed_in_done)
{
	struct loop *loop = loop_new(NULL);
	struct workers *workers = workers_new(loop, NULL);
	struct lane *lane = lane_new(workers, "self");
	struct results results = {.order = BUF_INIT, .free_me = lane};
	struct job jobs[3] = {{.number = 0, .results = &results},
			      {.number = 1, .results = &results},
			      {.number = 2, .results = &results}};

	for (int i = 0; i < 3; i++)
		lane_submit(lane, work, done, &jobs[i]);
	CHECK(run_until(loop, &results.done, 3));
	CHECK(!results.free_me);
	CHECK_INT(loop_step(loop, 0, NULL), ==, 0);
	workers_free(workers);
	loop_free(loop);
	buf_release(&results.order);
}

/* The number of workers after eight short jobs in eight lanes. */
static int workers_of_short_jobs(void)
{
	const int alone = thread_count();
	struct loop *loop = loop_new(NULL);
	struct workers *workers = workers_new(loop, NULL);
	struct results results = {.order = BUF_INIT};
	struct lane *lanes[8];
	struct job jobs[8] = {{0}};
	int count;

	for (int i = 0; i < 8; i++) {
		lanes[i] = lane_new(workers, "short");
		jobs[i].number = i;
		jobs[i].results = &results;
	}
	for (int i = 0; i < 8; i++)
		lane_submit(lanes[i], work, done, &jobs[i]);
	CHECK(run_until(loop, &results.done, 8));
	for (int i = 0; i < 8; i++)
		CHECK(lane_free(lanes[i], LIMIT_MS));
	count = thread_count() - alone;
	if (count == 1)
		CHECK_STR(buf_str(&results.order), "0 1 2 3 4 5 6 7 ");
	workers_free(workers);
	CHECK_INT(thread_count_down_to(alone), ==, alone);
	loop_free(loop);
	buf_release(&results.order);
	return count;
}

/* A busy machine makes a short job long, and then another worker takes the next one: it is seen at one try of many. */
TEST(lanes_share_one_worker_while_their_jobs_are_short)
{
	int count = 0;

	for (int turn = 0; turn < 50 && count != 1; turn++)
		count = workers_of_short_jobs();
	CHECK_INT(count, ==, 1);
}

TEST(jobs_that_hang_delay_no_other_lane)
{
	const int alone = thread_count();
	struct loop *loop = loop_new(NULL);
	struct workers *workers = workers_new(loop, NULL);
	struct results results = {.order = BUF_INIT};
	struct lane *hung[3], *lane = lane_new(workers, "other");
	sem_t entered, leave;
	struct job stuck[3] = {{0}}, behind = {.number = 3}, jobs[5] = {{0}};
	int64_t start_ms;

	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	behind.results = &results;
	for (int i = 0; i < 3; i++) {
		hung[i] = lane_new(workers, "hung");
		stuck[i] =
			(struct job){i, .entered = &entered, .leave = &leave, .results = &results};
		lane_submit(hung[i], work, done, &stuck[i]);
	}
	lane_submit(hung[2], work, done, &behind);
	for (int i = 0; i < 5; i++) {
		jobs[i] = (struct job){.number = 10 + i, .results = &results};
		start_ms = clock_mono_ms();
		lane_submit(lane, work, done, &jobs[i]);
		CHECK(run_until(loop, &results.done, i + 1));
		CHECK_INT(clock_mono_ms() - start_ms, <, 2000);
	}
	CHECK_STR(buf_str(&results.order), "10 11 12 13 14 ");
	for (int i = 0; i < 3; i++)
		sem_wait(&entered);
	CHECK_INT(lane_queued(hung[2]), ==, 1);
	for (int i = 0; i < 3; i++)
		sem_post(&leave);
	CHECK(run_until(loop, &results.done, 9));
	/* the other two may end between them */
	CHECK(strstr(buf_str(&results.order), " 2 ") < strstr(buf_str(&results.order), " 3 "));
	for (int i = 0; i < 3; i++)
		CHECK(lane_free(hung[i], LIMIT_MS));
	CHECK(lane_free(lane, LIMIT_MS));
	workers_free(workers);
	CHECK_INT(thread_count_down_to(alone), ==, alone);
	loop_free(loop);
	buf_release(&results.order);
	sem_destroy(&entered);
	sem_destroy(&leave);
}

/* Nothing is heard of the first one's end before the second one has ended, but for the loop's patience. */
TEST(a_finished_job_is_told_although_the_next_one_hangs)
{
	struct loop *loop = loop_new(NULL);
	struct workers *workers = workers_new(loop, NULL);
	struct lane *first = lane_new(workers, "first"), *second = lane_new(workers, "second");
	struct results results = {.order = BUF_INIT};
	sem_t entered, leave;
	struct job jobs[2] = {{.number = 0, .results = &results},
			      {1, .entered = &entered, .leave = &leave, .results = &results}};

	sem_init(&entered, 0, 0);
	sem_init(&leave, 0, 0);
	lane_submit(first, work, done, &jobs[0]);
	lane_submit(second, work, done, &jobs[1]);
	CHECK(run_until(loop, &results.done, 1));
	CHECK_STR(buf_str(&results.order), "0 ");
	sem_wait(&entered);
	sem_post(&leave);
	CHECK(run_until(loop, &results.done, 2));
	CHECK(lane_free(first, LIMIT_MS));
	CHECK(lane_free(second, LIMIT_MS));
	workers_free(workers);
	loop_free(loop);
	buf_release(&results.order);
	sem_destroy(&entered);
	sem_destroy(&leave);
}

/* The processor time that a thread has used. */
static long used_ns(pthread_t thread)
{
	clockid_t id;
	struct timespec used;

	if (pthread_getcpuclockid(thread, &id) || clock_gettime(id, &used))
		return -1;
	return used.tv_nsec + used.tv_sec * 1000000000L;
}

TEST(an_idle_worker_uses_no_time)
{
	struct loop *loop = loop_new(NULL);
	struct workers *workers = workers_new(loop, NULL);
	struct lane *lane = lane_new(workers, "idle");
	struct results results = {.order = BUF_INIT};
	struct job job = {.results = &results};
	int64_t until_ms;
	long before;

	lane_submit(lane, work, done, &job);
	CHECK(run_until(loop, &results.done, 1));
	/* time to get to its wait; should that be too short, the check below is only harder */
	poll(NULL, 0, 50);
	before = used_ns(job.worked_on);
	until_ms = clock_mono_ms() + 200;
	while (clock_mono_ms() < until_ms)
		loop_step(loop, 50, NULL);
	CHECK_INT(used_ns(job.worked_on) - before, ==, 0);
	CHECK(lane_free(lane, LIMIT_MS));
	CHECK(lane_free(NULL, 0));
	workers_free(workers);
	loop_free(loop);
	buf_release(&results.order);
}
