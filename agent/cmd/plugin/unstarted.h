/*
 * unstarted - why no Pod of an application runs drey, in the words of Kubernetes: what its Deployment or Job and its Pods say.
 * Before the first start there is no journal that could say anything; a Pod that cannot start writes none. Pure.
 *
 * Life cycle: unstarted_read() -> unstarted_release().
 *
 * Source: Kubernetes API, core/v1 PodStatus and ContainerStatus, apps/v1 DeploymentStatus.
 */
#ifndef DREY_CMD_UNSTARTED_H
#define DREY_CMD_UNSTARTED_H

#include "base/json.h"

struct unstarted {
	char *word; /* of Kubernetes: "ImagePullBackOff", "Unschedulable", "OOMKilled"; owned */
	char *text; /* one sentence without a full stop; owned */
};

/*
 * Of the object of the workload, as the API server gives it (NULL: there is none), and the list of its Pods. The newest Pod
 * counts. One whose containers run has the word "Running"; a workload that wants no Pod "ScaledToZero".
 */
void unstarted_read(const struct json *workload, const struct json *pods, struct unstarted *ret);
void unstarted_release(struct unstarted *unstarted); /* zeroed is allowed */

#endif
