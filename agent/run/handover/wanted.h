/*
 * wanted - does the Deployment want Pods of this template now? Blocks: for a lane.
 */
#ifndef DREY_RUN_WANTED_H
#define DREY_RUN_WANTED_H

#include "core/handover/handover.h"
#include "kube/kube.h"
#include "run/config/setup.h"

/* A Deployment that is not there, is being deleted or has no replicas wants no template. */
enum wanted handover_wanted(struct kube *kube, const struct setup *setup, const char *template,
			    int64_t timeout_ms);

#endif
