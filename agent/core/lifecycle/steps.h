/*
 * steps - how far a launch is, and each request of drey to Flink or to storage that is not answered for good.
 */
#ifndef DREY_CORE_STEPS_H
#define DREY_CORE_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/snapshot.h"

enum launch_step {
	LAUNCH_NONE,
	LAUNCH_WRITING,  /* the intent is being written */
	LAUNCH_STARTING, /* drey-init was asked */
	LAUNCH_LIVE,     /* the process runs */
};

enum ask_step {
	STEP_NONE,
	STEP_WRITING,    /* the intent is being written */
	STEP_TRIGGERING, /* POST under way, or to be repeated */
	STEP_POLLING,
	STEP_INSPECTING, /* the reported savepoint is being inspected */
	STEP_ENDING,     /* stop, cancel: waiting for the job's final state */
	STEP_SETTLING,   /* Flink ended before the result was seen: storage is searched for it */
	STEP_LEFT, /* a checkpoint was given up; its result must be read, or Flink does not end */
};

enum ask_kind { /* the rows of lifecycle_asks.c */
		ASK_SAVEPOINT,
		ASK_STOP,
		ASK_CANCEL,
		ASK_CHECKPOINT,
		ASK_LOOK,    /* at the vertices */
		ASK_RESCALE, /* give them other bounds */
		ASK_DISPOSAL,
		ASK_KEEPER, /* from here on a snapshot is read */
		ASK_STALLED,
		ASK_NEWEST,
		ASK_RESULT,
		ASK_REVIEW,
		ASKS,
};

/* What is known of a request that is in flight: step != STEP_NONE. */
struct ask {
	enum ask_kind kind;
	enum ask_step step;
	bool asking;             /* one of its effects is under way, or waits for the journal */
	char id[JOB_ID_BYTES];   /* trigger id, or that of the job */
	char *path;              /* of the snapshot that is read or deleted; owned */
	int64_t started_unix_ms; /* when it was decided */
	int64_t poll_ms, deadline_ms; /* 0 = none; the first of all is lifecycle.asks_ms */
	/* when this JobManager accepted our POST, and when this agent sent the first; 0 = not */
	int64_t accepted_ms, accepted_unix_ms, sent_ms, sent_unix_ms;
	/* a checkpoint: the date of the job that has accepted it; until when its path is waited for */
	int64_t job_unix_ms, path_by_ms;
};

#endif
