/*
 * The TaskManagers of an application that does not run: their Deployment (kubernetes.scale) is scaled to 0, and back
 * before the next launch. core/scale.h decides; this executes one request after another, on a lane of its own.
 *
 * The number that comes back is recorded in the ConfigMap of the journal, beside the journal: it has to outlive this
 * Pod, and drey has no right to change anything else of the Deployment. A failure delays nothing but this: Flink waits
 * for TaskManagers by itself.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/scale.h"
#include "kube/configmap.h"
#include "kube/kube_lane.h"
#include "kube/kube_scale.h"
#include "run/driver_internal.h"
#include "run/outputs/scale_record.h"
#include "run/part.h"

#define EXIT_MS 5000 /* how long the exit waits for it: of a Job whose job has finished */

struct scale_part {
	struct driver *driver;
	struct scale_config config;
	struct kube_lane kube;
	struct loop_timer *timer;
	struct scale scale;
	struct kube_scale there; /* as it was read last */
	char *error;             /* why the last request has failed; NULL = it has not */
	bool told_denied;
	int64_t exit_end_ms; /* the exit waits until then; 0 = there is none */
};

struct scale_job {
	struct scale_part *part;
	enum scale_act act;
	int64_t replicas;
	struct kube_scale there; /* LOOK: read; RECORD, SET: as it was read */
	int64_t recorded;        /* LOOK */
	struct kube_answer answer;
	int result;
	struct err err;
};

static const struct setup_kube *setup_of(const struct scale_part *part)
{
	return &part->driver->setup->kube;
}

/* ---- requests ---- */

static int scale_look(struct scale_job *job, struct kube *kube, const struct setup_kube *setup)
{
	cleanup_configmap struct configmap map = {0};
	struct err err = {0};

	if (kube_scale_get(kube, setup->scale, &job->there, &job->answer, &job->err) < 0)
		return -1;
	if (configmap_get(kube, setup->journal, &map, &job->answer, &err) < 0) {
		if (err.kind == ERR_ABSENT)
			return 0;
		job->err = err;
		return -1;
	}
	if (scale_record_read(configmap_value(&map, SCALE_RECORD_KEY), job->there.uid,
			      &job->recorded, &err) == 0)
		return 0;
	/* it matters only where the number is not there */
	job->recorded = SCALE_UNREADABLE;
	if (job->there.replicas > 0)
		return 0;
	job->err = err;
	return -1;
}

static int keep_record(struct scale_job *job, struct kube *kube, const struct setup_kube *setup)
{
	cleanup_json struct json *patch = json_object();
	struct json *data = json_add_object(patch, "data");

	if (job->act == SCALE_FORGET) {
		json_add_null(data, SCALE_RECORD_KEY);
	} else {
		cleanup_free char *text =
			scale_record_text(setup->scale, job->there.uid, job->replicas);

		json_add_str(data, SCALE_RECORD_KEY, text);
	}
	return configmap_patch(kube, setup->journal, patch, NULL, &job->answer, &job->err);
}

static void scale_work(void *arg)
{
	struct scale_job *job = arg;
	const struct setup_kube *setup = setup_of(job->part);
	struct kube *kube = job->part->kube.kube;

	switch (job->act) {
	case SCALE_LOOK:
		job->result = scale_look(job, kube, setup);
		break;
	case SCALE_RECORD:
	case SCALE_FORGET:
		job->result = keep_record(job, kube, setup);
		break;
	case SCALE_SET:
		job->result = kube_scale_set(kube, setup->scale, &job->there, job->replicas,
					     &job->answer, &job->err);
		break;
	case SCALE_NOTHING:
		break;
	}
}

static void scale_job_free(struct scale_job *job)
{
	kube_scale_release(&job->there);
	kube_answer_release(&job->answer);
	free(job);
}

/* ---- what came of it ---- */

static void tell_failure(struct scale_part *part, const struct scale_job *job, int64_t now_ms)
{
	struct log *log = part->driver->log;
	bool denied = job->answer.status == 403;

	if (denied && scale_is_refused(&part->scale, now_ms) && !part->told_denied) {
		cleanup_free char *rule = xasprintf(
			"{apiGroups: [apps], resources: [deployments/scale], resourceNames: [%s], verbs: [get, patch]}",
			setup_of(part)->scale);

		log_warn(
			log,
			"cannot scale the TaskManagers until the Role has this rule, and get and patch of the ConfigMap of the journal",
			LOG_STR("rule", rule), LOG_ERR(&job->err));
		part->told_denied = true;
	} else if (!denied && job->err.kind != ERR_BUSY && !xstris(part->error, job->err.msg)) {
		log_warn(log, "cannot scale the TaskManagers; trying again", LOG_ERR(&job->err));
	}
	xstrset(&part->error, job->err.msg);
}

static void took_failure(struct scale_part *part, const struct scale_job *job, int64_t now_ms)
{
	enum scale_failure failure = job->answer.status == 403   ? SCALE_REFUSED
				     : job->err.kind == ERR_BUSY ? SCALE_CONFLICT
								 : SCALE_FAILED;

	scale_failed(&part->scale, failure, job->answer.retry_after_ms, now_ms);
	tell_failure(part, job, now_ms);
}

