/*
 * config - drey.yaml: what the user configures, checked.
 *
 * Life cycle: config_load() or config_parse() -> struct config -> config_release(). The struct owns
 * all its strings; an omitted text is NULL. Durations are in ms.
 *
 * One table (config_keys) drives parsing, defaults and checks, and a test compares it with
 * docs/reference/configuration.md, which describes every key. Refused, with file, line and column: keys that
 * are not in the table (with a suggestion), keys given twice, wrong types, values out of range,
 * URIs that no store supports, cron lines, blackouts, time zones. Values are taken
 * literally: no environment variables, no includes.
 */
#ifndef DREY_RUN_CONFIG_H
#define DREY_RUN_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "core/lifecycle/lifecycle.h"
#include "flink/launch.h"

struct kube_scale_target;
struct kube_target;

#define CONFIG_MAX_BYTES    ((size_t)256 * 1024)
#define CONFIG_DEFAULT_FILE "/etc/drey/drey.yaml"
#define CONFIG_ENV          "DREY_CONFIG" /* names the file if --config does not */

/* Longest stateDirectory: the control socket below it must fit into struct sockaddr_un. */
#define CONFIG_STATE_DIR_MAX 96

/* Longest cluster id: the value of the label `app` of Flink's ConfigMaps. */
#define CONFIG_CLUSTER_ID_MAX 63

#define CONFIG_SPARE_OFF  "off"
#define CONFIG_SPARE_WARM "warm"
#define CONFIG_SPARE_JAR  "/usr/lib/drey/spare.jar" /* of "warm" */

/* What a drey does if it cannot reach its journal in a ConfigMap. */
enum fencing {
	FENCING_DEFAULT, /* its Flink keeps running */
	FENCING_STRICT,  /* its Flink is killed before another drey may start the job */
};

/* A copy of the journal beside the snapshots (core/journal/journal_copy.h). */
enum journal_copies {
	JOURNAL_COPY_AUTO, /* where drey itself writes to the store */
	JOURNAL_COPY_OFF,
};

/* What to do with a Flink of a line that drey does not know. */
enum unknown_version {
	UNKNOWN_VERSION_REFUSE, /* it is not started */
	UNKNOWN_VERSION_ALLOW,
};

/* How Flink is started again if nothing has changed. */
enum relaunch_way {
	RELAUNCH_BY_LINE,    /* the command line of the last JVM */
	RELAUNCH_BY_SCRIPTS, /* the command, like the first time */
};

struct config {
	/* name of the application, a DNS-1123 label; must never change */
	char *application;
	char *state_directory;     /* absolute path: journal, control socket, locks */
	char *generation;          /* identifies the version of the job; a change means upgrade */
	int on_sigterm;            /* enum sigterm_policy */
	int upgrade;               /* enum upgrade_mode */
	int fencing;               /* enum fencing */
	int when_finished;         /* enum when_finished */
	int cleanup;               /* enum collect_mode */
	char *termination_message; /* path of the container's termination message file */

	struct {
		char **command;      /* NULL-terminated, at least one word */
		char *version;       /* "2.3.0"; NULL = auto: detected from the distribution */
		char *class_archive; /* file, or a keyword of class_archive.h */
		int jvm;             /* enum jvm_start */
		char *spare;         /* jar of the warm spare, or CONFIG_SPARE_... */
		int unknown_version; /* enum unknown_version */
		int relaunch;        /* enum relaunch_way */
		/* of Flink's own config.yaml; NULL = found from the command */
		char *config_directory;
		struct flink_property *properties; /* -D, in order; owned */
		size_t property_count;
		char **environment; /* "NAME=value", added to the inherited one; NULL = none */
		char *job_class;
		char **jars;      /* NULL = none */
		char **arguments; /* of the program; NULL = none */
		char *rest_address;
		int64_t rest_port;
		char *rpc_address;
		char *checkpoint_directory; /* URIs; NULL = those of Flink's configuration */
		char *savepoint_directory;
		char *result_store_directory; /* URI; NULL until setup_load() has found it */
		int64_t heartbeat_interval_ms, heartbeat_timeout_ms;
		int64_t kill_after_ms; /* from SIGTERM to SIGKILL of Flink */
	} flink;

	struct {
		int policy;              /* enum restore_policy */
		char *initial_savepoint; /* what the very first start restores; NULL = empty */
		int64_t max_age_ms;      /* of a restore point; 0 = any age */
		int64_t max_loss_ms;     /* LOSS_MAX_AUTO: by the job's checkpoint interval */
		int foreign;             /* enum foreign_policy */
		int adopt;               /* enum adopt_policy */
	} restore;

	struct {
		int copy; /* enum journal_copies */
	} journal;

	struct {
		char *uri; /* of the object; NULL = none */
		char *name;
		int64_t duration_ms;
	} lease;

