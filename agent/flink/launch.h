/*
 * launch - the command line and the environment of one launch of Flink. Pure: no I/O.
 *
 * The result, in this order (Flink stops reading options at the first unknown word, so the
 * arguments of the program must be last):
 *
 *   command...  -D k=v...  --job-id ID  [--fromSavepoint PATH [--allowNonRestoredState]]
 *               [--job-classname C] [--jars A,B]  [-- program arguments...]
 *
 * The "--" is put in front of program arguments: without it Flink could take an argument of the
 * program such as "-n" or "--config" for an option of its own.
 *
 * drey decides what the job starts from, under which id, and how its end is observed. The
 * properties and options for that are reserved for drey (flink_reserved), and are refused from the
 * user, by name:
 *
 *   job-result-store.storage-path, .delete-on-commit=false     no leftover result of an older
 *                                                              launch
 *   jobmanager.archive.fs.dir     the same directory, if none is configured: without high
 *                                 availability Flink keeps that store in memory, but archives a job
 *                                 that has ended
 *   $internal.application.id, application-result-store.*       the same, Flink >= 2.3
 *   execution.shutdown-on-application-finish=false             the final state is read over REST
 *   execution.submit-failed-job-on-application-error=true      a main() that throws is a FAILED job
 *   kubernetes.cluster-id, high-availability.cluster-id        where drey chooses the side
 *   drey.side, drey.gate.directory                             with blue/green: for the job's gates
 *   gate_properties                                            the same, for gates that go by keys
 *   --job-id, --fromSavepoint, --allowNonRestoredState         and the equivalent properties
 *
 * Set unless the user says otherwise: externalized-checkpoint-retention=RETAIN_ON_CANCELLATION
 * (else Flink deletes the checkpoints of a job that was cancelled or failed),
 * rest.cache.checkpoint-statistics.timeout=0 (1.18+: else the statistics of a FINISHED job may be
 * stale by 3 s, without the savepoint of the stop that ended it), and, without Flink's own HA, the
 * heartbeat (heartbeat_*_ms): a TaskManager finds a restarted JobManager only after its
 * heartbeat.timeout. With HA the port of the JobManager's RPC (ha_rpc_port): a second JobManager on
 * this machine then fails at its ports, before it touches the leader lock.
 *
 * A launch that is held (held_file) has dev.drey.Held (java/held) for --job-classname, whose main()
 * waits for the go file and then calls the user's. What it starts from is in that file (held.h), so
 * there is no --fromSavepoint; the user's class and the file are in the environment,
 * DREY_HELD_CLASS and DREY_HELD_FILE; with DREY_REHEARSE its JVM is warm when it waits.
 *
 * main() gets the directory of the gates as a property. The environment has it, too (DREY_GATE_DIRECTORY): the graph of
 * a job that Flink recovers contains the directory of the pod that built it.
 *
 * Options of the JVM follow the word `java` of the command; if a script starts Java, they are in
 * JVM_ARGS, which Flink's scripts put before all other options of the JobManager's JVM only. So
 * those of the user come later, and prevail.
 *
 * A command line is visible to every user of the machine: properties with a secret name
 * (flink_key_is_secret) are refused; they belong in Flink's configuration file.
 */
#ifndef DREY_FLINK_LAUNCH_H
#define DREY_FLINK_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "flink/version.h"

#define FLINK_ID_CHARS 32 /* ids of jobs, applications, triggers, operators: lower-case hex */
bool flink_is_id(const char *text);

#define FLINK_HELD_CLASS "dev.drey.Held"
/* In the environment of a JVM that is to run a small job first, so that it is warm (java/held). */
#define FLINK_REHEARSE "DREY_REHEARSE"

/* Measured with 1.20 and 2.3: see docs on running without HA. Short enough that a TaskManager is
 * back within 10 s, and long enough for a full garbage collection. */
#define FLINK_HEARTBEAT_INTERVAL_MS 1000
#define FLINK_HEARTBEAT_TIMEOUT_MS  5000

struct flink_property {
	const char *key;
	const char *value;
};

/* Everything is borrowed. Lists of strings are NULL-terminated; NULL is an empty list. */
struct flink_launch {
	/* up to and including Flink's entry point and its --configDir */
	const char *const *command;
	const char *const *env; /* the environment to pass on, "NAME=value" */
	struct flink_version version;
	const char *const *jvm_options; /* of drey (jvm_options.h) */

