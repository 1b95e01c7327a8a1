/* stop_failure - what the life cycle does when a stop fails (savepoints.onStopFailure). */
#ifndef DREY_CORE_STOP_FAILURE_H
#define DREY_CORE_STOP_FAILURE_H

/* What follows when a stop with savepoint, for a suspend or a restart, has failed. */
enum stop_failure {
	STOP_FAILURE_RETRY, /* it is repeated as long as the request is in force */
	/* it is repeated stop_retries times; then: */
	STOP_FAILURE_KEEP_RUNNING, /* the request is given up, and the job runs on */
	STOP_FAILURE_LAST_STATE, /* Flink is ended; the job continues from its newest checkpoint */
};
extern const char *const stop_failure_words[]; /* as in drey.yaml, by value; NULL at the end */

#endif
