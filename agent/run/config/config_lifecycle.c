/* What the lifecycle takes from the configuration. */
#include "run/config/config.h"

void config_lifecycle(const struct config *config, struct lifecycle_config *ret_life)
{
	struct flink_version version = {0, 0, 0};

	if (config->flink.version)
		(void)flink_version_parse(config->flink.version, &version, NULL);
	*ret_life = (struct lifecycle_config){
		.retention = {.keep_count = config->savepoints.keep_count,
			      .max_age_ms = config->savepoints.keep_max_age_ms,
			      .all_origins = config->savepoints.keep_all_origins},
		.savepoint_dir = config->flink.savepoint_directory,
		.format = (enum format_policy)config->savepoints.format,
		.native_loses_claimed = flink_version_native_loses_claimed(version),
		.legacy_claim = flink_version_has_legacy_claim(version),
		.savepoint_retries = config->savepoints.retries,
		.savepoint_retry_ms = config->savepoints.retry_delay_ms,
		.drain_on_stop = config->savepoints.drain,
		.full_checkpoint_ms = config->checkpoints.full_interval_ms,
		.result_store_dir = config->flink.result_store_directory,
		.flink_version = config->flink.version,
		.application_ids = flink_version_has_applications(version),
		.generation = config->generation,
		.policy = {.restore = (enum restore_policy)config->restore.policy,
			   .foreign = (enum foreign_policy)config->restore.foreign,
			   .adopt_lost = (enum adopt_policy)config->restore.adopt,
			   .gates = config->handover.mode == HANDOVER_BLUE_GREEN,
			   .max_age_ms = config->restore.max_age_ms,
			   .max_loss = {.max_ms = config->restore.max_loss_ms},
			   .generation = config->generation,
			   .flink_version = config->flink.version,
			   .stateless_upgrade = config->upgrade == UPGRADE_STATELESS,
			   .initial_savepoint = config->restore.initial_savepoint},
		.max_attempts = (int)config->attempts.max,
		.same_failures = config->attempts.same,
		.attempts_window_ms = config->attempts.window_ms,
		.backoff_first_ms = config->attempts.backoff_first_ms,
		.backoff_max_ms = config->attempts.backoff_max_ms,
		.ready_deadline_ms = config->attempts.ready_deadline_ms,
		.poll_fast_ms = config->poll.fast_ms,
		.poll_slow_ms = config->poll.slow_ms,
		.poll_tasks_ms = config->poll.tasks_ms,
		.health = {.checkpoint_failures = config->health.checkpoint_failures,
			   .checkpoint_intervals = config->health.checkpoint_intervals,
			   .checkpoint_age_ms = config->health.checkpoint_age_ms,
			   .restart_after_ms = config->health.restart_after_ms,
			   .probation_ms = config->handover.probation_ms},
		.review = {.interval_ms = config->verify.interval_ms,
			   .requests = config->verify.requests},
		.task_managers = config->kubernetes.task_managers,
		.kill_after_ms = config->flink.kill_after_ms,
		.object_lease_ms = config->lease.uri ? config->lease.duration_ms : 0,
		.hold_retry_first_ms = config->holding.retry_first_ms,
		.hold_retry_max_ms = config->holding.retry_max_ms,
		.stop_retry_ms = config->savepoints.stop_retry_ms,
		.on_stop_failure = (enum stop_failure)config->savepoints.on_stop_failure,
		.stop_retries = config->savepoints.stop_retries,
		.on_sigterm = (enum sigterm_policy)config->on_sigterm,
		.upgrade = (enum upgrade_mode)config->upgrade,
		.exit_when_finished = config->when_finished == WHEN_FINISHED_EXIT,
	};
}
