/*
 * The custom resource: what its spec asks for goes the way of the control inputs
 * (inputs/control_inputs.c). Its status is written by outputs/resource_status.c.
 *
 * All requests about it run on one lane. A watch wakes; a poll is there in case it does not, and is
 * slow while the watch stands. Without the definition, or without the object, it is looked for rarely.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/desired.h"
#include "core/pace.h"
#include "kube/flinkapp.h"
#include "kube/kube_lane.h"
#include "kube/kube_watch.h"
#include "run/driver_internal.h"
#include "run/inputs/resource_desired.h"
#include "run/part.h"

#define POLL_MS          60000
#define POLL_WATCHED_MS  300000 /* while a watch stands, which is quicker */
#define POLL_MISSING_MS  300000 /* the definition: it is hardly ever installed later */
#define EARLY_MS         10000  /* with something else, so much sooner */
#define WATCHED_EARLY_MS 35000 /* when it is only to look after the watch: with any poll of Flink */
#define POLL_FAILED_MS   10000
#define DENIED_POLL_MS   1000 /* while a 403 may pass */

enum found {
	FOUND_UNKNOWN,
	FOUND_NO_DEFINITION,
	FOUND_NONE,
	FOUND_ONE,
	FOUND_DENIED,
};

struct resource {
	struct driver *driver;
	struct kube_lane kube;
	struct kube_watch *watch;
	struct loop_timer *poll;
	enum found found;
	bool was_read;         /* by this process: it, or that there is none */
	int64_t read_ms;       /* when that was; 0 = the last try has failed */
	int64_t denied_ms;     /* 403 since; 0 = it is not */
	int64_t asked, served; /* gates for which it is, was read again */
	int64_t asked_ms;
	char *uid, *version;                 /* of the one that was found; NULL = none */
	int64_t generation, told_generation; /* told: that it is refused */
	char *refused;                       /* why its spec is not followed; NULL = it is */
	bool seeded;                         /* the times of its conditions were taken over */
	char *complained;                    /* once */
};

/* ---- for others ---- */

static const char *refusal(const struct resource *resource)
{
	return resource->refused ? resource->refused : driver_directory_refused(resource->driver);
}

static void resource_outside(const struct driver *driver, struct conditions_outside *outside)
{
	const struct resource *resource = driver->resource;

	if (!resource || resource->found != FOUND_ONE)
		return;
	outside->generation = resource->generation;
	outside->refused = refusal(resource);
}

static void set_found(struct resource *resource, enum found found)
{
	static const char *const words[] = {
		[FOUND_UNKNOWN] = "unread", [FOUND_NO_DEFINITION] = "undefined",
		[FOUND_NONE] = "absent",    [FOUND_ONE] = "found",
		[FOUND_DENIED] = "denied",
	};

	resource->found = found;
	resource->driver->object.found = words[found];
	resource->driver->object.uid = found == FOUND_ONE ? resource->uid : NULL;
}

static void complain(struct resource *resource, const char *why)
{
	if (why && !xstrsame(resource->complained, why))
		log_warn(resource->driver->log, "cannot read the custom resource",
			 LOG_STR("error", why));
	xstrset(&resource->complained, why);
}

/* ---- reading ---- */

struct read_job {
	struct driver *driver;
	struct resource *resource;
	int64_t number; /* of the newest gate that waits for it */
	struct flinkapp app;
	struct kube_answer answer;
	int result;
	struct err err;
};

static void read_work(void *arg)
{
	struct read_job *job = arg;

	job->result = flinkapp_get(job->resource->kube.kube, job->driver->setup->kube.resource,
				   &job->app, &job->answer, &job->err);
}

static void on_changed(void *arg);

/* Only where there is something that can be watched. */
static void watch(struct resource *resource, bool wanted)
{
	const struct setup_kube *kube = &resource->driver->setup->kube;
	cleanup_free char *collection = NULL;
	struct err err = {0};

	if (!wanted) {
		kube_watch_free(resource->watch);
		resource->watch = NULL;
	} else if (!resource->watch) {
		collection = flinkapp_collection(kube->config.namespace);
		resource->watch =
			kube_watch_new(resource->driver->watches,
				       &(struct kube_watch_target){.collection = collection,
								   .name = kube->resource},
				       on_changed, resource, &err);
		if (!resource->watch)
			log_warn(resource->driver->log, "cannot watch the custom resource",
				 LOG_ERR(&err));
	}
}

