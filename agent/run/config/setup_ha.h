/*
 * setup_ha - Flink's own high availability, according to its configuration: on or off, and if on,
 * whether drey can supervise it. Flink's configuration decides; drey only reads it.
 *
 * Supported is high-availability.type: kubernetes, if drey uses the same Kubernetes. Refused is a
 * configuration that would let two applications share their data, or Flink and drey use different
 * namespaces.
 */
#ifndef DREY_RUN_SETUP_HA_H
#define DREY_RUN_SETUP_HA_H

#include <stdbool.h>

#include "base/err.h"
#include "flink/conf.h"
#include "run/config/config.h"
#include "run/config/setup_kube.h"

#define SETUP_HA_RPC_PORT 6123 /* of the JobManager, if none is configured: a fixed one */

struct setup_ha {
	bool on;
	const char *cluster_id; /* kubernetes.cluster-id; borrowed */
	const char *namespace;  /* where Flink keeps its maps; borrowed */
	int rpc_port;           /* of the JobManager */
	bool set_rpc_port;      /* none is configured: drey sets one */
	/* an address on which the JobManager listens and that no other machine has; NULL = not
	 * known: no fast failover */
	char *home;
	char *why_not_home; /* then */
};

/* Strings are borrowed from all of these. ERR_CONFIG names the key and the remedy. */
int setup_ha(const struct config *config, const struct setup_kube *kube,
	     const struct flink_conf *conf, const struct flink_settings *settings,
	     struct setup_ha *ret_ha, struct err *err);
void setup_ha_release(struct setup_ha *ha);

#endif
