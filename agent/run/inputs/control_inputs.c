/*
 * The control inputs: a directory (often a mounted ConfigMap), on Kubernetes a ConfigMap that is read through the
 * API server, and the custom resource (inputs/resource.c). Here they are read and handed over; which of them counts,
 * and what follows, is core/desired_inputs. What is read counts once the machine is alive; what was taken is
 * remembered as seen only when the journal has it, so a crash in between takes it once more.
 *
 * A mounted ConfigMap is older than what the API server says: a change of the directory is a reason to read it there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/desired_inputs.h"
#include "kube/configmap_watch.h"
#include "kube/kube_watch.h"
#include "run/driver_internal.h"
#include "run/inputs/control_map.h"
#include "run/inputs/control_seen.h"
#include "run/inputs/control_watch.h"
#include "run/part.h"

#define SAVE_RETRY_MS   30000
#define DEFAULT_POLL_MS 30000  /* where control.poll is 0: no other news of a change */
#define WATCHED_MS      300000 /* while a watch holds, which is quicker: read so often */

struct directory {
	struct driver *driver;
	struct lane *lane; /* NULL: no directory */
	struct control_watch *watch;
	struct control_map *map; /* NULL: no ConfigMap */
	struct kube_watch *map_watch;
	struct loop_timer *poll; /* of it, in case the watch does not show that it has changed */
	int64_t map_read_ms;     /* 0 = the last try has failed */
	struct desired_inputs inputs;
	bool waiting;     /* there is a reading that was not judged yet */
	bool unsaved;     /* what was seen, */
	int64_t sequence; /* ... until this journal write is acknowledged, */
	int64_t save_ms;  /* ... and not before; 0 = at once */
	int64_t read_unix_ms;
	char *error; /* why the inputs are not followed, or not all they ask for; NULL = they are */
	char *ignored; /* names that are not keys */

	int64_t asked, served; /* gates for which the ConfigMap is, was read again */
	int64_t asked_ms;
};

/* ---- what was seen, on the lane of the journal ---- */

struct seen_job {
	struct driver *driver;
	struct directory *directory;
	struct buf text;
	int result;
	struct err err;
};

static void save_work(void *arg)
{
	struct seen_job *job = arg;

	job->result = journal_store_save_seen(job->driver->store, &job->text, &job->err);
}

static void save_done(void *arg, bool ran)
{
	struct seen_job *job = arg;
	struct directory *directory = job->directory;

	if (ran && job->result < 0 && !job->driver->closing) { /* else the directory is gone */
		log_warn(job->driver->log, "cannot save what was read of the control inputs",
			 LOG_ERR(&job->err));
		directory->unsaved = true;
		directory->save_ms = clock_mono_ms() + SAVE_RETRY_MS;
	}
	buf_release(&job->text);
	free(job);
}

static void save(struct directory *directory)
{
	struct seen_job *job = xcalloc(1, sizeof(*job));

	directory->unsaved = false;
	job->directory = directory;
	job->driver = directory->driver;
	control_seen_encode(&directory->inputs.seen, &job->text);
	lane_submit(directory->driver->journal_lane, save_work, save_done, job);
}

static void inputs_stepped(struct driver *driver)
{
	struct directory *directory = driver->directory;
	const struct lifecycle *life = &driver->life;

	if (directory && directory->unsaved && !life->journal_broken && !life->fenced &&
	    life->acknowledged >= directory->sequence && clock_mono_ms() >= directory->save_ms)
		save(directory);
}

/* ---- what follows from a reading ---- */

/* Said once; all is well when there is nothing to be said. */
static void complain(struct directory *directory, const char *error)
{
	struct driver *driver = directory->driver;

	if (error && !xstrsame(error, directory->error)) {
		driver->metrics.refused[METRICS_DIRECTORY]++;
		log_warn(driver->log, "control input rejected", LOG_STR("error", error));
	}
	if (!error && directory->error)
		log_info(driver->log, "control input accepted again");
	xstrset(&directory->error, error);
}

