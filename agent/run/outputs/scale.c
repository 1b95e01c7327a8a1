/*
 * The TaskManagers of an application that does not run: their Deployments and StatefulSets (kubernetes.scale) are scaled
 * to 0, and back before the next launch. core/scale.h decides, for each of them; this executes one batch of requests
 * after another, on a lane of its own.
 *
 * The numbers that come back are recorded in the ConfigMap of the journal, beside the journal: they have to outlive this
 * Pod, and drey has no right to change anything else of those objects. A failure delays nothing but this: Flink waits
 * for TaskManagers by itself.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/scale.h"
#include "kube/kube_lane.h"
#include "kube/kube_scale.h"
#include "run/driver_internal.h"
#include "run/outputs/scale_batch.h"
#include "run/part.h"

#define EXIT_MS 5000 /* how long the exit waits for it: of a Job whose job has finished */

/* One Deployment or StatefulSet; what is decided for it is in part->scales[], at the same index. */
struct scale_object {
	struct kube_scale there; /* as it was read last */
	char *error;             /* why the last request has failed; NULL = it has not */
	bool told_denied;
};

struct scale_part {
	struct driver *driver;
	struct scale_config config;
	struct kube_lane kube;
	struct loop_timer *timer;
	size_t count;
	const struct kube_scale_target *targets; /* of setup->kube */
	struct scale *scales;
	struct scale_object *objects;
	struct scale_step *steps;
	int64_t exit_end_ms; /* the exit waits until then; 0 = there is none */
};

struct scale_job {
	struct scale_part *part;
	struct scale_batch *batch;
};

static void scale_work(void *arg)
{
	struct scale_job *job = arg;

	scale_batch_do(job->batch, job->part->kube.kube);
}

static void scale_job_free(struct scale_job *job)
{
	scale_batch_free(job->batch);
	free(job);
}

/* ---- what came of it ---- */

/* To be logged of a batch: the first object of which there is something new, and of how many more. */
struct news {
	const struct scale_task *first;
	int64_t more;
};

static void news_add(struct news *news, const struct scale_task *task)
{
	if (news->first)
		news->more++;
	else
		news->first = task;
}

static void took_failure(struct scale_part *part, const struct scale_task *task, int64_t now_ms,
			 struct news *denied, struct news *failed)
{
	struct scale *scale = &part->scales[task->index];
	struct scale_object *object = &part->objects[task->index];
	bool refused = task->status == 403;
	enum scale_failure failure = refused                      ? SCALE_REFUSED
				     : task->err.kind == ERR_BUSY ? SCALE_CONFLICT
								  : SCALE_FAILED;

	scale_failed(scale, failure, task->retry_after_ms, now_ms);
	if (refused && scale_is_refused(scale, now_ms) && !object->told_denied) {
		news_add(denied, task);
		object->told_denied = true;
	} else if (!refused && failure != SCALE_CONFLICT && !xstris(object->error, task->err.msg)) {
		news_add(failed, task);
	}
	xstrset(&object->error, task->err.msg);
}

/* One rule for all objects of the kind of `task`. */
static char *missing_rule(const struct scale_part *part, const struct scale_task *task)
{
	enum kube_scale_kind kind = part->targets[task->index].kind;
	cleanup_buf struct buf names = BUF_INIT;

	for (size_t i = 0; i < part->count; i++)
		if (part->targets[i].kind == kind)
			buf_addf(&names, "%s%s", names.len_bytes ? ", " : "",
				 part->targets[i].name);
	return xasprintf(
		"{apiGroups: [apps], resources: [%s/scale], resourceNames: [%s], verbs: [get, patch]}",
		kube_scale_resources[kind], buf_str(&names));
}

static void tell_failures(const struct scale_part *part, const struct news *denied,
			  const struct news *failed)
{
	struct log *log = part->driver->log;

	if (denied->first) {
		cleanup_free char *rule = missing_rule(part, denied->first);

		log_warn(
			log,
			"cannot scale the TaskManagers until the Role has this rule, and get and patch of the ConfigMap of the journal",
			LOG_STR("rule", rule), LOG_I64("more", denied->more),
			LOG_ERR(&denied->first->err));
	}
	if (failed->first)
		log_warn(log, "cannot scale the TaskManagers; trying again",
			 LOG_STR("object", part->targets[failed->first->index].name),
			 LOG_I64("more", failed->more), LOG_ERR(&failed->first->err));
}

