/*
 * decide - the decision that a start would make now, for commands that only report it: resolve()
 * and the checks that it requests. Changes nothing.
 */
#ifndef DREY_CMD_DECIDE_H
#define DREY_CMD_DECIDE_H

#include <stdbool.h>

#include "core/resolve/resolve.h"

struct observe_plan;
struct setup;

/* What decides besides the facts. All is borrowed. */
struct decide {
	const struct observe_plan *plan; /* with which the facts were gathered */
	const struct journal *journal;
	const struct policy *policy;
	const struct setup *setup; /* of the job; NULL = by hand, without a job */
};

/* Blocks: candidates are verified as needed, and the job is built (its main() runs) if the journal is lost
 * and restore.adopt is newest. */
void decide_now(const struct decide *decide, struct facts *facts, struct decision *ret_decision);

/* If only do-not-restart prevents a start in `now`: the decision once it is lifted, with its
 * verdicts. False: that is not the reason, and nothing has changed. */
bool decide_lifted(const struct decide *decide, struct facts *facts, const struct decision *now,
		   struct decision *ret_decision);

/* If `now` parks the application: the decision after a plain `drey resume` with do-not-restart off, with
 * its verdicts. False: it is not parked, and nothing has changed. */
bool decide_resumed(const struct decide *decide, struct facts *facts, const struct decision *now,
		    struct decision *ret_decision);

#endif
