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

#define FLIP_LEAD_MS 30000

/* Gates of FLIP-504 acknowledge nothing: what makes the cut known in time has to be left room. */
static int check_flip(const struct config *config, const struct yaml_node *root, struct err *err)
{
	const struct yaml_node *gate = config_node_of(root, "blueGreen.gate");

	if (config->blue_green.gate != TRANSITION_GATE_FLIP)
		return 0;
	if (!config->blue_green.gate_name)
		return yaml_err(
			gate, err,
			"'blueGreen.gate' is flip, but 'blueGreen.gateName' is not set, and drey could not tell how far the gate is; set it to the name of the gate's operator in the job");
	if (config->blue_green.lead_ms < FLIP_LEAD_MS)
		return yaml_err(
			config_node_of(root, "blueGreen.lead"), err,
			"'blueGreen.lead' is shorter than 30 s: gates of FLIP-504 do not acknowledge the cut, and those that learn of it too late lose records; set it to 30s or more");
	if (config->blue_green.caught_up_ms * 3 > config->blue_green.lead_ms) {
		const struct yaml_node *node = config_node_of(root, "blueGreen.caughtUp");

		return yaml_err(
			node ? node : gate, err,
			"'blueGreen.caughtUp' is more than a third of 'blueGreen.lead': the next version would come to the cut long before it knows it; make it shorter, or the lead longer");
	}
	if (config->blue_green.align_ms)
		return yaml_err(
			config_node_of(root, "blueGreen.align"), err,
			"'blueGreen.align' cannot be used with 'blueGreen.gate: flip', whose gates choose the cut themselves; remove it");
	return 0;
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
	return check_flip(config, root, err);
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
