/* launch_build - the command line of one launch, from the configuration and the journal. */
#ifndef DREY_RUN_LAUNCH_BUILD_H
#define DREY_RUN_LAUNCH_BUILD_H

#include "base/err.h"
#include "core/journal/journal.h"
#include "flink/jvm_options.h"
#include "flink/launch.h"
#include "run/config/setup.h"

/* How the JVM of a launch starts. */
struct launch_jvm {
	struct class_archive archive;
	struct jvm_options options;
};

/* Release with flink_exec_release() and, unless ret_jvm is NULL, launch_jvm_release(). ERR_CONFIG as
 * flink_launch_build(). */
int launch_build(const struct setup *setup, const struct launch *launch,
		 struct flink_exec *ret_exec, struct launch_jvm *ret_jvm, struct err *err);
void launch_jvm_release(struct launch_jvm *jvm);
#define cleanup_launch_jvm __attribute__((cleanup(launch_jvm_release)))

#endif