/* Once for each generation. */
static void tell_refused(struct resource *resource)
{
	const char *why = refusal(resource);

	if (why && resource->told_generation != resource->generation) {
		resource->told_generation = resource->generation;
		driver_event(resource->driver, true, "SpecRefused", "Follow", why);
	}
}

static void found_one(struct resource *resource, const struct flinkapp *app)
{
	struct driver *driver = resource->driver;
	cleanup_desired struct desired desired = {0};

	if (!resource->uid || strcmp(resource->uid, app->uid) != 0) {
		log_info(driver->log, "using custom resource", LOG_STR("name", app->name),
			 LOG_STR("uid", app->uid));
		xstrset(&resource->uid, app->uid);
	}
	xstrset(&resource->version, app->resource_version);
	if (!resource->seeded)
		conditions_seed(&driver->conditions, app->conditions);
	resource->seeded = true;
	set_found(resource, FOUND_ONE);
	driver->object.version = resource->version;
	driver->object.deleting = app->deleting;
	driver->object.reads++;
	resource_desired(app->spec, &desired);
	desired.used = xstrdup(json_str(app->annotations, DESIRED_USED_ANNOTATION));
	xstrset(&resource->refused, desired.bad.kind ? desired.bad.msg : NULL);
	/* what it changes is in the very next status, so that one is about this generation */
	resource->generation = app->generation;
	driver_directory_offer(driver, &desired, true, NULL);
	tell_refused(resource);
}

static void tell_gone(struct resource *resource)
{
	static const char gone[] =
		"the custom resource was deleted; the desired state remains in force";

	log_warn(resource->driver->log, gone);
	xstrset(&resource->uid, NULL); /* the event is about the pod */
	set_found(resource, FOUND_NONE);
	driver_event(resource->driver, true, "ResourceGone", "Follow", gone);
}

static void found_none(struct resource *resource, enum found found)
{
	struct desired nothing = {0};

	if (resource->found == FOUND_ONE || (resource->found == FOUND_UNKNOWN && resource->uid))
		tell_gone(resource);
	xstrset(&resource->uid, NULL);
	set_found(resource, found);
	resource->driver->object.reads++;
	xstrset(&resource->refused, NULL);
	driver_directory_offer(resource->driver, &nothing, false, NULL);
}

/* Never read, and 403. False: wait, it may pass. */
static bool denied(struct resource *resource, const struct read_job *job)
{
	if (!pace_lasts(&resource->denied_ms, clock_mono_ms()))
		return false;
	set_found(resource, FOUND_DENIED);
	driver_directory_deny(resource->driver, &job->err);
	return true;
}

/* When to read it again. */
static int64_t take(struct resource *resource, const struct read_job *job)
{
	bool forbidden = job->result < 0 && job->answer.status == 403 && !resource->was_read;
	int64_t poll_ms = POLL_MS;

	if (!forbidden)
		resource->denied_ms = 0;
	if (job->result == 0) {
		complain(resource, NULL);
		found_one(resource, &job->app);
	} else if (job->err.kind == ERR_ABSENT) {
		found_none(resource, FOUND_NONE);
	} else if (job->answer.path_unknown) {
		found_none(resource, FOUND_NO_DEFINITION);
		poll_ms = POLL_MISSING_MS;
	} else if (forbidden) {
		poll_ms = denied(resource, job) ? POLL_MS : DENIED_POLL_MS;
	} else {
		complain(resource, job->err.msg);
		driver_directory_offer(resource->driver, NULL, false, &job->err);
		poll_ms = POLL_FAILED_MS;
	}
	resource->was_read |=
		job->result == 0 || job->err.kind == ERR_ABSENT || job->answer.path_unknown;
	resource->read_ms = job->result == 0 || job->err.kind == ERR_ABSENT ? clock_mono_ms() : 0;
	watch(resource, resource->found == FOUND_ONE || resource->found == FOUND_NONE);
	return poll_ms;
}

/* Whether a 403 lasts is not known yet: the caller waits for the next reading. */
static bool keep_waiting(const struct resource *resource)
{
	return resource->denied_ms && resource->found == FOUND_UNKNOWN;
}

