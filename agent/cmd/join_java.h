/*
 * join_java - the JVM of the TaskManager: the class archive, with which it loads Flink's classes in a
 * fraction of the time. That counts in a hand-over, in which a job waits for their first use.
 *
 * Life cycle: join_java_choose() once -> join_java_add() for each start -> join_java_release().
 */
#ifndef DREY_CMD_JOIN_JAVA_H
#define DREY_CMD_JOIN_JAVA_H

#include <stddef.h>

#include "base/log.h"
#include "flink/jvm_options.h"

struct join_java {
	struct jvm_options options;
	size_t at; /* in the command, where they belong; 0: Flink's scripts read them from JVM_ARGS */
};

/* Choose the options for `command` (NULL-terminated), and say what was chosen. archive: "auto",
 * "none", or a file (class_archive.h). For one of Flink's scripts JVM_ARGS of this process, which its
 * children inherit, is replaced. What cannot be read only costs the archive. */
void join_java_choose(const char *archive, const char *const *command, struct log *log,
		      struct join_java *ret_java);

/* Copy the words of the command to `argv`, with the options; returns how many there are. argv has room
 * for count + java->options.count. */
size_t join_java_add(const struct join_java *java, const char *const *command, size_t count,
		     const char **argv);

void join_java_release(struct join_java *java);

#endif
