/*
 * A candidate's Flink, whose main() is held, and the check before it is started.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "flink/held.h"
#include "run/effects/launch_build.h"
#include "run/effects/leavings.h"
#include "run/ha/ha_change.h"
#include "run/handover/check_run.h"
#include "run/handover/standing_internal.h"

#define REST_TIMEOUT_MS  2000
#define CHECK_TIMEOUT_MS 120000

/* ---- the check ---- */

struct check_job {
	struct standing *standing;
	struct check_result result;
};

static void check_work(void *arg)
{
	struct check_job *job = arg;

	check_run(job->standing->driver->setup->config_file, CHECK_TIMEOUT_MS, &job->result);
}

static void check_done(void *arg, bool ran)
{
	struct check_job *job = arg;
	struct standby_event event = {.type = STANDBY_CHECKED,
				      .checked = {.ok = job->result.ok,
						  .decision = job->result.ok ? "fits" : "refused",
						  .why = job->result.why}};

	if (ran)
		job->standing->step(job->standing, &event);
	check_result_release(&job->result);
	free(job);
}

void standing_check(struct standing *standing)
{
	struct check_job *job = xcalloc(1, sizeof(*job));

	job->standing = standing;
	lane_submit(standing->driver->store_lane, check_work, check_done, job);
}

/* ---- a launch that is held ---- */

struct launch_job {
	struct standing *standing;
	struct launch launch;
	struct ha_cluster cluster;
	int result;
	struct err err;
};

static void prepare_work(void *arg)
{
	struct launch_job *job = arg;
	struct ha_unchanged unchanged = {0};

	job->result = ha_clean(job->standing->kube.kube, job->launch.ha_cluster_id, &job->launch,
			       &unchanged, &job->cluster, &job->err);
	ha_unchanged_release(&unchanged);
}

static void release_launch(struct launch *launch)
{
	free(launch->job_result_path);
	free(launch->application_result_path);
	free(launch->ha_cluster_id);
}

/* That of a job that has run in this pod would end what waits in main(), and forbid its launch. The owner has a lease
 * of its own before main() is let go. */
static int forget_lease(struct standing *standing, struct err *err)
{
	if (!(standing->hello.flags & LINK_TAKES_LEASE))
		return 0;
	return init_link_lease(standing->driver->link, 0, err);
}

static int start(struct standing *standing, const struct launch *launch, struct err *err)
{
	struct driver *driver = standing->driver;
	cleanup_free char *file = held_file(driver->setup->config.state_directory, launch->job_id);
	struct flink_exec exec = {0};
	struct launch_jvm jvm = {0};
	int result = -1;

	(void)held_sweep(driver->setup->config.state_directory, launch->job_id, NULL);
	if (driver_take_flink_lock(driver, err) == 0 && setup_check_port(driver->setup, err) == 0 &&
	    held_begin(file, err) == 0 && forget_lease(standing, err) == 0 &&
	    launch_build(driver->setup, launch, &exec, &jvm, err) == 0) {
		const struct init_link_launch sent = {.job_id = launch->job_id,
						      .argv = exec.argv,
						      .env = exec.env,
						      .lock_fd = driver->flink_lock_fd};

		driver_leavings_make(driver, launch);
		result = init_link_launch(driver->link, &sent, err);
	}
	if (driver->flink_lock_fd >= 0) /* drey-init and Flink keep theirs */
		close(driver->flink_lock_fd);
	driver->flink_lock_fd = -1;
	launch_jvm_release(&jvm);
	flink_exec_release(&exec);
	return result;
}

static void prepared(void *arg, bool ran)
{
	struct launch_job *job = arg;
	struct standing *standing = job->standing;
	struct standby_event event = {.type = STANDBY_FAILED,
				      .process = {.launch_id = job->launch.job_id}};
	bool wanted = ran && !standing->over && standing->standby.flink == STANDBY_FLINK_ASKED;
	int result = job->result;

	if (wanted && result == 0) {
		driver_ha_hold(standing->driver, &job->launch, &job->cluster.lock);
		result = start(standing, &job->launch, &job->err);
	}
	if (job->result == 0)
		ha_cluster_release(&job->cluster);
	event.process.why = result < 0 ? job->err.msg : "it is not wanted any more";
	event.process.waits = job->result < 0 && job->err.kind == ERR_BUSY;
	if (ran && !standing->over && (result < 0 || !wanted))
		standing->step(standing, &event);
	release_launch(&job->launch);
	free(job);
}

void standing_launch(struct standing *standing)
{
	const struct setup *setup = standing->driver->setup;
	const struct handover *handover = &standing->standby.handover;
	struct launch_job *job = xcalloc(1, sizeof(*job));
	struct launch *launch = &job->launch;

	job->standing = standing;
	launch->held = true;
	memcpy(launch->job_id, standing->standby.job_id, JOB_ID_BYTES);
	memcpy(launch->launch_id, handover->launch_id, JOB_ID_BYTES);
	memcpy(launch->application_id, handover->application_id, JOB_ID_BYTES);
	launch->ha_cluster_id = xstrdup(setup_cluster_id(setup, standing->standby.verdict.side));
	/* the likely one: the word to go names that of the job */
	launch->output_side = handover->transition.output_side;
	launch_name_results(launch, setup->life.result_store_dir);
	lane_submit(standing->kube.lane, prepare_work, prepared, job);
}

/* ---- a look at it ---- */

struct warm_job {
	struct standing *standing;
	char job_id[JOB_ID_BYTES];
	struct standby_event event;
};

/* The resource id of a TaskManager begins with its generation: `drey join` sees to that. */
static int count_strangers(const struct flink_task_managers *managers, const char *generation)
{
	size_t len = generation ? strlen(generation) : 0;
	int strangers = 0;

	for (size_t i = 0; i < managers->count; i++)
		strangers += strncmp(managers->ids[i], generation ? generation : "", len) != 0 ||
			     managers->ids[i][len] != '-';
	return strangers;
}

static void warm_work(void *arg)
{
	struct warm_job *job = arg;
	const struct setup *setup = job->standing->driver->setup;
	cleanup_free char *file = held_file(setup->config.state_directory, job->job_id);
	struct flink_task_managers managers = {0};
	struct flink_slots slots = {0};
	struct held_main held = {0};
	struct err err = {0};

	job->event.warm.held = held_read(file, &held, &err) == 0;
	job->event.warm.went = held_was_told(file);
	held_main_release(&held);
	if (flink_rest_slots(&setup->rest, REST_TIMEOUT_MS, &slots, &err) != FLINK_OK ||
	    flink_rest_task_managers(&setup->rest, REST_TIMEOUT_MS, &managers, &err) != FLINK_OK)
		return;
	job->event.warm.known = true;
	job->event.warm.task_managers = (int)managers.count;
	job->event.warm.slots_free = slots.available;
	job->event.warm.strangers = count_strangers(&managers, setup->config.generation);
	flink_task_managers_release(&managers);
}

static void warm_done(void *arg, bool ran)
{
	struct warm_job *job = arg;

	if (ran)
		job->standing->step(job->standing, &job->event);
	free(job);
}

void standing_warm(struct standing *standing)
{
	struct warm_job *job = xcalloc(1, sizeof(*job));

	job->standing = standing;
	job->event.type = STANDBY_WARM;
	memcpy(job->job_id, standing->standby.job_id, JOB_ID_BYTES);
	lane_submit(standing->driver->flink_lane, warm_work, warm_done, job);
}
