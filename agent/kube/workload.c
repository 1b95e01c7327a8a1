#include "kube/workload.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "kube/kube_call.h"

#define TIMEOUT_MS 20000

static const char *const kinds[] = {"Deployment", "Job"};

_Static_assert(WORKLOAD_DEPLOYMENT == 0 && WORKLOAD_JOB == 1, "order of kinds");

int workload_owner(const char *owner, enum workload_kind *ret_kind, const char **ret_name,
		   struct err *err)
{
	static const char *const prefixes[] = {
		[WORKLOAD_DEPLOYMENT] = "deployment/", [WORKLOAD_JOB] = "job/"};

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		const char *name = owner + strlen(prefixes[i]);

		if (strncmp(owner, prefixes[i], strlen(prefixes[i])) != 0 ||
		    kube_check_name(name, NULL))
			continue;
		*ret_kind = (enum workload_kind)i;
		*ret_name = name;
		return 0;
	}
	return err_set(err, ERR_CONFIG, 0,
		       "kubernetes.owner: must be deployment/NAME, job/NAME or none, not '%.64s'",
		       owner);
}

void workload_condition_release(struct workload_condition *condition)
{
	free(condition->status);
	free(condition->reason);
	free(condition->message);
	*condition = (struct workload_condition){0};
}

void workload_release(struct workload *workload)
{
	workload_condition_release(&workload->ready);
	free(workload->uid);
	free(workload->generation);
	free(workload->checksum);
	*workload = (struct workload){0};
}

/* Of what has metadata; NULL: not given. */
static const char *annotated(const struct json *object, const char *key)
{
	return json_str(json_get(json_get(object, "metadata"), "annotations"), key);
}

static const struct json *template_of(const struct json *object)
{
	return json_get(json_get(object, "spec"), "template");
}

/* The pods decide. */
static const char *generation_of(const struct json *object)
{
	const char *pods = annotated(template_of(object), WORKLOAD_GENERATION);

	return pods ? pods : annotated(object, WORKLOAD_GENERATION);
}

/* Our condition among all of them. An invalid entry does not count: it is only replaced. */
static struct workload_condition ready_of(const struct json *object)
{
	const struct json *each, *all = json_get(json_get(object, "status"), "conditions");
	struct workload_condition ready = {0};

	json_each (each, all) {
		const char *type = json_str(each, "type");
		const char *since = json_str(each, "lastTransitionTime");

		if (!type || strcmp(type, WORKLOAD_CONDITION) != 0 || ready.status)
			continue;
		ready.status = xstrdup(json_str(each, "status"));
		ready.reason = xstrdup(json_str(each, "reason"));
		ready.message = xstrdup(json_str(each, "message"));
		if (since)
			(void)clock_parse_rfc3339(since, &ready.since_unix_ms, NULL);
	}
	return ready;
}

static bool has_marked_journal(const struct json *object)
{
	const struct json *each, *all = json_get(json_get(object, "status"), "conditions");

	json_each (each, all)
		if (xstris(json_str(each, "type"), WORKLOAD_JOURNAL_MARKED) &&
		    xstris(json_str(each, "status"), "True"))
			return true;
	return false;
}

/* -1: not given. */
static int64_t creation_of(const struct json *metadata)
{
	const char *text = json_str(metadata, "creationTimestamp");
	int64_t unix_ms = -1;

	if (text)
		(void)clock_parse_rfc3339(text, &unix_ms, NULL);
	return unix_ms;
}

int workload_decode(const struct json *object, enum workload_kind kind, const char *name,
		    struct workload *ret, struct err *err)
{
	const struct json *metadata, *spec;
	const char *uid, *generation = generation_of(object);
	int64_t replicas = 1;
	bool suspended = false;

