#include "run/config/config_check.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/handover/transition_step.h"
#include "run/lease/lease_uri.h"

const struct yaml_node *config_node_of(const struct yaml_node *root, const char *name)
{
	const struct yaml_node *node = root;

	while (node && *name) {
		cleanup_free char *part = xstrndup(name, strcspn(name, "."));

		node = yaml_get(node, part);
		name += strlen(part) + (name[strlen(part)] == '.');
	}
	return node;
}

/* Conflicts between two keys of the schedule. */
static int check_schedule(const struct config *config, const struct yaml_node *root,
			  struct err *err)
{
	const struct yaml_node *windows = config_node_of(root, "savepoints.blackouts"), *window;
	size_t count = 0;

	if (config->savepoints.cron && config->savepoints.interval_ms)
		return yaml_err(
			config_node_of(root, "savepoints.cron"), err,
			"'savepoints.interval' and 'savepoints.cron' exclude each other; remove one");
	yaml_each(window, windows) if (++count > SCHEDULE_MAX_BLACKOUTS) return yaml_err(
		window, err, "'savepoints.blackouts' may have at most %d windows",
		SCHEDULE_MAX_BLACKOUTS);
	return 0;
}

static int check_health(const struct config *config, const struct yaml_node *root, struct err *err)
{
	if (!config->health.restart_after_ms || config->attempts.max > 1)
		return 0;
	return yaml_err(
		config_node_of(root, "health.restartAfter"), err,
		"'health.restartAfter' needs 'attempts.max' of at least 2: a restart is a failed attempt, and must not be the last");
}

/* Without a savepoint the job continues from a checkpoint. */
static int check_stop_failure(const struct config *config, const struct yaml_node *root,
			      struct err *err)
{
	if (config->savepoints.on_stop_failure != STOP_FAILURE_LAST_STATE ||
	    config->restore.policy != POLICY_SAVEPOINT)
		return 0;
	return yaml_err(
		config_node_of(root, "savepoints.onStopFailure"), err,
		"'savepoints.onStopFailure' is last-state, but 'restore.policy' excludes checkpoints; set it to retry or keep-running");
}

/* The two contradict each other, and an empty start would be silent. */
static int check_policy(const struct config *config, const struct yaml_node *root, struct err *err)
{
	if (config->restore.policy != POLICY_NONE || !config->restore.initial_savepoint)
		return 0;
	return yaml_err(
		config_node_of(root, "restore.initialSavepoint"), err,
		"'restore.initialSavepoint' is set, but 'restore.policy' is none, so no launch would use it; remove one of them");
}

char *config_unused_savepoints(const struct config *config)
{
	cleanup_buf struct buf keys = BUF_INIT;
	const struct {
		bool takes;
		const char *key;
	} all[] = {
		{config->upgrade == UPGRADE_BY_SAVEPOINT, "upgrade: savepoint"},
		{config->on_sigterm == SIGTERM_SAVEPOINT, "onSigterm: savepoint"},
		{config->savepoints.interval_ms > 0, "savepoints.interval"},
		{config->savepoints.cron != NULL, "savepoints.cron"},
	};

	if (config->restore.policy != POLICY_NONE)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].takes)
			buf_addf(&keys, "%s%s", keys.len_bytes ? ", " : "", all[i].key);
	if (!keys.len_bytes)
		return NULL;
	return xasprintf(
		"restore.policy is none, so no launch uses the savepoints of %s; set upgrade: stateless and take no savepoints, or set restore.policy: latest",
		buf_str(&keys));
}

