/*
 * Kubernetes Events: what has happened is told where `kubectl describe` shows it, of the custom
 * resource, or where there is none, of the pod. Nothing waits for one: what cannot be told soon is
 * dropped, and counted.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/report/event_series.h"
#include "core/report/event_text.h"
#include "kube/event.h"
#include "kube/kube_lane.h"
#include "run/driver_internal.h"
#include "run/part.h"

#define QUEUE_MAX    16 /* more are dropped */
#define FAILURES_MAX 3  /* in a row; then it is only tried again after a while */
#define PAUSE_MS     30000

struct events {
	struct driver *driver;
	struct kube_lane kube;
	struct event_series series;
	unsigned serial;       /* of the names */
	int failures;          /* in a row */
	int64_t not_before_ms; /* after failures */
};

struct event_job {
	struct events *events;
	enum event_verdict verdict;
	char key[EVENT_KEY_BYTES];
	char *name, *note, *reason, *action;
	char *api_version, *kind, *object, *uid; /* what it is about */
	bool warning;
	int64_t count, unix_ms;
	int result;
	struct err err;
};

static void work(void *arg)
{
	struct event_job *job = arg;
	const char *pod = job->events->driver->setup->kube.pod_name;
	const struct kube_event event = {
		.name = job->name,
		.regarding = {job->api_version, job->kind, job->object, job->uid},
		.warning = job->warning,
		.reason = job->reason,
		.action = job->action,
		.note = job->note,
		.instance = pod ? pod : "drey",
		.unix_ms = job->unix_ms,
	};

	if (job->verdict == EVENT_CREATE)
		job->result = kube_event_create(job->events->kube.kube, &event, &job->err);
	else
		job->result = kube_event_series(job->events->kube.kube, job->name, job->count,
						job->unix_ms, &job->err);
}

static void not_told(struct events *events, const struct event_job *job)
{
	events->driver->metrics.events_dropped++;
	event_series_stored(&events->series, job->key, NULL);
	if (job->err.kind == ERR_ABSENT)
		return;
	if (events->failures++ == 0)
		log_warn(events->driver->log, "cannot post a Kubernetes Event", LOG_ERR(&job->err));
	if (events->failures >= FAILURES_MAX)
		events->not_before_ms = clock_mono_ms() + PAUSE_MS;
}

static void done(void *arg, bool ran)
{
	struct event_job *job = arg;
	struct events *events = job->events;

	if (ran && job->result == 0) {
		events->failures = 0;
		events->driver->metrics.events_told++;
	} else if (ran) {
		not_told(events, job);
	}
	free(job->name);
	free(job->note);
	free(job->reason);
	free(job->action);
	free(job->api_version);
	free(job->kind);
	free(job->object);
	free(job->uid);
	free(job);
}

/* False: there is nothing that it could be about. */
static bool about(struct events *events, struct event_job *job)
{
	const struct setup_kube *kube = &events->driver->setup->kube;

	if (events->driver->object.uid) {
		job->api_version = xstrdup("drey.dev/v1");
		job->kind = xstrdup("FlinkApplication");
		job->object = xstrdup(kube->resource);
		job->uid = xstrdup(events->driver->object.uid);
	} else if (kube->pod_name) {
		job->api_version = xstrdup("v1");
		job->kind = xstrdup("Pod");
		job->object = xstrdup(kube->pod_name);
		job->uid = xstrdup(kube->pod_uid);
	}
	return job->object;
}

void driver_event(struct driver *driver, bool warning, const char *reason, const char *action,
		  const char *note)
{
	struct events *events = driver->events;
	const struct event_series_slot *slot;
	struct event_job *job;

	if (!events || driver->closing)
		return;
	job = xcalloc(1, sizeof(*job));
	job->events = events;
	if (!about(events, job) || lane_queued(events->kube.lane) >= QUEUE_MAX ||
	    clock_mono_ms() < events->not_before_ms) {
		driver->metrics.events_dropped += job->object != NULL;
		done(job, false);
		return;
	}
	snprintf(job->key, sizeof(job->key), "%d/%s/%s/%s", warning, reason, action,
		 job->uid ? job->uid : job->object);
	job->unix_ms = clock_unix_ms();
	job->verdict = event_series_add(&events->series, job->key, clock_mono_ms(), &slot);
	job->warning = warning;
	job->count = slot->count;
	if (job->verdict == EVENT_COUNT_ONLY) {
		done(job, false);
		return;
	}
	if (job->verdict == EVENT_CREATE) {
		job->name = xasprintf("%s.%" PRIx64 "%04x", job->object, (uint64_t)job->unix_ms,
				      (events->serial++ ^ (unsigned)getpid()) & 0xFFFF);
		event_series_stored(&events->series, job->key, job->name);
	} else {
		job->name = xstrdup(slot->name);
	}
	job->reason = xstrdup(reason);
	job->action = xstrdup(action);
	job->note = xstrdup(note);
	lane_submit(events->kube.lane, work, done, job);
}

static void events_notice(struct driver *driver, const struct notice *notice)
{
	struct event_text text;

	if (!driver->events)
		return;
	if (event_text(notice, &text))
		driver_event(driver, text.warning, text.reason, text.action, text.note);
	event_text_release(&text);
}

/* ---- begin and end ---- */

static int events_open(struct driver *driver, struct err *err)
{
	const struct setup_kube *kube = &driver->setup->kube;
	struct events *events;

	(void)err;
	if (!kube->on || (!kube->resource && !kube->pod_name))
		return 0;
	driver->events = events = xcalloc(1, sizeof(*events));
	events->driver = driver;
	events->kube = kube_lane_open(driver->workers, kube->client, "drey-events");
	return 0;
}

static void events_close(struct driver *driver)
{
	struct events *events = driver->events;

	if (!events)
		return;
	driver->events = NULL;
	/* that it has returned the job is the last thing that this agent says */
	if (!driver->life.handover.stood_down)
		kube_lane_stop(&events->kube);
	if (kube_lane_close(&events->kube, 500)) /* else what hangs still uses the rest */
		free(events);
}

const struct part part_events = {
	.name = "events",
	.open = events_open,
	.notice = events_notice,
	.close = events_close,
};
