/*
 * held - a launch whose JobManager is up and waits in front of the user's main() until drey says what
 * the job starts from (java/held). What the two write for each other, in files beside each other:
 *
 *   FILE        the go file, by drey, once, by rename: {"schema":1,"go":true,"path":"URI",
 *               "allowNonRestored":false}, with an empty path for a start without state, or
 *               {"schema":1,"go":false,"why":"..."}
 *   FILE.held   by the JVM, when main() is held: {"schema":1,"class":"...","heldUnixMs":N,"pid":N}
 *
 * FILE belongs to one launch: a JobManager that starts again under the same launch finds it and
 * continues at once, and without Flink's HA that is a second start from the same snapshot. So it is
 * never replaced, and never used for another launch.
 *
 * Life cycle: held_is_possible() -> held_file() is flink_launch.held_file -> held_begin() before each
 * start of a JVM -> held_read() until it succeeds -> held_go() -> held_sweep() when another launch
 * has begun.
 *
 * Whether the JVM has really waited, and started from what it was told, is not known from these
 * files: ask Flink for its jobs, and for what was restored.
 *
 * All functions but held_file() and held_parse() may block. Files larger than HELD_MAX_BYTES are
 * refused.
 */
#ifndef DREY_FLINK_HELD_H
#define DREY_FLINK_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "flink/launch.h"

#define HELD_JAR       "drey-held.jar"
#define HELD_MAX_BYTES ((size_t)64 * 1024)

/*
 * Can this launch be held? Else *ret_why is a part of a sentence (the caller frees it): the JVM of
 * the candidate then starts when the savepoint is there. Uses command, env, version, job_class and
 * program_args of `launch`. root: drey runs as root; Flink's image then changes the user, who could
 * not read the go file.
 */
bool held_is_possible(const struct flink_launch *launch, bool root, char **ret_why);

/*
 * Is HELD_JAR, which can be read, on the class path of the JobManager? The class path in the command
 * counts; without one, the first of $FLINK_LIB_DIR, lib/ of the distribution that runs
 * (command_flink_home) and lib/ of the script in the command that exists. Relative paths count from
 * the working directory.
 */
bool held_jar_is_there(const char *const *command, const char *const *env, char **ret_why);

/* STATE_DIR/held/JOBID.json; the caller frees it. */
char *held_file(const char *state_dir, const char *job_id);

/* Before a JVM of this launch is started: make the directory, and remove FILE.held of an earlier one.
 * The go file stays. */
int held_begin(const char *file, struct err *err);

/* What the JVM has written. */
struct held_main {
	char *class_name; /* of the user */
	int64_t held_unix_ms;
	int64_t pid; /* of the JVM, as it sees itself */
};

void held_main_release(struct held_main *main);

/* Read FILE.held. ERR_ABSENT: main() is not held (yet, or it did not have to wait). ERR_FORMAT: it is
 * damaged. Release *ret_main with held_main_release(). */
int held_read(const char *file, struct held_main *ret_main, struct err *err);

/* The content of FILE.held; ERR_FORMAT. */
int held_parse(const char *text, size_t len_bytes, struct held_main *ret_main, struct err *err);

struct held_go {
	bool go;
	const char *path; /* NULL: start without state; only with go */
	bool allow_non_restored;
	/* drey.side, whatever Flink was started with; NULL = that. The same for the gates of the job, in a member of their own
	 * (gate_keys_kind.held_side) */
	const char *side, *gate_key, *gate_side;
	const char *why; /* only without go */
};

/*
 * Write the go file, durably. Exactly the same has been written before: success. Something else has
 * been written: ERR_BUSY, and it stays, because the JVM may have read it. ERR_CONFIG: an empty path,
 * or no reason.
 */
int held_go(const char *file, const struct held_go *go, struct err *err);

/* Has held_go() written FILE? False also if that cannot be seen. */
bool held_was_told(const char *file);

/* Remove what launches other than job_id (NULL: all) have left in STATE_DIR/held. Files with other
 * names stay. Continues after a failure, and returns the first one. */
int held_sweep(const char *state_dir, const char *job_id, struct err *err);

#endif
