#include "run/outputs/scale_batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "kube/configmap.h"
#include "run/outputs/scale_record.h"

struct scale_batch *scale_batch_new(enum scale_act act, const struct kube_scale_target *targets,
				    size_t target_count, const char *journal)
{
	struct scale_batch *batch = xcalloc(1, sizeof(*batch));

	batch->act = act;
	batch->targets = targets;
	batch->target_count = target_count;
	batch->journal = journal;
	batch->tasks = xcalloc(target_count ? target_count : 1, sizeof(*batch->tasks));
	return batch;
}

void scale_batch_free(struct scale_batch *batch)
{
	if (!batch)
		return;
	for (size_t i = 0; i < batch->count; i++)
		kube_scale_release(&batch->tasks[i].there);
	free(batch->tasks);
	free(batch);
}

static const struct kube_scale_target *target_of(const struct scale_batch *batch,
						 const struct scale_task *task)
{
	return &batch->targets[task->index];
}

static void task_note(struct scale_task *task, int result, struct kube_answer *answer,
		      const struct err *err)
{
	task->result = result;
	if (result < 0) {
		task->status = answer->status;
		task->retry_after_ms = answer->retry_after_ms;
		task->err = *err;
	}
	kube_answer_release(answer);
}

static void batch_note(struct scale_batch *batch, int result, struct kube_answer *answer,
		       const struct err *err)
{
	for (size_t i = 0; i < batch->count; i++) {
		struct kube_answer of = {.status = answer->status,
					 .retry_after_ms = answer->retry_after_ms};

		task_note(&batch->tasks[i], result, &of, err);
	}
	kube_answer_release(answer);
}

/* One task after the other; when there is no answer to one, the others are not tried. */
static void do_each(struct scale_batch *batch, struct kube *kube,
		    int (*one)(const struct scale_batch *batch, struct scale_task *task,
			       struct kube *kube, struct kube_answer *answer, struct err *err))
{
	const struct scale_task *silent = NULL;

	for (size_t i = 0; i < batch->count; i++) {
		struct scale_task *task = &batch->tasks[i];
		struct kube_answer answer = {.retry_after_ms = -1};
		struct err err = {0};
		int result = -1;

		if (silent)
			err = silent->err;
		else
			result = one(batch, task, kube, &answer, &err);
		task_note(task, result, &answer, &err);
		if (!silent && result < 0 && !task->status && task->err.kind == ERR_RETRY)
			silent = task;
	}
}

static int get_one(const struct scale_batch *batch, struct scale_task *task, struct kube *kube,
		   struct kube_answer *answer, struct err *err)
{
	return kube_scale_get(kube, target_of(batch, task), &task->there, answer, err);
}

static int set_one(const struct scale_batch *batch, struct scale_task *task, struct kube *kube,
		   struct kube_answer *answer, struct err *err)
{
	return kube_scale_set(kube, target_of(batch, task), &task->there, task->replicas, answer,
			      err);
}

static void read_record(const struct scale_batch *batch, struct scale_task *task,
			const struct configmap *map)
{
	cleanup_free char *key = scale_record_key(target_of(batch, task));
	struct err err = {0};

	if (task->result < 0 || scale_record_read(key, map->data ? configmap_value(map, key) : NULL,
						  task->there.uid, &task->recorded, &err) == 0)
		return;
	/* it matters only where the number is not there */
	task->recorded = SCALE_UNREADABLE;
	if (task->there.replicas > 0)
		return;
	task->result = -1;
	task->err = err;
}

/* -1: it could not be read, and all tasks have failed. There may be none: `map` is empty then. */
static int read_records(struct scale_batch *batch, struct kube *kube, struct configmap *map)
{
	struct kube_answer answer = {.retry_after_ms = -1};
	struct err err = {0};
	int result = configmap_get(kube, batch->journal, map, &answer, &err);

	if (result == 0 || err.kind == ERR_ABSENT) {
		kube_answer_release(&answer);
		return 0;
	}
	batch_note(batch, -1, &answer, &err);
	return -1;
}

static void patch_records(struct scale_batch *batch, struct kube *kube, const struct json *patch)
{
	struct kube_answer answer = {.retry_after_ms = -1};
	struct err err = {0};
	int result = configmap_patch(kube, batch->journal, patch, NULL, &answer, &err);

	batch_note(batch, result, &answer, &err);
}

static void batch_look(struct scale_batch *batch, struct kube *kube)
{
	cleanup_configmap struct configmap map = {0};

	if (read_records(batch, kube, &map) < 0)
		return;
	do_each(batch, kube, get_one);
	for (size_t i = 0; i < batch->count; i++)
		read_record(batch, &batch->tasks[i], &map);
}

static void batch_record(struct scale_batch *batch, struct kube *kube)
{
	cleanup_json struct json *patch = json_object();
	struct json *data = json_add_object(patch, "data");

	for (size_t i = 0; i < batch->count; i++) {
		const struct scale_task *task = &batch->tasks[i];
		cleanup_free char *key = scale_record_key(target_of(batch, task));
		cleanup_free char *text = scale_record_text(task->there.uid, task->replicas);

		json_add_str(data, key, text);
	}
	patch_records(batch, kube, patch);
}

/* Of an object that drey still scales, but not in this batch: it may be at 0. */
static bool is_needed_still(const struct scale_batch *batch, const char *key)
{
	for (size_t i = 0; i < batch->target_count; i++) {
		cleanup_free char *of = scale_record_key(&batch->targets[i]);
		bool now = false;

		for (size_t n = 0; n < batch->count; n++)
			now = now || batch->tasks[n].index == i;
		if (!now && strcmp(of, key) == 0)
			return true;
	}
	return false;
}

/* And those of objects that drey no longer scales: nothing else would ever remove them. */
static void batch_forget(struct scale_batch *batch, struct kube *kube)
{
	cleanup_configmap struct configmap map = {0};
	cleanup_json struct json *patch = json_object();
	struct json *data = json_add_object(patch, "data");
	const struct json *value;
	bool any = false;

	if (read_records(batch, kube, &map) < 0)
		return;
	json_each (value, map.data) {
		const char *key = json_name(value);

		if (strncmp(key, SCALE_RECORD_PREFIX, strlen(SCALE_RECORD_PREFIX)) == 0 &&
		    !is_needed_still(batch, key)) {
			json_add_null(data, key);
			any = true;
		}
	}
	if (any)
		patch_records(batch, kube, patch);
}

void scale_batch_do(struct scale_batch *batch, struct kube *kube)
{
	switch (batch->act) {
	case SCALE_LOOK:
		batch_look(batch, kube);
		break;
	case SCALE_RECORD:
		batch_record(batch, kube);
		break;
	case SCALE_FORGET:
		batch_forget(batch, kube);
		break;
	case SCALE_SET:
		do_each(batch, kube, set_one);
		break;
	case SCALE_NOTHING:
		break;
	}
}
