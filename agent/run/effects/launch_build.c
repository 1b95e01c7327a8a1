#include "run/effects/launch_build.h"

#include "base/mem.h"
#include "flink/held.h"
#include "run/config/setup_side.h"
#include "run/effects/leavings.h"
#include "run/handover/gate_files.h"

/* NULL: Flink has its own configuration's. */
static const char *cluster_id_of(const struct setup *setup, const struct launch *launch)
{
	if (!setup->handover.two_sides)
		return NULL;
	return launch->ha_cluster_id ? launch->ha_cluster_id : setup_cluster_id(setup, SIDE_BLUE);
}

int launch_build(const struct setup *setup, const struct launch *launch,
		 struct flink_exec *ret_exec, struct launch_jvm *ret_jvm, struct err *err)
{
	struct launch_jvm jvm;
	struct flink_launch flink;
	cleanup_free char *tmp_dirs = leavings_tmp_dirs(setup, launch);
	cleanup_free char *held =
		launch->held ? held_file(setup->config.state_directory, launch->job_id) : NULL;
	const struct setup_gate_keys keys = setup_gate_keys(setup, launch->output_side);
	cleanup_free char *gates =
		setup_has_gates(setup) ? gate_files_directory(setup->config.state_directory) : NULL;
	int result;

	setup_launch(setup, &flink);
	class_archive_find(FLINK_JOBMANAGER, setup->config.flink.class_archive, flink.command,
			   flink.env, &setup->flink_conf, &jvm.archive);
	jvm_options_choose(setup->config.flink.jvm, &jvm.archive, flink.command, flink.env,
			   &setup->flink_conf, &jvm.options);
	flink.jvm_options = (const char *const *)jvm.options.list;
	/* MUT: Flink with HA counts as without HA */
	flink.ha = setup->ha.on;
	flink.ha_rpc_port = setup->ha.set_rpc_port ? setup->ha.rpc_port : 0;
	flink.cluster_id = cluster_id_of(setup, launch);
	flink.job_id = launch->job_id;
	flink.side = setup_output_side(setup, launch->output_side);
	flink.gate_directory = gates;
	flink.gate_properties = keys.properties;
	flink.gate_property_count = keys.count;
	/* MUT: a launch has no result store */
	flink.job_result_store = launch->job_result_path;
	flink.has_archive = flink_conf_get(&setup->flink_conf, "jobmanager.archive.fs.dir") != NULL;
	flink.application_id = *launch->application_id ? launch->application_id : NULL;
	flink.application_result_store = launch->application_result_path;
	flink.restore_path = launch->restore_path;
	flink.held_file = held;
	flink.rehearse = setup->config.handover.rehearse;
	flink.tmp_dirs = tmp_dirs;
	flink.allow_non_restored_state = launch->allow_non_restored;
	result = flink_launch_build(&flink, ret_exec, err);
	if (result == 0 && ret_jvm)
		*ret_jvm = jvm;
	else
		launch_jvm_release(&jvm);
	return result;
}

void launch_jvm_release(struct launch_jvm *jvm)
{
	class_archive_release(&jvm->archive);
	jvm_options_release(&jvm->options);
}
