/*
 * condition_settings - the condition SettingsOverridden: does the running job have other settings than the
 * configuration gives it, so that its state may be lost? The code of a job overrides files, and what it sets
 * only the running Flink tells (effective.h). Pure.
 *
 * One table of contradictions; what is different but harms nothing is in none of its rows. Directories have a
 * condition of their own (CheckpointsElsewhere).
 */
#ifndef DREY_CORE_CONDITION_SETTINGS_H
#define DREY_CORE_CONDITION_SETTINGS_H

#include "core/lifecycle/lifecycle.h"
#include "core/report/condition.h"

/* Everything of it but its time. */
void condition_settings(const struct lifecycle *life, struct condition *ret_condition);

#endif
