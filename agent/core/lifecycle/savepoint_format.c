#include "core/lifecycle/savepoint_format.h"

#include <string.h>

const char *const format_policy_words[] = {"auto", "canonical", "native", NULL};

enum native_risk native_risk(bool loses_claimed, enum claim_mode claim, enum state_backend backend)
{
	if (!loses_claimed || backend == STATE_BACKEND_HASHMAP || backend == STATE_BACKEND_FORST)
		return NATIVE_SAFE;
	switch (claim) {
	case CLAIM_MODE_NO_CLAIM:
		return NATIVE_SAFE;
	case CLAIM_MODE_CLAIM:
		return NATIVE_CLAIMED;
	case CLAIM_MODE_UNKNOWN:
		break;
	}
	return NATIVE_UNKNOWN;
}

bool native_may_be_claimed(const struct journal *journal, const struct launch *launch, bool legacy)
{
	const struct snapshot *from =
		launch->restore_path ? journal_snapshot(journal, launch->restore_path) : NULL;

	if (launch->effective.claim == CLAIM_MODE_NO_CLAIM && !legacy)
		return false;
	return launch->restore_kind == SNAPSHOT_SAVEPOINT && from && from->format == FORMAT_NATIVE;
}

/* Source: StreamOperatorStateHandler.snapshotState() of 2.x; the task that throws it fails. */
bool canonical_was_refused(const char *failure)
{
	return strstr(failure, "UnsupportedOperationException") &&
	       (strstr(failure, "Could not perform checkpoint") ||
		strstr(failure, "Could not complete snapshot"));
}

enum snapshot_format savepoint_format(enum format_policy policy, enum operation_kind kind,
				      enum operation_reason reason, enum native_risk risk,
				      bool no_canonical)
{
	bool same_follows = kind == OPERATION_STOP && reason == REASON_RESTART;

	if (kind != OPERATION_SAVEPOINT && kind != OPERATION_STOP)
		return FORMAT_UNKNOWN;
	/* MUT: a canonical savepoint is asked of a job that has none */
	if (policy == FORMAT_POLICY_AUTO && no_canonical)
		return FORMAT_NATIVE;
	if (policy == FORMAT_POLICY_AUTO)
		return same_follows && risk == NATIVE_SAFE ? FORMAT_NATIVE : FORMAT_CANONICAL;
	return policy == FORMAT_POLICY_NATIVE ? FORMAT_NATIVE : FORMAT_CANONICAL;
}
