/*
 * conditions - what tools and people wait for, in the form of Kubernetes: is it ready, is something
 * under way, is a person needed, and what else is wrong. Pure.
 *
 * Life cycle: a zeroed one (conditions_seed() takes over what was written before) ->
 * conditions_update() after every step and before each use -> no release, it owns nothing.
 *
 * Source of the rules: Kubernetes API conventions (conditions), kstatus (Reconciling and Stalled are
 * there to be True only while they hold; Stalled fails a deployment that waits).
 *
 * Stalled gives up for those who wait, and they do not look again. So a hold, which ends by itself
 * when what was unreadable can be read, is Reconciling for a minute and Stalled only then; and to
 * stand still because a person wants it (the brake, suspended, cancelled) is never Stalled.
 */
#ifndef DREY_CORE_CONDITIONS_H
#define DREY_CORE_CONDITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lifecycle.h"

struct json;

#define CONDITIONS_FAILING_MS     (10 * 60 * 1000) /* JobFailing looks back so far */
#define CONDITIONS_UNSTABLE_MS    (60 * 60 * 1000) /* JobUnstable */
#define CONDITIONS_RESTARTS       3                /* so many in that time */
#define CONDITIONS_UNREACHABLE_MS 60000            /* so long without an answer of Flink's */
#define CONDITIONS_RESTARTS_KNOWN 64
#define CONDITIONS_PATIENCE_MS    60000 /* holding, or a broken journal, for so long is Stalled */

enum condition_type {
	CONDITION_READY,
	CONDITION_RECONCILING,
	CONDITION_STALLED,
	CONDITION_RESTORE_VERIFIED,
	CONDITION_CLUSTER_UNREACHABLE,
	CONDITION_JOB_FAILING,
	CONDITION_JOB_UNSTABLE,
	CONDITION_CHECKPOINTS_ELSEWHERE,
	CONDITION_COUNT,
};

enum truth {
	TRUTH_UNKNOWN,
	TRUTH_FALSE,
	TRUTH_TRUE,
};

struct condition {
	enum truth status;
	char reason[48];       /* one word */
	char message[600];     /* a sentence */
	int64_t since_unix_ms; /* when the status became what it is; 0 = never judged */
};

struct conditions {
	struct condition list[CONDITION_COUNT];
	int64_t generation; /* of the custom resource that they are about; 0 = there is none */

	enum cause cause; /* why it is not ready although it is in the phase Running; CAUSE_NONE */

	struct {
		int64_t unix_ms, count;        /* those of about a minute are one entry */
	} restarts[CONDITIONS_RESTARTS_KNOWN]; /* oldest first */
	size_t restart_entries;
	int64_t failure_unix_ms; /* the newest failed attempt that was counted */
	bool restarting;         /* the job, when it was seen last */
	int64_t launch;          /* number of the one whose restarts are counted */
	bool counted;            /* Flink has told how many */
	int64_t told, glimpsed;  /* as it told last; seen since by looking at the job */
	int64_t silent_unix_ms;  /* Flink gives no answer since; 0 = it does, or none runs */
	/* it holds since, looking again included; 0 = it does not, or only because a person
	 * wants it so */
	int64_t holding_unix_ms;
	int64_t broken_unix_ms; /* the journal cannot be written since; 0 = it can */
	struct {
		enum truth status;
		int64_t since_unix_ms;
	} seed[CONDITION_COUNT]; /* what was written before, since 0 = nothing */
};

/* What is known besides the life; zeroed: no custom resource. */
struct conditions_outside {
	int64_t generation;  /* of the custom resource that was looked at last */
	const char *refused; /* why its spec is not followed; NULL = it is; borrowed */
};

/* Judge all. A time is only taken when a status has changed. */
void conditions_update(struct conditions *conditions, const struct lifecycle *life,
		       const struct conditions_outside *outside, int64_t now_unix_ms);

/* What the status says of the phase, in one word and in a sentence: that of the condition Ready where
 * Flink lives and the job does not run as it should. The sentence is borrowed from either. */
enum cause conditions_cause(const struct conditions *conditions, const struct lifecycle *life);
const char *conditions_reason(const struct conditions *conditions, const struct lifecycle *life);

/* The job runs, and nothing is wrong: what /readyz and the exit status of `drey status` say. */
bool conditions_ready(const struct conditions *conditions, const struct lifecycle *life);

/* When time alone will change them: 0 = it will not. */
int64_t conditions_due_unix_ms(const struct conditions *conditions);

/* `array` is the `conditions` of a status that was written before: where the status is still the same
 * at the first update its time goes on. */
void conditions_seed(struct conditions *conditions, const struct json *array);

/* Add the array under `key`. */
void conditions_add(const struct conditions *conditions, struct json *to, const char *key);

const char *truth_name(enum truth truth); /* "Unknown", "False", "True" */

#endif
