/*
 * jvm_read - the line of a running JVM (jvm_line.h), and a fingerprint of all that it was derived
 * from. Reads /proc and files: may block, use it on a lane.
 *
 * Life cycle: jvm_read() when the job runs -> jvm_fingerprint() before a later launch; the line may
 * be used if both returned the same text. -> jvm_origin_release().
 *
 * Derived from: the command and the environment that drey-init was told (without the identity of
 * the launch), the files of the command, FLINK_HOME/bin and plugins/, the directory of Flink's
 * configuration (with contents), the Java, every file and directory of the class path, and the
 * files that options of the JVM name. Of each: path, device, inode, size, mtime and ctime in ns.
 */
#ifndef DREY_FLINK_JVM_READ_H
#define DREY_FLINK_JVM_READ_H

#include <stdint.h>

#include "base/sha256.h"
#include "flink/jvm_line.h"

/* What is known of a launch. All borrowed. */
struct jvm_launch {
	int pid;
	int64_t started_unix_ms; /* by drey-init; 0 = not known */
	const struct flink_exec *launched;
	/* The same for an identity that is the same for all launches: what two launches of one
	 * configuration have in common. */
	const struct flink_exec *shape;
	const char *flink_home; /* NULL = not known */
	/* What `launched` was made from: it must be older than this; NULL and 0 = do not look. */
	const char *file;
	int64_t file_before_unix_ms;
};

struct jvm_root;

struct jvm_origin {
	struct jvm_line line;
	struct jvm_root *roots; /* files and directories that it was derived from */
	size_t root_count;
	char fingerprint[SHA256_HEX_BYTES];
};

/*
 * Read the line of a running JVM. ERR_FORMAT and others: it must not be used; the message is a
 * sentence that says why: not our entry point, a file changed after the JVM had started, another
 * user, limit, directory or output than drey-init gives a process, something cannot be read.
 * Nothing secret is in it.
 */
int jvm_read(const struct jvm_launch *launch, struct jvm_origin *ret_origin, struct err *err);

/* The fingerprint of the same origin as it is now. `shape` as above, of the launch to come. */
int jvm_fingerprint(const struct jvm_origin *origin, const struct flink_exec *shape,
		    char ret_fingerprint[SHA256_HEX_BYTES], struct err *err);

void jvm_origin_release(struct jvm_origin *origin);

#endif
