#include "core/resolve/graph_sides.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/murmur3.h"

static const char committer[] = "Sink Committer: ";

/* ---- the operators of a sink ---- */

static bool has_id(const char *id, char *uid)
{
	char hex[MURMUR3_HEX_BYTES];
	bool same;

	murmur3_hex(uid, strlen(uid), hex);
	same = !strcmp(hex, id);
	free(uid);
	return same;
}

/* The operator is the writer, or a committer, of this sink. */
static bool is_of_sink(const char *id, const char *sink)
{
	return has_id(id, xstrdup(sink)) || has_id(id, xasprintf("%s%s", committer, sink)) ||
	       has_id(id, xasprintf("Sink %s Global Committer", sink));
}

bool graph_sides_stays(char *const *sink_uids, const char *id, const char *uid)
{
	for (size_t i = 0; sink_uids && sink_uids[i]; i++)
		if (xstris(sink_uids[i], uid) || is_of_sink(id, sink_uids[i]))
			return true;
	return false;
}

static bool is_there(const struct side_operator *list, size_t count, const char *sink)
{
	for (size_t i = 0; i < count; i++)
		if (xstris(list[i].uid, sink) || is_of_sink(list[i].id, sink))
			return true;
	return false;
}

/* ---- gates ---- */

static char *refuse_gates(const struct side_graph *graph)
{
	size_t gates = 0;

	for (size_t i = 0; i < graph->job_count; i++) {
		const struct side_operator *op = &graph->job[i];

		gates += op->gate != NULL;
		/* MUT: a gate may take itself for the other side */
		if (op->gate && strcmp(op->gate, side_name(graph->side)) != 0)
			return xasprintf(
				"gate '%s' of the new job takes itself for %s, but this version will be %s: the job must not set drey.side",
				op->uid ? op->uid : op->id, op->gate, side_name(graph->side));
	}
	/* MUT: a job without a gate may run beside another one */
	if (gates)
		return NULL;
	return xstrdup(
		"the new job has no gate, which blueGreen.gate: drey needs: put one in front of each sink, see docs/tasks/gate.md");
}

/* ---- sinks ---- */

/* Both versions would commit what either has written, and each ends the transactions of the other. */
static char *refuse_shared(const struct side_graph *graph)
{
	size_t prefix = sizeof(committer) - 1;

	for (size_t i = 0; i < graph->job_count; i++) {
		const char *uid = graph->job[i].uid;

		if (!uid || strncmp(uid, committer, prefix) != 0 ||
		    graph_sides_stays(graph->sink_uids, graph->job[i].id, uid) ||
		    !is_there(graph->state, graph->state_count, uid + prefix))
			continue;
		return xasprintf(
			"sink '%s' has the same uid in both versions, and commits: put the side into its uid, see docs/tasks/gate.md; if two jobs may share its state, list it in blueGreen.sinkUids",
			uid + prefix);
	}
	return NULL;
}

char *graph_sides_refuse(const struct side_graph *graph)
{
	char *refused = graph->gates ? refuse_gates(graph) : NULL;

	return refused ? refused : refuse_shared(graph);
}

/* "orders-blue" for "orders-green"; NULL: the name has no side. The caller frees. */
static char *of_other_side(const char *uid)
{
	for (int side = 0; side < SIDES; side++) {
		const char *name = side_name((enum side)side), *at = strstr(uid, name);

		if (at)
			return xasprintf("%.*s%s%s", (int)(at - uid), uid,
					 side_name(side_other((enum side)side)), at + strlen(name));
	}
	return NULL;
}

/* On the side that is not there now, a sink cannot be seen: the one on the other side stands for it. */
static bool is_known(const struct side_graph *graph, const char *uid)
{
	cleanup_free char *other = of_other_side(uid);

	return is_there(graph->job, graph->job_count, uid) ||
	       is_there(graph->state, graph->state_count, uid) ||
	       (other && (is_there(graph->job, graph->job_count, other) ||
			  is_there(graph->state, graph->state_count, other)));
}

char *graph_sides_warn(const struct side_graph *graph)
{
	cleanup_buf struct buf list = BUF_INIT;

	for (size_t i = 0; graph->sink_uids && graph->sink_uids[i]; i++)
		if (!is_known(graph, graph->sink_uids[i]))
			buf_addf(&list, "%s'%s'", list.len_bytes ? ", " : "", graph->sink_uids[i]);
	if (!list.len_bytes)
		return NULL;
	return xasprintf("blueGreen.sinkUids: no operator of either version has %s",
			 buf_str(&list));
}
