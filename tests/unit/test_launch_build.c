/* What Flink is started with is what the launch on record says, and nothing else. */
#include "run/effects/launch_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/config/setup_side.h"
#include "tap.h"

#define JOB "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define APP "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb02"

struct rig {
	struct setup setup;
	struct launch launch;
	char *command[5], *environment[3];
};

static void rig_begin(struct rig *rig)
{
	*rig = (struct rig){
		.command = {"java", "-cp", "lib/*",
			    "org.apache.flink.container.entrypoint."
			    "StandaloneApplicationClusterEntryPoint"},
		.environment = {"PATH=/bin", "DREY_SECRET=1"},
		.launch = {.job_id = JOB,
			   .job_result_path = "file:/jrs",
			   .application_id = APP,
			   .application_result_path = "file:/ars",
			   .restore_path = "file:/sp/savepoint-1"},
	};
	rig->setup.config.flink.command = rig->command;
	rig->setup.config.flink.class_archive = "none";
	rig->setup.environment = rig->environment;
	rig->setup.version = (struct flink_version){2, 3, 0};
}

/* Command line and environment, each word between two bars. */
static char *built(const struct rig *rig)
{
	struct flink_exec exec = {0};
	struct buf text = BUF_INIT;
	struct err err = {0};

	if (!CHECK(!launch_build(&rig->setup, &rig->launch, &exec, NULL, &err)))
		tap_note("%s", err.msg);
	for (size_t i = 0; i < exec.argc; i++)
		buf_addf(&text, "|%s", exec.argv[i]);
	for (size_t i = 0; i < exec.envc; i++)
		buf_addf(&text, "|%s", exec.env[i]);
	buf_addch(&text, '|');
	flink_exec_release(&exec);
	return buf_steal(&text);
}

TEST(the_restore_point_on_record_is_the_one_that_flink_gets)
{
	cleanup_free char *from = NULL, *empty = NULL;
	struct rig rig;

	rig_begin(&rig);
	from = built(&rig);
	CHECK_HAS(from, "|--fromSavepoint|file:/sp/savepoint-1|");
	CHECK(!strstr(from, "allowNonRestoredState"));
	rig.launch.restore_path = NULL;
	empty = built(&rig);
	CHECK(!strstr(empty, "fromSavepoint"));
}

TEST(state_is_left_behind_only_with_leave)
{
	cleanup_free char *text = NULL;
	struct rig rig;

	rig_begin(&rig);
	rig.launch.allow_non_restored = true;
	text = built(&rig);
	CHECK_HAS(text, "|--fromSavepoint|file:/sp/savepoint-1|--allowNonRestoredState|");
}

TEST(each_launch_has_ids_and_result_stores_of_its_own)
{
	cleanup_free char *text = NULL, *older = NULL;
	struct rig rig;

	rig_begin(&rig);
	text = built(&rig);
	CHECK_HAS(text, "|--job-id|" JOB "|");
	CHECK_HAS(text, "|job-result-store.storage-path=file:/jrs|");
	CHECK_HAS(text, "|job-result-store.delete-on-commit=false|");
	CHECK_HAS(text, "|$internal.application.id=" APP "|");
	CHECK_HAS(text, "|application-result-store.storage-path=file:/ars|");
	rig.setup.version = (struct flink_version){1, 20, 4};
	older = built(&rig);
	CHECK_HAS(older, "|job-result-store.storage-path=file:/jrs|");
	CHECK(!strstr(older, "application.id"));
	CHECK(!strstr(older, "application-result-store"));
}

TEST(flink_gets_the_environment_that_drey_reads_with)
{
	cleanup_free char *text = NULL;
	struct rig rig;

	rig_begin(&rig);
	text = built(&rig);
	CHECK_HAS(text, "|PATH=/bin|");
	CHECK(!strstr(text, "DREY_SECRET"));
}

TEST(with_ha_the_application_needs_its_id)
{
	struct flink_exec exec = {0};
	struct err err = {0};
	cleanup_free char *text = NULL;
	struct rig rig;

	rig_begin(&rig);
	rig.setup.ha.on = rig.setup.ha.set_rpc_port = true;
	rig.setup.ha.rpc_port = 6123;
	text = built(&rig);
	CHECK_HAS(text, "|high-availability.jobmanager.port=6123|");
	*rig.launch.application_id = '\0';
	CHECK(launch_build(&rig.setup, &rig.launch, &exec, NULL, &err) < 0);
	CHECK_HAS(err.msg, "Flink with HA needs an application id");
}

