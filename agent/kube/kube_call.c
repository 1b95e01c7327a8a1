#include "kube/kube_call.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

char *kube_call_collection(const char *api, const char *namespace, const char *kinds)
{
	if (!namespace)
		return xasprintf("%s/%s", api, kinds);
	return xasprintf("%s/namespaces/%s/%s", api, namespace, kinds);
}

char *kube_call_path(const struct kube *kube, const char *api, const char *kinds, const char *name,
		     const char *rest, struct err *err)
{
	if (kube_check_name(name, err))
		return NULL;
	return xasprintf("%s/namespaces/%s/%s/%s%s", api, kube_namespace(kube), kinds, name, rest);
}

int kube_call_send(struct kube *kube, const struct kube_request *request,
		   struct kube_answer *answer, struct err *err)
{
	struct kube_answer got = {0};
	int rc;

	if (!request->path)
		return -1;
	rc = kube_do(kube, request, &got, err);
	kube_call_tell(&got, answer);
	return rc;
}

int kube_call_identify(const struct json *object, const char *kind, const char *name,
		       const struct json **ret_metadata, const char **ret_uid, struct err *err)
{
	const char *got;

	if (json_need_str(object, "kind", &got, err) < 0)
		return -1;
	if (strcmp(got, kind) != 0)
		return err_set(err, ERR_FORMAT, 0, "a %.64s instead of a %s", got, kind);
	if (json_need_object(object, "metadata", ret_metadata, err) < 0 ||
	    json_need_str(*ret_metadata, "name", &got, err) < 0 ||
	    json_need_str(*ret_metadata, "uid", ret_uid, err) < 0)
		return -1;
	if (strcmp(got, name) != 0)
		return err_set(err, ERR_FORMAT, 0, "it is about '%.64s'", got);
	return 0;
}

void kube_call_tell(struct kube_answer *from, struct kube_answer *to)
{
	json_free(from->object);
	from->object = NULL;
	if (to) {
		kube_answer_release(to);
		*to = *from;
	}
	*from = (struct kube_answer){.retry_after_ms = -1};
}
