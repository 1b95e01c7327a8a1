/*
 * lifecycle_config - what the life cycle is told once: limits, deadlines, directories, and what people
 * have chosen. From drey.yaml (run/config/setup.c), or drawn by the simulator. Plain values; strings are
 * borrowed.
 */
#ifndef DREY_CORE_LIFECYCLE_CONFIG_H
#define DREY_CORE_LIFECYCLE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/handover/handover.h"
#include "core/handover/transition_step.h"
#include "core/lifecycle/checkpointing.h"
#include "core/lifecycle/retention.h"
#include "core/lifecycle/review.h"
#include "core/lifecycle/savepoint_format.h"
#include "core/lifecycle/schedule.h"
#include "core/lifecycle/stop_failure.h"
#include "core/resolve/resolve.h"

/* What SIGTERM to the container means while it is unknown whether it is an upgrade. */
enum sigterm_policy {
	SIGTERM_KEEP,      /* forward it, keep the existing state; the next start continues */
	SIGTERM_SAVEPOINT, /* stop with savepoint inside the grace period */
	SIGTERM_UPGRADE,   /* always an upgrade: what upgrade_mode says */
};
extern const char *const sigterm_words[]; /* as in drey.yaml, by value; NULL at the end */

/* What follows when a version that has run before does not come to run any more. */
enum attempts_policy {
	ATTEMPTS_FOR_EVER, /* it is tried again and again */
	ATTEMPTS_LIMITED,  /* it has failed after max_attempts, as any other */
};
extern const char *const attempts_words[]; /* as in drey.yaml, by value; NULL at the end */

/* How the job passes from one generation to the next. */
enum upgrade_mode {
	/* stop with savepoint; from the newest checkpoint if that is impossible */
	UPGRADE_BY_SAVEPOINT,
	UPGRADE_BY_LAST_STATE, /* end Flink; the next generation starts from the newest state */
	UPGRADE_STATELESS,     /* cancel; the next generation starts empty */
};
extern const char *const upgrade_words[]; /* the same */

/* Why the container is being stopped, as far as its owner reveals it. */
enum upgrade {
	UPGRADE_UNKNOWN,
	UPGRADE_NO,  /* the same generation is started again: an eviction, a node drain */
	UPGRADE_YES, /* another generation follows, or none: scaled to 0, deleted */
};

/* Hand-overs (handover.h). Strings are borrowed. */
struct handover_config {
	enum handover_mode mode;
	struct party me;    /* its side is the one that this machine starts Flink on */
	int64_t prepare_ms; /* an offer that is not prepared after this time is refused */
	int64_t stop_ms, take_ms;
	int64_t run_ms;       /* from taken to running, or it is returned */
	int64_t probation_ms; /* what fails within this time of running is returned, too */
	/* like takeover_ms below, before a start on another side than that launch's: for this
	 * only drey keeps its Flink out */
	int64_t takeover_ms;
	int64_t tries; /* to the same version */
	bool return_on_failure;
	/* This job runs in the shadow (transition.h), by the journal of a candidate: it takes no savepoints by
	 * schedule, deletes nothing, and follows no requests, which are for the owner */
	bool shadow;
	struct blue_green blue_green; /* with this mode */
};

#define LAUNCHES_A_MINUTE 10 /* at most (lifecycle_pace.c) */

struct lifecycle_config {
	struct handover_config handover;
	/* savepoints */
	struct schedule savepoints; /* the periodic ones */
	struct retention retention;
	enum format_policy format;
	bool native_loses_claimed; /* this Flink has FLINK-39964 (savepoint_format.h) */
	bool legacy_claim;         /* this Flink has the claim mode LEGACY (effective.h) */
	/* in Flink's configuration, which the code of the job may override */
	bool forst, async_state;
	int64_t savepoint_retries; /* of a requested one; a failed attempt is repeated this often */
	int64_t savepoint_retry_ms; /* pause before each */
	const char *savepoint_dir;  /* URI; NULL = operations need Flink's own default */
	/* Where checkpoints and savepoints are found: the same, except for what Flink leaves out of
	 * file names (s3.entropy.key). NULL = not known. */
	const char *listed_checkpoint_dir, *listed_savepoint_dir;
	int64_t configured_interval_ms; /* of checkpoints, in Flink's configuration; 0 = none there */
	const char *ha_cluster_id;      /* of Flink's HA maps; NULL = it has no HA */
	bool drain_on_stop;
	int64_t full_checkpoint_ms; /* between two periodic full checkpoints; 0 = none */
	/* launches */
	/* URI; each launch gets <dir>/<job id>; NULL = no path of its own */
	const char *result_store_dir;
	const char *id_space;      /* of the job ids, job_id.h; NULL = random ones */
	int64_t id_count;          /* of the numbers that may be used */
	const char *flink_version; /* NULL = not known */
	bool application_ids;      /* Flink >= 2.3: application id and its result store as well */
	const char *generation;    /* NULL = none given */
	struct policy policy;
	/* failures */
	int max_attempts; /* failed attempts within the window of the limit before FAILED */
	/* the same of a version that has never run, when they fail alike; 0 = max_attempts */
	int64_t same_failures;
	/* a launch that does not come to run is tried for ever where the version has run before */
	bool attempts_for_ever;
	int64_t attempts_window_ms;
	int64_t backoff_first_ms, backoff_max_ms; /* the first failure of a proven launch waits 0 */
	/* from exec to RUNNING with the restore verified; also how long a Flink may not know a job
	 * that ran */
	int64_t ready_deadline_ms;
	/* timing */
	int64_t poll_fast_ms, poll_slow_ms;
	int64_t poll_tasks_ms; /* while all is well, between two slow polls; 0 = never */
	struct health health;
	struct review_config review;
	const char *task_managers; /* label selector of their Pods; NULL = not known */
	int64_t kill_after_ms;     /* from SIGTERM to SIGKILL of Flink */
	/* while Flink is alive and nothing is written, how often the journal is checked for writes
	 * by another drey. 0 = never, because a lock keeps every other drey out */
	int64_t journal_check_ms;
	/* The prefix, before a slash, of the names of this place's (pod's) writers; NULL: there is
	 * no other place, because a lock keeps every other drey out. Borrowed. */
	const char *place;
	/* A launch of another place whose end was not observed may still be running: for this long
	 * after our first write nothing is started, so that its drey sees that write. 0 = no need
	 * to wait */
	int64_t takeover_ms;
	/* Fencing is strict: a Flink may run only this long after the last request for the journal
	 * that showed it as ours. 0 = not strict: an unreachable journal stops nothing */
	int64_t lease_ms;
	/* Several installations of the application share a lease object (core/lease): a Flink may
	 * run only this long after the last write of it that succeeded was sent. 0 = there is none */
	int64_t object_lease_ms;
	int64_t hold_retry_first_ms, hold_retry_max_ms;
	int64_t stop_retry_ms; /* after a failed stop, while the job keeps running */
	enum stop_failure on_stop_failure;
	int64_t stop_retries; /* unless on_stop_failure is RETRY */
	/* ends */
	enum sigterm_policy on_sigterm;
	enum upgrade_mode upgrade;
	bool exit_when_finished; /* end the container when the job has FINISHED (for kind: Job) */
};

#endif
