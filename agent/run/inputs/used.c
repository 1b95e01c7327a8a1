/*
 * The second memory of restore orders: a token that was carried out is written to the object that has the
 * order, as an annotation. What was seen of the control inputs lies beside the journal and is lost with it;
 * then the object still says that this order is none any more (core/desired.h).
 *
 * After the journal has it, never before. What could not be written is written at one of the next steps; an
 * agent that ends in between leaves it to the next one, because it is compared and not remembered. Without the
 * right to it drey works on, and asks a person when the journal is lost.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/desired.h"
#include "kube/configmap.h"
#include "kube/flinkapp.h"
#include "kube/kube_lane.h"
#include "run/driver_internal.h"
#include "run/part.h"

#define RETRY_MS    30000
#define DENIED_MS   300000
#define PATIENCE_MS 1000 /* kube_stop() ends a call within 100 ms */

struct used {
	struct driver *driver;
	struct kube_lane kube; /* opened when there is something to be written */
	bool writing, told_denied;
	char *written[CONTROL_OBJECTS]; /* the token that was written last */
	int64_t not_before_ms;
};

struct used_job {
	struct used *used;
	enum control_object object;
	char *token, *list;
	int result;
	struct err err;
};

static const char *name_of(const struct used *used, enum control_object object)
{
	const struct setup_kube *kube = &used->driver->setup->kube;

	return object == CONTROL_OBJECT_MAP ? kube->control : kube->resource;
}

static void used_work(void *arg)
{
	struct used_job *job = arg;
	const char *name = name_of(job->used, job->object);
	cleanup_json struct json *patch = json_object();

	json_add_str(json_add_object(json_add_object(patch, "metadata"), "annotations"),
		     DESIRED_USED_ANNOTATION, job->list);
	job->result =
		job->object == CONTROL_OBJECT_MAP
			? configmap_patch(job->used->kube.kube, name, patch, NULL, NULL, &job->err)
			: flinkapp_patch(job->used->kube.kube, name, patch, &job->err);
}

static void tell(struct used *used, const struct used_job *job)
{
	struct log *log = used->driver->log;
	bool denied = job->err.kind == ERR_DENIED;

	used->not_before_ms = clock_mono_ms() + (denied ? DENIED_MS : RETRY_MS);
	if (denied && used->told_denied)
		return;
	used->told_denied |= denied;
	log_warn(log,
		 denied ? "access denied: cannot annotate the object that contains the restore "
			  "request; if the journal is lost, drey will ask whether the request is "
			  "meant; add the verb patch to the Role"
			: "the restore request is not yet marked as carried out on its object",
		 LOG_STR("object", name_of(used, job->object)), LOG_ERR(&job->err));
}

static void used_done(void *arg, bool ran)
{
	struct used_job *job = arg;
	struct used *used = job->used;

	used->writing = false;
	if (ran && job->result == 0)
		xstrset(&used->written[job->object], job->token);
	else if (ran && !used->driver->closing)
		tell(used, job);
	free(job->token);
	free(job->list);
	free(job);
}

/* The token that the object should have in its list; NULL = it has it, or there is none. */
static const char *missing(const struct used *used, enum control_object object,
			   const struct desired *desired)
{
	const char *token = desired ? desired->restore.token : NULL;

	if (!token || desired->restore.kind == RESTORE_NONE || desired_is_used(desired) ||
	    !journal_is_consumed(&used->driver->life.journal, token) ||
	    xstrsame(token, used->written[object]))
		return NULL;
	return token;
}

static void submit(struct used *used, enum control_object object, const struct desired *desired,
		   const char *token)
{
	struct used_job *job;

	job = xcalloc(1, sizeof(*job));
	*job = (struct used_job){.used = used, .object = object, .token = xstrdup(token)};
	job->list = desired_used_add(desired->used, token);
	used->writing = true;
	lane_submit(used->kube.lane, used_work, used_done, job);
}

static void used_stepped(struct driver *driver)
{
	struct used *used = driver->used;
	const struct lifecycle *life = &driver->life;

	if (!used || used->writing || driver->closing || !driver->alive || life->fenced ||
	    driver_in_shadow(driver) || life->journal_broken || !lifecycle_is_durable(life) ||
	    clock_mono_ms() < used->not_before_ms)
		return;
	for (int i = 0; i < CONTROL_OBJECTS && !used->writing; i++) {
		enum control_object object = (enum control_object)i;
		const struct desired *desired = driver_directory_desired(driver, object);
		const char *token = missing(used, object, desired);

		if (token)
			submit(used, object, desired, token);
	}
}

static int used_open(struct driver *driver, struct err *err)
{
	const struct setup_kube *kube = &driver->setup->kube;

	(void)err;
	if (!kube->on || (!kube->control && !kube->resource))
		return 0;
	driver->used = xcalloc(1, sizeof(*driver->used));
	driver->used->driver = driver;
	driver->used->kube = kube_lane_open(driver->workers, kube->client, "drey-used");
	return 0;
}

static void used_close(struct driver *driver)
{
	struct used *used = driver->used;
	bool ended;

	if (!used)
		return;
	kube_lane_stop(&used->kube);
	ended = kube_lane_close(&used->kube, PATIENCE_MS);
	driver->used = NULL;
	if (!ended) /* what hangs still uses the rest */
		return;
	for (int i = 0; i < CONTROL_OBJECTS; i++)
		free(used->written[i]);
	free(used);
}

const struct part part_used = {
	.name = "used",
	.open = used_open,
	.stepped = used_stepped,
	.close = used_close,
};
