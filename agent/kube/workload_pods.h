/*
 * workload_pods - a Deployment or Job as the API server gives it, and its Pods: for people who want to know why nothing runs.
 * It blocks: for lanes and commands.
 *
 * Source: k8s.io/api apps/v1 Deployment, batch/v1 Job (spec.selector), core/v1 Pod.
 */
#ifndef DREY_KUBE_WORKLOAD_PODS_H
#define DREY_KUBE_WORKLOAD_PODS_H

#include "kube/workload.h"

/*
 * *ret_object is the object, *ret_pods an array of the Pods that its selector names; the caller frees both. Errors are those of
 * kube_do(); ERR_ABSENT: there is no workload of that name. The Pods are only those of its own labels: a selector with
 * expressions is ERR_FORMAT.
 */
int workload_pods(struct kube *kube, enum workload_kind kind, const char *name,
		  struct json **ret_object, struct json **ret_pods, struct err *err);

#endif
