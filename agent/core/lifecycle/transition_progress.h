/*
 * transition_progress - what the life cycle remembers of a transition (core/handover/transition.h) beside the journal: it is lost with the
 * agent, and found again. Owned by struct lifecycle.
 */
#ifndef DREY_CORE_TRANSITION_PROGRESS_H
#define DREY_CORE_TRANSITION_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/handover/flip.h"
#include "core/handover/gate.h"
#include "core/lifecycle/due_time.h"
#include "core/snapshot.h"

/* What the ConfigMap of FLIP-504's gates has said last (core/handover/flip.h). */
struct flip_known {
	char *transition; /* that its keys were of; owned; NULL = none, or nothing is known */
	enum transition_state state; /* ... and of this state of it */
	int64_t toggle_unix_ms;      /* the cut that is there; 0 = none */
	int64_t since_ms;            /* it is the same since then ... */
	int64_t same_ms;             /* ... and was when the map was read last */
	int64_t written_ms;          /* since then the keys say what they are to say, or do not */
	int64_t beat;                /* the candidate's when it was seen first */
	bool judged, past; /* both jobs have shown where they are since; records had come to it */
	struct flip_gate gate; /* `behind`: that one */
};

/* What the gates of the job here have reported last, and what they were told last. */
struct gates_known {
	char *transition; /* of the report; owned; NULL = at rest, or nothing was reported */
	char launch_id[JOB_ID_BYTES];
	bool ended;
	struct gate_report report;
	char *told;                 /* the transition; owned */
	char told_id[JOB_ID_BYTES]; /* the launch; "" = none was */
	struct gate_order order;
	struct flip_known flip;
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
