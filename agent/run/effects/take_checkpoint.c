#include "run/effects/take_checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flink/checkpoints.h"
#include "flink/operation.h"
#include "run/driver_internal.h"
#include "run/effects/operation_status.h"

#define REST_TIMEOUT_MS 5000

struct checkpoint_job {
	struct driver *driver;
	char trigger_id[JOB_ID_BYTES], job_id[JOB_ID_BYTES];
	bool full;
	enum operation_status status;
	int64_t checkpoint_id;
	char *location, *error;
};

static void trigger_checkpoint_work(void *arg)
{
	struct checkpoint_job *job = arg;
	struct err err = {0};
	enum flink_answer answer =
		flink_rest_checkpoint(&job->driver->setup->rest, job->job_id, job->trigger_id,
				      job->full, REST_TIMEOUT_MS, &err);

	job->status = operation_status_of(answer, &err);
	if (answer != FLINK_OK)
		job->error = xstrdup(err.msg);
}

/* The result has only the id. If the statistics do not show it yet, the life cycle asks again. */
static void find_path(struct checkpoint_job *job)
{
	cleanup_flink_checkpoints struct flink_checkpoints checkpoints = {0};
	const struct flink_checkpoint *found;

	if (flink_rest_checkpoints(&job->driver->setup->rest, job->job_id, REST_TIMEOUT_MS,
				   &checkpoints, NULL, NULL) != FLINK_OK)
		return;
	found = flink_checkpoints_find(&checkpoints, job->checkpoint_id);
	if (found)
		job->location = xstrdup(found->path);
}

static void poll_checkpoint_work(void *arg)
{
	struct checkpoint_job *job = arg;
	cleanup_flink_operation struct flink_operation operation = {0};
	struct err err = {0};
	enum flink_answer answer =
		flink_rest_checkpoint_operation(&job->driver->setup->rest, job->job_id,
						job->trigger_id, REST_TIMEOUT_MS, &operation, &err);

	if (answer != FLINK_OK) {
		job->status = operation_status_of(answer, &err);
		job->error = xstrdup(err.msg);
		return;
	}
	job->status = operation.state == FLINK_OPERATION_IN_PROGRESS ? STATUS_IN_PROGRESS
		      : operation.state == FLINK_OPERATION_COMPLETED ? STATUS_COMPLETED
								     : STATUS_FAILED;
	job->checkpoint_id = operation.checkpoint_id;
	job->error = xstrdup(operation.failure);
	if (job->status == STATUS_COMPLETED)
		find_path(job);
}

static void checkpoint_done(void *arg, bool ran)
{
	struct checkpoint_job *job = arg;
	struct event event = {.type = EVENT_CHECKPOINT,
			      .checkpoint = {.trigger_id = job->trigger_id,
					     .status = job->status,
					     .checkpoint_id = job->checkpoint_id,
					     .location = job->location,
					     .error = job->error}};

	if (ran)
		driver_step(job->driver, &event);
	free(job->location);
	free(job->error);
	free(job);
}

void take_checkpoint(struct driver *driver, const struct effect *effect)
{
	struct checkpoint_job *job = xcalloc(1, sizeof(*job));

	job->driver = driver;
	job->full = driver->life.journal.checkpoint.full;
	memcpy(job->trigger_id, effect->id, JOB_ID_BYTES);
	memcpy(job->job_id, journal_launch(&driver->life.journal)->job_id, JOB_ID_BYTES);
	lane_submit(driver->flink_lane,
		    effect->type == EFFECT_TRIGGER_CHECKPOINT ? trigger_checkpoint_work
							      : poll_checkpoint_work,
		    checkpoint_done, job);
}
