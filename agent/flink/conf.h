/*
 * conf - Flink's own configuration, as the JobManager's JVM gets it: the file, then every overlay.
 *
 * Life cycle: flink_conf_read() -> flink_conf_get()... -> flink_conf_release(&conf). The parts are
 * public for tests and fuzzing; a zeroed struct is valid.
 *
 * The overlays, later ones win: what docker-entrypoint.sh of Flink's images writes into the file
 * (jobmanager.rpc.address and ports, then FLINK_PROPERTIES), -D of the command, flink.properties,
 * the old options --host and --webui-port. ENABLE_BUILT_IN_PLUGINS links jars and changes no key.
 *
 * Formats, as Flink chooses them: up to 1.18 flink-conf.yaml, read line by line ("key: value",
 * cut at the first ": ", '#' begins a comment); 1.19 and 1.20 flink-conf.yaml if it exists,
 * else config.yaml; from 2.0 on only config.yaml. config.yaml is YAML 1.2: nested maps are
 * flattened with dots, lists become "[a, b]", numbers and booleans are written as Java does
 * (007 is 7, 1.10 is 1.1, True is true). With an unknown version: flink-conf.yaml if it is the
 * only one, else config.yaml (both there is ERR_CONFIG: the version must be known). Limits:
 * FLINK_CONF_MAX_BYTES per file.
 */
#ifndef DREY_FLINK_CONF_H
#define DREY_FLINK_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "flink/launch.h"
#include "flink/version.h"

#define FLINK_CONF_MAX_BYTES (1u << 20)

struct flink_conf_entry {
	char *key, *value;
	const char *overlay; /* what set it, for messages; static; NULL: the file */
};

struct flink_conf {
	char *file; /* what was read; NULL after flink_conf_parse_* alone */
	struct flink_conf_entry *entries;
	size_t count;
};

/* All sources of Flink's configuration. All borrowed. */
struct flink_conf_sources {
	const char *const *command;
	const char *const *env; /* the one that Flink will have, not drey's own */
	const char *directory;  /* flink.configDirectory; NULL = found from command and env */
	struct flink_version version;
	const struct flink_property *properties; /* flink.properties */
	size_t property_count;
};

/* Read all of it. A directory that was only guessed may be absent: then only the overlays count.
 * ERR_CONFIG and others: file, line and column, or a directory that Flink will not read. Not
 * checked: flink_conf_check(). */
int flink_conf_read(const struct flink_conf_sources *sources, struct flink_conf *ret_conf,
		    struct err *err);

/*
 * Find the directory whose configuration Flink reads. If one of Flink's scripts starts it:
 * $FLINK_CONF_DIR, else conf/ of the home (command_flink_home()); the script passes it as the first
 * --configDir, and Flink takes the first. Else --configDir / -c of the command, $FLINK_CONF_DIR,
 * $FLINK_HOME/conf. Pure. NULL: none named; caller frees.
 */
char *flink_conf_find_dir(const char *const *command, const char *const *env);

/* Read the configuration in directory `dir`. ERR_ABSENT: no file there. ERR_CONFIG: file, line and
 * column. */
int flink_conf_load(const char *dir, struct flink_version version, struct flink_conf *ret_conf,
		    struct err *err);

/* Overlay the lines of a flink-conf.yaml or YAML onto conf; later values replace earlier ones. */
void flink_conf_add_lines(struct flink_conf *conf, const char *text, size_t len_bytes);
int flink_conf_add_yaml(struct flink_conf *conf, const char *text, size_t len_bytes,
			struct err *err);

/* Overlay the variable FLINK_PROPERTIES as Flink's image (1.19 and later) does when it
 * starts: one "key: value" a line, all white space removed, cut at the first ':' (without
 * one the value is empty), with $NAME and ${NAME} replaced from `env`; of a replaced value
 * with white space only the first word. */
void flink_conf_add_properties(struct flink_conf *conf, const char *text, const char *const *env);

/* Set one key, as -D does. `overlay`: flink_conf_entry. */
void flink_conf_set(struct flink_conf *conf, const char *key, const char *value);
void flink_conf_set_from(struct flink_conf *conf, const char *key, const char *value,
			 const char *overlay);

/* Overlay every -D key=value (and -Dkey=value) after the entry point in the command. */
void flink_conf_add_command(struct flink_conf *conf, const char *const *command);

/* The entry of the key, or its value; NULL: not set. Borrowed until conf changes. */
const struct flink_conf_entry *flink_conf_find(const struct flink_conf *conf, const char *key);
const char *flink_conf_get(const struct flink_conf *conf, const char *key);

void flink_conf_release(struct flink_conf *conf);
#define cleanup_flink_conf __attribute__((cleanup(flink_conf_release)))

/* The settings that drey uses; every string borrowed from conf, NULL when not set. Each key is
 * looked up by its current and its older names. */
struct flink_settings {
	const char *checkpoint_dir;
	const char *savepoint_dir;
	const char *rest_address; /* rest.address, else jobmanager.rpc.address */
	int rest_port;            /* 0: not set (Flink's default is 8081) */
	bool ha;                  /* high-availability.type is set and not NONE */
	const char *ha_type;
	const char *ha_storage_dir;
	const char *ha_cluster_id;
	const char *kubernetes_cluster_id;
	const char *kubernetes_namespace;
	const char *retention;
	int64_t checkpoint_interval_ms; /* 0: not set here (the job may set it) */
	int64_t heartbeat_interval_ms;  /* 0: not set */
	int64_t heartbeat_timeout_ms;   /* 0: not set; the TaskManagers read the same file */
	bool checkpoint_subdir;         /* false: no checkpoint directory per job */
	/* A restored job fails at its first checkpoint, unless its code sets another claim mode: the changelog
	 * does not support NO_CLAIM (FLINK-38307, Flink 1.15 to 2.3), and a claim mode in files has no effect
	 * (flink_overwritten_keys()). */
	bool changelog;
	bool forst;       /* state.backend.type */
	bool async_state; /* table.exec.async-state.enabled (Flink 2.x) */
};

/* ERR_CONFIG: rest.port is 0 or a range with no single port, a duration or number cannot be
 * read. */
int flink_conf_settings(const struct flink_conf *conf, struct flink_settings *ret_settings,
			struct err *err);

/* A boolean as Flink reads it; NULL: false. */
bool flink_conf_is_true(const char *value);

/* Refuse keys that would override a decision of drey, whichever overlay sets them, such as
 * execution.state-recovery.path: Flink would start from it when drey has decided to start empty.
 * ERR_CONFIG names overlay, key and remedy. Keys that drey overrides on the command line are
 * allowed. */
int flink_conf_check(const struct flink_conf *conf, struct err *err);

/*
 * Where the metadata of snapshots in the directory `uri` is stored. Flink's S3 file systems spread
 * state files by replacing s3.entropy.key with random characters, and leave the key out of metadata
 * paths (EntropyInjector): its first occurrence anywhere in the path; consecutive slashes that
 * result become one. Caller frees.
 */
char *flink_conf_listed_dir(const struct flink_conf *conf, const char *uri);

/* "10 s", "500 ms", "1 min", "PT10S", "5000" (ms) as Flink reads durations. */
int flink_duration_parse(const char *text, int64_t *ret_ms, struct err *err);

#endif
