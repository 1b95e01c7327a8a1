/*
 * cleanup: auto, as a part: when it collects, when it ends that, and what it says. The driver and the
 * collection are played by this file; the loop and the lane are real.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "run/driver_internal.h"
#include "run/gc/gc_run.h"
#include "run/part.h"
#include "tap.h"

#define LIMIT_MS 20000
#define HOUR     INT64_C(3600000)

/* The collection that is played, for both threads. One at a time: tests do not run side by side. */
static struct {
	atomic_bool unreadable, hangs; /* the journal; until it is told to end */
	atomic_int opened, collected, deleted, closed, ended;
} play;

struct rig {
	struct driver driver;
	struct setup setup;
	struct launch *launch;
};

struct gc_policy gc_run_policy(const struct setup *setup)
{
	return (struct gc_policy){.grace_ms = setup->config.gc.grace_ms};
}

int gc_run_open(struct gc_run *run, const struct setup *setup, struct err *err)
{
	(void)setup;
	atomic_fetch_add(&play.opened, 1);
	if (play.unreadable)
		return err_set(err, ERR_RETRY, 0, "the journal is away");
	memset(&run->gc, 0, sizeof(run->gc));
	return 0;
}

void gc_run_collect(struct gc_run *run, const struct gc_policy *policy)
{
	(void)policy;
	while (play.hangs && !run->watch.ends(run->watch.ctx))
		usleep(1000);
	atomic_fetch_add(&play.collected, 1);
	run->gc.sums[GC_STRANGE] = (struct gc_sum){2, 20};
	run->gc.sums[GC_NEEDED] = (struct gc_sum){1, 10};
	if (!run->watch.ends(run->watch.ctx))
		return;
	atomic_fetch_add(&play.ended, 1);
	run->gc.stop = xstrdup("it was interrupted");
}

void gc_run_delete(struct gc_run *run)
{
	if (run->gc.stop)
		return;
	atomic_fetch_add(&play.deleted, 1);
	run->deleted = (struct gc_deleted){.files = 3, .bytes = 30};
}

void gc_run_close(struct gc_run *run)
{
	atomic_fetch_add(&play.closed, 1);
	gc_release(&run->gc);
}

/* ---- */

/* The job runs, from a launch that was proven an hour ago. */
static void rig_begin(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	memset(&play, 0, sizeof(play));
	rig->setup.config.cleanup = COLLECT_AUTO;
	rig->setup.config.gc.interval_ms = 6 * HOUR;
	rig->driver.setup = &rig->setup;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	rig->driver.alive = true;
	journal_init(&rig->driver.life.journal, "orders");
	rig->launch = journal_add_launch(&rig->driver.life.journal);
	rig->launch->proven_unix_ms = clock_unix_ms() - HOUR;
	rig->driver.life.phase = PHASE_RUNNING;
	CHECK_INT(part_gc.open(&rig->driver, NULL), ==, 0);
}

static void rig_end(struct rig *rig)
{
	rig->driver.closing = true;
	part_gc.close(&rig->driver);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	journal_release(&rig->driver.life.journal);
	CHECK_INT(play.closed, ==, play.collected);
}

#define PART_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void step(struct rig *rig)
{
	part_gc.stepped(&rig->driver);
}

static void run_until(struct rig *rig, const atomic_int *count, int least)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (*count < least && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
	CHECK_INT(*count, >=, least);
}

