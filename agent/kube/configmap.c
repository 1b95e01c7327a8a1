#include "kube/configmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "kube/kube_call.h"

void configmap_release(struct configmap *map)
{
	free(map->name);
	free(map->uid);
	free(map->resource_version);
	json_free(map->data);
	json_free(map->annotations);
	json_free(map->labels);
	json_free(map->owners);
	*map = (struct configmap){0};
}

const char *configmap_value(const struct configmap *map, const char *key)
{
	return json_str(map->data, key);
}

/* ---- decode ---- */

/* A copy of the member, which is an object of strings, or absent. */
static int take_strings(const struct json *from, const char *key, struct json **ret,
			struct err *err)
{
	const struct json *found = NULL, *child;

	if (json_opt_object(from, key, &found, err) < 0)
		return -1;
	json_each (child, found)
		if (!json_text(child))
			return err_set(err, ERR_FORMAT, 0, "'%s': '%.100s' is not a string", key,
				       json_name(child));
	*ret = found ? json_copy(found) : NULL;
	return 0;
}

/* The API server dates what each writer has changed last. */
static int64_t last_change(const struct json *metadata)
{
	const struct json *item;
	int64_t last_unix_ms = -1;

	json_each (item, json_get(metadata, "managedFields")) {
		const char *text = json_str(item, "time");
		int64_t unix_ms = -1;

		if (text && clock_parse_rfc3339(text, &unix_ms, NULL) == 0 &&
		    unix_ms > last_unix_ms)
			last_unix_ms = unix_ms;
	}
	return last_unix_ms;
}

bool configmap_was_applied(const struct json *metadata)
{
	const struct json *item;

	json_each (item, json_get(metadata, "managedFields"))
		if (xstris(json_str(item, "manager"), CONFIGMAP_MANAGER) &&
		    xstris(json_str(item, "operation"), "Apply"))
			return true;
	return false;
}

static int decode_metadata(const struct json *object, struct configmap *map, struct err *err)
{
	const struct json *metadata, *owners = NULL;
	const char *name, *uid, *version, *created, *deleted = NULL;

	if (json_need_object(object, "metadata", &metadata, err) ||
	    json_need_str(metadata, "name", &name, err) ||
	    json_need_str(metadata, "uid", &uid, err) ||
	    json_need_str(metadata, "resourceVersion", &version, err) ||
	    json_opt_str(metadata, "deletionTimestamp", &deleted, err) < 0 ||
	    json_opt_array(metadata, "ownerReferences", &owners, err) < 0 ||
	    take_strings(metadata, "labels", &map->labels, err) ||
	    take_strings(metadata, "annotations", &map->annotations, err))
		return -1;
	map->name = xstrdup(name);
	map->uid = xstrdup(uid);
	map->resource_version = xstrdup(version);
	map->owners = owners ? json_copy(owners) : NULL;
	map->deleting = deleted;
	map->created_unix_ms = -1;
	created = json_str(metadata, "creationTimestamp");
	if (created)
		clock_parse_rfc3339(created, &map->created_unix_ms, NULL);
	map->changed_unix_ms = last_change(metadata);
	map->applied = configmap_was_applied(metadata);
	return 0;
}

static int decode_configmap(const struct json *object, const char *name, struct configmap *map,
			    struct err *err)
{
	const char *kind = json_str(object, "kind");

	/* the elements of a list have no kind */
	if (kind && strcmp(kind, "ConfigMap") != 0)
		return err_set(err, ERR_FORMAT, 0, "not a ConfigMap but a %.60s", kind);
	if (decode_metadata(object, map, err))
		return -1;
	if (name && strcmp(map->name, name) != 0)
		return err_set(err, ERR_FORMAT, 0, "it is another ConfigMap, '%.100s'", map->name);
	if (take_strings(object, "data", &map->data, err))
		return -1;
	if (!map->data)
		map->data = json_object();
	map->immutable = json_bool_or(object, "immutable", false);
	return 0;
}

int configmap_decode(const struct json *object, const char *name, struct configmap *ret,
		     struct err *err)
{
	struct configmap map = {0};

	if (decode_configmap(object, name, &map, err)) {
		configmap_release(&map);
		return -1;
	}
	*ret = map;
	return 0;
}

/* ---- encode ---- */

static void add_copy(struct json *object, const char *key, const struct json *value)
{
	if (value)
		json_add(object, key, json_copy(value));
}

static struct json *encode(const struct kube *kube, const struct configmap *map)
{
	struct json *object = json_object(), *metadata;

	json_add_str(object, "apiVersion", "v1");
	json_add_str(object, "kind", "ConfigMap");
	metadata = json_add_object(object, "metadata");
	json_add_str(metadata, "name", map->name);
	json_add_str(metadata, "namespace", kube_namespace(kube));
	add_copy(metadata, "labels", map->labels);
	add_copy(metadata, "annotations", map->annotations);
	add_copy(metadata, "ownerReferences", map->owners);
	add_copy(object, "data", map->data);
	return object;
}

