#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "run/driver_internal.h"

/* What may hang is done on a lane, also at the start: a probe is answered meanwhile. */
struct start_job {
	struct driver *driver;
	struct link_msg hello;
	struct journal journal;
	int result;
	struct err err;
};

static int read_journal(struct driver *driver, struct journal *ret_journal, struct err *err)
{
	const char *application = driver->setup->config.application;
	struct err why = {0};

	if (journal_file_read(&driver->file, ret_journal, &why) == 0) {
		if (!ret_journal->application || !strcmp(ret_journal->application, application))
			return 0;
		err_set(err, ERR_CONFIG, 0,
			"the state directory %s belongs to application '%s', not to '%s'; give "
			"every "
			"application its own stateDirectory",
			driver->setup->config.state_directory, ret_journal->application,
			application);
		journal_release(ret_journal);
		return -1;
	}
	if (why.kind == ERR_ABSENT) {
		journal_init(ret_journal, application);
		return 0;
	}
	if (why.kind == ERR_FORMAT)
		return err_set(
			err, ERR_FORMAT, 0,
			"%s; it is left as it is. Bring back a copy of it, or move it away: "
			"drey then decides from the checkpoints and savepoints that it finds",
			why.msg);
	if (err)
		*err = why;
	return -1;
}

static void start_work(void *arg)
{
	struct start_job *job = arg;

	if (!(job->hello.flags & LINK_RUNNING))
		job->result = setup_check(job->driver->setup, &job->err);
	if (job->result == 0)
		job->result = read_journal(job->driver, &job->journal, &job->err);
}

/* Takes the journal over. */
static int come_alive(struct driver *driver, struct journal *journal, struct err *err)
{
	struct rng rng;

	if (fs_random(&rng, sizeof(rng), err) < 0) {
		journal_release(journal);
		return -1;
	}
	xstrset(&journal->writer, driver->writer);
	lifecycle_init(&driver->life, &driver->setup->life, journal, &rng);
	metrics_init(&driver->metrics, &driver->life);
	driver_hooks_alive(driver);
	driver->alive = true;
	return init_link_resume(driver->link, err);
}

static void greet(struct driver *driver, const struct link_msg *msg)
{
	struct event event = {
		.type = EVENT_HELLO,
		.hello = {.running = msg->flags & LINK_RUNNING ? msg->launch_id : NULL,
			  .last = msg->flags & LINK_LAST_EXIT ? msg->last_launch_id : NULL,
			  .last_wait_status = msg->last_wait_status,
			  .stopping = msg->flags & LINK_IS_STOPPING,
			  .grace_left_ms = msg->grace_left_ms}};

	log_info(driver->log, "drey supervises", LOG_STR("version", DREY_VERSION),
		 LOG_STR("flink", driver->setup->version_text),
		 LOG_STR("rest", driver->setup->rest_url),
		 LOG_STR("stateDirectory", driver->setup->config.state_directory),
		 LOG_I64("agentRestarts", msg->restarts));
	driver_step(driver, &event);
	if (msg->flags & LINK_RUNNING)
		driver_ha_adopt(driver, msg->launch_id);
}

static void start_done(void *arg, bool ran)
{
	struct start_job *job = arg;
	struct driver *driver = job->driver;

	if (driver->closing) {
		if (ran && job->result == 0)
			journal_release(&job->journal);
		free(job);
		return;
	}
	if (job->result < 0) {
		if (driver->err)
			*driver->err = job->err;
		driver_stop(driver, 2);
	} else if (come_alive(driver, &job->journal, driver->err) < 0) {
		driver_stop(driver, 2);
	} else {
		greet(driver, &job->hello);
		driver_directory_alive(driver);
	}
	free(job);
}

void driver_start(struct driver *driver, const struct link_msg *hello)
{
	struct start_job *job;

	if (init_link_pause(driver->link, driver->err) < 0) {
		driver_stop(driver, 2);
		return;
	}
	job = xcalloc(1, sizeof(*job));
	job->driver = driver;
	job->hello = *hello;
	lane_submit(driver->journal_lane, start_work, start_done, job);
}
