#include "kube/kube_scale.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kube/kube_call.h"

#define TIMEOUT_MS 20000

const char *const kube_scale_kinds[] = {"Deployment", "StatefulSet", NULL};
const char *const kube_scale_resources[] = {"deployments", "statefulsets"};

void kube_scale_release(struct kube_scale *scale)
{
	free(scale->uid);
	free(scale->resource_version);
	*scale = (struct kube_scale){0};
}

int kube_scale_decode(const struct json *object, const char *name, struct kube_scale *ret,
		      struct err *err)
{
	const char *uid, *version;
	const struct json *metadata, *spec;
	int64_t replicas = 0;

	if (kube_call_identify(object, "Scale", name, &metadata, &uid, err) < 0 ||
	    json_need_object(object, "spec", &spec, err) < 0 ||
	    json_need_str(metadata, "resourceVersion", &version, err) < 0 ||
	    json_opt_i64(spec, "replicas", &replicas, err) < 0)
		return -1;
	if (replicas < 0)
		return err_set(err, ERR_FORMAT, 0, "spec.replicas is negative");
	*ret = (struct kube_scale){
		.uid = xstrdup(uid), .resource_version = xstrdup(version), .replicas = replicas};
	return 0;
}

static char *scale_path(const struct kube *kube, const struct kube_scale_target *target,
			const char *rest, struct err *err)
{
	return kube_call_path(kube, "/apis/apps/v1", kube_scale_resources[target->kind],
			      target->name, rest, err);
}

int kube_scale_get(struct kube *kube, const struct kube_scale_target *target,
		   struct kube_scale *ret, struct kube_answer *answer, struct err *err)
{
	cleanup_free char *path = scale_path(kube, target, "/scale", err);
	struct kube_request request = {.path = path, .timeout_ms = TIMEOUT_MS};
	struct kube_answer got = {0};
	int rc;

	if (!path)
		return -1;
	rc = kube_do(kube, &request, &got, err);
	if (rc == 0 && kube_scale_decode(got.object, target->name, ret, err) < 0)
		rc = err_wrap(err, "GET %s: the answer", path);
	kube_call_tell(&got, answer);
	return rc;
}

int kube_scale_set(struct kube *kube, const struct kube_scale_target *target,
		   const struct kube_scale *read, int64_t replicas, struct kube_answer *answer,
		   struct err *err)
{
	cleanup_free char *path = scale_path(kube, target, "/scale?fieldManager=drey", err);
	cleanup_json struct json *body = json_object();
	struct kube_request request = {
		.method = "PATCH",
		.path = path,
		.content_type = KUBE_MERGE_PATCH,
		.body = body,
		.timeout_ms = TIMEOUT_MS,
		.compared = true,
	};
	struct json *metadata;

	if (!path)
		return -1;
	metadata = json_add_object(body, "metadata");
	json_add_str(metadata, "resourceVersion", read->resource_version);
	json_add_str(metadata, "uid", read->uid);
	json_add_i64(json_add_object(body, "spec"), "replicas", replicas);
	return kube_call_send(kube, &request, answer, err);
}
