/*
 * condition_upgrade - the condition Upgraded: has the version that is deployed shown that it runs? Pure.
 *
 * It has when one launch of it has completed a checkpoint, and has run on for the probation after that.
 * What it has shown stays: a later failure is no failed upgrade. So it follows from the journal alone,
 * and is the same in every agent.
 */
#ifndef DREY_CORE_CONDITION_UPGRADE_H
#define DREY_CORE_CONDITION_UPGRADE_H

#include "core/lifecycle/lifecycle.h"
#include "core/report/condition.h"

/* Everything of it but its time. *ret_due_unix_ms: when it becomes true if nothing else happens; 0 =
 * not by time alone. */
void condition_upgrade(const struct lifecycle *life, int64_t now_unix_ms,
		       struct condition *ret_condition, int64_t *ret_due_unix_ms);

#endif
