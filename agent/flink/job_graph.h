/*
 * job_graph - what a job is made of, as its own main() says (java/held, GraphReport): Flink's JVM is
 * started as for a launch, builds the job, writes that down, and ends before it has opened a port.
 * Nothing is submitted. main() runs, with all that it does besides.
 *
 * Life cycle: job_graph_build() -> read -> job_graph_release().
 */
#ifndef DREY_FLINK_JOB_GRAPH_H
#define DREY_FLINK_JOB_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "flink/launch.h"

#define JOB_GRAPH_MAX_BYTES ((size_t)16 << 20)

struct job_graph_operator {
	const char *id;      /* 32 hex digits */
	const char *user_id; /* the same, of setUidHash(); NULL = none */
	const char *name;
	const char *uid; /* NULL = the job sets none */
	int64_t parallelism;
	int64_t max_parallelism; /* -1 = the job sets none */
	const char *slot_group;  /* slot sharing group; NULL = the default one */
	const char *gate;        /* the side that this gate takes itself for; NULL = it is none */
};

struct job_graph {
	struct json *document; /* owns the texts */
	const char *name;
	struct job_graph_operator *operators;
	size_t operator_count;
	bool knows_checkpoints; /* false: by a drey-held.jar that does not say the next two */
	int64_t checkpoint_interval_ms; /* 0 = the job makes none */
	const char *retention;          /* RETAIN_ON_CANCELLATION and so on */
	bool knows_gates; /* false: by a drey-held.jar that does not say which operators are gates */
};

/*
 * Start what `exec` says, with the file for the answer in its environment, and read the answer. Blocks;
 * after timeout_ms everything that it has started is killed.
 *   ERR_CONFIG  the job cannot be built: main() has thrown, or not called execute(); in its own words
 *   ERR_RETRY   there was no answer in time
 *   ERR_FORMAT  the JVM ended without an answer (its last line), or the answer is not one
 *   others      the JVM could not be started
 */
int job_graph_build(const struct flink_exec *exec, int64_t timeout_ms, struct job_graph *ret_graph,
		    struct err *err);

/* The answer; as above. */
int job_graph_parse(const char *text, size_t len_bytes, struct job_graph *ret_graph,
		    struct err *err);

void job_graph_release(struct job_graph *graph); /* zeroed is allowed */
#define cleanup_job_graph __attribute__((cleanup(job_graph_release)))

#endif
