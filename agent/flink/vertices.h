/*
 * vertices - where the records of a job stay: for each vertex of its graph the back-pressure, how far
 * its source is behind, and how long its barriers were aligned.
 *
 * Asked for by people, never polled: one request for the graph, and three for each vertex. Flink
 * samples nothing of this before it is asked for the first time, so what it does not know yet is
 * reported as not known.
 */
#ifndef DREY_FLINK_VERTICES_H
#define DREY_FLINK_VERTICES_H

#include "flink/rest.h"

struct flink_vertex {
	char *id, *name, *status; /* status: RUNNING, ... */
	int64_t parallelism;
	/* of the subtask that is worst, in percent of its time; -1 = not known */
	int64_t back_pressured, busy;
	char *level;             /* "ok", "low", "high"; NULL = not known */
	int64_t pending_records; /* of all its sources; -1 = none has such a number */
	int64_t alignment_ms; /* of the slowest subtask, of its last checkpoint; -1 = not known */
};

struct flink_vertices {
	struct flink_vertex *list;
	size_t count;
};

/* In the order of the graph. A vertex that does not answer has no numbers; only without the graph
 * it is no FLINK_OK. Release with flink_vertices_release(). timeout_ms: of each request. */
enum flink_answer flink_rest_vertices(const struct flink_rest *rest, const char *job_id,
				      int64_t timeout_ms, struct flink_vertices *ret_vertices,
				      struct err *err);
void flink_vertices_release(struct flink_vertices *vertices); /* zeroed is allowed */

#endif
