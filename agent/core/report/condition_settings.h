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

/* The settings of a job that runs, or that `drey check` has had built, and what they are held against. */
struct settings_case {
	const struct effective *runs;
	bool ha;                        /* Flink's own high availability is on */
	int64_t configured_interval_ms; /* of checkpoints, in Flink's configuration; 0 = none there */
	/* of a running job only */
	bool completes_none; /* it was restored, checkpoints have failed, and none has completed since */
	bool native_is_asked; /* for savepoints, by the configuration, of a Flink that has FLINK-39964 */
};

struct settings_row {
	const char *reason;
	bool (*contradicts)(const struct settings_case *of);
	const char *sentence; /* followed by what runs */
};

/* The first contradiction; NULL = none. */
const struct settings_row *settings_contradiction(const struct settings_case *of);

/* Everything of it but its time. */
void condition_settings(const struct lifecycle *life, struct condition *ret_condition);

#endif
