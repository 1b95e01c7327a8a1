/*
 * check_graph - the part of `drey check` that asks whether the new job takes the state there is: it lets
 * the new job be built (flink/job_graph.h), and compares its operators with those of a snapshot
 * (core/resolve/graph_fit.h), and with blue/green whether both can run at the same time (core/resolve/graph_sides.h).
 * What the code of the job sets against the configuration is a warning (core/report/condition_settings.h).
 */
#ifndef DREY_CMD_CHECK_GRAPH_H
#define DREY_CMD_CHECK_GRAPH_H

#include <stdbool.h>
#include <stdio.h>

#include "run/config/setup.h"

enum check_graph_verdict {
	CHECK_GRAPH_SKIPPED, /* it cannot be compared, for a reason that is no fault of the job */
	CHECK_GRAPH_FITS,
	CHECK_GRAPH_REFUSED, /* Flink would refuse the state, or the job cannot be built */
};

struct check_graph {
	enum check_graph_verdict verdict;
	char *text;             /* one sentence */
	char *details;          /* a line for each operator that does not fit; NULL = none */
	char *warning;          /* a sentence; NULL = none */
	char *settings_warning; /* what the code of the job sets, and loses state by; NULL = nothing */
	int64_t slots_needed; /* by the new job; 0 = not known */
};

/* `side`: that the new version will have. `snapshot`: path of what the job would start from, or of its newest
 * known state. Release *ret_result with check_graph_release(). */
void check_graph(const struct setup *setup, enum side side, const char *snapshot,
		 bool allow_non_restored, struct check_graph *ret_result);
void check_graph_release(struct check_graph *result);

#endif
