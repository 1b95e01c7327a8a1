#include "cmd/check_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/text.h"
#include "core/report/condition_settings.h"
#include "core/resolve/graph_fit.h"
#include "core/resolve/graph_sides.h"
#include "core/slots.h"
#include "run/config/setup_side.h"
#include "run/observe/observe_job.h"
#include "store/verify.h"

static void conclude(struct check_graph *result, enum check_graph_verdict verdict, char *text)
{
	result->verdict = verdict;
	result->text = text;
}

/* ---- the job ---- */

static void cannot_build(struct check_graph *result, const struct err *err)
{
	switch (err->kind) {
	case ERR_CONFIG:
	case ERR_FORMAT:
		conclude(result, CHECK_GRAPH_REFUSED,
			 xasprintf("the new job cannot be built: %s", err->msg));
		break;
	case ERR_RETRY:
		conclude(
			result, CHECK_GRAPH_REFUSED,
			xasprintf(
				"the new job was not built within check.graphTimeout: its main() did not "
				"come to execute(); raise that, or set check.graph to false"));
		break;
	default:
		conclude(result, CHECK_GRAPH_SKIPPED, xasprintf("not compared: %s", err->msg));
		break;
	}
}

/* ---- the comparison ---- */

/* Blue/green: a sink that has a uid on each side. */
static bool stays(const struct setup *setup, const struct metadata_operator *op)
{
	return setup->config.handover.mode == HANDOVER_BLUE_GREEN &&
	       graph_sides_stays(setup->config.blue_green.sink_uids, op->id, op->uid);
}

static struct fit_operator *of_state(const struct setup *setup, const struct metadata *metadata)
{
	struct fit_operator *list = xcalloc(metadata->operator_count + 1, sizeof(*list));

	for (size_t i = 0; i < metadata->operator_count; i++) {
		const struct metadata_operator *op = &metadata->operators[i];

		list[i] = (struct fit_operator){
			.id = op->id,
			.name = op->name,
			.uid = op->uid,
			.parallelism = op->parallelism,
			.max_parallelism = op->max_parallelism,
			.has_state = op->has_state,
			.state_bytes = op->state_bytes,
			.stays = stays(setup, op),
		};
	}
	return list;
}

static struct fit_operator *of_job(const struct job_graph *graph)
{
	struct fit_operator *list = xcalloc(graph->operator_count + 1, sizeof(*list));

	for (size_t i = 0; i < graph->operator_count; i++) {
		const struct job_graph_operator *op = &graph->operators[i];

		list[i] = (struct fit_operator){
			.id = op->id,
			.user_id = op->user_id,
			.name = op->name,
			.uid = op->uid,
			.parallelism = op->parallelism,
			.max_parallelism = op->max_parallelism,
		};
	}
	return list;
}

static char *sentences(const struct graph_fit *fit)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < fit->count; i++) {
		char size[TEXT_SIZE_BYTES];

		if (i)
			buf_addch(&text, '\n');
		fit_problem_print(&fit->problems[i],
				  text_size(fit->problems[i].state->state_bytes, size), &text);
	}
	return fit->count ? buf_steal(&text) : NULL;
}

static void compare(const struct setup *setup, const struct job_graph *graph,
		    const struct metadata *metadata, const char *snapshot, bool allow,
		    struct check_graph *result)
{
	cleanup_free struct fit_operator *state = of_state(setup, metadata), *job = of_job(graph);
	struct graph_fit fit;
	bool refused;

	graph_fit_compare(state, metadata->operator_count, job, graph->operator_count, &fit);
	refused = graph_fit_is_refused(&fit, allow);
	result->details = sentences(&fit);
	if (refused)
		conclude(result, CHECK_GRAPH_REFUSED,
			 xasprintf("the new job does not take the state in %s: %zu %s not fit",
				   snapshot, fit.count,
				   fit.count == 1 ? "operator does" : "operators do"));
	else
		conclude(result, CHECK_GRAPH_FITS,
			 xasprintf("%zu operators: %zu are in the snapshot, %zu are new%s",
				   graph->operator_count, fit.matched, fit.added,
				   fit.count ? "; state is left out, as requested or configured"
					     : ""));
	graph_fit_release(&fit);
}

