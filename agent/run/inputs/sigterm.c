/*
 * When SIGTERM arrives, drey reads the owner of its Pod: does another generation follow, or none, or
 * the same one again? That takes at most OWNER_MS of the grace period; drey-init is told at once that
 * the agent has taken charge. Without an answer the configuration says what SIGTERM means.
 *
 * The owner is also read once at the start: if it is missing later, it was deleted; and if the right to
 * read it is missing, the log says so before it matters.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/lifecycle/owner.h"
#include "kube/kube_lane.h"
#include "kube/workload.h"
#include "run/driver_internal.h"
#include "run/part.h"

#define OWNER_MS      1500 /* for the answer */
#define OWNER_LATE_MS 300  /* more for a call that hangs */
#define FIRST_MS      20000

struct owner_watch {
	struct driver *driver;
	struct kube_lane kube;
	struct loop_timer *late;
	char *seen_uid; /* NULL = it was never read */
	bool asked;     /* at the beginning */

	/* SIGTERM has come */
	int64_t number; /* of the gate; 0 = it has not come */
	bool waiting;
	int64_t end_ms;
	enum upgrade upgrade;
};

struct owner_job {
	struct owner_watch *watch;
	bool first;
	int64_t timeout_ms;
	struct workload workload;
	int result;
	struct err err;
};

static const struct setup_kube *setup_of(const struct owner_watch *watch)
{
	return &watch->driver->setup->kube;
}

static void work(void *arg)
{
	struct owner_job *job = arg;
	const struct setup_kube *kube = setup_of(job->watch);

	job->result = workload_get(job->watch->kube.kube, kube->owner_kind, kube->owner,
				   job->timeout_ms, &job->workload, NULL, &job->err);
}

/* ---- at the end ---- */

static const char *const names[] = {"unknown", "no upgrade", "upgrade"};

static void go_on(struct owner_watch *watch, enum upgrade upgrade, const char *reason)
{
	struct driver *driver = watch->driver;
	cleanup_free char *note = xasprintf("%s: %s", names[upgrade], reason);

	watch->waiting = false;
	watch->upgrade = upgrade;
	loop_timer_stop(watch->late);
	log_any(driver->log, upgrade == UPGRADE_UNKNOWN ? LOG_WARN : LOG_INFO,
		"SIGTERM: compared with the owner of the pod", LOG_STR("verdict", names[upgrade]),
		LOG_STR("reason", reason));
	driver_event(driver, upgrade == UPGRADE_UNKNOWN, "OwnerCompared", "Stop", note);
	driver_again(driver);
}

static void too_late(void *arg)
{
	struct owner_watch *watch = arg;

	if (watch->waiting)
		go_on(watch, UPGRADE_UNKNOWN,
		      "the API server did not answer in time; onSigterm decides");
}

/* workload NULL: it could not be read, *why says how. */
static enum upgrade judge(const struct setup *setup, const struct workload *workload,
			  const struct err *why, const char *seen_uid, char *ret_reason,
			  size_t reason_bytes)
{
	struct owner owner = {.absent = true};

	if (workload)
		owner = (struct owner){
			.uid = workload->uid,
			.deleting = workload->deleting,
			.suspended = workload->suspended,
			.replicas = workload->replicas,
			.generation = workload->generation,
		};
	else if (why->kind != ERR_ABSENT) {
		snprintf(ret_reason, reason_bytes, "cannot read the owner, onSigterm decides: %s",
			 why->msg);
		return UPGRADE_UNKNOWN;
	}
	return owner_judge(&owner, seen_uid, setup->config.generation, ret_reason, reason_bytes);
}

static void answered(struct owner_watch *watch, const struct owner_job *job)
{
	bool absent = job->result < 0 && job->err.kind == ERR_ABSENT;
	char reason[OWNER_REASON_BYTES];
	enum upgrade upgrade = judge(watch->driver->setup, job->result == 0 ? &job->workload : NULL,
				     &job->err, watch->seen_uid, reason, sizeof(reason));

	if (job->result == 0 || absent)
		driver_ready_owner(watch->driver, absent ? NULL : &job->workload);
	go_on(watch, upgrade, reason);
}

