/*
 * tmp_dirs - the directories for temporary files of one launch of the JobManager. Pure: no I/O.
 *
 * Flink's JobManager unpacks a jar of 24 MB into io.tmp.dirs, and makes its working directory and
 * its blob storage there. Killed, it leaves all of it behind. So each launch gets a directory of its
 * own below each of them, `<dir>/drey-<job id>-<number of the launch>`, which drey makes and can
 * remove when the launch is proven dead (launch_dir.h). A launch with the ids of an earlier one has
 * another number.
 *
 * Not derived from io.tmp.dirs: web.tmpdir (it is java.io.tmpdir), what the JVM itself writes, and
 * whatever is set on its own, such as process.working-dir and high-availability.storageDir.
 *
 * Life cycle: tmp_dirs_choose() -> tmp_dirs_join() -> tmp_dirs_release(). At most TMP_DIRS_MAX.
 */
#ifndef DREY_FLINK_TMP_DIRS_H
#define DREY_FLINK_TMP_DIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flink/conf.h"
#include "flink/launch.h"

#define TMP_DIRS_MAX       8
#define TMP_DIRS_MAX_BYTES 512 /* of one of them */

struct tmp_dirs {
	char **list; /* as configured; owned; not NULL-terminated */
	size_t count;
};

/*
 * The configured ones, as Flink splits them (at ',' and ':', ConfigurationUtils.splitPaths; the '|'
 * of its documentation does not separate). None, and a part of a sentence that says why, if
 * launches are not to have their own: the user has set io.tmp.dirs on the command line; the
 * configuration was not found; one is not absolute, too long, or has an unusual character; Flink
 * could run as another user (`root`: drey runs as root; a program that is neither java nor a script
 * of Flink); jobmanager.resource-id is set, with which Flink finds its working directory again;
 * java.io.tmpdir, which counts without a setting, is changed. NULL: there are some.
 */
const char *tmp_dirs_choose(const struct flink_launch *launch, const struct flink_conf *conf,
			    bool root, struct tmp_dirs *ret_dirs);
void tmp_dirs_release(struct tmp_dirs *dirs);
#define cleanup_tmp_dirs __attribute__((cleanup(tmp_dirs_release)))

/* drey-<job id>-<number>; the caller frees it. */
char *tmp_dirs_name(const char *job_id, int64_t number);

/* The value of io.tmp.dirs for the launch with this name; the caller frees it. NULL: there are none. */
char *tmp_dirs_join(const struct tmp_dirs *dirs, const char *name);

#endif
