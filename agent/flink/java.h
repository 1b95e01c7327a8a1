/*
 * java - the Java that will start Flink, and what the user has told its JVM. It reads small files,
 * and starts nothing.
 *
 * Lists are NULL-terminated and may be NULL. command, env: the command line and the environment of
 * Flink. conf: Flink's configuration.
 */
#ifndef DREY_FLINK_JAVA_H
#define DREY_FLINK_JAVA_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "flink/conf.h"

/* The home of the Java that `command` starts: the `java` in the command, else the choice of Flink's
 * scripts: env.java.home, $JAVA_HOME if that is a directory, the `java` in PATH. NULL: there is
 * none. The caller frees it. */
char *java_home(const char *const *command, const char *const *env, const struct flink_conf *conf);

/* The file `release` in a home, which says whose Java it is, and which version. */
int java_release(const char *home, struct buf *ret_release, struct err *err);

/* The value of NAME="value" in the text of such a file; the caller frees it; NULL: there is none. */
char *java_release_value(const char *release, const char *name);

/* Which of Flink's JVMs: each has options of its own besides the common ones. */
enum flink_process { FLINK_JOBMANAGER, FLINK_TASKMANAGER };

/* Has the user set an option of the JVM of `process` that contains one of these words: in the
 * command, in a variable that Flink's scripts or the JVM read, or in Flink's configuration? A word
 * with a space in front is only found at the beginning of an option. */
bool java_option_given(enum flink_process process, const char *const *words,
		       const char *const *command, const char *const *env,
		       const struct flink_conf *conf);

typedef void java_property_fn(void *ctx, const char *option);

/* Every option in those places that defines a property (-Dname=value) or opens a module (--add-opens=,
 * --add-exports=, --add-reads=), in an order in which later ones prevail. Options are separated by blanks, as Flink's scripts separate them; the text is borrowed for the call. */
void java_each_property(enum flink_process process, const char *const *command,
			const char *const *env, const struct flink_conf *conf, java_property_fn *fn,
			void *ctx);

#endif
