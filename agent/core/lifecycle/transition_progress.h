/*
 * transition_progress - what the life cycle remembers of a transition (core/handover/transition.h) beside the journal: it is lost with the
 * agent, and found again. Owned by struct lifecycle.
 */
#ifndef DREY_CORE_TRANSITION_PROGRESS_H
#define DREY_CORE_TRANSITION_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/handover/gate.h"
#include "core/handover/gate_kind.h"
#include "core/lifecycle/due_time.h"
#include "core/snapshot.h"

/* What the gates of the job here have reported last, and what they were told last. */
struct gates_known {
	char *transition; /* of the report; owned; NULL = at rest, or nothing was reported */
	char launch_id[JOB_ID_BYTES];
	bool ended;
	struct gate_report report;
	char *told;                 /* the transition; owned */
	char told_id[JOB_ID_BYTES]; /* the launch; "" = none was */
	struct gate_order order;
	struct gate_keys keys;
};

/* In the present state of the transition. */
struct transition_progress {
	bool late;         /* its deadline has passed */
	bool gives_up;     /* Flink was ended, and is not started again */
	int64_t made_ms;   /* since when the stop has succeeded; 0 = it has not */
	int64_t behind_ms; /* since when all gates are behind the cut; 0 = they are not */
	int64_t failures;  /* of stops */
	int near;          /* looks in a row at which the candidate was near */
	int64_t near_beat; /* of the last one */
	bool near_told;    /* that it has caught up */
	int64_t finish_id; /* the checkpoint after which the cut can be forgotten; -1 = none yet */
	char *missing;     /* a snapshot that was to be started from, and is not there; owned */
	due_time again_ms;
};

#endif
