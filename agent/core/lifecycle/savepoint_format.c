#include "core/lifecycle/savepoint_format.h"

const char *const format_policy_words[] = {"auto", "canonical", "native", NULL};

enum snapshot_format savepoint_format(enum format_policy policy, enum operation_kind kind,
				      enum operation_reason reason)
{
	bool same_follows = kind == OPERATION_STOP && reason == REASON_RESTART;

	if (kind != OPERATION_SAVEPOINT && kind != OPERATION_STOP)
		return FORMAT_UNKNOWN;
	if (policy == FORMAT_POLICY_AUTO)
		return same_follows ? FORMAT_NATIVE : FORMAT_CANONICAL;
	return policy == FORMAT_POLICY_NATIVE ? FORMAT_NATIVE : FORMAT_CANONICAL;
}
