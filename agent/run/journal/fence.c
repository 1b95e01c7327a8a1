/*
 * The fence outlives the agent. One that has lost the journal to another drey does nothing more; were it to die
 * then, the next agent in the same container would know nothing of that, take the journal back, and start the job
 * beside the other one. So it is noted in the state directory. Which container that was is noted as well: the
 * directory may outlive it, and a new container is a new decision of the deployer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "run/driver_internal.h"

#define FENCE_NAME      "fenced"
#define FENCE_MAX_BYTES 4096
#define STAT_START      20 /* fields from the state to the time of the start, proc(5) */

/* drey-init, as no other process is: since when it runs, in this run of the machine. False: not known. */
static bool container_name(char *ret_name, size_t name_bytes)
{
	cleanup_buf struct buf stat = BUF_INIT, boot = BUF_INIT;
	cleanup_free char *path = xasprintf("/proc/%d/stat", (int)getppid());
	char *at;

	if (fs_read("/proc/sys/kernel/random/boot_id", FENCE_MAX_BYTES, &boot, NULL) < 0 ||
	    fs_read(path, FENCE_MAX_BYTES, &stat, NULL) < 0)
		return false;
	at = strrchr(buf_str(&stat), ')');
	for (int i = 0; at && i < STAT_START; i++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	snprintf(ret_name, name_bytes, "%.36s %d %lld", buf_str(&boot), (int)getppid(),
		 strtoll(at, NULL, 10));
	return true;
}

static char *fence_path(const struct driver *driver)
{
	return xasprintf("%s/%s", driver->setup->config.state_directory, FENCE_NAME);
}

bool driver_fence_was_noted(const struct driver *driver)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *path = fence_path(driver);
	char name[100];

	return container_name(name, sizeof(name)) &&
	       fs_read(path, FENCE_MAX_BYTES, &text, NULL) == 0 &&
	       !strncmp(buf_str(&text), name, strlen(name));
}

struct note_job {
	struct driver *driver;
	char *path;
	char name[100];
	struct err err;
};

static void note_work(void *arg)
{
	struct note_job *job = arg;

	fs_write_atomic(job->path, job->name, strlen(job->name), 0600, &job->err);
}

static void noted(void *arg, bool ran)
{
	struct note_job *job = arg;

	if (ran && job->err.kind)
		log_error(job->driver->log, "cannot record that another drey has the journal",
			  LOG_ERR(&job->err));
	free(job->path);
	free(job);
}

void driver_fence_step(struct driver *driver)
{
	struct note_job *job;

	if (!driver->life.fenced || driver->fence_noted)
		return;
	driver->fence_noted = true;
	job = xcalloc(1, sizeof(*job));
	job->driver = driver;
	job->path = fence_path(driver);
	if (container_name(job->name, sizeof(job->name)))
		lane_submit(driver->journal_lane, note_work, noted, job);
	else
		noted(job, false);
}