/* ---- calls ---- */

char *configmap_collection(const char *namespace)
{
	return kube_call_collection(CONFIGMAP_API, namespace, CONFIGMAP_KINDS);
}

static char *path_with(const struct kube *kube, const char *name, const char *rest, struct err *err)
{
	return kube_call_path(kube, CONFIGMAP_API, CONFIGMAP_KINDS, name, rest, err);
}

static char *path_of(const struct kube *kube, const char *name, struct err *err)
{
	return path_with(kube, name, "", err);
}

/* Send it; the answer is the map of that name (NULL: any). */
static int call(struct kube *kube, const struct kube_request *request, const char *name,
		struct configmap *ret, struct kube_answer *answer, struct err *err)
{
	struct kube_answer got = {0};
	struct configmap map = {0};
	int rc = kube_do(kube, request, &got, err);

	if (!rc && name && configmap_decode(got.object, name, &map, err)) {
		got.maybe_done = request->method;
		rc = err_wrap(err, "%s %s: the answer", request->method ? request->method : "GET",
			      request->path);
	}
	kube_call_tell(&got, answer);
	if (!rc && name && ret)
		*ret = map;
	else
		configmap_release(&map);
	return rc;
}

int configmap_get(struct kube *kube, const char *name, struct configmap *ret,
		  struct kube_answer *answer, struct err *err)
{
	cleanup_free char *path = path_of(kube, name, err);
	struct kube_request request = {.path = path};

	return path ? call(kube, &request, name, ret, answer, err) : -1;
}

int configmap_find(struct kube *kube, const char *name, struct configmap *ret,
		   struct kube_answer *answer, struct err *err)
{
	struct err why = {0};

	if (configmap_get(kube, name, ret, answer, &why) == 0)
		return 1;
	if (why.kind == ERR_ABSENT)
		return 0;
	return err_pass(err, &why);
}

struct json *configmap_labels(const char *application, const char *component)
{
	struct json *labels = json_object();

	json_add_str(labels, "app.kubernetes.io/name", "flink-application");
	json_add_str(labels, "app.kubernetes.io/instance", application);
	json_add_str(labels, "app.kubernetes.io/component", component);
	json_add_str(labels, "app.kubernetes.io/managed-by", "drey");
	return labels;
}

int configmap_create(struct kube *kube, const struct configmap *map, struct configmap *ret,
		     struct kube_answer *answer, struct err *err)
{
	cleanup_free char *path = configmap_collection(kube_namespace(kube));
	cleanup_json struct json *body = NULL;
	struct kube_request request = {.method = "POST", .path = path};

	if (kube_check_name(map->name, err))
		return -1;
	request.body = body = encode(kube, map);
	return call(kube, &request, map->name, ret, answer, err);
}

int configmap_patch(struct kube *kube, const char *name, const struct json *merge_patch,
		    struct configmap *ret, struct kube_answer *answer, struct err *err)
{
	cleanup_free char *path = path_of(kube, name, err);
	bool compared = json_get(json_get(merge_patch, "metadata"), "resourceVersion") != NULL;
	struct kube_request request = {
		.method = "PATCH",
		.path = path,
		.content_type = KUBE_MERGE_PATCH,
		.body = merge_patch,
		.repeatable = !compared,
		.compared = compared,
	};

	return path ? call(kube, &request, name, ret, answer, err) : -1;
}

int configmap_apply(struct kube *kube, const char *name, struct json *metadata,
		    struct configmap *ret, struct kube_answer *answer, struct err *err)
{
	cleanup_free char *path =
		path_with(kube, name, "?fieldManager=" CONFIGMAP_MANAGER "&force=true", err);
	cleanup_json struct json *body = json_object();
	struct kube_request request = {
		.method = "PATCH",
		.path = path,
		.content_type = KUBE_APPLY_PATCH,
		.body = body,
		.compared = true,
	};

	json_add_str(body, "apiVersion", "v1");
	json_add_str(body, "kind", "ConfigMap");
	json_add(body, "metadata", metadata);
	return path ? call(kube, &request, name, ret, answer, err) : -1;
}

int configmap_delete(struct kube *kube, const char *name, const char *uid,
		     const char *resource_version, struct kube_answer *answer, struct err *err)
{
	cleanup_free char *path = path_of(kube, name, err);
	cleanup_json struct json *body = json_object();
	struct kube_request request = {.method = "DELETE", .path = path, .body = body};

	if (!path)
		return -1;
	json_add_str(body, "apiVersion", "v1");
	json_add_str(body, "kind", "DeleteOptions");
	json_add_str(body, "propagationPolicy", "Background");
	if (uid || resource_version) {
		struct json *preconditions = json_add_object(body, "preconditions");

		json_add_str_opt(preconditions, "uid", uid);
		json_add_str_opt(preconditions, "resourceVersion", resource_version);
	}
	return call(kube, &request, NULL, NULL, answer, err);
}
