/* observe_job - what the job consists of that the configuration would launch: its main() runs, up to its
 * first execute() (flink/job_graph.h). Nothing is submitted. */
#ifndef DREY_RUN_OBSERVE_JOB_H
#define DREY_RUN_OBSERVE_JOB_H

#include "base/err.h"
#include "core/handover/side.h"
#include "core/resolve/facts.h"
#include "flink/job_graph.h"

struct setup;

/* `side`: that the job is built for, with blue/green. Blocks for as long as check.graphTimeout. ERR_SYS: this
 * Flink cannot be asked, and the message says why; else as job_graph_build(). */
int observe_job_graph(const struct setup *setup, enum side side, struct job_graph *ret_graph,
		      struct err *err);

/* The same as a fact, of a job without a launch on record, so of the first side. Never fails: what cannot be
 * read is a fact, too. */
void observe_job(const struct setup *setup, struct facts *facts);

#endif
