/* plugin_unstarted - why an application has no journal yet, from its Deployment or Job and its Pods (unstarted.h). */
#ifndef DREY_CMD_PLUGIN_UNSTARTED_H
#define DREY_CMD_PLUGIN_UNSTARTED_H

#include <stdbool.h>

#include "cmd/plugin/fleet.h"
#include "cmd/plugin/unstarted.h"
#include "kube/kube_client.h"

struct config;

/* Its journal would be a ConfigMap, so that the lack of one says something: a file in a Pod (kubernetes.journal: none) is not seen. */
bool plugin_unstarted_can_tell(const struct config *config);

/* In the namespace of the target. The caller releases. Errors are those of workload_pods(), but for ERR_ABSENT, which is an
 * answer; ERR_CONFIG: the configuration does not name a Deployment or Job, or it cannot tell. */
int plugin_unstarted_read(const struct kube_target *target, const struct config *config,
			  struct unstarted *ret, struct err *err);

/*
 * Add the applications of the chart's ConfigMaps of which the fleet knows nothing, each with why it has not started. `namespace`
 * NULL: of all. What cannot be read of one is its reason. -1: the ConfigMaps cannot be listed.
 */
int plugin_unstarted_list(const struct kube_target *target, const char *namespace,
			  struct fleet *fleet, struct err *err);

#endif
