#include "kube/workload_pods.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kube/kube_call.h"
#include "kube/kube_list.h"

#define POD_API    "/api/v1"
#define PODS_LIMIT 50
#define PODS_MAX   1000
#define PODS_BYTES (16u << 20)

/* "a=b,c=d"; NULL: it selects nothing, or by expressions. The caller frees. */
static char *selector_of(const struct json *object)
{
	const struct json *selector = json_get(json_get(object, "spec"), "selector"), *each;
	cleanup_buf struct buf text = BUF_INIT;

	if (json_len(json_get(selector, "matchExpressions")))
		return NULL;
	json_each (each, json_get(selector, "matchLabels")) {
		if (!json_text(each))
			return NULL;
		buf_addf(&text, "%s%s=%s", text.len_bytes ? "," : "", json_name(each),
			 json_text(each));
	}
	return text.len_bytes ? buf_steal(&text) : NULL;
}

static int take_pod(void *ctx, const struct json *item, struct err *err)
{
	(void)err;
	json_add(ctx, NULL, json_copy(item));
	return 0;
}

static int list_pods(struct kube *kube, const struct json *object, struct json *pods,
		     struct err *err)
{
	cleanup_free char *collection = kube_call_collection(POD_API, kube_namespace(kube), "pods");
	cleanup_free char *selector = selector_of(object);
	struct kube_list list = {.collection = collection,
				 .kind = "PodList",
				 .label_selector = selector,
				 .limit = PODS_LIMIT,
				 .max_items = PODS_MAX,
				 .max_bytes = PODS_BYTES};

	if (!selector)
		return err_set(err, ERR_FORMAT, 0, "its selector has no labels, or expressions");
	return kube_list(kube, &list, take_pod, pods, err);
}

int workload_pods(struct kube *kube, enum workload_kind kind, const char *name,
		  struct json **ret_object, struct json **ret_pods, struct err *err)
{
	cleanup_json struct json *object = NULL, *pods = json_array();

	if (workload_get_object(kube, kind, name, &object, err) < 0 ||
	    list_pods(kube, object, pods, err) < 0)
		return -1;
	*ret_object = object;
	*ret_pods = pods;
	object = pods = NULL;
	return 0;
}