static void tell(struct directory *directory, const struct desired_news *news)
{
	struct log *log = directory->driver->log;
	const char *ignored = news->desired.ignored;

	if (news->denied)
		log_warn(log,
			 "custom resource: access denied, continuing without it; the status is in "
			 "the journal; grant the Role the right, or set kubernetes.resource: none",
			 LOG_STR("error", news->denied));
	if (news->left_to)
		log_info(log, "restore request ignored: it is for another generation",
			 LOG_STR("token", directory->inputs.for_other),
			 LOG_STR("generation", news->left_to));
	if (ignored && !xstrsame(ignored, directory->ignored))
		log_warn(log, "unknown control keys ignored", LOG_STR("ignored", ignored));
	xstrset(&directory->ignored, ignored);
	complain(directory, news->error);
	if (news->changed)
		log_info(log, "the desired state has changed");
}

static void judge(struct directory *directory)
{
	struct driver *driver = directory->driver;
	struct desired_news news;

	directory->waiting = false;
	desired_inputs_judge(&directory->inputs, &driver->life, &news);
	tell(directory, &news);
	if (news.save) {
		directory->unsaved = true;
		directory->save_ms = 0;
	}
	if (news.changed) {
		driver->metrics.control[METRICS_DIRECTORY]++;
		/* MUT: control inputs are recorded before the journal has them */
		directory->sequence = INT64_MAX; /* not known before the step */
		driver_step(driver, &news.event);
		directory->sequence = driver_covering_write(driver);
	}
	inputs_stepped(driver);
	desired_news_release(&news);
}

static void take(struct directory *directory)
{
	struct driver *driver = directory->driver;

	/* a job in the shadow follows nothing: its journal has no place for what was seen */
	if (!directory->waiting || !driver->alive || driver->closing || driver->life.fenced ||
	    driver_in_shadow(driver) || driver->life.terminating ||
	    !desired_inputs_are_ready(&directory->inputs))
		return;
	judge(directory);
	driver_again(driver);
}

/* ---- readings ---- */

/* True: it is another one than the last. */
static bool keep(struct directory *directory, enum desired_from from, const struct desired *desired,
		 bool absent, const struct err *why)
{
	directory->waiting = true;
	if (desired &&
	    (from == DESIRED_FROM_MAP || (from == DESIRED_FROM_DIRECTORY && !directory->map)))
		directory->read_unix_ms = clock_unix_ms();
	return desired_inputs_read(&directory->inputs, from, desired, absent, why);
}

static void on_map(void *arg, const struct desired *desired, bool absent, const struct err *why)
{
	struct directory *directory = arg;

	if (directory->driver->closing)
		return;
	directory->map_read_ms = desired ? clock_mono_ms() : 0;
	keep(directory, DESIRED_FROM_MAP, desired, absent, why);
	take(directory);
}

static void on_map_changed(void *arg)
{
	struct directory *directory = arg;

	control_map_read(directory->map, on_map, directory);
}

static bool is_watched(const struct directory *directory)
{
	return directory->map_watch && directory->map_read_ms &&
	       clock_mono_ms() - directory->map_read_ms < WATCHED_MS &&
	       kube_watch_holds(directory->map_watch);
}

/* It is only the quicker way: without the right to watch, the poll reads the map. */
static void watch_map(struct directory *directory)
{
	const struct setup_kube *kube = &directory->driver->setup->kube;
	struct err err = {0};

	directory->map_watch =
		configmap_watch_new(directory->driver->watches, kube->config.namespace,
				    kube->control, on_map_changed, directory, &err);
	if (!directory->map_watch)
		log_warn(directory->driver->log, "cannot watch the control ConfigMap",
			 LOG_ERR(&err));
}

