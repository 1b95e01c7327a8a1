#include "core/report/condition_settings.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static bool deletes_at_shutdown(const struct settings_case *of)
{
	return effective_signal_deletes(of->runs, of->ha);
}

/* With high availability only the failure of the job, or its cancel, deletes them. */
static bool deletes_at_failure(const struct settings_case *of)
{
	return of->runs->externalized == EXTERNALIZED_NONE;
}

static bool is_in_memory(const struct settings_case *of)
{
	return of->runs->storage == CHECKPOINT_STORAGE_MEMORY;
}

/* The configuration has an interval, and the job makes none. */
static bool makes_none(const struct settings_case *of)
{
	bool none = of->runs->checkpointing_off || !of->runs->interval_ms;

	return none && of->configured_interval_ms > 0;
}

/* FLINK-38307 */
static bool cannot_complete(const struct settings_case *of)
{
	return of->completes_none && of->runs->changelog && of->runs->claim != CLAIM_MODE_CLAIM;
}

static bool loses_claimed(const struct settings_case *of)
{
	return native_risk(of->native_is_asked, of->runs->claim, of->runs->backend) ==
	       NATIVE_CLAIMED;
}

/* The first that is true is told. */
static const struct settings_row settings_rows[] = {
	{"CheckpointsDeleted", deletes_at_shutdown,
	 "the code of the job sets that Flink deletes its checkpoints when it is shut down or the job is cancelled; drey ends it by a stop with savepoint or by SIGKILL; let the code set RETAIN_ON_CANCELLATION, or nothing"},
	{"CheckpointsDeletedAtFailure", deletes_at_failure,
	 "the code of the job sets that Flink deletes its checkpoints when the job fails for good or is cancelled; let the code set RETAIN_ON_CANCELLATION, or nothing"},
	{"CheckpointsInMemory", is_in_memory,
	 "the job keeps its checkpoints in the memory of the JobManager, and they are lost with it, so only savepoints remain; let the code of the job set no checkpoint storage"},
	{"NoCheckpoints", makes_none,
	 "the job makes no checkpoints, although the configuration has an interval, and a restart goes back to the last savepoint; let the code of the job set no interval"},
	{"ChangelogWithoutClaim", cannot_complete,
	 "the job uses Flink's changelog, was restored, and completes no checkpoint: most likely in claim mode NO_CLAIM (FLINK-38307); let the code of the job set execution.state-recovery.claim-mode to CLAIM (the command line overwrites that key in files), or turn the changelog off"},
	{"NativeClaimed", loses_claimed,
	 "savepoints.format is native, and the code of the job claims what it is restored from, so none of its checkpoints could be restored after a restart (FLINK-39964); set savepoints.format to auto or canonical"},
};

const struct settings_row *settings_contradiction(const struct settings_case *of)
{
	for (size_t i = 0; i < ARRAY_LEN(settings_rows); i++)
		if (settings_rows[i].contradicts(of))
			return &settings_rows[i];
	return NULL;
}

static struct settings_case case_of(const struct lifecycle *life, const struct launch *launch)
{
	const struct lifecycle_config *config = life->config;

	return (struct settings_case){
		.runs = &launch->effective,
		.ha = launch->ha_cluster_id,
		.configured_interval_ms = config->configured_interval_ms,
		.completes_none = launch->restore_path && !launch->last_checkpoint_id &&
				  life->seen.checkpointing.failures > 0,
		.native_is_asked =
			config->format == FORMAT_POLICY_NATIVE && config->native_loses_claimed,
	};
}

void condition_settings(const struct lifecycle *life, struct condition *ret_condition)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	const struct settings_row *row;
	struct settings_case of;

	if (!launch || life->launch_step != LAUNCH_LIVE) {
		condition_say(ret_condition, TRUTH_UNKNOWN, "NotRunning",
			      "the job is not running here");
		return;
	}
	if (!launch->effective.known) {
		condition_say(ret_condition, TRUTH_UNKNOWN, "NotAsked",
			      "Flink has not been asked for the settings of the job yet");
		return;
	}
	of = case_of(life, launch);
	row = settings_contradiction(&of);
	if (row)
		condition_say(ret_condition, TRUTH_TRUE, row->reason,
			      "%s (retention %s, checkpoint storage %s)", row->sentence,
			      externalized_words[of.runs->externalized],
			      checkpoint_storage_words[of.runs->storage]);
	else
		condition_say(
			ret_condition, TRUTH_FALSE, "AsConfigured",
			"the settings of the running job do not contradict the configuration");
}
