/*
 * gate_watermarks - how far the subtasks of one operator of a job are, by Flink's metrics: for gates that
 * have no other way to say it.
 *
 * Three requests for each vertex that has the operator. Metrics are as old as the last time that the JobManager
 * asked the TaskManagers (metrics.fetcher.update-interval), the list of subtasks up to 3 s.
 */
#ifndef DREY_FLINK_GATE_WATERMARKS_H
#define DREY_FLINK_GATE_WATERMARKS_H

#include "flink/rest.h"

#define FLINK_NO_WATERMARK INT64_MIN
/* Of some of those gates: 1 when a subtask has nothing to write any more. */
#define FLINK_GATE_GAUGE "bluegreenGateHandOverDone"

struct flink_gate {
	int subtasks, running;   /* 0: no vertex has such an operator */
	int64_t start_unix_ms;   /* of the subtask that was started last */
	int64_t *watermarks;     /* of each subtask; FLINK_NO_WATERMARK: none, or not known */
	int gauges, gauges_over; /* that are reported; and are 1 */
};

/* `name`: of the operator, as the job has set it. Answers as flink_rest_vertices(); release with
 * flink_gate_release(). */
enum flink_answer flink_rest_gate(const struct flink_rest *rest, const char *job_id,
				  const char *name, int64_t timeout_ms, struct flink_gate *ret_gate,
				  struct err *err);
void flink_gate_release(struct flink_gate *gate); /* zeroed is allowed */

#endif
