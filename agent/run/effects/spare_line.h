/* spare_line - the command line of a spare JVM, made of that of the running one (flink/jvm_line.h). */
#ifndef DREY_RUN_SPARE_LINE_H
#define DREY_RUN_SPARE_LINE_H

#include "base/sha256.h"
#include "flink/jvm_line.h"

/* java OPTIONS -classpath CP:JAR drey.spare.Spare ENTRY-CLASS CONFIG-DIR. The jar is the last, so that
 * a class archive still fits. Release with spare_line_free(). */
char **spare_line_argv(const struct jvm_line *line, const char *jar);
void spare_line_free(char **argv); /* NULL is allowed */

/* The first option of the JVM that two processes at a time cannot have: an agent, a port, a log file
 * of the JVM itself. NULL: none. Also in JDK_JAVA_OPTIONS and JAVA_TOOL_OPTIONS. Borrowed. */
const char *spare_line_exclusive(const struct jvm_line *line);

/* A hash of the first argc words, and of the whole environment, which may have secrets. */
void spare_line_hash(char *const *argv, size_t argc, char *const *env,
		     char ret_hex[SHA256_HEX_BYTES]);

#endif
