#include "run/observe/observe_job.h"

#include <unistd.h>

#include "base/mem.h"
#include "flink/held.h"
#include "run/config/setup_side.h"

#define NO_JOB_ID "00000000000000000000000000000000" /* nothing is ever submitted under it */

int observe_job_graph(const struct setup *setup, enum side side, struct job_graph *ret_graph,
		      struct err *err)
{
	const struct setup_gate_keys keys = setup_gate_keys(setup, side);
	cleanup_free char *why = NULL;
	struct flink_launch launch;
	cleanup_flink_exec struct flink_exec exec = {0};

	setup_launch(setup, &launch);
	launch.ha = setup->ha.on;
	launch.job_id = NO_JOB_ID;
	launch.application_id = NO_JOB_ID;
	/* a gate that goes by keys cannot be built without */
	launch.gate_properties = keys.properties;
	launch.gate_property_count = keys.count;
	launch.side = setup_output_side(setup, side);
	if (!held_is_possible(&launch, geteuid() == 0, &why))
		return err_set(err, ERR_SYS, 0, "%s", why);
	if (flink_launch_build(&launch, &exec, err) < 0)
		return -1;
	return job_graph_build(&exec, setup->config.check.graph_timeout_ms, ret_graph, err);
}

void observe_job(const struct setup *setup, struct facts *facts)
{
	cleanup_job_graph struct job_graph graph = {0};
	struct err err = {0};

	if (observe_job_graph(setup, SIDE_BLUE, &graph, &err) < 0) {
		facts_set_job(facts, SOURCE_UNREADABLE, err.msg);
		return;
	}
	for (size_t i = 0; i < graph.operator_count; i++) {
		facts_add_operator(facts, graph.operators[i].id);
		if (graph.operators[i].user_id)
			facts_add_operator(facts, graph.operators[i].user_id);
	}
	facts_set_job(facts, graph.operator_count ? SOURCE_PRESENT : SOURCE_ABSENT,
		      graph.operator_count ? NULL : "it has no operators");
}
