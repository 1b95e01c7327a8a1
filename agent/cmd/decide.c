#include "cmd/decide.h"

#include "run/observe/observe.h"

void decide_now(const struct store_config *storage, const struct journal *journal,
		struct facts *facts, const struct policy *policy, struct decision *ret_decision)
{
	resolve(journal, facts, policy, ret_decision);
	while (ret_decision->kind == DECISION_VERIFY) {
		observe_check(storage, facts, ret_decision->candidate);
		resolve(journal, facts, policy, ret_decision);
	}
}

bool decide_lifted(const struct store_config *storage, const struct journal *journal,
		   struct facts *facts, const struct policy *policy, const struct decision *now,
		   struct decision *ret_decision)
{
	struct journal lifted = *journal; /* borrows all that it has */

	if (now->kind != DECISION_PARK || now->cause != CAUSE_DO_NOT_RESTART)
		return false;
	lifted.intent.do_not_restart = false;
	decide_now(storage, &lifted, facts, policy, ret_decision);
	return true;
}
