#include "kube/kube_call.h"

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
