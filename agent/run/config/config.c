#include "run/config/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/distance.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "base/zone.h"
#include "core/handover/handover.h"
#include "core/handover/transition_step.h"
#include "core/lease/lease_claim.h"
#include "core/report/notification.h"
#include "core/scale.h"
#include "flink/class_archive.h"
#include "flink/jvm_options.h"
#include "kube/kube_target.h"
#include "run/config/config_check.h"
#include "run/config/config_value.h"
#include "run/outputs/termination.h"
#include "store/store.h"

#define SECOND 1000LL
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

static const char *const collect_words[] = {"off", "auto", NULL};
static const char *const fencing_words[] = {"default", "strict", NULL};
static const char *const finished_words[] = {"stay", "exit", NULL};
static const char *const addressing_words[] = {"auto", "path", "virtual", NULL};
static const char *const kubernetes_words[] = {"auto", "true", "false", NULL};
static const char *const copy_words[] = {"auto", "off", NULL};
static const char *const unknown_version_words[] = {"refuse", "allow", NULL};
static const char *const relaunch_words[] = {"direct", "scripts", NULL};
static const char *const archive_words[] = {CLASS_ARCHIVE_AUTO, CLASS_ARCHIVE_NONE, NULL};
static const char *const jvm_words[] = {"fast", "unchanged", NULL};
static const char *const spare_words[] = {CONFIG_SPARE_OFF, CONFIG_SPARE_WARM, NULL};
static const char *const loss_words[] = {"auto", NULL};
static const char *const hold_words[] = {"main", "none", NULL};
static const char *const failure_words[] = {"return", "hold", NULL};
static const char *const idle_words[] = {"wait", "pass", NULL};
static const char *const promote_words[] = {"automatic", "manual", NULL};
static const char *const format_words[] = {"auto", "json", "text", NULL};
static const char *const level_words[] = {"debug", "info", "warn", "error", NULL};
/* The index of a word is the value of the enum. */
_Static_assert(WHEN_FINISHED_STAY == 0 && WHEN_FINISHED_EXIT == 1, "order of finished_words");
_Static_assert(S3_ADDRESSING_AUTO == 0 && S3_ADDRESSING_VIRTUAL == 2, "order of addressing_words");
_Static_assert(LOSS_MAX_AUTO == -1, "loss_words");
_Static_assert(KUBERNETES_AUTO == 0 && KUBERNETES_FALSE == 2, "order of kubernetes_words");
_Static_assert(JVM_START_FAST == 0 && JVM_START_UNCHANGED == 1, "order of jvm_words");
_Static_assert(HANDOVER_HOLD_MAIN == 0 && HANDOVER_HOLD_NONE == 1, "order of hold_words");
_Static_assert(HANDOVER_FAILURE_RETURN == 0 && HANDOVER_FAILURE_HOLD == 1,
	       "order of failure_words");
_Static_assert(BLUE_GREEN_IDLE_WAIT == 0 && BLUE_GREEN_IDLE_PASS == 1, "order of idle_words");
_Static_assert(BLUE_GREEN_PROMOTE_AUTOMATIC == 0 && BLUE_GREEN_PROMOTE_MANUAL == 1,
	       "order of promote_words");
_Static_assert(LOG_AUTO == 0 && LOG_JSON == 1 && LOG_TEXT == 2, "order of format_words");
_Static_assert(LOG_DEBUG == 0 && LOG_ERROR == 3, "order of level_words");

#define KEY(path, of_type, member, ...)                                                            \
	{                                                                                          \
		.name = path, .type = CONFIG_##of_type, .offset = offsetof(struct config, member), \
		__VA_ARGS__                                                                        \
	}

static int check_cron(const char *text, struct err *err)
{
	struct cron cron;

	return cron_parse(text, &cron, err);
}

static int check_blackout(const char *text, struct err *err)
{
	struct blackout blackout;

	return blackout_parse(text, &blackout, err);
}

/* The brackets belong to URLs, which drey and Flink make themselves. */
static int check_host(const char *text, struct err *err)
{
	if (*text != '[')
		return 0;
	return err_set(err, ERR_CONFIG, 0,
		       "'%.80s' has brackets; write an IPv6 address without them", text);
}

