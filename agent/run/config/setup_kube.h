/*
 * setup_kube - the section `kubernetes` of drey.yaml, completed: is there a Kubernetes, which of
 * its objects are ours, and which pod is this.
 *
 * Without Kubernetes (turned off, or `auto` outside of a pod and without a kubeconfig) everything
 * else in here is NULL or 0, and no connection is made.
 *
 * The pod is known from the environment, where its manifest puts it (downward API): POD_NAMESPACE,
 * POD_NAME, POD_UID, and for hand-overs POD_TEMPLATE_HASH (the label pod-template-hash) and
 * DREY_CHECKSUM (the annotation checksum/drey). The variables KUBERNETES_SERVICE_HOST and _PORT are in every pod.
 */
#ifndef DREY_RUN_SETUP_KUBE_H
#define DREY_RUN_SETUP_KUBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/kube_client.h"
#include "kube/kube_find.h"
#include "kube/kube_scale.h"
#include "kube/workload.h"
#include "run/config/config.h"

struct setup_kube {
	bool on;
	struct kube_target config;  /* its namespace is set */
	struct kube_client *client; /* for it; NULL = not `on` */
	char *journal;              /* ConfigMap; NULL = journal.json in the state directory */
	char *control;              /* ConfigMap; NULL = none */
	char *resource;             /* FlinkApplication; NULL = none */
	char *owner; /* Deployment or Job that the pod belongs to; NULL = not known */
	enum workload_kind owner_kind;
	int64_t launches; /* 0 = random job ids */
	char *id_space;   /* of the numbered job ids; NULL = they are random */
	bool create_maps; /* false: the chart makes the ConfigMaps of journal, candidate and gates */
	bool fast_failover;
	/* those of the TaskManagers, to be scaled to 0; borrowed */
	const struct kube_scale_target *scale;
	size_t scale_count;       /* 0 = none */
	char *pod_name, *pod_uid; /* NULL = not in a pod, or not given */
	/* of the pod, "GENERATION/CHECKSUM/HASH"; what is not known is empty */
	char *pod_template;
};

/*
 * Strings are borrowed from `config`, which must outlive it. ERR_CONFIG names the key and the
 * remedy: Kubernetes is required and there is none, or two objects would have the same name.
 */
int setup_kube(const struct config *config, struct setup_kube *ret_kube, struct err *err);

/* The same with another environment and service account directory, for tests. */
int setup_kube_in(const struct config *config, const struct kube_world *world,
		  struct setup_kube *ret_kube, struct err *err);

void setup_kube_release(struct setup_kube *kube);
#define cleanup_setup_kube __attribute__((cleanup(setup_kube_release)))

#endif
