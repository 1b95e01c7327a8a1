/*
 * decide - the decision that a start would make now, for the commands that only tell: resolve() and the looks
 * that it asks for. Changes nothing.
 */
#ifndef DREY_CMD_DECIDE_H
#define DREY_CMD_DECIDE_H

#include <stdbool.h>

#include "core/resolve.h"

struct store_config;

/* Blocks: what has to be verified is looked at. */
void decide_now(const struct store_config *storage, const struct journal *journal,
		struct facts *facts, const struct policy *policy, struct decision *ret_decision);

/* do-not-restart alone keeps `now` from a start: the decision once it is lifted, with the verdicts of that.
 * False: that is not the reason, and nothing has changed. */
bool decide_lifted(const struct store_config *storage, const struct journal *journal,
		   struct facts *facts, const struct policy *policy, const struct decision *now,
		   struct decision *ret_decision);

#endif
