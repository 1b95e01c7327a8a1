#include "run/kube/kube_connect.h"

#include "base/mem.h"

struct kube *kube_connect(const struct setup_kube *setup, struct err *err)
{
	cleanup_kube_config struct kube_config config = {0};

	if (kube_config_load(setup->kubeconfig, &config, err) < 0) {
		err_wrap(err, "kubernetes");
		return NULL;
	}
	if (setup->namespace)
		xstrset(&config.namespace, setup->namespace);
	if (!config.namespace) {
		err_set(err, ERR_CONFIG, 0,
			"the namespace is not known: set kubernetes.namespace, or POD_NAMESPACE");
		return NULL;
	}
	return kube_new(&config, err);
}
