/*
 * The control inputs: a directory (often a mounted ConfigMap) and, on Kubernetes, a ConfigMap that is
 * read through the API server. What is read counts once the machine is alive; what was taken is
 * remembered as seen only when the journal has it, so a crash in between takes it once more.
 *
 * Where both are there, they are two views of one ConfigMap, and the mounted one is older. So a change
 * of the directory is a reason to read the ConfigMap, and what that says is followed; of the
 * directory itself only a brake that is set counts then. Without such a ConfigMap it is followed as
 * a whole.
 *
 * What the custom resource asks for (driver_resource.c) is the third view, and goes before both. It is
 * optional: where it is not defined, not there, or was never allowed to be read, all works without.
 * But an error is never absence: what it said last counts as long as it cannot be read; and when this
 * process has not read it yet, but there was one when the application last could, nothing is started
 * and nothing else is followed (but a brake) until it can. That it was there is remembered
 * with what was seen, so the next pod knows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "run/control/control_seen.h"
#include "run/control/control_source.h"
#include "run/control/control_watch.h"
#include "run/driver_internal.h"
#include "run/kube/control_map.h"

#define TOO_LATE                                                                                   \
	"restore: the job runs; suspend or cancel it first, then ask for state: running, or with " \
	"a "                                                                                       \
	"new token"
#define TOKEN_REUSED                                                                               \
	"restore: its token was given to another order before; ask for this one with a new token"
#define TOKEN_USED                                                                                 \
	"restore: the annotation " DESIRED_USED_ANNOTATION " says that it was carried out, and "   \
	"the journal knows nothing of it; if it is meant again, ask with a new token"
#define SAVE_RETRY_MS   30000
#define DEFAULT_POLL_MS 30000 /* where control.poll is 0: nothing else tells of a change */

struct directory {
	struct driver *driver;
	struct lane *lane; /* NULL: no directory */
	struct control_watch *watch;
	struct control_map *map; /* NULL: no ConfigMap */
	struct loop_timer
		*poll; /* of the ConfigMap, where no directory tells that it has changed */
	struct desired_seen seen;
	struct control_source mounted, remote;
	struct control_source resource; /* its desired: the last that made sense */
	bool resource_wanted;
	bool resource_denied; /* and never read by this process */
	bool without;         /* it is done without, and that was said */
	char *resource_error; /* why it is not followed; NULL = it is */
	bool loaded;          /* `seen` is known, and the machine is alive */
	bool waiting;         /* there is a reading that nobody has looked at yet */
	bool taken;           /* one reading was taken: decisions are allowed */
	bool observe;         /* one was asked for meanwhile */
	bool unsaved;
	bool too_late;   /* the restore request is refused, because the job runs */
	bool reused;     /* it is refused with all the rest, because its token was another one's */
	char *for_other; /* token of the order that is left to another generation; that was said */
	bool used;       /* its object says that it was carried out; the journal does not know it */
	int64_t sequence; /* of the journal write that has to be acknowledged first */
	int64_t save_ms;  /* not before; 0 = at once */
	int64_t read_unix_ms;
	char *mounted_error, *remote_error; /* of the last reading; NULL = it was one */
	char *error;   /* why what is wanted is not, or not wholly, followed; NULL = it is */
	char *ignored; /* names that are no keys */
};

/* ---- what was seen, on the lane of the journal ---- */

struct seen_job {
	struct directory *directory;
	struct journal_store *store;
	struct buf text;
	int result;
	struct err err;
};

static void save_work(void *arg)
{
	struct seen_job *job = arg;

	job->result = journal_store_save_seen(job->store, &job->text, &job->err);
}

