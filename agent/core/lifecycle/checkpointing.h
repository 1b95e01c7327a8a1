/*
 * checkpointing - what Flink says of the checkpoints of one job, as far as it is watched, and when they
 * count as failing. Pure data; it owns nothing.
 *
 * What Flink says is of one JobManager process: Flink's statistics begin with nothing in every new one.
 */
#ifndef DREY_CORE_CHECKPOINTING_H
#define DREY_CORE_CHECKPOINTING_H

#include <stdbool.h>
#include <stdint.h>

#define CHECKPOINT_FAILURE_BYTES 200

struct checkpointing {
	/* as Flink counts them: savepoints too, and triggers that it gave up before there was an
	 * id */
	int64_t completed, failed, in_progress;

	/* checkpoints, no savepoints, that have failed since the newest completed one: at most as
	 * many as Flink's history has (web.checkpoints.history: 10 of either kind) */
	int64_t failures;
	int64_t failed_unix_ms;                 /* the newest of them; 0 = none */
	char failure[CHECKPOINT_FAILURE_BYTES]; /* why; "" = not known */

	/* of the newest completed one; 0 = there is none */
	int64_t duration_ms, size_bytes;
	/* alignment: what was read while barriers were awaited, and what was in flight and is
	 * stored with it (unaligned checkpoints) */
	int64_t processed_bytes, persisted_bytes;
};

/* How often a job makes checkpoints, as it was submitted. */
struct checkpoint_plan {
	bool known;
	int64_t interval_ms;  /* 0 = no periodic checkpoints */
	int64_t min_pause_ms; /* from the end of one to the begin of the next */
};

/* What this agent knows of the settings of the job (effective.h). */
struct settings_seen {
	bool known;          /* it has asked; they are in the launch */
	int64_t job_unix_ms; /* of the JobMaster that has told them */
	bool overridden;     /* it was reported that they may lose state */
	bool unusable;       /* and that its checkpoints cannot be restored */
};

/* When the checkpoints of a job that runs are failing, and what follows from that. */
struct health {
	int64_t checkpoint_failures; /* so many in a row; 0 = however many */
	/* The newest one is older than so many intervals, and than this; 0 intervals = however
	 * old. */
	int64_t checkpoint_intervals, checkpoint_age_ms;
	/* The job is restarted when none has completed for this long; 0 = never. */
	int64_t restart_after_ms;
	/* A Flink of which neither REST nor a checkpoint shows anything is ended after this; 0 = never. */
	int64_t unreachable_after_ms;
	/* A version has to run for this long after its first one. */
	int64_t probation_ms;
};

#endif
