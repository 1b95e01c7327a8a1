/* What a launch of Flink takes from the configuration. */
#include <string.h>

#include "run/config/config.h"
#include "run/config/setup.h"

const char *config_spare_jar(const struct config *config)
{
	const char *spare = config->flink.spare;

	if (!spare || !strcmp(spare, CONFIG_SPARE_OFF))
		return NULL;
	return strcmp(spare, CONFIG_SPARE_WARM) != 0 ? spare : CONFIG_SPARE_JAR;
}

void config_launch(const struct config *config, struct flink_launch *ret_launch)
{
	*ret_launch = (struct flink_launch){
		.command = (const char *const *)config->flink.command,
		.job_class = config->flink.job_class,
		.jars = (const char *const *)config->flink.jars,
		.program_args = (const char *const *)config->flink.arguments,
		.properties = config->flink.properties,
		.property_count = config->flink.property_count,
		.checkpoint_dir = config->flink.checkpoint_directory,
		.savepoint_dir = config->flink.savepoint_directory,
		.rest_address = config->flink.rest_address,
		.rest_port = (int)config->flink.rest_port,
		.rpc_address = config->flink.rpc_address,
		.cluster_id = config->handover.cluster_ids ? config->handover.cluster_ids[0] : NULL,
		.heartbeat_interval_ms = (int)config->flink.heartbeat_interval_ms,
		.heartbeat_timeout_ms = (int)config->flink.heartbeat_timeout_ms,
	};
	if (config->flink.version)
		(void)flink_version_parse(config->flink.version, &ret_launch->version, NULL);
}

void setup_launch(const struct setup *setup, struct flink_launch *ret_launch)
{
	config_launch(&setup->config, ret_launch);
	/* MUT: Flink does not get the environment that drey reads with */
	ret_launch->env = (const char *const *)setup->environment;
	ret_launch->version = setup->version;
}