static void save_done(void *arg, bool ran)
{
	struct seen_job *job = arg;
	struct directory *directory = job->directory;

	if (ran && job->result < 0) {
		log_warn(directory->driver->log,
			 "what was seen of the control inputs could not be saved",
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
	job->store = directory->driver->store;
	control_seen_encode(&directory->seen, &job->text);
	lane_submit(directory->driver->journal_lane, save_work, save_done, job);
}

void driver_directory_acknowledge(struct driver *driver)
{
	struct directory *directory = driver->directory;
	const struct lifecycle *life = &driver->life;

	if (directory && directory->unsaved && !life->journal_broken && !life->fenced &&
	    life->acknowledged >= directory->sequence && clock_mono_ms() >= directory->save_ms)
		save(directory);
}

/* ---- what is to be followed ---- */

/* It was read, or it is done without. */
static bool resource_is_settled(const struct directory *directory)
{
	return !directory->resource_wanted || directory->resource.known ||
	       (directory->resource_denied && directory->loaded && !directory->seen.resource);
}

/* NULL: nothing is wrong with it. */
static const char *resource_trouble(const struct directory *directory)
{
	return directory->resource.known || !resource_is_settled(directory)
		       ? directory->resource_error
		       : NULL;
}

/* Remember whether there is one, and say once that it is done without. */
static void note_resource(struct directory *directory)
{
	struct desired_seen *seen = &directory->seen;
	const char *why = resource_is_settled(directory) && directory->resource_denied
				  ? directory->resource_error
				  : NULL;
	bool same = why ? seen->resource_error && !strcmp(why, seen->resource_error)
			: !seen->resource_error;

	if (!directory->resource.known && !why)
		return;
	if (why && !directory->without)
		log_warn(directory->driver->log,
			 "the custom resource may not be read: it is done without, and the status "
			 "is in the journal; give the Role the right, or set kubernetes.resource: "
			 "none",
			 LOG_STR("error", why));
	directory->without = why;
	if (same && (why || seen->resource == !directory->resource.absent))
		return;
	seen->resource = !why && !directory->resource.absent;
	xstrset(&seen->resource_error, why);
	directory->unsaved = true;
	directory->save_ms = 0;
}

/* All readings as one. False: nothing is known that could be followed; *ret_desired has to be released
 * all the same, it has what counts in any case. */
static bool join(const struct directory *directory, struct desired *ret_desired)
{
	bool known = true;

	*ret_desired = (struct desired){0};
	if (directory->map && !directory->remote.known) {
		known = false;
		err_set(&ret_desired->bad, ERR_RETRY, 0, "%s",
			directory->remote_error ? directory->remote_error : "not read yet");
	} else if (directory->map && !directory->remote.absent) {
		desired_copy(ret_desired, &directory->remote.desired);
	} else {
		desired_copy(ret_desired, &directory->mounted.desired);
		known = !directory->watch || directory->mounted.known;
	}
	if (!resource_is_settled(directory) && !ret_desired->bad.kind) {
		known = false;
		err_set(&ret_desired->bad, ERR_RETRY, 0, "%s",
			directory->resource_error ? directory->resource_error : "not read yet");
	}
	desired_overlay(ret_desired, &directory->resource.desired);
	if (directory->mounted.desired.do_not_restart && !ret_desired->do_not_restart) {
		ret_desired->do_not_restart = true;
		xstrset(&ret_desired->text[DESIRED_KEY_DO_NOT_RESTART], "true");
	}
	ret_desired->restore_standing =
		control_source_is_standing(&directory->mounted, ret_desired) ||
		control_source_is_standing(&directory->remote, ret_desired) ||
		control_source_is_standing(&directory->resource, ret_desired);
	return known;
}

/* Said once; all is well when there is nothing to be said. */
static void complain(struct directory *directory, const char *error)
{
	struct driver *driver = directory->driver;
	bool same = error && directory->error && !strcmp(error, directory->error);

	if (error && !same) {
		driver->metrics.refused[METRICS_DIRECTORY]++;
		log_warn(driver->log, "what is wanted is not followed", LOG_STR("error", error));
	}
	if (!error && directory->error)
		log_info(driver->log, "what is wanted is followed again");
	xstrset(&directory->error, error);
}

static void mention_ignored(struct directory *directory, const char *ignored)
{
	bool same = ignored && directory->ignored && !strcmp(ignored, directory->ignored);

	if (ignored && !same)
		log_warn(directory->driver->log, "some control inputs are no keys",
			 LOG_STR("ignored", ignored));
	xstrset(&directory->ignored, ignored);
}

static void mention_errors(struct directory *directory, const struct desired *desired)
{
	if (directory->remote_error)
		complain(directory, directory->remote_error);
	else if (directory->mounted_error)
		complain(directory, directory->mounted_error);
	else if (resource_trouble(directory))
		complain(directory, resource_trouble(directory));
	else if (desired->bad.kind)
		complain(directory, desired->bad.msg);
	else if (directory->too_late)
		complain(directory, TOO_LATE);
	else if (directory->used)
		complain(directory, TOKEN_USED);
	else
		complain(directory, NULL);
}

/* A restore request that came too late is told until somebody changes something. */
static void remember(struct directory *directory, const struct desired *desired, bool refused)
{
	bool changed = desired_seen_update(&directory->seen, desired);

	directory->unsaved |= changed;
	if (changed)
		directory->save_ms = 0;
	if (changed || refused)
		directory->too_late = refused;
}

/* One that comes with another version, in the same step, is for the drey of that one: it is neither refused here
 * because the job runs, nor used up. */
static void leave_to_other(struct directory *directory, struct desired *desired)
{
	struct driver *driver = directory->driver;

	if (!desired_is_for_other(desired, driver->setup->config.generation))
		return;
	if (!xstrsame(directory->for_other, desired->restore.token))
		log_info(driver->log, "the restore order is for another generation, and left to it",
			 LOG_STR("token", desired->restore.token),
			 LOG_STR("generation", desired->restore_generation));
	xstrset(&directory->for_other, desired->restore.token);
	desired_drop_restore(desired);
}

static void take(struct directory *directory)
{
	struct driver *driver = directory->driver;
	struct desired desired;
	struct event event;
	bool refused, changed, known;

	if (!directory->waiting || !directory->loaded || !driver->alive || driver->closing ||
	    driver->life.fenced || driver->life.terminating)
		return;
	if (!resource_is_settled(directory) && !directory->resource_error)
		return; /* it is being read */
	directory->waiting = false;
	note_resource(directory);
	known = join(directory, &desired);
	leave_to_other(directory, &desired);
	directory->reused =
		known && !desired.bad.kind && desired_reuses_token(&desired, &driver->life.journal);
	directory->used = known && !desired.bad.kind && desired_is_used(&desired) &&
			  !journal_is_consumed(&driver->life.journal, desired.restore.token);
	if (directory->reused)
		err_set(&desired.bad, ERR_CONFIG, 0, TOKEN_REUSED);
	changed = desired_compare(&desired, &directory->seen, &driver->life, !directory->taken,
				  &event, &refused);
	directory->taken |= known;
	mention_ignored(directory, desired.ignored);
	remember(directory, &desired, refused);
	mention_errors(directory, &desired);
	if (changed) {
		log_info(driver->log, "what is wanted has changed");
		driver->metrics.control[METRICS_DIRECTORY]++;
		driver_step(driver, &event);
		directory->sequence = driver_covering_write(driver);
	}
	driver_directory_acknowledge(driver);
	desired_release(&desired);
	if (directory->observe && (!directory->watch || directory->mounted.known)) {
		directory->observe = false;
		effect_observe(driver);
	}
}

/* ---- readings ---- */

static void read_remote(struct directory *directory);

static void on_remote(void *arg, const struct desired *desired, bool absent, const struct err *why)
{
	struct directory *directory = arg;

	if (directory->driver->closing)
		return;
	xstrset(&directory->remote_error, desired ? NULL : why->msg);
	if (desired) {
		control_source_take(&directory->remote, desired, absent);
		directory->read_unix_ms = clock_unix_ms();
	}
	directory->waiting = true;
	take(directory);
}

static void read_remote(struct directory *directory)
{
	control_map_read(directory->map, on_remote, directory);
}

static void on_poll(void *arg)
{
	struct directory *directory = arg;
	int64_t poll_ms = directory->driver->setup->config.control.poll_ms;

	if (!poll_ms)
		poll_ms = DEFAULT_POLL_MS;
	loop_timer_set_early(directory->poll, poll_ms, poll_ms / 6);
	read_remote(directory);
}

static void on_reading(void *arg, const struct desired *desired, const struct err *why)
{
	struct directory *directory = arg;
	bool same = desired && directory->mounted.known &&
		    desired_same_texts(desired, &directory->mounted.desired);

	xstrset(&directory->mounted_error, desired ? NULL : why->msg);
	if (desired) {
		control_source_take(&directory->mounted, desired, false);
		if (!directory->map)
			directory->read_unix_ms = clock_unix_ms();
	}
	directory->waiting = true;
	/* what it does not say any more, the ConfigMap may say since: that is asked first */
	if (!directory->map || !desired || same || desired->do_not_restart)
		take(directory);
	if (directory->map && desired && !same)
		read_remote(directory);
}

/* ---- before a decision ---- */

struct check {
	struct directory *directory;
	driver_control_fn *fn;
	void *arg;
};

static void checked(void *arg)
{
	struct check *check = arg;
	const struct directory *directory = check->directory;
	cleanup_free char *unknown = NULL;

	if (directory->map && !directory->remote.known)
		unknown = xasprintf("(kubernetes.control: none does without the ConfigMap): %s",
				    directory->remote_error);
	else if (!resource_is_settled(directory))
		unknown = xasprintf("(kubernetes.resource: none does without the custom "
				    "resource): %s",
				    directory->resource_error ? directory->resource_error
							      : "drey ends");
	check->fn(check->arg, unknown);
	free(check);
}

static void on_check(void *arg, const struct desired *desired, bool absent, const struct err *why)
{
	struct check *check = arg;
	struct directory *directory = check->directory;

	on_remote(directory, desired, absent, why);
	if (directory->driver->closing || driver_resource_check(directory->driver, checked, check))
		checked(check);
}

bool driver_directory_check(struct driver *driver, driver_control_fn *fn, void *arg)
{
	struct directory *directory = driver->directory;
	struct check *check;

	if (!directory || (!directory->map && !directory->resource_wanted))
		return true;
	check = xcalloc(1, sizeof(*check));
	*check = (struct check){directory, fn, arg};
	if (directory->map)
		control_map_read(directory->map, on_check, check);
	else if (driver_resource_check(driver, checked, check))
		checked(check);
	return false;
}

/* ---- the custom resource ---- */

void driver_directory_offer(struct driver *driver, const struct desired *desired, bool there,
			    const struct err *why)
{
	struct directory *directory = driver->directory;
	struct desired *last = directory ? &directory->resource.desired : NULL;

	if (!directory || driver->closing)
		return;
	directory->resource_denied = false;
	xstrset(&directory->resource_error, !desired            ? why->msg
					    : desired->bad.kind ? desired->bad.msg
								: NULL);
	if (desired && !desired->bad.kind) {
		control_source_take(&directory->resource, desired, !there);
	} else if (desired && desired->do_not_restart) {
		last->do_not_restart = true;
		xstrset(&last->text[DESIRED_KEY_DO_NOT_RESTART], "true");
	}
	if (desired) {
		directory->resource.known = true;
		directory->resource.absent = !there;
	}
	directory->waiting = true;
	take(directory);
}

void driver_directory_deny(struct driver *driver, const struct err *why)
{
	struct directory *directory = driver->directory;

	driver_directory_offer(driver, NULL, false, why);
	if (!directory || driver->closing)
		return;
	directory->resource_denied = !directory->resource.known;
	directory->waiting = true;
	take(directory);
}

const char *driver_directory_refused(const struct driver *driver)
{
	const struct directory *directory = driver->directory;

	if (!directory || !directory->resource.desired.text[DESIRED_KEY_RESTORE])
		return NULL;
	return directory->reused ? TOKEN_REUSED : directory->too_late ? TOO_LATE : NULL;
}

/* ---- for the driver ---- */

const struct desired *driver_directory_desired(const struct driver *driver,
					       enum control_object object)
{
	const struct directory *directory = driver->directory;
	const struct control_source *source;

	if (!directory)
		return NULL;
	source = object == CONTROL_OBJECT_MAP ? &directory->remote : &directory->resource;
	return source->known && !source->absent ? &source->desired : NULL;
}

void driver_directory_alive(struct driver *driver, struct desired_seen *seen)
{
	struct directory *directory = driver->directory;

	if (!directory) {
		desired_seen_release(seen);
		return;
	}
	directory->seen = *seen;
	*seen = (struct desired_seen){0};
	directory->loaded = true;
	take(directory);
	if (directory->map)
		on_poll(directory);
}

bool driver_directory_ready(struct driver *driver)
{
	struct directory *directory = driver->directory;

	if (!directory || !directory->watch || (directory->mounted.known && directory->loaded))
		return true;
	directory->observe = true;
	return false;
}

void driver_directory_status(const struct driver *driver, struct json *document)
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
	driver_resource_status(driver, to);
}

static int open_map(struct directory *directory, struct err *err)
{
	struct driver *driver = directory->driver;
	const struct setup_kube *kube = &driver->setup->kube;

	if (!kube->on || !kube->control)
		return 0;
	directory->map = control_map_new(driver->loop, &kube->config, kube->control, err);
	if (!directory->map)
		return -1;
	directory->poll = loop_timer_new(driver->loop, on_poll, directory);
	return 0;
}

static int open_watch(struct directory *directory, struct err *err)
{
	struct driver *driver = directory->driver;
	const struct config *config = &driver->setup->config;

	if (!config->control.directory)
		return 0;
	directory->lane = lane_new(driver->loop, "drey-control", err);
	if (!directory->lane)
		return -1;
	directory->watch =
		control_watch_new(driver->loop, directory->lane, config->control.directory,
				  config->control.poll_ms, on_reading, directory);
	return 0;
}

int driver_directory_open(struct driver *driver, struct err *err)
{
	const struct setup *setup = driver->setup;

	if (!setup->config.control.directory &&
	    !(setup->kube.on && (setup->kube.control || setup->kube.resource)))
		return 0;
	driver->directory = xcalloc(1, sizeof(*driver->directory));
	driver->directory->driver = driver;
	driver->directory->resource_wanted = setup->kube.on && setup->kube.resource;
	return open_map(driver->directory, err) || open_watch(driver->directory, err) ? -1 : 0;
}

void driver_directory_close(struct driver *driver)
{
	struct directory *directory = driver->directory;

	if (!directory)
		return;
	control_map_free(directory->map);
	loop_timer_free(directory->poll);
	lane_free(directory->lane, 1000);
	control_watch_free(directory->watch);
	control_source_release(&directory->mounted);
	control_source_release(&directory->remote);
	control_source_release(&directory->resource);
	free(directory->resource_error);
	desired_seen_release(&directory->seen);
	free(directory->mounted_error);
	free(directory->remote_error);
	free(directory->error);
	free(directory->ignored);
	free(directory->for_other);
	free(directory);
	driver->directory = NULL;
}