static void on_poll(void *arg)
{
	struct directory *directory = arg;
	int64_t poll_ms = directory->driver->setup->config.control.poll_ms;

	if (!poll_ms)
		poll_ms = DEFAULT_POLL_MS;
	if (is_watched(directory)) { /* nothing to do, so with any other wake-up from now on */
		loop_timer_set_early(directory->poll, 2 * poll_ms, poll_ms + poll_ms / 6);
		return;
	}
	loop_timer_set_early(directory->poll, poll_ms, poll_ms / 6);
	control_map_read(directory->map, on_map, directory);
}

static void on_directory(void *arg, const struct desired *desired, const struct err *why)
{
	struct directory *directory = arg;
	bool changed = keep(directory, DESIRED_FROM_DIRECTORY, desired, false, why);

	/* what it does not say any more, the ConfigMap may say since: that is asked first */
	if (!directory->map || !changed || desired->do_not_restart)
		take(directory);
	if (directory->map && changed)
		control_map_read(directory->map, on_map, directory);
}

/* ---- gates ---- */

struct check {
	struct directory *directory;
	int64_t number;
};

static void on_check(void *arg, const struct desired *desired, bool absent, const struct err *why)
{
	struct check *check = arg;
	struct directory *directory = check->directory;

	on_map(directory, desired, absent, why);
	if (check->number > directory->served)
		directory->served = check->number;
	driver_again(directory->driver);
	free(check);
}

static enum gate_verdict read_again(struct directory *directory, struct gate *gate)
{
	struct check *check;

	if (!directory->map || directory->served >= gate->number)
		return GATE_PASSES;
	if (directory->asked < gate->number) {
		directory->asked = gate->number;
		directory->asked_ms = clock_mono_ms();
		check = xcalloc(1, sizeof(*check));
		*check = (struct check){directory, gate->number};
		control_map_read(directory->map, on_check, check);
	}
	return gate_waits(gate, "the control ConfigMap", directory->asked_ms + KUBE_TIMEOUT_MS);
}

static enum gate_verdict may_start(const struct directory *directory, struct gate *gate)
{
	cleanup_free char *unknown = NULL;

	if (!directory->map && !directory->inputs.from[DESIRED_FROM_RESOURCE].configured)
		return GATE_PASSES;
	unknown = desired_inputs_unknown(&directory->inputs);
	if (!unknown || !decision_starts(gate->decision))
		return GATE_PASSES;
	return gate_refuses(gate, CAUSE_WISH_UNREADABLE,
			    "it is unknown whether the job may start %s", unknown);
}

/* Before a start is decided, and before an end of the job is judged that drey did not request: the
 * person who stops the job in Flink may have set do-not-restart a moment before. If the ConfigMap
 * cannot be read then, its last content still counts. */
static enum gate_verdict inputs_may(struct driver *driver, enum gate_type type, struct gate *gate)
{
	struct directory *directory = driver->directory;
	enum gate_verdict verdict;

	if (!directory || driver_in_shadow(driver))
		return GATE_PASSES;
	if (type == GATE_OBSERVE)
		return desired_inputs_may_decide(&directory->inputs)
			       ? GATE_PASSES
			       : gate_waits(gate, "the control inputs", 0);
	if (type != GATE_OBSERVED && type != GATE_END)
		return GATE_PASSES;
	verdict = read_again(directory, gate);
	return verdict == GATE_PASSES && type == GATE_OBSERVED ? may_start(directory, gate)
							       : verdict;
}

/* ---- the custom resource ---- */

void driver_directory_offer(struct driver *driver, const struct desired *desired, bool there,
			    const struct err *why)
{
	if (!driver->directory || driver->closing)
		return;
	keep(driver->directory, DESIRED_FROM_RESOURCE, desired, !there, why);
	take(driver->directory);
}

void driver_directory_deny(struct driver *driver, const struct err *why)
{
	struct directory *directory = driver->directory;

	if (!directory || driver->closing)
		return;
	keep(directory, DESIRED_FROM_RESOURCE, NULL, false, why);
	desired_inputs_deny(&directory->inputs);
	take(directory);
}

