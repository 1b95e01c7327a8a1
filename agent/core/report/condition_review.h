/*
 * condition_review - the condition CheckpointsUnusable: could the job be restored from what it writes? From the
 * reading of its checkpoints while it runs (core/lifecycle/review.h). Pure.
 */
#ifndef DREY_CORE_CONDITION_REVIEW_H
#define DREY_CORE_CONDITION_REVIEW_H

#include "core/lifecycle/lifecycle.h"
#include "core/report/condition.h"

/* Everything of it but its time. */
void condition_review(const struct lifecycle *life, struct condition *ret_condition);

#endif
