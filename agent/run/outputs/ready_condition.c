/*
 * The condition drey.dev/Ready of what our pod belongs to (kubernetes.owner): the condition Ready of the
 * status document, where `kubectl describe deployment` shows it and `kubectl wait` waits for it,
 * without a definition of ours in the cluster.
 *
 * All requests run on a lane of its own: the owner's (inputs/sigterm.c) has to answer soon when SIGTERM
 * comes, and a write may hang. Nothing is polled: the owner is read once, and once more when it refuses a
 * write; a write is made when status, reason or message differ from what is there.
 *
 * Writes keep the pace of core/pace.h; a message alone waits longer. The owner is the object that was read
 * first: when it has gone, goes, or another one has its name, this process writes no more.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/pace.h"
#include "kube/kube_lane.h"
#include "kube/workload.h"
#include "run/driver_internal.h"
#include "run/part.h"

#define READ_MS    20000
#define MESSAGE_MS 60000  /* between two writes, where only the message is another one */
#define SLOW_MS    300000 /* after requests that were refused for PACE_DENIED_MS */

struct ready {
	struct driver *driver;
	struct kube_lane kube;
	struct loop_timer *timer;        /* the next try; when drey ends: its patience */
	char *uid;                       /* NULL = it was not read yet */
	struct workload_condition there; /* as it was read, or written last */
	int64_t written_ms;              /* when it was; 0 = not by this process */
	bool doubted; /* it may be another object: it is read before the next write */
	bool over;    /* nothing is written any more */

	struct pace pace;
	int64_t leave_end_ms; /* when drey exits: its patience */
	int64_t refused_ms;   /* since; 0 = it is not */
	int64_t tried_ms;     /* the newest request, and what was to be said then */
	struct condition tried;
	bool told_denied;
	char *complained; /* about reading or writing, once */
};

struct ready_job {
	struct ready *ready;
	char *uid;                      /* NULL: not read yet */
	struct workload_condition said; /* to be written */
	struct workload workload;       /* that was read */
	struct kube_answer answer;
	int result;
	struct err err;
};

static const struct setup_kube *setup_of(const struct ready *ready)
{
	return &ready->driver->setup->kube;
}

static void work(void *arg)
{
	struct ready_job *job = arg;
	const struct ready *ready = job->ready;
	const char *name = setup_of(ready)->owner;

	job->result = job->uid ? workload_apply_condition(
					 ready->kube.kube, setup_of(ready)->owner_kind, name,
					 job->uid, &job->said, &job->answer, &job->err)
			       : workload_get(ready->kube.kube, setup_of(ready)->owner_kind, name,
					      READ_MS, &job->workload, &job->answer, &job->err);
}

static void free_job(struct ready_job *job)
{
	workload_release(&job->workload);
	workload_condition_release(&job->said);
	kube_answer_release(&job->answer);
	free(job->uid);
	free(job);
}

/* ---- what came of it ---- */

static void ready_condition_complain(struct ready *ready, const struct err *why)
{
	if (!ready->complained || strcmp(ready->complained, why->msg) != 0)
		log_warn(ready->driver->log,
			 "cannot write the condition " WORKLOAD_CONDITION
			 " of the owner of the pod",
			 LOG_ERR(why));
	xstrset(&ready->complained, why->msg);
}

static void tell_denied(struct ready *ready, const struct ready_job *job)
{
	bool is_job = setup_of(ready)->owner_kind == WORKLOAD_JOB;
	cleanup_free char *rule = xasprintf(
		"{apiGroups: [%s], resources: [%s%s], resourceNames: [%s], verbs: [%s]}",
		is_job ? "batch" : "apps", is_job ? "jobs" : "deployments",
		job->uid ? "/status" : "", setup_of(ready)->owner, job->uid ? "patch" : "get");

	if (!ready->told_denied)
		log_warn(
			ready->driver->log,
			"access denied to the condition " WORKLOAD_CONDITION
			" of the owner of the pod; continuing without it until the Role has this rule",
			LOG_STR("rule", rule), LOG_ERR(&job->err));
	ready->told_denied = true;
}