/* ---- two jobs at the same time ---- */

static void compare_sides(const struct setup *setup, enum side side, const struct job_graph *graph,
			  const struct metadata *metadata, struct check_graph *result)
{
	cleanup_free struct side_operator *job = xcalloc(graph->operator_count + 1, sizeof(*job));
	cleanup_free struct side_operator *state =
		xcalloc(metadata->operator_count + 1, sizeof(*state));
	struct side_graph both = {.job = job,
				  .state = state,
				  .job_count = graph->operator_count,
				  .state_count = metadata->operator_count,
				  .sink_uids = setup->config.blue_green.sink_uids,
				  .side = side,
				  .gates = setup_has_gates(setup) && graph->knows_gates};
	char *refused;

	if (setup->config.handover.mode != HANDOVER_BLUE_GREEN)
		return;
	for (size_t i = 0; i < graph->operator_count; i++)
		job[i] = (struct side_operator){graph->operators[i].id, graph->operators[i].uid,
						graph->operators[i].gate};
	for (size_t i = 0; i < metadata->operator_count; i++)
		state[i] = (struct side_operator){.id = metadata->operators[i].id,
						  .uid = metadata->operators[i].uid};
	result->warning = graph_sides_warn(&both);
	refused = graph_sides_refuse(&both);
	if (!refused)
		return;
	free(result->text);
	conclude(result, CHECK_GRAPH_REFUSED, refused);
}

/* ---- what the code of the job sets ---- */

static void warn_of_settings(const struct setup *setup, const struct job_graph *graph,
			     struct check_graph *result)
{
	struct effective settings = {.known = graph->knows_checkpoints,
				     .checkpointing_off = !graph->checkpoint_interval_ms,
				     .interval_ms = graph->checkpoint_interval_ms};
	struct settings_case of = {.runs = &settings,
				   .ha = setup->ha.on,
				   .configured_interval_ms =
					   setup->settings.checkpoint_interval_ms};
	const struct settings_row *row;

	if (!settings.known)
		return;
	settings.externalized = externalized_of(graph->retention);
	row = settings_contradiction(&of);
	if (row)
		result->settings_warning =
			xasprintf("%s (retention %s)", row->sentence, graph->retention);
}

static int64_t slots_of(const struct job_graph *graph)
{
	cleanup_free struct slot_user *users = xcalloc(graph->operator_count + 1, sizeof(*users));

	for (size_t i = 0; i < graph->operator_count; i++)
		users[i] = (struct slot_user){graph->operators[i].slot_group,
					      graph->operators[i].parallelism};
	return slots_needed(users, graph->operator_count);
}

void check_graph(const struct setup *setup, enum side side, const char *snapshot,
		 bool allow_non_restored, struct check_graph *ret_result)
{
	struct job_graph graph;
	cleanup_metadata struct metadata metadata = {0};
	struct err err = {0};

	*ret_result = (struct check_graph){0};
	if (verify_read_metadata(&setup->storage, snapshot, &metadata, &err) < 0) {
		conclude(ret_result, CHECK_GRAPH_SKIPPED, xasprintf("not compared: %s", err.msg));
		return;
	}
	if (observe_job_graph(setup, side, &graph, &err) < 0) {
		cannot_build(ret_result, &err);
	} else {
		compare(setup, &graph, &metadata, snapshot, allow_non_restored, ret_result);
		if (ret_result->verdict == CHECK_GRAPH_FITS)
			compare_sides(setup, side, &graph, &metadata, ret_result);
		warn_of_settings(setup, &graph, ret_result);
		ret_result->slots_needed = slots_of(&graph);
		job_graph_release(&graph);
	}
}

void check_graph_release(struct check_graph *result)
{
	free(result->text);
	free(result->details);
	free(result->warning);
	free(result->settings_warning);
	*result = (struct check_graph){0};
}
