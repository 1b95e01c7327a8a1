/*
 * cleanup: auto. What dead launches have left is deleted while the job runs: gc.grace after a launch is
 * proven, and every gc.interval. It has a lane of its own and ends as soon as anything else happens.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "run/driver_internal.h"
#include "run/gc/gc_run.h"
#include "run/part.h"

/* What the last run has found; for people. */
struct gc_seen {
	int64_t ended_unix_ms; /* 0 = there was none */
	struct gc_sum doubt, needed;
	char *stopped; /* why not everything could be judged, or deleted; NULL = it could */
};

struct gc_part {
	struct lane *lane;
	struct loop_timer *timer;
	struct gc_job *job; /* that runs; NULL = none */
	struct gc_seen seen;
};

struct gc_job {
	struct driver *driver;
	struct gc_run run;
	atomic_bool ends; /* set on the loop */
	struct err err;   /* the journal could not be read */
};

/* ---- when ---- */

/* The job runs, from a launch that is proven for some time, and nobody wants anything else. */
static bool may_run(const struct driver *driver)
{
	const struct lifecycle *life = &driver->life;
	const struct launch *launch = driver->alive ? journal_launch_const(&life->journal) : NULL;

	return launch && life->phase == PHASE_RUNNING && launch->proven_unix_ms && !life->fenced &&
	       !driver_in_shadow(driver) && !driver->closing;
}

static int64_t due_unix_ms(const struct driver *driver)
{
	const struct launch *launch = journal_launch_const(&driver->life.journal);
	const struct gc_seen *seen = &driver->gc->seen;

	return gc_due_unix_ms(launch->proven_unix_ms, driver->setup->config.gc.grace_ms,
			      seen->ended_unix_ms, seen->stopped != NULL,
			      driver->setup->config.gc.interval_ms);
}

static void plan(struct driver *driver)
{
	struct gc_part *part = driver->gc;
	int64_t wait_ms;

	if (part->job || loop_timer_armed(part->timer))
		return;
	wait_ms = due_unix_ms(driver) - clock_unix_ms();
	loop_timer_set(part->timer, wait_ms > 0 ? wait_ms : 0);
}

/* ---- one run ---- */

static bool job_ends(void *ctx)
{
	struct gc_job *job = ctx;

	return atomic_load(&job->ends);
}

static void gc_work(void *arg)
{
	struct gc_job *job = arg;
	const struct setup *setup = job->driver->setup;
	struct gc_policy policy = gc_run_policy(setup);

	job->run.watch = (struct gc_run_watch){.ends = job_ends, .ctx = job};
	if (gc_run_open(&job->run, setup, &job->err) < 0)
		return;
	gc_run_collect(&job->run, &policy);
	gc_run_delete(&job->run);
}

static const char *what_stopped(const struct gc_job *job)
{
	if (job->err.kind)
		return job->err.msg;
	if (job->run.ended.kind)
		return job->run.ended.msg;
	if (job->run.deleted.failed)
		return job->run.deleted.why;
	return job->run.gc.stop;
}

static void take_run(struct driver *driver, const struct gc_job *job)
{
	struct gc_seen *seen = &driver->gc->seen;
	const struct gc_run *run = &job->run;
	const char *stopped = what_stopped(job);

	seen->ended_unix_ms = clock_unix_ms();
	seen->doubt = gc_total(&run->gc, GC_DOUBT);
	seen->needed = gc_total(&run->gc, GC_KEEP);
	if (run->deleted.files)
		log_info(driver->log, "storage cleaned up: files of dead launches are deleted",
			 LOG_I64("files", run->deleted.files),
			 LOG_I64("bytes", run->deleted.bytes));
	if (stopped && !xstrsame(stopped, seen->stopped))
		log_warn(driver->log, "storage not cleaned up: not everything can be judged",
			 LOG_STR("reason", stopped));
	xstrset(&seen->stopped, stopped);
	driver->metrics.gc_on = true;
	driver->metrics.gc_files += run->deleted.files;
	driver->metrics.gc_bytes += run->deleted.bytes;
	driver->metrics.gc_doubt_files = seen->doubt.files;
	driver->metrics.gc_doubt_bytes = seen->doubt.bytes;
	driver->metrics.gc_last_unix_ms = seen->ended_unix_ms;
	driver->metrics.gc_stopped = stopped != NULL;
}

static void gc_done(void *arg, bool ran)
{
	struct gc_job *job = arg;
	struct driver *driver = job->driver;

	if (driver->gc) {
		driver->gc->job = NULL;
		if (ran)
			take_run(driver, job);
		if (ran && may_run(driver))
			plan(driver);
	}
	if (ran && !job->err.kind)
		gc_run_close(&job->run);
	free(job);
	mem_give_back();
}

static void gc_due(void *arg)
{
	struct driver *driver = arg;
	struct gc_part *part = driver->gc;
	struct gc_job *job;

	if (part->job || !may_run(driver))
		return;
	if (due_unix_ms(driver) > clock_unix_ms()) { /* another launch is proven since */
		plan(driver);
		return;
	}
	job = xcalloc(1, sizeof(*job));
	job->driver = driver;
	part->job = job;
	lane_submit(part->lane, gc_work, gc_done, job);
}

/* ---- the part ---- */

static int gc_open(struct driver *driver, struct err *err)
{
	(void)err;
	if (driver->setup->config.cleanup != COLLECT_AUTO)
		return 0;
	driver->gc = xcalloc(1, sizeof(*driver->gc));
	driver->gc->lane = lane_new(driver->workers, "drey-gc");
	driver->gc->timer = loop_timer_new(driver->loop, gc_due, driver);
	return 0;
}

static void gc_stepped(struct driver *driver)
{
	struct gc_part *part = driver->gc;

	if (!part)
		return;
	if (may_run(driver)) {
		plan(driver);
		return;
	}
	loop_timer_stop(part->timer);
	if (part->job)
		atomic_store(&part->job->ends, true);
}

static void add_sum(struct json *to, const char *name, const struct gc_sum *sum)
{
	struct json *object = json_add_object(to, name);

	json_add_i64(object, "files", sum->files);
	json_add_i64(object, "bytes", sum->bytes);
}

static void gc_part_status(const struct driver *driver, struct json *document)
{
	const struct gc_part *part = driver->gc;
	const struct gc_sum deleted = {driver->metrics.gc_files, driver->metrics.gc_bytes};
	struct json *to;

	if (!part) {
		json_add_null(document, "cleanup");
		return;
	}
	to = json_add_object(document, "cleanup");
	json_add_known(to, "lastUnixMs", part->seen.ended_unix_ms, 1);
	add_sum(to, "deleted", &deleted);
	add_sum(to, "doubt", &part->seen.doubt);
	add_sum(to, "needed", &part->seen.needed);
	json_add_str(to, "stopped", part->seen.stopped);
}

static void gc_close(struct driver *driver)
{
	struct gc_part *part = driver->gc;

	if (!part)
		return;
	if (part->job)
		atomic_store(&part->job->ends, true);
	driver->gc = NULL;
	loop_timer_free(part->timer);
	(void)lane_free(part->lane, LANE_PATIENCE_MS);
	free(part->seen.stopped);
	free(part);
}

const struct part part_gc = {
	.name = "gc",
	.open = gc_open,
	.stepped = gc_stepped,
	.status = gc_part_status,
	.close = gc_close,
};
