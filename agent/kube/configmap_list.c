/* More than one ConfigMap: a list, and many by name. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/configmap.h"
#include "kube/kube_call.h"
#include "kube/kube_list.h"

struct decoding {
	struct configmap *maps;
	size_t count;
};

static int decode_one(void *ctx, const struct json *item, struct err *err)
{
	struct decoding *decoding = ctx;

	decoding->maps =
		xreallocarray(decoding->maps, decoding->count + 1, sizeof(*decoding->maps));
	decoding->maps[decoding->count] = (struct configmap){0};
	if (configmap_decode(item, NULL, &decoding->maps[decoding->count], err) < 0)
		return err_wrap(err, "list ConfigMaps");
	decoding->count++;
	return 0;
}

int configmap_list(struct kube *kube, const char *label_selector,
		   int (*each)(void *ctx, const struct configmap *map, struct err *err), void *ctx,
		   struct err *err)
{
	cleanup_free char *collection = configmap_collection(kube_namespace(kube));
	struct kube_list list = {.collection = collection,
				 .kind = "ConfigMapList",
				 .label_selector = label_selector,
				 .limit = CONFIGMAP_LIST_LIMIT,
				 .max_items = CONFIGMAP_LIST_MAX,
				 .max_bytes = CONFIGMAP_LIST_MAX_BYTES};
	struct decoding decoding = {0};
	int rc = kube_list(kube, &list, decode_one, &decoding, err);

	for (size_t i = 0; i < decoding.count; i++) {
		if (!rc)
			rc = each(ctx, &decoding.maps[i], err) < 0 ? -1 : 0;
		configmap_release(&decoding.maps[i]);
	}
	free(decoding.maps);
	return rc;
}

/* ---- by name ---- */

struct by_name {
	const char *const *names, *const *paths;
	int (*each)(void *ctx, size_t index, struct configmap *map, const struct err *why,
		    struct err *err);
	void *ctx;
};

static int take_one(void *ctx, size_t index, struct kube_answer *answer, const struct err *why,
		    struct err *err)
{
	struct by_name *by_name = ctx;
	cleanup_configmap struct configmap map = {0};
	struct err wrong = {0};

	if (!why && configmap_decode(answer->object, by_name->names[index], &map, &wrong)) {
		err_wrap(&wrong, "GET %s: the answer", by_name->paths[index]);
		why = &wrong;
	}
	return by_name->each(by_name->ctx, index, why ? NULL : &map, why, err);
}

int configmap_get_many(struct kube *kube, const char *const *names, size_t count,
		       int (*each)(void *ctx, size_t index, struct configmap *map,
				   const struct err *why, struct err *err),
		       void *ctx, struct err *err)
{
	char **paths = xcalloc(count + 1, sizeof(*paths));
	struct by_name by_name = {names, (const char *const *)paths, each, ctx};
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		paths[i] = kube_call_path(kube, CONFIGMAP_API, CONFIGMAP_KINDS, names[i], "", err);
		rc = paths[i] ? 0 : -1;
	}
	if (!rc)
		rc = kube_get_many(kube, by_name.paths, count, 0, take_one, &by_name, err);
	for (size_t i = 0; i < count; i++)
		free(paths[i]);
	free(paths);
	return rc;
}
