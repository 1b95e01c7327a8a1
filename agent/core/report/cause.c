#include "core/report/cause.h"

#include <stddef.h>

const char *cause_name(enum cause cause)
{
	static const char *const names[CAUSE_COUNT] = {
		[CAUSE_DO_NOT_RESTART] = "DoNotRestart",
		[CAUSE_SUSPENDED] = "Suspended",
		[CAUSE_CANCELLED] = "Cancelled",
		[CAUSE_FINISHED] = "Finished",
		[CAUSE_ATTEMPTS_USED_UP] = "AttemptsUsedUp",
		[CAUSE_GENERATION_FAILED] = "GenerationFailed",
		[CAUSE_END_UNKNOWN] = "EndUnknown",
		[CAUSE_RESTORE_MISMATCH] = "RestoreMismatch",
		[CAUSE_JOURNAL_UNREADABLE] = "JournalUnreadable",
		[CAUSE_HA_UNREADABLE] = "HaUnreadable",
		[CAUSE_STORAGE_UNREADABLE] = "StorageUnreadable",
		[CAUSE_SNAPSHOT_UNREADABLE] = "SnapshotUnreadable",
		[CAUSE_OPERATION_UNSETTLED] = "OperationUnsettled",
		[CAUSE_WISH_UNREADABLE] = "WishUnreadable",
		[CAUSE_NO_USABLE_STATE] = "NoUsableState",
		[CAUSE_NEWEST_STATE_MISSING] = "NewestStateMissing",
		[CAUSE_STATE_TOO_OLD] = "StateTooOld",
		[CAUSE_FLINK_TOO_OLD] = "FlinkTooOld",
		[CAUSE_SAVEPOINT_REQUIRED] = "SavepointRequired",
		[CAUSE_INITIAL_SAVEPOINT_UNUSABLE] = "InitialSavepointUnusable",
		[CAUSE_JOURNAL_LOST] = "JournalLost",
		[CAUSE_UNKNOWN_NEWER_STATE] = "UnknownNewerState",
		[CAUSE_UNKNOWN_LAUNCH] = "UnknownLaunch",
		[CAUSE_REQUEST_WITHOUT_TOKEN] = "RequestWithoutToken",
		[CAUSE_REQUESTED_SNAPSHOT_UNUSABLE] = "RequestedSnapshotUnusable",
		[CAUSE_REQUESTED_SNAPSHOT_FOREIGN] = "RequestedSnapshotForeign",
		[CAUSE_REQUEST_MAY_BE_OLD] = "RequestMayBeOld",
		[CAUSE_FLINK_STILL_RUNS] = "FlinkStillRuns",
		[CAUSE_UNKNOWN_FLINK_RUNS] = "UnknownFlinkRuns",
		[CAUSE_STORED_JOB_LEFT] = "StoredJobLeft",
		[CAUSE_HA_NOT_PREPARED] = "HaNotPrepared",
		[CAUSE_FLINK_WOULD_DISOBEY] = "FlinkWouldDisobey",
		[CAUSE_JOB_IDS_USED_UP] = "JobIdsUsedUp",
		[CAUSE_HOOK_REFUSED] = "HookRefused",
		[CAUSE_CONFIGURATION_REFUSED] = "ConfigurationRefused",
		[CAUSE_JOURNAL_TAKEN] = "JournalTaken",
		[CAUSE_JOURNAL_BROKEN] = "JournalBroken",
		[CAUSE_STOP_FAILED] = "StopFailed",
		[CAUSE_SPEC_REFUSED] = "SpecRefused",
		[CAUSE_CLUSTER_UNREACHABLE] = "ClusterUnreachable",
		[CAUSE_JOB_FAILING] = "JobFailing",
		[CAUSE_JOB_NOT_RUNNING] = "JobNotRunning",
		[CAUSE_SECOND_JOB] = "SecondJob",
		[CAUSE_INTERNAL_ERROR] = "InternalError",
	};

	return (size_t)cause < CAUSE_COUNT ? names[cause] : NULL;
}