	/* secrets are given by file name; setup_storage.h reads the files */
	struct {
		struct {
			char *endpoint, *region;
			int addressing; /* enum s3_addressing */
			char *access_key_file, *secret_key_file, *session_token_file;
			char *profile, *ca_file;
		} s3;
		struct {
			char *auth_url, *user, *password_file;
			char *user_domain, *project, *project_domain;
			char *application_credential_id, *application_credential_secret_file;
			char *region, *ca_file;
		} swift;
	} storage;

	struct {
		int64_t interval_ms; /* 0 = none by an interval */
		int64_t jitter_ms;
		char *cron;                          /* NULL = none by a cron line */
		char *time_zone;                     /* NULL = according to TZ */
		char **blackouts;                    /* NULL = none */
		int64_t keep_count, keep_max_age_ms; /* core/lifecycle/retention.h */
		bool keep_all_origins;
		int format;                      /* enum format_policy */
		int64_t retries, retry_delay_ms; /* of a requested savepoint */
		bool drain;                      /* suspend and restart drain the sources */
		int64_t stop_retry_ms;           /* after a failed stop with savepoint */
		int on_stop_failure;             /* enum stop_failure */
		int64_t stop_retries;
	} savepoints;

	struct {
		int64_t full_interval_ms; /* between two periodic full checkpoints; 0 = none */
	} checkpoints;

	struct {
		int64_t max;
		int64_t same;    /* of a new version that fail alike; 0 = max */
		int when_proven; /* attempts_words */
		int64_t window_ms;
		int64_t backoff_first_ms, backoff_max_ms;
		int64_t ready_deadline_ms;
	} attempts;

	struct {
		/* when the checkpoints fail (lifecycle.h: struct health) */
		int64_t checkpoint_failures, checkpoint_intervals, checkpoint_age_ms;
		int64_t restart_after_ms;     /* 0 = a job without checkpoints is not restarted */
		int64_t unreachable_after_ms; /* 0 = a JobManager that hangs is not ended */
	} health;

	struct {
		int64_t interval_ms,
			requests; /* of completed checkpoints (core/lifecycle/review.h) */
	} verify;

	struct {
		int64_t retry_first_ms, retry_max_ms;
	} holding;

	/* what dead launches have left (core/gc/gc.h) */
	struct {
		int64_t keep_launches, keep_ms, grace_ms;
		int64_t interval_ms; /* cleanup: auto */
	} gc;

	/* completed by setup_kube.h */
	struct {
		int enabled;      /* enum kubernetes_enabled */
		char *kubeconfig; /* NULL = $KUBECONFIG, or the pod's own account */
		char *namespace;  /* NULL = the pod's, or that of the kubeconfig */
		char *journal;    /* ConfigMap; "none" = journal.json in the state directory */
		char *control;    /* ConfigMap; "none" = none */
		int64_t launches; /* number of job ids that the Role names; 0 = random ids */
		char *salt;       /* goes into the job ids; NULL = none */
		bool create_maps; /* false: the chart makes them */
		bool fast_failover;
		char *resource; /* custom resource; "none" = none */
		char *owner;    /* of the pod: "deployment/NAME", "job/NAME"; "none" = none */
		/* label selector of their Pods, for people; NULL = not known */
		char *task_managers;
		/* Deployments and StatefulSets of the TaskManagers; none = drey scales nothing */
		struct kube_scale_target *scale;
		size_t scale_count;
		int scale_when; /* enum scale_when */
		int64_t scale_parked_after_ms, scale_finished_after_ms;
		/* no key: whoever made this has found the API server, and has logged in; NULL = find it */
		struct kube_target *target;
	} kubernetes;

	/* of `drey check` */
	struct {
		bool graph; /* the new job is built, and compared with the state */
		int64_t graph_timeout_ms;
	} check;

	/* completed by setup_handover.h */
	struct {
		int mode;           /* enum handover_mode */
		char **cluster_ids; /* of Flink's HA, blue's and green's; NULL = not given */
		char *candidate;    /* ConfigMap; NULL = <application>-drey-candidate */
		int hold;           /* enum handover_hold */
		bool rehearse;      /* in the JVMs of a candidate */
		int64_t probation_ms;
		int64_t prepare_deadline_ms, stop_deadline_ms, take_deadline_ms, run_deadline_ms;
		int64_t tries;
		int on_failure; /* enum handover_failure */
	} handover;

	/* with handover.mode blueGreen */
	struct {
		int gate; /* enum transition_gate */
		bool sources_can_be_read_twice;
		char **sink_uids; /* NULL = none */
		char *config_map; /* of the keys of gates; NULL = by the name of the application */
		char *gate_name;  /* of their operator; NULL = not set */
		int64_t lead_ms, align_ms, caught_up_ms, settle_ms, deadline_ms;
		int idle;      /* enum blue_green_idle */
		int promote;   /* enum blue_green_promote */
		int after_cut; /* enum after_cut */
	} blue_green;

	struct {
		char *directory; /* of the control files; NULL = none */
		int64_t poll_ms; /* 0 = only when a change is reported */
	} control;

	struct {
		char *directory;    /* of the executables; NULL = none */
		int64_t timeout_ms; /* of each */
		char **environment; /* "NAME=value", added to their own; NULL = none */
	} hooks;

