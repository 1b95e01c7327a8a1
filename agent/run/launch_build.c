#include "run/launch_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Our own environment plus what drey.yaml adds; drey's private variables are taken out later. TZ is
 * as it was before the savepoint schedule had its time zone: `zone` is "TZ=..." or NULL. */
static char **launch_environment(const struct config *config, char *zone)
{
	extern char **environ;
	size_t count = 0, extra = 0, n = 0;
	char **env;

	while (environ[count])
		count++;
	while (config->flink.environment && config->flink.environment[extra])
		extra++;
	env = xcalloc(count + extra + 2, sizeof(*env));
	for (size_t i = 0; i < count; i++) {
		size_t name = strcspn(environ[i], "=") + 1;
		bool replaced = strncmp(environ[i], "TZ=", 3) == 0;

		for (size_t k = 0; k < extra && !replaced; k++)
			replaced = !strncmp(environ[i], config->flink.environment[k], name);
		if (!replaced)
			env[n++] = environ[i];
	}
	for (size_t k = 0; k < extra; k++) {
		env[n++] = config->flink.environment[k];
		if (strncmp(env[n - 1], "TZ=", 3) == 0)
			zone = NULL;
	}
	if (zone)
		env[n++] = zone;
	return env;
}

int launch_build(const struct setup *setup, const struct launch *launch,
		 struct flink_exec *ret_exec, struct class_archive *ret_archive, struct err *err)
{
	cleanup_free char *zone =
		setup->zone_before ? xasprintf("TZ=%s", setup->zone_before) : NULL;
	char **env = launch_environment(&setup->config, zone);
	struct class_archive archive;
	struct flink_launch flink;
	int result;

	config_launch(&setup->config, &flink);
	flink.env = (const char *const *)env;
	flink.version = setup->version;
	class_archive_find(setup->config.flink.class_archive, flink.command, flink.env,
			   &setup->flink_conf, &archive);
	if (archive.use == CLASS_ARCHIVE_USED)
		flink.class_archive = archive.file;
	flink.ha = setup->ha.on;
	flink.ha_rpc_port = setup->ha.set_rpc_port ? setup->ha.rpc_port : 0;
	flink.job_id = launch->job_id;
	flink.job_result_store = launch->job_result_path;
	flink.application_id = *launch->application_id ? launch->application_id : NULL;
	flink.application_result_store = launch->application_result_path;
	flink.restore_path = launch->restore_path;
	flink.allow_non_restored_state = launch->allow_non_restored;
	result = flink_launch_build(&flink, ret_exec, err);
	free(env);
	if (result == 0 && ret_archive)
		*ret_archive = archive;
	else
		class_archive_release(&archive);
	return result;
}
