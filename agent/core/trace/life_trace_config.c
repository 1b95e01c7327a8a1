/*
 * What a life cycle begins with: its configuration, the journal, the random numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/handover/handover.h"
#include "core/record.h"
#include "core/trace/life_trace.h"

#define CONFIG(name, kind, member, ...)                                                            \
	FIELD(name, kind, struct lifecycle_config, member, __VA_ARGS__)

/* Not the schedule by a cron line: the time zone in it is a function. */
static const struct field config_fields[] = {
	CONFIG("savepointIntervalMs", NUMBER, savepoints.interval_ms),
	CONFIG("savepointCron", BOOL, savepoints.has_cron),
	CONFIG("savepointJitterMs", NUMBER, savepoints.jitter_ms),
	CONFIG("savepointBlackouts", NUMBER, savepoints.blackout_count),
	CONFIG("keepCount", NUMBER, retention.keep_count),
	CONFIG("keepMaxAgeMs", NUMBER, retention.max_age_ms),
	CONFIG("keepAllOrigins", BOOL, retention.all_origins),
	CONFIG("savepointRetries", KNOWN, savepoint_retries, .sparse = true),
	CONFIG("savepointRetryMs", KNOWN, savepoint_retry_ms, .sparse = true),
	CONFIG("savepointFormat", WORD, format, .words = format_policy_words, .sparse = true),
	CONFIG("nativeLosesClaimed", BOOL, native_loses_claimed, .sparse = true),
	CONFIG("legacyClaim", BOOL, legacy_claim, .sparse = true),
	CONFIG("forst", BOOL, forst, .sparse = true),
	CONFIG("asyncState", BOOL, async_state, .sparse = true),
	CONFIG("fullCheckpointMs", KNOWN, full_checkpoint_ms, .sparse = true),
	CONFIG("savepointDir", TEXT, savepoint_dir),
	CONFIG("listedCheckpointDir", TEXT, listed_checkpoint_dir),
	CONFIG("listedSavepointDir", TEXT, listed_savepoint_dir),
	CONFIG("haClusterId", TEXT, ha_cluster_id),
	CONFIG("drainOnStop", BOOL, drain_on_stop),
	CONFIG("resultStoreDir", TEXT, result_store_dir),
	CONFIG("idSpace", TEXT, id_space),
	CONFIG("idCount", NUMBER, id_count),
	CONFIG("flinkVersion", TEXT, flink_version),
	CONFIG("applicationIds", BOOL, application_ids),
	CONFIG("generation", TEXT, generation),
	CONFIG("policyRestore", WORD, policy.restore, .words = policy_words),
	CONFIG("policyForeign", WORD, policy.foreign, .words = foreign_words),
	CONFIG("policyMaxAgeMs", NUMBER, policy.max_age_ms),
	CONFIG("policyMaxLossMs", NUMBER, policy.max_loss.max_ms),
	CONFIG("policyCheckpointIntervalMs", KNOWN, policy.max_loss.interval_ms, .sparse = true),
	CONFIG("policyGates", BOOL, policy.gates, .sparse = true),
	CONFIG("policyAdopt", BOOL, policy.adopt),
	CONFIG("policyAdoptLost", WORD, policy.adopt_lost, .words = adopt_words, .sparse = true),
	CONFIG("policyGeneration", TEXT, policy.generation),
	CONFIG("policyFlinkVersion", TEXT, policy.flink_version),
	CONFIG("policyStatelessUpgrade", BOOL, policy.stateless_upgrade),
	CONFIG("policyInitialSavepoint", TEXT, policy.initial_savepoint),
	CONFIG("maxAttempts", SMALL, max_attempts),
	CONFIG("sameFailures", KNOWN, same_failures, .sparse = true),
	CONFIG("attemptsForEver", BOOL, attempts_for_ever, .sparse = true),
	CONFIG("attemptsWindowMs", NUMBER, attempts_window_ms),
	CONFIG("backoffFirstMs", NUMBER, backoff_first_ms),
	CONFIG("backoffMaxMs", NUMBER, backoff_max_ms),
	CONFIG("readyDeadlineMs", NUMBER, ready_deadline_ms),
	CONFIG("pollFastMs", NUMBER, poll_fast_ms),
	CONFIG("pollSlowMs", NUMBER, poll_slow_ms),
	CONFIG("pollTasksMs", NUMBER, poll_tasks_ms),
	CONFIG("healthCheckpointFailures", KNOWN, health.checkpoint_failures, .sparse = true),
	CONFIG("healthCheckpointIntervals", KNOWN, health.checkpoint_intervals, .sparse = true),
	CONFIG("healthCheckpointAgeMs", KNOWN, health.checkpoint_age_ms, .sparse = true),
	CONFIG("healthRestartAfterMs", KNOWN, health.restart_after_ms, .sparse = true),
	CONFIG("healthUnreachableAfterMs", KNOWN, health.unreachable_after_ms, .sparse = true),
	CONFIG("healthProbationMs", KNOWN, health.probation_ms, .sparse = true),
	CONFIG("taskManagers", TEXT, task_managers),
	CONFIG("killAfterMs", NUMBER, kill_after_ms),
	CONFIG("journalCheckMs", NUMBER, journal_check_ms),
	CONFIG("place", TEXT, place),
	CONFIG("takeoverMs", NUMBER, takeover_ms),
	CONFIG("leaseMs", NUMBER, lease_ms),
	CONFIG("objectLeaseMs", KNOWN, object_lease_ms, .sparse = true),
	CONFIG("holdRetryFirstMs", NUMBER, hold_retry_first_ms),
	CONFIG("holdRetryMaxMs", NUMBER, hold_retry_max_ms),
	CONFIG("stopRetryMs", NUMBER, stop_retry_ms),
	CONFIG("stopRetries", KNOWN, stop_retries, .sparse = true),
	CONFIG("onStopFailure", WORD, on_stop_failure, .words = stop_failure_words, .sparse = true),
	CONFIG("onSigterm", WORD, on_sigterm, .words = sigterm_words),
	CONFIG("upgrade", WORD, upgrade, .words = upgrade_words),
	CONFIG("exitWhenFinished", BOOL, exit_when_finished),
	CONFIG("handoverMode", SMALL, handover.mode, .sparse = true),
	CONFIG("handoverMe", RECORD, handover.me, .record = &party_table),
	CONFIG("handoverPrepareMs", KNOWN, handover.prepare_ms, .sparse = true),
	CONFIG("handoverStopMs", KNOWN, handover.stop_ms, .sparse = true),
	CONFIG("handoverTakeMs", KNOWN, handover.take_ms, .sparse = true),
	CONFIG("handoverRunMs", KNOWN, handover.run_ms, .sparse = true),
	CONFIG("handoverProbationMs", KNOWN, handover.probation_ms, .sparse = true),
	CONFIG("handoverTakeoverMs", KNOWN, handover.takeover_ms, .sparse = true),
	CONFIG("handoverTries", KNOWN, handover.tries, .sparse = true),
	CONFIG("handoverReturns", BOOL, handover.return_on_failure, .sparse = true),
	CONFIG("shadow", BOOL, handover.shadow, .sparse = true),
	CONFIG("blueGreenGate", WORD, handover.blue_green.policy.gate,
	       .words = transition_gate_words, .sparse = true),
	CONFIG("blueGreenAfterCut", WORD, handover.blue_green.policy.after_cut,
	       .words = after_cut_words, .sparse = true),
	CONFIG("blueGreenManual", BOOL, handover.blue_green.policy.manual, .sparse = true),
	CONFIG("blueGreenIdlePasses", BOOL, handover.blue_green.policy.idle_passes, .sparse = true),
	CONFIG("blueGreenLeadMs", KNOWN, handover.blue_green.policy.lead_ms, .sparse = true),
	CONFIG("blueGreenAlignMs", KNOWN, handover.blue_green.policy.align_ms, .sparse = true),
	CONFIG("blueGreenTries", KNOWN, handover.blue_green.policy.tries, .sparse = true),
	CONFIG("blueGreenCaughtUpMs", KNOWN, handover.blue_green.caught_up_ms, .sparse = true),
	CONFIG("blueGreenSettleMs", KNOWN, handover.blue_green.settle_ms, .sparse = true),
	CONFIG("blueGreenDeadlineMs", KNOWN, handover.blue_green.deadline_ms, .sparse = true),
};
static const struct record config_table = RECORD(struct lifecycle_config, config_fields);

