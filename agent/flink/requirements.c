#include "flink/requirements.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "flink/rest_call.h"

#define REQUIREMENTS "/jobs/:id/resource-requirements"

/* Flink answers with 500 and these words: any scheduler but the adaptive one (SchedulerNG), and that one in
 * reactive mode (AdaptiveScheduler; 1.18 to 2.3). */
static enum flink_answer requirements_answer(enum flink_answer answer, struct err *err)
{
	if (answer != FLINK_ERROR)
		return answer;
	if (strstr(err->msg, "does not support changing the parallelism without a job restart"))
		err_set(err, ERR_CONFIG, 0,
			"Flink's scheduler cannot change the parallelism of a running job; set jobmanager.scheduler: adaptive in Flink's configuration");
	else if (strstr(err->msg,
			"Cannot change the parallelism of a job running in reactive mode"))
		err_set(err, ERR_CONFIG, 0,
			"in Flink's reactive mode the slots decide: add or remove TaskManagers, or remove scheduler-mode: reactive from Flink's configuration");
	return answer;
}

static int read_bounds(const struct json *doc, struct flink_requirement *to, struct err *err)
{
	const struct json *vertex, *parallelism;

	if (json_need_object(doc, to->id, &vertex, err) < 0 ||
	    json_need_object(vertex, "parallelism", &parallelism, err) < 0 ||
	    json_need_i64(parallelism, "lowerBound", &to->lower, err) < 0 ||
	    json_need_i64(parallelism, "upperBound", &to->upper, err) < 0)
		return -1;
	return 0;
}

static int read_vertex(const struct json *node, struct flink_requirement *to, struct err *err)
{
	const char *id, *name, *group = NULL;

	if (json_need_str(node, "id", &id, err) < 0 || rest_need_id(id, err) < 0 ||
	    json_need_str(node, "name", &name, err) < 0 ||
	    json_need_i64(node, "parallelism", &to->parallelism, err) < 0 ||
	    json_opt_str(node, "slotSharingGroupId", &group, err) < 0)
		return -1;
	to->max_parallelism = json_i64_or(node, "maxParallelism", -1);
	to->id = xstrdup(id);
	to->name = xstrdup(name);
	to->slot_group = xstrdup(group);
	return 0;
}

static int read_requirements(const struct json *job, const struct json *bounds,
			     struct flink_requirements *to, struct err *err)
{
	const struct json *array, *each;

	if (json_need_array(job, "vertices", &array, err) < 0)
		return -1;
	to->list = xcalloc(json_len(array) + 1, sizeof(*to->list));
	json_each (each, array) {
		struct flink_requirement *next = &to->list[to->count++];

		if (read_vertex(each, next, err) < 0 || read_bounds(bounds, next, err) < 0)
			return -1;
	}
	return 0;
}

enum flink_answer flink_rest_requirements(const struct flink_rest *rest, const char *job_id,
					  int64_t timeout_ms,
					  struct flink_requirements *ret_requirements,
					  struct err *err)
{
	cleanup_json struct json *job = NULL, *bounds = NULL;
	struct flink_requirements requirements = {0};
	struct err local = {0};
	enum flink_answer answer;

	err = err ? err : &local;
	answer = rest_get_job(rest, job_id, timeout_ms, &bounds, err, "/resource-requirements");
	if (answer != FLINK_OK)
		return requirements_answer(answer, err);
	answer = rest_get(rest, timeout_ms, &job, err, "/jobs/%s", job_id);
	if (answer != FLINK_OK)
		return answer;
	if (read_requirements(job, bounds, &requirements, err) < 0) {
		flink_requirements_release(&requirements);
		return rest_unexpected(REQUIREMENTS, err);
	}
	*ret_requirements = requirements;
	return FLINK_OK;
}

void flink_requirements_release(struct flink_requirements *requirements)
{
	for (size_t i = 0; i < requirements->count; i++) {
		free(requirements->list[i].id);
		free(requirements->list[i].name);
		free(requirements->list[i].slot_group);
	}
	free(requirements->list);
	*requirements = (struct flink_requirements){0};
}

enum flink_answer flink_rest_set_requirements(const struct flink_rest *rest, const char *job_id,
					      const char *body, int64_t timeout_ms, struct err *err)
{
	cleanup_json struct json *doc = NULL, *asked = NULL;
	cleanup_free char *path = NULL;
	struct err local = {0};

	err = err ? err : &local;
	if (rest_check_id("job", job_id, err) != FLINK_OK)
		return FLINK_ERROR;
	asked = json_parse(body, strlen(body), FLINK_REST_MAX_BYTES, err);
	if (!asked)
		return rest_unexpected(REQUIREMENTS, err);
	path = xasprintf("/jobs/%s/resource-requirements", job_id);
	return requirements_answer(rest_call(rest,
					     &(struct rest_request){.method = "PUT",
								    .path = path,
								    .body = asked,
								    .timeout_ms = timeout_ms},
					     &doc, err),
				   err);
}
