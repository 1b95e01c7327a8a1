/*
 * phase - where the life of an application is; docs/lifecycle.md says what happens in each.
 */
#ifndef DREY_CORE_PHASE_H
#define DREY_CORE_PHASE_H

#include <stdbool.h>

enum phase {
	PHASE_RESOLVING, /* finding out what to start from */
	PHASE_HOLDING,   /* may not or cannot start; says why; looks again by itself */
	/* intent written, Flink starting, until it is RUNNING and proved its restore */
	PHASE_LAUNCHING,
	PHASE_RUNNING,     /* the job runs, and from what we decided */
	PHASE_STOPPING,    /* stop, cancel, or end of the JVM under way */
	PHASE_SUSPENDED,   /* parked: stopped with a savepoint */
	PHASE_CANCELLED,   /* parked: stopped without one */
	PHASE_FINISHED,    /* parked: the job came to its end */
	PHASE_FAILED,      /* parked: attempts used up, or an end that nobody can explain */
	PHASE_TERMINATING, /* the container ends */
	PHASE_COUNT,
};

const char *phase_name(enum phase phase); /* "Running", ... */

/* Finished, Failed or Cancelled: the application does not run again until a person asks for it. */
bool phase_is_end(enum phase phase);

#endif
