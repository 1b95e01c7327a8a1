/*
 * The status document in the status of the custom resource (inputs/resource.c has read it).
 *
 * Writes keep the pace of core/pace.h; a change of nothing but the newest checkpoint waits longer, because
 * there is one after the other; where nothing but times has changed nothing is written. With hand-overs only
 * the owner writes: not one that stands by, and not one that has given the journal away.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/pace.h"
#include "core/report/status.h"
#include "kube/flinkapp.h"
#include "kube/kube_lane.h"
#include "run/driver_internal.h"
#include "run/part.h"

#define EARLY_MS   10000 /* with something else, so much sooner */
#define ROUTINE_MS 60000 /* between two writes, where only the newest checkpoint is another one */

struct resource_status {
	struct driver *driver;
	struct loop_timer *timer; /* the next write; when drey ends: its patience */
	struct pace pace;
	int64_t leave_end_ms;       /* when drey exits */
	struct buf urgent, routine; /* digests of what was written */
	char *uid, *version;        /* of what it was written into; NULL = nothing was */
	int64_t reads;              /* of the object, that were looked at */
	char *complained;           /* once */
};

static void complain(struct resource_status *status, const char *why)
{
	if (why && !xstrsame(status->complained, why))
		log_warn(status->driver->log, "cannot write the status of the custom resource",
			 LOG_STR("error", why));
	xstrset(&status->complained, why);
}

static void resource_status_stepped(struct driver *driver);

struct write_job {
	struct driver *driver;
	struct resource_status *status;
	struct kube *kube;
	char *uid, *version;
	struct json *document;
	struct buf urgent, routine;
	struct kube_answer answer;
	int result;
	struct err err;
};

static void free_write(struct write_job *job)
{
	kube_answer_release(&job->answer);
	json_free(job->document);
	buf_release(&job->urgent);
	buf_release(&job->routine);
	free(job->uid);
	free(job->version);
	free(job);
}

static void write_work(void *arg)
{
	struct write_job *job = arg;

	job->result = flinkapp_apply_status(job->kube, job->driver->setup->kube.resource, job->uid,
					    job->document, &job->version, &job->answer, &job->err);
}

static void written(struct resource_status *status, struct write_job *job)
{
	if (job->result == 0) {
		pace_succeeded(&status->pace);
		complain(status, NULL);
		buf_release(&status->urgent);
		buf_release(&status->routine);
		status->urgent = job->urgent;
		status->routine = job->routine;
		job->urgent = job->routine = (struct buf)BUF_INIT;
		xstrset(&status->version, job->version);
		return;
	}
	complain(status, job->err.msg);
	pace_failed(&status->pace, job->answer.retry_after_ms, clock_mono_ms());
	/* it has gone, or is another one */
	if (job->err.kind == ERR_ABSENT || job->err.kind == ERR_BUSY || job->answer.path_unknown)
		driver_resource_doubt(job->driver);
}

static void write_done(void *arg, bool ran)
{
	struct write_job *job = arg;
	struct driver *driver = job->driver;

	if (!driver->closing) { /* else the part is gone already */
		driver->object.writing = false;
		pace_end(&job->status->pace);
	}
	if (ran && !driver->closing) {
		written(job->status, job);
		resource_status_stepped(driver);
		driver_again(driver);
	}
	free_write(job);
}

static bool same(const struct buf *a, const struct buf *b)
{
	return !strcmp(buf_str(a), buf_str(b));
}

static void on_write(void *arg)
{
	struct resource_status *status = arg;

	if (!status->pace.leaving) {
		resource_status_stepped(status->driver);
		return;
	}
	pace_give_up(&status->pace);
	driver_again(status->driver);
}

static void write_now(struct resource_status *status, struct write_job *job)
{
	pace_begin(&status->pace, clock_mono_ms());
	if (!status->pace.leaving)
		loop_timer_stop(status->timer);
	status->driver->object.writing = true;
	lane_submit(status->driver->object.kube->lane, write_work, write_done, job);
}

/* What is said now will not be true for ever, also when nothing happens. */
static void look_later(struct resource_status *status)
{
	int64_t due_unix_ms = conditions_due_unix_ms(&status->driver->conditions);
	int64_t wait_ms = due_unix_ms - clock_unix_ms();

	if (due_unix_ms && !status->pace.leaving)
		loop_timer_set(status->timer, wait_ms > 0 ? wait_ms + 1 : 1);
}

