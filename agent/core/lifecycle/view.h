/*
 * view - what one poll of Flink's REST API shows of the job.
 */
#ifndef DREY_CORE_VIEW_H
#define DREY_CORE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/effective.h"
#include "core/lifecycle/checkpointing.h"
#include "core/lifecycle/job_state.h"

/* A savepoint that this job has completed, requested by drey or not. */
struct seen_savepoint {
	int64_t id;
	const char *path;
	int64_t completed_unix_ms; /* 0 = not known */
	bool stop;                 /* of a stop with savepoint */
};

/* The tasks of the job and what they run on, as Flink counts them. */
struct cluster {
	bool tasks_known, slots_known;
	int tasks_total, tasks_running; /* a finished task counts as running */
	int tasks_waiting;              /* not deployed: for slots, or for the pause of a restart */
	int task_managers, slots_total, slots_free;
};

/* What storage shows of Flink's work after its job has ended. */
enum cleanup {
	CLEANUP_NOT_ASKED,
	CLEANUP_PENDING, /* not done, or not known now */
	/* done, as far as storage shows it; but more may be left, or a kill would leave the lock */
	CLEANUP_UNKNOWN,
	CLEANUP_DONE, /* nothing is left that only this Flink would do */
};

/* What Flink says of the application, main() and its jobs, when its job is CANCELED. Flink 2.3 and later. */
enum application {
	APPLICATION_NOT_ASKED, /* the job is not, or Flink has no applications */
	APPLICATION_UNREAD,
	APPLICATION_OTHER,   /* it has not failed: somebody has cancelled the job */
	APPLICATION_FAILING, /* Flink has cancelled its job, and will say why */
	APPLICATION_FAILED,  /* Flink had cancelled its job; `failure` is why */
};

/* How much a poll requests. */
enum poll_depth {
	POLL_TASKS, /* state and tasks; the rest only if they are not as they should be */
	POLL_JOB,   /* the checkpoint statistics, slots and TaskManagers as well */
	POLL_ALL,   /* and how often Flink has restarted the job */
	/* nothing of these: has Flink, whose job has ended, done what it does after that? */
	POLL_CLEANUP,
};

/* What one poll of Flink's REST API returned. Strings are borrowed for the step. */
struct view {
	bool reachable;      /* REST answered at all */
	const char *silence; /* it did not: why; NULL = not known */
	bool mute; /* no connection, or no answer in time: an HTTP or TLS error is an answer */
	bool job_present; /* the job id is known there */
	enum job_state state;
	int64_t job_unix_ms; /* its start, or its recovery, in this Flink; 0 = not known */
	bool tasks_missing;  /* not every task runs, or it is not known: a savepoint would fail */
	struct cluster cluster;
	bool restarts_known;
	int64_t restarts;       /* of this job by Flink, in this process */
	bool rescales_counted;  /* those for another parallelism are not in it */
	bool statistics_known;  /* the checkpoint statistics were read */
	bool checkpointing_off; /* proven: there are none for this job */
	bool restored;          /* latest.restored is there */
	bool restored_as_own; /* Flink shows it as a checkpoint of the job itself, not as a savepoint */
	int64_t restored_id;
	const char *restored_path;
	int64_t completed_id; /* latest completed checkpoint (no savepoint); 0 = none */
	const char *completed_path;
	int64_t completed_unix_ms;
	struct checkpointing checkpointing; /* with statistics_known */
	bool statistics_failed;             /* they were asked for, and could not be read */
	/* both are asked for as long as they are not known */
	struct checkpoint_plan plan;
	struct effective effective;
	const struct seen_savepoint *savepoints; /* those that Flink still lists, in any order */
	size_t savepoint_count;
	const char *failure; /* root cause when the job fails or restarts; NULL = none known */
	enum application application;
	const char *other_job; /* id of another job of this Flink that has not ended; NULL = none */
	enum cleanup cleanup;  /* of POLL_CLEANUP, which asks for nothing else */
};

#endif
