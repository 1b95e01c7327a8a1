#include "core/lifecycle/lifecycle_claim.h"

#include <string.h>

#include "base/mem.h"

/* Flink was started with its restore point as an argument. One that continues a launch by Flink's own high
 * availability is restored from a checkpoint of that launch, which tells nothing. */
static bool was_given_its_restore_point(const struct journal *journal)
{
	const struct launch *launch = journal_launch_const(journal);

	return launch->restore_path &&
	       (journal->launch_count < 2 || strcmp(launch->job_id, (launch - 1)->job_id) != 0);
}

void see_claim(struct lifecycle *life, struct launch *launch, const struct view *view)
{
	enum claim_mode claim = view->restored_as_own ? CLAIM_MODE_CLAIM : CLAIM_MODE_NO_CLAIM;

	if (!view->restored || !was_given_its_restore_point(&life->journal) ||
	    view->restored_id != launch->restore_checkpoint_id ||
	    !snapshot_same_path(view->restored_path, launch->restore_path) ||
	    launch->effective.claim == claim)
		return;
	launch->effective.claim = claim;
	life->want_write = true;
}

/* Of the running job, or one of the same version before it. */
static enum native_risk native_risk_now(const struct lifecycle *life)
{
	const struct journal *journal = &life->journal;
	const struct effective *settings = journal_settings(journal);
	const struct launch *last = journal_launch_const(journal);
	enum claim_mode claim = last->effective.claim;

	/* one that was started empty has the code of the one before */
	for (size_t i = journal->launch_count; i-- > 0 && claim == CLAIM_MODE_UNKNOWN;) {
		const struct launch *launch = &journal->launches[i];

		if (!last->generation || !xstrsame(launch->generation, last->generation))
			break;
		claim = launch->effective.claim;
	}
	return native_risk(life->config->native_loses_claimed, claim, settings->backend);
}

enum snapshot_format operation_format(struct lifecycle *life, enum operation_kind kind,
				      enum operation_reason reason)
{
	enum format_policy policy = life->config->format;
	enum native_risk risk = native_risk_now(life);
	enum snapshot_format format = savepoint_format(policy, kind, reason, risk);

	if (risk != NATIVE_SAFE && format != savepoint_format(policy, kind, reason, NATIVE_SAFE))
		note(life, NOTE_INFO, "the savepoint is a canonical one: the job %s (FLINK-39964)",
		     risk == NATIVE_CLAIMED
			     ? "claims what it is restored from, and could not restore its checkpoints after a native one"
			     : "may claim what it is restored from, which Flink has not shown yet");
	return format;
}
