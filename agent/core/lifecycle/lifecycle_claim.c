#include "core/lifecycle/lifecycle_claim.h"

#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"

/* Flink was started with its restore point as an argument. One that continues a launch by Flink's own high
 * availability is restored from a checkpoint of that launch, which tells nothing. One that was never started has
 * given its id to the next, and there was nothing to continue. */
static bool was_given_its_restore_point(const struct journal *journal)
{
	const struct launch *launch = journal_launch_const(journal), *before = launch;

	if (!launch->restore_path)
		return false;
	while (before > journal->launches) {
		before--;
		/* MUT: a launch that was never started counts as continued */
		if (!before->never_started)
			return strcmp(launch->job_id, before->job_id) != 0;
	}
	return true;
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

/* A launch of this version after a native savepoint made a checkpoint that could not be restored. In claim mode LEGACY,
 * which looks like NO_CLAIM, nothing else shows it. */
static bool lost_after_native(const struct lifecycle *life)
{
	const struct journal *journal = &life->journal;

	for (const struct launch *launch = journal_launch_const(journal); launch;
	     launch = journal_version_before(journal, launch))
		if (launch->unusable &&
		    native_may_be_claimed(journal, launch, life->config->legacy_claim))
			return true;
	return false;
}

/* Of the running job, or one of the same version before it. */
static enum native_risk native_risk_now(const struct lifecycle *life)
{
	const struct journal *journal = &life->journal;
	const struct effective *settings = journal_settings(journal);
	const struct launch *last = journal_launch_const(journal);
	enum claim_mode claim = last->effective.claim;

	/* MUT: a native savepoint is taken again after one that no checkpoint could follow */
	if (lost_after_native(life))
		claim = CLAIM_MODE_CLAIM;
	/* one that was started empty has the code of the one before */
	for (const struct launch *launch = last; launch && claim == CLAIM_MODE_UNKNOWN;
	     launch = journal_version_before(journal, launch))
		claim = launch->effective.claim;
	return native_risk(life->config->native_loses_claimed, claim, settings->backend);
}

static bool is_canonical(enum snapshot_format format, enum operation_kind kind)
{
	return format == FORMAT_CANONICAL &&
	       (kind == OPERATION_SAVEPOINT || kind == OPERATION_STOP);
}

/* Only a savepoint that was requested makes tasks fail in that way. */
void see_refusal(struct lifecycle *life, struct launch *launch, const char *failure)
{
	const struct operation *now = &life->journal.operation;
	const struct operation_result *last = &life->journal.last_operation;

	/* MUT: what Flink has refused is asked for again */
	if (launch->effective.canonical_refused || !canonical_was_refused(failure) ||
	    (!is_canonical(now->format, now->kind) &&
	     (last->ok || !is_canonical(last->format, last->kind))))
		return;
	launch->effective.canonical_refused = true;
	life->want_write = true;
	note(life, NOTE_WARNING,
	     "Flink has no canonical savepoint of this job's state: with savepoints.format: auto the next one is a native one");
}

/* What the job says of its backend, else Flink's configuration; and asynchronous state, which only a refusal shows if the
 * code of the job sets it. */
static bool has_no_canonical(const struct lifecycle *life)
{
	const struct journal *journal = &life->journal;
	const struct effective *settings = journal_settings(journal);
	bool forst = settings->backend == STATE_BACKEND_UNKNOWN
			     ? life->config->forst
			     : settings->backend == STATE_BACKEND_FORST;

	if (forst || life->config->async_state)
		return true;
	for (const struct launch *launch = journal_launch_const(journal); launch;
	     launch = journal_version_before(journal, launch))
		if (launch->effective.canonical_refused)
			return true;
	return false;
}

enum snapshot_format operation_format(struct lifecycle *life, enum operation_kind kind,
				      enum operation_reason reason)
{
	enum format_policy policy = life->config->format;
	enum native_risk risk = native_risk_now(life);
	bool no_canonical = has_no_canonical(life);
	enum snapshot_format format = savepoint_format(policy, kind, reason, risk, no_canonical);

	if (risk != NATIVE_SAFE &&
	    format != savepoint_format(policy, kind, reason, NATIVE_SAFE, no_canonical))
		note(life, NOTE_INFO, "the savepoint is a canonical one: the job %s (FLINK-39964)",
		     risk == NATIVE_CLAIMED
			     ? "claims what it is restored from, and could not restore its checkpoints after a native one"
			     : "may claim what it is restored from, which Flink has not shown yet");
	return format;
}
