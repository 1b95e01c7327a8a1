/* launch_build - the command line of one launch, from the configuration and the journal. */
#ifndef DREY_RUN_LAUNCH_BUILD_H
#define DREY_RUN_LAUNCH_BUILD_H

#include "base/err.h"
#include "core/journal/journal.h"
#include "flink/class_archive.h"
#include "flink/launch.h"
#include "run/config/setup.h"

/* Release with flink_exec_release() and, unless ret_archive is NULL, class_archive_release().
 * ERR_CONFIG as flink_launch_build(). */
int launch_build(const struct setup *setup, const struct launch *launch,
		 struct flink_exec *ret_exec, struct class_archive *ret_archive, struct err *err);

#endif
