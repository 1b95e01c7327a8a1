/*
 * What a killed JobManager leaves in its temporary directory (flink/jvm_leavings.h): noted as soon as its
 * REST API answers, removed when flink.lock proves that no process of it is left. Beside the start,
 * which does not wait for it. What the JobManager of a drey that has ended has left is not known.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "flink/jvm_leavings.h"
#include "run/driver_internal.h"
#include "run/part.h"

struct leavings {
	struct driver *driver;
	struct lane *lane;
	struct jvm_leavings list; /* belongs to the job while `busy` */
	int pid;                  /* that is looked at; 0 = remove */
	int looked_pid;           /* that was looked at last */
	bool busy, failed;
	struct err err;
};

static void leavings_work(void *arg)
{
	struct leavings *leavings = arg;

	leavings->failed = false;
	if (leavings->pid)
		(void)jvm_leavings_find(leavings->pid, &leavings->list, NULL);
	else
		leavings->failed = jvm_leavings_remove(&leavings->list, &leavings->err) < 0;
}

static void leavings_done(void *arg, bool ran)
{
	struct leavings *leavings = arg;

	leavings->busy = false;
	if (ran && leavings->failed)
		log_warn(leavings->driver->log, "what a killed JobManager has left stays",
			 LOG_ERR(&leavings->err));
}

static void begin_job(struct leavings *leavings, int pid)
{
	leavings->busy = true;
	leavings->pid = pid;
	lane_submit(leavings->lane, leavings_work, leavings_done, leavings);
}

static void leavings_event(struct driver *driver, const struct event *event)
{
	struct leavings *leavings = driver->leavings;

	if (!leavings || leavings->busy || event->type != EVENT_VIEW || !event->view.reachable ||
	    driver->flink_pid <= 0 || driver->flink_pid == leavings->looked_pid)
		return;
	leavings->looked_pid = driver->flink_pid;
	begin_job(leavings, driver->flink_pid);
}

static void leavings_stepped(struct driver *driver)
{
	struct leavings *leavings = driver->leavings;

	if (!leavings || leavings->busy || !leavings->list.count || driver->flink_lock_fd < 0)
		return;
	leavings->looked_pid = 0;
	begin_job(leavings, 0);
}

static int leavings_open(struct driver *driver, struct err *err)
{
	(void)err;
	driver->leavings = xcalloc(1, sizeof(*driver->leavings));
	driver->leavings->driver = driver;
	driver->leavings->lane = lane_new(driver->workers, "drey-leavings");
	return 0;
}

static void leavings_close(struct driver *driver)
{
	struct leavings *leavings = driver->leavings;

	driver->leavings = NULL;
	if (!leavings || !lane_free(leavings->lane, LANE_PATIENCE_MS))
		return; /* a job that hangs still has it */
	jvm_leavings_release(&leavings->list);
	free(leavings);
}

const struct part part_leavings = {
	.name = "leavings",
	.open = leavings_open,
	.event = leavings_event,
	.stepped = leavings_stepped,
	.close = leavings_close,
};
