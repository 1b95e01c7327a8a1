/*
 * conditions - what tools and people wait for, as Kubernetes conditions: is it ready, is it making
 * progress, is a person needed, what else is wrong. Pure.
 *
 * Life cycle: a zeroed one (conditions_seed() takes over what was written before) ->
 * conditions_update() after every step and before each use -> no release, it owns nothing.
 *
 * Source of the rules: Kubernetes API conventions (conditions), kstatus (Reconciling and Stalled
 * are present and True only while they apply; Stalled fails a waiting deployment).
 *
 * Tools that see Stalled stop waiting and do not check again. So a hold, which ends automatically
 * when what was unreadable can be read, is Reconciling for a minute and Stalled only after that;
 * and a stop that a person asked for (do-not-restart, suspended, cancelled) is never Stalled.
 */
#ifndef DREY_CORE_CONDITIONS_H
#define DREY_CORE_CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lifecycle/lifecycle.h"
#include "core/report/condition.h"
#include "core/report/restart_history.h"

struct json;

#define CONDITIONS_FAILING_MS     (10 * 60 * 1000) /* how far back JobFailing counts */
#define CONDITIONS_UNSTABLE_MS    (60 * 60 * 1000) /* JobUnstable */
#define CONDITIONS_RESTARTS       3     /* this many restarts within CONDITIONS_UNSTABLE_MS */
#define CONDITIONS_UNREACHABLE_MS 60000 /* this long without an answer from Flink */
#define CONDITIONS_PATIENCE_MS    60000 /* holding, or a broken journal, for this long is Stalled */

enum condition_type {
	CONDITION_READY,
	CONDITION_RECONCILING,
	CONDITION_STALLED,
	CONDITION_RESTORE_VERIFIED,
	CONDITION_CLUSTER_UNREACHABLE,
	CONDITION_JOB_FAILING,
	CONDITION_JOB_UNSTABLE,
	CONDITION_CHECKPOINTS_FAILING,
	CONDITION_CHECKPOINTS_ELSEWHERE,
	CONDITION_SETTINGS_OVERRIDDEN,
	CONDITION_JOURNAL_COPY_FAILING,
	CONDITION_STATE_LOST,
	CONDITION_CHECKPOINTS_UNUSABLE,
	CONDITION_HANDING_OVER,
	CONDITION_UPGRADED,
	CONDITION_PARALLELISM,
	CONDITION_COUNT,
};

struct conditions {
	struct condition list[CONDITION_COUNT];
	int64_t generation; /* of the custom resource that they are about; 0 = there is none */

	/* what is wrong although it is in the phase Running: why it is not ready, or that its
	 * checkpoints fail; CAUSE_NONE */
	enum cause cause;

	struct restart_history restarts;
	/* since when Flink does not answer; 0 = it does, or none is running */
	int64_t silent_unix_ms;
	/* since when it holds, including the retries; 0 = it does not, or only because a person
	 * asked for it */
	int64_t holding_unix_ms;
	int64_t upgraded_unix_ms; /* when Upgraded becomes true by time alone; 0 = it does not */
	int64_t broken_unix_ms;   /* since when the journal cannot be written; 0 = it can */
	struct {
		enum truth status;
		int64_t since_unix_ms;
	} seed[CONDITION_COUNT]; /* what was written before, since 0 = nothing */
};

/* What is known besides the life; zeroed: no custom resource. */
struct conditions_outside {
	int64_t generation;  /* of the custom resource as last read */
	const char *refused; /* why its spec is not followed; NULL = it is; borrowed */
	struct {
		const char *off; /* why there is none; NULL = there is one; borrowed */
		const char *
			error; /* why it is not up to date; NULL = it is, or is about to be; borrowed */
		bool newer;              /* because another drey has written it */
		int64_t written_unix_ms; /* 0 = not yet, or not known */
	} copy;                          /* of the journal, in storage */
};

/* Judge all. A time is only taken when a status has changed. */
void conditions_update(struct conditions *conditions, const struct lifecycle *life,
		       const struct conditions_outside *outside, int64_t now_unix_ms);

/* What the status says about the phase, in one word and in a sentence: taken from the condition
 * Ready when Flink is alive and the job does not run as it should, from CheckpointsFailing or SettingsOverridden when it
 * does run and they are true. The sentence is borrowed from either. */
enum cause conditions_cause(const struct conditions *conditions, const struct lifecycle *life);
const char *conditions_reason(const struct conditions *conditions, const struct lifecycle *life);

/* The job is running and nothing is wrong: what /readyz and the exit status of `drey status`
 * report. */
bool conditions_ready(const struct conditions *conditions, const struct lifecycle *life);

/* When they will change by time alone; 0 = they will not. */
int64_t conditions_due_unix_ms(const struct conditions *conditions);

/* `array` is the `conditions` of a status written earlier: a condition whose status is the same at
 * the first update keeps its time. */
void conditions_seed(struct conditions *conditions, const struct json *array);

/* Add the array under `key`. */
void conditions_add(const struct conditions *conditions, struct json *to, const char *key);

#endif
