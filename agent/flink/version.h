/*
 * version - the version of Flink, and its features.
 *
 * A version is a plain value; {0, 0, 0} means "not known". Sources, best first: drey.yaml, the jar
 * names of the distribution (flink_version_detect), a running JobManager's answer on /config
 * (rest.h). For an unknown version the feature functions return what is safe with every supported
 * version (1.15 to 2.3); each says how.
 */
#ifndef DREY_FLINK_VERSION_H
#define DREY_FLINK_VERSION_H

#include <stdbool.h>

#include "base/err.h"

struct flink_version {
	int major, minor, patch;
};

#define FLINK_VERSION_TEXT_BYTES 40

/* "1.20", "1.20.5", "2.4-SNAPSHOT", "2.0.0-preview1": the numbers count, a suffix after '-' does
 * not. ERR_FORMAT for anything else. */
int flink_version_parse(const char *text, struct flink_version *ret_version, struct err *err);

bool flink_version_known(struct flink_version version);

/* <0, 0, >0 like strcmp; compares numbers, an unknown version is lower than every other. */
int flink_version_compare(struct flink_version a, struct flink_version b);

/* At least major.minor? false for an unknown version. */
bool flink_version_at_least(struct flink_version version, int major, int minor);

/* "1.20.5", or "unknown"; returns text. */
const char *flink_version_print(struct flink_version version, char text[FLINK_VERSION_TEXT_BYTES]);

/*
 * Find the version of the distribution that `command` starts, without running it: the names
 * flink-dist-X.Y.Z.jar, else flink-runtime-X.Y.Z.jar, in the first of these that has one:
 *   1. the class path given in the command (-cp, -classpath, --class-path; "dir/" + "*" or a jar)
 *   2. $FLINK_LIB_DIR   3. $FLINK_HOME/lib   4. ../lib of a Flink script named in the command
 *   5. /opt/flink/lib when the command is a docker-entrypoint.sh
 * command, env: NULL-terminated ("NAME=value"); relative paths count from the working directory.
 * *ret_jar (may be NULL) is the path of the jar; caller frees.
 *   ERR_ABSENT  no such jar anywhere: the version must be configured
 *   ERR_CONFIG  two different versions in one directory (both named)
 *   ERR_DENIED, ERR_SYS, ERR_RETRY  a directory of that list exists and cannot be read
 */
int flink_version_detect(const char *const *command, const char *const *env,
			 struct flink_version *ret_version, char **ret_jar, struct err *err);

/* Is it of a line whose formats and answers drey has been written for (FLINK_LINES)? Unknown: true. */
#define FLINK_LINES "1.19, 1.20 and 2.0 to 2.4"
bool flink_version_is_of_known_line(struct flink_version version);

/* The highest _metadata version that this Flink can read: <= 1.15: 3, 1.16-1.20: 4, 2.0: 5,
 * 2.1-2.3: 6, later: 7. 0 for an unknown version: not known. */
int flink_version_metadata_max(struct flink_version version);

/* --jars of the entry point, 1.19 and later. Unknown: true (an older one would refuse to start). */
bool flink_version_has_jars_option(struct flink_version version);

/* Application ids and the application result store, 2.3 and later. Unknown: true (both are plain
 * properties, which an older version ignores). */
bool flink_version_has_applications(struct flink_version version);

/* FLINK-39964: after a native savepoint of RocksDB was claimed, the next checkpoints name its files in a wrong
 * directory. Fixed in 2.4; patch releases of earlier lines may have the fix too, and count as without. Unknown: true. */
bool flink_version_native_loses_claimed(struct flink_version version);

/* The claim mode LEGACY: before 2.0. Unknown: true. */
bool flink_version_has_legacy_claim(struct flink_version version);

/* execution.checkpointing.dir / .savepoint-dir instead of state.checkpoints.dir /
 * state.savepoints.dir, 1.20 and later. Unknown: see flink_version_old_dir_keys. */
bool flink_version_new_dir_keys(struct flink_version version);

/* The old names are needed: before 1.20. Both are true for an unknown version: every version knows
 * at least one of the names, and where it knows both they have the same value. */
bool flink_version_old_dir_keys(struct flink_version version);

/* --host and --webui-port of the entry point; removed in 2.0, where they would silently turn
 * everything after them into arguments of the program. Unknown: false. */
bool flink_version_has_host_option(struct flink_version version);

#endif
