/*
 * lifecycle_facts - what is known of Flink, its job, and the drey of another place. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_FACTS_H
#define DREY_CORE_LIFECYCLE_FACTS_H

#include "core/lifecycle/lifecycle.h"

/* Why the next start would not continue from the newest checkpoint of the live launch; NULL = it would, if
 * nothing is newer. */
const char *checkpoint_excluded(const struct lifecycle *life);

enum phase ending_phase(const struct lifecycle *life); /* while Flink is being ended */
bool flink_is_live(const struct lifecycle *life);      /* also one that is not in the journal */

/* The job is FAILED, and the picture without a cause may be older than that. */
bool cause_may_come(const struct lifecycle *life, const struct view *view);

/* Was it decided by a drey in another place? */
bool is_elsewhere(const struct lifecycle *life, const struct launch *launch);
/* Was the journal, as read, last written by a drey in another place? */
bool was_written_elsewhere(const struct lifecycle *life);

/* No launch of another place can still be running. */
bool takeover_is_over(const struct lifecycle *life);

/* Would SIGTERM make the running Flink delete the checkpoints of its job? */
bool signal_deletes_checkpoints(const struct lifecycle *life);

/* Flink is to be asked about another parallelism now: one is requested, in force and not in this launch, or settling. */
bool parallelism_is_owed(const struct lifecycle *life);
bool parallelism_is_unasked(const struct lifecycle *life,
			    const struct launch *launch); /* in force only */

bool checkpoint_in_flight(
	const struct lifecycle *life); /* a requested one, that was not given up */

/* A stop or a cancel is in flight. */
bool job_is_being_ended(const struct lifecycle *life);

/* Flink has said that the stop in flight is done, which it does when the job has ended; that was not seen yet. */
bool stop_is_reported(const struct lifecycle *life);

/* The stop in flight has made its savepoint, as Flink reports it: an end of the job is that stop. */
bool stop_has_ended_job(const struct lifecycle *life);

/* With exit_when_finished: the job has finished, or was stopped with a savepoint through Flink. The
 * container then exits with 0. */
bool ended_well(const struct lifecycle *life);

/* With exit_when_finished, exit status 0 of the container means that the job has finished: before
 * that it exits as by SIGTERM. */
int end_status(const struct lifecycle *life);

/* Flink has lost its leadership, with the JobMaster, and has recovered the job that had this job_unix_ms (0 = not known:
 * false), and that was seen for so long. Flink 1.x reports what the JobMaster had under way as in progress until Flink ends. */
bool job_was_recovered(const struct lifecycle *life, int64_t job_unix_ms, int64_t patience_ms);
#define RECOVERED_MS 10000 /* Flink may still report how an operation has ended */

/* That has happened to the operation in flight. */
bool operation_is_lost(const struct lifecycle *life);
#define LOST_WITH_JOB_MASTER "Flink has lost its leadership and recovered the job"

/* The operation in flight was accepted, or sent, by the job that is seen now. */
bool operation_came_after_job(const struct lifecycle *life);

#endif