static void read_done(void *arg, bool ran)
{
	struct read_job *job = arg;
	struct resource *resource = job->resource;

	if (ran && !job->driver->closing) {
		loop_timer_set(resource->poll, take(resource, job));
		if (!keep_waiting(resource) && job->number > resource->served)
			resource->served = job->number;
		driver_stepped(resource->driver); /* what it says may be news without a step */
	}
	flinkapp_release(&job->app);
	kube_answer_release(&job->answer);
	free(job);
}

static void read_now(struct resource *resource)
{
	struct read_job *job = xcalloc(1, sizeof(*job));

	job->driver = resource->driver;
	job->resource = resource;
	job->number = resource->asked;
	lane_submit(resource->kube.lane, read_work, read_done, job);
}

/* A watch that has failed since says so in time for the next poll. While it holds it looks often: who
 * stands still may not know that another agent writes the status, and the watch does not tell. */
static bool is_watched(const struct resource *resource)
{
	if (!resource->watch || !resource->read_ms || resource->served < resource->asked ||
	    resource->driver->held)
		return false;
	return kube_watch_holds(resource->watch) &&
	       clock_mono_ms() - resource->read_ms < POLL_WATCHED_MS - POLL_MS / 2;
}

static void on_poll(void *arg)
{
	struct resource *resource = arg;

	if (is_watched(resource)) {
		loop_timer_set_early(resource->poll, POLL_MS, WATCHED_EARLY_MS);
		return;
	}
	loop_timer_set_early(resource->poll, POLL_MS, EARLY_MS);
	read_now(resource);
}

/* One reading in the queue is enough. */
static void on_changed(void *arg)
{
	struct resource *resource = arg;

	if (!lane_queued(resource->kube.lane))
		read_now(resource);
}

void driver_resource_doubt(struct driver *driver)
{
	set_found(driver->resource, FOUND_UNKNOWN);
	read_now(driver->resource);
}

/* Before a decision, as inputs_may() does it with the ConfigMap. */
static enum gate_verdict read_again(struct resource *resource, struct gate *gate)
{
	if (resource->served >= gate->number)
		return GATE_PASSES;
	if (resource->asked < gate->number) {
		resource->asked = gate->number;
		resource->asked_ms = clock_mono_ms();
		read_now(resource);
	}
	return gate_waits(gate, "the custom resource", resource->asked_ms + KUBE_TIMEOUT_MS);
}

static enum gate_verdict resource_may(struct driver *driver, enum gate_type type, struct gate *gate)
{
	struct resource *resource = driver->resource;

	if (resource && (type == GATE_OBSERVED || type == GATE_END))
		return read_again(resource, gate);
	return GATE_PASSES;
}

/* ---- begin and end ---- */

static int resource_open(struct driver *driver, struct err *err)
{
	const struct setup_kube *kube = &driver->setup->kube;
	struct resource *resource;

	(void)err;
	if (!kube->on || !kube->resource)
		return 0;
	driver->resource = resource = xcalloc(1, sizeof(*resource));
	resource->driver = driver;
	set_found(resource, FOUND_UNKNOWN);
	resource->kube = kube_lane_open(driver->workers, kube->client, "drey-resource");
	resource->poll = loop_timer_new(driver->loop, on_poll, resource);
	driver->object.kube = &resource->kube;
	loop_timer_set(resource->poll, 0);
	return 0;
}

static void resource_close(struct driver *driver)
{
	struct resource *resource = driver->resource;
	bool ended;

	if (!resource)
		return;
	kube_watch_free(resource->watch);
	/* first the patience, then the end: the last status is worth something */
	if (!driver->object.writing)
		kube_lane_stop(&resource->kube);
	ended = kube_lane_close(&resource->kube, PACE_PATIENCE_MS);
	loop_timer_free(resource->poll);
	driver->resource = NULL;
	driver->object = (struct resource_object){0};
	if (!ended) /* what hangs still uses the rest */
		return;
	free(resource->uid);
	free(resource->refused);
	free(resource->complained);
	free(resource->version);
	free(resource);
}

const struct part part_resource = {
	.name = "resource",
	.open = resource_open,
	.may = resource_may,
	.outside = resource_outside,
	.close = resource_close,
};