TEST(with_blue_green_the_job_gets_its_side_and_the_files_of_its_gates)
{
	cleanup_free char *surge = NULL, *gated = NULL, *ungated = NULL;
	struct rig rig;

	rig_begin(&rig);
	rig.setup.ha.on = true;
	rig.setup.config.state_directory = (char *)"/state";
	rig.setup.handover = (struct setup_handover){.two_sides = true,
						     .cluster_ids = {"orders", "orders-green"}};
	rig.launch.ha_cluster_id = (char *)"orders-green";
	rig.setup.config.handover.mode = HANDOVER_SURGE;
	surge = built(&rig);
	CHECK(!strstr(surge, "drey."));
	rig.setup.config.handover.mode = HANDOVER_BLUE_GREEN;
	gated = built(&rig);
	CHECK_HAS(gated, "|drey.side=blue|"); /* wherever its HA maps are */
	rig.launch.output_side = SIDE_GREEN;
	free(gated);
	gated = built(&rig);
	CHECK_HAS(gated, "|drey.side=green|");
	CHECK_HAS(gated, "|drey.gate.directory=/state/gate|");
	rig.setup.config.blue_green.gate = TRANSITION_GATE_NONE;
	ungated = built(&rig);
	CHECK_HAS(ungated, "|drey.side=green|");
	CHECK(!strstr(ungated, "drey.gate"));
}

TEST(gates_of_flip_504_are_told_the_side_of_the_output)
{
	cleanup_free char *text = NULL;
	struct rig rig;

	rig_begin(&rig);
	rig.setup.handover = (struct setup_handover){.two_sides = true,
						     .cluster_ids = {"orders", "orders-green"},
						     .gate_map = (char *)"orders-bluegreen"};
	rig.setup.config.handover.mode = HANDOVER_BLUE_GREEN;
	rig.setup.config.blue_green.gate = TRANSITION_GATE_FLIP;
	rig.launch.ha_cluster_id = (char *)"orders-green";
	CHECK_STR(setup_gate_keys(&rig.setup, rig.launch.output_side).side, "BLUE");
	rig.launch.output_side = SIDE_GREEN;
	rig.launch.ha_cluster_id = (char *)"orders";
	text = built(&rig);
	CHECK_HAS(text, "|bluegreen.active-deployment-type=GREEN|");
	CHECK_HAS(text, "|drey.side=green|");
	rig.setup.handover.gate_map = NULL;
	CHECK_STR(setup_gate_keys(&rig.setup, rig.launch.output_side).side, NULL);
}

TEST(a_job_that_blue_green_has_left_on_green_stays_there_without_it)
{
	cleanup_free char *text = NULL;
	struct rig rig;

	rig_begin(&rig);
	rig.launch.output_side = SIDE_GREEN;
	text = built(&rig);
	CHECK_HAS(text, "|drey.side=green|");
	CHECK(!strstr(text, "drey.gate"));
}

TEST(the_cluster_id_of_the_launch_is_the_one_that_flink_gets)
{
	cleanup_free char *one = NULL, *green = NULL, *unknown = NULL;
	struct rig rig;

	rig_begin(&rig);
	rig.setup.ha.on = true;
	rig.setup.ha.cluster_id = "orders";
	rig.launch.ha_cluster_id = (char *)"orders-green";
	one = built(&rig);
	CHECK(!strstr(one, "cluster-id"));
	rig.setup.handover = (struct setup_handover){.two_sides = true,
						     .cluster_ids = {"orders", "orders-green"}};
	green = built(&rig);
	CHECK_HAS(green, "|kubernetes.cluster-id=orders-green|");
	CHECK_HAS(green, "|high-availability.cluster-id=orders-green|");
	rig.launch.ha_cluster_id = NULL;
	unknown = built(&rig);
	CHECK_HAS(unknown, "|kubernetes.cluster-id=orders|");
}