static void took_set(struct scale_part *part, const struct scale_job *job, int64_t now_ms)
{
	log_info(part->driver->log,
		 job->replicas ? "scaled the TaskManagers up: the job is to run"
			       : "scaled the TaskManagers to 0: the application is parked",
		 LOG_STR("deployment", setup_of(part)->scale),
		 LOG_I64("from", part->scale.replicas), LOG_I64("to", job->replicas));
	scale_was_set(&part->scale, job->replicas, now_ms);
}

static void took_look(struct scale_part *part, struct scale_job *job, int64_t now_ms)
{
	bool contested = part->scale.contested;

	kube_scale_release(&part->there);
	part->there = job->there;
	job->there = (struct kube_scale){0};
	scale_looked(&part->scale, part->there.replicas, job->recorded, now_ms);
	if (part->scale.contested && !contested)
		log_warn(
			part->driver->log,
			"the TaskManagers were scaled up by others several times; drey leaves their number alone until the next launch",
			LOG_STR("deployment", setup_of(part)->scale),
			LOG_I64("replicas", part->there.replicas));
}

static void scale_took(struct scale_part *part, struct scale_job *job)
{
	int64_t now_ms = clock_mono_ms();

	if (job->result < 0) {
		took_failure(part, job, now_ms);
		return;
	}
	xstrset(&part->error, NULL);
	part->told_denied = false;
	switch (job->act) {
	case SCALE_LOOK:
		took_look(part, job, now_ms);
		break;
	case SCALE_RECORD:
		scale_recorded(&part->scale, job->replicas);
		break;
	case SCALE_FORGET:
		scale_forgotten(&part->scale);
		break;
	case SCALE_SET:
		took_set(part, job, now_ms);
		break;
	case SCALE_NOTHING:
		break;
	}
}

static void scale_part_stepped(struct driver *driver);

static void scale_done(void *arg, bool ran)
{
	struct scale_job *job = arg;
	struct scale_part *part = job->part;

	part->scale.busy = false;
	if (ran && !part->driver->closing) {
		scale_took(part, job);
		scale_part_stepped(part->driver);
		driver_again(part->driver);
	}
	scale_job_free(job);
}

/* ---- what to do next ---- */

static void scale_submit(struct scale_part *part, const struct scale_step *step)
{
	struct scale_job *job = xcalloc(1, sizeof(*job));

	job->part = part;
	job->act = step->act;
	job->replicas = step->replicas;
	if (step->act != SCALE_LOOK && part->there.uid)
		job->there = (struct kube_scale){
			.uid = xstrdup(part->there.uid),
			.resource_version = xstrdup(part->there.resource_version),
			.replicas = part->there.replicas,
		};
	job->answer.retry_after_ms = -1;
	scale_begins(&part->scale);
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
	scale_stepped(&part->scale, &part->config, driver->life.phase,
		      journal->outcome.kind == OUTCOME_FINISHED ? journal->outcome.unix_ms : 0,
		      now_ms, clock_unix_ms());
	step = scale_next(&part->scale, now_ms);
	if (step.act != SCALE_NOTHING)
		scale_submit(part, &step);
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

	if (!part || type != GATE_EXIT || driver->life.fenced ||
	    driver->life.phase != PHASE_FINISHED)
		return GATE_OPEN;
	if (!part->exit_end_ms) {
		part->exit_end_ms = clock_mono_ms() + EXIT_MS;
		scale_part_stepped(driver); /* this step has come to Finished */
	}
	if (clock_mono_ms() >= part->exit_end_ms || part->scale.goal != SCALE_DOWN ||
	    (part->scale.known && part->scale.replicas == 0))
		return GATE_OPEN;
	if (!part->scale.busy && !loop_timer_armed(part->timer))
		loop_timer_set(part->timer, part->exit_end_ms - clock_mono_ms());
	return gate_waits(gate, "the TaskManagers to be scaled to 0", part->exit_end_ms);
}

/* ---- begin and end ---- */

static void scale_status(const struct driver *driver, struct json *document)
{
	const struct scale_part *part = driver->scale;
	struct json *to;

	if (!part) {
		json_add_null(document, "scale");
		return;
	}
	to = json_add_object(document, "scale");
	json_add_str(to, "deployment", setup_of(part)->scale);
	json_add_str(to, "goal", scale_goal_name(part->scale.goal));
	json_add_known(to, "replicas", part->scale.known ? part->scale.replicas : -1, 0);
	json_add_known(to, "recorded", part->scale.recorded, 1);
	json_add_bool(to, "contested", part->scale.contested);
	json_add_str(to, "error", part->error);
}

static int scale_open(struct driver *driver, struct err *err)
{
	const struct setup *setup = driver->setup;
	struct scale_part *part;

	(void)err;
	if (!setup->kube.on || !setup->kube.scale)
		return 0;
	driver->scale = part = xcalloc(1, sizeof(*part));
	part->driver = driver;
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
	kube_scale_release(&part->there);
	free(part->error);
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
