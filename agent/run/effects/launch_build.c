#include "run/effects/launch_build.h"

int launch_build(const struct setup *setup, const struct launch *launch,
		 struct flink_exec *ret_exec, struct class_archive *ret_archive, struct err *err)
{
	struct class_archive archive;
	struct flink_launch flink;
	int result;

	config_launch(&setup->config, &flink);
	/* MUT: Flink does not get the environment that drey reads with */
	flink.env = (const char *const *)setup->environment;
	flink.version = setup->version;
	class_archive_find(setup->config.flink.class_archive, flink.command, flink.env,
			   &setup->flink_conf, &archive);
	if (archive.use == CLASS_ARCHIVE_USED)
		flink.class_archive = archive.file;
	/* MUT: Flink with HA counts as without HA */
	flink.ha = setup->ha.on;
	flink.ha_rpc_port = setup->ha.set_rpc_port ? setup->ha.rpc_port : 0;
	flink.job_id = launch->job_id;
	/* MUT: a launch has no result store */
	flink.job_result_store = launch->job_result_path;
	flink.has_archive = flink_conf_get(&setup->flink_conf, "jobmanager.archive.fs.dir") != NULL;
	flink.application_id = *launch->application_id ? launch->application_id : NULL;
	flink.application_result_store = launch->application_result_path;
	flink.restore_path = launch->restore_path;
	flink.allow_non_restored_state = launch->allow_non_restored;
	result = flink_launch_build(&flink, ret_exec, err);
	if (result == 0 && ret_archive)
		*ret_archive = archive;
	else
		class_archive_release(&archive);
	return result;
}
