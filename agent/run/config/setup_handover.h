/*
 * setup_handover - the section `handover` of drey.yaml, checked against Flink's own high
 * availability and Kubernetes, and completed.
 *
 * An application has one cluster id of Flink's HA, or two, one for each side (core/handover/side.h).
 * The first of two is the one of Flink's own configuration: there the HA data are that the
 * application had before there were sides, and a reader of Flink's configuration alone finds blue.
 */
#ifndef DREY_RUN_SETUP_HANDOVER_H
#define DREY_RUN_SETUP_HANDOVER_H

#include <stdbool.h>

#include "base/err.h"
#include "core/handover/side.h"
#include "flink/conf.h"
#include "run/config/config.h"
#include "run/config/setup_ha.h"
#include "run/config/setup_kube.h"

struct setup_handover {
	bool on;        /* handover.mode is not none */
	bool two_sides; /* handover.clusterIds is given: drey tells Flink its cluster id */
	/* by side, borrowed; green's is NULL without two_sides, both are without Flink's HA */
	const char *cluster_ids[SIDES];
	char *candidate; /* ConfigMap; NULL = not `on` */
	char *gate_map;  /* ConfigMap of the keys that gates go by; NULL = the job has none */
	char *shadow; /* ConfigMap: the journal of a candidate's job; NULL = the mode is not blueGreen */
};

/* Strings are borrowed from all of these. ERR_CONFIG names the key and the remedy. */
int setup_handover(const struct config *config, const struct setup_kube *kube,
		   const struct setup_ha *ha, const struct flink_settings *settings,
		   struct setup_handover *ret_handover, struct err *err);
void setup_handover_release(struct setup_handover *handover);

#endif
