/*
 * graph_sides - blue/green: do the operators of the new job fit two jobs that run at the same time? Its gates, and the sinks
 * that have a uid on each side (blueGreen.sinkUids). Pure.
 *
 * Of a sink with the uid X Flink calls the committer "Sink Committer: X" and "Sink X Global Committer". A snapshot has no uids
 * before Flink 2, but always the ids that Flink makes of them.
 */
#ifndef DREY_CORE_GRAPH_SIDES_H
#define DREY_CORE_GRAPH_SIDES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/handover/side.h"

struct side_operator {
	const char *id;   /* 32 hex digits */
	const char *uid;  /* NULL = none, or not known */
	const char *gate; /* the side that this gate takes itself for; NULL = it is no gate */
};

struct side_graph {
	const struct side_operator *job, *state; /* of the new job; of what it would start from */
	size_t job_count, state_count;
	char *const *sink_uids; /* NULL-terminated; NULL = none */
	enum side side;         /* that the new version will have */
	bool gates;             /* it has to have drey's: what the job says of them is known */
};

/* Is this operator of the state one of a sink that keeps it on its side? */
bool graph_sides_stays(char *const *sink_uids, const char *id, const char *uid);

/* Why such a job must not run beside the old one: a sentence; NULL = it may. The caller frees. */
char *graph_sides_refuse(const struct side_graph *graph);

/* A warning about sinkUids, a uid that no operator has: a sentence; NULL = none. The caller frees. */
char *graph_sides_warn(const struct side_graph *graph);

#endif
