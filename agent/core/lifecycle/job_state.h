/*
 * job_state - the states of a job, as Flink has them. The order means nothing.
 */
#ifndef DREY_CORE_JOB_STATE_H
#define DREY_CORE_JOB_STATE_H

#include <stdbool.h>

enum job_state {
	JOB_UNKNOWN, /* not asked, or an unknown word */
	JOB_INITIALIZING,
	JOB_CREATED,
	JOB_RUNNING,
	JOB_FAILING,
	JOB_FAILED,
	JOB_CANCELLING,
	JOB_CANCELED,
	JOB_FINISHED,
	JOB_RESTARTING,
	JOB_SUSPENDED,
	JOB_RECONCILING,
};

extern const char *const job_state_words[];       /* by value; NULL at the end */
const char *job_state_name(enum job_state state); /* "RUNNING", ... as Flink spells it */
enum job_state job_state_parse(const char *name); /* JOB_UNKNOWN for an unknown word */
bool job_state_is_final(enum job_state state);    /* FINISHED, CANCELED, FAILED */

#endif