static void done(void *arg, bool ran)
{
	struct owner_job *job = arg;
	struct owner_watch *watch = job->watch;
	bool counts = ran && !watch->driver->closing;

	if (counts && job->first && job->result == 0)
		xstrset(&watch->seen_uid, job->workload.uid);
	else if (counts && job->first)
		log_warn(
			watch->driver->log,
			"cannot read the owner of the pod: drey may not distinguish an upgrade from an eviction (kubernetes.owner)",
			LOG_ERR(&job->err));
	else if (counts && watch->waiting)
		answered(watch, job);
	workload_release(&job->workload);
	free(job);
}

static void ask(struct owner_watch *watch, bool first, int64_t timeout_ms)
{
	struct owner_job *job = xcalloc(1, sizeof(*job));

	job->watch = watch;
	job->first = first;
	job->timeout_ms = timeout_ms;
	lane_submit(watch->kube.lane, work, done, job);
}

static void begin(struct owner_watch *watch, const struct gate *gate)
{
	int64_t grace_ms = gate->grace_left_ms;
	int64_t timeout_ms = grace_ms > 0 && grace_ms / 10 < OWNER_MS ? grace_ms / 10 : OWNER_MS;
	struct err err = {0};

	watch->number = gate->number;
	watch->waiting = true;
	watch->end_ms = clock_mono_ms() + timeout_ms + OWNER_LATE_MS;
	if (init_link_stop_ack(watch->driver->link, &err) < 0)
		log_warn(watch->driver->log, "cannot tell drey-init", LOG_ERR(&err));
	ask(watch, false, timeout_ms);
	/* MUT: SIGTERM waits forever for the owner of the Pod */
	loop_timer_set(watch->late, timeout_ms + OWNER_LATE_MS);
}

static enum gate_verdict sigterm_may(struct driver *driver, enum gate_type type, struct gate *gate)
{
	struct owner_watch *watch = driver->owner;

	if (!watch || type != GATE_STOPPING || driver->life.terminating)
		return GATE_PASSES;
	if (watch->number != gate->number)
		begin(watch, gate);
	if (watch->waiting)
		return gate_waits(gate, "the owner of the pod", watch->end_ms);
	gate->upgrade = watch->upgrade;
	return GATE_PASSES;
}

enum upgrade driver_owner_ask(const struct setup *setup, char *ret_reason, size_t reason_bytes)
{
	const struct setup_kube *on = &setup->kube;
	enum workload_kind kind = on->owner_kind;
	cleanup_workload struct workload workload = {0};
	enum upgrade upgrade;
	struct err err = {0};
	struct kube *kube;
	int rc;

	snprintf(ret_reason, reason_bytes, "the owner is unknown");
	if (!on->on || !on->owner)
		return UPGRADE_UNKNOWN;
	kube = kube_open(on->client);
	rc = workload_get(kube, kind, on->owner, OWNER_MS, &workload, NULL, &err);
	upgrade = judge(setup, rc == 0 ? &workload : NULL, &err, NULL, ret_reason, reason_bytes);
	kube_free(kube);
	return upgrade;
}

static void owner_stepped(struct driver *driver)
{
	struct owner_watch *watch = driver->owner;

	if (!watch || watch->asked || !driver->alive || driver->life.terminating)
		return;
	watch->asked = true;
	ask(watch, true, FIRST_MS);
}

/* ---- begin and end ---- */

static int owner_open(struct driver *driver, struct err *err)
{
	const struct setup_kube *kube = &driver->setup->kube;
	struct owner_watch *watch;

	(void)err;
	if (!kube->on || !kube->owner)
		return 0;
	driver->owner = watch = xcalloc(1, sizeof(*watch));
	watch->driver = driver;
	watch->kube = kube_lane_open(driver->workers, kube->client, "drey-owner");
	watch->late = loop_timer_new(driver->loop, too_late, watch);
	return 0;
}

static void owner_close(struct driver *driver)
{
	struct owner_watch *watch = driver->owner;
	bool ended;

	if (!watch)
		return;
	driver->owner = NULL;
	kube_lane_stop(&watch->kube);
	ended = kube_lane_close(&watch->kube, 500);
	loop_timer_free(watch->late);
	if (!ended) /* what hangs still uses the rest */
		return;
	free(watch->seen_uid);
	free(watch);
}

const struct part part_sigterm = {
	.name = "sigterm",
	.open = owner_open,
	.may = sigterm_may,
	.stepped = owner_stepped,
	.close = owner_close,
};