static const struct field rng_fields[] = {
	FIELD("a", NUMBER, struct rng, state[0]),
	FIELD("b", NUMBER, struct rng, state[1]),
	FIELD("c", NUMBER, struct rng, state[2]),
	FIELD("d", NUMBER, struct rng, state[3]),
};
static const struct record rng_table = RECORD(struct rng, rng_fields);

struct json *life_trace_beginning(struct lifecycle *life)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json *to = json_object(), *journal;
	struct err err = {0};

	record_add(to, "config", &config_table, life->config, NULL);
	record_add(to, "rng", &rng_table, &life->rng, NULL);
	/* the journal as text is what is read back: encoding does not change it */
	if (journal_encode(&life->journal, &text, &err) == 0 &&
	    (journal = json_parse(text.data, text.len_bytes, text.len_bytes, &err)) != NULL)
		json_add(to, "journal", journal);
	return to;
}

static int read_journal(const struct json *from, struct journal *ret_journal, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	const struct json *object;

	if (json_need_object(from, "journal", &object, err) < 0)
		return -1;
	json_print(object, &text);
	return journal_decode(text.data, text.len_bytes, ret_journal, err);
}

static int read_config(const struct json *from, struct lifecycle_config *config, struct err *err)
{
	const struct json *object;

	if (json_need_object(from, "config", &object, err) < 0 ||
	    record_read(&config_table, object, config, err) < 0)
		return -1;
	if (config->savepoints.has_cron || config->savepoints.blackout_count)
		return err_set(
			err, ERR_FORMAT, 0,
			"the periodic savepoints follow a cron line or have blackouts: these depend on the time zone, and cannot be repeated");
	return 0;
}

int life_trace_beginning_read(const struct json *from, struct lifecycle_config *ret_config,
			      struct journal *ret_journal, struct rng *ret_rng, struct err *err)
{
	struct lifecycle_config config;
	const struct json *object;

	record_init(&config_table, &config);
	memset(ret_rng, 0, sizeof(*ret_rng));
	if (read_config(from, &config, err) < 0 ||
	    json_need_object(from, "rng", &object, err) < 0 ||
	    record_read(&rng_table, object, ret_rng, err) < 0 ||
	    read_journal(from, ret_journal, err) < 0) {
		life_trace_config_release(&config);
		return -1;
	}
	*ret_config = config;
	return 0;
}

void life_trace_config_release(struct lifecycle_config *config)
{
	record_release(&config_table, config);
}