/* As the header Host has it, without its port. */
static int check_host_name(const char *text, struct err *err)
{
	size_t len = strlen(text);

	if (len && len <= 253 &&
	    strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
		    len &&
	    text[len - 1] != '.')
		return 0;
	return err_set(err, ERR_CONFIG, 0,
		       "'%.80s' is not a host name, such as drey.example.com, without a port",
		       text);
}

/* It is a label of Flink's ConfigMaps as well as the beginning of their names. */
static int check_cluster_id(const char *text, struct err *err)
{
	size_t len = strlen(text);

	if (len && len <= CONFIG_CLUSTER_ID_MAX &&
	    strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == len && text[0] != '-' &&
	    text[len - 1] != '-')
		return 0;
	return err_set(
		err, ERR_CONFIG, 0,
		"'%.80s' is not a cluster id: 1 to %d characters a-z, 0-9 or '-', and a letter or digit at both ends",
		text, CONFIG_CLUSTER_ID_MAX);
}

static const struct config_key keys[] = {
	KEY("application", NAME, application, .required = true),
	KEY("stateDirectory", DIRECTORY, state_directory, .required = true),
	KEY("generation", STRING, generation),
	KEY("fencing", WORD, fencing, .fallback = "default", .words = fencing_words),
	KEY("onSigterm", WORD, on_sigterm, .fallback = "keep", .words = sigterm_words),
	KEY("upgrade", WORD, upgrade, .fallback = "savepoint", .words = upgrade_words),
	KEY("terminationMessage", FILE, termination_message, .fallback = TERMINATION_DEFAULT),
	KEY("whenFinished", WORD, when_finished, .fallback = "stay", .words = finished_words),

	KEY("cleanup", WORD, cleanup, .fallback = "off", .words = collect_words),

	KEY("flink.command", LIST, flink.command, .required = true),
	KEY("flink.version", VERSION, flink.version, .fallback = "auto"),
	KEY("flink.unknownVersion", WORD, flink.unknown_version, .fallback = "refuse",
	    .words = unknown_version_words),
	KEY("flink.classArchive", FILE, flink.class_archive, .fallback = CLASS_ARCHIVE_AUTO,
	    .words = archive_words),
	KEY("flink.jvm", WORD, flink.jvm, .fallback = "fast", .words = jvm_words),
	KEY("flink.spare", FILE, flink.spare, .fallback = CONFIG_SPARE_OFF, .words = spare_words),
	KEY("flink.relaunch", WORD, flink.relaunch, .fallback = "direct", .words = relaunch_words),
	KEY("flink.configDirectory", DIRECTORY, flink.config_directory),
	KEY("flink.properties", PROPERTIES, flink.properties),
	KEY("flink.environment", VARIABLES, flink.environment),
	KEY("flink.jobClass", STRING, flink.job_class),
	KEY("flink.jars", LIST, flink.jars),
	KEY("flink.arguments", LIST, flink.arguments),
	KEY("flink.restAddress", STRING, flink.rest_address, .fallback = "127.0.0.1",
	    .check = check_host),
	KEY("flink.restPort", INTEGER, flink.rest_port, .fallback = "8081", .min = 1, .max = 65535),
	KEY("flink.rpcAddress", STRING, flink.rpc_address, .check = check_host),
	KEY("flink.checkpointDirectory", URI, flink.checkpoint_directory, .check = store_check),
	KEY("flink.savepointDirectory", URI, flink.savepoint_directory, .check = store_check),
	KEY("flink.resultStoreDirectory", URI, flink.result_store_directory),
	KEY("flink.heartbeatInterval", DURATION, flink.heartbeat_interval_ms, .fallback = "1s",
	    .max = 10 * MINUTE),
	KEY("flink.heartbeatTimeout", DURATION, flink.heartbeat_timeout_ms, .fallback = "5s",
	    .max = HOUR),
	KEY("flink.killAfter", DURATION, flink.kill_after_ms, .fallback = "20s", .min = SECOND,
	    .max = HOUR),

	KEY("restore.policy", WORD, restore.policy, .fallback = "latest", .words = policy_words),
	KEY("restore.initialSavepoint", URI, restore.initial_savepoint, .check = store_check),
	KEY("restore.maxAge", DURATION, restore.max_age_ms, .fallback = "0", .max = 3650 * DAY),
	KEY("restore.maxLoss", DURATION, restore.max_loss_ms, .fallback = "auto", .max = 3650 * DAY,
	    .words = loss_words),
	KEY("restore.foreign", WORD, restore.foreign, .fallback = "hold", .words = foreign_words),
	KEY("restore.adopt", WORD, restore.adopt, .fallback = "hold", .words = adopt_words),

	KEY("journal.copy", WORD, journal.copy, .fallback = "auto", .words = copy_words),

	KEY("lease.uri", URI, lease.uri, .check = store_check),
	KEY("lease.name", STRING, lease.name),
	KEY("lease.duration", DURATION, lease.duration_ms, .fallback = "30s", .min = LEASE_MIN_MS,
	    .max = LEASE_MAX_MS),

	KEY("storage.s3.endpoint", STRING, storage.s3.endpoint),
	KEY("storage.s3.region", STRING, storage.s3.region),
	KEY("storage.s3.addressing", WORD, storage.s3.addressing, .fallback = "auto",
	    .words = addressing_words),
	KEY("storage.s3.accessKeyFile", FILE, storage.s3.access_key_file),
	KEY("storage.s3.secretKeyFile", FILE, storage.s3.secret_key_file),
	KEY("storage.s3.sessionTokenFile", FILE, storage.s3.session_token_file),
	KEY("storage.s3.profile", STRING, storage.s3.profile),
	KEY("storage.s3.caFile", FILE, storage.s3.ca_file),
	KEY("storage.swift.authUrl", STRING, storage.swift.auth_url),
	KEY("storage.swift.user", STRING, storage.swift.user),
	KEY("storage.swift.passwordFile", FILE, storage.swift.password_file),
	KEY("storage.swift.userDomain", STRING, storage.swift.user_domain),
	KEY("storage.swift.project", STRING, storage.swift.project),
	KEY("storage.swift.projectDomain", STRING, storage.swift.project_domain),
	KEY("storage.swift.applicationCredentialId", STRING,
	    storage.swift.application_credential_id),
	KEY("storage.swift.applicationCredentialSecretFile", FILE,
	    storage.swift.application_credential_secret_file),
	KEY("storage.swift.region", STRING, storage.swift.region),
	KEY("storage.swift.caFile", FILE, storage.swift.ca_file),

	KEY("checkpoints.fullInterval", DURATION, checkpoints.full_interval_ms, .fallback = "0",
	    .max = 365 * DAY),
	KEY("savepoints.interval", DURATION, savepoints.interval_ms, .fallback = "0",
	    .max = 365 * DAY),
	KEY("savepoints.jitter", DURATION, savepoints.jitter_ms, .fallback = "0", .max = DAY),
	KEY("savepoints.cron", STRING, savepoints.cron, .check = check_cron),
	KEY("savepoints.timeZone", STRING, savepoints.time_zone, .check = zone_check),
	KEY("savepoints.blackouts", LIST, savepoints.blackouts, .check = check_blackout),
	KEY("savepoints.retention.count", INTEGER, savepoints.keep_count, .fallback = "0",
	    .max = JOURNAL_MAX_SNAPSHOTS / 2),
	KEY("savepoints.retention.maxAge", DURATION, savepoints.keep_max_age_ms, .fallback = "0",
	    .max = 3650 * DAY),
	KEY("savepoints.retention.all", BOOL, savepoints.keep_all_origins, .fallback = "false"),
	KEY("savepoints.format", WORD, savepoints.format, .fallback = "auto",
	    .words = format_policy_words),
	KEY("savepoints.retries", INTEGER, savepoints.retries, .fallback = "2", .max = 10),
	KEY("savepoints.retryDelay", DURATION, savepoints.retry_delay_ms, .fallback = "10s",
	    .min = SECOND, .max = HOUR),
	KEY("savepoints.drain", BOOL, savepoints.drain, .fallback = "false"),
	KEY("savepoints.stopRetry", DURATION, savepoints.stop_retry_ms, .fallback = "30s",
	    .min = SECOND, .max = DAY),
	KEY("savepoints.onStopFailure", WORD, savepoints.on_stop_failure, .fallback = "retry",
	    .words = stop_failure_words),
	KEY("savepoints.stopRetries", INTEGER, savepoints.stop_retries, .fallback = "3",
	    .max = 100),

	KEY("attempts.max", INTEGER, attempts.max, .fallback = "5", .min = 1,
	    .max = JOURNAL_MAX_FAILURES),
	KEY("attempts.sameFailure", INTEGER, attempts.same, .fallback = "2",
	    .max = JOURNAL_MAX_FAILURES),
	KEY("attempts.whenProven", WORD, attempts.when_proven, .fallback = "forever",
	    .words = attempts_words),
	KEY("attempts.window", DURATION, attempts.window_ms, .fallback = "10min", .min = SECOND,
	    .max = 30 * DAY),
	KEY("attempts.backoffFirst", DURATION, attempts.backoff_first_ms, .fallback = "1s",
	    .max = HOUR),
	KEY("attempts.backoffMax", DURATION, attempts.backoff_max_ms, .fallback = "60s",
	    .max = DAY),
	KEY("attempts.readyDeadline", DURATION, attempts.ready_deadline_ms, .fallback = "10min",
	    .min = SECOND, .max = DAY),

	KEY("health.checkpointFailures", INTEGER, health.checkpoint_failures, .fallback = "3",
	    .max = 10),
	KEY("health.checkpointIntervals", INTEGER, health.checkpoint_intervals, .fallback = "10",
	    .max = 10000),
	KEY("health.checkpointAge", DURATION, health.checkpoint_age_ms, .fallback = "5min",
	    .max = 30 * DAY),
	KEY("health.restartAfter", DURATION, health.restart_after_ms, .fallback = "0",
	    .max = 30 * DAY),
	KEY("health.unreachableAfter", DURATION, health.unreachable_after_ms, .fallback = "15min",
	    .max = 30 * DAY),

	KEY("verify.interval", DURATION, verify.interval_ms, .fallback = "6h", .max = 365 * DAY),
	KEY("verify.requestsPerHour", INTEGER, verify.requests, .fallback = "60", .max = 1000000),

	KEY("holding.retryFirst", DURATION, holding.retry_first_ms, .fallback = "1s", .min = 100,
	    .max = HOUR),
	KEY("holding.retryMax", DURATION, holding.retry_max_ms, .fallback = "30s", .min = 100,
	    .max = DAY),

	KEY("gc.keepLaunches", INTEGER, gc.keep_launches, .fallback = "2",
	    .max = JOURNAL_MAX_LAUNCHES),
	KEY("gc.keepFor", DURATION, gc.keep_ms, .fallback = "7d", .max = 3650 * DAY),
	KEY("gc.grace", DURATION, gc.grace_ms, .fallback = "1h", .max = 30 * DAY),
	KEY("gc.interval", DURATION, gc.interval_ms, .fallback = "6h", .min = SECOND,
	    .max = 30 * DAY),

	KEY("kubernetes.enabled", WORD, kubernetes.enabled, .fallback = "auto",
	    .words = kubernetes_words),
	KEY("kubernetes.kubeconfig", FILE, kubernetes.kubeconfig),
	KEY("kubernetes.namespace", NAME, kubernetes.namespace),
	KEY("kubernetes.journal", OBJECT, kubernetes.journal),
	KEY("kubernetes.control", OBJECT, kubernetes.control),
	KEY("kubernetes.launches", INTEGER, kubernetes.launches, .fallback = "200", .max = 1000),
	KEY("kubernetes.salt", STRING, kubernetes.salt),
	KEY("kubernetes.createMaps", BOOL, kubernetes.create_maps, .fallback = "true"),
	KEY("kubernetes.fastFailover", BOOL, kubernetes.fast_failover, .fallback = "true"),
	KEY("kubernetes.resource", OBJECT, kubernetes.resource),
	KEY("kubernetes.owner", STRING, kubernetes.owner),
	KEY("kubernetes.taskManagers", STRING, kubernetes.task_managers),
	KEY("kubernetes.scale", SCALE, kubernetes.scale),
	KEY("kubernetes.scaleWhen", WORD, kubernetes.scale_when, .fallback = "parked",
	    .words = scale_words),
	KEY("kubernetes.scaleParkedAfter", DURATION, kubernetes.scale_parked_after_ms,
	    .fallback = "0", .max = 365 * DAY),
	KEY("kubernetes.scaleFinishedAfter", DURATION, kubernetes.scale_finished_after_ms,
	    .fallback = "0", .max = 365 * DAY),
	KEY("check.graph", BOOL, check.graph, .fallback = "true"),
	KEY("check.graphTimeout", DURATION, check.graph_timeout_ms, .fallback = "60s",
	    .min = SECOND, .max = HOUR),
	KEY("handover.mode", WORD, handover.mode, .fallback = "none", .words = handover_mode_words),
	KEY("handover.clusterIds", LIST, handover.cluster_ids, .check = check_cluster_id),
	KEY("handover.candidate", OBJECT, handover.candidate),
	KEY("handover.hold", WORD, handover.hold, .fallback = "main", .words = hold_words),
	KEY("handover.rehearse", BOOL, handover.rehearse, .fallback = "true"),
	KEY("handover.probation", DURATION, handover.probation_ms, .fallback = "0", .max = HOUR),
	KEY("handover.prepareDeadline", DURATION, handover.prepare_deadline_ms, .fallback = "5min",
	    .min = 10 * SECOND, .max = DAY),
	KEY("handover.stopDeadline", DURATION, handover.stop_deadline_ms, .fallback = "5min",
	    .min = SECOND, .max = DAY),
	KEY("handover.takeDeadline", DURATION, handover.take_deadline_ms, .fallback = "15s",
	    .min = SECOND, .max = HOUR),
	KEY("handover.runDeadline", DURATION, handover.run_deadline_ms, .fallback = "3min",
	    .min = SECOND, .max = DAY),
	KEY("handover.tries", INTEGER, handover.tries, .fallback = "2", .min = 1, .max = 100),
	KEY("handover.onFailure", WORD, handover.on_failure, .fallback = "return",
	    .words = failure_words),
	KEY("blueGreen.gate", WORD, blue_green.gate, .fallback = "drey",
	    .words = transition_gate_words),
	KEY("blueGreen.sourcesCanBeReadTwice", BOOL, blue_green.sources_can_be_read_twice,
	    .fallback = "false"),
	KEY("blueGreen.sinkUids", LIST, blue_green.sink_uids),
	KEY("blueGreen.configMap", OBJECT, blue_green.config_map),
	KEY("blueGreen.gateName", STRING, blue_green.gate_name),
	KEY("blueGreen.lead", DURATION, blue_green.lead_ms, .fallback = "30s", .min = SECOND,
	    .max = HOUR / 2),
	KEY("blueGreen.align", DURATION, blue_green.align_ms, .fallback = "0", .max = DAY),
	KEY("blueGreen.caughtUp", DURATION, blue_green.caught_up_ms, .fallback = "10s", .min = 100,
	    .max = HOUR),
	KEY("blueGreen.settle", DURATION, blue_green.settle_ms, .fallback = "10s", .max = HOUR),
	KEY("blueGreen.idle", WORD, blue_green.idle, .fallback = "wait", .words = idle_words),
	KEY("blueGreen.deadline", DURATION, blue_green.deadline_ms, .fallback = "30min",
	    .min = 10 * SECOND, .max = 30 * DAY),
	KEY("blueGreen.promote", WORD, blue_green.promote, .fallback = "automatic",
	    .words = promote_words),
	KEY("blueGreen.afterCut", WORD, blue_green.after_cut, .fallback = "replay",
	    .words = after_cut_words),

	KEY("control.directory", DIRECTORY, control.directory),
	KEY("control.poll", DURATION, control.poll_ms, .fallback = "30s", .max = HOUR),

	KEY("hooks.directory", DIRECTORY, hooks.directory),
	KEY("hooks.timeout", DURATION, hooks.timeout_ms, .fallback = "30s", .min = 100,
	    .max = HOUR),
	KEY("hooks.environment", VARIABLES, hooks.environment),

	KEY("notifications.urlFile", FILE, notifications.url_file),
	KEY("notifications.format", WORD, notifications.format, .fallback = "cloudevents",
	    .words = notification_format_words),
	KEY("notifications.events", WORD, notifications.events, .fallback = "problems",
	    .words = notification_events_words),
	KEY("notifications.tokenFile", FILE, notifications.token_file),
	KEY("notifications.caFile", FILE, notifications.ca_file),

	KEY("http.address", STRING, http.address, .fallback = "0.0.0.0"),
	KEY("http.port", INTEGER, http.port, .fallback = "8085", .max = 65535),
	KEY("http.hosts", LIST, http.hosts, .check = check_host_name),

	KEY("log.format", WORD, log.format, .fallback = "auto", .words = format_words),
	KEY("log.level", WORD, log.level, .fallback = "info", .words = level_words),

	KEY("poll.fast", DURATION, poll.fast_ms, .fallback = "250ms", .min = 50, .max = MINUTE),
	KEY("poll.tasks", DURATION, poll.tasks_ms, .fallback = "5s", .max = HOUR),
	KEY("poll.slow", DURATION, poll.slow_ms, .fallback = "30s", .min = 50, .max = HOUR),
};

