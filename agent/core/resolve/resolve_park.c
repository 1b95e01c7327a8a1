/*
 * Rules 1 and 2: the journal alone forbids a launch.
 */
#include "core/resolve/resolve_internal.h"

bool outcome_is_suspension(const struct outcome *outcome)
{
	return outcome->kind == OUTCOME_CANCELLED && outcome->suspended;
}

static enum cause cause_of_outcome(enum outcome_kind kind)
{
	switch (kind) {
	case OUTCOME_FINISHED:
		return CAUSE_FINISHED;
	case OUTCOME_CANCELLED:
		return CAUSE_CANCELLED;
	case OUTCOME_FAILED:
		return CAUSE_ATTEMPTS_USED_UP;
	case OUTCOME_RESTORE_MISMATCH:
		return CAUSE_RESTORE_MISMATCH;
	case OUTCOME_NONE:
	case OUTCOME_UNKNOWN:
		break;
	}
	return CAUSE_END_UNKNOWN;
}

void inquiry_park_outcome(struct inquiry *in, enum outcome_kind kind, const char *reason,
			  const char *stop)
{
	inquiry_park(in, cause_of_outcome(kind), RULE_OUTCOME,
		     "the job is %s (%s); use `drey resume` to launch it again",
		     outcome_kind_name(kind), inquiry_detail(reason));
	if (stop)
		inquiry_add(in, ", or deploy a new generation with restore.initialSavepoint: %s",
			    stop);
}

static void park_for_do_not_restart(struct inquiry *in)
{
	const struct outcome *outcome = &in->journal->outcome;

	inquiry_park(in, CAUSE_DO_NOT_RESTART, RULE_DESIRED_STATE,
		     "do-not-restart is on; turn it off to allow a launch");
	if (outcome_is_suspension(outcome))
		inquiry_add(in, " (the job was %s, and resumes then)",
			    inquiry_detail(outcome->reason));
}

static bool outcome_binds(const struct inquiry *in)
{
	const struct outcome *outcome = &in->journal->outcome;

	return outcome->kind != OUTCOME_NONE && !generation_is_past_failure(in) &&
	       !outcome_is_suspension(outcome) && !generation_is_asked_for(in);
}

bool desired_state_parks(struct inquiry *in)
{
	const struct intent *intent = &in->journal->intent;

	/* MUT: do-not-restart is ignored */
	if (intent->do_not_restart)
		park_for_do_not_restart(in);
	/* MUT: the desired state is ignored */
	else if (intent->state != DESIRED_RUNNING)
		inquiry_park(in,
			     intent->state == DESIRED_SUSPENDED ? CAUSE_SUSPENDED : CAUSE_CANCELLED,
			     RULE_DESIRED_STATE,
			     "the desired state is %s; use `drey resume` to launch the job again",
			     desired_state_name(intent->state));
	else
		return false;
	return true;
}

bool outcome_parks(struct inquiry *in)
{
	const struct outcome *outcome = &in->journal->outcome;

	if (outcome->kind == OUTCOME_RESTORE_MISMATCH)
		inquiry_hold(in, CAUSE_RESTORE_MISMATCH, RULE_OUTCOME,
			     "%s; investigate, then use `drey resume`",
			     inquiry_detail(outcome->reason));
	else if (outcome_binds(in))
		inquiry_park_outcome(in, outcome->kind, outcome->reason, outcome->savepoint);
	else if (generation_has_failed(in))
		inquiry_park(
			in, CAUSE_GENERATION_FAILED, RULE_OUTCOME,
			"generation %s has used up its attempts without completing a checkpoint and is not retried automatically; deploy another generation, or use `drey resume`",
			in->policy->generation);
	else
		return false;
	return true;
}
