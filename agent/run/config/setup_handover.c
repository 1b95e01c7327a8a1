#include "run/config/setup_handover.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/handover/gate_kind.h"

/* ERR_CONFIG with the mode, and what is missing for it. */
#define REFUSE(config, err, text, ...)                                                             \
	err_set(err, ERR_CONFIG, 0, "handover.mode is %s, but " text,                              \
		handover_mode_words[(config)->handover.mode], ##__VA_ARGS__)

/* Blue is where the HA data of the application are already. */
static int check_blue(const char *blue, const struct flink_settings *settings, struct err *err)
{
	const struct {
		const char *key, *value;
	} known[] = {
		{"kubernetes.cluster-id", settings->kubernetes_cluster_id},
		{"high-availability.cluster-id", settings->ha_cluster_id},
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (!xstrsame(blue, known[i].value))
			return err_set(
				err, ERR_CONFIG, 0,
				"handover.clusterIds begins with %s, but %s is %s in Flink's configuration, and the HA data of the job are there; set both to the same cluster id",
				blue, known[i].key, known[i].value ? known[i].value : "not set");
	return 0;
}

/* A second pod of the application may be up: what tells the two apart, and keeps them apart? */
static int check_on(const struct config *config, const struct setup_kube *kube,
		    const struct setup_ha *ha, struct err *err)
{
	const char *generation = config->generation;

	if (!ha->on)
		return REFUSE(
			config, err,
			"Flink's HA is off, so nothing would keep two JobManagers and their TaskManagers apart; set high-availability.type: kubernetes in Flink's configuration, or handover.mode: none");
	if (!kube->journal)
		return REFUSE(
			config, err,
			"kubernetes.journal is none, and the next pod cannot read a file in this one; set it to the name of a ConfigMap, or handover.mode: none");
	if (kube->scale_count)
		return REFUSE(
			config, err,
			"kubernetes.scale is set, but a candidate prepares itself with TaskManagers of its own, which the owner would take away; set kubernetes.scale: none, or handover.mode: none");
	if (!kube->pod_name || !kube->pod_uid)
		return REFUSE(
			config, err,
			"%s is not in the environment, which tells this pod from the next one; set it from metadata.%s",
			kube->pod_name ? "POD_UID" : "POD_NAME", kube->pod_name ? "uid" : "name");
	if (!kube->owner || kube->owner_kind == WORKLOAD_JOB)
		return REFUSE(
			config, err,
			"kubernetes.owner is %s, which does not say what pods are wanted now; set it to deployment/NAME, or handover.mode: none",
			kube->owner ? "a Job" : "none");
	if (!generation)
		return REFUSE(
			config, err,
			"generation is not set, which tells this version of the job from the next one; set it to the annotation drey.dev/generation of the pod template");
	if (strchr(generation, '/'))
		return REFUSE(config, err,
			      "generation '%.64s' contains a '/'; use another character",
			      generation);
	return 0;
}

/* `gate_map`: may also be the candidate's, whose name is checked first. */
static int refuse_same_map(const char *what, const char *map, const char *candidate,
			   const struct setup_kube *kube, struct err *err)
{
	const char *key = !map                                    ? NULL
			  : xstrsame(map, kube->journal)          ? "kubernetes.journal"
			  : xstrsame(map, kube->control)          ? "kubernetes.control"
			  : candidate && xstrsame(map, candidate) ? "handover.candidate"
								  : NULL;

	if (!key)
		return 0;
	return err_set(err, ERR_CONFIG, 0,
		       "%s and %s are the same ConfigMap '%s'; give them different names", what,
		       key, map);
}

static int handover_check(const struct config *config, const struct setup_kube *kube,
			  const struct setup_ha *ha, const struct flink_settings *settings,
			  const struct setup_handover *handover, struct err *err)
{
	if (handover->on && check_on(config, kube, ha, err) < 0)
		return -1;
	if (handover->two_sides && !ha->on)
		return err_set(
			err, ERR_CONFIG, 0,
			"handover.clusterIds is set, but Flink's HA is off; remove it, or set high-availability.type: kubernetes in Flink's configuration");
	if (handover->two_sides && check_blue(handover->cluster_ids[SIDE_BLUE], settings, err) < 0)
		return -1;
	if (!handover->on)
		return 0;
	if (refuse_same_map("handover.candidate", handover->candidate, NULL, kube, err) < 0)
		return -1;
	return refuse_same_map("blueGreen.configMap", handover->gate_map, handover->candidate, kube,
			       err);
}

int setup_handover(const struct config *config, const struct setup_kube *kube,
		   const struct setup_ha *ha, const struct flink_settings *settings,
		   struct setup_handover *ret_handover, struct err *err)
{
	char **ids = config->handover.cluster_ids;
	const char *candidate = config->handover.candidate;
	struct setup_handover handover = {
		.on = config->handover.mode != HANDOVER_OFF,
		.two_sides = ids != NULL,
		.cluster_ids = {ids ? ids[0] : ha->cluster_id, ids ? ids[1] : NULL},
	};

	if (handover.on)
		handover.candidate = candidate
					     ? xstrdup(candidate)
					     : xasprintf("%s-drey-candidate", config->application);
	if (config->handover.mode == HANDOVER_BLUE_GREEN)
		handover.shadow = xasprintf("%s-journal", handover.candidate);
	if (config->handover.mode == HANDOVER_BLUE_GREEN &&
	    gate_kind_of((enum transition_gate)config->blue_green.gate)->keys)
		handover.gate_map = config->blue_green.config_map
					    ? xstrdup(config->blue_green.config_map)
					    : xasprintf("%s-bluegreen", config->application);
	if (handover_check(config, kube, ha, settings, &handover, err) < 0) {
		setup_handover_release(&handover);
		return -1;
	}
	*ret_handover = handover;
	return 0;
}

void setup_handover_release(struct setup_handover *handover)
{
	free(handover->candidate);
	free(handover->shadow);
	free(handover->gate_map);
	*handover = (struct setup_handover){0};
}
