/*
 * phase - where the life of an application is; docs/reference/lifecycle.md says what happens in each.
 */
#ifndef DREY_CORE_PHASE_H
#define DREY_CORE_PHASE_H

#include <stdbool.h>

enum phase {
	PHASE_RESOLVING, /* finding out what to start from */
	PHASE_HOLDING,   /* may not or cannot start; says why; retries automatically */
	/* intent written, Flink starting, until it is RUNNING and its restore is verified */
	PHASE_LAUNCHING,
	PHASE_RUNNING,     /* the job is running, from the decided state */
	PHASE_STOPPING,    /* stop, cancel, or end of the JVM under way */
	PHASE_SUSPENDED,   /* parked: stopped with a savepoint */
	PHASE_CANCELLED,   /* parked: stopped without one */
	PHASE_FINISHED,    /* parked: the job has finished */
	PHASE_FAILED,      /* parked: attempts used up, or an unexplained end */
	PHASE_TERMINATING, /* the container is being stopped */
	/* of a pod that does not own the application (standby.h); the life cycle is never in these */
	PHASE_STANDBY,     /* it waits, or prepares */
	PHASE_PREPARED,    /* it could take the job now */
	PHASE_HANDED_OVER, /* it had the job, and may get it back */
	/* for people only: Running, in the shadow of the owner's job (lifecycle_phase()) */
	PHASE_SHADOW,
	PHASE_COUNT,
};

const char *phase_name(enum phase phase); /* "Running", ... */

/* Finished, Failed or Cancelled: the application does not run again until a person asks for it. */
bool phase_is_end(enum phase phase);

#endif
