/*
 * graph_fit - would Flink restore this snapshot into that job? Pure: it compares what the snapshot and
 * the job say of their operators, as Flink does before the first task is deployed.
 *
 * Not known before operators run: the names of their states, and whether their serializers can read
 * what an earlier version wrote.
 *
 * Source: Flink's Checkpoints.loadAndValidateCheckpoint() and StateAssignmentOperation (1.20 to 2.3).
 *
 * Life cycle: graph_fit_compare() -> read -> graph_fit_release(). What it points to is the caller's.
 */
#ifndef DREY_CORE_GRAPH_FIT_H
#define DREY_CORE_GRAPH_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Of a snapshot, or of a job. Everything is borrowed; texts may be NULL. */
struct fit_operator {
	const char *id;      /* 32 hex digits; never NULL */
	const char *user_id; /* a job's: set by setUidHash(), state of this id is its own, too */
	const char *name, *uid;
	int64_t parallelism;
	int64_t max_parallelism; /* a job's: <= 0 if it does not set one, Flink then takes that of the state */
	bool has_state;      /* a snapshot's */
	int64_t state_bytes; /* a snapshot's */
	bool stays; /* a snapshot's: it may be left out, because it stays with another side (blue/green) */
};

enum fit_kind {
	FIT_LEFT_OUT,        /* it has state, and the job has no operator for it */
	FIT_MAX_PARALLELISM, /* the job sets another one than its state has */
	FIT_TOO_PARALLEL, /* the job runs it with more subtasks than its state can be divided into */
};

struct fit_problem {
	enum fit_kind kind;
	const struct fit_operator *state;
	/* LEFT_OUT: one of the job with the same name that has no state, so probably the same; or NULL */
	const struct fit_operator *job;
};

struct graph_fit {
	struct fit_problem *problems; /* those that are left out first */
	size_t count;
	size_t matched; /* operators of the job that have an entry in the snapshot */
	size_t added;   /* and those that have none: they start without state */
};

void graph_fit_compare(const struct fit_operator *state, size_t state_count,
		       const struct fit_operator *job, size_t job_count, struct graph_fit *ret_fit);
void graph_fit_release(struct graph_fit *fit); /* zeroed is allowed */

/* Would Flink refuse it? Only state that is left out can be allowed. */
bool graph_fit_is_refused(const struct graph_fit *fit, bool allow_non_restored);

/* Append a sentence about it, with the remedy. size: of its state, for people. */
void fit_problem_print(const struct fit_problem *problem, const char *size, struct buf *text);

#endif
