/*
 * RESCALE: give the vertices of the running job other bounds, and look at them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flink/requirements.h"
#include "run/driver_internal.h"
#include "run/part.h"

#define REST_TIMEOUT_MS 5000

struct rescale_job {
	struct driver *driver;
	char job_id[JOB_ID_BYTES];
	int64_t launch; /* number */
	char *body;     /* NULL: only look */
	enum operation_status status;
	char *error;
	struct flink_requirements seen;
	bool slots_known;
	struct flink_slots slots;
};

/* What Flink refuses is an answer; anything else is asked again. */
static void rescale_failed(struct rescale_job *job, enum flink_answer answer, const struct err *err)
{
	job->status = answer == FLINK_ERROR && err->kind == ERR_CONFIG ? STATUS_FAILED
								       : STATUS_UNREACHABLE;
	job->error = xstrdup(err->msg);
}

static void rescale_work(void *arg)
{
	struct rescale_job *job = arg;
	const struct flink_rest *rest = &job->driver->setup->rest;
	enum flink_answer answer = FLINK_OK;
	struct err err = {0};

	if (job->body)
		answer = flink_rest_set_requirements(rest, job->job_id, job->body, REST_TIMEOUT_MS,
						     &err);
	if (answer == FLINK_OK)
		answer = flink_rest_requirements(rest, job->job_id, REST_TIMEOUT_MS, &job->seen,
						 &err);
	if (answer != FLINK_OK) {
		rescale_failed(job, answer, &err);
		return;
	}
	job->status = STATUS_COMPLETED;
	/* only for what is said of it */
	job->slots_known = flink_rest_slots(rest, REST_TIMEOUT_MS, &job->slots, &err) == FLINK_OK;
}

static void rescale_done(void *arg, bool ran)
{
	struct rescale_job *job = arg;
	struct rescale_vertex *vertices = xcalloc(job->seen.count + 1, sizeof(*vertices));
	struct event event = {.type = EVENT_RESCALED,
			      .rescaled = {.launch = job->launch,
					   .put = job->body != NULL,
					   .status = job->status,
					   .error = job->error,
					   .vertices = vertices,
					   .vertex_count = job->seen.count,
					   .slots_known = job->slots_known,
					   .slots_total = job->slots.total,
					   .task_managers = job->slots.task_managers}};

	for (size_t i = 0; i < job->seen.count; i++) {
		const struct flink_requirement *from = &job->seen.list[i];

		vertices[i] = (struct rescale_vertex){.id = from->id,
						      .name = from->name,
						      .parallelism = from->parallelism,
						      .max_parallelism = from->max_parallelism,
						      .lower = from->lower,
						      .upper = from->upper,
						      .slot_group = from->slot_group};
	}
	if (ran)
		driver_step(job->driver, &event);
	free(vertices);
	flink_requirements_release(&job->seen);
	free(job->body);
	free(job->error);
	free(job);
}

static void rescale_execute(struct driver *driver, const struct effect *effect)
{
	struct rescale_job *job;

	if (effect->type != EFFECT_RESCALE)
		return;
	job = xcalloc(1, sizeof(*job));
	job->driver = driver;
	job->launch = journal_launch(&driver->life.journal)->number;
	memcpy(job->job_id, effect->id, JOB_ID_BYTES);
	job->body = xstrdup(effect->text);
	lane_submit(driver->flink_lane, rescale_work, rescale_done, job);
}

const struct part part_rescale = {
	.name = "rescale",
	.execute = rescale_execute,
};