	/* the identity of this launch, from the journal */
	const char *job_id;
	const char *job_result_store; /* URI of a directory that no other launch uses */
	bool has_archive; /* Flink's own configuration names a directory for archives of jobs */
	const char *application_id; /* version >= 2.3 or unknown: required, else ignored */
	const char *application_result_store; /* the same */

	/* what to start from */
	const char *restore_path; /* NULL: start empty (or Flink's HA recovers on its own) */
	bool allow_non_restored_state;
	/* Absolute path of the go file; NULL: not held. The two above are then not passed: the file
	 * has them. */
	const char *held_file;
	bool rehearse; /* only with held_file: the JVM runs a small job of its own first (java/held) */

	/* the program */
	const char *job_class;   /* NULL: Flink searches the jar's manifest */
	const char *const *jars; /* 1.19+ */
	const char *const *program_args;
	const struct flink_property *properties; /* the user's, in order */
	size_t property_count;

	/* the cluster; NULL and 0 leave a setting to Flink's configuration */
	const char *checkpoint_dir;
	const char *savepoint_dir;
	const char *rest_address;
	int rest_port;           /* sets rest.port and rest.bind-port, so that drey knows it */
	const char *rpc_address; /* jobmanager.rpc.address */
	const char *tmp_dirs;    /* io.tmp.dirs of this launch alone (tmp_dirs.h) */
	/* kubernetes.cluster-id and high-availability.cluster-id; NULL: those of Flink's
	 * configuration. If set, the user may set neither. */
	const char *cluster_id;
	/* With blue/green: the side of this launch, and where its gates find their orders; NULL = no gates.
	 * If `side` is set, the user may set neither. */
	const char *side, *gate_directory;
	/* With gates that go by keys: their ConfigMap, and their word for the side. The user may set none of these; and
	 * if there are any, metrics come every second, unless the user says otherwise. */
	const struct flink_property *gate_properties;
	size_t gate_property_count;
	bool ha;         /* Flink's own HA is on: heartbeat not changed */
	int ha_rpc_port; /* with HA: high-availability.jobmanager.port, else a random one */
	int heartbeat_interval_ms, heartbeat_timeout_ms; /* without HA; 0: not changed */
};

/* What drey-init should execute. Both lists are NULL-terminated and owned. */
struct flink_exec {
	char **argv;
	char **env;
	size_t argc, envc;
	size_t command_argc; /* the first strings of argv: the command; what follows drey has added */
	size_t packed_bytes; /* all strings with their NULs: the size needed in a LAUNCH packet */
};

/*
 * Build *ret_exec; release it with flink_exec_release. ERR_CONFIG: the user must change something;
 * the message names the property, option or argument.
 */
int flink_launch_build(const struct flink_launch *launch, struct flink_exec *ret_exec,
		       struct err *err);
void flink_exec_release(struct flink_exec *exec);
#define cleanup_flink_exec __attribute__((cleanup(flink_exec_release)))

/* What Flink's scripts read from JVM_ARGS: the options of drey (NULL-terminated), then those of the user, which
 * prevail. more: what the variable has already; NULL: nothing. The caller frees it. */
char *flink_jvm_args(const char *const *options, const char *more);

/*
 * The part of the check that needs only the configuration, for a refusal at the start of drey
 * rather than at the first launch: command, properties, jars against the version.
 * flink_launch_build does the same again.
 *
 * In the command, everything behind Flink's entry point (a word that is "standalone-job",
 * "start-foreground" or ends in StandaloneApplicationClusterEntryPoint) must be a known option: an
 * unknown word would silently turn all that drey adds into arguments of the program. A command
 * without such a word (a script of the user) is not checked.
 */
int flink_launch_check(const struct flink_launch *launch, struct err *err);

/*
 * Why a launch with this command and program could not be held, a part of a sentence; NULL: it could.
 * Flink would start another class than FLINK_HELD_CLASS, and so a job that drey does not wait for:
 * the command has a --job-classname, of which Flink takes the first; the program is in Python, which
 * Flink sees by its arguments. And no older version than 1.20 has been tried.
 * flink_launch_build() refuses a held_file in these cases.
 */
const char *flink_launch_cannot_hold(const struct flink_launch *launch);

/* Has the user set this key, in `properties` or in the command? */
bool flink_launch_user_sets(const struct flink_launch *launch, const char *key);

#endif
