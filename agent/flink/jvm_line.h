/*
 * jvm_line - the command line of a JobManager's JVM, as Flink's scripts have computed it, so that a
 * later launch of the same configuration can execute it without them. Pure: no I/O (jvm_read.h
 * reads it from a process).
 *
 * The command line of the JVM is
 *
 *   java OPTIONS -classpath CP ENTRY-CLASS --configDir DIR [-D k=v...]  what the launch added
 *   `------------------------ the line --------------------------'
 *
 * The line is the same for each launch of one configuration. What the launch added (launch.h) is
 * not part of it: the job id, the restore point, properties, jars, arguments of the program.
 *
 * Life cycle: jvm_line_parse() -> jvm_line_join()... -> jvm_line_release(). A zeroed struct is
 * valid. The environment may contain secrets: never log it, never write it to a file.
 */
#ifndef DREY_FLINK_JVM_LINE_H
#define DREY_FLINK_JVM_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "flink/launch.h"

/* Both lists are NULL-terminated and owned. */
struct jvm_line {
	char **argv; /* java, its options, the class of the entry point, its first arguments */
	size_t argc;
	size_t entry; /* argv[entry] is the class of the entry point */
	char **env;   /* of the JVM, complete, "NAME=value" */
	size_t envc;
	const char *class_path; /* borrowed from argv */
	const char *config_dir; /* the same */
};

/*
 * Find the line in the strings of a process: argv and env as /proc/PID has them, each string ends
 * in NUL. `launched` is what drey-init was told to execute for it. ERR_FORMAT: it is no JVM with
 * Flink's entry point, it does not end in what the launch added, or its environment has a variable
 * that neither the launch nor Flink's scripts have set (then a script of the user did, and may set
 * it to another value next time); the message is a sentence. Values of variables are never in it.
 */
int jvm_line_parse(const char *argv, size_t argv_bytes, const char *env, size_t env_bytes,
		   const struct flink_exec *launched, struct jvm_line *ret_line, struct err *err);
void jvm_line_release(struct jvm_line *line);

/* The launch that `ordinary` describes, by the line: its argv, then what that launch adds; its
 * environment. Release *ret_exec with flink_exec_release(). The first line->argc strings of
 * ret_exec->argv are the line's. */
void jvm_line_join(const struct jvm_line *line, const struct flink_exec *ordinary,
		   struct flink_exec *ret_exec);

#endif
