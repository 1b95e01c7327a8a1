#include "run/config/setup_kube.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/job_id.h"

#define NONE "none"

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static bool in_pod(void)
{
	return variable("KUBERNETES_SERVICE_HOST") && variable("KUBERNETES_SERVICE_PORT");
}

static int find_out(const struct config *config, bool *ret_on, struct err *err)
{
	const char *kubeconfig = config->kubernetes.kubeconfig;

	if (config->kubernetes.enabled == KUBERNETES_TRUE && !kubeconfig && !in_pod() &&
	    !variable("KUBECONFIG"))
		return err_set(err, ERR_CONFIG, 0,
			       "kubernetes.enabled is true, but this is no pod (there is no "
			       "KUBERNETES_SERVICE_HOST) and no kubeconfig is given; set "
			       "kubernetes.kubeconfig, or kubernetes.enabled: false");
	*ret_on = config->kubernetes.enabled == KUBERNETES_TRUE ||
		  (config->kubernetes.enabled == KUBERNETES_AUTO && (kubeconfig || in_pod()));
	return 0;
}

/* What is configured, else <application><suffix>; NULL for "none". */
static char *object_name(const char *configured, const char *application, const char *suffix)
{
	if (configured && !strcmp(configured, NONE))
		return NULL;
	return configured ? xstrdup(configured) : xasprintf("%s%s", application, suffix);
}

static void fill(const struct config *config, struct setup_kube *kube)
{
	const char *application = config->application, *salt = config->kubernetes.salt;

	kube->on = true;
	kube->kubeconfig = config->kubernetes.kubeconfig;
	kube->namespace = xstrdup(config->kubernetes.namespace ? config->kubernetes.namespace
							       : variable("POD_NAMESPACE"));
	kube->journal = object_name(config->kubernetes.journal, application, "-drey-journal");
	kube->control = object_name(config->kubernetes.control, application, "-drey-control");
	kube->resource = object_name(config->kubernetes.resource, application, "");
	kube->launches = config->kubernetes.launches;
	if (kube->launches && kube->namespace)
		kube->id_space = job_id_space(kube->namespace, application, salt ? salt : "");
	kube->fast_failover = config->kubernetes.fast_failover;
	kube->pod_name = xstrdup(variable("POD_NAME"));
	kube->pod_uid = xstrdup(variable("POD_UID"));
}

int setup_kube(const struct config *config, struct setup_kube *ret_kube, struct err *err)
{
	struct setup_kube kube = {0};
	bool on = false;

	if (find_out(config, &on, err) < 0)
		return -1;
	if (on)
		fill(config, &kube);
	if (kube.journal && kube.control && !strcmp(kube.journal, kube.control)) {
		err_set(err, ERR_CONFIG, 0,
			"kubernetes.journal and kubernetes.control are the same ConfigMap '%s'; "
			"give them different names",
			kube.journal);
		setup_kube_release(&kube);
		return -1;
	}
	*ret_kube = kube;
	return 0;
}

void setup_kube_release(struct setup_kube *kube)
{
	free(kube->namespace);
	free(kube->journal);
	free(kube->control);
	free(kube->resource);
	free(kube->id_space);
	free(kube->pod_name);
	free(kube->pod_uid);
	*kube = (struct setup_kube){0};
}
