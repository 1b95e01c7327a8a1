#include "run/config/config_check.h"

#include <string.h>

#include "base/mem.h"
#include "core/handover/handover.h"

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

static int check_lease(const struct config *config, const struct yaml_node *root, struct err *err)
{
	const struct yaml_node *node = config_node_of(root, "lease.uri");

	if (!config->lease.uri)
		return 0;
	if (strncmp(config->lease.uri, "s3", 2) != 0)
		return yaml_err(
			node, err,
			"'lease.uri' must be an object in S3 (s3://BUCKET/NAME): other stores have no conditional writes");
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

static int check_handover(const struct config *config, const struct yaml_node *root,
			  struct err *err)
{
	char **ids = config->handover.cluster_ids;
	bool surge = config->handover.mode == HANDOVER_SURGE;
	const struct yaml_node *node = config_node_of(root, "handover.clusterIds");

	if (surge && !ids)
		return yaml_err(
			node ? node : config_node_of(root, "handover.mode"), err,
			"'handover.mode' is surge, but 'handover.clusterIds' is not set; set it to the two cluster ids of Flink's HA, such as [%s, %s-green]",
			config->application, config->application);
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

int config_check(const struct config *config, const struct yaml_node *root, struct err *err)
{
	if (check_schedule(config, root, err) < 0 || check_health(config, root, err) < 0 ||
	    check_stop_failure(config, root, err) < 0 || check_lease(config, root, err) < 0 ||
	    check_handover(config, root, err) < 0)
		return -1;
	return 0;
}
