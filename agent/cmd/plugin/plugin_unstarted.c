#include "cmd/plugin/plugin_unstarted.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cmd/plugin/app.h"
#include "cmd/plugin/plugin.h"
#include "kube/kube_list.h"
#include "kube/workload_pods.h"

#define NOT_READ "Unknown" /* instead of a word of Kubernetes */
#define NO_MAP   "none"

bool plugin_unstarted_can_tell(const struct config *config)
{
	return !xstris(config->kubernetes.journal, NO_MAP);
}

int plugin_unstarted_read(const struct kube_target *target, const struct config *config,
			  struct unstarted *ret, struct err *err)
{
	cleanup_json struct json *object = NULL, *pods = NULL;
	cleanup_free char *owner = NULL;
	struct err why = {0};
	enum workload_kind kind;
	struct kube *kube;
	const char *name;
	int rc;

	if (!plugin_unstarted_can_tell(config))
		return err_set(
			err, ERR_CONFIG, 0,
			"its journal is a file in its Pod (kubernetes.journal: none), which cannot be read from here");
	if (app_workload(config, &owner, err) < 0 || workload_owner(owner, &kind, &name, err) < 0)
		return -1;
	kube = kube_new(target, err);
	if (!kube)
		return -1;
	rc = workload_pods(kube, kind, name, &object, &pods, &why);
	kube_free(kube);
	if (rc < 0 && why.kind != ERR_ABSENT) {
		*err = why;
		return err_wrap(err, "%s and its Pods", owner);
	}
	unstarted_read(object, pods, ret);
	return 0;
}

/* ---- the fleet ---- */

/* In another namespace, with a client of its own: there are few of them. */
static void add_one(struct fleet *fleet, const struct kube_target *target, const char *namespace,
		    const struct config *config)
{
	cleanup_kube_target struct kube_target there = {0};
	struct unstarted unstarted = {0};
	struct err err = {0};

	kube_target_copy(&there, target);
	xstrset(&there.namespace, namespace);
	if (plugin_unstarted_read(&there, config, &unstarted, &err) < 0)
		unstarted = (struct unstarted){.word = xstrdup(NOT_READ), .text = xstrdup(err.msg)};
	fleet_add_unstarted(fleet, namespace, config->application, unstarted.word, unstarted.text);
	unstarted_release(&unstarted);
}

struct listing {
	const struct kube_target *target;
	struct fleet *fleet;
};

static int take_map(void *ctx, const struct json *item, struct err *err)
{
	struct listing *listing = ctx;
	const char *namespace = json_str(json_get(item, "metadata"), "namespace");
	const char *yaml = json_str(json_get(item, "data"), APP_KEY);
	const char *name = json_str(json_get(item, "metadata"), "name");
	cleanup_config struct config config = {0};
	struct err why = {0};

	(void)err;
	/* a map without it is not one of the chart */
	if (!namespace || !name || !yaml)
		return 0;
	if (app_read(yaml, &config, &why) < 0) {
		cleanup_free char *text = xasprintf("ConfigMap %s, " APP_KEY ": %s", name, why.msg);

		fleet_add_broken(listing->fleet, namespace, name, text);
		return 0;
	}
	if (!fleet_knows(listing->fleet, namespace, config.application))
		add_one(listing->fleet, listing->target, namespace, &config);
	return 0;
}

int plugin_unstarted_list(const struct kube_target *target, const char *namespace,
			  struct fleet *fleet, struct err *err)
{
	cleanup_free char *collection = configmap_collection(namespace);
	struct kube_list list = {.collection = collection,
				 .kind = "ConfigMapList",
				 .label_selector = PLUGIN_CHART_MAPS,
				 .limit = CONFIGMAP_LIST_LIMIT,
				 .max_items = CONFIGMAP_LIST_MAX,
				 .max_bytes = CONFIGMAP_LIST_MAX_BYTES};
	struct listing listing = {target, fleet};
	struct kube *kube = kube_new(target, err);
	int rc;

	if (!kube)
		return -1;
	rc = kube_list(kube, &list, take_map, &listing, err);
	kube_free(kube);
	return rc;
}
