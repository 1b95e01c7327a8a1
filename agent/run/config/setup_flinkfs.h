/*
 * setup_flinkfs - how the JVM is started that reads Flink's own file systems (store/flinkfs/flinkfs.h):
 * with the Java, the class path, the plugins, the configuration and the environment of the JobManager.
 *
 * Of the JobManager's JVM options it has properties (-D...) and --add-opens, --add-exports, --add-reads
 * only: agents and ports cannot be had twice. Its memory and its log are its own.
 */
#ifndef DREY_RUN_SETUP_FLINKFS_H
#define DREY_RUN_SETUP_FLINKFS_H

#include "flink/conf.h"
#include "store/flinkfs/flinkfs.h"

struct setup_flinkfs_sources {
	const char *const *command; /* NULL: there is none, $FLINK_HOME says where Flink is */
	const char *const *env;     /* of Flink */
	const char *conf_dir;       /* flink.configDirectory; NULL: found from command and env */
	const struct flink_conf *conf;
	const char *program; /* drey's own: the jar is beside it; NULL: that of this process */
};

/* Never fails: what is missing is in ret_config->missing. Pure, but for looking where files are. */
void setup_flinkfs(const struct setup_flinkfs_sources *sources, struct flinkfs_config *ret_config);

/* The same without drey.yaml, from the environment of drey. NULL: neither FLINK_HOME nor
 * FLINK_LIB_DIR is set. */
struct flinkfs *setup_flinkfs_environment(void);

#endif
