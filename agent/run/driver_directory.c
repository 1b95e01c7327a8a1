#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "run/control/control_watch.h"
#include "run/driver_internal.h"

/* The control directory. What is read counts once the machine is alive; what was taken is remembered
 * as seen only when the journal has it, so a crash in between takes it once more. */
struct directory {
	struct driver *driver;
	struct lane *lane;
	struct control_watch *watch;
	struct control_seen seen;
	struct control_wish wish; /* the newest reading that nobody has looked at yet */
	bool loaded;              /* `seen` was read from the state directory */
	bool waiting;             /* `wish` waits for the machine, or for `seen` */
	bool taken;               /* one reading was taken: decisions are allowed */
	bool observe;             /* one was asked for meanwhile */
	bool unsaved;
	bool too_late;    /* the restore request is refused, because the job runs */
	int64_t sequence; /* of the journal write that has to be acknowledged first */
	int64_t read_unix_ms;
	char *error;   /* why the last reading was not, or not wholly, taken; NULL = it was */
	char *ignored; /* files that are no keys */
};

/* ---- what was seen, on the lane ---- */

struct seen_job {
	struct directory *directory;
	const char *state_directory;
	struct control_seen seen; /* load */
	struct buf text;          /* save */
	int result;
	struct err err;
};

static void save_work(void *arg)
{
	struct seen_job *job = arg;

	job->result = control_seen_save(job->state_directory, &job->text, &job->err);
}

static void save_done(void *arg, bool ran)
{
	struct seen_job *job = arg;

	if (ran && job->result < 0) /* the next change tries again */
		log_warn(job->directory->driver->log,
			 "what was seen of the control directory could not be saved",
			 LOG_ERR(&job->err));
	buf_release(&job->text);
	free(job);
}

static struct seen_job *new_job(struct directory *directory)
{
	struct seen_job *job = xcalloc(1, sizeof(*job));

	job->directory = directory;
	job->state_directory = directory->driver->setup->config.state_directory;
	return job;
}

static void save(struct directory *directory)
{
	struct seen_job *job = new_job(directory);

	directory->unsaved = false;
	control_seen_encode(&directory->seen, &job->text);
	lane_submit(directory->lane, save_work, save_done, job);
}

void driver_directory_acknowledge(struct driver *driver)
{
	struct directory *directory = driver->directory;
	const struct lifecycle *life = &driver->life;

	if (directory && directory->unsaved && !life->journal_broken && !life->fenced &&
	    life->acknowledged >= directory->sequence)
		save(directory);
}

/* ---- taking a reading ---- */

/* Said once; NULL: all is well. */
static void complain(struct directory *directory, const char *error)
{
	struct driver *driver = directory->driver;
	bool same = error && directory->error && !strcmp(error, directory->error);

	if (error && !same) {
		driver->metrics.refused[METRICS_DIRECTORY]++;
		log_warn(driver->log, "the control directory is not followed",
			 LOG_STR("error", error));
	}
	if (!error && directory->error)
		log_info(driver->log, "the control directory is followed again");
	xstrset(&directory->error, error);
}

static void mention_ignored(struct directory *directory, const char *ignored)
{
	bool same = ignored && directory->ignored && !strcmp(ignored, directory->ignored);

	if (ignored && !same)
		log_warn(directory->driver->log, "files in the control directory are no keys",
			 LOG_STR("ignored", ignored));
	xstrset(&directory->ignored, ignored);
}

/* A restore request that came too late is told until somebody changes something. */
static void mention_refusal(struct directory *directory, bool refused)
{
	const struct control_wish *wish = &directory->wish;
	bool changed = control_seen_update(&directory->seen, wish);

	directory->unsaved |= changed;
	if (changed || refused)
		directory->too_late = refused;
	if (wish->bad.kind)
		complain(directory, wish->bad.msg);
	else if (directory->too_late)
		complain(directory,
			 "restore: the job runs; suspend or cancel it first, then ask for state: "
			 "running, or with a new token");
	else
		complain(directory, NULL);
}

static void take(struct directory *directory)
{
	struct driver *driver = directory->driver;
	struct control_wish *wish = &directory->wish;
	struct event event;
	bool refused, changed;

	if (!directory->waiting || !directory->loaded || !driver->alive || driver->closing ||
	    driver->life.fenced || driver->life.terminating)
		return;
	directory->waiting = false;
	changed = control_dir_compare(wish, &directory->seen, &driver->life, !directory->taken,
				      &event, &refused);
	directory->taken = true;
	mention_ignored(directory, wish->ignored);
	mention_refusal(directory, refused);
	if (changed) {
		log_info(driver->log, "the control directory has changed");
		driver->metrics.control[METRICS_DIRECTORY]++;
		driver_step(driver, &event);
		directory->sequence = driver_covering_write(driver);
	}
	driver_directory_acknowledge(driver);
	if (directory->observe) {
		directory->observe = false;
		effect_observe(driver);
	}
}

static void on_reading(void *arg, const struct control_wish *wish, const struct err *why)
{
	struct directory *directory = arg;

	if (!wish) {
		complain(directory, why->msg);
		return;
	}
	directory->read_unix_ms = clock_unix_ms();
	control_wish_release(&directory->wish);
	control_wish_copy(&directory->wish, wish);
	directory->waiting = true;
	take(directory);
}

static void load_work(void *arg)
{
	struct seen_job *job = arg;

	job->result = control_seen_load(job->state_directory, &job->seen, &job->err);
}

static void load_done(void *arg, bool ran)
{
	struct seen_job *job = arg;
	struct directory *directory = job->directory;

	if (ran && job->result < 0)
		log_warn(directory->driver->log,
			 "what was seen of the control directory before is not known",
			 LOG_ERR(&job->err));
	if (ran) {
		if (job->result == 0)
			directory->seen = job->seen;
		directory->loaded = true;
		take(directory);
	}
	free(job);
}

/* ---- for the driver ---- */

void driver_directory_alive(struct driver *driver)
{
	if (driver->directory)
		take(driver->directory);
}

bool driver_directory_ready(struct driver *driver)
{
	struct directory *directory = driver->directory;

	if (!directory || directory->taken)
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
	if (directory->read_unix_ms)
		json_add_i64(to, "readUnixMs", directory->read_unix_ms);
	else
		json_add_null(to, "readUnixMs");
	json_add_str(to, "error", directory->error);
	json_add_str(to, "ignored", directory->ignored);
}

int driver_directory_open(struct driver *driver, struct err *err)
{
	const struct config *config = &driver->setup->config;
	struct directory *directory;
	struct lane *lane;

	if (!config->control.directory)
		return 0;
	lane = lane_new(driver->loop, "drey-control", err);
	if (!lane)
		return -1;
	directory = driver->directory = xcalloc(1, sizeof(*directory));
	directory->driver = driver;
	directory->lane = lane;
	lane_submit(lane, load_work, load_done, new_job(directory));
	directory->watch = control_watch_new(driver->loop, lane, config->control.directory,
					     config->control.poll_ms, on_reading, directory);
	return 0;
}

void driver_directory_close(struct driver *driver)
{
	struct directory *directory = driver->directory;

	if (!directory)
		return;
	lane_free(directory->lane, 1000);
	control_watch_free(directory->watch);
	control_wish_release(&directory->wish);
	control_seen_release(&directory->seen);
	free(directory->error);
	free(directory->ignored);
	free(directory);
	driver->directory = NULL;
}
