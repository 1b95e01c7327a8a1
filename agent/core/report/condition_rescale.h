/*
 * condition_rescale - does the job run with the parallelism that was requested? The condition, and the
 * member `parallelism` of the status document. Pure.
 */
#ifndef DREY_CORE_CONDITION_RESCALE_H
#define DREY_CORE_CONDITION_RESCALE_H

#include "core/lifecycle/lifecycle.h"
#include "core/report/condition.h"

struct json;

void condition_rescale(const struct lifecycle *life, struct condition *ret_condition);
void status_add_rescale(struct json *doc, const struct lifecycle *life);

#endif