static void took_set(struct scale_part *part, const struct scale_task *task, int64_t now_ms)
{
	const struct kube_scale_target *target = &part->targets[task->index];
	struct scale *scale = &part->scales[task->index];

	log_info(part->driver->log,
		 task->replicas ? "scaled the TaskManagers up: the job is to run"
				: "scaled the TaskManagers to 0: the application is parked",
		 LOG_STR("kind", kube_scale_kinds[target->kind]), LOG_STR("name", target->name),
		 LOG_I64("from", scale->replicas), LOG_I64("to", task->replicas));
	scale_was_set(scale, task->replicas, now_ms);
}

static void took_look(struct scale_part *part, struct scale_task *task, int64_t now_ms)
{
	const struct kube_scale_target *target = &part->targets[task->index];
	struct scale_object *object = &part->objects[task->index];
	struct scale *scale = &part->scales[task->index];
	bool contested = scale->contested;

	kube_scale_release(&object->there);
	object->there = task->there;
	task->there = (struct kube_scale){0};
	scale_looked(scale, object->there.replicas, task->recorded, now_ms);
	if (scale->contested && !contested)
		log_warn(
			part->driver->log,
			"the TaskManagers were scaled up by others several times; drey leaves their number alone until the next launch",
			LOG_STR("kind", kube_scale_kinds[target->kind]),
			LOG_STR("name", target->name), LOG_I64("replicas", object->there.replicas));
}

static void took_task(struct scale_part *part, enum scale_act act, struct scale_task *task,
		      int64_t now_ms)
{
	struct scale_object *object = &part->objects[task->index];

	xstrset(&object->error, NULL);
	object->told_denied = false;
	switch (act) {
	case SCALE_LOOK:
		took_look(part, task, now_ms);
		break;
	case SCALE_RECORD:
		scale_recorded(&part->scales[task->index], task->replicas);
		break;
	case SCALE_FORGET:
		scale_forgotten(&part->scales[task->index]);
		break;
	case SCALE_SET:
		took_set(part, task, now_ms);
		break;
	case SCALE_NOTHING:
		break;
	}
}

static void took_batch(struct scale_part *part, struct scale_batch *batch)
{
	struct news denied = {0}, failed = {0};
	int64_t now_ms = clock_mono_ms();

	for (size_t i = 0; i < batch->count; i++) {
		if (batch->tasks[i].result < 0)
			took_failure(part, &batch->tasks[i], now_ms, &denied, &failed);
		else
			took_task(part, batch->act, &batch->tasks[i], now_ms);
	}
	tell_failures(part, &denied, &failed);
}

static void scale_part_stepped(struct driver *driver);

static void scale_done(void *arg, bool ran)
{
	struct scale_job *job = arg;
	struct scale_part *part = job->part;

	for (size_t i = 0; i < job->batch->count; i++)
		part->scales[job->batch->tasks[i].index].busy = false;
	if (ran && !part->driver->closing) {
		took_batch(part, job->batch);
		scale_part_stepped(part->driver);
		driver_again(part->driver);
	}
	scale_job_free(job);
}

/* ---- what to do next ---- */

static void scale_submit(struct scale_part *part, enum scale_act act)
{
	struct scale_job *job = xcalloc(1, sizeof(*job));
	struct scale_batch *batch =
		scale_batch_new(act, part->targets, part->count, part->driver->setup->kube.journal);

	job->part = part;
	job->batch = batch;
	for (size_t i = 0; i < part->count; i++) {
		const struct kube_scale *there = &part->objects[i].there;
		struct scale_task *task = &batch->tasks[batch->count];

		if (part->steps[i].act != act)
			continue;
		batch->count++;
		task->index = i;
		task->replicas = part->steps[i].replicas;
		if (act != SCALE_LOOK)
			task->there = (struct kube_scale){
				.uid = xstrdup(there->uid),
				.resource_version = xstrdup(there->resource_version),
				.replicas = there->replicas,
			};
		scale_begins(&part->scales[i]);
	}
	loop_timer_stop(part->timer);
	lane_submit(part->kube.lane, scale_work, scale_done, job);
}

static void scale_part_stepped(struct driver *driver)
{
	struct scale_part *part = driver->scale;
	const struct journal *journal = &driver->life.journal;
	struct scale_step step;
	int64_t now_ms;

	if (!part || !driver->alive || driver->closing || driver->life.fenced)
		return;
	now_ms = clock_mono_ms();
	for (size_t i = 0; i < part->count; i++)
		scale_stepped(&part->scales[i], &part->config, driver->life.phase,
			      journal->outcome.kind == OUTCOME_FINISHED ? journal->outcome.unix_ms
									: 0,
			      now_ms, clock_unix_ms());
	step = scale_next_of(part->scales, part->count, now_ms, part->steps);
	if (step.act != SCALE_NOTHING)
		scale_submit(part, step.act);
	else if (step.wait_ms >= 0)
		loop_timer_set(part->timer, step.wait_ms);
}