/* The first must not be greater than the second (unless the second is 0 and that means "off"). */
static const struct {
	const char *less, *more;
	bool zero_is_off;
} orders[] = {
	{"savepoints.jitter", "savepoints.interval", true},
	{"flink.heartbeatInterval", "flink.heartbeatTimeout", true},
	{"attempts.backoffFirst", "attempts.backoffMax", false},
	{"holding.retryFirst", "holding.retryMax", false},
	{"poll.fast", "poll.slow", false},
};

const struct config_key *config_keys(size_t *ret_count)
{
	*ret_count = ARRAY_LEN(keys);
	return keys;
}

static const struct config_key *key_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

/* `name` is "" or the dotted name of a section. */
static bool is_inside(const struct config_key *key, const char *section)
{
	size_t len = strlen(section);

	return len == 0 || (strncmp(key->name, section, len) == 0 && key->name[len] == '.');
}

static bool is_section(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (is_inside(&keys[i], name))
			return true;
	return false;
}

/* The first part of the key's name below `section`: "flink" for "", "restPort" for "flink". */
static char *part_below(const struct config_key *key, const char *section)
{
	const char *part = key->name + strlen(section) + (*section ? 1 : 0);

	return xstrndup(part, strcspn(part, "."));
}

/* "secretKey" instead of "secretKeyFile": a secret does not belong in drey.yaml. */
static int refuse_secret(const struct yaml_node *node, const char *section, struct err *err)
{
	cleanup_free char *file = xasprintf("%s.%sFile", section, node->key);

	if (!key_find(file))
		return 0;
	return yaml_err_key(
		node, err,
		"'%s.%s' does not belong in this file; put the secret into a file that only drey can read, and set '%s' to its path",
		section, node->key, file);
}

