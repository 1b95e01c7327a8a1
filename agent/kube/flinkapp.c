#include "kube/flinkapp.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kube/kube_call.h"
#include "kube/kube_list.h"

#define API        "/apis/" FLINKAPP_API_VERSION
#define KINDS      "flinkapplications"
#define TIMEOUT_MS 20000
#define MAX_BYTES  (2u << 20)

#define LIST_LIMIT     100
#define LIST_MAX       20000
#define LIST_MAX_BYTES (256u << 20)

void flinkapp_release(struct flinkapp *app)
{
	free(app->name);
	free(app->uid);
	free(app->resource_version);
	json_free(app->spec);
	json_free(app->conditions);
	json_free(app->annotations);
	*app = (struct flinkapp){0};
}

char *flinkapp_collection(const char *namespace)
{
	return kube_call_collection(API, namespace, KINDS);
}

static char *path_of(const struct kube *kube, const char *name, const char *rest, struct err *err)
{
	return kube_call_path(kube, API, KINDS, name, rest, err);
}

static int decode(const struct json *object, const char *name, struct flinkapp *app,
		  struct err *err)
{
	const struct json *conditions = json_get(json_get(object, "status"), "conditions");
	const struct json *metadata, *spec = NULL, *annotations = NULL;
	const char *uid, *version;

	if (kube_call_identify(object, FLINKAPP_KIND, name, &metadata, &uid, err) < 0 ||
	    json_need_str(metadata, "resourceVersion", &version, err) < 0 ||
	    json_need_i64(metadata, "generation", &app->generation, err) < 0 ||
	    json_opt_object(metadata, "annotations", &annotations, err) < 0 ||
	    json_opt_object(object, "spec", &spec, err) < 0)
		return -1;
	if (app->generation < 1)
		return err_set(err, ERR_FORMAT, 0, "'generation' is not a generation");
	app->name = xstrdup(name);
	app->uid = xstrdup(uid);
	app->resource_version = xstrdup(version);
	app->deleting = json_str(metadata, "deletionTimestamp") != NULL;
	app->spec = spec ? json_copy(spec) : NULL;
	app->annotations = annotations ? json_copy(annotations) : NULL;
	if (conditions)
		app->conditions = json_copy(conditions);
	return 0;
}

int flinkapp_decode(const struct json *object, const char *name, struct flinkapp *ret,
		    struct err *err)
{
	struct flinkapp app = {0};

	if (decode(object, name, &app, err) < 0) {
		flinkapp_release(&app);
		return -1;
	}
	*ret = app;
	return 0;
}

/* The object as the API server has it, in *answer. */
static int get_object(struct kube *kube, const char *name, struct kube_answer *answer,
		      char **ret_path, struct err *err)
{
	struct kube_request request = {.timeout_ms = TIMEOUT_MS, .max_bytes = MAX_BYTES};

	request.path = *ret_path = path_of(kube, name, "", err);
	return request.path ? kube_do(kube, &request, answer, err) : -1;
}

int flinkapp_get(struct kube *kube, const char *name, struct flinkapp *ret,
		 struct kube_answer *answer, struct err *err)
{
	cleanup_free char *path = NULL;
	struct kube_answer got = {0};
	int rc = get_object(kube, name, &got, &path, err);

	if (!path)
		return -1;
	if (rc == 0 && flinkapp_decode(got.object, name, ret, err) < 0)
		rc = err_wrap(err, "GET %s: the answer", path);
	kube_call_tell(&got, answer);
	return rc;
}

int flinkapp_get_status(struct kube *kube, const char *name, struct json **ret_status,
			struct kube_answer *answer, struct err *err)
{
	cleanup_free char *path = NULL;
	struct kube_answer got = {0};
	int rc = get_object(kube, name, &got, &path, err);

	if (!path)
		return -1;
	if (rc == 0) {
		const struct json *status = json_get(got.object, "status");

		*ret_status = status ? json_copy(status) : NULL;
	}
	kube_call_tell(&got, answer);
	return rc;
}

int flinkapp_list(struct kube *kube, const char *namespace, bool *ret_unknown,
		  int (*each)(void *ctx, const struct json *item, struct err *err), void *ctx,
		  struct err *err)
{
	cleanup_free char *collection = flinkapp_collection(namespace);
	struct kube_list list = {.collection = collection,
				 .kind = FLINKAPP_KIND "List",
				 .limit = LIST_LIMIT,
				 .max_items = LIST_MAX,
				 .max_bytes = LIST_MAX_BYTES,
				 .unknown = ret_unknown};

	return kube_list(kube, &list, each, ctx, err);
}

int flinkapp_patch(struct kube *kube, const char *name, const struct json *merge_patch,
		   struct err *err)
{
	cleanup_free char *path = path_of(kube, name, "", err);
	struct kube_request request = {
		.method = "PATCH",
		.path = path,
		.content_type = KUBE_MERGE_PATCH,
		.body = merge_patch,
		.timeout_ms = TIMEOUT_MS,
		.max_bytes = MAX_BYTES,
		.repeatable = true,
	};

	return kube_call_send(kube, &request, NULL, err);
}

int flinkapp_apply_status(struct kube *kube, const char *name, const char *uid,
			  const struct json *status, char **ret_version, struct kube_answer *answer,
			  struct err *err)
{
	cleanup_free char *path =
		path_of(kube, name, "/status?fieldManager=" FLINKAPP_MANAGER "&force=true", err);
	cleanup_json struct json *body = json_object();
	struct kube_request request = {
		.method = "PATCH",
		.path = path,
		.content_type = KUBE_APPLY_PATCH,
		.body = body,
		.timeout_ms = TIMEOUT_MS,
		.repeatable = true,
	};
	struct kube_answer got = {0};
	struct json *metadata;
	cleanup_flinkapp struct flinkapp app = {0};
	int rc;

	if (!path)
		return -1;
	json_add_str(body, "apiVersion", FLINKAPP_API_VERSION);
	json_add_str(body, "kind", FLINKAPP_KIND);
	metadata = json_add_object(body, "metadata");
	json_add_str(metadata, "name", name);
	json_add_str_opt(metadata, "uid", uid);
	json_add(body, "status", json_copy(status));
	rc = kube_do(kube, &request, &got, err);
	if (rc == 0 && flinkapp_decode(got.object, name, &app, err) < 0)
		rc = err_wrap(err, "PATCH %s: the answer", path);
	kube_call_tell(&got, answer);
	if (rc < 0)
		return -1;
	*ret_version = app.resource_version;
	app.resource_version = NULL;
	return 0;
}