	struct {
		char *url_file; /* with the URL of the webhook; NULL = no notifications */
		int format;     /* enum notification_format */
		int events;     /* enum notification_events */
		char *token_file, *ca_file; /* or NULL */
	} notifications;

	struct {
		char *address; /* an IP address */
		int64_t port;  /* 0 = no HTTP */
		char **hosts; /* names by which the page and the status may be asked for, too; or NULL */
	} http;

	struct {
		int format; /* enum log_format */
		int level;  /* enum log_level */
	} log;

	struct {
		int64_t fast_ms, tasks_ms, slow_ms;
	} poll;
};

/* Who deletes what dead launches have left. */
enum collect_mode {
	COLLECT_OFF, /* a person, by `drey gc` */
	COLLECT_AUTO,
};

enum kubernetes_enabled {
	KUBERNETES_AUTO, /* if the process runs in a pod, or a kubeconfig is given */
	KUBERNETES_TRUE, /* required */
	KUBERNETES_FALSE,
};

/* Where the JVM of a candidate waits. */
enum handover_hold {
	HANDOVER_HOLD_MAIN, /* in front of the main() of the job */
	HANDOVER_HOLD_NONE, /* there is none until the job is handed over */
};

/* What becomes of a job that does not run at the candidate. */
enum handover_failure {
	HANDOVER_FAILURE_RETURN, /* it goes back */
	HANDOVER_FAILURE_HOLD,   /* the candidate keeps it, and holds */
};

/* A subtask without records, when all gates must be behind the cut. */
enum blue_green_idle {
	BLUE_GREEN_IDLE_WAIT,
	BLUE_GREEN_IDLE_PASS, /* counts as if it were */
};

/* Who says that the cut may come. */
enum blue_green_promote {
	BLUE_GREEN_PROMOTE_AUTOMATIC, /* as soon as the next version has caught up */
	BLUE_GREEN_PROMOTE_MANUAL,    /* a person */
};

enum when_finished {
	WHEN_FINISHED_STAY, /* keep running, parked, and report */
	WHEN_FINISHED_EXIT, /* exit the container with status 0: for a Kubernetes Job */
};

/*
 * Read and check a file. ERR_CONFIG (or what fs_read() gives): the message names the file, line and
 * column, and the remedy. *ret_config is set on success only; release it.
 */
int config_load(const char *path, struct config *ret_config, struct err *err);

/* The same from text; messages have no file name. */
int config_parse(const char *text, size_t len_bytes, struct config *ret_config, struct err *err);

void config_release(struct config *config); /* a zeroed one is fine */
#define cleanup_config __attribute__((cleanup(config_release)))

/* The jar of the warm spare; borrowed from `config`; NULL: flink.spare is off. */
const char *config_spare_jar(const struct config *config);

/* What the core needs. Strings stay borrowed from `config`. flink_version and application_ids
 * follow flink.version; the code that detects the version ("auto") overwrites them. The schedule is
 * that of setup_schedule.h. */
void config_lifecycle(const struct config *config, struct lifecycle_config *ret_life);

/* The part of a launch that the configuration gives; identity, restore point, env, version (unless
 * configured) and ha are the caller's. cluster_id is blue's, until the side is known. Everything stays
 * borrowed from `config`. */
void config_launch(const struct config *config, struct flink_launch *ret_launch);

/* ---- the table, for the documentation test and for help texts ---- */

enum config_type {
	CONFIG_STRING,
	CONFIG_NAME,       /* DNS-1123 label */
	CONFIG_OBJECT,     /* name of a Kubernetes object: DNS-1123 subdomain */
	CONFIG_DIRECTORY,  /* absolute path on this machine */
	CONFIG_FILE,       /* idem, of a file, or one of `words` */
	CONFIG_URI,        /* scheme:..., or an absolute path, which is made a file: URI */
	CONFIG_VERSION,    /* "auto" or a Flink version */
	CONFIG_LIST,       /* list of strings */
	CONFIG_PROPERTIES, /* map of strings, dotted or nested: "a.b.c: v" */
	CONFIG_VARIABLES,  /* map of environment variables */
	CONFIG_SCALE,      /* kubernetes.scale: see config_scale.h */
	CONFIG_DURATION,
	CONFIG_INTEGER,
	CONFIG_BOOL,
	CONFIG_WORD, /* one of `words` */
};

struct config_key {
	const char *name; /* "flink.restPort" */
	enum config_type type;
	size_t offset;
	const char *fallback; /* default as written in a file; NULL = none */
	bool required;
	int64_t min, max; /* INTEGER, DURATION (ms) */
	/* WORD: NULL-terminated; the index is the value. FILE, DURATION (the value is then -1 - index): or NULL */
	const char *const *words;
	/* STRING, URI, each of a LIST: format checked in addition to the type; NULL = none */
	int (*check)(const char *text, struct err *err);
};

/* All keys, in the order of the documentation. */
const struct config_key *config_keys(size_t *ret_count);

const char *config_type_name(enum config_type type); /* "duration", "list of strings", ... */

#endif