/* Time in which it would have collected. */
static void nothing_runs(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + 100;
	int before = play.opened;

	while (clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
	CHECK_INT(play.opened, ==, before);
}

/* The member `name` of `cleanup` in the status, as text. */
static char *status_of(struct rig *rig, const char *name)
{
	cleanup_json struct json *doc = json_object();
	struct buf text = BUF_INIT;
	const struct json *cleanup;

	part_gc.status(&rig->driver, doc);
	cleanup = json_get(doc, "cleanup");
	if (name && cleanup)
		cleanup = json_get(cleanup, name);
	if (!cleanup)
		return xstrdup("not there");
	json_print(cleanup, &text);
	return buf_steal(&text);
}

#define CHECK_STATUS(name, want)                                                                   \
	do {                                                                                       \
		cleanup_free char *got = status_of(rig, name);                                     \
		CHECK_STR(got, want);                                                              \
	} while (0)

PART_TEST(it_collects_while_the_job_runs)
{
	CHECK_STATUS("lastUnixMs", "null");
	step(rig);
	run_until(rig, &play.closed, 1);
	CHECK_INT(play.deleted, ==, 1);
	CHECK_STATUS("deleted", "{\"files\":3,\"bytes\":30}");
	CHECK_STATUS("doubt", "{\"files\":2,\"bytes\":20}");
	CHECK_STATUS("needed", "{\"files\":1,\"bytes\":10}");
	CHECK_STATUS("stopped", "null");
	CHECK_INT(rig->driver.metrics.gc_files, ==, 3);
	CHECK(!rig->driver.metrics.gc_stopped);
	step(rig); /* and not again before the interval is over */
	nothing_runs(rig);
}

PART_TEST(it_collects_again_after_the_interval_and_counts_all)
{
	rig->setup.config.gc.interval_ms = 1;
	step(rig);
	run_until(rig, &play.closed, 3);
	CHECK_INT(rig->driver.metrics.gc_files, >=, 9);
	CHECK_INT(rig->driver.metrics.gc_doubt_files, ==, 2);
}

/* Each must keep it from beginning. */
PART_TEST(it_begins_only_when_the_job_runs_and_is_proven)
{
	struct driver *driver = &rig->driver;
	int64_t proven_unix_ms = rig->launch->proven_unix_ms;

	for (int phase = 0; phase < PHASE_COUNT; phase++) {
		if (phase == PHASE_RUNNING)
			continue;
		driver->life.phase = (enum phase)phase;
		step(rig);
		nothing_runs(rig);
	}
	driver->life.phase = PHASE_RUNNING;
	rig->launch->proven_unix_ms = 0;
	step(rig);
	nothing_runs(rig);
	rig->launch->proven_unix_ms = proven_unix_ms;
	driver->life.fenced = true;
	step(rig);
	nothing_runs(rig);
	driver->life.fenced = false;
	driver->alive = false;
	step(rig);
	nothing_runs(rig);
	driver->alive = true;
	step(rig);
	run_until(rig, &play.closed, 1);
}

PART_TEST(not_before_the_grace_time)
{
	rig->launch->proven_unix_ms = clock_unix_ms();
	rig->setup.config.gc.grace_ms = HOUR;
	step(rig);
	nothing_runs(rig);
}

/* The timer was set for the launch before. */
PART_TEST(another_launch_that_is_proven_begins_the_grace_time_anew)
{
	rig->launch->proven_unix_ms = clock_unix_ms() - GC_SLACK_MS + 50;
	step(rig);
	rig->launch->proven_unix_ms = clock_unix_ms() + HOUR;
	step(rig);
	nothing_runs(rig);
}

PART_TEST(a_planned_collection_is_dropped_when_the_job_is_to_stop)
{
	rig->launch->proven_unix_ms = clock_unix_ms() - GC_SLACK_MS + 50;
	step(rig);
	rig->driver.life.phase = PHASE_STOPPING;
	step(rig);
	nothing_runs(rig);
}

PART_TEST(one_that_runs_is_ended_when_the_job_is_to_stop)
{
	play.hangs = true;
	step(rig);
	run_until(rig, &play.opened, 1);
	rig->driver.life.phase = PHASE_STOPPING;
	step(rig);
	run_until(rig, &play.closed, 1);
	CHECK_INT(play.ended, ==, 1);
	CHECK_INT(play.deleted, ==, 0);
	CHECK_STATUS("stopped", "\"it was interrupted\"");
	CHECK(rig->driver.metrics.gc_stopped);
	nothing_runs(rig);
}

PART_TEST(only_one_runs_at_a_time)
{
	play.hangs = true;
	rig->setup.config.gc.interval_ms = 0;
	step(rig);
	run_until(rig, &play.opened, 1);
	step(rig);
	step(rig);
	nothing_runs(rig);
	CHECK_INT(play.opened, ==, 1);
}

PART_TEST(the_end_of_drey_ends_it)
{
	play.hangs = true;
	step(rig);
	run_until(rig, &play.opened, 1);
	/* rig_end() would wait a second, and leave the thread behind */
	part_gc.close(&rig->driver);
	CHECK_INT(play.ended, ==, 1);
	CHECK_INT(play.closed, ==, 1);
	CHECK(!rig->driver.gc);
}

PART_TEST(a_failure_is_reported_and_tried_again)
{
	play.unreadable = true;
	rig->setup.config.gc.interval_ms = 1;
	step(rig);
	run_until(rig, &play.opened, 2);
	CHECK_INT(play.collected, ==, 0);
	CHECK_STATUS("stopped", "\"the journal is away\"");
	CHECK_STATUS("deleted", "{\"files\":0,\"bytes\":0}");
	CHECK(rig->driver.metrics.gc_stopped);
	play.unreadable = false;
	run_until(rig, &play.closed, 2);
	CHECK_STATUS("stopped", "null");
	CHECK(!rig->driver.metrics.gc_stopped);
}

PART_TEST(switched_off_it_does_nothing)
{
	struct driver off = rig->driver;

	off.gc = NULL;
	rig->setup.config.cleanup = COLLECT_OFF;
	CHECK_INT(part_gc.open(&off, NULL), ==, 0);
	CHECK(!off.gc);
	part_gc.stepped(&off);
	nothing_runs(rig);
	part_gc.close(&off);
	rig->setup.config.cleanup = COLLECT_AUTO;
}
