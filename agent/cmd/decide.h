/*
 * decide - the decision that a start would make now, for commands that only report it: resolve()
 * and the checks that it requests. Changes nothing.
 */
#ifndef DREY_CMD_DECIDE_H
#define DREY_CMD_DECIDE_H

#include <stdbool.h>

#include "core/resolve/resolve.h"

struct store_config;

/* Blocks: candidates are verified as needed. */
void decide_now(const struct store_config *storage, const struct journal *journal,
		struct facts *facts, const struct policy *policy, struct decision *ret_decision);

/* If only do-not-restart prevents a start in `now`: the decision once it is lifted, with its
 * verdicts. False: that is not the reason, and nothing has changed. */
bool decide_lifted(const struct store_config *storage, const struct journal *journal,
		   struct facts *facts, const struct policy *policy, const struct decision *now,
		   struct decision *ret_decision);

#endif