static void finish(struct ready *ready, const char *why)
{
	if (ready->uid && !ready->over)
		log_info(ready->driver->log,
			 "stopped writing the condition " WORKLOAD_CONDITION
			 " of the owner of the pod",
			 LOG_STR("reason", why));
	ready->over = true;
}

static void failed(struct ready *ready, const struct ready_job *job)
{
	bool denied = job->answer.status == 403;
	bool refused = denied || job->err.kind == ERR_CONFIG;
	int64_t now_ms = clock_mono_ms();
	bool lasts = refused && pace_lasts(&ready->refused_ms, now_ms);

	pace_failed(&ready->pace, job->answer.retry_after_ms, now_ms);
	if (!refused)
		ready->refused_ms = 0;
	if (lasts)
		ready->pace.not_before_ms = now_ms + SLOW_MS;
	/* another object of this name is 422 (or 409): it is read before anything is said */
	ready->doubted |= job->err.kind == ERR_CONFIG || job->err.kind == ERR_BUSY;
	if (denied && lasts)
		tell_denied(ready, job);
	else if (!denied && (!ready->doubted || ready->pace.failures > 1))
		ready_condition_complain(ready, &job->err);
}

static void was_read(struct ready *ready, struct workload *workload)
{
	if (ready->uid && strcmp(ready->uid, workload->uid) != 0) {
		finish(ready, "another object has the same name");
		return;
	}
	xstrset(&ready->uid, workload->uid);
	if (workload->deleting)
		finish(ready, "it is being deleted");
	workload_condition_release(&ready->there);
	ready->there = workload->ready;
	workload->ready = (struct workload_condition){0};
	ready->doubted = false;
}

static void was_written(struct ready *ready, struct ready_job *job)
{
	if (ready->told_denied || ready->complained)
		log_info(ready->driver->log, "the condition " WORKLOAD_CONDITION
					     " of the owner of the pod is written again");
	workload_condition_release(&ready->there);
	ready->there = job->said;
	job->said = (struct workload_condition){0};
	ready->written_ms = clock_mono_ms();
	pace_succeeded(&ready->pace);
	ready->refused_ms = 0;
	ready->told_denied = false;
	xstrset(&ready->complained, NULL);
}

static void take(struct ready *ready, struct ready_job *job)
{
	if (job->result < 0 && job->err.kind == ERR_ABSENT)
		finish(ready, "it was deleted");
	else if (job->result < 0)
		failed(ready, job);
	else if (job->uid)
		was_written(ready, job);
	else
		was_read(ready, &job->workload);
}

static void ready_stepped(struct driver *driver);

static void done(void *arg, bool ran)
{
	struct ready_job *job = arg;
	struct ready *ready = job->ready;

	pace_end(&ready->pace);
	if (ran && !ready->driver->closing) {
		take(ready, job);
		ready_stepped(ready->driver);
		driver_again(ready->driver);
	}
	free_job(job);
}

/* ---- what to do next ---- */

static void submit(struct ready *ready, const struct condition *want)
{
	struct ready_job *job = xcalloc(1, sizeof(*job));

	job->ready = ready;
	if (ready->uid && !ready->doubted) {
		job->uid = xstrdup(ready->uid);
		job->said = (struct workload_condition){
			.status = xstrdup(truth_name(want->status)),
			.reason = xstrdup(want->reason),
			.message = xstrdup(want->message),
			.since_unix_ms = want->since_unix_ms,
			.updated_unix_ms = clock_unix_ms(),
		};
		if (xstris(ready->there.status, job->said.status) && ready->there.since_unix_ms)
			job->said.since_unix_ms = ready->there.since_unix_ms;
	}
	ready->tried = *want;
	ready->tried_ms = clock_mono_ms();
	pace_begin(&ready->pace, ready->tried_ms);
	if (!job->uid) /* it is written as soon as it was read */
		ready->pace.not_before_ms = ready->tried_ms;
	if (!ready->pace.leaving)
		loop_timer_stop(ready->timer);
	lane_submit(ready->kube.lane, work, done, job);
}

static bool is_like(const struct condition *a, const struct condition *b)
{
	return a->status == b->status && !strcmp(a->reason, b->reason);
}

