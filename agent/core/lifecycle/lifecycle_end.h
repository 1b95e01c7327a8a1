/*
 * lifecycle_end - SIGTERM and SIGKILL to Flink. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_END_H
#define DREY_CORE_LIFECYCLE_END_H

#include "core/lifecycle/lifecycle.h"

/* A signal that was decided is sent now, and the time until SIGKILL begins. SIGTERM becomes SIGKILL if it would let Flink delete its
 * checkpoints: what the job's code sets may have become known while the signal waited for the journal. */
void end_signal_goes_out(struct lifecycle *life, struct effect *effect);

/* SIGTERM to Flink now, SIGKILL after kill_after_ms. */
void terminate_flink(struct lifecycle *life);

/* End Flink: SIGTERM now (or after the journal write), SIGKILL later. When it has ended, what
 * follows is resolve_start(), a counted failure, or the exit if the container is being stopped. */
void end_flink(struct lifecycle *life, bool after_write, bool counts, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same immediately, as a failed attempt with its own cause. */
void end_flink_because(struct lifecycle *life, enum cause cause, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The end of a job cannot be recorded. After a stop whose savepoint is known Flink is killed all the same: it may run the job again
 * (end_job_that_runs_again()), and the savepoint is found in storage, as after the death of an agent. */
void end_flink_unrecorded(struct lifecycle *life);
void kill_flink(struct lifecycle *life); /* SIGKILL now, to its whole group, until it has ended */

#endif
