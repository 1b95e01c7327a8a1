#include "run/config/setup_handover.h"

#include <string.h>

#include "base/mem.h"
#include "tap.h"

/* What fits surge, to be spoiled. */
struct world {
	struct config config;
	char *ids[3];
	struct setup_kube kube;
	struct setup_ha ha;
	struct flink_settings settings;
	struct setup_handover handover;
	struct err err;
};

static void begin(struct world *w)
{
	*w = (struct world){0};
	w->config.application = (char *)"orders";
	w->config.generation = (char *)"g17";
	w->config.handover.mode = HANDOVER_SURGE;
	w->config.handover.cluster_ids = w->ids;
	w->ids[0] = (char *)"orders";
	w->ids[1] = (char *)"orders-green";
	w->kube.on = true;
	w->kube.journal = (char *)"orders-drey-journal";
	w->kube.control = (char *)"orders-drey-control";
	w->kube.owner = (char *)"orders-jobmanager";
	w->kube.pod_name = (char *)"orders-0";
	w->kube.pod_uid = (char *)"u-0";
	w->ha.on = true;
	w->ha.cluster_id = w->settings.kubernetes_cluster_id = "orders";
	w->settings.ha_cluster_id = "orders";
}

static int load(struct world *w)
{
	return setup_handover(&w->config, &w->kube, &w->ha, &w->settings, &w->handover, &w->err);
}

static void end(struct world *w)
{
	setup_handover_release(&w->handover);
}

#define WORLD_TEST(name) TEST_WITH(name, struct world, w, begin, end)

WORLD_TEST(surge_has_two_sides_and_a_map_of_the_candidate)
{
	if (!CHECK_INT(load(w), ==, 0))
		tap_note("%s", w->err.msg);
	CHECK(w->handover.on && w->handover.two_sides);
	CHECK_STR(w->handover.cluster_ids[SIDE_BLUE], "orders");
	CHECK_STR(w->handover.cluster_ids[SIDE_GREEN], "orders-green");
	CHECK_STR(w->handover.candidate, "orders-drey-candidate");
}

WORLD_TEST(the_map_of_the_candidate_may_have_another_name)
{
	w->config.handover.candidate = (char *)"next";
	CHECK_INT(load(w), ==, 0);
	CHECK_STR(w->handover.candidate, "next");
}

/* Nothing is asked of an installation that has no hand-overs. */
TEST(without_a_mode_and_ids_there_is_one_side)
{
	static const char *const ids[] = {"orders", NULL};

	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		struct world w = {.ha = {.on = ids[i], .cluster_id = ids[i]}};

		CHECK_INT(load(&w), ==, 0);
		CHECK(!w.handover.on && !w.handover.two_sides && !w.handover.candidate);
		CHECK(w.handover.cluster_ids[SIDE_BLUE] == ids[i]);
		CHECK(!w.handover.cluster_ids[SIDE_GREEN]);
		end(&w);
	}
}

/* The job may have been left on green. */
WORLD_TEST(ids_count_without_a_mode)
{
	w->config.handover.mode = HANDOVER_OFF;
	w->config.generation = NULL;
	w->kube = (struct setup_kube){.on = true};
	CHECK_INT(load(w), ==, 0);
	CHECK(!w->handover.on && w->handover.two_sides && !w->handover.candidate);
	CHECK_STR(w->handover.cluster_ids[SIDE_GREEN], "orders-green");
}

static void refuses(struct world *w, const char *says)
{
	CHECK_INT(load(w), ==, -1);
	CHECK_INT(w->err.kind, ==, ERR_CONFIG);
	CHECK_HAS(w->err.msg, says);
	CHECK(!w->handover.candidate && !w->handover.on);
}

WORLD_TEST(surge_needs_flinks_ha)
{
	w->ha = (struct setup_ha){0};
	refuses(w, "handover.mode is surge, but Flink's HA is off");
	CHECK_HAS(w->err.msg, "set high-availability.type: kubernetes");
}

WORLD_TEST(a_refusal_names_the_mode_that_was_chosen)
{
	w->config.handover.mode = HANDOVER_BLUE_GREEN;
	w->kube.journal = NULL;
	refuses(w, "handover.mode is blueGreen, but kubernetes.journal is none");
}

WORLD_TEST(surge_needs_a_journal_that_both_pods_read)
{
	w->kube.journal = NULL;
	refuses(w, "handover.mode is surge, but kubernetes.journal is none");
}

WORLD_TEST(surge_keeps_the_task_managers)
{
	w->kube.scale_count = 1;
	CHECK_INT(load(w), ==, -1);
	CHECK_HAS(w->err.msg, "kubernetes.scale is set");
	w->config.handover.mode = HANDOVER_NONE;
	CHECK_INT(load(w), ==, 0);
}

WORLD_TEST(surge_needs_a_deployment)
{
	w->kube.owner_kind = WORKLOAD_JOB;
	refuses(w, "handover.mode is surge, but kubernetes.owner is a Job");
	w->kube.owner = NULL;
	w->kube.owner_kind = WORKLOAD_DEPLOYMENT;
	refuses(w, "kubernetes.owner is none, which does not say what pods are wanted now; set it");
}

WORLD_TEST(surge_needs_to_know_the_pod)
{
	w->kube.pod_uid = NULL;
	refuses(w, "POD_UID is not in the environment, which tells this pod from the next one; "
		   "set it from metadata.uid");
	w->kube.pod_name = NULL;
	refuses(w, "POD_NAME is not in the environment, which tells this pod from the next one; "
		   "set it from metadata.name");
}

WORLD_TEST(surge_needs_a_generation_that_can_be_a_part)
{
	w->config.generation = (char *)"a/b";
	refuses(w, "generation 'a/b' contains a '/'");
	w->config.generation = NULL;
	refuses(w, "handover.mode is surge, but generation is not set");
}

WORLD_TEST(two_documents_are_not_in_one_map)
{
	w->config.handover.candidate = (char *)"orders-drey-journal";
	refuses(w, "handover.candidate and kubernetes.journal are the same ConfigMap 'orders-drey");
	w->config.handover.candidate = (char *)"orders-drey-control";
	refuses(w, "handover.candidate and kubernetes.control are the same ConfigMap 'orders-drey");
}

TEST(blue_is_where_the_ha_data_are_already)
{
	for (int mode = HANDOVER_OFF; mode <= HANDOVER_SURGE; mode++) {
		struct world w;

		begin(&w);
		w.config.handover.mode = mode;
		w.ids[0] = (char *)"orders-blue";
		refuses(&w,
			"handover.clusterIds begins with orders-blue, but kubernetes.cluster-id "
			"is orders in Flink's configuration");
		w.ha.cluster_id = w.settings.kubernetes_cluster_id = "orders-blue";
		refuses(&w, "orders-blue, but high-availability.cluster-id is orders in");
		w.settings.ha_cluster_id = "orders-blue";
		CHECK_INT(load(&w), ==, 0);
		end(&w);
	}
}

WORLD_TEST(ids_of_an_ha_that_is_off_are_refused)
{
	w->config.handover.mode = HANDOVER_OFF;
	w->ha = (struct setup_ha){0};
	refuses(w, "handover.clusterIds is set, but Flink's HA is off; remove it");
}