/* What was written into it may not be there any more: it is another one, or another client has changed
 * it, as an agent that ends and does not know yet that there is a new one. */
static void look_at_object(struct resource_status *status)
{
	const struct resource_object *object = &status->driver->object;
	bool other = !xstrsame(status->uid, object->uid);

	if (status->reads == object->reads)
		return;
	status->reads = object->reads;
	if (!other && (!status->version || xstrsame(status->version, object->version)))
		return;
	xstrset(&status->uid, object->uid);
	xstrset(&status->version, NULL);
	buf_release(&status->urgent);
	buf_release(&status->routine);
	if (other)
		status->pace.not_before_ms = 0;
}

static void resource_status_stepped(struct driver *driver)
{
	struct resource_status *status = driver->resource_status;
	struct write_job *job;
	int64_t due_ms, wait_ms, early_ms = 0, now_ms = clock_mono_ms();
	enum pace_verdict next;

	if (!status)
		return;
	look_at_object(status);
	if (!driver->object.uid || driver->object.deleting || status->pace.busy ||
	    driver->closing || !(driver->alive || driver->held) || driver->stands ||
	    driver->life.fenced || lifecycle_role(&driver->life) != ROLE_OWNER)
		return;
	driver_judge(driver);
	job = xcalloc(1, sizeof(*job));
	job->driver = driver;
	job->status = status;
	job->kube = driver->object.kube->kube;
	job->uid = xstrdup(driver->object.uid);
	job->document = driver_status(driver);
	/* it would be over before it is read here, and the last one would stay */
	json_add_array(job->document, "waiting");
	status_digest(job->document, false, &job->urgent);
	status_digest(job->document, true, &job->routine);
	due_ms = pace_due_ms(&status->pace, now_ms);
	if (same(&job->urgent, &status->urgent)) {
		due_ms += ROUTINE_MS - PACE_GAP_MS;
		early_ms = EARLY_MS;
		if (same(&job->routine, &status->routine)) {
			free_write(job);
			look_later(status);
			return;
		}
	}
	next = pace_next(&status->pace, due_ms, early_ms, now_ms, &wait_ms);
	if (next == PACE_NOW) {
		write_now(status, job);
		return;
	}
	if (next == PACE_LATER)
		loop_timer_set_early(status->timer, wait_ms, early_ms);
	free_write(job);
}

static enum gate_verdict may_exit(struct resource_status *status, struct gate *gate)
{
	if (pace_leave(&status->pace)) {
		status->leave_end_ms = clock_mono_ms() + PACE_PATIENCE_MS;
		loop_timer_set(status->timer, PACE_PATIENCE_MS);
		resource_status_stepped(status->driver);
	}
	return pace_may_end(&status->pace)
		       ? GATE_PASSES
		       : gate_waits(gate, "the last status of the custom resource",
				    status->leave_end_ms);
}

static enum gate_verdict resource_status_may(struct driver *driver, enum gate_type type,
					     struct gate *gate)
{
	struct resource_status *status = driver->resource_status;

	return status && type == GATE_EXIT ? may_exit(status, gate) : GATE_PASSES;
}

/* ---- begin and end ---- */

static int resource_status_open(struct driver *driver, struct err *err)
{
	struct resource_status *status;

	(void)err;
	if (!driver->object.kube)
		return 0;
	driver->resource_status = status = xcalloc(1, sizeof(*status));
	status->driver = driver;
	status->timer = loop_timer_new(driver->loop, on_write, status);
	return 0;
}

/* A write that is under way gets its time when the lane is closed. */
static void resource_status_close(struct driver *driver)
{
	struct resource_status *status = driver->resource_status;

	if (!status)
		return;
	driver->resource_status = NULL;
	loop_timer_free(status->timer);
	buf_release(&status->urgent);
	buf_release(&status->routine);
	free(status->uid);
	free(status->version);
	free(status->complained);
	free(status);
}

const struct part part_resource_status = {
	.name = "resource-status",
	.open = resource_status_open,
	.may = resource_status_may,
	.stepped = resource_status_stepped,
	.close = resource_status_close,
};