/* Suggest what the user may have meant, else list the known keys. */
static int unknown_key(const struct yaml_node *node, const char *section, struct err *err)
{
	cleanup_free char *best = NULL;
	cleanup_buf struct buf all = BUF_INIT;
	cleanup_free char *last = NULL;
	size_t best_distance = distance_near(node->key);
	const char *elsewhere = NULL;

	if (refuse_secret(node, section, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const char *dot = strrchr(keys[i].name, '.');
		cleanup_free char *part = NULL;
		size_t d;

		if (strcmp(dot ? dot + 1 : keys[i].name, node->key) == 0 ||
		    strcmp(keys[i].name, node->key) == 0)
			elsewhere = keys[i].name;
		if (!is_inside(&keys[i], section))
			continue;
		part = part_below(&keys[i], section);
		if (last && strcmp(last, part) == 0)
			continue;
		xstrset(&last, part);
		buf_addf(&all, "%s%s", all.len_bytes ? ", " : "", part);
		d = distance_of(node->key, part);
		if (d <= best_distance) {
			best_distance = d - (d > 0);
			xstrset(&best, part);
		}
	}
	if (elsewhere)
		return yaml_err_key(node, err, "unknown key '%s%s%s'; did you mean '%s'?", section,
				    *section ? "." : "", node->key, elsewhere);
	if (best)
		return yaml_err_key(node, err, "unknown key '%s%s%s'; did you mean '%s'?", section,
				    *section ? "." : "", node->key, best);
	return yaml_err_key(node, err, "unknown key '%s%s%s'; known keys: %s", section,
			    *section ? "." : "", node->key, buf_str(&all));
}

/* `seen` has a flag for every key. */
static int parse_section(struct config *config, const struct yaml_node *map, const char *section,
			 bool *seen, struct err *err)
{
	const struct yaml_node *node;

	yaml_each(node, map)
	{
		cleanup_free char *name =
			xasprintf("%s%s%s", section, *section ? "." : "", node->key);
		/* A dot inside a key would let "flink.restPort" pass for the nested form. */
		const struct config_key *key = strchr(node->key, '.') ? NULL : key_find(name);

		if (key) {
			if (config_value_set(config, key, node, err) < 0)
				return -1;
			seen[key - keys] = true;
		} else if (!strchr(node->key, '.') && is_section(name)) {
			if (yaml_is_null(node))
				continue;
			if (node->kind != YAML_MAPPING)
				return yaml_err(node, err, "'%s' must be a map of keys", name);
			if (parse_section(config, node, name, seen, err) < 0)
				return -1;
		} else {
			return unknown_key(node, section, err);
		}
	}
	return 0;
}

static int apply_defaults(struct config *config, const bool *seen, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct yaml_node node = {.kind = YAML_SCALAR};

		if (seen[i])
			continue;
		if (keys[i].required)
			return err_set(err, ERR_CONFIG, 0, "key '%s' (%s) is missing", keys[i].name,
				       config_type_name(keys[i].type));
		if (!keys[i].fallback)
			continue;
		node.text = (char *)keys[i].fallback;
		if (config_value_set(config, &keys[i], &node, err) < 0)
			return err_wrap(err, "default of '%s'", keys[i].name);
	}
	return 0;
}

