#include "run/config/setup_kube.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/handover/handover.h"
#include "core/job_id.h"
#include "entrypoint/link.h"
#include "kube/kube.h"
#include "kube/workload.h"

#define NONE "none"

static const char *variable(const struct kube_world *world, const char *name)
{
	const char *value = world->get(name);

	return value && *value ? value : NULL;
}

/* A KUBECONFIG in the environment may be for something else: it is not used automatically. */
static bool is_enabled(const struct config *config, const struct kube_world *world)
{
	switch (config->kubernetes.enabled) {
	case KUBERNETES_TRUE:
		return true;
	case KUBERNETES_FALSE:
		return false;
	default:
		return config->kubernetes.kubeconfig || variable(world, "KUBERNETES_SERVICE_HOST");
	}
}

/* 1: found; 0: there is none, and none is needed. */
static int find_server(const struct config *config, const struct kube_world *world,
		       struct kube_target *ret_server, struct err *err)
{
	struct err why = {0};

	if (config->kubernetes.target) {
		kube_target_copy(ret_server, config->kubernetes.target);
		return 1;
	}
	if (!is_enabled(config, world))
		return 0;
	if (kube_find(world, config->kubernetes.kubeconfig, ret_server, &why) == 0)
		return 1;
	if (why.kind == ERR_ABSENT && config->kubernetes.enabled == KUBERNETES_AUTO &&
	    !config->kubernetes.kubeconfig)
		return 0; /* a pod without a service account */
	err_pass(err, &why);
	if (why.kind == ERR_ABSENT)
		return err_set(
			err, ERR_CONFIG, 0,
			"kubernetes.enabled is true, but %s; set kubernetes.kubeconfig, or kubernetes.enabled: false",
			why.msg);
	return err_wrap(err,
			config->kubernetes.kubeconfig ? "kubernetes.kubeconfig" : "kubernetes");
}

static int find_namespace(const struct config *config, const struct kube_world *world,
			  struct kube_target *server, struct err *err)
{
	const char *given = config->kubernetes.namespace;

	if (!given && !config->kubernetes.kubeconfig && !config->kubernetes.target)
		given = variable(world, "POD_NAMESPACE");
	if (given)
		xstrset(&server->namespace, given);
	if (!server->namespace)
		return err_set(
			err, ERR_CONFIG, 0,
			"the namespace is unknown: set kubernetes.namespace, or POD_NAMESPACE in the environment of the container");
	return 0;
}

/* The configured name, else <application><suffix>; NULL for "none". */
static char *object_name(const char *configured, const char *application, const char *suffix)
{
	if (configured && !strcmp(configured, NONE))
		return NULL;
	return configured ? xstrdup(configured) : xasprintf("%s%s", application, suffix);
}

/* Only a pod has an owner, unless one is configured. */
static int find_owner(const struct config *config, struct setup_kube *kube, struct err *err)
{
	const char *owner = config->kubernetes.owner;
	const char *name;
	enum workload_kind kind;

	if (!owner) {
		if (kube->pod_name)
			kube->owner = xasprintf("%s-jobmanager", config->application);
		return 0;
	}
	if (!strcmp(owner, NONE))
		return 0;
	if (workload_owner(owner, &kind, &name, err) < 0)
		return -1;
	kube->owner_kind = kind;
	kube->owner = xstrdup(name);
	return 0;
}

static char *find_template(const struct config *config, const struct kube_world *world)
{
	const char *checksum = variable(world, "DREY_CHECKSUM");
	const char *hash = variable(world, "POD_TEMPLATE_HASH");

	return template_text(config->generation, checksum, hash);
}

static void fill(const struct config *config, const struct kube_world *world,
		 struct setup_kube *kube)
{
	const char *application = config->application, *salt = config->kubernetes.salt;

	kube->on = true;
	kube->journal = object_name(config->kubernetes.journal, application, "-drey-journal");
	kube->control = object_name(config->kubernetes.control, application, "-drey-control");
	kube->resource = object_name(config->kubernetes.resource, application, "");
	kube->scale = config->kubernetes.scale;
	kube->scale_count = config->kubernetes.scale_count;
	kube->launches = config->kubernetes.launches;
	if (kube->launches)
		kube->id_space =
			job_id_space(kube->config.namespace, application, salt ? salt : "");
	kube->create_maps = config->kubernetes.create_maps;
	kube->fast_failover = config->kubernetes.fast_failover;
	kube->pod_name = xstrdup(variable(world, "POD_NAME"));
	kube->pod_uid = xstrdup(variable(world, "POD_UID"));
	kube->pod_template = find_template(config, world);
}

static int refuse_same_names(const struct setup_kube *kube, struct err *err)
{
	if (kube->journal && kube->control && !strcmp(kube->journal, kube->control))
		return err_set(
			err, ERR_CONFIG, 0,
			"kubernetes.journal and kubernetes.control are the same ConfigMap '%s'; give them different names",
			kube->journal);
	return 0;
}

/* It belongs to others, or its number could not be recorded. */
static int refuse_scale(const struct setup_kube *kube, struct err *err)
{
	if (!kube->scale_count)
		return 0;
	if (!kube->journal)
		return err_set(
			err, ERR_CONFIG, 0,
			"kubernetes.scale is set, but kubernetes.journal is none, so the number of TaskManagers could not be recorded; name a ConfigMap there, or set kubernetes.scale: none");
	for (size_t i = 0; i < kube->scale_count; i++)
		if (kube->owner && kube->owner_kind == WORKLOAD_DEPLOYMENT &&
		    kube->scale[i].kind == KUBE_SCALE_DEPLOYMENT &&
		    !strcmp(kube->scale[i].name, kube->owner))
			return err_set(
				err, ERR_CONFIG, 0,
				"kubernetes.scale and kubernetes.owner name the same Deployment '%s', so drey would end itself; name only those of the TaskManagers in kubernetes.scale",
				kube->owner);
	return 0;
}

int setup_kube_in(const struct config *config, const struct kube_world *world,
		  struct setup_kube *ret_kube, struct err *err)
{
	struct setup_kube kube = {0};
	int found = find_server(config, world, &kube.config, err);

	if (found > 0 && find_namespace(config, world, &kube.config, err) == 0)
		fill(config, world, &kube);
	if (found < 0 || (found > 0 && !kube.on) || refuse_same_names(&kube, err) < 0 ||
	    (kube.on && (find_owner(config, &kube, err) < 0 || refuse_scale(&kube, err) < 0)) ||
	    (kube.on && !(kube.client = kube_client_new(&kube.config, err)))) {
		setup_kube_release(&kube);
		return -1;
	}
	*ret_kube = kube;
	return 0;
}

int setup_kube(const struct config *config, struct setup_kube *ret_kube, struct err *err)
{
	struct kube_world world = {.get = getenv, .service_account_dir = KUBE_SERVICE_ACCOUNT_DIR};

	/* the agent, and what it starts: nobody sits there who could log in */
	world.person = getenv(LINK_ENV) == NULL;

	return setup_kube_in(config, &world, ret_kube, err);
}

void setup_kube_release(struct setup_kube *kube)
{
	kube_client_free(kube->client);
	kube_target_release(&kube->config);
	free(kube->journal);
	free(kube->control);
	free(kube->resource);
	free(kube->owner);
	free(kube->id_space);
	free(kube->pod_name);
	free(kube->pod_uid);
	free(kube->pod_template);
	*kube = (struct setup_kube){0};
}
