/*
 * command - reads the command line that the user configured for Flink. Pure.
 *
 * It may be a Java command ("java -cp lib/" + "* ...StandaloneApplicationClusterEntryPoint
 * --configDir conf"), a script of the distribution ("bin/standalone-job.sh start-foreground"), the
 * image's "/docker-entrypoint.sh standalone-job", or any script of the user. Lists are
 * NULL-terminated and may be NULL.
 */
#ifndef DREY_FLINK_COMMAND_H
#define DREY_FLINK_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "flink/version.h"

/* The index after the word that is Flink's entry point (a main class ending in
 * StandaloneApplicationClusterEntryPoint or TaskManagerRunner, "standalone-job", "start-foreground"; of several in a row
 * the last): what follows is read by Flink's option parser. 0: no such word. */
size_t command_options_begin(const char *const *command);

/* The index after the word that is the program `java`, which Flink's entry point must follow; 0: a
 * script starts it. */
size_t command_java(const char *const *command);

/* The Java class path in the command (-cp, -classpath, --class-path[=]); borrowed; NULL: none. */
const char *command_class_path(const char *const *command);

/* The directory above bin/ of a Flink script in the command, /opt/flink for a docker-entrypoint.sh
 * that is not in a bin/; NULL: none; caller frees. */
char *command_script_home(const char *const *command);

/* Is the program itself one of Flink's scripts, or a shell that reads one? Not: a script of the user
 * that calls one. */
bool command_is_script(const char *const *command);

/* Would the process that drey starts be Flink's JVM, or a script of Flink that executes it as the same
 * user? Flink's image changes the user if it is root (`root`: drey is). */
bool command_keeps_user(const char *const *command, bool root);

/* Does one of Flink's scripts start Java (not a `java` in the command)? Such a script determines
 * FLINK_HOME itself and passes --configDir. */
bool command_has_script(const char *const *command);

/* The distribution that will run: that of the script in the command, regardless of FLINK_HOME
 * (Flink's scripts overwrite it); $FLINK_HOME for everything else, and for docker-entrypoint.sh,
 * with the default /opt/flink there. NULL: none named; caller frees. */
char *command_flink_home(const char *const *command, const char *const *env);

/* Is it the entry point script of Flink's images (which reads FLINK_PROPERTIES)? */
bool command_is_docker(const char *const *command);

/* The value of a variable; borrowed; NULL if unset or empty. */
const char *command_env(const char *const *env, const char *name);

enum command_option {
	COMMAND_UNKNOWN,
	COMMAND_CONFIG_DIR,
	COMMAND_PROPERTY,
	COMMAND_JOB_CLASS,
	COMMAND_JOB_ID,
	COMMAND_JARS,
	COMMAND_RESTORE,
	COMMAND_NON_RESTORED,
	COMMAND_HOST,
	COMMAND_WEB_PORT,
};

/* One option of Flink's entry point as given in the command. */
struct command_word {
	enum command_option option;
	const char *word;  /* as written */
	const char *value; /* NULL: it takes none, or it is missing at the end */
};

/* Read the option at command[*index] and advance *index past it and its value. Both "-D k=v" and
 * "-Dk=v", "--job-id X" and "--job-id=X", one dash or two. false at the end. */
bool command_next_option(const char *const *command, size_t *index, struct command_word *ret_word);

/* Would Flink's parser understand everything after the entry point, and is nothing there reserved
 * for drey? ERR_CONFIG names the word and the remedy. */
int command_check(const char *const *command, struct flink_version version, struct err *err);

#endif
