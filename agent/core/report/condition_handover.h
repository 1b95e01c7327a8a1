/*
 * condition_handover - the condition HandingOver: is the job on its way to another pod, and if not,
 * how did that end? Pure.
 */
#ifndef DREY_CORE_CONDITION_HANDOVER_H
#define DREY_CORE_CONDITION_HANDOVER_H

#include "core/lifecycle/lifecycle.h"
#include "core/report/condition.h"

/* Everything of it but its time. */
void condition_handover(const struct lifecycle *life, struct condition *ret_condition);

#endif