static int check_lease(const struct config *config, const struct yaml_node *root, struct err *err)
{
	const struct yaml_node *node = config_node_of(root, "lease.uri");
	char uri[LEASE_URI_BYTES];
	struct err why = {0};

	if (config->lease.name && strlen(config->lease.name) >= LEASE_NAME_BYTES)
		return yaml_err(config_node_of(root, "lease.name"), err,
				"'lease.name' is longer than %d bytes", LEASE_NAME_BYTES - 1);
	if (!config->lease.uri)
		return 0;
	if (strncmp(config->lease.uri, "s3", 2) != 0)
		return yaml_err(
			node, err,
			"'lease.uri' must be an object in S3 (s3://BUCKET/NAME): other stores have no conditional writes");
	if (lease_uri(config->lease.uri, uri, &why) < 0)
		return yaml_err(node, err, "'lease.uri': %s", why.msg);
	if (config->handover.mode != HANDOVER_OFF)
		return yaml_err(
			node, err,
			"'lease.uri' and 'handover.mode: %s' exclude each other: the lease has one holder, and a hand-over two pods",
			handover_mode_words[config->handover.mode]);
	if (config->restore.foreign == FOREIGN_IGNORE)
		return yaml_err(
			node, err,
			"'lease.uri' and 'restore.foreign: ignore' exclude each other: what the other installation has left would be ignored");
	return 0;
}

static int check_cluster_ids(const struct config *config, const struct yaml_node *root,
			     struct err *err)
{
	char **ids = config->handover.cluster_ids;
	const struct yaml_node *node = config_node_of(root, "handover.clusterIds");

	if (config->handover.mode != HANDOVER_OFF && !ids)
		return yaml_err(
			node ? node : config_node_of(root, "handover.mode"), err,
			"'handover.mode' is %s, but 'handover.clusterIds' is not set; set it to the two cluster ids of Flink's HA, such as [%s, %s-green]",
			handover_mode_words[config->handover.mode], config->application,
			config->application);
	if (ids && (!ids[1] || ids[2]))
		return yaml_err(node, err,
				"'handover.clusterIds' must be exactly two cluster ids, such as "
				"[%s, %s-green]",
				config->application, config->application);
	if (ids && strcmp(ids[0], ids[1]) == 0)
		return yaml_err(
			node, err,
			"'handover.clusterIds' is '%s' twice; the two sides must not share their HA data, so give them different cluster ids",
			ids[0]);
	return 0;
}

static int check_gates(const struct config *config, const struct yaml_node *root, struct err *err)
{
	const struct gate_keys_kind *keys =
		gate_kind_of((enum transition_gate)config->blue_green.gate)->keys;
	const struct gate_settings settings = {.gate_name = config->blue_green.gate_name,
					       .lead_ms = config->blue_green.lead_ms,
					       .caught_up_ms = config->blue_green.caught_up_ms,
					       .align_ms = config->blue_green.align_ms};
	const char *key, *why = keys ? keys->refuses(&settings, &key) : NULL;
	const struct yaml_node *node = why ? config_node_of(root, key) : NULL;

	if (!why)
		return 0;
	return yaml_err(node ? node : config_node_of(root, "blueGreen.gate"), err, "%s", why);
}

static int check_blue_green(const struct config *config, const struct yaml_node *root,
			    struct err *err)
{
	const struct yaml_node *mode = config_node_of(root, "handover.mode");

	if (config->handover.mode != HANDOVER_BLUE_GREEN)
		return 0;
	if (!config->blue_green.sources_can_be_read_twice)
		return yaml_err(
			mode, err,
			"'handover.mode' is blueGreen, but 'blueGreen.sourcesCanBeReadTwice' is not true: two jobs read all sources at the same time, which queues with competing consumers and replication slots do not allow; set it to true if yours do, or use 'handover.mode: surge'");
	return check_gates(config, root, err);
}

static int check_handover(const struct config *config, const struct yaml_node *root,
			  struct err *err)
{
	return check_cluster_ids(config, root, err) < 0 ? -1 : check_blue_green(config, root, err);
}

int config_check(const struct config *config, const struct yaml_node *root, struct err *err)
{
	if (check_schedule(config, root, err) < 0 || check_health(config, root, err) < 0 ||
	    check_stop_failure(config, root, err) < 0 || check_policy(config, root, err) < 0 ||
	    check_lease(config, root, err) < 0 || check_handover(config, root, err) < 0)
		return -1;
	return 0;
}
