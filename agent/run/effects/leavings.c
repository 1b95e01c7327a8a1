#include "run/effects/leavings.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "flink/launch_dir.h"
#include "flink/tmp_dirs.h"
#include "run/driver_internal.h"
#include "run/part.h"

struct leavings {
	struct driver *driver;
	struct lane *lane;
	bool told; /* that something stays */
};

/* ---- which ---- */

/* False: this launch uses io.tmp.dirs as it is. */
static bool choose_dirs(const struct setup *setup, struct tmp_dirs *ret_dirs)
{
	struct flink_launch flink;

	setup_launch(setup, &flink);
	return !tmp_dirs_choose(&flink, &setup->flink_conf, geteuid() == 0, ret_dirs);
}

char *leavings_tmp_dirs(const struct setup *setup, const struct launch *launch)
{
	cleanup_free char *name = tmp_dirs_name(launch->job_id, launch->number);
	cleanup_free char *lock =
		xasprintf("%s/%s", setup->config.state_directory, FLINK_LOCK_NAME);
	char mark[LAUNCH_DIR_MARK_BYTES], *text = NULL;
	cleanup_tmp_dirs struct tmp_dirs dirs = {0};
	struct stat info;
	bool all = true;

	if (!choose_dirs(setup, &dirs))
		return NULL;
	if (stat(lock, &info) == 0) {
		launch_dir_mark(&info, mark);
		for (size_t i = 0; i < dirs.count; i++)
			all &= launch_dir_is_ours(dirs.list[i], name, mark);
		text = all ? tmp_dirs_join(&dirs, name) : NULL;
	}
	return text;
}

/* ---- before the launch ---- */

/* Identifies the file that drey has locked. */
static bool mark_of_lock(const struct driver *driver, char ret_mark[LAUNCH_DIR_MARK_BYTES])
{
	struct stat info;

	/* MUT: directories are removed without the lock */
	if (driver->flink_lock_fd < 0 || fstat(driver->flink_lock_fd, &info) < 0)
		return false;
	launch_dir_mark(&info, ret_mark);
	return true;
}

static void tell_once(struct driver *driver, const char *what, const struct err *err)
{
	struct leavings *leavings = driver->leavings;

	if (!leavings->told)
		log_warn(driver->log, what, LOG_ERR(err));
	leavings->told = true;
}

void driver_leavings_make(struct driver *driver, const struct launch *launch)
{
	cleanup_free char *name = tmp_dirs_name(launch->job_id, launch->number);
	char mark[LAUNCH_DIR_MARK_BYTES];
	cleanup_tmp_dirs struct tmp_dirs dirs = {0};
	struct err err = {0};
	bool made = true;

	if (!driver->leavings || !choose_dirs(driver->setup, &dirs))
		return;
	if (mark_of_lock(driver, mark))
		for (size_t i = 0; made && i < dirs.count; i++)
			made = launch_dir_make(dirs.list[i], name, mark, &err) == 0;
	if (!made)
		tell_once(driver,
			  "Flink uses io.tmp.dirs as configured: what it leaves there stays", &err);
}

/* ---- after it ---- */

struct remove_job {
	struct driver *driver;
	struct tmp_dirs dirs;
	char mark[LAUNCH_DIR_MARK_BYTES];
	char **names;
	size_t name_count;
	int result;
	struct err err;
};

static void remove_work(void *arg)
{
	struct remove_job *job = arg;

	for (size_t i = 0; i < job->name_count; i++)
		for (size_t j = 0; j < job->dirs.count; j++)
			if (launch_dir_remove(job->dirs.list[j], job->names[i], job->mark,
					      &job->err) < 0)
				job->result = -1;
}

static void remove_done(void *arg, bool ran)
{
	struct remove_job *job = arg;

	if (ran && job->result < 0 && job->driver->leavings)
		tell_once(job->driver, "a temporary directory of a dead launch of Flink stays",
			  &job->err);
	for (size_t i = 0; i < job->name_count; i++)
		free(job->names[i]);
	free(job->names);
	tmp_dirs_release(&job->dirs);
	free(job);
}

void driver_leavings_remove(struct driver *driver, const struct launch *launch)
{
	const struct journal *journal = &driver->life.journal;
	struct remove_job *job;

	if (!driver->leavings || journal->launch_count < 2)
		return;
	job = xcalloc(1, sizeof(*job));
	job->driver = driver;
	if (!choose_dirs(driver->setup, &job->dirs) || !mark_of_lock(driver, job->mark)) {
		remove_done(job, false);
		return;
	}
	job->names = xcalloc(journal->launch_count, sizeof(*job->names));
	for (size_t i = 0; i < journal->launch_count; i++)
		/* MUT: the directory of the launch that begins is removed */
		if (journal->launches[i].number != launch->number)
			job->names[job->name_count++] = tmp_dirs_name(journal->launches[i].job_id,
								      journal->launches[i].number);
	lane_submit(driver->leavings->lane, remove_work, remove_done, job);
}

/* ---- the part ---- */

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

	if (!leavings)
		return;
	driver->leavings = NULL;
	(void)lane_free(leavings->lane, LANE_PATIENCE_MS); /* a job that hangs has its own copies */
	free(leavings);
}

const struct part part_leavings = {
	.name = "leavings",
	.open = leavings_open,
	.close = leavings_close,
};
