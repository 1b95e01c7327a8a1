/*
 * cause - in one word, why nothing is started, or why the desired state is not reached. Pure.
 *
 * The word is what people search for and what alerts compare: it is in the status document
 * (`cause`), in the log, and the reason of the conditions and Events in Kubernetes. It never
 * changes. The sentence next to it is for people. Every word has its page, docs/runbook/<word>.md, which
 * `drey explain <word>` prints (runbook.h).
 */
#ifndef DREY_CORE_CAUSE_H
#define DREY_CORE_CAUSE_H

enum cause {
	CAUSE_NONE,

	/* intended or final states */
	CAUSE_DO_NOT_RESTART,
	CAUSE_SUSPENDED,
	CAUSE_CANCELLED,
	CAUSE_FINISHED,

	/* not retried until a person intervenes */
	CAUSE_ATTEMPTS_USED_UP,
	CAUSE_GENERATION_FAILED,
	CAUSE_END_UNKNOWN,
	CAUSE_RESTORE_MISMATCH,

	/* tried again and again: the application has run before */
	CAUSE_ATTEMPTS_REPEATED,

	/* the unreadable source could hold newer state */
	CAUSE_JOURNAL_UNREADABLE,
	CAUSE_HA_UNREADABLE,
	CAUSE_STORAGE_UNREADABLE,
	CAUSE_SNAPSHOT_UNREADABLE,
	CAUSE_OPERATION_UNSETTLED,
	CAUSE_WISH_UNREADABLE, /* a control input: do-not-restart may be set in it */

	/* everything was read, and it contradicts what is known */
	CAUSE_NO_USABLE_STATE,
	CAUSE_NEWEST_STATE_MISSING,
	CAUSE_NEWEST_STATE_DAMAGED,
	CAUSE_CHECKPOINTS_OUT_OF_SIGHT, /* the job writes where newer ones cannot be told apart */
	CAUSE_STATE_TOO_OLD,
	CAUSE_FLINK_TOO_OLD,
	CAUSE_SAVEPOINT_REQUIRED,
	CAUSE_INITIAL_SAVEPOINT_UNUSABLE,
	CAUSE_JOURNAL_LOST,
	CAUSE_UNKNOWN_NEWER_STATE,
	CAUSE_UNKNOWN_LAUNCH,

	/* a one-shot request */
	CAUSE_REQUEST_WITHOUT_TOKEN,
	CAUSE_REQUESTED_SNAPSHOT_UNUSABLE,
	CAUSE_REQUESTED_SNAPSHOT_FOREIGN,
	CAUSE_REQUEST_MAY_BE_OLD,

	/* a launch is decided, but cannot begin */
	CAUSE_FLINK_STILL_RUNS,
	CAUSE_UNKNOWN_FLINK_RUNS,
	CAUSE_LEASE_ELSEWHERE,  /* another installation of the application holds it */
	CAUSE_LEASE_UNREADABLE, /* who holds it is not known */
	CAUSE_LEASE_COPIED, /* it came with a copy of the bucket: a person says which one counts */
	CAUSE_STORED_JOB_LEFT,
	CAUSE_HA_NOT_PREPARED,
	CAUSE_FLINK_WOULD_DISOBEY,
	CAUSE_JOB_IDS_USED_UP,
	CAUSE_HOOK_REFUSED,
	CAUSE_CONFIGURATION_REFUSED,

	/* the journal */
	CAUSE_JOURNAL_TAKEN,
	CAUSE_JOURNAL_BROKEN,

	/* while Flink runs */
	CAUSE_STOP_FAILED,
	CAUSE_SPEC_REFUSED,
	CAUSE_CLUSTER_UNREACHABLE,
	CAUSE_JOB_FAILING,
	CAUSE_JOB_NOT_RUNNING,
	CAUSE_SECOND_JOB,
	CAUSE_CHECKPOINTS_FAILING,
	CAUSE_CHECKPOINTS_UNUSABLE, /* they complete, and cannot be restored */
	CAUSE_SETTINGS_OVERRIDDEN,  /* by the code of the job, so that state may be lost */
	CAUSE_STATE_LOST,           /* the launch began behind state that is damaged */

	/* a hand-over between two pods */
	CAUSE_STANDING_BY,
	CAUSE_PREPARING,
	CAUSE_PREPARE_FAILED,
	CAUSE_HANDOVER_REFUSED,
	CAUSE_HANDOVER_RETURNED,
	CAUSE_OWNER_SILENT,
	CAUSE_TRANSITION_DECIDES,
	CAUSE_GATE_KEYS_UNWRITTEN, /* gates would read what is not so */
	CAUSE_SHADOW,              /* the job runs, with its output shut */

	/* drey itself */
	CAUSE_INTERNAL_ERROR,

	CAUSE_COUNT,
};

/* "NoUsableState", ...; NULL for CAUSE_NONE. */
const char *cause_name(enum cause cause);

#endif