const char *driver_directory_refused(const struct driver *driver)
{
	return driver->directory ? desired_inputs_refused(&driver->directory->inputs) : NULL;
}

/* ---- for the driver ---- */

const struct desired *driver_directory_desired(const struct driver *driver,
					       enum control_object object)
{
	enum desired_from from =
		object == CONTROL_OBJECT_MAP ? DESIRED_FROM_MAP : DESIRED_FROM_RESOURCE;

	return driver->directory ? desired_inputs_given(&driver->directory->inputs, from) : NULL;
}

static void inputs_alive(struct driver *driver, const struct part_start *start)
{
	struct directory *directory = driver->directory;

	if (!directory)
		return;
	desired_inputs_load(&directory->inputs, start->seen);
	take(directory);
	if (directory->map) {
		watch_map(directory);
		on_poll(directory);
	}
}

static void inputs_status(const struct driver *driver, struct json *document)
{
	const struct directory *directory = driver->directory;
	struct json *to;

	if (!directory) {
		json_add_null(document, "control");
		return;
	}
	to = json_add_object(document, "control");
	json_add_str(to, "directory", driver->setup->config.control.directory);
	json_add_str(to, "configMap", directory->map ? driver->setup->kube.control : NULL);
	if (directory->read_unix_ms)
		json_add_i64(to, "readUnixMs", directory->read_unix_ms);
	else
		json_add_null(to, "readUnixMs");
	json_add_str(to, "error", directory->error);
	json_add_str(to, "ignored", directory->ignored);
	json_add_str(to, "resource", driver->object.found);
}

static void open_map(struct directory *directory)
{
	struct driver *driver = directory->driver;
	const struct setup_kube *kube = &driver->setup->kube;

	if (!kube->on || !kube->control)
		return;
	directory->inputs.from[DESIRED_FROM_MAP].configured = true;
	directory->map = control_map_new(driver->workers, kube->client, kube->control);
	directory->poll = loop_timer_new(driver->loop, on_poll, directory);
}

static void open_watch(struct directory *directory)
{
	struct driver *driver = directory->driver;
	const struct config *config = &driver->setup->config;

	if (!config->control.directory)
		return;
	directory->inputs.from[DESIRED_FROM_DIRECTORY].configured = true;
	directory->lane = lane_new(driver->workers, "drey-control");
	directory->watch =
		control_watch_new(driver->loop, directory->lane, config->control.directory,
				  config->control.poll_ms, on_directory, directory);
}

static int inputs_open(struct driver *driver, struct err *err)
{
	const struct setup *setup = driver->setup;

	(void)err;
	if (!setup->config.control.directory &&
	    !(setup->kube.on && (setup->kube.control || setup->kube.resource)))
		return 0;
	driver->directory = xcalloc(1, sizeof(*driver->directory));
	driver->directory->driver = driver;
	driver->directory->inputs.from[DESIRED_FROM_RESOURCE].configured =
		setup->kube.on && setup->kube.resource;
	open_watch(driver->directory);
	open_map(driver->directory);
	return 0;
}

static void inputs_close(struct driver *driver)
{
	struct directory *directory = driver->directory;

	if (!directory)
		return;
	kube_watch_free(directory->map_watch);
	control_map_free(directory->map);
	loop_timer_free(directory->poll);
	lane_free(directory->lane, 1000);
	control_watch_free(directory->watch);
	desired_inputs_release(&directory->inputs);
	free(directory->error);
	free(directory->ignored);
	free(directory);
	driver->directory = NULL;
}

const struct part part_inputs = {
	.name = "inputs",
	.open = inputs_open,
	.alive = inputs_alive,
	.may = inputs_may,
	.stepped = inputs_stepped,
	.status = inputs_status,
	.close = inputs_close,
};