static void scale_on_timer(void *arg)
{
	struct scale_part *part = arg;

	scale_part_stepped(part->driver);
	if (part->exit_end_ms)
		driver_again(part->driver);
}

/* Of a Job only the Pods of the TaskManagers would remain, and nobody who scales them. */
static enum gate_verdict scale_may(struct driver *driver, enum gate_type type, struct gate *gate)
{
	struct scale_part *part = driver->scale;
	bool down = true, busy = false;

	if (!part || type != GATE_EXIT || driver->life.fenced ||
	    driver->life.phase != PHASE_FINISHED)
		return GATE_PASSES;
	if (!part->exit_end_ms) {
		part->exit_end_ms = clock_mono_ms() + EXIT_MS;
		scale_part_stepped(driver); /* this step has come to Finished */
	}
	for (size_t i = 0; i < part->count; i++) {
		down = down && scale_is_down(&part->scales[i]);
		busy = busy || part->scales[i].busy;
	}
	if (clock_mono_ms() >= part->exit_end_ms || down)
		return GATE_PASSES;
	if (!busy && !loop_timer_armed(part->timer))
		loop_timer_set(part->timer, part->exit_end_ms - clock_mono_ms());
	return gate_waits(gate, "the TaskManagers to be scaled to 0", part->exit_end_ms);
}

/* ---- begin and end ---- */

static void scale_status(const struct driver *driver, struct json *document)
{
	const struct scale_part *part = driver->scale;
	struct json *list;

	if (!part) {
		json_add_null(document, "scale");
		return;
	}
	list = json_add_array(document, "scale");
	for (size_t i = 0; i < part->count; i++) {
		const struct scale *scale = &part->scales[i];
		struct json *to = json_add_object(list, NULL);

		json_add_str(to, "kind", kube_scale_kinds[part->targets[i].kind]);
		json_add_str(to, "name", part->targets[i].name);
		json_add_str(to, "goal", scale_goal_name(scale->goal));
		json_add_known(to, "replicas", scale->known ? scale->replicas : -1, 0);
		json_add_known(to, "recorded", scale->recorded, 1);
		json_add_bool(to, "contested", scale->contested);
		json_add_str(to, "error", part->objects[i].error);
	}
}

static int scale_open(struct driver *driver, struct err *err)
{
	const struct setup *setup = driver->setup;
	struct scale_part *part;

	(void)err;
	if (!setup->kube.on || !setup->kube.scale_count)
		return 0;
	driver->scale = part = xcalloc(1, sizeof(*part));
	part->driver = driver;
	part->count = setup->kube.scale_count;
	part->targets = setup->kube.scale;
	part->scales = xcalloc(part->count, sizeof(*part->scales));
	part->objects = xcalloc(part->count, sizeof(*part->objects));
	part->steps = xcalloc(part->count, sizeof(*part->steps));
	part->config = (struct scale_config){
		.when = (enum scale_when)setup->config.kubernetes.scale_when,
		.parked_after_ms = setup->config.kubernetes.scale_parked_after_ms,
		/* afterwards there is no drey any more */
		.finished_after_ms = setup->life.exit_when_finished
					     ? 0
					     : setup->config.kubernetes.scale_finished_after_ms,
	};
	part->kube = kube_lane_open(driver->workers, setup->kube.client, "drey-scale");
	part->timer = loop_timer_new(driver->loop, scale_on_timer, part);
	return 0;
}

static void scale_close(struct driver *driver)
{
	struct scale_part *part = driver->scale;
	bool ended;

	if (!part)
		return;
	driver->scale = NULL;
	kube_lane_stop(&part->kube);
	ended = kube_lane_close(&part->kube, 500);
	loop_timer_free(part->timer);
	if (!ended) /* what hangs still uses the rest */
		return;
	for (size_t i = 0; i < part->count; i++) {
		kube_scale_release(&part->objects[i].there);
		free(part->objects[i].error);
	}
	free(part->objects);
	free(part->scales);
	free(part->steps);
	free(part);
}

const struct part part_scale = {
	.name = "scale",
	.open = scale_open,
	.stepped = scale_part_stepped,
	.may = scale_may,
	.status = scale_status,
	.close = scale_close,
};
