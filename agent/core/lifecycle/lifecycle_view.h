/*
 * lifecycle_view - polling the job: its restore, its checkpoints, its end. Private to this room.
 */
#ifndef DREY_CORE_LIFECYCLE_VIEW_H
#define DREY_CORE_LIFECYCLE_VIEW_H

#include "core/lifecycle/lifecycle.h"

/* What a poll has shown of the job: recorded, and followed by what it calls for. */
void on_view(struct lifecycle *life, const struct event *event);

/* The journal is being written, including the newest checkpoint. */
void checkpoint_noted(struct lifecycle *life);

/* Flink has lost its leadership, with the JobMaster, and has recovered the job that had this job_unix_ms (0 = not known:
 * false), and that was seen for so long. Flink 1.x reports what the JobMaster had under way as in progress until Flink ends. */
bool job_was_recovered(const struct lifecycle *life, int64_t job_unix_ms, int64_t patience_ms);
#define RECOVERED_MS 10000 /* Flink may still report how an operation has ended */

/* That has happened to the operation in flight. */
bool operation_is_lost(const struct lifecycle *life);
#define LOST_WITH_JOB_MASTER "Flink has lost its leadership and recovered the job"

#endif
