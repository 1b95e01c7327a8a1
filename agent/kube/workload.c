#include "kube/workload.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *const kinds[] = {"Deployment", "Job"};

_Static_assert(WORKLOAD_DEPLOYMENT == 0 && WORKLOAD_JOB == 1, "order of kinds");

void workload_release(struct workload *workload)
{
	free(workload->uid);
	free(workload->generation);
	*workload = (struct workload){0};
}

/* Of what has metadata; NULL: it does not say. */
static const char *annotated(const struct json *object)
{
	return json_str(json_get(json_get(object, "metadata"), "annotations"), WORKLOAD_GENERATION);
}

/* The pods are what counts. */
static const char *generation_of(const struct json *object)
{
	const char *pods = annotated(json_get(json_get(object, "spec"), "template"));

	return pods ? pods : annotated(object);
}

int workload_decode(const struct json *object, enum workload_kind kind, const char *name,
		    struct workload *ret, struct err *err)
{
	const struct json *metadata, *spec;
	const char *got, *uid, *generation = generation_of(object);
	int64_t replicas = 1;
	bool suspended = false;

	if (json_need_str(object, "kind", &got, err) < 0)
		return -1;
	if (strcmp(got, kinds[kind]) != 0)
		return err_set(err, ERR_FORMAT, 0, "a %.64s instead of a %s", got, kinds[kind]);
	if (json_need_object(object, "metadata", &metadata, err) < 0 ||
	    json_need_object(object, "spec", &spec, err) < 0 ||
	    json_need_str(metadata, "name", &got, err) < 0 ||
	    json_need_str(metadata, "uid", &uid, err) < 0 ||
	    json_opt_i64(spec, "replicas", &replicas, err) < 0 ||
	    json_opt_bool(spec, "suspend", &suspended, err) < 0)
		return -1;
	if (strcmp(got, name) != 0)
		return err_set(err, ERR_FORMAT, 0, "it is about '%.64s'", got);
	*ret = (struct workload){
		.uid = xstrdup(uid),
		.deleting = json_str(metadata, "deletionTimestamp") != NULL,
		.suspended = suspended,
		.replicas = replicas,
		.generation = xstrdup(generation),
	};
	return 0;
}

int workload_get(struct kube *kube, enum workload_kind kind, const char *name, int64_t timeout_ms,
		 struct workload *ret, struct err *err)
{
	cleanup_free char *path = NULL;
	struct kube_request request = {.timeout_ms = timeout_ms};
	struct kube_answer answer = {0};
	int rc;

	if (kube_check_name(name, err) < 0)
		return -1;
	path = kind == WORKLOAD_JOB ? xasprintf("/apis/batch/v1/namespaces/%s/jobs/%s",
						kube_namespace(kube), name)
				    : xasprintf("/apis/apps/v1/namespaces/%s/deployments/%s",
						kube_namespace(kube), name);
	request.path = path;
	rc = kube_do(kube, &request, &answer, err);
	if (rc == 0 && workload_decode(answer.object, kind, name, ret, err) < 0)
		rc = err_wrap(err, "GET %s: the answer", path);
	kube_answer_release(&answer);
	return rc;
}
