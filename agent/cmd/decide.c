#include "cmd/decide.h"

#include "run/observe/observe.h"
#include "run/observe/observe_job.h"

void decide_now(const struct decide *decide, struct facts *facts, struct decision *ret_decision)
{
	resolve(decide->journal, facts, decide->policy, ret_decision);
	while (ret_decision->kind == DECISION_VERIFY) {
		if (!ret_decision->of_job)
			observe_check(decide->plan, facts, ret_decision->candidate);
		else if (decide->setup)
			observe_job(decide->setup, facts);
		else
			facts_set_job(facts, SOURCE_UNREADABLE,
				      "there is no job without drey.yaml");
		resolve(decide->journal, facts, decide->policy, ret_decision);
	}
}

bool decide_lifted(const struct decide *decide, struct facts *facts, const struct decision *now,
		   struct decision *ret_decision)
{
	struct journal lifted = *decide->journal; /* borrows all that it has */
	struct decide other = *decide;

	if (now->kind != DECISION_PARK || now->cause != CAUSE_DO_NOT_RESTART)
		return false;
	lifted.intent.do_not_restart = false;
	other.journal = &lifted;
	decide_now(&other, facts, ret_decision);
	return true;
}

/* What on_control() does with a resume (core/lifecycle/lifecycle.c). */
bool decide_resumed(const struct decide *decide, struct facts *facts, const struct decision *now,
		    struct decision *ret_decision)
{
	struct journal resumed = *decide->journal; /* borrows all that it has */
	struct decide other = *decide;

	if (now->kind != DECISION_PARK)
		return false;
	resumed.intent.do_not_restart = false;
	resumed.intent.state = DESIRED_RUNNING;
	resumed.intent.restore = (struct restore_request){0};
	resumed.outcome = (struct outcome){0};
	resumed.failure_count = 0;
	resumed.failed_generation_count = 0;
	other.journal = &resumed;
	decide_now(&other, facts, ret_decision);
	return true;
}
