/*
 * jvm_leavings - the large files in a temporary directory that a JobManager deletes at its end, and leaves
 * behind when it is killed: flink-rpc-akka*.jar, 24 MB, which Flink unpacks at each start and keeps open.
 * They are found by the descriptors of the process, so that no file of another process is ever meant.
 *
 * Life cycle: jvm_leavings_find() while it runs -> jvm_leavings_remove() when it is proven dead ->
 * jvm_leavings_release(). A zeroed struct is valid. Both may block: use them on a lane.
 */
#ifndef DREY_FLINK_JVM_LEAVINGS_H
#define DREY_FLINK_JVM_LEAVINGS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct jvm_leaving {
	char *path;
	dev_t device;
	ino_t inode;
};

struct jvm_leavings {
	struct jvm_leaving *list;
	size_t count;
};

/* Add those of this process. ERR_ABSENT and others: it cannot be looked at. */
int jvm_leavings_find(int pid, struct jvm_leavings *leavings, struct err *err);

/* Remove those that are still the same file, and empty the list. The last error, if there was one. */
int jvm_leavings_remove(struct jvm_leavings *leavings, struct err *err);

void jvm_leavings_release(struct jvm_leavings *leavings);

#endif
