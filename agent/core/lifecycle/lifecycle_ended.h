/*
 * lifecycle_ended - the job has ended. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_ENDED_H
#define DREY_CORE_LIFECYCLE_ENDED_H

#include "core/lifecycle/lifecycle.h"

/* Record how the job of the current launch ended; nothing is launched automatically any more. */
void outcome_set(struct lifecycle *life, enum outcome_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The end of this job is recorded, and Flink's own record of it is not needed. */
void launch_end_is_known(struct lifecycle *life, const char *job_id);

/* The job ended without our request. */
void job_ended(struct lifecycle *life, const struct view *view);

/* cause_may_come(), or it is FINISHED, but the savepoints shown may be older: poll again. */
bool end_is_unclear(struct lifecycle *life, const struct view *view);

/* FINISHED, and not by a stop with savepoint. */
bool finished_by_itself(const struct view *view);

/* The job has finished while Flink is being stopped. */
void job_finished_meanwhile(struct lifecycle *life, const struct view *view);

/* Flink stores the end of a job after it has removed the HA data of the job. If it cannot, and loses its leadership, it recovers
 * the job when it leads again, from a checkpoint that is older than the end: SIGKILL, before that job writes anything. */
void end_job_that_runs_again(struct lifecycle *life, const struct view *view);

#endif