static int check_orders(const struct config *config, const struct yaml_node *root, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
		const struct config_key *less = key_find(orders[i].less);
		const struct config_key *more = key_find(orders[i].more);
		int64_t less_ms = *(const int64_t *)((const char *)config + less->offset);
		int64_t more_ms = *(const int64_t *)((const char *)config + more->offset);
		const struct yaml_node *node = config_node_of(root, less->name);

		if (less_ms <= more_ms || (more_ms == 0 && orders[i].zero_is_off))
			continue;
		return yaml_err(node ? node : config_node_of(root, more->name), err,
				"'%s' must not be longer than '%s'", less->name, more->name);
	}
	return 0;
}

int config_parse(const char *text, size_t len_bytes, struct config *ret_config, struct err *err)
{
	cleanup_yaml struct yaml_node *root = yaml_parse(text, len_bytes, CONFIG_MAX_BYTES, err);
	struct config config = {0};
	bool seen[ARRAY_LEN(keys)] = {false};

	if (!root)
		return -1;
	if (yaml_want(root, YAML_MAPPING, err) < 0)
		return -1;
	if (parse_section(&config, root, "", seen, err) < 0 ||
	    apply_defaults(&config, seen, err) < 0 || check_orders(&config, root, err) < 0 ||
	    config_check(&config, root, err) < 0) {
		config_release(&config);
		return -1;
	}
	*ret_config = config;
	return 0;
}

int config_load(const char *path, struct config *ret_config, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;

	if (fs_read(path, CONFIG_MAX_BYTES, &text, err) < 0)
		return err_wrap(err, "configuration");
	if (config_parse(buf_str(&text), text.len_bytes, ret_config, err) < 0)
		return err_wrap(err, "%s", path);
	return 0;
}

void config_release(struct config *config)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		config_value_clear(config, &keys[i]);
	if (config->kubernetes.target)
		kube_target_release(config->kubernetes.target);
	free(config->kubernetes.target);
	config->kubernetes.target = NULL;
}