	if (kube_call_identify(object, kinds[kind], name, &metadata, &uid, err) < 0 ||
	    json_need_object(object, "spec", &spec, err) < 0 ||
	    json_opt_i64(spec, "replicas", &replicas, err) < 0 ||
	    json_opt_bool(spec, "suspend", &suspended, err) < 0)
		return -1;
	*ret = (struct workload){
		.uid = xstrdup(uid),
		.ready = ready_of(object),
		.journal_marked = has_marked_journal(object),
		.created_unix_ms = creation_of(metadata),
		.deleting = json_str(metadata, "deletionTimestamp") != NULL,
		.suspended = suspended,
		.replicas = replicas,
		.generation = xstrdup(generation),
		.checksum = xstrdup(annotated(template_of(object), WORKLOAD_CHECKSUM)),
	};
	return 0;
}

struct workload_wants workload_wants(const struct workload *workload)
{
	if (!workload)
		return (struct workload_wants){0};
	if (workload->deleting || workload->suspended || workload->replicas == 0)
		return (struct workload_wants){.known = true, .none = true};
	return (struct workload_wants){.known = workload->generation != NULL,
				       .generation = workload->generation,
				       .checksum =
					       workload->generation ? workload->checksum : NULL};
}

static char *path_of(const struct kube *kube, enum workload_kind kind, const char *name,
		     const char *rest, struct err *err)
{
	return kind == WORKLOAD_JOB
		       ? kube_call_path(kube, "/apis/batch/v1", "jobs", name, rest, err)
		       : kube_call_path(kube, "/apis/apps/v1", "deployments", name, rest, err);
}

int workload_get(struct kube *kube, enum workload_kind kind, const char *name, int64_t timeout_ms,
		 struct workload *ret, struct kube_answer *answer, struct err *err)
{
	cleanup_free char *path = path_of(kube, kind, name, "", err);
	struct kube_request request = {.path = path, .timeout_ms = timeout_ms};
	struct kube_answer got = {0};
	int rc;

	if (!path)
		return -1;
	rc = kube_do(kube, &request, &got, err);
	if (rc == 0 && workload_decode(got.object, kind, name, ret, err) < 0)
		rc = err_wrap(err, "GET %s: the answer", path);
	kube_call_tell(&got, answer);
	return rc;
}

int workload_get_object(struct kube *kube, enum workload_kind kind, const char *name,
			struct json **ret_object, struct err *err)
{
	cleanup_free char *path = path_of(kube, kind, name, "", err);
	struct kube_request request = {.path = path};
	cleanup_kube_answer struct kube_answer got = {0};

	if (!path || kube_do(kube, &request, &got, err) < 0)
		return -1;
	*ret_object = json_copy(got.object);
	return 0;
}

/* Whole seconds, as Kubernetes writes them. */
static void add_time(struct json *to, const char *key, int64_t unix_ms)
{
	char text[CLOCK_TEXT_BYTES];

	clock_rfc3339(unix_ms, text);
	memcpy(text + strlen("2026-03-01T12:00:00"), "Z", 2);
	json_add_str(to, key, text);
}

static struct json *patch_of(enum workload_kind kind, const char *uid,
			     const struct workload_condition *condition)
{
	struct json *body = json_object(), *one;

	json_add_str(json_add_object(body, "metadata"), "uid", uid);
	one = json_add_object(json_add_array(json_add_object(body, "status"), "conditions"), NULL);
	json_add_str(one, "type", condition->type ? condition->type : WORKLOAD_CONDITION);
	json_add_str(one, "status", condition->status);
	json_add_str(one, "reason", condition->reason);
	json_add_str(one, "message", condition->message);
	add_time(one, "lastTransitionTime", condition->since_unix_ms);
	add_time(one, kind == WORKLOAD_JOB ? "lastProbeTime" : "lastUpdateTime",
		 condition->updated_unix_ms);
	return body;
}

int workload_apply_condition(struct kube *kube, enum workload_kind kind, const char *name,
			     const char *uid, const struct workload_condition *condition,
			     struct kube_answer *answer, struct err *err)
{
	cleanup_free char *path = path_of(kube, kind, name, "/status?fieldManager=drey", err);
	cleanup_json struct json *body = patch_of(kind, uid, condition);
	struct kube_request request = {
		.method = "PATCH",
		.path = path,
		.content_type = KUBE_STRATEGIC_PATCH,
		.body = body,
		.timeout_ms = TIMEOUT_MS,
		.repeatable = true,
	};

	return kube_call_send(kube, &request, answer, err);
}
