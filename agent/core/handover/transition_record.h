/* transition_record - what the journal has of a transition (transition.h). */
#ifndef DREY_CORE_TRANSITION_RECORD_H
#define DREY_CORE_TRANSITION_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/handover/side.h"
#include "core/snapshot.h"

enum transition_state {
	TRANSITION_NONE,
	TRANSITION_OFFERED,  /* the candidate prepares: its JVM, its TaskManagers */
	TRANSITION_SEEDING,  /* the savepoint for it is being taken; the job runs on */
	TRANSITION_SEEDED,   /* it is there, and nothing deletes it */
	TRANSITION_SHADOW,   /* the candidate's job runs from it, with its output shut */
	TRANSITION_ARMING,   /* the cut is chosen; the candidate's gates are being told */
	TRANSITION_ARMED,    /* all of them let pass what is at or above the cut */
	TRANSITION_CROSSING, /* all gates of the owner hold that back */
	TRANSITION_CROSSED,  /* every one of them is behind the cut */
	TRANSITION_ENDING,   /* the owner's job is being stopped with a savepoint */
	TRANSITION_GRANTED,  /* it has ended; the candidate is the owner */
	TRANSITION_TAKEN,    /* its journal is the journal */
	TRANSITION_DONE,     /* it has a checkpoint wholly behind the cut, which is forgotten */
	TRANSITION_ABORTING, /* the candidate's job is to end, the owner's output to open */
	TRANSITION_REFUSED,  /* not tried again with this version */
	TRANSITION_STATES,
};

/* A snapshot that a transition depends on. The path is owned; NULL = none. */
struct transition_point {
	char *path;
	int64_t checkpoint_id;
};

struct transition {
	char *id; /* of the hand-over that it belongs to; NULL = there is none */
	enum transition_state state;
	/* what the candidate starts from, and what the owner was stopped with */
	struct transition_point seed, stop;
	/* the owner's job starts again from here, because the cut was given up after it was in force */
	struct transition_point replay;
	/* the highest event time that the owner's gates had seen when the seed was recorded; 0 = not known */
	int64_t seen_unix_ms;
	int64_t toggle_unix_ms; /* the cut, in event time; 0 = none */
	int64_t before_unix_ms; /* the last one that was given up: the next one is later */
	/* of the orders to the gates of either side: raised with each other content */
	int64_t owner_number, candidate_number;
	int64_t armings;    /* cuts that were given up, because they were not acknowledged */
	bool promoted;      /* a person has said so; not needed where it is automatic */
	int64_t at_unix_ms; /* ... and wants this cut, or a later one; 0 = any */
	bool aborted;       /* a person gives it up, and this version with it */
	/* trigger id of the savepoint or stop that belongs to the state; "" = none was begun */
	char work_id[JOB_ID_BYTES];
	bool opened;   /* ABORTING: the owner's output is open, the candidate's job may end */
	bool replayed; /* ABORTING: the owner's job runs from `replay` */
	/* records that both sides write, as their gates have counted them: passed at or above the cut by the
	 * owner's, and below it by the candidate's */
	int64_t above, below;
	enum side
		output_side; /* of the candidate's job: not that of the owner's (launch.output_side) */
	bool inexact;        /* `above` is the least that it can be */
	/* job ids that the candidate may use: numbers of the journal's space from here on */
	int64_t first_number, numbers;
};

#endif