static bool may_ask(const struct ready *ready)
{
	const struct driver *driver = ready->driver;

	if (ready->pace.busy || ready->over || ready->pace.left ||
	    (ready->pace.leaving && ready->told_denied))
		return false;
	/* what the application is, its owner says */
	return (driver->alive || driver->held) && !driver->stands && !driver->closing &&
	       !driver->life.fenced && lifecycle_role(&driver->life) == ROLE_OWNER;
}

static void ready_stepped(struct driver *driver)
{
	const struct condition *want = &driver->conditions.list[CONDITION_READY];
	struct ready *ready = driver->ready;
	int64_t now_ms, due_ms, wait_ms;
	enum pace_verdict next;
	bool transition;

	if (!ready || !may_ask(ready) || !want->since_unix_ms)
		return;
	transition = !ready->uid || !xstris(ready->there.status, truth_name(want->status)) ||
		     !xstris(ready->there.reason, want->reason);
	if (!transition && xstris(ready->there.message, want->message))
		return;
	now_ms = clock_mono_ms();
	due_ms = pace_due_ms(&ready->pace, now_ms);
	/* it may have changed because the Role has */
	if (ready->refused_ms && !is_like(want, &ready->tried) &&
	    due_ms > ready->tried_ms + PACE_RETRY_MS)
		due_ms = ready->tried_ms + PACE_RETRY_MS;
	if (!transition && !ready->pace.leaving && ready->written_ms &&
	    due_ms < ready->written_ms + MESSAGE_MS)
		due_ms = ready->written_ms + MESSAGE_MS;
	next = pace_next(&ready->pace, due_ms, 0, now_ms, &wait_ms);
	if (next == PACE_NOW)
		submit(ready, want);
	else if (next == PACE_LATER)
		loop_timer_set(ready->timer, wait_ms);
}

void driver_ready_owner(struct driver *driver, const struct workload *workload)
{
	struct ready *ready = driver->ready;

	if (!ready)
		return;
	if (!workload)
		finish(ready, "it was deleted");
	else if (workload->deleting)
		finish(ready, "it is being deleted");
	else if (ready->uid && strcmp(ready->uid, workload->uid) != 0)
		finish(ready, "another object has the same name");
}

static enum gate_verdict ready_may(struct driver *driver, enum gate_type type, struct gate *gate)
{
	struct ready *ready = driver->ready;

	if (!ready || type != GATE_EXIT)
		return GATE_PASSES;
	if (pace_leave(&ready->pace)) {
		ready->leave_end_ms = clock_mono_ms() + PACE_PATIENCE_MS;
		loop_timer_set(ready->timer, PACE_PATIENCE_MS);
		ready_stepped(driver);
	}
	return pace_may_end(&ready->pace)
		       ? GATE_PASSES
		       : gate_waits(gate, "the last Ready condition of the owner",
				    ready->leave_end_ms);
}

/* ---- begin and end ---- */

static void on_timer(void *arg)
{
	struct ready *ready = arg;

	if (!ready->pace.leaving) {
		ready_stepped(ready->driver);
		return;
	}
	/* MUT: drey waits forever for the last Ready condition */
	pace_give_up(&ready->pace);
	driver_again(ready->driver);
}

static int ready_open(struct driver *driver, struct err *err)
{
	const struct setup_kube *kube = &driver->setup->kube;
	struct ready *ready;

	(void)err;
	if (!kube->on || !kube->owner)
		return 0;
	driver->ready = ready = xcalloc(1, sizeof(*ready));
	ready->driver = driver;
	ready->kube = kube_lane_open(driver->workers, kube->client, "drey-ready");
	ready->timer = loop_timer_new(driver->loop, on_timer, ready);
	return 0;
}

static void ready_close(struct driver *driver)
{
	struct ready *ready = driver->ready;
	bool ended;

	if (!ready)
		return;
	driver->ready = NULL;
	kube_lane_stop(&ready->kube);
	ended = kube_lane_close(&ready->kube, 500);
	loop_timer_free(ready->timer);
	if (!ended) /* what hangs still uses the rest */
		return;
	workload_condition_release(&ready->there);
	free(ready->uid);
	free(ready->complained);
	free(ready);
}

const struct part part_ready = {
	.name = "ready",
	.open = ready_open,
	.may = ready_may,
	.stepped = ready_stepped,
	.close = ready_close,
};
